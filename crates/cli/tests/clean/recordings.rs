//! A crafted recording, all of whose names are hostile, through every command that reads one.

use culprit_report::document::conforming;
use culprit_report::recording::{Event, SummaryDocument};
use std::fs;

use culprit_model::site::TypeDef;
use culprit_model::{
    EventKind, Failure, FailureKind, Losses, Member, ObjectId, Reference, Site, SiteId, SiteKind,
    ThreadId, Turn, TypeId, Value,
};
use culprit_trace::{
    ClassDef, EndReason, Ending, EventsHead, RecordBuffer, Start, ThreadDef, Writer,
};

use crate::stage::{HOSTILE, SEEN, Stage};

fn hostile() -> String {
    HOSTILE.to_owned()
}

fn recording() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    let start = Start {
        culprit: hostile(),
        pid: 7,
        command: vec!["java".to_owned(), hostile()],
        directory: hostile(),
        jvm_name: hostile(),
        jvm_version: "17.0.1+1".to_owned(),
        jvm_vendor: hostile(),
        jvm_flags: vec![hostile()],
        properties: vec![(hostile(), hostile())],
        options: "out=/runs/1,observe=app".to_owned(),
        ..Start::default()
    };
    writer.start(&start).unwrap();
    let class = format!("a/{HOSTILE}");
    let member = |descriptor: &str| Member {
        owner: class.clone(),
        name: hostile(),
        descriptor: descriptor.to_owned(),
    };
    let kind = TypeDef {
        id: TypeId(1),
        name: class.clone(),
        loader: 1,
        constants: vec![hostile()],
        fields: vec![member("I")],
    };
    writer.types(&[kind]).unwrap();
    let site = Site {
        id: SiteId(1),
        kind: SiteKind::Entry,
        class: class.clone(),
        method: hostile(),
        descriptor: "()V".to_owned(),
        line: Some(1),
        target: member("(Ljava/lang/Object;Ljava/lang/Object;)V"),
        is_static: true,
        source: Some(hostile()),
    };
    writer.sites(&[site]).unwrap();
    let thread = ThreadDef {
        id: ThreadId(1),
        name: hostile(),
        java_id: 1,
        is_virtual: false,
    };
    writer.thread(&thread).unwrap();
    let class = ClassDef {
        name: &class,
        loader: 1,
        origin: None,
        observed: true,
        ahead: false,
        outline: false,
        bytes: b"\xca\xfe\xba\xbe",
    };
    writer.class(&class).unwrap();
    let mut events = RecordBuffer::new();
    let constant = Value::Reference(Reference::Enum {
        class: TypeId(1),
        ordinal: 0,
    });
    let text = Value::Reference(Reference::String(HOSTILE.encode_utf16().collect()));
    let thrown = Value::Reference(Reference::Object {
        id: ObjectId(3),
        class: TypeId(1),
    });
    events.event(EventKind::IncomingCall, SiteId(1), &[constant, text]);
    events.event(EventKind::IncomingThrow, SiteId(1), &[thrown]);
    let head = EventsHead {
        thread: ThreadId(1),
        turn: Turn(1),
        ordinal: 0,
        count: events.events(),
    };
    writer.events(head, events.bytes()).unwrap();
    let failure = Failure {
        kind: FailureKind::Test,
        thread: ThreadId(1),
        place: hostile(),
        class: hostile(),
        message: Some(hostile()),
        stack: format!(
            "a.B: {HOSTILE}\n\tat a.{HOSTILE}.run({HOSTILE}.java:1)\n\tat a.B.c(B.java:1)\n"
        ),
        exceptions: vec![ObjectId(3)],
    };
    writer.failure(&failure).unwrap();
    let losses = Losses {
        counts: vec![(hostile(), 1)],
        not_woven: vec![(hostile(), hostile())],
        stopped: Some(hostile()),
    };
    writer.losses(&losses).unwrap();
    let end = Ending {
        reason: EndReason::JvmEnded,
        exit_status: Some(1),
        duration_ms: 1,
    };
    writer.end(&end).unwrap();
    writer.into_store().unwrap()
}

#[test]
fn no_name_of_a_recording_reaches_a_terminal_raw() {
    let stage = Stage::new();
    fs::write(stage.path().join("x.culprit"), recording()).unwrap();
    for words in [
        &["show"][..],
        &["show", "--full"],
        &["show", "--events"],
        &["show", "--events", "--full"],
        &["show", "--scenario"],
    ] {
        let words = [words, &["x.culprit"]].concat();
        let told = stage.culprit(&words);
        assert_eq!(told.status, 0, "{words:?}: {}", told.err);
        let joined: String = told.out.split_whitespace().collect();
        assert!(joined.contains(&SEEN[..20]), "{words:?}: {}", told.out);
    }
    for words in [
        &["replay"][..],
        &["replay", "--json"],
        &["minimize", "-o", "out"],
    ] {
        let told = stage.culprit(&[words, &["x.culprit"]].concat());
        assert!((1..=4).contains(&told.status), "{words:?}: {}", told.err);
    }
}

#[test]
fn json_of_a_recording_gives_its_names_back() {
    let stage = Stage::new();
    fs::write(stage.path().join("x.culprit"), recording()).unwrap();
    let told = stage.culprit(&["show", "--json", "x.culprit"]);
    let summary: serde_json::Value = conforming::<SummaryDocument>(&told.out).unwrap();
    assert!(summary.to_string().contains("OWNED"), "{summary}");
    let told = stage.culprit(&["show", "--events", "--json", "x.culprit"]);
    assert_eq!(told.out.lines().count(), 2, "{}", told.out);
    for line in told.out.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let typed: Event = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_value(typed).unwrap(), event);
        let names: Vec<String> = strings(&event);
        assert!(names.iter().any(|name| name.contains(HOSTILE)), "{line}");
    }
}

fn strings(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => vec![text.clone()],
        serde_json::Value::Array(all) => all.iter().flat_map(strings).collect(),
        serde_json::Value::Object(all) => all.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}
