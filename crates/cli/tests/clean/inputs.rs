//! `culprit isolate input` on files whose names and bytes are hostile.

use std::fs;

use crate::stage::{HOSTILE, Stage};

const NAME: &str = "a\u{1b}]0;OWNED\u{7}\u{202e}\nculprit: forged.txt";

#[test]
fn names_and_bytes_of_inputs_are_text_in_every_report() {
    let stage = Stage::new();
    let folder = stage.path().join("in");
    fs::create_dir(&folder).unwrap();
    let markup = "<script>x</script> ```\n# forged\n[a](b)";
    fs::write(folder.join(NAME), format!("{HOSTILE}\n{markup}\nBAD\n")).unwrap();
    fs::write(folder.join("other"), "fine\n").unwrap();
    let test = "! grep -q BAD {}/*; r=$?; printf '\\033]0;OWNED\\007' >&2; exit $r";
    for words in [
        &["isolate", "input", "in", "--test", test, "-o", "one"][..],
        &[
            "isolate",
            "input",
            "in",
            "--simplify",
            "--test",
            test,
            "-o",
            "two",
        ],
    ] {
        let told = stage.culprit(words);
        assert_eq!(told.status, 0, "{}", told.err);
        let results = words.last().unwrap();
        for name in [
            "report.md",
            "report.json",
            "report.html",
            "repeat.sh",
            "candidates.jsonl",
        ] {
            let text = stage.read(&format!("{results}/{name}"));
            assert!(!text.contains("<script>x"), "{name}: {text}");
        }
        let shown = told.out + &stage.read(&format!("{results}/report.md"));
        assert!(
            shown.contains("\\u001b]0;OWNED\\u0007\\u202e\\nculprit"),
            "{shown}"
        );
    }
}

#[test]
fn what_is_left_of_an_input_is_kept_to_the_byte() {
    let stage = Stage::new();
    fs::write(stage.path().join("in"), format!("x\n{HOSTILE}\n")).unwrap();
    let words = [
        "isolate",
        "input",
        "in",
        "--simplify",
        "--test",
        "! grep -q \"0;OWNED$(printf '\\007')\" {}",
        "-o",
        "out",
    ];
    let told = stage.culprit(&words);
    assert_eq!(told.status, 0, "{}", told.err);
    assert_eq!(
        fs::read(stage.path().join("out/failing")).unwrap(),
        b"0;OWNED\x07"
    );
}
