//! `culprit isolate changes` on a repository whose authors, messages, files and lines are hostile.

use std::fs;

use crate::stage::{Stage, Told};

const AUTHOR: &str = "Ann\u{1b}]0;OWNED\u{7}\u{202e}";
const SUBJECT: &str = "fix\u{1b}[2J\u{9b}2J\u{202e}<img src=x>[a](b)`c`";
const FILE: &str = "a\u{1b}[2J\u{202e}\nculprit: forged";

fn git(stage: &Stage, words: &[&str]) -> Told {
    let own = [
        "-c",
        &format!("user.name={AUTHOR}"),
        "-c",
        "user.email=a@example.org",
    ];
    let told = stage.run("git", &[&own[..], words].concat());
    assert_eq!(told.status, 0, "{}", told.err);
    told
}

#[test]
fn what_a_repository_says_is_text_in_every_report() {
    let stage = Stage::new();
    git(&stage, &["init", "-q", "."]);
    let file = stage.path().join(FILE);
    fs::write(&file, "one\ntwo\n").unwrap();
    git(&stage, &["add", "-A"]);
    git(&stage, &["commit", "-qm", "first"]);
    git(&stage, &["tag", "good"]);
    fs::write(&file, "one\nBAD \u{1b}[2J\u{202e}<b>\n").unwrap();
    git(&stage, &["commit", "-qam", SUBJECT]);
    let out = Stage::new();
    let results = out.path().join("out").display().to_string();
    let words = [
        "isolate",
        "changes",
        "--good",
        "good",
        "--bad",
        "HEAD",
        "--test",
        "! grep -rq BAD --exclude-dir=.git .",
        "-o",
        &results,
    ];
    let told = stage.culprit(&words);
    assert_eq!(told.status, 0, "{}", told.err);
    assert!(told.out.contains("Ann\\u001b]0;OWNED"), "{}", told.out);
    assert!(
        told.out.contains("a\\u001b[2J\\u202e\\nculprit"),
        "{}",
        told.out
    );
    let markdown = out.read("out/report.md");
    assert!(
        markdown.contains("\\<img src=x>\\[a](b)\\`c\\`"),
        "{markdown}"
    );
    let html = out.read("out/report.html");
    assert!(!html.contains("<img"), "{html}");
    let json: serde_json::Value = serde_json::from_str(&out.read("out/report.json")).unwrap();
    assert_eq!(json["commits"]["left"][0]["subject"], SUBJECT);
    assert_eq!(json["changes"][0]["file"], FILE);
    out.read("out/repeat.sh");
    let patch = fs::read_to_string(out.path().join("out/minimal.patch")).unwrap();
    assert!(
        patch.contains("BAD \u{1b}[2J\u{202e}<b>"),
        "data is kept to the byte"
    );
}
