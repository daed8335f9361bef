//! One example of each message, byte by byte. A change of these bytes is a change of the
//! protocol and needs another `VERSION`.

use std::collections::BTreeMap;
use std::fmt::Debug;

use culprit_model::scenario::Tables;
use culprit_model::script::{
    Action, Answer, ByAlias, Call, Expectation, HandleKind, Lambda, LoopVariable, Mark, Operator,
    StatementEnd,
};
use culprit_model::site::TypeDef;
use culprit_model::value::{Contents, Shape};
use culprit_model::{
    BlobId, Divergence, EventIndex, EventKind, Got, Member, ObjectId, Outcome, Reference, Site,
    SiteId, SiteKind, Statement, Step, ThreadId, TypeId, Value,
};
use culprit_wire::{
    ClassCoverage, ClassKind, FreshState, FromWorker, LineCheck, Loader, Message, Mode, RunRequest,
    Subject, SubjectClass, ToWorker, VERSION,
};

/// Hexadecimal digits, and texts in quotes; white space parts them.
fn bytes(listing: &str) -> Vec<u8> {
    let word = |word: &str| match word.strip_prefix('"') {
        Some(text) => text.trim_end_matches('"').as_bytes().to_vec(),
        None => vec![u8::from_str_radix(word, 16).unwrap()],
    };
    listing.split_whitespace().flat_map(word).collect()
}

#[track_caller]
fn check<M: Message + PartialEq + Debug>(message: M, listing: &str) {
    let body = bytes(listing);
    let mut frame = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
    frame.extend_from_slice(&body);
    let mut written = Vec::new();
    message.write_to(&mut written).unwrap();
    assert_eq!(format!("{written:02x?}"), format!("{frame:02x?}"));
    assert_eq!(
        M::read_from(frame.as_slice()).unwrap().as_ref(),
        Some(&message)
    );
}

fn site() -> Site {
    Site {
        id: SiteId(3),
        kind: SiteKind::Call,
        class: "C".to_owned(),
        method: "m".to_owned(),
        descriptor: "()V".to_owned(),
        line: Some(10),
        source: Some("C.java".to_owned()),
        target: Member {
            owner: "D".to_owned(),
            name: "f".to_owned(),
            descriptor: "()I".to_owned(),
        },
        is_static: false,
    }
}

const SITE: &str =
    r#"03 02 01 "C" 01 "m" 03 "()V" 01 0a 00 01 06 "C.java" 01 "D" 01 "f" 03 "()I" 00"#;

fn class(name: &str, kind: ClassKind, bytes: &[u8]) -> SubjectClass {
    SubjectClass {
        name: name.to_owned(),
        loader: 1,
        kind,
        bytes: bytes.to_vec(),
    }
}

fn array(id: u64, length: u32, contents: Contents) -> Reference {
    Reference::Array {
        id: ObjectId(id),
        class: TypeId(4),
        length,
        contents,
    }
}

#[test]
fn these_are_the_bytes_of_version_5() {
    assert_eq!(VERSION, 5);
}

#[test]
fn subject() {
    let subject = Subject {
        options: "o=1".to_owned(),
        loaders: vec![Loader {
            number: 1,
            class: "L".to_owned(),
            name: Some("n".to_owned()),
        }],
        class_path: vec!["a.jar".to_owned()],
        classes: vec![class("A", ClassKind::Observed, &[0xca, 0xfe])],
    };
    check(
        ToWorker::Subject(subject),
        r#"01 03 "o=1" 01 01 01 "L" 01 01 "n" 01 05 "a.jar" 01 01 "A" 01 01 02 ca fe"#,
    );
    check(
        ToWorker::Class(class("B", ClassKind::Outline, &[0xff])),
        r#"02 01 "B" 01 02 01 ff"#,
    );
}

#[test]
fn run() {
    let run = RunRequest {
        number: 300,
        mode: Mode::Strict,
        fresh: FreshState::NewLoader,
        multi_threaded: true,
        lines: LineCheck::Ignore,
        births: vec![(ThreadId(3), 200)],
    };
    check(
        ToWorker::Run(run.clone()),
        "03 ac 02 01 02 01 02 01 03 c8 01",
    );
    let (mode, births) = (Mode::Skip, Vec::new());
    let run = RunRequest {
        mode,
        births,
        ..run
    };
    check(ToWorker::Run(run.clone()), "03 ac 02 02 02 01 02 00");
    let (mode, fresh) = (Mode::Plain, FreshState::Reset);
    let run = RunRequest { mode, fresh, ..run };
    check(ToWorker::Run(run), "03 ac 02 03 01 01 02 00");
    check(ToWorker::EndOfSteps, "07");
    check(ToWorker::Stop, "08");
    check(ToWorker::Bye, "09");
    check(ToWorker::Forget, "0a");
}

#[test]
fn tables() {
    let tables = Tables {
        types: [TypeDef {
            id: TypeId(5),
            name: "T".to_owned(),
            loader: 1,
            constants: vec!["X".to_owned()],
            fields: Vec::new(),
        }]
        .into_iter()
        .collect(),
        sites: [site()].into_iter().collect(),
        threads: vec![(ThreadId(2), "main".to_owned())],
        blobs: BTreeMap::from([(BlobId(9), vec![7])]),
    };
    check(
        ToWorker::Tables(tables),
        &format!(r#"04 01 05 01 "T" 01 01 01 "X" 00 01 {SITE} 01 02 04 "main" 01 09 01 07"#),
    );
    let blob = ToWorker::Blob {
        id: BlobId(9),
        bytes: vec![1, 2],
    };
    check(blob, "05 09 02 01 02");
}

#[test]
fn steps_with_every_kind_of_value() {
    let references = [
        Reference::Null,
        Reference::Object {
            id: ObjectId(7),
            class: TypeId(3),
        },
        Reference::String("ab".encode_utf16().collect()),
        Reference::String("☃".encode_utf16().collect()),
        Reference::StringBlob(BlobId(9)),
        Reference::Redacted,
        Reference::Unknown,
        Reference::Class(TypeId(3)),
        Reference::Enum {
            class: TypeId(3),
            ordinal: 1,
        },
        Reference::Boxed(Box::new(Value::Int(1))),
        array(
            7,
            2,
            Contents::Part {
                from: 1,
                known: Box::new(Contents::Elements(vec![Value::Int(1)])),
            },
        ),
        array(8, 1, Contents::Unknown),
        array(9, 1, Contents::Blob(BlobId(9))),
    ];
    let mut values = vec![
        Value::Boolean(true),
        Value::Byte(-2),
        Value::Short(-300),
        Value::Char(0x263a),
        Value::Int(1),
        Value::Long(-1),
        Value::Float(1.5),
        Value::Double(-0.25),
    ];
    values.extend(references.map(Value::Reference));
    let first = Step {
        thread: ThreadId(1),
        kind: EventKind::OutgoingCall,
        site: SiteId(3),
        values,
        depth: 2,
        origin: Some(EventIndex(42)),
    };
    let second = Step {
        thread: ThreadId(1),
        kind: EventKind::OutgoingReturn,
        site: SiteId(3),
        values: vec![Value::Boolean(false)],
        depth: 3,
        origin: None,
    };
    let scalars = "01  02 fe  03 d7 04  04 ba 4c  05 02  06 01  07 00 00 c0 3f
                   08 00 00 00 00 00 00 d0 bf";
    let references = r#"10  11 07 03  12 02 "ab"  13 01 03 26  14 09  15  16  17 03  18 03 01
                        19 05 02"#;
    let arrays = "1a 07 04 02 03 01 01 01 05 02  1a 08 04 01 00  1a 09 04 01 02 09";
    check(
        ToWorker::Steps(vec![first, second]),
        &format!("06  04 01 03 02 01 2a 15 {scalars} {references} {arrays}  05 01 03 03 00 01 00"),
    );
}

/// Version 5: plain candidates are statements of scripts.
#[test]
fn statements_of_every_kind() {
    let object = |id| {
        Value::Reference(Reference::Object {
            id: ObjectId(id),
            class: TypeId(3),
        })
    };
    let answer = Answer {
        site: SiteId(4),
        asked: vec![object(9)],
        end: StatementEnd::Returned(Some(Value::Int(1))),
        filled: Vec::new(),
    };
    let call = Call {
        site: SiteId(3),
        answers: vec![answer],
    };
    let lambda = Lambda {
        body_class: TypeId(3),
        body_name: "b".to_owned(),
        body_descriptor: "()V".to_owned(),
        kind: HandleKind::Static,
        written_in: TypeId(4),
        interface: TypeId(5),
        method: "m".to_owned(),
        erased: "()I".to_owned(),
        exact: "()J".to_owned(),
    };
    let nothing = || StatementEnd::Returned(None);
    let plain = |action| Statement::new(action, Vec::new(), nothing());
    let aliased = Statement {
        alias: Some(ObjectId(8)),
        by_alias: vec![ByAlias {
            place: 0,
            alias: ObjectId(6),
        }],
        ..Statement::new(
            Action::Call(call),
            vec![object(7)],
            StatementEnd::Threw(object(8)),
        )
    };
    let less = Operator::IsLess.of(Shape::Long);
    check(
        ToWorker::Statements(vec![
            aliased,
            Statement::new(Action::Read(SiteId(3)), Vec::new(), StatementEnd::Open),
            plain(Action::Write(SiteId(3))),
            Statement::new(
                Action::Operate(less),
                vec![Value::Long(1), Value::Long(2)],
                StatementEnd::Returned(Some(object(5))),
            ),
            plain(Action::Lambda(lambda)),
            Statement::new(Action::Guard, vec![Value::Boolean(true)], nothing()),
            plain(Action::Expect(Expectation::Whole(TypeId(3)))),
            plain(Action::Expect(Expectation::Next(TypeId(3)))),
            plain(Action::Mark(Mark::Same)),
            plain(Action::Mark(Mark::Left)),
            plain(Action::Loop(LoopVariable::Start(TypeId(3)))),
            plain(Action::Loop(LoopVariable::Each(TypeId(3)))),
            plain(Action::Mark(Mark::OwnBranch)),
        ]),
        r#"0b
           01 03 01  04 01 11 09 03 01 05 02 00  01 11 07 03  02 11 08 03  01 08  01 00 06
           02 03 00 03 00 00
           03 03 00 00 00 00
           04 15 "J" 02 06 02 06 04 01 11 05 03 00 00
           05 03 01 "b" 03 "()V" 06 04 05 01 "m" 03 "()I" 03 "()J" 00 00 00 00
           06 01 01 00 00 00
           07 03 00 00 00 00
           08 03 00 00 00 00
           09 00 00 00 00
           0a 00 00 00 00
           0b 03 00 00 00 00
           0c 03 00 00 00 00
           0d 00 00 00 00"#,
    );
}

#[test]
fn greeting() {
    check(
        FromWorker::ready(17, "17.0.1".to_owned(), 4711),
        r#"01 05 00 11 00 06 "17.0.1" e7 24"#,
    );
}

#[test]
fn outcomes() {
    let done = |outcome| FromWorker::Done { number: 5, outcome };
    let in_sync = Outcome::InSync {
        steps: 3,
        open_calls: 0,
    };
    check(done(in_sync), "02 05 01 03 00");
    let divergence = Divergence {
        at: 7,
        expected: Some(Step {
            thread: ThreadId(1),
            kind: EventKind::OutgoingWrite,
            site: SiteId(2),
            values: Vec::new(),
            depth: 0,
            origin: None,
        }),
        got: Some(Got {
            kind: EventKind::OutgoingWrite,
            site: site(),
            values: vec!["#1".to_owned()],
        }),
        thread: ThreadId(1),
        why: "why".to_owned(),
        path: vec!["p".to_owned()],
    };
    check(
        done(Outcome::Diverged(Box::new(divergence))),
        &format!(
            r##"02 05 02 07 01 08 01 02 00 00 00 01 08 {SITE} 01 02 "#1" 01 03 "why" 01 01 "p""##
        ),
    );
    check(
        done(Outcome::Unsupported("u".to_owned())),
        r#"02 05 03 01 "u""#,
    );
    check(done(Outcome::Stopped), "02 05 04");
    let differed = Outcome::Differed {
        steps: 3,
        differences: Vec::new(),
        complete: true,
    };
    check(done(differed), "02 05 05 03 00 01");
    let threw = Outcome::Threw {
        at: 4,
        trace: "t".to_owned(),
    };
    check(done(threw), r#"02 05 06 04 01 "t""#);
}

#[test]
fn faults_and_coverage() {
    check(FromWorker::Fault("f".to_owned()), r#"03 01 "f""#);
    let coverage = ClassCoverage {
        class: "C".to_owned(),
        lines: vec![(10, 3)],
    };
    check(
        FromWorker::Coverage(vec![coverage]),
        r#"04 01 01 "C" 01 0a 00 03"#,
    );
    check(FromWorker::TakenIn, "05");
}
