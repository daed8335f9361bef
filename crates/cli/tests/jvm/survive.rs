//! The program, and the recording of it, survive what may befall them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use culprit_model::{EventKind, Value};
use culprit_trace::{EXTENSION, EndReason, Recording};
use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::Fixture;
use crate::library;
use crate::modes::{calls, check_row};
use crate::process::{Running, command, run};
use crate::render;
use crate::stage::{self, Stage, folder, on_every_jdk, on_one_jdk};

/// How long a signal may take to come before we call it lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for something to become true.
#[track_caller]
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::yield_now();
    }
}

/// The recording of the only JVM of a run that is still going on.
fn recording_in(folder: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(folder).ok()?.flatten();
    entries.find_map(|entry| {
        let path = entry.path();
        path.extension()
            .is_some_and(|e| e == EXTENSION)
            .then_some(path)
    })
}

fn jvm_of(recording: &Path) -> Pid {
    let stem = recording.file_stem().unwrap().to_str().unwrap();
    let number = stem.strip_prefix("jvm-").unwrap().parse().unwrap();
    Pid::from_raw(number).unwrap()
}

#[test]
fn a_killed_jvm_leaves_what_it_did_before() {
    let fixture = Fixture::named("survive/counting");
    let stage = on_one_jdk();
    let folder = folder();
    let mut culprit = stage.run(&fixture).args(&["1000"]).culprit(folder.path());
    let running = Running::start(&mut culprit);
    // The events reach the file while the program waits: nothing else makes it write.
    let path = until("1000 counted calls in the file", || {
        let path = recording_in(&folder.path().join("run"))?;
        let recording = Recording::open(&path).ok()?;
        (recording.event_count() == 2000).then_some(path)
    });
    kill_process(jvm_of(&path), Signal::KILL).unwrap();
    let ended = running.end();
    assert_eq!((ended.status, ended.out.as_str()), (137, "counted\n"));
    let recording = Recording::open(&path).unwrap();
    assert_eq!(recording.end(), None);
    assert!(!recording.is_truncated());
    let counted = calls(&recording);
    check_row(&counted, 0);
    assert_eq!(counted.len(), 1000);
}

#[test]
fn a_jvm_killed_at_full_rate_leaves_a_readable_beginning() {
    let fixture = Fixture::named("survive/counting");
    let stage = on_one_jdk();
    let folder = folder();
    let running = Running::start(&mut stage.run(&fixture).culprit(folder.path()));
    let path = until("a large recording", || {
        let path = recording_in(&folder.path().join("run"))?;
        (fs::metadata(&path).ok()?.len() > 200_000).then_some(path)
    });
    kill_process(jvm_of(&path), Signal::KILL).unwrap();
    assert_eq!(running.end().status, 137);
    let recording = Recording::open(&path).unwrap();
    let counted = calls(&recording);
    assert!(counted.len() > 10_000, "{}", counted.len());
    check_row(&counted, 0);
}

#[test]
fn little_address_space_is_enough() {
    let fixture = Fixture::named("survive/counting");
    let mut run = on_one_jdk().run(&fixture).args(&["1000", "end"]).flags(&[
        "-Xmx64m",
        "-XX:ReservedCodeCacheSize=32m",
        "-XX:CompressedClassSpaceSize=16m",
    ]);
    // Far less than the states of all threads that there may be would take.
    run.before = ["/bin/sh", "-c", "ulimit -v 2000000; exec \"$@\"", "sh"]
        .map(str::to_owned)
        .to_vec();
    let recorded = run.record();
    assert_eq!(recorded.ended.status, 0, "{:?}", recorded.ended);
    assert_eq!(recorded.ended.out, "counted\n");
    let recording = recorded.complete();
    assert_eq!(recording.event_count(), 2000);
}

/// Bytes of all files of a run.
fn bytes_in(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .filter_map(|file| Some(file.metadata().ok()?.len()))
        .sum()
}

#[test]
fn a_killed_jvm_leaves_its_last_events_where_no_more_are_kept() {
    let fixture = Fixture::named("survive/counting");
    let stage = on_one_jdk();
    let folder = folder();
    let run = folder.path().join("run");
    let mut culprit = stage
        .run(&fixture)
        .recording(&["--last", "1000"])
        .culprit(folder.path());
    let running = Running::start(&mut culprit);
    // Segments come and go: by the tenth the first eight are gone.
    let path = until("the tenth segment", || {
        let path = recording_in(&run)?;
        let number = |n: u32| path.with_extension(format!("{EXTENSION}.{n}"));
        (10..200).any(|n| number(n).is_file()).then_some(path)
    });
    let most = bytes_in(&run);
    assert!(most < 2_000_000, "{most}");
    let before = fs::metadata(&path).unwrap().len();
    kill_process(jvm_of(&path), Signal::KILL).unwrap();
    assert_eq!(running.end().status, 137);
    assert!(fs::metadata(&path).unwrap().len() >= before);
    let recording = Recording::open(&run).unwrap();
    assert_eq!(recording.end(), None);
    // The call that was open before the first of the last thousand is kept besides.
    assert!((1000..=1001).contains(&recording.event_count()));
    let counted = calls(&recording);
    check_row(&counted, counted[0]);
    assert!(counted[0] > 100_000, "{}", counted[0]);
    let forgotten = recording.losses().counts[0].1;
    // Calls are counted from 0, and each is two events.
    assert_eq!(forgotten, 2 * u64::try_from(counted[0]).unwrap());
}

#[test]
fn a_full_disk_stops_the_recording_and_not_the_program() {
    let fixture = Fixture::named("survive/counting");
    let stage = on_one_jdk();
    let folder = folder();
    let run_of = stage.run(&fixture).args(&["3000000", "end"]);
    let mut limited = run_of.clone();
    // No file of the JVM may grow beyond 256 blocks of 512 bytes, as if the disk were full.
    limited.before = ["/bin/sh", "-c", "ulimit -f 256; exec \"$@\"", "sh"]
        .map(str::to_owned)
        .to_vec();
    let ended = run(&mut limited.culprit(folder.path()));
    assert_eq!((ended.status, ended.out.as_str()), (0, "begun\ncounted\n"));
    let recording = Recording::open(&folder.path().join("run")).unwrap();
    let counted = calls(&recording);
    assert!(counted.len() > 10_000, "{}", counted.len());
    check_row(&counted, 0);
    assert!(counted.len() < 3_000_000);
    // Whoever looks is told, by the recording if that had room, or by the agent's log.
    let told = recording.losses().stopped.is_some() || !ended.err.is_empty();
    assert!(told, "{ended:?}");
}

#[test]
fn a_disk_without_room_for_a_large_value_is_told() {
    let fixture = Fixture::named("survive/flood");
    for options in [&[][..], &["--last", "100"]] {
        let mut run = on_one_jdk().run(&fixture).recording(options);
        run.before = ["/bin/sh", "-c", "ulimit -f 256; exec \"$@\"", "sh"]
            .map(str::to_owned)
            .to_vec();
        let recorded = run.args(&["1", "1"]).record();
        assert_eq!(recorded.ended.status, 0, "{:?}", recorded.ended);
        let recording = recorded.recording();
        let stopped = recording.losses().stopped.clone().unwrap();
        assert!(stopped.contains("no room left"), "{stopped}");
        assert_eq!(recording.end().unwrap().reason, EndReason::Stopped);
    }
}

#[test]
fn a_program_may_end_in_the_midst_of_a_callback() {
    let fixture = Fixture::named("survive/ending");
    let begun = [
        "=> new In()",
        "  == new #1 In",
        "<= new In = #1 In",
        "=> In.start(#2 Main, \"HOW\") on #1 In",
        "  -> Main.callback(#1 In, \"HOW\") on #2 Main",
        "    => In.end(\"HOW\") on #1 In",
    ];
    for (how, status, rest) in [
        (
            "exit",
            3,
            &[
                "t1       -> System.exit(3)",
                "t2 => In.late(\"hook\")",
                "t2   -> get System.out = #3 PrintStream",
                "t2   -> PrintStream.println(\"hook\") on #3 PrintStream",
                "t2   <- PrintStream.println",
                "t2 <= In.late",
            ][..],
        ),
        (
            "halt",
            4,
            &[
                "      -> Runtime.getRuntime()",
                "      <- Runtime.getRuntime = #3 Runtime",
                "      -> Runtime.halt(4) on #3 Runtime",
            ][..],
        ),
    ] {
        on_every_jdk(&fixture, |stage| {
            let mut run = stage.run(&fixture).args(&[how]);
            run.status = status;
            let recorded = run.record_unnoticed();
            let recording = recorded.complete();
            let end = recording.end().unwrap();
            assert_eq!(end.reason, EndReason::JvmEnded);
            assert_eq!(end.exit_status, Some(status));
            let several = rest[0].starts_with('t');
            let first = begun.iter().map(|line| {
                let line = line.replace("HOW", how);
                if several { format!("t1 {line}") } else { line }
            });
            let expected: Vec<String> = first.chain(rest.iter().map(|&l| l.to_owned())).collect();
            assert_eq!(render::lines(&recording), expected);
        });
    }
}

#[test]
fn many_threads_at_full_rate_lose_nothing_and_keep_their_order() {
    let fixture = Fixture::named("survive/threads");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let recording = recorded.complete();
        assert_eq!(recording.event_count(), 2 * 64 * (4000 + 20));
        let mut next = [0; 64];
        let mut token = 0;
        for event in recording.events().map(|event| event.unwrap()) {
            let site = recording.sites().get(event.site.0).unwrap();
            match (event.kind, site.method.as_str(), event.values.as_slice()) {
                (EventKind::IncomingCall, "count", [Value::Int(thread), Value::Int(n)]) => {
                    assert_eq!(next[*thread as usize], *n);
                    next[*thread as usize] += 1;
                }
                (EventKind::IncomingCall, "pass", [Value::Int(n)]) => {
                    assert_eq!(token, *n);
                    token += 1;
                }
                (EventKind::IncomingReturn, _, _) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((next, token), ([4000; 64], 64 * 20));
        assert_eq!(recording.threads().len(), 64);
    });
}

#[test]
fn running_out_of_stack_leaves_later_events_right() {
    let fixture = Fixture::named("survive/recursion");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let recording = recorded.complete();
        let last = [
            "=> In.last(#2 Main, 1) on #1 In",
            "  -> Main.answer(#1 In, 1) on #2 Main",
            "    => In.last(#2 Main, 0) on #1 In",
            "      -> Main.answer(#1 In, 0) on #2 Main",
            "      <- Main.answer = 7",
            "    <= In.last = 7",
            "  <- Main.answer = 7",
            "<= In.last = 7",
        ];
        let count = recording.event_count();
        assert_eq!(render::lines_in(&recording, count - 8..count), last);
        // Calls after an overflow are outermost again.
        let marks = recording.heads().map(|head| head.unwrap()).filter(|head| {
            let site = recording.sites().get(head.site.0);
            head.kind == EventKind::IncomingCall
                && head.depth == 0
                && site.is_some_and(|site| site.method == "mark")
        });
        assert_eq!(marks.count(), 3 * 10);
    });
}

#[test]
fn memory_stays_bounded_however_much_crosses() {
    let fixture = Fixture::named("survive/flood");
    for options in [&[][..], &["--last", "10k"]] {
        let run = on_one_jdk().run(&fixture).recording(options);
        let recorded = run.args(&["6", "4"]).record();
        assert_eq!(recorded.ended.status, 0, "{:?}", recorded.ended);
        let megabytes: u32 = recorded.ended.out.trim().parse().unwrap();
        // The heap, and what a JVM needs besides, of which ours is less than half.
        assert!(megabytes < 256 + 300, "{options:?}: {megabytes} MB");
        let recording = recorded.recording();
        assert_eq!(recording.losses().stopped, None);
        assert!(recording.event_count() >= 10_000);
    }
}

fn without_numbers(line: &str) -> String {
    let mut text = String::new();
    let mut after_hash = false;
    for c in line.chars() {
        after_hash = c == '#' || after_hash && c.is_ascii_digit();
        if !(after_hash && c.is_ascii_digit()) {
            text.push(c);
        }
    }
    text
}

#[test]
fn running_out_of_memory_leaves_later_events_right() {
    let fixture = Fixture::named("survive/memory");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let recording = recorded.recording();
        let losses = recording.losses();
        let heap = "values that could not be recorded because the heap was full";
        assert!(
            losses.counts.iter().all(|(what, _)| what == heap),
            "{losses:?}"
        );
        let lines = render::lines(&recording);
        let end: Vec<String> = lines[lines.len() - 2..]
            .iter()
            .map(|line| without_numbers(line))
            .collect();
        assert_eq!(end, ["=> In.last(\"end\") on # In", "<= In.last"]);
        let throws = lines.iter().filter(|line| line.starts_with("<=! ")).count();
        assert_eq!(throws, 6);
        let heard = lines.iter().filter(|line| line.contains("=> In.hear("));
        assert_eq!(heard.count(), 3 * 200);
    });
}

#[test]
fn a_java_agent_may_transform_and_redefine_observed_classes() {
    let fixture = Fixture::named("survive/redefinition");
    on_every_jdk(&fixture, |stage| {
        let jar = manifest_jar(
            stage,
            "redefinition",
            "Premain-Class: redefinition.Main\n\
             Can-Redefine-Classes: true\nCan-Retransform-Classes: true\n",
        );
        let agent = format!("-javaagent:{}", jar.display());
        let run = stage.run(&fixture).flags(&[&agent]);
        let recorded = run.record_unnoticed();
        assert_eq!(recorded.ended.out, "1111\n2222\n1111\n3333\n3333\n");
        fixture.expects(&recorded.lines(), &format!("JDK {}", stage.feature()));
        // Also once capture has ended: the classes keep what was added to them.
        let stopped = run.recording(&["--max-events", "1"]).record_unnoticed();
        assert!(stopped.recording().losses().stopped.is_some());
    });
}

/// A jar with a manifest and nothing else.
fn manifest_jar(stage: &Stage, name: &str, manifest: &str) -> PathBuf {
    let folder = stage.classes.join(format!("{name}.jars"));
    fs::create_dir_all(&folder).unwrap();
    let text = folder.join("manifest.txt");
    fs::write(&text, manifest).unwrap();
    let jar = folder.join("agent.jar");
    let mut tool = command(stage.jdk.tool("jar"), &folder);
    let ended = run(tool.arg("-cfm").arg(&jar).arg(&text));
    assert_eq!(ended.status, 0, "{ended:?}");
    jar
}

#[test]
fn thousands_of_classes_and_loaders_that_come_and_go() {
    let fixture = Fixture::named("survive/loaders");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let recording = recorded.complete();
        // A constructor call, an object and a call with a call out of it for each.
        assert_eq!(recording.event_count(), (3 + 4) * (2000 + 200 + 1));
        let observed = recording.classes().iter().filter(|class| class.observed);
        assert_eq!(observed.count(), 2000 + 200 + 1);
        let loaders = recording.loaders().iter();
        let own = loaders.filter(|l| l.class == "loaders/Main$Loader");
        assert_eq!(own.count(), 201);
    });
}

#[test]
fn states_that_are_too_large_are_left_out_and_counted() {
    let fixture = Fixture::named("survive/heavy");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let recording = recorded.recording();
        let lost = "states of objects over 1 MB or 65536 pieces, left out";
        assert_eq!(recording.losses().counts, [(lost.to_owned(), 1)]);
        let events = recording.events().map(|event| event.unwrap());
        let states: Vec<usize> = events
            .filter(|event| event.kind == EventKind::ObjectState)
            .map(|event| event.values.len())
            .collect();
        // The object, the list and its nodes.
        assert_eq!(states, [2 + 1000]);
    });
}

#[test]
fn classes_of_every_version_are_woven() {
    let fixture = Fixture::named("survive/old");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let versions = recorded.ended.out.lines().count();
        assert!(versions >= 11, "{}", recorded.ended.out);
        let lines = recorded.lines();
        // Per version: an object, a call that goes well, and one that goes badly outside.
        assert_eq!(lines.len(), versions * (3 + 2 * 4));
        for (place, lines) in lines.chunks(11).enumerate() {
            let version = 45 + place;
            assert_eq!(lines[4], format!("  -> Main.check({version})"));
            assert!(lines[9].starts_with("  <-! Main.check "), "{lines:?}");
        }
    });
}

#[test]
fn broken_classes_are_refused_as_without_us() {
    let fixture = Fixture::named("survive/broken");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let recording = recorded.recording();
        assert_eq!(recording.losses().stopped, None);
        assert!(recording.end().is_some());
    });
}

#[test]
fn the_options_of_the_jvm_do_not_matter() {
    let fixture = Fixture::named("capture/nine");
    let common = [
        "-Xint",
        "-Xcomp",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-XX:+UseParallelGC",
        "-XX:+UseZGC",
        "-XX:+UseShenandoahGC",
        "-XX:-UseCompressedOops",
        "-XX:ObjectAlignmentInBytes=16",
        "-Xshare:off",
    ];
    for stage in stage::stages() {
        let newest: &[&str] = match stage.feature() {
            25.. => &["-XX:+UseCompactObjectHeaders"],
            _ => &[],
        };
        for flag in common.iter().chain(newest) {
            if *flag == "-Xcomp" && stage.feature() != 17 {
                continue;
            }
            let run = stage.run(&fixture).flags(&[flag]);
            if run.plain_once().status != 0 {
                stage::not_here(&format!("{flag} on JDK {}", stage.feature()));
                continue;
            }
            let recorded = run.record_unnoticed();
            fixture.expects(
                &recorded.lines(),
                &format!("JDK {} {flag}", stage.feature()),
            );
        }
    }
}

/// A class with a method of about 60 KB that calls nothing, so that weaving adds little, and one
/// of about 50 KB of calls, each of which weaving makes several times as long.
fn large_class() -> String {
    let plain = "        if (n == 7) { n += 3; } else { n ^= 5; }\n".repeat(3500);
    let calls = "        n = Main.next(n);\n".repeat(10_000);
    format!(
        "package large;\n\npublic class InLarge {{\n\
         \x20   public int plain(int n) {{\n{plain}        return n;\n    }}\n\n\
         \x20   public int calls(int n) {{\n{calls}        return n;\n    }}\n\n\
         \x20   public int small(int n) {{\n        return Main.next(n);\n    }}\n}}\n"
    )
}

/// The size of the code of the methods of a class, from `javap`.
fn code_size(stage: &Stage, class: &Path, method: &str) -> usize {
    let mut javap = command(stage.jdk.tool("javap"), class.parent().unwrap());
    let listing = run(javap.args(["-c", "-p"]).arg(class)).out;
    let from = listing.find(&format!(" {method}(int)")).unwrap();
    let body = listing[from..].split("\n\n").next().unwrap();
    let last = body.lines().rev().find_map(|line| {
        let number = line.trim().split(':').next()?;
        number.parse::<usize>().ok()
    });
    last.unwrap() + 1
}

#[test]
fn large_methods_are_woven_or_named() {
    let fixture = Fixture::named("survive/large");
    on_every_jdk(&fixture, |stage| {
        let folder = folder();
        let source = folder.path().join("InLarge.java");
        fs::write(&source, large_class()).unwrap();
        let mut javac = stage.javac(folder.path());
        javac.args(["-proc:none", "-d", ".", "-cp"]);
        let ended = run(javac.arg(&stage.classes).arg(&source));
        assert_eq!(ended.status, 0, "{ended:?}");
        let class = folder.path().join("large/InLarge.class");
        let (plain, calls) = (
            code_size(stage, &class, "plain"),
            code_size(stage, &class, "calls"),
        );
        assert!((56_000..65_536).contains(&plain), "{plain}");
        assert!((45_000..65_536).contains(&calls), "{calls}");

        let mut run = stage.run(&fixture);
        run.class_path = format!("{}:{}", run.class_path, folder.path().display());
        let recorded = run.record_unnoticed();
        let recording = recorded.recording();
        let losses = recording.losses();
        assert_eq!((losses.counts.len(), &losses.stopped), (0, &None));
        let [(method, reason)] = losses.not_woven.as_slice() else {
            panic!("{losses:?}")
        };
        assert!(method.starts_with("large.InLarge.calls"), "{method}");
        assert!(!reason.is_empty());
        let lines = render::lines(&recording);
        let plain = lines
            .iter()
            .filter(|l| l.starts_with("=> InLarge.plain(1)"));
        assert_eq!(plain.count(), 1, "{lines:?}");
        let small = [
            "=> InLarge.small(1) on #1 InLarge",
            "  -> Main.next(1)",
            "  <- Main.next = 2",
            "<= InLarge.small = 2",
        ];
        assert_eq!(lines[lines.len() - 4..], small);
    });
}

#[test]
fn jacoco_may_be_present() {
    let Some(jar) = library::jar("org.jacoco", "org.jacoco.agent", "0.8.14", Some("runtime"))
    else {
        return stage::skipped("JaCoCo beside us");
    };
    let fixture = Fixture::named("capture/exceptions");
    on_every_jdk(&fixture, |stage| {
        let folder = folder();
        let exec = folder.path().join("jacoco.exec");
        let agent = format!("-javaagent:{}=destfile={}", jar.display(), exec.display());
        let recorded = stage.run(&fixture).flags(&[&agent]).record_unnoticed();
        // What JaCoCo adds to the observed class calls JaCoCo once; all else is as ever.
        let lines = recorded.lines();
        let (added, ours): (Vec<&String>, Vec<&String>) = lines
            .iter()
            .partition(|line| line.contains("Object.equals"));
        assert_eq!(added.len(), 2);
        let file = fs::read_to_string(fixture.folder.join("events.txt")).unwrap();
        let expected: Vec<String> = file.lines().map(without_numbers).collect();
        let ours: Vec<String> = ours.into_iter().map(|line| without_numbers(line)).collect();
        assert_eq!(ours, expected);
        // JaCoCo measures as well as without us: it has met the observed class.
        let measured = fs::read(&exec).unwrap();
        let name = b"exceptions/In";
        assert!(measured.windows(name.len()).any(|window| window == name));
    });
}

#[test]
fn an_agent_that_is_loaded_twice_records_once() {
    let fixture = Fixture::named("capture/nine");
    let stage = on_one_jdk();
    let folder = folder();
    let run_of = stage.run(&fixture);
    let inner = run_of.culprit(folder.path());
    let words = std::iter::once(inner.get_program()).chain(inner.get_args());
    let mut outer = command(env!("CARGO_BIN_EXE_culprit"), folder.path());
    outer
        .envs(inner.get_envs().filter_map(|(k, v)| Some((k, v?))))
        .args(["record", "--quiet", "--observe", "nine.In*", "-o"])
        .arg(folder.path().join("outer"))
        .arg("--")
        .args(words);
    let ended = run(&mut outer);
    let plain = run_of.plain();
    // The inner `culprit` has nothing to show, and says so by its status.
    assert_eq!((ended.status, &ended.out), (3, &plain.out), "{ended:?}");
    let recordings: Vec<Recording> = ["run", "outer"]
        .iter()
        .filter_map(|name| Recording::open(&folder.path().join(name)).ok())
        .collect();
    let [recording] = recordings.as_slice() else {
        panic!("{} recordings: {ended:?}", recordings.len())
    };
    fixture.expects(&render::lines(recording), "an agent loaded twice");
    assert!(
        ended.err.contains("the agent is loaded already"),
        "{}",
        ended.err
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_before_anything_runs() {
    let fixture = Fixture::named("capture/nine");
    let stage = on_one_jdk();
    let folder = folder();
    // A file stands where the folder should be.
    fs::write(folder.path().join("run"), "").unwrap();
    let ended = run(&mut stage.run(&fixture).culprit(folder.path()));
    assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{ended:?}");
    assert!(!ended.err.is_empty());
}

#[test]
fn a_folder_that_goes_away_does_not_hurt_the_program() {
    let fixture = Fixture::named("survive/counting");
    let stage = on_one_jdk();
    let folder = folder();
    let mut run_of = stage.run(&fixture).args(&["1000", "end"]);
    // The folder of the run is removed after `culprit` has made it and before the JVM starts.
    run_of.before = ["/bin/sh", "-c", "rm -r run; exec \"$@\"", "sh"]
        .map(str::to_owned)
        .to_vec();
    let ended = run(&mut run_of.culprit(folder.path()));
    assert_eq!(ended.out, "counted\n", "{ended:?}");
    assert!(ended.err.contains("culprit"), "{}", ended.err);
}
