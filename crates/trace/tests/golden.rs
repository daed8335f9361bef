//! Golden recordings: files of every format version so far, minor ones included, which must stay
//! readable.
//!
//! `CULPRIT_WRITE_GOLDEN=1 cargo test -p culprit-trace --test golden` writes the file of the
//! current version, if there is none. A file that is there is never replaced.

mod support;

use std::path::PathBuf;

use culprit_model::site::TypeDef;
use culprit_model::value::Contents;
use culprit_model::{
    BlobId, Catcher, Caught, EventKind, Failure, FailureKind, Losses, ObjectId, Reference, SiteId,
    ThreadId, Turn, TypeId, Value,
};
use culprit_trace::{
    BlobKind, ClassDef, EndReason, Ending, EventsHead, LoaderDef, RecordBuffer, Recording,
    ThreadDef, Writer,
};
use support::story::{sites, types};
use support::{object, start, text};

/// The files of the versions before the current one.
const OLDER: [&str; 2] = ["v1.culprit", "v1.1.culprit"];
/// The file of the current version.
const CURRENT: &str = "v1.2.culprit";

fn path(file: &str) -> PathBuf {
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    golden.join(file)
}

fn array(contents: Contents) -> Value {
    Value::Reference(Reference::Array {
        id: ObjectId(7),
        class: TypeId(2),
        length: 3,
        contents,
    })
}

fn every_value() -> Vec<Vec<Value>> {
    let reference = Value::Reference;
    vec![
        vec![
            object(1, 1),
            Value::Boolean(true),
            Value::Byte(-2),
            Value::Short(-300),
            Value::Char(0x263a),
            Value::Int(-70_000),
            Value::Long(i64::MIN),
            Value::Float(1.5),
            Value::Double(-0.25),
            text("plain"),
            array(Contents::Elements(vec![
                Value::Int(1),
                Value::Int(2),
                Value::Int(3),
            ])),
        ],
        vec![text("snow ☃")],
        vec![object(1 << 40, 1 << 20)],
        vec![reference(Reference::Null)],
        vec![reference(Reference::StringBlob(BlobId(1)))],
        vec![reference(Reference::Redacted)],
        vec![reference(Reference::Class(TypeId(1)))],
        vec![reference(Reference::Enum {
            class: TypeId(6),
            ordinal: 1,
        })],
        vec![reference(Reference::Boxed(Box::new(Value::Int(5))))],
        vec![array(Contents::Unknown)],
        vec![array(Contents::Blob(BlobId(2)))],
    ]
}

/// A list that holds itself, a constant and an array.
fn state() -> Vec<Value> {
    let elements = vec![
        object(1, 8),
        Value::Reference(Reference::Piece(1)),
        Value::Reference(Reference::Constant {
            class: TypeId(8),
            name: "EMPTY".to_owned(),
        }),
    ];
    vec![
        object(1, 8),
        Value::Reference(Reference::Structure {
            class: TypeId(8),
            fields: vec![
                Value::Reference(Reference::Piece(1)),
                Value::Int(3),
                Value::Boolean(true),
            ],
        }),
        Value::Reference(Reference::Array {
            id: ObjectId(0),
            class: TypeId(3),
            length: 3,
            contents: Contents::Elements(elements),
        }),
    ]
}

fn caught() -> Caught {
    Caught {
        number: 3,
        failure: Failure {
            kind: FailureKind::Caught,
            thread: ThreadId(1),
            place: "com.acme.Server.run".to_owned(),
            class: "java.lang.ArithmeticException".to_owned(),
            message: Some("/ by zero".to_owned()),
            stack: "java.lang.ArithmeticException: / by zero\n".to_owned(),
            exceptions: Vec::new(),
        },
        catcher: Catcher::Outside,
        printed: 2,
        count: 300,
        ordinal: 5,
    }
}

fn write() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.start(&start()).unwrap();
    writer
        .loaders(&[LoaderDef {
            id: 1,
            class: "com/acme/Loader".to_owned(),
            name: None,
        }])
        .unwrap();
    writer.types(&types()).unwrap();
    writer.sites(&sites()).unwrap();
    writer
        .thread(&ThreadDef {
            id: ThreadId(1),
            name: "main".to_owned(),
            java_id: 1,
            is_virtual: false,
        })
        .unwrap();
    writer
        .class(&ClassDef {
            name: "com/acme/A",
            loader: 1,
            origin: Some("file:/srv/app/app.jar"),
            observed: true,
            ahead: false,
            outline: false,
            bytes: b"\xca\xfe\xba\xbe and so on",
        })
        .unwrap();
    writer
        .class(&ClassDef {
            name: "com/acme/B",
            outline: true,
            bytes: b"\xca\xfe\xba\xbe without code",
            ..ClassDef::default()
        })
        .unwrap();
    writer
        .blob(BlobId(1), BlobKind::Text, b"l\0o\0n\0g\0")
        .unwrap();
    writer
        .blob(
            BlobId(2),
            BlobKind::Elements,
            &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0],
        )
        .unwrap();
    let mut buffer = RecordBuffer::new();
    let values = every_value();
    buffer.event(EventKind::IncomingCall, SiteId(2), &values[0]);
    for thrown in &values[1..] {
        buffer.event(EventKind::OutgoingThrow, SiteId(6), thrown);
    }
    buffer.turn(Turn(4));
    buffer.gap(1, 10);
    buffer.pad(3);
    buffer.unwound(1);
    buffer.event(EventKind::Held, SiteId(0), &held());
    buffer.event(EventKind::Born, SiteId(0), &born());
    buffer.event(EventKind::ObjectState, SiteId(6), &state());
    buffer.event(
        EventKind::IdentityHash,
        SiteId(6),
        &[object(1, 1), Value::Int(99)],
    );
    let head = EventsHead {
        thread: ThreadId(1),
        turn: Turn(3),
        ordinal: 0,
        count: buffer.events(),
    };
    writer.events(head, buffer.bytes()).unwrap();
    writer
        .failure(&Failure {
            kind: FailureKind::Uncaught,
            thread: ThreadId(1),
            place: "main".to_owned(),
            class: "java.lang.IllegalStateException".to_owned(),
            message: None,
            stack: "java.lang.IllegalStateException\n".to_owned(),
            exceptions: vec![ObjectId(1 << 40)],
        })
        .unwrap();
    writer.caught(&caught()).unwrap();
    writer
        .losses(&Losses {
            counts: vec![("dropped events".to_owned(), 10)],
            ..Losses::default()
        })
        .unwrap();
    writer
        .end(&Ending {
            reason: EndReason::JvmEnded,
            exit_status: Some(1),
            duration_ms: 42,
        })
        .unwrap();
    writer.into_store().unwrap()
}

#[test]
fn recordings_of_version_1_stay_readable() {
    for file in OLDER {
        is_readable(&Recording::open(&path(file)).unwrap());
    }
}

#[test]
fn recordings_of_version_1_2_stay_readable() {
    let path = path(CURRENT);
    if std::env::var_os("CULPRIT_WRITE_GOLDEN").is_some() && !path.exists() {
        std::fs::write(&path, write()).unwrap();
    }
    let recording = Recording::open(&path).unwrap();
    is_readable(&recording);
    assert_eq!(recording.caught(), [caught()]);
    let [class, outline] = recording.classes() else {
        panic!("{:?}", recording.classes())
    };
    assert!(class.observed && !class.outline);
    assert!(outline.outline && !outline.observed);
    let bytes = recording.class_bytes(outline).unwrap();
    assert_eq!(bytes, b"\xca\xfe\xba\xbe without code");
    assert!(recording.types().iter().eq(&sorted(types())));
    let mut events = recording.events().map(Result::unwrap);
    let held_ones = events.find(|event| event.kind == EventKind::Held);
    assert_eq!(held_ones.unwrap().values, held());
    assert_eq!(events.next().unwrap().values, born());
    assert_eq!(events.next().unwrap().values, state());
}

/// Two objects that go out inside of others.
fn held() -> Vec<Value> {
    vec![object(2, 1), object(3, 1)]
}

/// An object that left without a name.
fn born() -> Vec<Value> {
    vec![object(4, 1), Value::Int(1), Value::Long(7)]
}

/// In the order of their numbers.
fn sorted(mut types: Vec<TypeDef>) -> Vec<TypeDef> {
    types.sort_by_key(|definition| definition.id);
    types
}

/// The properties of recordings of every version.
#[track_caller]
fn is_readable(recording: &Recording) {
    assert_eq!(recording.start(), &start());
    assert!(recording.sites().iter().eq(&sites()));
    assert_eq!(recording.types().get(6).unwrap().constants.len(), 2);
    assert_eq!(recording.loaders().get(1).unwrap().class, "com/acme/Loader");
    assert_eq!(recording.threads().get(1).unwrap().name, "main");
    let class = &recording.classes()[0];
    let bytes = recording.class_bytes(class).unwrap();
    assert_eq!(bytes, b"\xca\xfe\xba\xbe and so on");
    let blob = recording.blob(BlobId(1)).unwrap().unwrap();
    assert_eq!(blob.bytes, b"l\0o\0n\0g\0");
    let events: Vec<_> = recording.events().map(Result::unwrap).collect();
    let (last, _) = events.split_last().unwrap();
    let found = events.iter().take(every_value().len());
    let found: Vec<_> = found.map(|e| e.values.clone()).collect();
    assert_eq!(found, every_value());
    assert_eq!((last.kind, last.turn), (EventKind::IdentityHash, Turn(4)));
    assert_eq!(recording.failures()[0].exceptions, [ObjectId(1 << 40)]);
    assert_eq!(recording.losses().counts[0].1, 10);
    let end = recording.end().unwrap();
    assert_eq!((end.exit_status, end.duration_ms), (Some(1), 42));
    assert_eq!(end.events, events.len() as u64);
}

/// The bytes may differ where another zstd packs better, but never what they mean.
#[test]
fn the_writer_still_writes_the_same_content() {
    let apart = |bytes: &[u8]| -> Vec<_> {
        support::file::take_apart(bytes)
            .into_iter()
            // The end block counts the packed bytes before it.
            .filter(|block| block.tag != 11)
            .map(|block| (block.tag, block.head, block.body))
            .collect()
    };
    assert_eq!(
        apart(&write()),
        apart(&std::fs::read(path(CURRENT)).unwrap())
    );
}
