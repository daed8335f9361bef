//! How much is kept, and what stops capture; the program goes on in any case.

use std::fs;

use culprit_model::{EventKind, Value};
use culprit_trace::{EndReason, Recording};

use crate::fixture::Fixture;
use crate::render;
use crate::stage::{Recorded, on_every_jdk, on_one_jdk};

fn count(options: &[&str], calls: &str) -> Recorded {
    let fixture = Fixture::named("survive/counting");
    on_one_jdk()
        .run(&fixture)
        .recording(options)
        .args(&[calls, "end"])
        .record_unnoticed()
}

/// The arguments of the calls in the recording.
pub(crate) fn calls(recording: &Recording) -> Vec<i32> {
    // A million tell enough.
    let events = recording.events_in(0..1_000_000).map(|e| e.unwrap());
    let calls = events.filter(|event| event.kind == EventKind::IncomingCall);
    calls
        .map(|call| match call.values.as_slice() {
            [Value::Int(n)] => *n,
            other => panic!("{other:?}"),
        })
        .collect()
}

/// The calls count up from `first` without a gap.
#[track_caller]
pub(crate) fn check_row(calls: &[i32], first: i32) {
    let gap = calls.iter().zip(first..).position(|(call, n)| *call != n);
    if let Some(at) = gap {
        panic!("after {at} calls comes {}", calls[at]);
    }
}

fn forgotten(count: u64) -> Vec<(String, u64)> {
    vec![("events before the last ones (--last)".to_owned(), count)]
}

#[test]
fn the_last_events_are_kept() {
    let recorded = count(&["--last", "100"], "50000");
    let recording = recorded.recording();
    assert_eq!(recording.losses().stopped, None);
    assert!(recording.end().is_some());
    assert_eq!(recording.event_count(), 100);
    check_row(&calls(&recording), 50_000 - 50);
    assert_eq!(recording.losses().counts, forgotten(100_000 - 100));
    let files = fs::read_dir(&recorded.run).unwrap();
    let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    names.sort();
    // The log, the recording and the facts of the run; no segment.
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn one_in_so_many_outermost_calls_is_recorded() {
    let recorded = count(&["--sample", "1/10"], "1000");
    let recording = recorded.recording();
    let expected: Vec<i32> = (0..1000).step_by(10).collect();
    assert_eq!(calls(&recording), expected);
    assert_eq!(recording.event_count(), 200);
}

#[test]
fn a_sample_is_one_of_calls_constructions_and_accesses_alike() {
    let fixture = Fixture::named("survive/sampled");
    on_every_jdk(&fixture, |stage| {
        for flag in ["-Xint", "-Xmixed"] {
            let run = stage.run(&fixture).flags(&[flag]);
            let run = run.recording(&["--sample", "1/7"]);
            let recording = run.record_unnoticed().recording();
            assert_eq!(recording.losses().stopped, None);
            let mut outermost = 0;
            let mut objects = 0;
            let mut marks = 0;
            for event in recording.events().map(|event| event.unwrap()) {
                let site = recording.sites().get(event.site.0);
                let from_outside = matches!(
                    event.kind,
                    EventKind::IncomingCall | EventKind::IncomingRead | EventKind::IncomingWrite
                );
                outermost += u64::from(from_outside && event.depth == 0);
                objects += u64::from(event.kind == EventKind::Constructed);
                let marked = site.is_some_and(|site| site.method == "mark");
                let late = matches!(event.values.as_slice(), [Value::Int(1000..)]);
                marks += u64::from(from_outside && marked && late);
            }
            let left_out = &recording.losses().counts[0];
            assert!(left_out.0.contains("--sample"), "{left_out:?}");
            // A call that runs out of stack before it is told was counted, but is not there.
            let all = outermost + left_out.1;
            let expected = all.div_ceil(7);
            assert!(
                (expected - 30..=expected).contains(&outermost),
                "{flag}: {outermost} of {all}"
            );
            assert!((140..=160).contains(&objects), "{objects}");
            assert!((142..=143).contains(&marks), "{flag}: {marks}");
        }
    });
}

#[track_caller]
fn check_stopped(recorded: &Recorded, option: &str, most: u64) -> Recording {
    let recording = recorded.recording();
    let stopped = recording.losses().stopped.clone();
    let stopped = stopped.unwrap_or_else(|| panic!("{option} did not stop capture"));
    assert!(stopped.contains(option), "{stopped}");
    assert_eq!(recording.end().unwrap().reason, EndReason::Stopped);
    let count = recording.event_count();
    assert!((1..2 * most).contains(&count), "{count}");
    check_row(&calls(&recording), 0);
    recording
}

#[test]
fn capture_stops_after_so_many_events() {
    let recorded = count(&["--max-events", "5000"], "8000000");
    let recording = check_stopped(&recorded, "--max-events", 8_000_000);
    assert!(recording.event_count() >= 5000);
}

#[test]
fn capture_stops_at_a_size() {
    let recorded = count(&["--max-bytes", "100K"], "8000000");
    let recording = check_stopped(&recorded, "--max-bytes", 8_000_000);
    assert!(recording.bytes() >= 100_000);
}

#[test]
fn capture_stops_beyond_a_rate() {
    let recorded = count(&["--max-rate", "1000"], "200000000");
    check_stopped(&recorded, "--max-rate", 200_000_000);
}

#[test]
fn arrays_and_facts_of_the_run_that_match_never_reach_the_disk() {
    let fixture = Fixture::named("survive/masked");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).args(&["secret-9"]).record_unnoticed();
        let recording = recorded.recording();
        fixture.expects(
            &render::lines(&recording),
            &format!("JDK {}", stage.feature()),
        );
        let masked = ("arrays whose contents are masked (--redact)".to_owned(), 7);
        assert_eq!(recording.losses().counts, [masked]);
        let run = fs::read_to_string(recorded.run.join("run.txt")).unwrap();
        for text in [format!("{:?}", recording.start()), run] {
            assert!(text.contains("***"), "{text}");
            assert!(!text.contains("secret-"), "{text}");
        }
    });
}

#[test]
fn strings_that_match_never_reach_the_disk() {
    let fixture = Fixture::named("capture/redacted");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        let recording = recorded.complete();
        let lines = render::lines(&recording);
        fixture.expects(&lines, &format!("JDK {}", stage.feature()));
        assert!(!lines.iter().any(|line| line.contains("secret-")));
        let [failure] = recording.failures() else {
            panic!("{:?}", recording.failures())
        };
        assert_eq!(failure.class, "java.lang.IllegalStateException");
        let told = format!("{:?} {}", failure.message, failure.stack);
        assert!(!told.contains("secret-7"), "{told}");
    });
}
