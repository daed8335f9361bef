//! What a worker JVM has in common with the recorded one: everything that library code which runs
//! live can see of its surroundings, besides what calls of observed code tell it.
//!
//! Such code is pure but for a few things (`crates/weave/src/library.rs` says which code it is):
//! formatting and parsing depend on the default locale and the default time zone, bytes of texts on
//! the default charset, lines on their separator; some classes of `java.util` can be tuned. An
//! `assert` of observed code asks its class whether it is on. Nothing of this is taken from the
//! machine that replays.

use culprit_model::secret::MASK;
use culprit_trace::Start;

/// System properties that live library code reads.
const PROPERTIES: [&str; 3] = ["user.timezone", "file.encoding", "line.separator"];

/// What a plain run finds in its surroundings.
const PLAIN: [(&str, &str); 2] = [("user.language", "en"), ("user.country", "US")];

/// Beginnings of the names of others.
const FAMILIES: [&str; 10] = [
    "user.language",
    "user.country",
    "user.script",
    "user.variant",
    "user.extensions",
    "java.locale.",
    "java.util.",
    "java.time.",
    "java.lang.invoke.",
    "jdk.util.",
];

/// Options of the JVM that change what observed code does, or whether it is accepted at all.
const FLAGS: [&str; 10] = [
    "-ea",
    "-enableassertions",
    "-da",
    "-disableassertions",
    "-esa",
    "-enablesystemassertions",
    "-dsa",
    "-disablesystemassertions",
    "--enable-preview",
    "-XX:AutoBoxCacheMax=",
];

/// Options of `java` whose value is the next word.
const WITH_VALUE: [&str; 14] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--add-exports",
    "--add-opens",
    "--add-reads",
    "--patch-module",
    "--describe-module",
    "--enable-native-access",
];

/// The least stack of a thread, and the most that a JVM takes.
const STACK: u64 = 16 << 20;
const MOST_STACK: u64 = 1 << 30;

/// Options of a JVM that is like the recorded one.
pub fn options(start: &Start) -> Vec<String> {
    let mut options = flags(start);
    let properties = start.properties.iter();
    options.extend(
        properties
            .filter(|(name, value)| is_seen(name) && is_worth_saying(value))
            .map(|(name, value)| format!("-D{name}={value}")),
    );
    options.push(format!("-Xss{}", stack(start)));
    options
}

/// Options that change what code does, whatever it is told of its surroundings.
fn flags(start: &Start) -> Vec<String> {
    typed(&start.command)
        .filter(|word| FLAGS.iter().any(|flag| is_flag(word, flag)) && !word.contains('\0'))
        .map(str::to_owned)
        .collect()
}

/// Options of a JVM that runs the recorded program in surroundings that are the same everywhere.
pub fn plain_options(start: &Start) -> Vec<String> {
    let mut options = flags(start);
    options.extend(PLAIN.map(|(name, value)| format!("-D{name}={value}")));
    // Compiled code that throws the same again and again would throw it without message and stack.
    options.push("-XX:-OmitStackTraceInFastThrow".to_owned());
    options
}

/// The options of the recorded command that limit a kind of memory, `-Xmx` or `-Xss`; the last one counts.
pub fn memory_option(start: &Start, kind: &str) -> Option<String> {
    let words = typed(&start.command).chain(start.jvm_flags.iter().map(String::as_str));
    let sizes = words.filter(|word| word.strip_prefix(kind).and_then(bytes).is_some());
    sizes.last().map(str::to_owned)
}

/// Variables of the environment of such a JVM.
pub fn plain_variables() -> Vec<(String, String)> {
    let variables = [("TZ", "UTC"), ("LC_ALL", "C.UTF-8")];
    variables
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// Variables of its environment. A JVM finds its time zone by `TZ`, or by files that may be others
/// on another machine, unless it was told one.
pub fn variables(start: &Start) -> Vec<(String, String)> {
    let zone = start
        .notes
        .iter()
        .find(|(name, _)| name == Start::TIME_ZONE);
    let zone = zone.filter(|(_, zone)| !zone.contains('\0'));
    let zone = zone.map_or("UTC", |(_, zone)| zone.as_str());
    vec![
        ("TZ".to_owned(), zone.to_owned()),
        // Names of files may have any character.
        ("LC_ALL".to_owned(), "C.UTF-8".to_owned()),
    ]
}

/// Bytes of the stack of each thread. Calls of the executor lie between those of the program, so
/// that it must be larger than it was; without end it overflows all the same.
fn stack(start: &Start) -> u64 {
    let said = typed(&start.command).filter_map(|word| word.strip_prefix("-Xss"));
    let recorded = said.filter_map(bytes).last().unwrap_or_default();
    recorded.saturating_mul(2).clamp(STACK, MOST_STACK)
}

/// `512k` or `2m`, in bytes.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

fn is_seen(property: &str) -> bool {
    PROPERTIES.contains(&property) || FAMILIES.iter().any(|start| property.starts_with(start))
}

/// Nothing is what every JVM has by itself where nothing is said, and so is the end of a line.
fn is_worth_saying(value: &str) -> bool {
    !value.is_empty() && value != "\n" && value != MASK && !value.contains('\0')
}

/// `-ea` and `-ea:com.acme...` are `-ea`, `-eagle` is not.
fn is_flag(word: &str, flag: &str) -> bool {
    match word.strip_prefix(flag) {
        Some("") => true,
        Some(rest) => flag.ends_with('=') || rest.starts_with(':'),
        None => false,
    }
}

/// The options of a `java` command, without the program and its arguments.
fn typed(command: &[String]) -> impl Iterator<Item = &str> {
    let mut words = command.iter().skip(1).map(String::as_str);
    std::iter::from_fn(move || {
        let word = words.next()?;
        if WITH_VALUE.contains(&word) {
            words.next()?;
        }
        let is_last = matches!(word, "-jar" | "-m" | "--module") || !word.starts_with(['-', '@']);
        (!is_last).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(command: &str, properties: &[(&str, &str)]) -> Start {
        let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        Start {
            command: command.split_whitespace().map(str::to_owned).collect(),
            properties: properties.iter().map(owned).collect(),
            ..Start::default()
        }
    }

    #[test]
    fn nothing_that_runs_other_code_is_taken_over() {
        let hostile = [
            "-agentpath:/tmp/x.so",
            "-agentlib:x",
            "-javaagent:/tmp/x.jar",
            "-Xbootclasspath/a:/tmp/x.jar",
            "-XX:OnError=/tmp/x",
            "-XX:OnOutOfMemoryError=/tmp/x",
            "-XX:Flags=/tmp/x",
            "-XX:VMOptionsFile=/tmp/x",
            "-XX:SharedArchiveFile=/tmp/x",
            "-XX:AOTLibrary=/tmp/x",
            "-XX:ErrorFile=/tmp/x",
            "-Xlog:all:file=/tmp/x",
            "-XX:+EnableDynamicAgentLoading",
            "--patch-module=java.base=/tmp/x",
            "--upgrade-module-path=/tmp",
            "-Djava.system.class.loader=x.Y",
            "-Djava.library.path=/tmp",
            "@/tmp/x",
            "-ea\0-javaagent:/tmp/x.jar",
        ];
        let start = Start {
            properties: vec![
                ("java.system.class.loader".to_owned(), "x.Y".to_owned()),
                ("sun.boot.library.path".to_owned(), "/tmp".to_owned()),
                ("jdk.module.path".to_owned(), "/tmp".to_owned()),
                ("user.language".to_owned(), "a\0b".to_owned()),
            ],
            ..start(&format!("java -ea {} -esa Main", hostile.join(" ")), &[])
        };
        for options in [options(&start), plain_options(&start)] {
            let known = [
                "-ea",
                "-esa",
                "-Xss",
                "-Duser.",
                "-XX:-OmitStackTraceInFastThrow",
            ];
            for option in options {
                let is_known = known.iter().any(|known| option.starts_with(known));
                assert!(is_known && !option.contains('\0'), "{option:?}");
            }
        }
        let names: Vec<String> = variables(&start)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["TZ", "LC_ALL"]);
    }

    #[test]
    fn what_live_code_sees_is_taken_over_and_nothing_else() {
        let start = start(
            "java -cp -ea:not.this -ea:com.acme... -Dx=y -da --enable-preview -Xmx9g Main -esa",
            &[
                ("user.language", "de"),
                ("user.country", ""),
                ("java.class.path", "a.jar"),
                ("file.encoding", "ISO-8859-1"),
                ("java.util.Arrays.useLegacyMergeSort", "true"),
                ("user.variant", MASK),
            ],
        );
        let expect = [
            "-ea:com.acme...",
            "-da",
            "--enable-preview",
            "-Duser.language=de",
            "-Dfile.encoding=ISO-8859-1",
            "-Djava.util.Arrays.useLegacyMergeSort=true",
            "-Xss16777216",
        ];
        assert_eq!(options(&start), expect);
    }

    #[test]
    fn stacks_are_larger_than_they_were() {
        for (typed, expect) in [
            ("java Main -Xss99m", 16 << 20),
            ("java -Xss512k Main", 16 << 20),
            ("java -Xss64m -Xss32m Main", 64 << 20),
            ("java -Xss1g Main", 1 << 30),
        ] {
            assert_eq!(stack(&start(typed, &[])), expect, "{typed}");
        }
    }

    #[test]
    fn the_time_zone_is_that_of_the_recording_never_that_of_this_machine() {
        let mut start = Start::default();
        assert_eq!(variables(&start)[0].1, "UTC");
        let note = (Start::TIME_ZONE.to_owned(), "Asia/Tokyo".to_owned());
        start.notes.push(note);
        assert_eq!(
            variables(&start)[0],
            ("TZ".to_owned(), "Asia/Tokyo".to_owned())
        );
    }
}
