//! Names of variables, as a person would choose them: the last word of a type, or the role that a
//! parameter gives.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::value::Shape;

use crate::types::Type;

/// Words that cannot be, or had better not be, names of variables.
const TAKEN: [&str; 59] = [
    "abstract",
    "assert",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extends",
    "false",
    "final",
    "finally",
    "float",
    "for",
    "goto",
    "if",
    "implements",
    "import",
    "instanceof",
    "int",
    "interface",
    "long",
    "native",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "record",
    "return",
    "short",
    "static",
    "strictfp",
    "super",
    "switch",
    "synchronized",
    "this",
    "throw",
    "throws",
    "transient",
    "true",
    "try",
    "var",
    "void",
    "volatile",
    "while",
    "yield",
    "com",
    "java",
    "org",
];

/// Those that are keywords in some places only, and names in others.
const NAMES_ELSEWHERE: [&str; 6] = ["com", "java", "org", "record", "var", "yield"];

/// Whether a word can never be a name in source code. Other languages have members with such names.
pub(crate) fn is_keyword(word: &str) -> bool {
    TAKEN.contains(&word) && !NAMES_ELSEWHERE.contains(&word)
}

/// Gives out names, each once.
#[derive(Clone, Default, Debug)]
pub(crate) struct NameGenerator {
    given: BTreeSet<String>,
    /// By name, the number that it was last given with.
    numbers: BTreeMap<String, u32>,
}

impl NameGenerator {
    /// Keeps a name from being given.
    pub(crate) fn reserve(&mut self, name: &str) {
        self.given.insert(name.to_owned());
    }

    /// This name, or with a number at its end.
    pub(crate) fn give(&mut self, wish: &str) -> String {
        let wish = if TAKEN.contains(&wish) {
            format!("the{}", upper_first(wish))
        } else {
            wish.to_owned()
        };
        let joint = if wish.ends_with(|c: char| c.is_ascii_digit()) {
            "_"
        } else {
            ""
        };
        let mut name = wish.clone();
        let number = self.numbers.entry(wish.clone()).or_insert(1);
        while self.given.contains(&name) {
            *number += 1;
            name = format!("{wish}{joint}{number}");
        }
        self.given.insert(name.clone());
        name
    }
}

/// The name of a variable of this type.
pub(crate) fn for_type(of: &Type) -> String {
    match of {
        Type::Primitive(shape) => match shape {
            Shape::Boolean => "flag",
            Shape::Char => "character",
            Shape::Float | Shape::Double => "number",
            _ => "value",
        }
        .to_owned(),
        Type::Null => "value".to_owned(),
        Type::Class(name) => last_word(name),
        Type::Array(_) => match of.element() {
            Type::Primitive(shape) => format!("{}s", shape.class_name()),
            element => plural(&for_type(element)),
        },
    }
}

/// The name of a method's result: `getSize` gives `size`, `toString` gives `string`.
pub(crate) fn for_result(method: &str) -> String {
    let rest = ["get", "is", "to"].iter().find_map(|prefix| {
        let rest = method.strip_prefix(prefix)?;
        rest.starts_with(char::is_uppercase).then_some(rest)
    });
    rest.map_or_else(
        || method.to_owned(),
        |rest| {
            let mut letters = rest.chars();
            let first = letters.next().into_iter().flat_map(char::to_lowercase);
            first.chain(letters).collect()
        },
    )
}

/// `shop/DateTimeZoneBuilder` gives `builder`, `java/net/URL` gives `url`.
fn last_word(class: &str) -> String {
    let simple = class.rsplit(['/', '$']).next().unwrap_or(class);
    let simple = simple.strip_suffix("Impl").filter(|s| !s.is_empty());
    let simple = simple.unwrap_or_else(|| class.rsplit(['/', '$']).next().unwrap_or(class));
    let words = words(simple);
    let word = words.last().map_or("value", String::as_str);
    let word: String = word
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    let word = word.to_lowercase();
    if word.is_empty() || word.starts_with(|c: char| c.is_numeric()) {
        "value".to_owned()
    } else {
        word
    }
}

/// The words of a name: `HTTPServer2` has `HTTP` and `Server2`.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    for (place, letter) in letters.iter().enumerate() {
        let before = place.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(place + 1);
        let starts = letter.is_uppercase()
            && (before.is_none_or(|b| !b.is_uppercase())
                || after.is_some_and(|a| a.is_lowercase()));
        match words.last_mut() {
            Some(word) if !starts && *letter != '_' => word.push(*letter),
            _ if *letter == '_' => words.push(String::new()),
            _ => words.push(letter.to_string()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn plural(word: &str) -> String {
    if word.ends_with('s') || word.ends_with('x') || word.ends_with("ch") {
        format!("{word}es")
    } else if word.ends_with('y') && !word.ends_with(['a', 'e', 'o']) {
        format!("{}ies", word.trim_end_matches('y'))
    } else {
        format!("{word}s")
    }
}

/// `parse` gives `Parse`.
pub(crate) fn upper_first(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// A parameter name that means something: `listener`, not `p0` or `x`.
pub(crate) fn is_telling(name: &str) -> bool {
    name.len() > 2
        && name.starts_with(|c: char| c.is_alphabetic())
        && name.chars().all(|c| c.is_alphanumeric())
        && !name.starts_with("arg")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_by_the_last_word_of_their_type() {
        for (descriptor, expect) in [
            ("Lorg/joda/DateTimeZoneBuilder;", "builder"),
            ("Ljava/net/URL;", "url"),
            ("Lshop/HTTPServer;", "server"),
            ("Lshop/Order$Line;", "line"),
            ("Lshop/OrderImpl;", "order"),
            ("Lshop/Impl;", "impl"),
            ("Ljava/util/Base64;", "base64"),
            ("Lshop/A_b;", "b"),
            ("[I", "ints"),
            ("[[Lshop/Box;", "boxes"),
            ("[Lshop/Entry;", "entries"),
            ("Lshop/Main$1;", "value"),
        ] {
            assert_eq!(for_type(&Type::of(descriptor)), expect, "{descriptor}");
        }
    }

    #[test]
    fn a_name_is_given_once() {
        let mut names = NameGenerator::default();
        let given = ["builder", "builder", "default", "base64", "base64"].map(|w| names.give(w));
        assert_eq!(
            given,
            ["builder", "builder2", "theDefault", "base64", "base64_2"]
        );
    }
}
