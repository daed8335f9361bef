//! Why a replay did not go well, without what differs from one case to the next: so that many
//! cases of one cause are counted together.

use serde_json::Value as Json;

/// Characters of an explanation that are kept.
const MOST: usize = 400;

/// A text without the numbers, the names of objects and the strings in it.
pub(crate) fn shape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |at| at + 2),
            '#' | '@' => 1 + digits(&rest[1..], char::is_ascii_hexdigit),
            // A number, and not a digit in a name.
            _ if first.is_ascii_digit() && !ends_in_name(&out) => {
                let fits = |c: &char| c.is_ascii_hexdigit() || matches!(c, '.' | ',' | '_' | 'x');
                let number = &rest[..digits(rest, fits)];
                number.trim_end_matches(['.', ',']).len()
            }
            _ => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        out.push_str(match first {
            '"' => "\"...\"",
            '#' | '@' => "#",
            _ => "N",
        });
        rest = &rest[end..];
    }
    out.chars().take(MOST).collect()
}

fn digits(text: &str, fits: impl Fn(&char) -> bool) -> usize {
    text.chars().take_while(|c| fits(c)).count()
}

fn ends_in_name(text: &str) -> bool {
    let last = text.chars().next_back();
    last.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'))
}

/// A difference as a sentence: what was recorded, what was replayed, and where.
pub(crate) fn told(difference: &Json) -> String {
    let text = |side: &Json| match side["text"].as_str() {
        Some(text) => format!("{text} at {}", side["place"].as_str().unwrap_or_default()),
        None => "nothing".to_owned(),
    };
    let told = format!(
        "event {}: {}; recorded {}; replayed {}; within {}",
        difference["event"],
        difference["why"].as_str().unwrap_or_default(),
        text(&difference["recorded"]),
        text(&difference["replayed"]),
        difference["path"][0].as_str().unwrap_or("nothing"),
    );
    told.chars().take(4 * MOST).collect()
}

/// The shape of a difference: why, and which members are on both sides.
pub(crate) fn of_difference(difference: &Json) -> String {
    let why = difference["why"].as_str().unwrap_or_default();
    let words: Vec<String> = why.split(' ').map(anonymous).collect();
    let why = shape(&words.join(" "));
    let side = |side: &Json| side["text"].as_str().map_or("nothing".to_owned(), member);
    let (recorded, replayed) = (side(&difference["recorded"]), side(&difference["replayed"]));
    match recorded == replayed {
        true => format!("{why} ({recorded})"),
        false => format!("{why} ({recorded}; {replayed})"),
    }
}

/// An event without its values: `-> java.util.List.add(#1, "x") on #2` is a call of
/// `java.util.List.add`.
fn member(event: &str) -> String {
    let end = ["(", "{", " = ", " of #", " threw "]
        .iter()
        .filter_map(|mark| event.find(mark))
        .min();
    let words = event[..end.unwrap_or(event.len())].split(' ');
    let words: Vec<String> = words.map(anonymous).collect();
    shape(&words.join(" "))
}

/// A word without the name of the class and the types of the parameters, if it is the name of a
/// member of some program and not of the JDK.
fn anonymous(word: &str) -> String {
    let name = &word[..word.find('(').unwrap_or(word.len())];
    let dotted = name.replace('/', ".");
    let parts: Vec<&str> = dotted.split('.').collect();
    let is_name = parts.len() > 1 && parts.iter().all(|part| part.starts_with(in_names));
    let of_jdk = ["java", "javax", "jdk", "sun"];
    match parts.last() {
        Some(_) if is_name && of_jdk.contains(&parts[0]) => dotted,
        Some(last) if is_name => format!("*.{last}"),
        _ => word.to_owned(),
    }
}

fn in_names(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '$' | '<' | '[')
}

/// The line of a JVM's output that says most about its end.
pub(crate) fn telling_line(output: &str) -> &str {
    let tells = |line: &&str| {
        ["SIG", "Error", "Exception", "FATAL", "panicked"]
            .iter()
            .any(|word| line.contains(word))
    };
    let line = output.lines().find(tells);
    line.or_else(|| output.lines().next()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_shape_has_no_numbers_strings_or_objects() {
        for (text, expect) in [
            ("argument 2 is 17, not 4.5", "argument N is N, not N"),
            ("\"a b\" is not \"c\"", "\"...\" is not \"...\""),
            ("java.util.Base64 #12 is X @1f", "java.util.Base64 # is X #"),
            ("open \"string", "open \"...\""),
            ("", ""),
        ] {
            assert_eq!(shape(text), expect);
        }
    }

    #[test]
    fn differences_of_one_cause_have_one_shape() {
        let difference = |value: u32| {
            json!({
                "event": value,
                "why": format!("argument 1 is {value}"),
                "recorded": {"text": format!("-> a.B.c({value}) on a.B #{value}"), "place": "p"},
                "replayed": {"text": "-> java.util.List.get(1)", "place": "p"},
                "path": ["a.B.x"],
            })
        };
        let shape = of_difference(&difference(1));
        assert_eq!(shape, "argument N is N (-> *.c; -> java.util.List.get)");
        assert_eq!(of_difference(&difference(29)), shape);
        assert_eq!(
            told(&difference(1)),
            "event 1: argument 1 is 1; recorded -> a.B.c(1) on a.B #1 at p; \
             replayed -> java.util.List.get(1) at p; within a.B.x"
        );
    }

    #[test]
    fn names_of_programs_do_not_count() {
        for (word, expect) in [
            ("a/b/C.<init>()V", "*.<init>"),
            ("a.b.C.call", "*.call"),
            ("java/lang/String.trim()", "java.lang.String.trim"),
            ("incoming-call,", "incoming-call,"),
            ("1.5", "1.5"),
            ("end.", "end."),
        ] {
            assert_eq!(anonymous(word), expect);
        }
    }

    #[test]
    fn the_line_with_the_error_tells_most() {
        assert_eq!(telling_line("one\n# SIGSEGV at\nthree"), "# SIGSEGV at");
        assert_eq!(telling_line("one\ntwo"), "one");
        assert_eq!(telling_line(""), "");
    }
}
