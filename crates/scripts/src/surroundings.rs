//! Statements that give a test the surroundings of the recorded program, where they are not those
//! of a plain run: system properties, time zone, locale, standard input. Those that the failure does not need go
//! with everything else.

use culprit_model::script::{Builder, MemberName};
use culprit_model::{Reference, Value};
use culprit_trace::Start;

use crate::Statement;

/// Properties that a program is given to find its time zone and its language by.
const SPECIAL: [&str; 5] = [
    "user.language",
    "user.country",
    "user.script",
    "user.variant",
    "user.region",
];

/// What a plain run has.
const ZONE: &str = "UTC";
const LANGUAGE: &str = "en-US";

/// The surroundings of a run of a program.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    pub start: &'a Start,
    /// The standard input, if there is some and it is a text.
    pub input: Option<&'a str>,
}

/// The statements, in the order in which a program would do them.
pub(crate) fn statements(
    builder: &mut Builder,
    Surroundings { start, input }: Surroundings<'_>,
) -> Vec<Statement> {
    let mut statements = Vec::new();
    if let Some(input) = input {
        let (bytes, stream) = (
            builder.variable("[B"),
            builder.variable("java/io/ByteArrayInputStream"),
        );
        let encode = MemberName::of("java/lang/String", "getBytes", "()[B");
        let set = MemberName::of("java/lang/System", "setIn", "(Ljava/io/InputStream;)V");
        let text = Value::text(input);
        statements.push(builder.call(encode, text, Vec::new(), Some(bytes.clone())));
        let class = "java/io/ByteArrayInputStream";
        statements.push(builder.construct(class, "([B)V", vec![bytes], stream.clone()));
        statements.push(builder.call_static(set, vec![stream], None));
    }
    for (name, value) in typed(start) {
        if SPECIAL.contains(&name) {
            continue;
        }
        let of = "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;";
        let set = MemberName::of("java/lang/System", "setProperty", of);
        let before = Value::Reference(Reference::Null);
        statements.push(builder.call_static(
            set,
            vec![Value::text(name), Value::text(value)],
            Some(before),
        ));
    }
    if let Some(zone) = zone(start).filter(|zone| *zone != ZONE) {
        let class = "java/util/TimeZone";
        let of = "(Ljava/lang/String;)Ljava/util/TimeZone;";
        let made = builder.variable(class);
        let get = MemberName::of(class, "getTimeZone", of);
        statements.push(builder.call_static(get, vec![Value::text(zone)], Some(made.clone())));
        let set = MemberName::of(class, "setDefault", "(Ljava/util/TimeZone;)V");
        statements.push(builder.call_static(set, vec![made], None));
    }
    let language = language(start);
    if language != LANGUAGE && !language.is_empty() {
        let class = "java/util/Locale";
        let made = builder.variable(class);
        let get = MemberName::of(
            class,
            "forLanguageTag",
            "(Ljava/lang/String;)Ljava/util/Locale;",
        );
        statements.push(builder.call_static(get, vec![Value::text(&language)], Some(made.clone())));
        let set = MemberName::of(class, "setDefault", "(Ljava/util/Locale;)V");
        statements.push(builder.call_static(set, vec![made], None));
    }
    statements
}

/// The properties that the command of the JVM sets. Words of the program itself that look alike set
/// none: the JVM does not have them.
fn typed(start: &Start) -> Vec<(&str, &str)> {
    let words = start.command.iter().chain(&start.jvm_flags);
    let mut typed: Vec<(&str, &str)> = Vec::new();
    for word in words {
        let Some(word) = word.strip_prefix("-D") else {
            continue;
        };
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let mut properties = start.properties.iter();
        let is_set = properties.any(|(known, set)| known == name && set == value);
        if is_set && !typed.iter().any(|(known, _)| *known == name) {
            typed.push((name, value));
        }
    }
    typed
}

fn property<'s>(start: &'s Start, name: &str) -> Option<&'s str> {
    let mut properties = start.properties.iter();
    let found = properties.find(|(known, _)| known == name);
    found
        .map(|(_, value)| value.as_str())
        .filter(|value| !value.is_empty())
}

fn zone(start: &Start) -> Option<&str> {
    let mut notes = start.notes.iter();
    let noted = notes.find(|(name, _)| name == Start::TIME_ZONE);
    property(start, "user.timezone").or(noted.map(|(_, zone)| zone.as_str()))
}

/// The language tag of the default locale.
fn language(start: &Start) -> String {
    let parts = ["user.language", "user.script", "user.country"];
    let parts = parts.into_iter().filter_map(|name| property(start, name));
    parts.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use culprit_model::{ObjectId, Tables};

    use super::*;

    fn printed(command: &str, properties: &[(&str, &str)], input: Option<&str>) -> String {
        let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        let start = Start {
            command: command.split_whitespace().map(str::to_owned).collect(),
            properties: properties.iter().map(owned).collect(),
            ..Start::default()
        };
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let surroundings = Surroundings {
            start: &start,
            input,
        };
        let statements = statements(&mut builder, surroundings);
        let text = builder.script(statements).to_string();
        let steps = text.lines().filter(|line| line.contains("=> "));
        steps.map(|line| line.trim()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_is_everywhere_needs_no_statement() {
        let usual = [("user.language", "en"), ("user.country", "US")];
        assert_eq!(printed("java -ea Main -Dx=y", &usual, None), "");
    }

    #[test]
    fn a_program_is_given_what_it_was_given() {
        let surroundings = [
            ("mode", "fast"),
            ("user.language", "fr"),
            ("user.timezone", "Asia/Tokyo"),
        ];
        insta::assert_snapshot!(printed("java -Dmode=fast -Duser.language=fr Main", &surroundings, None), @r#"
        => System.setProperty@1("mode", "fast")
        => TimeZone.getTimeZone@2("Asia/Tokyo")
        => TimeZone.setDefault@3(#1:TimeZone)
        => Locale.forLanguageTag@4("fr")
        => Locale.setDefault@5(#2:Locale)
        "#);
    }

    #[test]
    fn a_program_reads_what_it_read() {
        insta::assert_snapshot!(printed("java Main", &[("user.language", "en"), ("user.country", "US")], Some("3\n0\n")), @r#"
        => String.getBytes@1() on "3\n0\n"
        => new ByteArrayInputStream@2(#1:byte[])
        => System.setIn@3(#2:ByteArrayInputStream)
        "#);
    }
}
