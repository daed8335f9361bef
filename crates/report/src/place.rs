//! Names and places of the subject's code, as Java people write them.

use culprit_model::value::class_of_descriptor;
use culprit_model::{Member, Site, SiteId, SiteKind};

/// `com/acme/Order$Line` as `com.acme.Order$Line`.
pub fn dotted(internal: &str) -> String {
    internal.replace('/', ".")
}

/// The part of a class name after its package.
pub fn simple(name: &str) -> &str {
    name.rsplit(['/', '.']).next().unwrap_or(name)
}

/// A type's name as in source: `[[I` is `int[][]`, `com/acme/Order` is `com.acme.Order`.
pub fn source_name(type_name: &str) -> String {
    let dims = type_name.bytes().take_while(|b| *b == b'[').count();
    let element = &type_name[dims..];
    let mut name = match dims {
        0 => dotted(type_name),
        _ => dotted(class_of_descriptor(element).unwrap_or(element)),
    };
    name.push_str(&"[]".repeat(dims));
    name
}

/// Stands in for the site of a call that began before the first event that was kept.
pub fn unknown() -> Site {
    Site {
        id: SiteId(0),
        kind: SiteKind::Call,
        class: String::new(),
        method: String::new(),
        descriptor: String::new(),
        line: None,
        source: None,
        target: Member {
            owner: String::new(),
            name: "an earlier call".to_owned(),
            descriptor: String::new(),
        },
        is_static: true,
    }
}

/// Where the code of a site is: `Order.java:14`, or the class where the class file names no file.
pub fn source(site: &Site) -> String {
    let file = match &site.source {
        Some(file) => file.clone(),
        None if site.class.is_empty() => "?".to_owned(),
        None => simple(&dotted(&site.class)).to_owned(),
    };
    match site.line {
        Some(line) => format!("{file}:{line}"),
        None => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_named_as_in_source() {
        for (internal, expect) in [
            ("com/acme/Order$Line", "com.acme.Order$Line"),
            ("[I", "int[]"),
            ("[[Z", "boolean[][]"),
            ("[Ljava/lang/String;", "java.lang.String[]"),
            ("Top", "Top"),
        ] {
            assert_eq!(source_name(internal), expect);
        }
        assert_eq!(simple("java.lang.String[]"), "String[]");
    }
}
