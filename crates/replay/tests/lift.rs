//! Recordings become scenarios: as a stream, and as a whole.

mod support;

use culprit_model::value::Contents;
use culprit_model::{Actor, BlobId, ObjectId, Reference, Scenario, Step, TypeId, Value};
use culprit_replay::{Blobs, lift};
use culprit_trace::BlobKind;
use support::{Made, ask, call, end, text};

fn long() -> Made {
    let mut made = Made::with(|main| {
        call(main);
        let string = Value::Reference(Reference::StringBlob(BlobId(1)));
        let array = Value::Reference(Reference::Array {
            id: ObjectId(9),
            class: TypeId(3),
            length: 2,
            contents: Contents::Blob(BlobId(2)),
        });
        ask(main, text("x"), string);
        ask(main, text("x"), array);
        end(main);
    });
    made.blobs = vec![
        (
            1,
            BlobKind::Text,
            "long".encode_utf16().flat_map(u16::to_le_bytes).collect(),
        ),
        (2, BlobKind::Elements, vec![1, 0, 0, 0, 2, 0, 0, 0]),
        (3, BlobKind::Elements, vec![0; 4]),
    ];
    made
}

#[test]
fn a_scenario_has_the_steps_the_tables_and_the_blobs_that_it_needs() {
    let recording = long().recording();
    let scenario = lift(&recording).scenario().unwrap();
    let expect = "\
scenario 1
type 1 a/A loader 1
type 3 int[] loader 1
thread 1 \"thread 1\"
site 1 entry a/A.f(Ljava/lang/Object;)V at A.java:3
site 2 call static b/B.g(Ljava/lang/Object;)Ljava/lang/Object; in a/A.f(Ljava/lang/Object;)V at A.java:3
blob 1 \"long\"
blob 2 hex 0100000002000000

0 => A.f@1(\"x\") on #1:A
1   -> B.g@2(\"y\")
2   <- B.g@2 = \"z\"
3   -> B.g@2(\"x\")
4   <- B.g@2 = blob 1
5   -> B.g@2(\"x\")
6   <- B.g@2 = #9:int[]{2 in blob 2}
7 <= A.f@1
";
    assert_eq!(scenario.to_string(), expect);
    assert_eq!(expect.parse::<Scenario>().unwrap(), scenario);
}

#[test]
fn steps_are_a_stream_and_blobs_are_had_on_demand() {
    let recording = long().recording();
    let lifted = lift(&recording);
    let steps: Vec<Step> = lifted.steps().map(|step| step.unwrap()).collect();
    assert_eq!(steps, lifted.scenario().unwrap().steps);
    assert!(lifted.tables.blobs.is_empty());
    assert_eq!(lifted.blob(BlobId(3)).unwrap(), Some(vec![0; 4]));
    assert_eq!(lifted.blob(BlobId(4)).unwrap(), None);
    let whole = lifted.scenario().unwrap().tables;
    assert_eq!(
        whole.blob(BlobId(2)).unwrap(),
        lifted.blob(BlobId(2)).unwrap()
    );
    let parts: Vec<Actor> = lifted
        .steps_in(3..5)
        .map(|step| step.unwrap().part())
        .collect();
    assert_eq!(parts, [Actor::Expect, Actor::Answer]);
}

#[test]
fn every_thread_that_has_events_is_in_the_table() {
    let mut made = Made::sound();
    made.threads.push(made.threads[0].clone());
    let recording = made.recording();
    let threads = lift(&recording).tables.threads;
    let names: Vec<&str> = threads.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["thread 1", "thread 2"]);
}

#[test]
fn damage_ends_the_stream_with_an_error() {
    let mut made = Made::sound();
    made.threads[0].event(
        culprit_model::EventKind::IncomingCall,
        culprit_model::SiteId(77),
        &[],
    );
    let recording = made.recording();
    let lifted = lift(&recording);
    let found: Vec<bool> = lifted.steps().map(|step| step.is_ok()).collect();
    assert_eq!(found, [true, true, true, true, false]);
    assert!(lifted.scenario().is_err());
}
