//! Each thing that stands in the way of a replay is found, with its cause and how bad it is.

mod support;

use culprit_model::value::Contents;
use culprit_model::{
    BlobId, EventIndex, Losses, ObjectId, Reference, SiteId, ThreadId, TypeId, Value,
};
use culprit_replay::{Count, Finding, Severity, check};
use culprit_trace::{BlobKind, GAP_FORGOTTEN, Recording};
use support::{CLASS_FILE, K, Made, ask, call, end, object, read, text};

#[track_caller]
fn finds(recording: &Recording, expect: &[(Severity, Finding)]) {
    let found = check(recording, Some(21)).unwrap();
    let found: Vec<_> = found.into_iter().map(|f| (f.severity(), f)).collect();
    assert_eq!(found, expect);
}

#[track_caller]
fn refuses(made: &Made, finding: Finding) {
    finds(&made.recording(), &[(Severity::Refuse, finding)]);
}

#[track_caller]
fn warns(made: &Made, finding: Finding) {
    finds(&made.recording(), &[(Severity::Warn, finding)]);
}

#[track_caller]
fn notes(made: &Made, finding: Finding) {
    finds(&made.recording(), &[(Severity::Note, finding)]);
}

fn lossy(losses: Losses) -> Made {
    Made {
        losses,
        ..Made::sound()
    }
}

#[test]
fn nothing_stands_in_the_way_of_a_sound_recording() {
    finds(&Made::sound().recording(), &[]);
}

#[test]
fn no_observed_classes() {
    let made = Made {
        classes: Vec::new(),
        ..Made::sound()
    };
    let missing = Finding::ClassMissing {
        class: "a/A".to_owned(),
    };
    finds(
        &made.recording(),
        &[
            (Severity::Refuse, Finding::NothingObserved),
            (Severity::Refuse, missing),
        ],
    );
}

#[test]
fn no_events() {
    refuses(&Made::with(|_| {}), Finding::NoEvents);
}

#[test]
fn the_class_of_code_that_made_events_is_missing() {
    let made = Made {
        classes: vec![("a/Other", false)],
        ..Made::sound()
    };
    let class = "a/A".to_owned();
    refuses(&made, Finding::ClassMissing { class });
}

/// The checksum of the block is right, so only the hash can tell.
#[test]
fn a_class_file_that_is_not_the_one_of_its_hash() {
    let mut bytes = Made::sound().bytes();
    let class = bytes
        .windows(4)
        .position(|four| four == CLASS_FILE)
        .unwrap();
    bytes[class] ^= 1;
    // The block that it is in: after the file's header and the first block.
    let length = |bytes: &[u8], at: usize| {
        14 + u32::from_le_bytes(bytes[at + 2..at + 6].try_into().unwrap()) as usize
    };
    let block = 10 + length(&bytes, 10);
    let end = block + length(&bytes, block);
    assert!((block..end).contains(&class));
    let sum = [&bytes[block..block + 10], &bytes[block + 14..end]].concat();
    bytes[block + 10..block + 14].copy_from_slice(&crc32fast::hash(&sum).to_le_bytes());
    let changed = Finding::ClassChanged {
        class: "a/A".to_owned(),
        loader: 1,
    };
    finds(&read(bytes), &[(Severity::Refuse, changed)]);
}

#[test]
fn classes_woven_ahead_of_time() {
    let made = Made {
        classes: vec![("a/A", true), ("a/B", false)],
        ..Made::sound()
    };
    warns(&made, Finding::WovenAhead { classes: 1 });
}

#[test]
fn another_major_version_of_java() {
    let other = Finding::OtherJava {
        recorded: 21,
        replay: 17,
    };
    let recording = Made::sound().recording();
    assert_eq!(other.severity(), Severity::Warn);
    assert_eq!(check(&recording, Some(17)).unwrap(), [other]);
    assert_eq!(check(&recording, None).unwrap(), []);
}

#[test]
fn a_file_that_is_cut_off() {
    let mut bytes = Made::sound().bytes();
    let whole = bytes.len();
    bytes.pop();
    let recording = read(bytes);
    let cut = recording.truncation().unwrap();
    let truncated = Finding::Truncated {
        offset: cut.offset,
        bytes_left: whole as u64 - 1 - cut.offset,
    };
    finds(
        &recording,
        &[
            (Severity::Warn, truncated),
            (Severity::Warn, Finding::NoEnd),
        ],
    );
}

#[test]
fn a_jvm_that_was_killed() {
    let made = Made {
        ended: false,
        ..Made::sound()
    };
    warns(&made, Finding::NoEnd);
}

#[test]
fn a_limit_that_stopped_capture() {
    let why = "more than 5 events (--max-events)".to_owned();
    let made = lossy(Losses {
        stopped: Some(why.clone()),
        ..Losses::default()
    });
    warns(&made, Finding::Stopped { why });
}

#[test]
fn losses_by_their_names() {
    let what = "library objects that escaped with over 65536 others".to_owned();
    let made = lossy(Losses {
        counts: vec![(what.clone(), 3)],
        ..Losses::default()
    });
    warns(&made, Finding::Lost { what, count: 3 });
}

#[test]
fn code_without_probes() {
    let (what, why) = ("a.A.huge".to_owned(), "over 64 KB".to_owned());
    let made = lossy(Losses {
        not_woven: vec![(what.clone(), why.clone())],
        ..Losses::default()
    });
    warns(&made, Finding::NotWoven { what, why });
}

#[test]
fn events_forgotten_before_the_last_ones() {
    let mut made = Made::with(|main| {
        main.gap(GAP_FORGOTTEN, 90);
        call(main);
        end(main);
    });
    made.losses.counts = vec![(Losses::FORGOTTEN.to_owned(), 100)];
    warns(&made, Finding::Forgotten { events: 100 });
}

#[test]
fn events_that_are_missing_for_a_reason_nobody_knows() {
    let made = Made::with(|main| {
        main.gap(7, 90);
        call(main);
        end(main);
    });
    warns(&made, Finding::Gaps { events: 90 });
}

#[test]
fn events_forgotten_within_a_call_that_is_kept() {
    let made = Made::with(|main| {
        call(main);
        main.gap(GAP_FORGOTTEN, 6);
        ask(main, text("a"), text("b"));
        end(main);
    });
    let gaps = Finding::GapsInCalls {
        gaps: 1,
        first: EventIndex(3),
    };
    finds(
        &made.recording(),
        &[
            (Severity::Refuse, gaps),
            (Severity::Warn, Finding::Forgotten { events: 6 }),
        ],
    );
}

#[test]
fn outermost_calls_that_are_left_out() {
    let mut made = lossy(Losses {
        counts: vec![(Losses::LEFT_OUT.to_owned(), 9)],
        ..Losses::default()
    });
    made.start.options.push_str(",sample=10");
    let (one_in, left_out) = (10, 9);
    warns(&made, Finding::Sampled { one_in, left_out });
}

fn given_and_compared(given: Value, compared: Value) -> Made {
    Made::with(|main| {
        call(main);
        ask(main, text("x"), given);
        ask(main, compared, text("y"));
        end(main);
    })
}

const TWICE: Count = Count {
    given: 1,
    compared: 1,
    first: EventIndex(4),
};

#[test]
fn strings_that_are_masked() {
    let masked = || Value::Reference(Reference::Redacted);
    warns(
        &given_and_compared(masked(), masked()),
        Finding::Redacted(TWICE),
    );
    let only_compared = Count {
        given: 0,
        compared: 1,
        first: EventIndex(5),
    };
    notes(
        &given_and_compared(text("x"), masked()),
        Finding::Redacted(only_compared),
    );
}

#[test]
fn values_that_are_not_known() {
    let unknown = || Value::Reference(Reference::Unknown);
    warns(
        &given_and_compared(unknown(), unknown()),
        Finding::Unknown(TWICE),
    );
}

fn array(id: u64, class: u32, contents: Contents) -> Value {
    Value::Reference(Reference::Array {
        id: ObjectId(id),
        class: TypeId(class),
        length: 1,
        contents,
    })
}

#[test]
fn arrays_that_came_in_without_contents() {
    let array = || array(5, 3, Contents::Unknown);
    let count = Count {
        given: 1,
        compared: 0,
        first: EventIndex(4),
    };
    warns(
        &given_and_compared(array(), array()),
        Finding::Unknown(count),
    );
}

#[test]
fn an_array_within_itself_is_told_once() {
    let again = array(5, 4, Contents::Unknown);
    let whole = array(5, 4, Contents::Elements(vec![again]));
    finds(&given_and_compared(whole, text("x")).recording(), &[]);
}

#[test]
fn long_values_that_are_missing() {
    let long = || Value::Reference(Reference::StringBlob(BlobId(1)));
    let numbers = || array(5, 3, Contents::Blob(BlobId(2)));
    let mut made = given_and_compared(long(), numbers());
    refuses(&made, Finding::BlobsMissing(TWICE));
    made.blobs = vec![
        (1, BlobKind::Text, vec![0; 2]),
        (2, BlobKind::Elements, vec![0; 4]),
    ];
    finds(&made.recording(), &[]);
}

#[test]
fn a_thread_without_a_beginning() {
    let mut made = Made::sound();
    let mut second = Made::with(|thread| {
        ask(thread, text("x"), text("y"));
        end(thread);
        call(thread);
        end(thread);
    });
    made.threads.append(&mut second.threads);
    let missing = Finding::NoBeginning {
        thread: ThreadId(2),
        first: EventIndex(4),
    };
    refuses(&made, missing);
}

#[test]
fn calls_that_ended_unseen() {
    let made = Made::with(|main| {
        call(main);
        main.event(K::OutgoingCall, SiteId(2), &[text("deep")]);
        main.unwound(2);
        call(main);
        end(main);
    });
    let (calls, first) = (2, EventIndex(4));
    warns(&made, Finding::UnseenEnds { calls, first });
}

#[test]
fn calls_that_are_open_at_the_end() {
    let made = Made::with(|main| {
        call(main);
        main.event(K::OutgoingCall, SiteId(2), &[object(7, 2)]);
    });
    let (thread, calls) = (ThreadId(1), 2);
    notes(&made, Finding::OpenCalls { thread, calls });
}

#[test]
fn the_worst_comes_first_and_each_finding_is_a_sentence() {
    let mut made = Made::with(|main| {
        call(main);
        main.gap(GAP_FORGOTTEN, 6);
        ask(main, text("x"), Value::Reference(Reference::Redacted));
    });
    made.ended = false;
    let found = check(&made.recording(), Some(17)).unwrap();
    let found: Vec<String> = found.iter().map(Finding::to_string).collect();
    let expect = [
        "events are missing within calls: 1 gap, the first before @3",
        "the JVM was killed, or still runs",
        "forgotten before the last events (--last): 6 events",
        "strings are masked: 1 to be given, 0 to be compared, the first at @4",
        "recorded with Java 21, to be replayed with Java 17",
        "open at the end of t1: 1 call",
    ];
    assert_eq!(found, expect);
}

#[test]
fn the_code_of_outside_fields_and_methods_needs_no_class() {
    let made = Made::with(|main| {
        call(main);
        main.event(K::OutgoingCall, SiteId(4), &[object(7, 2)]);
        main.event(K::IncomingWrite, SiteId(3), &[object(1, 1), text("x")]);
        main.event(K::OutgoingReturn, SiteId(4), &[Value::Int(1)]);
        end(main);
    });
    finds(&made.recording(), &[]);
}
