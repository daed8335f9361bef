//! Generic signatures, as far as they change what code must say: a class that extends
//! `Comparator<String>` has a method `compare(String, String)`, whatever the descriptor says.

use std::collections::BTreeMap;

use culprit_model::value::Shape;

use crate::facts::ClassFacts;
use crate::hierarchy::{DeclaredMethod, Hierarchy};
use crate::types::{Type, parameters, result};

/// The types of type variables.
type Meaning = BTreeMap<String, Type>;

/// Parameters and result of a method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Profile {
    pub(crate) parameters: Vec<Type>,
    /// `None` for `void`.
    pub(crate) result: Option<Type>,
}

impl Profile {
    /// As the descriptor has it.
    pub(crate) fn erased(descriptor: &str) -> Profile {
        Profile {
            parameters: parameters(descriptor),
            result: result(descriptor),
        }
    }
}

/// The parameters in a signature of a method, as they are written.
pub(crate) fn parameters_of(signature: &str) -> Option<Vec<&str>> {
    let mut reader = Reader::new(signature);
    let nothing = Meaning::new();
    reader.variables(&nothing)?;
    if !reader.take("(") {
        return None;
    }
    let mut all = Vec::new();
    while !reader.take(")") {
        let before = reader.rest;
        reader.reference(&nothing)?;
        all.push(&before[..before.len() - reader.rest.len()]);
    }
    Some(all)
}

/// The bounds of the type variables in the signature of a class.
pub(crate) fn bounds(signature: &str) -> Option<Vec<Type>> {
    let variables = Reader::new(signature).variables(&Meaning::new())?;
    Some(variables.into_iter().map(|(_, bound)| bound).collect())
}

/// A part of a signature that names a type variable.
pub(crate) fn has_variable(signature: &str) -> bool {
    // Bounds of its own variables count as well.
    let starts = |(at, _): &(usize, char)| {
        signature[*at..].starts_with('T')
            && (*at == 0
                || signature[..*at].ends_with(['(', ')', ';', '<', '[', '+', '-', ':', '*']))
    };
    signature.char_indices().any(|at| starts(&at))
}

impl Hierarchy<'_> {
    /// A method as a member of a class that is named without type arguments.
    pub(crate) fn profile(&self, class: &str, found: &DeclaredMethod) -> Profile {
        let erased = Profile::erased(&found.method.descriptor);
        let signed = found.method.signature.as_ref().and_then(|signature| {
            let mut meaning = self.meaning(class, &found.class.name)?;
            Reader::new(signature).method(&mut meaning)
        });
        // A signature may leave out what the compiler added.
        match signed {
            Some(signed) if signed.parameters.len() == erased.parameters.len() => signed,
            _ => erased,
        }
    }

    /// A method as a member of a type with these arguments. `None` where more must be known: of
    /// wildcards, of type variables, of a method with variables of its own.
    pub(crate) fn profile_of(&self, signature: &str, found: &DeclaredMethod) -> Option<Profile> {
        let of_method = found.method.signature.as_deref()?;
        let is_open = signature.contains(['*', '+', '-']) || has_variable(signature);
        if is_open || of_method.starts_with('<') {
            return None;
        }
        let (of, arguments) = Reader::new(signature).reference(&Meaning::new())?;
        let facts = self.class(of.name()?)?;
        let variables = Reader::new(facts.signature.as_deref()?).variables(&Meaning::new())?;
        if variables.len() != arguments.len() {
            return None;
        }
        let names = variables.into_iter().map(|(name, _)| name);
        let mut meaning: Meaning = names.zip(arguments).collect();
        if facts.name != found.class.name {
            meaning = self.climb(&facts, &meaning, &found.class.name)?;
        }
        Reader::new(of_method).method(&mut meaning)
    }

    /// The types of the type variables of a class, as seen from a subclass. `None` where the subclass has type
    /// variables itself: as a raw type, it erases those above.
    fn meaning(&self, class: &str, above: &str) -> Option<Meaning> {
        let facts = self.class(class)?;
        if class == above || facts.is_generic() {
            return (class == above && !facts.is_generic()).then(Meaning::new);
        }
        self.climb(&facts, &Meaning::new(), above)
    }

    fn climb(&self, facts: &ClassFacts, meaning: &Meaning, above: &str) -> Option<Meaning> {
        let signature = facts.signature.as_deref();
        let named = match signature {
            Some(signature) => Reader::new(signature).supertypes(meaning)?,
            None => facts
                .superclass
                .iter()
                .chain(&facts.interfaces)
                .map(|name| (name.clone(), Vec::new()))
                .collect(),
        };
        named.into_iter().find_map(|(name, arguments)| {
            let facts = self.class(&name)?;
            let variables = match facts.signature.as_deref() {
                Some(signature) => Reader::new(signature).variables(&Meaning::new())?,
                None => Vec::new(),
            };
            if variables.len() != arguments.len() {
                return None;
            }
            let names = variables.into_iter().map(|(name, _)| name);
            let meaning: Meaning = names.zip(arguments).collect();
            if name == above {
                return Some(meaning);
            }
            self.climb(&facts, &meaning, above)
        })
    }
}

/// Reads a signature; `None` at the first thing that is not as it should be.
struct Reader<'s> {
    rest: &'s str,
}

impl<'s> Reader<'s> {
    fn new(signature: &'s str) -> Reader<'s> {
        Reader { rest: signature }
    }

    fn take(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn until(&mut self, ends: &[char]) -> Option<&'s str> {
        let at = self.rest.find(ends)?;
        let (word, rest) = self.rest.split_at(at);
        self.rest = rest;
        Some(word)
    }

    /// Type variables with their first bounds.
    fn variables(&mut self, meaning: &Meaning) -> Option<Vec<(String, Type)>> {
        let mut all = Vec::new();
        let mut known = meaning.clone();
        if !self.take("<") {
            return Some(all);
        }
        while !self.take(">") {
            let name = self.until(&[':'])?.to_owned();
            let mut bound = None;
            while self.take(":") {
                if self.rest.starts_with(':') {
                    continue;
                }
                let (of, _) = self.reference(&known)?;
                bound = bound.or(Some(of));
            }
            let bound = bound.unwrap_or_else(Type::object);
            known.insert(name.clone(), bound.clone());
            all.push((name, bound));
        }
        Some(all)
    }

    /// Superclass and interfaces, with what their arguments are without arguments.
    fn supertypes(&mut self, meaning: &Meaning) -> Option<Vec<(String, Vec<Type>)>> {
        let mut meaning = meaning.clone();
        for (name, bound) in self.variables(&meaning)? {
            meaning.entry(name).or_insert(bound);
        }
        let mut all = Vec::new();
        while !self.rest.is_empty() {
            let (of, arguments) = self.reference(&meaning)?;
            all.push((of.name()?.to_owned(), arguments));
        }
        Some(all)
    }

    fn method(&mut self, meaning: &mut Meaning) -> Option<Profile> {
        meaning.extend(self.variables(meaning)?);
        if !self.take("(") {
            return None;
        }
        let mut parameters = Vec::new();
        while !self.take(")") {
            parameters.push(self.reference(meaning)?.0);
        }
        let result = if self.take("V") {
            None
        } else {
            Some(self.reference(meaning)?.0)
        };
        Some(Profile { parameters, result })
    }

    /// A type, and the arguments of its innermost class.
    fn reference(&mut self, meaning: &Meaning) -> Option<(Type, Vec<Type>)> {
        if self.take("[") {
            let (component, _) = self.reference(meaning)?;
            return Some((Type::Array(Box::new(component)), Vec::new()));
        }
        if self.take("T") {
            let name = self.until(&[';'])?;
            self.take(";");
            let of = meaning.get(name).cloned();
            return Some((of.unwrap_or_else(Type::object), Vec::new()));
        }
        if !self.take("L") {
            let first = self.rest.chars().next()?;
            let shape = Shape::of(self.rest).filter(|shape| *shape != Shape::Reference)?;
            self.rest = &self.rest[first.len_utf8()..];
            return Some((Type::Primitive(shape), Vec::new()));
        }
        let mut name = String::new();
        let mut arguments = Vec::new();
        loop {
            name.push_str(self.until(&['<', ';', '.'])?);
            if self.take("<") {
                arguments.clear();
                while !self.take(">") {
                    arguments.push(self.argument(meaning)?);
                }
            }
            if self.take(";") {
                return Some((Type::Class(name), arguments));
            }
            if !self.take(".") {
                return None;
            }
            name.push('$');
            arguments.clear();
        }
    }

    fn argument(&mut self, meaning: &Meaning) -> Option<Type> {
        if self.take("*") {
            return Some(Type::object());
        }
        if self.take("-") {
            self.reference(meaning)?;
            return Some(Type::object());
        }
        self.take("+");
        Some(self.reference(meaning)?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Classes, MethodFacts};

    struct Table(Vec<ClassFacts>);

    impl Classes for Table {
        fn class(&self, name: &str) -> Option<ClassFacts> {
            self.0.iter().find(|class| class.name == name).cloned()
        }
    }

    fn class(name: &str, above: &[&str], signature: &str) -> ClassFacts {
        ClassFacts {
            name: name.to_owned(),
            interfaces: above.iter().map(|name| (*name).to_owned()).collect(),
            signature: Some(signature.to_owned()).filter(|s| !s.is_empty()),
            ..ClassFacts::default()
        }
    }

    #[test]
    fn arguments_of_what_a_class_extends_become_parameters() {
        let mut map = class(
            "Map",
            &[],
            "<K:Ljava/lang/Object;V:LItem;>Ljava/lang/Object;",
        );
        map.methods = vec![MethodFacts {
            name: "put".to_owned(),
            descriptor: "(Ljava/lang/Object;[LItem;I)LItem;".to_owned(),
            signature: Some("(TK;[TV;I)TV;".to_owned()),
            ..MethodFacts::default()
        }];
        let middle = "<A:Ljava/lang/Object;>Ljava/lang/Object;LMap<TA;LPen<*>.Cap<-LInk;>;>;";
        let table = Table(vec![
            map,
            class("Middle", &["Map"], middle),
            class(
                "Leaf",
                &["Middle"],
                "Ljava/lang/Object;LMiddle<Ljava/lang/String;>;",
            ),
            class("Raw", &["Middle"], ""),
        ]);
        let hierarchy = Hierarchy::new(&table);
        let check = |name: &str, descriptor: &str| {
            let found = hierarchy.methods(name, "put").remove(0);
            let profile = hierarchy.profile(name, &found);
            assert_eq!(profile, Profile::erased(descriptor), "{name}");
        };
        check("Leaf", "(Ljava/lang/String;[LPen$Cap;I)LPen$Cap;");
        for erased in ["Map", "Middle", "Raw"] {
            check(erased, "(Ljava/lang/Object;[LItem;I)LItem;");
        }
    }
}
