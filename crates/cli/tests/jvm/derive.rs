//! Recordings of a narrower observed set, made from replays of a wider one: what they tell is what
//! a recording of the program itself tells.

use std::env;
use std::fs;
use std::path::Path;

use culprit_trace::Recording;

use crate::consistency;
use crate::fixture::Fixture;
use crate::library::jar;
use crate::process::{self, Ended, command};
use crate::render;
use crate::replay::replay;
use crate::stage::{Recorded, Stage, folder, on_every_jdk, on_one_jdk, skipped};

/// `culprit record --replay`, into the folder `narrow`.
fn derive(stage: &Stage, home: &Path, wide: &Path, observe: &[&str]) -> Ended {
    let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), home);
    culprit
        .env("JAVA_HOME", &stage.jdk.home)
        .env("TMPDIR", home)
        .args(["record", "--quiet"])
        .args(options(observe))
        .arg("--replay")
        .arg(wide)
        .args(["-o", "narrow"]);
    process::run(&mut culprit)
}

fn options(observe: &[&str]) -> Vec<String> {
    let pairs = observe.iter().flat_map(|class| ["--observe", *class]);
    pairs.map(str::to_owned).collect()
}

/// Derives a recording, replays it, and gives it.
#[track_caller]
fn derived(stage: &Stage, home: &Path, wide: &Recorded, observe: &[&str]) -> Recording {
    let place = format!("{observe:?} on JDK {}", stage.feature());
    let ended = derive(stage, home, &wide.run, observe);
    assert_eq!(
        (ended.status, ended.err.as_str()),
        (0, ""),
        "{place}: {ended:?}"
    );
    let narrow = home.join("narrow");
    let recording = Recording::open(&narrow).unwrap();
    assert!(recording.losses().is_empty(), "{:?}", recording.losses());
    let scenario = culprit_replay::lift(&recording).scenario().unwrap();
    consistency::check(&scenario).unwrap();
    let ended = process::run(&mut replay(
        stage,
        home,
        &narrow,
        &["--", "-Xverify:all", "-Xcheck:jni"],
    ));
    assert_eq!(ended.status, 0, "{place}: {ended:?}");
    assert!(ended.out.starts_with("In sync: "), "{place}: {ended:?}");
    recording
}

/// The bytes of the observed classes.
fn classes(recording: &Recording) -> Vec<(String, Vec<u8>)> {
    let observed = recording.classes().iter().filter(|class| class.observed);
    let mut classes: Vec<_> = observed
        .map(|class| (class.name.clone(), recording.class_bytes(class).unwrap()))
        .collect();
    classes.sort();
    classes
}

#[track_caller]
fn assert_same(derived: &Recording, direct: &Recording, hidden: &[&str], place: &str) {
    let lines = |recording: &Recording| -> Vec<String> {
        let lines = render::lines(recording).into_iter();
        // Values that are others in each run of the program.
        let own = |line: &String| hidden.iter().any(|text| line.contains(text));
        lines
            .map(|line| match own(&line) {
                true => "its own".to_owned(),
                false => line,
            })
            .collect()
    };
    let (ours, theirs) = (lines(derived), lines(direct));
    let at = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
    assert_eq!(
        ours.get(at),
        theirs.get(at),
        "{place}: line {at} of\n{}",
        ours.join("\n")
    );
    assert_eq!(classes(derived), classes(direct), "{place}");
}

#[test]
fn a_narrower_recording_tells_what_a_recording_of_the_program_tells() {
    let fixture = Fixture::named("replay/narrower");
    on_every_jdk(&fixture, |stage| {
        let wide = stage.run(&fixture).record();
        assert_eq!(wide.ended.status, 0, "{:?}", wide.ended);
        for observe in [
            &["narrower.InCore"][..],
            &["narrower.InShop"],
            &["narrower.InBase"],
            &["narrower.InShop", "narrower.InKind"],
        ] {
            let home = folder();
            let narrow = derived(stage, home.path(), &wide, observe);
            let mut run = stage.run(&fixture);
            run.record = options(observe);
            let direct = run.record();
            let place = format!("{observe:?} on JDK {}", stage.feature());
            let hidden = [".order = ", "System.nanoTime"];
            assert_same(&narrow, &direct.complete(), &hidden, &place);
            // What the JVM makes up is as it was when the wider set was recorded.
            let lines = render::lines(&narrow);
            let orders = lines.iter().filter_map(|line| line.split_once(".order = "));
            for (_, order) in orders {
                let order = order.trim_matches('"');
                assert!(wide.ended.out.contains(order), "{place}: {order}");
            }
        }
    });
}

/// A library with tests of the study, of which each class alone is recorded from a replay of all.
#[test]
fn classes_of_a_library_are_recorded_from_a_replay_of_all_of_it() {
    let stage = on_one_jdk();
    let Some(library) = jar("be.cyberelf.nanoxml", "nanoxml", "2.2.3", None) else {
        return skipped("nanoxml, which is not here");
    };
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/java/replay/nanoxml");
    let classes = folder();
    let mut javac = stage.javac(classes.path());
    javac.args(["-g", "-nowarn", "-cp"]).arg(&library);
    javac.args(["-d", "."]);
    for entry in fs::read_dir(&tests).unwrap() {
        javac.arg(entry.unwrap().path());
    }
    let ended = process::run(&mut javac);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let fixture = Fixture::named("replay/narrower");
    let mut run = stage.run(&fixture);
    let class_path = env::join_paths([library.as_path(), classes.path()]).unwrap();
    run.class_path = class_path.into_string().unwrap();
    for test in ["Builders.counting", "Attributes.defaults"] {
        run.program = vec!["Main".to_owned()];
        let list = run.plain();
        let test = list
            .out
            .lines()
            .find(|line| line.starts_with(test))
            .unwrap();
        run.program.push(test.to_owned());
        run.record = options(&["net.n3.nanoxml.**"]);
        let wide = run.record();
        for class in ["StdXMLReader", "NonValidator", "StdXMLParser"] {
            let (home, observe) = (folder(), format!("net.n3.nanoxml.{class}"));
            let narrow = derived(stage, home.path(), &wide, &[&observe]);
            assert!(narrow.event_count() > 10, "{test}: {observe}");
            run.record = options(&[&observe]);
            assert_same(&narrow, &run.record().complete(), &[], &observe);
        }
    }
}

#[test]
fn what_a_recording_did_not_observe_cannot_be_recorded_from_it() {
    let stage = on_one_jdk();
    let wide = stage.run(&Fixture::named("replay/versions")).record();
    let home = folder();
    let ended = derive(stage, home.path(), &wide.run, &["versions.Main"]);
    assert_eq!(ended.status, 2, "{ended:?}");
    for expect in [
        "observed none of the classes to observe",
        "it has versions.In",
    ] {
        assert!(ended.err.contains(expect), "{}", ended.err);
    }
    assert!(!home.path().join("narrow").exists());
    let ended = derive(stage, home.path(), home.path(), &["versions.In"]);
    assert_eq!(ended.status, 4, "{ended:?}");
}
