//! Which classes are observed, by patterns and by default.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use culprit_trace::RunFolder;

use crate::fixture::Fixture;
use crate::process::{self, command, run};
use crate::stage::{Recorded, Run, folder, on_one_jdk};

fn observed(recorded: &Recorded) -> String {
    let recording = recorded.complete();
    let classes = recording.classes().iter().filter(|class| class.observed);
    let names: BTreeSet<&str> = classes
        .map(|class| class.name.strip_prefix("choosing/").unwrap())
        .collect();
    names.into_iter().collect::<Vec<_>>().join(" ")
}

fn plain_run<'a>(fixture: &'a Fixture, options: &str) -> Run<'a> {
    let mut run = on_one_jdk().run(fixture);
    run.record = options.split_whitespace().map(str::to_owned).collect();
    run
}

#[test]
fn patterns_choose_and_excluding_wins() {
    let fixture = Fixture::named("capture/choosing");
    for (options, expected) in [
        ("--observe choosing.Order", "Order"),
        ("--observe choosing.Order$Line", "Order$Line"),
        ("--observe choosing.Order*", "Order Order$Line"),
        (
            "--observe choosing.Order --observe choosing.Prices",
            "Order Prices",
        ),
        ("--observe choosing.*", "Main Order Order$Line Prices"),
        ("--observe choosing.**", "Main Order Order$Line Prices"),
        ("--observe **.Order", "Order"),
        (
            "--observe choosing.** --exclude choosing.Main --exclude choosing.Order$*",
            "Order Prices",
        ),
        ("--observe app", "Main Order Order$Line Prices"),
        ("", "Main Order Order$Line Prices"),
        ("--exclude choosing.Main", "Order Order$Line Prices"),
    ] {
        let recorded = plain_run(&fixture, options).record_unnoticed();
        assert_eq!(observed(&recorded), expected, "{options}");
    }
}

/// A jar of the fixture.
fn jar(fixture: &Fixture, folder: &std::path::Path) -> PathBuf {
    let stage = on_one_jdk();
    let jar = folder.join("choosing.jar");
    let mut tool = command(stage.jdk.tool("jar"), folder);
    tool.args(["--create", "--main-class", &fixture.main(), "--file"])
        .arg(&jar)
        .arg("-C")
        .arg(&stage.classes)
        .arg("choosing");
    let ended = run(&mut tool);
    assert_eq!(ended.status, 0, "{ended:?}");
    jar
}

#[test]
fn by_default_the_jar_that_is_run_is_observed_and_other_jars_are_not() {
    let fixture = Fixture::named("capture/choosing");
    let folder = folder();
    let jar = jar(&fixture, folder.path());
    let mut run = plain_run(&fixture, "");
    run.program = vec!["-jar".to_owned(), jar.display().to_string()];
    let own = "Main Order Order$Line Prices";
    assert_eq!(observed(&run.record_unnoticed()), own);

    // The same by its main class.
    let mut run = plain_run(&fixture, "");
    run.class_path = jar.display().to_string();
    assert_eq!(observed(&run.record_unnoticed()), own);

    // A main class of another jar.
    let launcher = "groovy/Launcher.java";
    let stage = on_one_jdk();
    let source = folder.path().join(launcher);
    fs::create_dir_all(source.parent().unwrap()).unwrap();
    let calls =
        "public static void main(String[] args) throws Exception { choosing.Main.main(args); }";
    let text = format!("package groovy; public class Launcher {{ {calls} }}");
    fs::write(&source, text).unwrap();
    let mut javac = stage.javac(folder.path());
    let ended = process::run(
        javac
            .arg("-cp")
            .arg(&jar)
            .args(["-d", "launcher", launcher]),
    );
    assert_eq!(ended.status, 0, "{ended:?}");
    let mut tool = command(stage.jdk.tool("jar"), folder.path());
    tool.args([
        "--create",
        "--file",
        "launcher.jar",
        "-C",
        "launcher",
        "groovy",
    ]);
    let ended = process::run(&mut tool);
    assert_eq!(ended.status, 0, "{ended:?}");
    let launcher = folder.path().join("launcher.jar");
    run.class_path = format!("{}:{}", launcher.display(), jar.display());
    run.program = vec!["groovy.Launcher".to_owned()];
    let recorded = run.record();
    assert_eq!(
        (recorded.ended.status, recorded.ended.out.as_str()),
        (0, "6\n")
    );
    let err = &recorded.ended.err;
    assert!(
        err.contains("no class of the program's own was loaded"),
        "{err}"
    );
    assert!(err.contains("choosing"), "{err}");

    // Named, a jar is observed like anything else.
    run.record = vec!["--observe".into(), "choosing.Order".into()];
    assert_eq!(observed(&run.record_unnoticed()), "Order");
}

#[test]
fn a_pattern_that_matches_nothing_says_the_nearest_names() {
    let fixture = Fixture::named("capture/choosing");
    let recorded = plain_run(&fixture, "--observe choosing.Ordr").record();
    assert_eq!(
        (recorded.ended.status, recorded.ended.out.as_str()),
        (0, "6\n")
    );
    let err = &recorded.ended.err;
    assert!(
        err.contains("no loaded class matches choosing.Ordr"),
        "{err}"
    );
    assert!(err.contains("choosing.Order"), "{err}");
}

#[test]
fn jvms_that_a_jvm_starts_have_recordings_of_their_own() {
    let fixture = Fixture::named("capture/children");
    let stage = on_one_jdk();
    let recorded = stage.run(&fixture).record_unnoticed();
    assert_eq!(recorded.ended.out, "parent 10\nchild 20\nstatus 0\n");
    let folder = RunFolder::open(&recorded.run).unwrap();
    assert_eq!(folder.recordings.len(), 2);
    let mut seen: Vec<Vec<String>> = folder
        .recordings
        .iter()
        .map(|path| crate::render::lines(&culprit_trace::Recording::open(path).unwrap()))
        .collect();
    seen.sort();
    assert_eq!(
        seen,
        [
            ["=> In.work(1)", "<= In.work = 10"],
            ["=> In.work(2)", "<= In.work = 20"]
        ]
    );
}

#[test]
fn jvms_that_write_an_archive_of_classes_run_as_before() {
    let fixture = Fixture::named("survive/archiving");
    crate::stage::on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        assert_eq!(recorded.ended.out, "10\nstatus 0\ntrue\n");
        let folder = RunFolder::open(&recorded.run).unwrap();
        assert_eq!(folder.recordings.len(), 1);
    });
}

#[test]
fn a_recording_is_private_and_knows_its_program() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::named("capture/choosing");
    let stage = on_one_jdk();
    let recorded = plain_run(&fixture, "--observe choosing.Order").record_unnoticed();
    let recording = recorded.complete();
    let mode = fs::metadata(recording.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let start = recording.start();
    assert_eq!(start.command.last().unwrap(), "choosing.Main");
    assert!(start.jvm_version.starts_with(&stage.feature().to_string()));
    assert!(start.jvm_flags.iter().any(|flag| flag == "-Xcheck:jni"));
    let home = stage.jdk.home.display().to_string();
    let java_home = start.properties.iter().find(|(key, _)| key == "java.home");
    assert_eq!(java_home.unwrap().1, home);
    // The class file as it was before weaving.
    let observed = recording.classes().iter().filter(|class| class.observed);
    let [order] = observed.collect::<Vec<_>>()[..] else {
        panic!("{:?}", recording.classes())
    };
    let stored = recording.class_bytes(order).unwrap();
    let file = stage.classes.join("choosing/Order.class");
    assert_eq!(stored, fs::read(file).unwrap());
}

#[test]
fn jvms_that_the_program_starts_are_recorded_and_its_environment_does_not_tell() {
    let fixture = Fixture::named("survive/starting");
    crate::stage::on_every_jdk(&fixture, |stage| {
        // The plain run sees no options; a run through a shell has ours in its environment first.
        for shell in [false, true] {
            let mut run = stage.run(&fixture);
            let plain = run.plain_once();
            if shell {
                run.before = ["/bin/sh", "-c", "exec \"$@\" 2>/dev/null", "sh"]
                    .map(str::to_owned)
                    .to_vec();
            }
            let recorded = run.record();
            // JVMs under a shell have their options from its environment, but do not show them.
            assert_eq!(recorded.ended.out, plain.out, "JDK {}", stage.feature());
            assert_eq!(recorded.ended.err, "");
            let folder = RunFolder::open(&recorded.run).unwrap();
            assert_eq!(folder.recordings.len(), 7);
            for file in &folder.recordings {
                let recording = culprit_trace::Recording::open(file).unwrap();
                assert_eq!(recording.event_count(), 2);
            }
        }
    });
}
