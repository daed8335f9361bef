//! `docs/recording-format.md` and the code agree: the worked example is what the writer writes.

mod support;

use culprit_model::site::TypeDef;
use culprit_model::{EventKind, Site, SiteId, SiteKind, ThreadId, Turn, TypeId, Value};
use culprit_trace::{EndReason, Ending, EventsHead, RecordBuffer, Recording, Start, Writer};
use support::{object, site, text};

/// The recording of the example: one call of `A.f(5, "hi")` on object 3, and its return.
fn example() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer
        .start(&Start {
            culprit: "0.1.0".to_owned(),
            pid: 300,
            started_ms: 1_700_000_000_000,
            command: vec!["java".to_owned(), "A".to_owned()],
            directory: "/a".to_owned(),
            jvm_name: "VM".to_owned(),
            jvm_version: "21".to_owned(),
            jvm_vendor: "X".to_owned(),
            options: "out=/r".to_owned(),
            ..Start::default()
        })
        .unwrap();
    writer
        .types(&[TypeDef {
            id: TypeId(1),
            name: "A".to_owned(),
            loader: 0,
            constants: Vec::new(),
            fields: Vec::new(),
        }])
        .unwrap();
    writer
        .sites(&[Site {
            method: "f".to_owned(),
            descriptor: "(ILjava/lang/String;)Z".to_owned(),
            ..site(
                1,
                SiteKind::Entry,
                "A",
                14,
                ("A", "f", "(ILjava/lang/String;)Z"),
            )
        }])
        .unwrap();
    let mut buffer = RecordBuffer::new();
    let call = [object(3, 1), Value::Int(5), text("hi")];
    buffer.event(EventKind::IncomingCall, SiteId(1), &call);
    buffer.event(
        EventKind::IncomingReturn,
        SiteId(1),
        &[Value::Boolean(true)],
    );
    let head = EventsHead {
        thread: ThreadId(1),
        turn: Turn(2),
        ordinal: 0,
        count: 2,
    };
    writer.events(head, buffer.bytes()).unwrap();
    writer
        .end(&Ending {
            reason: EndReason::JvmEnded,
            exit_status: Some(0),
            duration_ms: 80,
        })
        .unwrap();
    writer.into_store().unwrap()
}

/// The bytes of the document's example: in its block, what stands before the first `|`.
fn documented() -> Vec<u8> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/recording-format.md"
    );
    let document = std::fs::read_to_string(path).unwrap();
    let (_, after) = document.split_once("```hex\n").unwrap();
    let (block, _) = after.split_once("```").unwrap();
    block
        .lines()
        .flat_map(|line| line.split('|').next().unwrap().split_whitespace())
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect()
}

#[test]
fn the_worked_example_is_what_the_writer_writes() {
    let example = example();
    let hex: Vec<String> = example.iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(documented(), example, "{}", hex.join(" "));
}

#[test]
fn the_worked_example_can_be_read() {
    let recording = Recording::from_bytes("example", documented()).unwrap();
    assert_eq!(recording.start().pid, 300);
    let events: Vec<_> = recording.events().map(Result::unwrap).collect();
    assert_eq!(events[0].values[2], text("hi"));
    assert_eq!(events[1].values, [Value::Boolean(true)]);
    assert_eq!(recording.end().unwrap().duration_ms, 80);
}
