//! What a worker is told of a recording.

mod support;

use culprit_jvm::{JavaVersion, Jdk, JobPiece, JobSource};
use culprit_model::options::WeaveOptions;
use culprit_model::{BlobId, Reference, Value};
use culprit_program::matching_jdk;
use culprit_replay::{Lifted, lift, subject};
use culprit_trace::BlobKind;
use culprit_wire::{ClassKind, LONG_VALUES};
use support::{CLASS_FILE, Made, ask, call, end};

#[test]
fn a_long_value_is_told_once_before_the_first_step_that_needs_it() {
    let blob = |id| Value::Reference(Reference::StringBlob(BlobId(id)));
    let mut made = Made::with(|main| {
        call(main);
        ask(main, blob(2), blob(1));
        ask(main, blob(1), blob(2));
        end(main);
    });
    made.blobs = vec![
        (1, BlobKind::Text, vec![65, 0]),
        (2, BlobKind::Text, vec![66, 0]),
        (3, BlobKind::Text, vec![67, 0]),
    ];
    let recording = made.recording();
    let lifted = lift(&recording);
    for _ in 0..2 {
        let pieces = told(&lifted);
        let expect = [
            "@0",
            "@1",
            "@2",
            "blob 2 of 2",
            "@3",
            "blob 1 of 2",
            "@4",
            "@5",
            "@6",
            "@7",
        ];
        assert_eq!(pieces, expect);
    }
}

#[test]
fn a_long_value_is_told_again_after_the_worker_was_told_to_forget() {
    let blob = |id| Value::Reference(Reference::StringBlob(BlobId(id)));
    let mut made = Made::with(|main| {
        call(main);
        ask(main, blob(1), blob(2));
        ask(main, blob(1), blob(1));
        end(main);
    });
    made.blobs = vec![
        (1, BlobKind::Text, vec![65, 0]),
        (2, BlobKind::Text, vec![0; LONG_VALUES]),
    ];
    let recording = made.recording();
    let expect = [
        "@0",
        "@1",
        "@2",
        "blob 1 of 2",
        "@3",
        "blob 2 of 16777216",
        "@4",
        "forget",
        "blob 1 of 2",
        "@5",
        "@6",
        "@7",
    ];
    assert_eq!(told(&lift(&recording)), expect);
}

/// What a worker is told, a word each.
fn told(lifted: &Lifted<'_>) -> Vec<String> {
    let pieces = lifted.pieces().map(|piece| match piece.unwrap() {
        JobPiece::Step(step) => step.origin.unwrap().to_string(),
        JobPiece::Blob(id, bytes) => format!("blob {} of {}", id.0, bytes.len()),
        JobPiece::Statement(_) => "statement".to_owned(),
        JobPiece::Tables(_) => "tables".to_owned(),
        JobPiece::Forget => "forget".to_owned(),
    });
    pieces.collect()
}

#[test]
fn the_program_is_woven_as_it_was_whatever_chose_its_classes() {
    let mut made = Made::sound();
    made.start.options = "out=/r,observe=app,arrays=accesses,last=9,sample=3".to_owned();
    let recording = made.recording();
    let subject = subject(&recording).unwrap();
    let options: WeaveOptions = subject.options.parse().unwrap();
    let expect: WeaveOptions = "observe=a.A,arrays=accesses".parse().unwrap();
    assert_eq!(options, expect);
    let [class] = subject.classes.as_slice() else {
        panic!("{:?}", subject.classes)
    };
    assert_eq!((class.name.as_str(), class.loader), ("a/A", 1));
    assert_eq!(
        (class.kind, class.bytes.as_slice()),
        (ClassKind::Observed, CLASS_FILE)
    );
}

#[test]
fn the_jdk_is_of_the_same_feature_version_and_of_the_same_version_if_possible() {
    let recording = Made::sound().recording();
    let jdk = |home: &str, version: &str| Jdk {
        home: home.into(),
        version: JavaVersion::parse(version).unwrap(),
    };
    let chosen = |jdks: &[Jdk]| {
        let jdk = matching_jdk(&recording, jdks)?;
        Some(jdk.home.display().to_string())
    };
    let (other, near, same) = (jdk("o", "17.0.2"), jdk("n", "21.0.20"), jdk("s", "21.0.2"));
    assert_eq!(chosen(std::slice::from_ref(&other)), None);
    assert_eq!(chosen(&[other.clone(), near.clone()]), Some("n".to_owned()));
    assert_eq!(chosen(&[other, near, same]), Some("s".to_owned()));
}
