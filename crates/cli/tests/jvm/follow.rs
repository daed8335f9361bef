//! Followed programs do what they do without us, instruction by instruction, and what is noted of them is
//! what they did.
//!
//! Each runs plain, with its main class followed, which is how drivers are, and with all its classes
//! followed. Stack traces differ: methods of the interpreter are in them.

mod generated;

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use culprit_model::options::{FOLLOWED_EXTENSION, FollowOptions, Mode};
use culprit_model::{AgentOptions, Script};

use crate::fixture::Fixture;
use crate::process::{Ended, command, run};
use crate::stage::{Stage, folder, on_every_jdk, scratch};

/// Programs that say nothing of their stack, and no more of null than its class.
const OTHERS: [&str; 12] = [
    "arrays",
    "bridges",
    "constructors",
    "dispatch",
    "everyday",
    "fields",
    "initialisers",
    "interfaces",
    "lambdas",
    "monitors",
    "nested",
    "records",
];

/// The agent, as the executable unpacks it.
fn library() -> &'static str {
    static LIBRARY: OnceLock<String> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = folder();
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), folder.path());
        culprit
            .env("XDG_CACHE_HOME", scratch().join("cache"))
            .args(["record", "--quiet", "-o", "run", "--", "/bin/sh", "-c"])
            .arg("echo \"$JAVA_TOOL_OPTIONS\"");
        let ended = run(&mut culprit);
        let agent = ended.out.trim().strip_prefix("-agentpath:");
        let library = agent.and_then(|agent| agent.split('=').next());
        library.unwrap_or_else(|| panic!("{ended:?}")).to_owned()
    })
}

/// Runs a fixture with classes followed; how it ends, and the script.
fn follow(stage: &Stage, fixture: &Fixture, classes: &str, args: &[&str]) -> (Ended, Script) {
    let folder = folder();
    let options = AgentOptions {
        out: folder.path().display().to_string(),
        mode: Mode::Follow(FollowOptions {
            classes: vec![classes.parse().unwrap()],
            ..FollowOptions::default()
        }),
    };
    let agent = format!("-agentpath:{}={options}", library());
    let ended = stage.run(fixture).flags(&[&agent]).args(args).plain();
    let files = fs::read_dir(folder.path()).unwrap();
    let files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    let [file] = files.as_slice() else {
        panic!("{files:?}, {ended:?}");
    };
    assert!(file.extension().is_some_and(|e| e == FOLLOWED_EXTENSION));
    let script: Script = fs::read_to_string(file).unwrap().parse().unwrap();
    script.check().unwrap();
    (ended, script)
}

/// The same without the places of stack traces.
fn without_places(ended: Ended) -> Ended {
    let lines = ended.err.lines().filter(|line| !line.starts_with("\tat "));
    let err = lines.flat_map(|line| [line, "\n"]).collect();
    Ended { err, ..ended }
}

/// Runs a fixture plain and followed on every JDK: nobody can tell the difference.
#[track_caller]
fn check(path: &str) {
    let fixture = Fixture::named(path);
    on_every_jdk(&fixture, |stage| {
        let plain = stage.run(&fixture).plain_once();
        assert_eq!(plain.status, fixture.status, "{plain:?}");
        for classes in ["Main", "**"] {
            let classes = format!("{}.{classes}", fixture.name);
            let (ended, script) = follow(stage, &fixture, &classes, &[]);
            let place = format!("{classes} on JDK {}", stage.feature());
            let plain = without_places(plain.clone());
            assert_eq!(without_places(ended), plain, "{place}");
            assert!(!script.statements.is_empty(), "{place}");
        }
    });
}

#[test]
fn numbers_are_computed_as_before() {
    check("follow/sums");
}

#[test]
fn branches_exceptions_and_monitors_are_as_before() {
    check("follow/paths");
}

#[test]
fn classes_are_made_and_initialised_in_the_same_order() {
    check("follow/shapes");
}

#[test]
fn lambdas_and_method_references_are_called_back() {
    check("follow/handed");
}

#[test]
fn what_fails_fails_in_the_same_way() {
    check("follow/troubles");
}

#[test]
fn patterns_records_and_early_constructions_are_as_before() {
    check("follow/newest");
}

#[test]
fn classes_of_one_name_are_kept_apart() {
    check("follow/twofold");
}

#[test]
fn many_threads_are_followed_at_once() {
    check("follow/crowded");
}

/// The heap has room for a fraction of what the loops make, so what they let go must be let go.
#[test]
fn what_a_long_loop_made_is_collected() {
    check("follow/tireless");
}

/// Programs that were written for other tests have no reason to be kind to this one.
#[test]
fn programs_of_other_tests_run_as_before() {
    for name in OTHERS {
        check(&format!("capture/{name}"));
    }
}

#[test]
fn a_script_has_each_call_and_the_origin_of_its_values() {
    let fixture = Fixture::named("follow/building");
    on_every_jdk(&fixture, |stage| {
        let (ended, script) = follow(stage, &fixture, "building.Main", &[]);
        let plain = stage.run(&fixture).plain_once();
        assert_eq!(without_places(ended), without_places(plain));
        let text = script.to_string();
        let (_, statements) = text.split_once("\n\n").unwrap();
        let statements: Vec<String> = statements.lines().map(without_addresses).collect();
        fixture.expects(&statements, &format!("JDK {}", stage.feature()));
    });
}

/// Names of lambdas have addresses in them: `"building/Main$$Lambda$1.0x0000000800080000"`.
fn without_addresses(line: &str) -> String {
    let mut pieces = line.split("$$Lambda");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text.push_str("$$Lambda");
        text.push_str(piece.split_once('"').map_or("", |(_, rest)| rest));
    }
    // Compilers number the bodies of lambdas differently.
    let Some(start) = text.find(" lambda$") else {
        return text;
    };
    let end = text[start + 1..]
        .find(' ')
        .map_or(text.len(), |at| start + 1 + at);
    let name = text[start..end].trim_end_matches(|c: char| c.is_ascii_digit());
    format!("{}{}{}", &text[..start], name, &text[end..])
}
