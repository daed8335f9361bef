//! Recordings of fixtures run again: in sync, without the world around them, and where that cannot be.

use culprit_report::document::conforming;
use culprit_report::replay::ReplayDocument;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use culprit_model::{EventKind, Member, Site, SiteId, SiteKind};
use culprit_trace::{ClassDef, EventsHead, RecordBuffer, Start, ThreadDef, Writer};
use rustix::process::{Signal, kill_process};

use crate::against::{against, version};
use crate::fixture::Fixture;
use crate::process::{self, Ended, Running, command};
use crate::stage::{Recorded, Stage, folder, on_every_jdk, on_one_jdk};

/// Every class is verified and every JNI call checked, there too.
pub(crate) const STRICT: [&str; 3] = ["--", "-Xverify:all", "-Xcheck:jni"];

/// `culprit replay` of something, with arguments, in a folder.
pub(crate) fn replay(stage: &Stage, home: &Path, path: &Path, args: &[&str]) -> Command {
    let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), home);
    culprit
        .env("JAVA_HOME", &stage.jdk.home)
        .env("TMPDIR", home)
        .arg("replay")
        .arg(path)
        .args(args);
    culprit
}

pub(crate) fn replayed(stage: &Stage, recorded: &Recorded, args: &[&str]) -> Ended {
    let home = folder();
    let ended = process::run(&mut replay(stage, home.path(), &recorded.run, args));
    let left = fs::read_dir(home.path()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["cache"], "nothing stays behind");
    ended
}

/// Replays in a folder, which has the agent then.
#[track_caller]
pub(crate) fn replayed_in(stage: &Stage, home: &Path, recorded: &Recorded) {
    let ended = process::run(&mut replay(stage, home, &recorded.run, &[]));
    assert_eq!(ended.status, 0, "{ended:?}");
}

pub(crate) fn record(stage: &Stage, path: &str) -> Recorded {
    let fixture = Fixture::named(path);
    let recorded = stage.run(&fixture).record();
    assert_eq!(recorded.ended.status, fixture.status, "{path}");
    recorded
}

/// Records a fixture on every JDK, and replays it.
#[track_caller]
fn check(path: &str) {
    on_every_jdk(&Fixture::named(path), |stage| {
        let recorded = record(stage, path);
        let ended = replayed(stage, &recorded, &STRICT);
        let place = format!("{path} on JDK {}", stage.feature());
        assert_eq!(ended.status, 0, "{place}: {ended:?}");
        let events = recorded.complete().event_count();
        let expect = format!("In sync: {events} events of ");
        assert!(ended.out.starts_with(&expect), "{place}: {}", ended.out);
        // Nothing of what -Xcheck:jni may have to say.
        let known = ["Sharing is", "-Xverify", "ended unseen"];
        let is_known = |line: &&str| known.iter().any(|known| line.contains(known));
        let said: Vec<&str> = ended.err.lines().filter(|line| !is_known(line)).collect();
        assert!(said.is_empty(), "{place}: {said:?}");
    });
}

macro_rules! in_sync {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(concat!("capture/", stringify!($name)));
        })*
    };
}

/// Fixtures of the capture whose replay is in sync.
mod in_sync {
    use super::check;

    in_sync! {
        accesses arrays bridges callbacks cleanup constructors dispatch escape everyday exceptions fields
        handles hashes initialisers interfaces itself lambdas lent links live many monitors nested nine outlines
        parts patterns records references reflection scalars serial shells supers tables texts
        twins unnamed weak
    }

    #[test]
    fn virtual_threads() {
        check("capture/virtual");
    }
}

#[test]
fn observed_code_that_ends_the_program_does_not_end_the_replay() {
    let fixture = Fixture::named("replay/leaving");
    on_every_jdk(&fixture, |stage| {
        let ended = replayed(stage, &record(stage, "replay/leaving"), &STRICT);
        assert_eq!(ended.status, 0, "{ended:?}");
        let expect = "; 2 calls open at the end, as in the recording\n";
        assert!(ended.out.ends_with(expect), "{}", ended.out);
    });
}

#[test]
fn subclasses_that_are_loaded_later_are_what_they_were() {
    check("replay/later");
}

#[test]
fn fields_of_external_classes_are_named_by_observed_ones() {
    check("replay/inherited");
}

#[test]
fn initialisers_of_external_classes_call_observed_code() {
    check("replay/outset");
}

#[test]
fn loaders_that_the_jvm_calls_within_observed_code_are_not_called_by_it() {
    check("replay/resolved");
}

#[test]
fn objects_that_leave_in_the_arguments_of_a_proxy_are_known() {
    check("replay/inside");
}

#[test]
fn functions_from_outside_are_called_by_library_code() {
    check("replay/borrowed");
}

#[test]
fn equal_strings_are_one_or_two_as_they_were() {
    check("replay/alike");
}

#[test]
fn library_code_finds_its_objects_as_external_code_left_them() {
    check("replay/handback");
}

#[test]
fn streams_know_observed_classes_again() {
    check("replay/streamed");
}

#[test]
fn handles_are_made_outside_of_what_came_from_there() {
    check("replay/invoked");
}

#[test]
fn causes_leave_with_exceptions() {
    check("replay/causes");
}

#[test]
fn what_observed_objects_inherit_of_the_world_is_told() {
    check("replay/seeded");
}

#[test]
fn interfaces_of_every_version_call_out_of_their_initialisers() {
    check("replay/initial");
}

#[test]
fn library_code_uses_streams_of_the_outside_there() {
    check("replay/poured");
}

#[test]
fn data_of_the_outside_are_keys_of_tables_inside() {
    check("replay/keyed");
}

#[test]
fn library_code_makes_texts_of_addresses() {
    check("replay/addressed");
}

#[test]
fn library_code_makes_texts_of_several_objects_at_once() {
    check("replay/printed");
}

#[test]
fn library_objects_come_in_with_lambdas() {
    check("replay/matched");
}

#[test]
fn reflection_needs_no_class_that_was_never_loaded() {
    check("replay/unloaded");
}

#[test]
fn proxies_of_observed_interfaces_are_observed() {
    check("replay/guise");
}

#[test]
fn proxies_have_stubs() {
    check("replay/proxied");
}

#[test]
fn threads_take_locks_early_where_nothing_moves_without() {
    check("replay/gates");
}

#[test]
fn threads_that_wait_for_each_other_are_told() {
    let fixture = Fixture::named("replay/knot");
    on_every_jdk(&fixture, |stage| {
        let recorded = record(stage, "replay/knot");
        let ended = replayed(stage, &recorded, &STRICT);
        assert_eq!(ended.status, 0, "{ended:?}");
        let other = folder();
        let classes = version(stage, &fixture, "tied", other.path());
        let against = ["--against", classes.to_str().unwrap()];
        let ended = replayed(stage, &recorded, &against);
        assert_eq!(ended.status, 1, "{ended:?}");
        let expect = "the threads wait for each other: the next event is one of\nthread \"first\"";
        assert!(ended.out.contains(expect), "{ended:?}");
    });
}

#[test]
fn a_daemon_within_observed_code_is_halted_where_the_recording_ends() {
    let fixture = Fixture::named("replay/halted");
    on_every_jdk(&fixture, |stage| {
        let recorded = record(stage, "replay/halted");
        let ended = replayed(stage, &recorded, &STRICT);
        assert_eq!(ended.status, 0, "{ended:?}");
        assert!(ended.out.starts_with("In sync: "), "{}", ended.out);
        assert!(ended.out.contains(" open at the end, as "), "{}", ended.out);
    });
}

/// Replays code that catches whatever ends it.
#[track_caller]
fn check_stubborn(args: &[&str]) {
    let fixture = Fixture::named("replay/stubborn");
    on_every_jdk(&fixture, |stage| {
        let other = folder();
        let classes = version(stage, &fixture, "deaf", other.path());
        let recorded = stage.run(&fixture).args(args).record();
        let against = ["--against", classes.to_str().unwrap()];
        let ended = replayed(stage, &recorded, &against);
        assert_eq!(ended.status, 1, "{ended:?}");
        let expect = "difference  argument 1 differs: -1, not 0\n";
        assert!(ended.out.contains(expect), "{}", ended.out);
    });
}

#[test]
fn code_that_catches_everything_is_ended_with_its_worker() {
    check_stubborn(&[]);
}

#[test]
fn threads_that_catch_everything_are_ended_with_their_worker() {
    check_stubborn(&["two"]);
}

#[test]
fn many_objects_take_little_memory() {
    let stage = on_one_jdk();
    let recorded = record(stage, "replay/crowd");
    let ended = replayed(stage, &recorded, &["--memory", "32"]);
    assert_eq!(ended.status, 0, "{ended:?}");
}

#[test]
fn a_world_that_is_gone_or_another_one_is_not_missed() {
    let fixture = Fixture::named("replay/world");
    on_every_jdk(&fixture, |stage| {
        let home = folder();
        let run = stage
            .run(&fixture)
            .flags(&["-Duser.language=de", "-Duser.country=DE"]);
        let mut culprit = run.culprit(home.path());
        let ended = process::run(culprit.env("TZ", "Asia/Tokyo"));
        assert_eq!(ended.status, 0, "{ended:?}");
        assert!(ended.out.contains("12.345,68 0,5"), "{}", ended.out);
        assert!(ended.out.contains("1970-01-01 09:00 JST"), "{}", ended.out);
        // Its server has ended with it.
        fs::remove_file(home.path().join("asked.txt")).unwrap();
        let mut again = replay(stage, home.path(), &home.path().join("run"), &[]);
        again.env("TZ", "America/New_York").env("LC_ALL", "C").env(
            "JAVA_TOOL_OPTIONS",
            "-Duser.language=fr -Dfile.encoding=US-ASCII",
        );
        let ended = process::run(&mut again);
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{ended:?}");
        assert!(ended.out.starts_with("In sync: "), "{}", ended.out);
    });
}

#[test]
fn there_is_one_charset_of_a_name() {
    check("replay/charsets");
}

#[test]
fn a_replay_without_end_is_ended() {
    against("endless", &["--time-limit", "1"], |ended, said| {
        assert_eq!(ended.status, 3, "{ended:?}");
        let expect = "Not replayed: time limit: no answer after 1s\n  next: give it more time";
        assert!(said.contains(expect), "{said}");
    });
}

#[test]
fn code_that_asks_for_too_much_memory_is_told_so() {
    check("replay/greedy");
}

#[test]
fn a_replay_that_takes_all_memory_says_so() {
    against("eager", &["--memory", "64"], |ended, said| {
        assert_eq!(ended.status, 3, "{ended:?}");
        assert!(said.contains("java.lang.OutOfMemoryError"), "{said}");
        assert!(
            said.contains("next: give it more memory (--memory MB)"),
            "{said}"
        );
    });
}

/// Waits for something; never longer than any of our programs takes.
#[track_caller]
fn await_some<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "no {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_interrupted_replay_leaves_no_jvm_behind() {
    let fixture = Fixture::named("replay/versions");
    let stage = on_one_jdk();
    let (home, other) = (folder(), folder());
    let classes = version(stage, &fixture, "endless", other.path());
    let recorded = record(stage, "replay/versions");
    let args = ["--against", classes.to_str().unwrap()];
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 130), (Signal::KILL, 137)] {
        let running = Running::start(&mut replay(stage, home.path(), &recorded.run, &args));
        let jvm = await_some("worker", || works_in(home.path()));
        kill_process(running.leader(), signal).unwrap();
        let ended = running.end();
        assert_eq!(ended.status, status, "{ended:?}");
        let place = format!("/proc/{jvm}/cwd");
        await_some("end", || fs::read_link(&place).is_err().then_some(()));
        if signal != Signal::KILL {
            assert!(ended.err.contains("culprit: interrupted"), "{}", ended.err);
            let left = fs::read_dir(home.path()).unwrap().count();
            assert_eq!(left, 1, "only the cache stays behind");
        }
    }
}

/// A process whose folder is below this one.
fn works_in(folder: &Path) -> Option<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.find(|number: &u32| {
        let works = fs::read_link(format!("/proc/{number}/cwd"));
        works.is_ok_and(|works| works != folder && works.starts_with(folder))
    })
}

#[test]
fn a_debugger_can_attach_within_the_sandbox() {
    let stage = on_one_jdk();
    let home = folder();
    let recorded = record(stage, "replay/versions");
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let args = ["--debug", port.as_str()];
    let running = Running::start(&mut replay(stage, home.path(), &recorded.run, &args));
    let address = format!("127.0.0.1:{port}");
    let mut debugger = await_some("port", || TcpStream::connect(&address).ok());
    debugger.write_all(b"JDWP-Handshake").unwrap();
    let mut answer = [0; 14];
    debugger.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"JDWP-Handshake");
    // The JVM says that it has started, and waits from then on.
    let mut length = [0; 4];
    debugger.read_exact(&mut length).unwrap();
    let mut event = vec![0; u32::from_be_bytes(length) as usize - 4];
    debugger.read_exact(&mut event).unwrap();
    // VirtualMachine.Resume: length, number, no flags, command set and command.
    debugger
        .write_all(&[0, 0, 0, 11, 0, 0, 0, 1, 0, 1, 9])
        .unwrap();
    let ended = running.end();
    assert_eq!(ended.status, 0, "{ended:?}");
    assert!(
        ended.out.starts_with("In sync: 9 events of 1 class"),
        "{ended:?}"
    );
}

#[test]
fn several_recordings_are_a_table_a_document_and_tests() {
    let stage = on_one_jdk();
    let (home, other) = (folder(), folder());
    let good = record(stage, "replay/versions");
    let all = home.path().join("all");
    fs::create_dir(&all).unwrap();
    let file = good.recording().path().to_owned();
    fs::copy(&file, all.join("a.culprit")).unwrap();
    fs::write(all.join("b.culprit"), "nonsense").unwrap();
    let unused = record_nothing(stage);
    fs::copy(unused.recording().path(), all.join("c.culprit")).unwrap();
    let junit = home.path().join("junit.xml");
    let run = |args: &[&str]| process::run(&mut replay(stage, home.path(), &all, args));

    let ended = run(&["--junit", junit.to_str().unwrap()]);
    assert_eq!(ended.status, 4, "{ended:?}");
    let results = ended.out.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words[0].to_owned(), words[words.len() - 2..].join(" "))
    });
    let results: Vec<_> = results.collect();
    let row = |file: &str, result: &str| (file.to_owned(), result.to_owned());
    assert_eq!(results[1], row("all/a.culprit", "in sync"));
    assert_eq!(results[2].0, "all/b.culprit");
    assert!(results[2].1.ends_with("unreadable"));
    assert_eq!(results[3], row("all/c.culprit", "nothing observed"));
    let summary = "3 recordings: 1 in sync, 1 nothing observed, 1 unreadable\n";
    assert!(ended.out.contains(summary), "{}", ended.out);
    let xml = fs::read_to_string(&junit).unwrap();
    let head = r#"tests="3" skipped="1" errors="1" failures="0""#;
    assert!(xml.contains(head), "{xml}");

    fs::remove_file(all.join("b.culprit")).unwrap();
    assert_eq!(run(&[]).status, 0);
    let fixture = Fixture::named("replay/versions");
    let classes = version(stage, &fixture, "result", other.path());
    let classes = classes.to_str().unwrap();
    let ended = run(&[
        "--against",
        classes,
        "--json",
        "--junit",
        junit.to_str().unwrap(),
    ]);
    assert_eq!(ended.status, 1, "{ended:?}");
    let document: serde_json::Value = conforming::<ReplayDocument>(&ended.out).unwrap();
    assert_eq!(
        (&document["document"], &document["version"]),
        (&"replay".into(), &1.into())
    );
    let case = &document["recordings"][0];
    assert_eq!(
        (&case["result"], &case["events"]),
        (&"out-of-sync".into(), &9.into())
    );
    assert_eq!(case["difference"]["event"], 6);
    assert_eq!(
        case["difference"]["recorded_event"]["kind"],
        "incoming-return"
    );
    assert_eq!(
        case["against"]["changes"][0]["changed"][0],
        "total(String, int)"
    );
    let xml = fs::read_to_string(&junit).unwrap();
    assert!(
        xml.contains(r#"skipped="1" errors="0" failures="1""#),
        "{xml}"
    );
    assert!(xml.contains("&lt;= In.total = 601"), "{xml}");
}

#[test]
fn damaged_recordings_are_no_recordings_of_nothing() {
    let stage = on_one_jdk();
    let home = folder();
    let all = home.path().join("all");
    fs::create_dir(&all).unwrap();
    let unused = record_nothing(stage);
    for name in ["a.culprit", "b.culprit"] {
        fs::copy(unused.recording().path(), all.join(name)).unwrap();
    }
    let run = |args: &[&str]| process::run(&mut replay(stage, home.path(), &all, args));
    let ended = run(&[]);
    assert_eq!(ended.status, 4, "{ended:?}");
    let summary = "2 recordings: 2 nothing observed\n";
    assert!(ended.out.contains(summary), "{}", ended.out);
    assert!(ended.err.contains("nothing was replayed"), "{}", ended.err);

    let good = record(stage, "replay/versions");
    fs::copy(good.recording().path(), all.join("a.culprit")).unwrap();
    assert_eq!(run(&[]).status, 0);
    // Cut off before its end, and before any event.
    let whole = fs::read(all.join("b.culprit")).unwrap();
    fs::write(all.join("b.culprit"), &whole[..whole.len() - 5]).unwrap();
    let junit = home.path().join("junit.xml");
    let ended = run(&["--junit", junit.to_str().unwrap()]);
    assert_eq!(ended.status, 4, "{ended:?}");
    assert!(ended.out.contains("1 in sync, 1 refused"), "{}", ended.out);
    let xml = fs::read_to_string(&junit).unwrap();
    assert!(xml.contains(r#"skipped="0" errors="1""#), "{xml}");
    assert!(xml.contains("is cut off or damaged at byte"), "{xml}");
}

#[test]
fn what_fails_with_one_recording_leaves_the_others_alone() {
    let stage = on_one_jdk();
    let home = folder();
    let all = home.path().join("all");
    fs::create_dir(&all).unwrap();
    let good = record(stage, "replay/versions");
    let bad = all.join("a.culprit");
    fs::write(&bad, "").unwrap();
    made(&bad, &stage.jdk.version.to_string());
    fs::copy(good.recording().path(), all.join("b.culprit")).unwrap();
    let run = |args: &[&str]| process::run(&mut replay(stage, home.path(), &all, args));
    let results = |ended: &Ended| -> Vec<String> {
        let document: serde_json::Value = conforming::<ReplayDocument>(&ended.out).unwrap();
        let cases = document["recordings"].as_array().unwrap().iter();
        let results = cases.map(|case| case["result"].as_str().unwrap().to_owned());
        results.collect()
    };
    let ended = run(&["--coverage", "--json"]);
    assert_eq!(ended.status, 4, "{ended:?}");
    assert_eq!(results(&ended), ["bad-classes", "in-sync"]);
    let ended = run(&["--memory", "1", "--json"]);
    assert_eq!(ended.status, 3, "{ended:?}");
    assert_eq!(results(&ended), ["no-jvm", "no-jvm"]);
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_before_anything_is_replayed() {
    let stage = on_one_jdk();
    let home = folder();
    let good = record(stage, "replay/versions");
    let run = |file: &str| {
        let file = home.path().join(file);
        let args = ["--junit", file.to_str().unwrap()];
        process::run(&mut replay(stage, home.path(), &good.run, &args))
    };
    let ended = run("nowhere/junit.xml");
    assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{ended:?}");
    assert_eq!(run("junit.xml").status, 0);
    assert_eq!(run("junit.xml").status, 0);
}

/// A recording that observed nothing.
fn record_nothing(stage: &Stage) -> Recorded {
    let fixture = Fixture::named("replay/versions");
    let mut run = stage.run(&fixture);
    run.record = vec!["--observe".to_owned(), "not.There".to_owned()];
    run.record()
}

#[test]
fn options_reach_the_jvm_and_its_agents_may_write_where_it_is_allowed() {
    let stage = on_one_jdk();
    let recorded = record(stage, "replay/versions");
    let place = folder();
    let log = place.path().join("jvm.log");
    let option = format!("-Xlog:safepoint*=debug,class+load:file={}", log.display());
    let allow = [
        "--allow-write",
        place.path().to_str().unwrap(),
        "--",
        &option,
    ];
    let ended = replayed(stage, &recorded, &allow);
    assert_eq!(ended.status, 0, "{ended:?}");
    assert!(fs::read_to_string(&log).unwrap().contains("versions.In"));
    fs::remove_file(&log).unwrap();
    let ended = replayed(stage, &recorded, &["--", &option]);
    assert!(!log.exists(), "{ended:?}");
    let ended = replayed(stage, &recorded, &["--no-sandbox", "--", &option]);
    assert!(log.exists(), "{ended:?}");
}

#[test]
fn a_jvm_that_does_not_start_says_why_once_and_what_to_do_is_said() {
    let stage = on_one_jdk();
    let recorded = record(stage, "replay/versions");
    let ended = replayed(stage, &recorded, &["--", "-Xnonsense"]);
    assert_eq!(ended.status, 3, "{ended:?}");
    assert_eq!(ended.err.matches("-Xnonsense").count(), 1, "{}", ended.err);
    assert!(!ended.err.contains("printed nothing"), "{}", ended.err);
    assert!(ended.err.contains("check its options"), "{}", ended.err);
    for memory in ["1", "99999999999999"] {
        let ended = replayed(stage, &recorded, &["--memory", memory]);
        assert_eq!(ended.status, 3, "{ended:?}");
        assert_eq!(ended.err.matches("heap").count(), 2, "{}", ended.err);
        assert!(ended.err.ends_with("(--memory MB)\n"), "{}", ended.err);
    }
}

#[test]
fn collectors_that_keep_the_heap_in_a_file_work() {
    let stage = on_one_jdk();
    let recorded = record(stage, "replay/versions");
    let ended = replayed(stage, &recorded, &["--", "-XX:+UseZGC"]);
    assert_eq!(ended.status, 0, "{ended:?}");
}

#[test]
fn the_report_of_a_crash_is_kept_beside_the_recording() {
    let fixture = Fixture::named("replay/versions");
    let stage = on_one_jdk();
    let other = folder();
    let classes = version(stage, &fixture, "eager", other.path());
    let recorded = record(stage, "replay/versions");
    let args = [
        "--memory",
        "64",
        "--against",
        classes.to_str().unwrap(),
        "--",
        "-XX:+CrashOnOutOfMemoryError",
    ];
    let ended = replayed(stage, &recorded, &args);
    assert_eq!(ended.status, 3, "{ended:?}");
    let report = recorded.recording().path().with_extension("crash.log");
    let expect = format!("  report of the crash: {}\n", report.display());
    assert!(ended.out.contains(&expect), "{}", ended.out);
    let report = fs::read_to_string(report).unwrap();
    assert!(report.contains("fatal error"), "{report}");
}

/// A recording made without a JVM: of one call, with a class that is none.
fn made(file: &Path, java: &str) {
    fs::remove_file(file).unwrap();
    let mut writer = Writer::create(file).unwrap();
    let start = Start {
        jvm_version: java.to_owned(),
        options: "out=/r,observe=a.A".to_owned(),
        ..Start::default()
    };
    writer.start(&start).unwrap();
    let class = ClassDef {
        name: "a/A",
        observed: true,
        bytes: b"\xca\xfe\xba\xbe",
        ..ClassDef::default()
    };
    writer.class(&class).unwrap();
    let site = Site {
        id: SiteId(1),
        kind: SiteKind::Entry,
        class: "a/A".to_owned(),
        method: "f".to_owned(),
        descriptor: "()V".to_owned(),
        line: None,
        source: None,
        target: Member {
            owner: "a/A".to_owned(),
            name: "f".to_owned(),
            descriptor: "()V".to_owned(),
        },
        is_static: true,
    };
    writer.sites(&[site]).unwrap();
    let mut buffer = RecordBuffer::new();
    buffer.event(EventKind::IncomingCall, SiteId(1), &[]);
    let thread = ThreadDef::default();
    writer.thread(&thread).unwrap();
    let head = EventsHead {
        thread: thread.id,
        count: buffer.events(),
        ..EventsHead::default()
    };
    writer.events(head, buffer.bytes()).unwrap();
    drop(writer.into_store().unwrap());
}

#[test]
fn what_cannot_be_replayed_is_refused_with_its_cause_and_a_next_step() {
    let stage = on_one_jdk();
    let home = folder();
    let check = |file: &Path, args: &[&str], status: i32, expect: &[&str]| {
        let ended = process::run(&mut replay(stage, home.path(), file, args));
        assert_eq!(ended.status, status, "{ended:?}");
        let said = ended.err.replace('\n', " ");
        for expect in expect {
            assert!(said.contains(expect), "{expect}: {said}");
        }
    };
    let file = home.path().join("jvm-1.culprit");
    check(&file, &[], 4, &["no such file", "check the path"]);
    fs::write(&file, "nonsense").unwrap();
    check(&file, &[], 4, &["not a recording"]);

    made(&file, "99.0.1+7");
    let expect = ["recorded with Java 99", "install a JDK 99", "--java DIR"];
    check(&file, &[], 4, &expect);
    let home_of_java = stage.jdk.home.to_str().unwrap();
    let expect = ["recorded with Java 99, to be replayed with Java"];
    check(&file, &["--java", home_of_java], 1, &expect);
    check(&file, &["--java", "/nowhere"], 3, &["no JDK at /nowhere"]);

    let recorded = record(stage, "replay/versions");
    let whole = fs::read(recorded.recording().path()).unwrap();
    let cut = |length: usize| fs::write(&file, &whole[..length]).unwrap();
    cut(12);
    check(&file, &[], 4, &["record again"]);
    // Without its last block it has all events, and no end.
    let last = whole.len() - recorded.recording().end().unwrap().bytes as usize;
    cut(whole.len() - last / 2);
    check(
        &file,
        &[],
        0,
        &["is cut off or damaged at byte", "killed, or still runs"],
    );
}
