//! Methods of Java that Kotlin calls by another name, or as a property.

use culprit_classfile::access;
use culprit_model::Member;

use super::{Level, Text, Writer, Written, word};
use crate::expr::Expr;
use crate::types::{Type, parameters, result};

/// Methods of types that Kotlin has types of its own for, and what they are called there.
const RENAMED: [(&str, &str, &str); 14] = [
    ("java/util/Collection", "size", "size"),
    ("java/util/Map", "size", "size"),
    ("java/util/Map", "keySet", "keys"),
    ("java/util/Map", "values", "values"),
    ("java/util/Map", "entrySet", "entries"),
    ("java/util/Map$Entry", "getKey", "key"),
    ("java/util/Map$Entry", "getValue", "value"),
    ("java/lang/CharSequence", "length", "length"),
    ("java/lang/Throwable", "getMessage", "message"),
    ("java/lang/Throwable", "getCause", "cause"),
    ("java/lang/Enum", "name", "name"),
    ("java/lang/Enum", "ordinal", "ordinal"),
    ("java/lang/Object", "getClass", "javaClass"),
    ("java/lang/Enum", "getDeclaringClass", "declaringJavaClass"),
];

impl Writer<'_> {
    /// A method of the JDK that has another name in Kotlin.
    pub(super) fn renamed(
        &self,
        receiver: &str,
        class: &str,
        member: &Member,
        arguments: &[Expr],
    ) -> Written<Option<Text>> {
        let line = self.scope.access.hierarchy.lineage(class);
        let is = |name: &str| line.iter().any(|above| above == name);
        let name = member.name.as_str();
        let renamed = RENAMED
            .iter()
            .find(|(owner, old, _)| *old == name && is(owner));
        if let Some((_, _, new)) = renamed.filter(|_| arguments.is_empty()) {
            let is_nullable = matches!(*new, "message" | "cause");
            let text = Text::new(format!("{receiver}.{new}"));
            return Ok(Some(text.nullable(is_nullable)));
        }
        let of = parameters(&member.descriptor);
        let first = || self.arguments(member, arguments, None, 0);
        Ok(match (name, of.as_slice()) {
            ("get", [Type::Primitive(_)]) if is("java/util/List") => {
                Some(Text::new(format!("{receiver}[{}]", first()?)))
            }
            ("get", [_]) if is("java/util/Map") => {
                Some(Text::new(format!("{receiver}[{}]", first()?)).nullable(true))
            }
            ("remove", [Type::Primitive(_)]) if is("java/util/List") => {
                Some(Text::new(format!("{receiver}.removeAt({})", first()?)))
            }
            ("charAt", [_]) if is("java/lang/CharSequence") => {
                Some(Text::new(format!("{receiver}[{}]", first()?)))
            }
            (name, []) if is("java/lang/Number") && name.ends_with("Value") => {
                let to = crate::names::upper_first(name.trim_end_matches("Value"));
                Some(Text::new(format!("{receiver}.to{to}()")))
            }
            ("booleanValue" | "charValue", []) => Some(Text::new(receiver)),
            _ => None,
        })
    }

    /// A property of a Java class, which has a getter.
    pub(super) fn bean(
        &self,
        receiver: &str,
        class: &str,
        member: &Member,
        arguments: &[Expr],
    ) -> Written<Option<Text>> {
        let name = member.name.as_str();
        let taken = parameters(&member.descriptor);
        let given = result(&member.descriptor);
        let boolean = Type::Primitive(culprit_model::value::Shape::Boolean);
        match (taken.as_slice(), given) {
            ([], Some(given)) => {
                let getter = name.strip_prefix("get");
                let is_getter = name.strip_prefix("is").filter(|_| given == boolean);
                let (rest, keeps) = match (getter, is_getter) {
                    (Some(rest), _) => (rest, false),
                    (None, Some(rest)) => (rest, true),
                    _ => return Ok(None),
                };
                if !rest.starts_with(|c: char| c.is_ascii_uppercase()) {
                    return Ok(None);
                }
                let property = match keeps {
                    true => name.to_owned(),
                    false => decapitalized(rest),
                };
                // A field of that name comes first.
                if self
                    .scope
                    .access
                    .hierarchy
                    .field(class, &property)
                    .is_some_and(|(owner, it)| self.scope.access.uses(&owner, it.access))
                {
                    return Ok(None);
                }
                Ok(Some(Text::new(format!("{receiver}.{}", word(&property)))))
            }
            ([of], None) => {
                let Some(rest) = name
                    .strip_prefix("set")
                    .filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
                else {
                    return Ok(None);
                };
                let hierarchy = self.scope.access.hierarchy;
                let has = |getter: String| {
                    let found = hierarchy.methods(class, &getter);
                    found.iter().any(|it| {
                        it.method.is(access::PUBLIC)
                            && parameters(&it.method.descriptor).is_empty()
                            && result(&it.method.descriptor).as_ref() == Some(of)
                    })
                };
                let property = if has(format!("get{rest}")) {
                    decapitalized(rest)
                } else if *of == boolean && has(format!("is{rest}")) {
                    format!("is{rest}")
                } else {
                    return Ok(None);
                };
                let value = self.arguments(member, arguments, None, 0)?;
                let text = format!("{receiver}.{} = {value}", word(&property));
                Ok(Some(Text::new(text).at(Level::Statement)))
            }
            _ => Ok(None),
        }
    }
}

/// The name of a property, after the name of its getter: `URLPath` gives `urlPath`.
fn decapitalized(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let upper = letters.iter().take_while(|c| c.is_uppercase()).count();
    let lowered = match upper {
        0 | 1 => upper,
        all if all == letters.len() => all,
        several => several - 1,
    };
    let first = letters[..lowered].iter().flat_map(|c| c.to_lowercase());
    first.chain(letters[lowered..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::decapitalized;

    #[test]
    fn properties_are_named_after_their_getters() {
        let names = ["Name", "URL", "URLPath", "X", "XOffset"].map(decapitalized);
        assert_eq!(names, ["name", "url", "urlPath", "x", "xOffset"]);
    }
}
