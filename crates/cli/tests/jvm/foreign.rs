//! Recordings that come from elsewhere, and were made or changed to do harm.

use std::fs;
use std::path::{Path, PathBuf};

use culprit_fuzzing::blocks::{self, Block};

use crate::debug::{Program, says};
use crate::process::{self, Ended, command};

const EVENTS: u8 = 8;

/// The only recording of the run.
fn recorded(program: &Program) -> PathBuf {
    let files = fs::read_dir(program.path("run")).unwrap();
    let mut files = files.map(|file| file.unwrap().path());
    let found = files.find(|file| file.extension().is_some_and(|it| it == "culprit"));
    found.unwrap()
}

/// Writes a recording with other blocks, whose checksums are right.
fn forge(program: &Program, name: &str, change: impl Fn(u8, &mut Vec<u8>)) -> String {
    let bytes = fs::read(recorded(program)).unwrap();
    let mut all = blocks::take_apart(&bytes);
    for (tag, payload) in &mut all {
        change(*tag, payload);
    }
    let parts = all.iter().map(|(tag, payload)| Block {
        tag: *tag,
        is_compressed: false,
        payload,
    });
    let parts: Vec<Block<'_>> = parts.collect();
    fs::write(program.path(name), blocks::recording(&parts)).unwrap();
    name.to_owned()
}

fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    for at in 0..bytes.len().saturating_sub(from.len()) + 1 {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
}

/// `culprit` for somebody who has not recorded anything.
fn elsewhere(program: &Program, words: &[&str]) -> Ended {
    let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), program.home.path());
    culprit
        .env("JAVA_HOME", &program.stage.jdk.home)
        .env("XDG_CACHE_HOME", program.path("elsewhere"));
    process::run(culprit.args(words))
}

#[test]
fn calls_of_the_jdk_are_not_made_for_a_recording() {
    let program = Program::compile("lookalike", &[]);
    let victim = program.path("thesis.txt");
    fs::write(&victim, "years of work").unwrap();
    program.record(
        &["--contents", "--observe", "jaba.**"],
        &["depot.Main", victim.to_str().unwrap()],
    );
    // The class path is known to be ours: what is refused are the calls.
    let forged = forge(&program, "forged.culprit", |tag, payload| {
        if tag != 1 {
            replace(payload, b"jaba", b"java");
        }
    });
    let ended = program.culprit(["minimize", &forged]);
    says(
        &ended,
        4,
        "java.nio.file.Files, a class of the JDK, is said to be observed",
    );
    says(&ended, 4, "the recording was tampered with");
    let ended = program.culprit(["replay", &forged]);
    says(&ended, 4, "cannot be replayed");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "years of work");
}

#[test]
fn the_class_path_of_a_recording_from_elsewhere_is_asked_for() {
    let program = Program::compile("crash", &[]);
    program.record(&["--contents", "--observe", "belts.**"], &["depot.Main"]);
    let minimize = ["minimize", "run", "-o"];
    let ended = elsewhere(&program, &[&minimize[..], &["refused"]].concat());
    says(
        &ended,
        2,
        "was not made here, and names code of this machine to run",
    );
    says(&ended, 2, "--trust");
    says(&ended, 2, "/lib");
    assert!(!program.path("refused").exists());
    let ended = elsewhere(&program, &[&minimize[..], &["trusted", "--trust"]].concat());
    says(&ended, 0, "compiled and run: fails the same way");
    let repeat = fs::read_to_string(program.path("trusted/repeat.sh")).unwrap();
    assert!(repeat.contains(" --trust"), "{repeat}");
    let given = ["given", "--class-path", "lib:app"];
    let ended = elsewhere(&program, &[&minimize[..], &given].concat());
    says(&ended, 0, "compiled and run: fails the same way");
    // And nothing is asked where it was made.
    let ended = program.culprit([&minimize[..], &["ours"]].concat());
    says(&ended, 0, "compiled and run: fails the same way");
}

#[test]
fn a_recording_that_names_another_class_path_than_it_was_made_with_is_not_ours() {
    let program = Program::compile("crash", &[]);
    program.record(&["--contents", "--observe", "belts.**"], &["depot.Main"]);
    fs::create_dir(program.path("bad")).unwrap();
    let forged = forge(&program, "forged.culprit", |tag, payload| {
        if tag == 1 {
            replace(payload, b"lib:app", b"bad:app");
        }
    });
    let ended = program.culprit(["minimize", &forged, "-o", "out"]);
    says(&ended, 2, "was not made here");
    assert!(!Path::new(&program.path("out")).exists());
}

#[test]
fn a_damaged_recording_is_unreadable_to_every_command() {
    let program = Program::compile("crash", &[]);
    program.record(&["--contents", "--observe", "belts.**"], &["depot.Main"]);
    let forged = forge(&program, "forged.culprit", |tag, payload| {
        if tag == EVENTS {
            payload.extend([0xff; 7]);
        }
    });
    for words in [
        &["minimize", &*forged][..],
        &["replay", &forged],
        &["show", "--events", &forged],
        &["record", "--replay", &forged, "--observe", "belts.Belt"],
    ] {
        let ended = program.culprit(words);
        says(&ended, 4, "is damaged in the block at byte");
    }
}

#[test]
fn a_failure_that_the_sandbox_would_make_is_told_as_such() {
    let program = Program::compile("denied", &[]);
    let ended = program.debug(&["depot.Main"]);
    says(
        &ended,
        1,
        "the failure is that the system denied the start of a program",
    );
    says(&ended, 1, "--no-sandbox");
    program.record(&["--contents", "--observe", "starter.**"], &["depot.Main"]);
    let ended = program.culprit(["minimize", "run", "-o", "again"]);
    says(
        &ended,
        1,
        "the failure is that the system denied the start of a program",
    );
}

#[test]
fn recordings_that_debug_leaves_are_known_to_be_made_here() {
    let program = Program::compile("files", &[]);
    program.debug(&["shop.Main"]);
    for run in ["out/witness", "out/run-1-1"] {
        // They were made here, whatever else is to be said of them.
        let ended = program.culprit(["minimize", run, "-o", "again"]);
        says(&ended, 1, "no call of the recording ended with the failure");
        let ended = elsewhere(&program, &["minimize", run, "-o", "again"]);
        says(&ended, 2, "was not made here");
    }
}

#[test]
fn many_ways_to_get_an_object_take_little_memory() {
    let program = Program::compile("manylists", &[]);
    program.record(&["--contents", "--observe", "shelf.**"], &["depot.Main"]);
    let mut culprit = command("/bin/sh", program.home.path());
    // Room for the address space of the workers, not for a script for each way.
    let limited = "ulimit -v 8000000; exec \"$@\"";
    culprit
        .env("JAVA_HOME", &program.stage.jdk.home)
        .args(["-c", limited, "sh", env!("CARGO_BIN_EXE_culprit")])
        .args(["minimize", "run", "-o", "out"]);
    let ended = process::run(&mut culprit);
    assert!([0, 1].contains(&ended.status), "{ended:?}");
    insta::assert_snapshot!(format!("{}{}", ended.out, ended.err));
}
