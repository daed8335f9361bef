//! Properties of any exception and any text.

use culprit_signature::{
    Frame, Grade, Signature, Thrown, find_all, mask, mask_literals, normalise,
};
use proptest::prelude::*;

fn class() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("java.lang.IllegalStateException".to_owned()),
        Just("java.lang.StackOverflowError".to_owned()),
        Just("java.lang.OutOfMemoryError".to_owned()),
        Just("java.lang.AssertionError".to_owned()),
        Just("java.lang.reflect.InvocationTargetException".to_owned()),
        Just("org.opentest4j.AssertionFailedError".to_owned()),
        Just("org.junit.jupiter.api.Assertions".to_owned()),
        Just("jdk.internal.reflect.DirectMethodHandleAccessor".to_owned()),
        Just("shop.Cart$$Lambda$14/0x00007f1004".to_owned()),
        Just("shop.Cart$$Lambda/0x00007f1004".to_owned()),
        "[a-z]{1,3}\\.[A-Z][a-z]{0,3}(\\$[A-Z1-9])?",
        "[A-Z][a-zé]{0,3}",
    ]
}

fn frame() -> impl Strategy<Value = Frame> {
    let method = "[a-z]{1,3}|<init>|<clinit>|lambda\\$main\\$[0-9]|my test \\(a b\\)";
    let place = prop_oneof![
        Just((None, None, true)),
        Just((None, None, false)),
        "[A-Z][a-z]{0,3}\\.(java|kt)".prop_map(|file| (Some(file), None, false)),
        ("[A-Z][a-z]{0,3}\\.java", 0u32..400).prop_map(|(file, line)| (
            Some(file),
            Some(line),
            false
        )),
    ];
    (class(), method, place).prop_map(|(class, method, (file, line, native))| Frame {
        class,
        method,
        file,
        line,
        native,
    })
}

/// Text of several lines, none of which looks like a part of a stack.
fn message() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9 :.,()\\[\\]<>\"'@$/-]{0,6}",
        Just("\n".to_owned()),
        Just("\t".to_owned()),
        Just("at ".to_owned()),
        Just("java.io.IOException: ".to_owned()),
        Just("Caused by: ".to_owned()),
        Just("... 3 more".to_owned()),
    ];
    prop::collection::vec(piece, 0..8)
        .prop_map(|pieces| pieces.concat())
        .prop_filter("lines must not look like a stack", |text| {
            let stack = ["at ", "...", "[...]", "Caused by:", "Suppressed:", "[CIRC"];
            let mut lines = text.split('\n').skip(1).map(str::trim_start);
            !lines.any(|line| stack.iter().any(|start| line.starts_with(start)))
        })
}

fn thrown() -> impl Strategy<Value = Thrown> {
    let one = (
        class(),
        prop::option::of(message()),
        prop::collection::vec(frame(), 0..5),
        0usize..4,
    );
    prop::collection::vec(one, 1..4).prop_map(|chain| {
        let mut outer: Vec<Frame> = Vec::new();
        let mut all = Vec::new();
        for (class, message, mut frames, common) in chain {
            let from = outer.len().saturating_sub(common);
            frames.extend_from_slice(&outer[from..]);
            outer.clone_from(&frames);
            all.push((class, message, frames));
        }
        let innermost_first = all.into_iter().rev();
        let chained = innermost_first.fold(None, |cause, (class, message, frames)| {
            Some(Box::new(Thrown {
                class,
                message,
                frames,
                truncated: false,
                cause,
            }))
        });
        chained.map(|it| *it).unwrap_or_default()
    })
}

/// Text made of what the readers look for.
fn output() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\n",
        "\n",
        "\n",
        "\t",
        " ",
        "    ",
        "at ",
        "a.b.C",
        "a.b.CException",
        ": ",
        "; ",
        "x",
        "(C.java:1)",
        "(Native Method)",
        ".m",
        "Caused by: ",
        "Caused by:",
        "Suppressed: ",
        "... ",
        "3 more",
        "99999999999999999999 more",
        "[...]",
        "[CIRCULAR REFERENCE: ",
        "]",
        "=> ",
        "Exception in thread \"",
        "\" ",
        "[ERROR] ",
        "12:00:00 ",
        " <<< ERROR!",
        "Time elapsed",
        " -- ",
        " > t() FAILED",
        "1) t(a.b.C)",
        "MethodSource [className = 'a",
        "methodName =",
        "  JUnit Jupiter:C:t()",
        "\u{1b}[31m",
        "\u{1b}[",
        "é",
        "/",
        "0x1",
        "'",
        " at C.java:1",
        "Exception: ",
        " thrown from the UncaughtExceptionHandler in thread ",
        "\r\n",
        "~[a:1]",
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

/// Text made of what masks look for.
fn volatile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "@",
            "$",
            "$$Lambda",
            "$Proxy",
            "/",
            "0x",
            "/tmp/",
            "C:\\Temp\\",
            "-",
            ":",
            ".",
            "T",
            "Z",
            "PT",
            "S",
            " ms",
            "s",
            "pid ",
            "port=",
            "localhost:",
            "127.0.0.1:",
            "Thread-",
            "pool-",
            "-thread-",
            "Sun Mar 31 ",
            "02:30:15",
            " CET 2024",
            "2024-03-31",
            "é",
            "<",
            ">",
            "<n>",
            "<time>",
            "\"",
            "'",
            " ",
            "\n",
            "_",
            "+01:00",
            "[Europe/Berlin]",
            "+",
            "1b2c3d4e",
            "deadbeef-dead-beef-dead-",
            "deadbeef0123",
            "GeneratedMethodAccessor",
            "loader ",
            "'app'",
            "(a.B is in ",
            "(in ",
            "unnamed module",
            "module a.b",
            " of loader ",
            "; ",
            ")",
            "java.net.URLClassLoader",
            "at a.B.c(B.java:",
            "Thread[#",
        ])
        .prop_map(str::to_owned),
        "[0-9]{1,20}",
        "[0-9a-f]{1,17}",
    ];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

/// A message of words and of what depends on the run.
#[derive(Clone, Debug)]
struct Told {
    words: Vec<String>,
    kinds: Vec<usize>,
    text: String,
}

/// By kind, two forms of what depends on the run.
const OF_THE_RUN: [[&str; 2]; 8] = [
    ["Cart@1b2c3d4", "Cart@5e6f7a8"],
    ["loader 'app'", "loader a.Loader @1b2c3d"],
    [
        "(a.B is in unnamed module of loader 'app')",
        "(a.B is in module m of loader java.net.URLClassLoader @77846d2c)",
    ],
    ["a.B$$Lambda$14/0x00007f1004", "C$$Lambda/0x00007f2008"],
    ["pool-1-thread-3", "pool-2-thread-17"],
    ["-> at a.B.c(B.java:7)", "-> at d.E.f(E.java:90)"],
    ["/tmp/a1/x.txt", "/var/tmp/b/c/x.txt"],
    ["0x00007f100414e908", "0x00007f99aa14e908"],
];

fn told() -> impl Strategy<Value = Told> {
    let word = prop::sample::select(vec![
        "no", "in", "module", "loader", "7", "x-1", "at", "a.B",
    ]);
    let of_run = (0..OF_THE_RUN.len(), 0usize..2);
    prop::collection::vec((word, of_run), 1..4).prop_map(|parts| Told {
        words: parts.iter().map(|(word, _)| (*word).to_owned()).collect(),
        kinds: parts.iter().map(|(_, (kind, _))| *kind).collect(),
        text: parts
            .iter()
            .fold(String::new(), |text, (word, (kind, form))| {
                text + word + ", " + OF_THE_RUN[*kind][*form] + " and "
            }),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_java_prints_is_read_back(thrown in thrown()) {
        prop_assert_eq!(Thrown::parse(&thrown.to_string()), Some(thrown));
    }

    #[test]
    fn a_failure_is_the_same_as_itself(thrown in thrown()) {
        let signature = Signature::of(&thrown);
        prop_assert_eq!(signature.grade(&thrown), Some(Grade::L4));
        prop_assert!(signature.is_same(&thrown));
        prop_assert!(!signature.to_string().contains('\n'));
    }

    #[test]
    fn grades_never_panic_and_lines_only_divide(one in thrown(), other in thrown()) {
        let signature = Signature::of(&one);
        let grade = signature.grade(&other);
        prop_assert!(signature.ignoring_lines().grade(&other) >= grade.min(Some(Grade::L3)));
    }

    #[test]
    fn masks_are_idempotent(text in volatile()) {
        let masked = mask(&text);
        prop_assert_eq!(mask(&masked), masked);
        let masked = mask_literals(&text);
        prop_assert_eq!(mask_literals(&masked), masked);
        let normal = normalise(&text);
        prop_assert_eq!(normalise(&normal), normal);
    }

    /// Words between what depends on the run: two messages are equal where the words are, and the kinds of the rest.
    #[test]
    fn messages_that_differ_in_a_word_stay_different(one in told(), other in told()) {
        let is_same = one.words == other.words && one.kinds == other.kinds;
        prop_assert_eq!(normalise(&one.text) == normalise(&other.text), is_same);
    }

    #[test]
    fn masks_take_any_text(text in any::<String>()) {
        let masked = mask(&text);
        prop_assert_eq!(mask(&masked), masked);
        let normal = normalise(&text);
        prop_assert_eq!(normalise(&normal), normal);
    }

    #[test]
    fn any_output_can_be_searched(text in any::<String>()) {
        let _ = find_all(&text);
        let _ = Thrown::parse(&text);
    }

    #[test]
    fn output_that_looks_like_traces_can_be_searched(text in output()) {
        for found in find_all(&text) {
            prop_assert!(found.line >= 1 && found.line <= text.lines().count());
            prop_assert_eq!(Signature::of(&found.thrown).grade(&found.thrown), Some(Grade::L4));
        }
        let _ = Thrown::parse(&text);
    }
}

#[test]
fn causes_without_end_do_not_exhaust_the_stack() {
    for word in ["Caused by", "Suppressed"] {
        let text = format!("a.B: x\n{}", format!("{word}: a.B: x\n").repeat(100_000));
        let thrown = Thrown::parse(&text);
        assert!(thrown.is_some_and(|it| it.chain().count() < 100));
        let _ = find_all(&text);
    }
}
