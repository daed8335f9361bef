//! A sample of the study of reducers, as part of `cargo test`: the engine and plain ddmin on one recorded
//! crash, with the real oracle.

mod build;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_jvm::{Interrupt, Jdk, JdkLocations};
use culprit_reduce::Schedule;
use studies::process::{Outcome, Run, tool, words};
use studies::reduce::meter::{Closing, Meter};
use studies::reduce::sequence::{Sequence, Workers};
use studies::reduce::{Reducer, reduce};

/// A recording of the program whose belt grows wrongly, and the agent.
fn recorded(place: &Path) -> (PathBuf, PathBuf) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let jdk = Jdk::find(&JdkLocations::of_process()).unwrap();
    let sources = root.join("fixtures/debug/crash");
    let files = [
        "lib/belts/Belt",
        "lib/belts/Parcel",
        "lib/belts/Scale",
        "app/depot/Main",
    ];
    let mut args = words(["-g", "-proc:none", "-d", "classes"]);
    args.extend(files.map(|file| sources.join(format!("{file}.java")).into()));
    tool(&jdk.tool("javac"), args, place).unwrap();
    let java = jdk.tool("java");
    let mut args = words(["record", "--contents", "--observe", "belts.**"]);
    args.extend(words(["-o", "run", "--"]));
    args.push(java.into());
    args.extend(words(["-cp", "classes", "depot.Main"]));
    let run = Run {
        program: build::culprit(&build::profile_folder()),
        args,
        folder: place.to_owned(),
        env: vec![
            ("XDG_CACHE_HOME".into(), place.join("cache").into()),
            ("JAVA_HOME".into(), jdk.home.into()),
        ],
        stdout: place.join("out"),
        stderr: place.join("err"),
        limit: Duration::from_secs(300),
    };
    let outcome = run.run().unwrap();
    let said = fs::read_to_string(&run.stderr).unwrap();
    assert!(matches!(outcome, Outcome::Ended { .. }), "{said}");
    let agents = fs::read_dir(place.join("cache/culprit")).unwrap();
    let mut agents = agents.map(|entry| entry.unwrap().path());
    let agent = agents.find(|path| path.extension().is_some_and(|it| it == "so"));
    (place.join("run"), agent.expect(&said))
}

#[test]
fn the_engine_needs_fewer_tests_than_plain_ddmin_and_leaves_no_more() {
    let place = tempfile::tempdir().unwrap();
    let (run, agent) = recorded(place.path());
    let workers = Workers {
        agent,
        scratch: place.path().to_owned(),
        interrupt: Interrupt::by_signals().unwrap(),
    };
    let sequence = Sequence::open("belts", &run, &workers).unwrap();
    let sequence = sequence.unwrap();
    assert!(sequence.size() > 500, "{}", sequence.size());
    let by = |reducer| reduce(&sequence, reducer, None).unwrap();
    let ours = by(Reducer::Engine(Schedule::Splitting));
    let plain = by(Reducer::Plain(Closing::Refuse));
    assert!(ours.tests < plain.tests, "{ours:?} {plain:?}");
    assert!(ours.left.len() <= plain.left.len(), "{ours:?} {plain:?}");
    assert_eq!(ours.runs, ours.tests, "a candidate lacked what it needs");
    assert!(plain.runs < plain.tests, "{plain:?}");
    // Nothing can be taken out, together with what needs it.
    let meter = Meter::new(&sequence, Closing::Refuse);
    for call in &ours.left {
        let stays = |it: &u32| !sequence.completed(&[*it]).contains(call);
        let rest: Vec<u32> = ours.left.iter().copied().filter(stays).collect();
        assert!(!meter.fails(&rest).unwrap(), "{call} of {:?}", ours.left);
    }
}
