//! Every message survives the way to the other end, and no bytes make an end panic.

use std::collections::BTreeMap;

use culprit_model::scenario::Tables;
use culprit_model::script::{
    Action, Answer, ByAlias, Call, Expectation, HandleKind, Lambda, LoopVariable, Mark, Operation,
    StatementEnd,
};
use culprit_model::site::TypeDef;
use culprit_model::value::Contents;
use culprit_model::{
    BlobId, Divergence, EventIndex, EventKind, Got, Member, ObjectId, Outcome, Reference, Site,
    SiteId, SiteKind, Statement, Step, ThreadId, TypeId, Value,
};
use culprit_wire::{
    ClassCoverage, ClassKind, FreshState, FromWorker, Inbox, LineCheck, Loader, MAX_FRAME, Message,
    Mode, Packer, RunRequest, Subject, SubjectClass, ToWorker, VERSION, WireError, table_messages,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn text() -> impl Strategy<Value = String> {
    "\\PC{0,12}"
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..40)
}

/// Values that equal themselves: no NaN.
fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        any::<bool>().prop_map(Value::Boolean),
        any::<i8>().prop_map(Value::Byte),
        any::<i16>().prop_map(Value::Short),
        any::<u16>().prop_map(Value::Char),
        any::<i32>().prop_map(Value::Int),
        any::<i64>().prop_map(Value::Long),
        (-1e30f32..1e30).prop_map(Value::Float),
        (-1e300f64..1e300).prop_map(Value::Double),
    ];
    let leaf = prop_oneof![
        Just(Reference::Null),
        Just(Reference::Redacted),
        Just(Reference::Unknown),
        (any::<u64>(), any::<u32>()).prop_map(|(id, class)| Reference::Object {
            id: ObjectId(id),
            class: TypeId(class),
        }),
        vec(any::<u16>(), 0..9).prop_map(Reference::String),
        vec(0u16..256, 0..9).prop_map(Reference::String),
        any::<u32>().prop_map(|blob| Reference::StringBlob(BlobId(blob))),
        any::<u32>().prop_map(|class| Reference::Class(TypeId(class))),
        (any::<u32>(), any::<u32>()).prop_map(|(class, ordinal)| Reference::Enum {
            class: TypeId(class),
            ordinal,
        }),
        scalar
            .clone()
            .prop_map(|value| Reference::Boxed(Box::new(value))),
        any::<u32>().prop_map(Reference::Piece),
        (any::<u32>(), text()).prop_map(|(class, name)| Reference::Constant {
            class: TypeId(class),
            name,
        }),
        (any::<u32>(), vec(scalar.clone(), 0..4)).prop_map(|(class, fields)| {
            Reference::Structure {
                class: TypeId(class),
                fields,
            }
        }),
    ];
    let leaf = prop_oneof![scalar, leaf.prop_map(Value::Reference)];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let known = prop_oneof![
            Just(Contents::Unknown),
            any::<u32>().prop_map(|blob| Contents::Blob(BlobId(blob))),
            vec(inner, 0..4).prop_map(Contents::Elements),
        ];
        let part = (any::<u32>(), known.clone()).prop_map(|(from, known)| Contents::Part {
            from,
            known: Box::new(known),
        });
        let contents = prop_oneof![known, part];
        (any::<u64>(), any::<u32>(), any::<u32>(), contents).prop_map(
            |(id, class, length, contents)| {
                Value::Reference(Reference::Array {
                    id: ObjectId(id),
                    class: TypeId(class),
                    length,
                    contents,
                })
            },
        )
    })
}

prop_compose! {
    fn step()(
        thread: u32,
        kind in select(&EventKind::ALL[..]),
        site: u32,
        values in vec(value(), 0..5),
        depth: u32,
        origin: Option<u64>,
    ) -> Step {
        Step {
            thread: ThreadId(thread),
            kind,
            site: SiteId(site),
            values,
            depth,
            origin: origin.map(EventIndex),
        }
    }
}

fn end() -> impl Strategy<Value = StatementEnd> {
    prop_oneof![
        option::of(value()).prop_map(StatementEnd::Returned),
        value().prop_map(StatementEnd::Threw),
        Just(StatementEnd::Open),
    ]
}

prop_compose! {
    fn answer()(
        site: u32,
        asked in vec(value(), 0..3),
        end in end(),
        filled in vec(value(), 0..2),
    ) -> Answer {
        Answer { site: SiteId(site), asked, end, filled }
    }
}

prop_compose! {
    fn lambda()(
        (body_class, written_in, interface) in any::<(u32, u32, u32)>(),
        (body_name, body_descriptor) in (text(), text()),
        kind in select(HandleKind::ALL),
        (method, erased, exact) in (text(), text(), text()),
    ) -> Lambda {
        Lambda {
            body_class: TypeId(body_class),
            body_name,
            body_descriptor,
            kind,
            written_in: TypeId(written_in),
            interface: TypeId(interface),
            method,
            erased,
            exact,
        }
    }
}

fn action() -> impl Strategy<Value = Action> {
    let class = || any::<u32>().prop_map(TypeId);
    prop_oneof![
        (any::<u32>(), vec(answer(), 0..3)).prop_map(|(site, answers)| {
            Action::Call(Call {
                site: SiteId(site),
                answers,
            })
        }),
        any::<u32>().prop_map(|site| Action::Read(SiteId(site))),
        any::<u32>().prop_map(|site| Action::Write(SiteId(site))),
        select(Operation::all().collect::<Vec<_>>()).prop_map(Action::Operate),
        lambda().prop_map(Action::Lambda),
        Just(Action::Guard),
        class().prop_map(|class| Action::Expect(Expectation::Whole(class))),
        class().prop_map(|class| Action::Expect(Expectation::Next(class))),
        Just(Action::Mark(Mark::Same)),
        Just(Action::Mark(Mark::Left)),
        Just(Action::Mark(Mark::OwnBranch)),
        class().prop_map(|class| Action::Loop(LoopVariable::Start(class))),
        class().prop_map(|class| Action::Loop(LoopVariable::Each(class))),
    ]
}

prop_compose! {
    fn statement()(
        action in action(),
        given in vec(value(), 0..4),
        end in end(),
        alias: Option<u64>,
        by_alias in vec((0usize..5, any::<u64>()), 0..2),
    ) -> Statement {
        let by = |(place, alias)| ByAlias { place, alias: ObjectId(alias) };
        Statement {
            action,
            given,
            end,
            alias: alias.map(ObjectId),
            by_alias: by_alias.into_iter().map(by).collect(),
        }
    }
}

prop_compose! {
    fn site()(
        id: u32,
        kind in select(&[
            SiteKind::Entry,
            SiteKind::Call,
            SiteKind::Callee,
            SiteKind::Field,
            SiteKind::Array,
        ][..]),
        class in text(),
        (method, descriptor) in (text(), text()),
        line: Option<u16>,
        source in option::of(text()),
        (owner, name, target) in (text(), text(), text()),
        is_static: bool,
    ) -> Site {
        Site {
            id: SiteId(id),
            kind,
            class,
            method,
            descriptor,
            line,
            source,
            target: Member { owner, name, descriptor: target },
            is_static,
        }
    }
}

prop_compose! {
    fn type_def()(
        id: u32,
        name in text(),
        loader: u32,
        constants in vec(text(), 0..3),
        fields in vec(text(), 0..3),
    ) -> TypeDef {
        let field = |name: String| Member { owner: name.clone(), name, descriptor: "I".to_owned() };
        let fields = fields.into_iter().map(field).collect();
        TypeDef { id: TypeId(id), name, loader, constants, fields }
    }
}

prop_compose! {
    fn tables()(
        types in vec(type_def(), 0..4),
        sites in vec(site(), 0..4),
        threads in vec((any::<u32>().prop_map(ThreadId), text()), 0..4),
        blobs in btree_map(any::<u32>().prop_map(BlobId), bytes(), 0..4),
    ) -> Tables {
        Tables { types: types.into_iter().collect(), sites: sites.into_iter().collect(), threads, blobs }
    }
}

prop_compose! {
    fn class()(
        name in text(),
        loader: u32,
        kind in select(&[ClassKind::Observed, ClassKind::Outline][..]),
        bytes in bytes(),
    ) -> SubjectClass {
        SubjectClass { name, loader, kind, bytes }
    }
}

prop_compose! {
    fn subject()(
        options in text(),
        loaders in vec((any::<u32>(), text(), option::of(text())), 0..4),
        class_path in vec(text(), 0..3),
        classes in vec(class(), 0..4),
    ) -> Subject {
        let loaders = loaders
            .into_iter()
            .map(|(number, class, name)| Loader { number, class, name })
            .collect();
        Subject { options, loaders, class_path, classes }
    }
}

prop_compose! {
    fn run()(
        number: u64,
        fresh in select(&[FreshState::Reset, FreshState::NewLoader][..]),
        multi_threaded: bool,
        mode in select(&[Mode::Strict, Mode::Skip, Mode::Plain][..]),
        lines in select(&[LineCheck::Compare, LineCheck::Ignore][..]),
        births in vec((any::<u32>().prop_map(ThreadId), any::<u64>()), 0..4),
    ) -> RunRequest {
        RunRequest { number, mode, fresh, multi_threaded, lines, births }
    }
}

fn to_worker() -> impl Strategy<Value = ToWorker> {
    prop_oneof![
        subject().prop_map(ToWorker::Subject),
        class().prop_map(ToWorker::Class),
        run().prop_map(ToWorker::Run),
        tables().prop_map(ToWorker::Tables),
        (any::<u32>(), bytes()).prop_map(|(id, bytes)| ToWorker::Blob {
            id: BlobId(id),
            bytes,
        }),
        vec(step(), 0..5).prop_map(ToWorker::Steps),
        vec(statement(), 0..5).prop_map(ToWorker::Statements),
        Just(ToWorker::EndOfSteps),
        Just(ToWorker::Stop),
        Just(ToWorker::Bye),
        Just(ToWorker::Forget),
    ]
}

prop_compose! {
    fn got()(
        kind in select(&EventKind::ALL[..]),
        site in site(),
        values in vec(text(), 0..4),
    ) -> Got {
        Got { kind, site, values }
    }
}

prop_compose! {
    fn divergence()(
        at: u64,
        expected in option::of(step()),
        got in option::of(got()),
        thread: u32,
        why in text(),
        path in vec(text(), 0..4),
    ) -> Box<Divergence> {
        Box::new(Divergence { at, expected, got, thread: ThreadId(thread), why, path })
    }
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        (any::<u64>(), any::<u32>())
            .prop_map(|(steps, open_calls)| Outcome::InSync { steps, open_calls }),
        divergence().prop_map(Outcome::Diverged),
        (any::<u64>(), vec(divergence(), 1..3), any::<bool>()).prop_map(
            |(steps, differences, complete)| Outcome::Differed {
                steps,
                differences: differences.into_iter().map(|it| *it).collect(),
                complete,
            }
        ),
        (any::<u64>(), text()).prop_map(|(at, trace)| Outcome::Threw { at, trace }),
        text().prop_map(Outcome::Unsupported),
        Just(Outcome::Stopped),
    ]
}

fn from_worker() -> impl Strategy<Value = FromWorker> {
    let coverage = (text(), vec(any::<(u16, u64)>(), 0..4))
        .prop_map(|(class, lines)| ClassCoverage { class, lines });
    prop_oneof![
        (any::<u16>(), text(), any::<u32>())
            .prop_map(|(feature, version, pid)| FromWorker::ready(feature, version, pid)),
        (any::<u64>(), outcome())
            .prop_map(|(number, outcome)| FromWorker::Done { number, outcome }),
        text().prop_map(FromWorker::Fault),
        vec(coverage, 0..4).prop_map(FromWorker::Coverage),
        Just(FromWorker::TakenIn),
    ]
}

/// One after the other through a stream, and byte by byte through an inbox.
fn check<M: Message + PartialEq + std::fmt::Debug>(messages: &[M]) -> Result<(), TestCaseError> {
    let mut stream = Vec::new();
    for message in messages {
        message.write_to(&mut stream).unwrap();
    }
    let mut rest = stream.as_slice();
    for message in messages {
        let read = M::read_from(&mut rest).unwrap();
        prop_assert_eq!(read.as_ref(), Some(message));
    }
    prop_assert_eq!(M::read_from(&mut rest).unwrap(), None);

    let mut inbox = Inbox::default();
    let mut taken = Vec::new();
    for byte in stream {
        inbox.feed(&[byte]);
        taken.extend(inbox.take::<M>().unwrap());
    }
    prop_assert_eq!(taken.as_slice(), messages);
    prop_assert!(inbox.is_empty());
    Ok(())
}

proptest! {
    #[test]
    fn messages_to_a_worker_survive(messages in vec(to_worker(), 0..4)) {
        check(&messages)?;
    }

    #[test]
    fn messages_from_a_worker_survive(messages in vec(from_worker(), 0..4)) {
        check(&messages)?;
    }

    #[test]
    fn no_bytes_make_an_end_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = ToWorker::decode(&bytes);
        let _ = FromWorker::decode(&bytes);
        let _ = ToWorker::read_from(bytes.as_slice());
        let mut inbox = Inbox::default();
        inbox.feed(&bytes);
        let _ = inbox.take::<FromWorker>();
    }

    #[test]
    fn a_damaged_message_is_refused_or_another_one(
        message in to_worker(),
        at: prop::sample::Index,
        byte: u8,
    ) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = ToWorker::decode(&bytes);
        let _ = ToWorker::decode(&bytes[..at]);
    }

    #[test]
    fn a_message_that_is_cut_off_is_no_message(message in from_worker(), at: prop::sample::Index) {
        let mut bytes = Vec::new();
        message.frame(&mut bytes).unwrap();
        let read = FromWorker::read_from(&bytes[..at.index(bytes.len())]);
        prop_assert!(matches!(read, Ok(None) | Err(WireError::CutOff)));
    }

    #[test]
    fn packed_steps_and_statements_are_messages(
        steps in vec(step(), 0..40),
        statements in vec(statement(), 0..40),
    ) {
        let mut packer = Packer::default();
        let mut stream = Vec::new();
        for step in &steps {
            packer.step(step, &mut stream).unwrap();
        }
        for statement in &statements {
            packer.statement(statement, &mut stream).unwrap();
        }
        packer.flush(&mut stream).unwrap();
        let (mut read_steps, mut read_statements) = (Vec::new(), Vec::new());
        let mut rest = stream.as_slice();
        while let Some(message) = ToWorker::read_from(&mut rest).unwrap() {
            match message {
                ToWorker::Steps(steps) => read_steps.extend(steps),
                ToWorker::Statements(statements) => read_statements.extend(statements),
                other => panic!("{other:?}"),
            }
        }
        prop_assert_eq!(read_steps, steps);
        prop_assert_eq!(read_statements, statements);
    }
}

#[test]
fn another_version_is_refused_by_name_whatever_follows() {
    for rest in [&[][..], &[9; 30]] {
        let mut greeting = vec![1, 7, 1];
        greeting.extend_from_slice(rest);
        let error = FromWorker::decode(&greeting).unwrap_err();
        assert!(
            matches!(
                error,
                WireError::Version {
                    found: 263,
                    supported: VERSION
                }
            ),
            "{error}"
        );
    }
}

#[test]
fn a_length_over_the_limit_is_refused_before_anything_is_read() {
    let head = u32::try_from(MAX_FRAME + 1).unwrap().to_le_bytes();
    let error = ToWorker::read_from(head.as_slice()).unwrap_err();
    assert!(matches!(error, WireError::TooLarge { .. }), "{error}");
    let blob = ToWorker::Blob {
        id: BlobId(1),
        bytes: vec![0; MAX_FRAME],
    };
    let mut stream = vec![7];
    let error = blob.frame(&mut stream).unwrap_err();
    assert!(matches!(error, WireError::TooLarge { .. }), "{error}");
    assert_eq!(stream, [7], "nothing of it is left behind");
}

#[test]
fn bytes_after_a_message_are_refused() {
    assert!(ToWorker::decode(&[8]).is_ok());
    assert!(ToWorker::decode(&[8, 0]).is_err());
}

#[test]
fn large_subjects_and_tables_are_told_in_parts() {
    let class = |number: usize| SubjectClass {
        name: format!("C{number}"),
        loader: 1,
        kind: ClassKind::Observed,
        bytes: vec![0; 3 << 20],
    };
    let subject = Subject {
        options: "out=x".to_owned(),
        loaders: Vec::new(),
        class_path: Vec::new(),
        classes: (0..40).map(class).collect(),
    };
    let mut told = Vec::new();
    for message in subject.clone().into_messages() {
        message.frame(&mut Vec::new()).unwrap();
        match message {
            ToWorker::Subject(first) => told.extend(first.classes),
            ToWorker::Class(class) => told.push(class),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(told, subject.classes);

    let tables = Tables {
        types: (0..20_000)
            .map(|id| TypeDef {
                id: TypeId(id),
                name: format!("T{id}"),
                loader: 0,
                constants: Vec::new(),
                fields: Vec::new(),
            })
            .collect(),
        blobs: BTreeMap::from([(BlobId(1), vec![1]), (BlobId(2), vec![2])]),
        ..Tables::default()
    };
    let mut told = Tables::default();
    for message in table_messages(&tables) {
        match message {
            ToWorker::Tables(part) => {
                part.types
                    .into_iter()
                    .for_each(|class| told.types.insert(class));
            }
            ToWorker::Blob { id, bytes } => {
                told.blobs.insert(id, bytes);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(told, tables);
}
