//! Recordings: opened, their metadata looked at, their events walked, and the rest read on demand.

use culprit_model::BlobId;
use culprit_trace::{Recording, ScanStep};

use crate::blocks;

/// Events that are looked at: those behind them are no different.
const EVENTS: usize = 10_000;

pub(crate) fn read(bytes: &[u8]) {
    if bytes.starts_with(&blocks::HEADER) {
        return file(bytes.to_vec());
    }
    let mut whole = blocks::recording(&blocks::parts(bytes));
    file(whole.clone());
    // As a killed JVM leaves it.
    whole.truncate(whole.len() - whole.len() / 7);
    file(whole);
}

fn file(bytes: Vec<u8>) {
    let Ok(recording) = Recording::from_bytes("fuzzed", bytes) else {
        return;
    };
    let heads = recording.heads().take(EVENTS);
    let heads: Vec<_> = heads.map_while(Result::ok).collect();
    let mut scan = recording.scan();
    let mut seen = 0;
    while let Some(Ok(step)) = scan.step() {
        if let ScanStep::Event(head) = step {
            assert_eq!(heads.get(seen), Some(&head), "two walks differ");
            seen += 1;
            if seen == EVENTS || scan.event(&head).is_err() {
                break;
            }
        }
    }
    for event in recording.events().take(EVENTS).map_while(Result::ok) {
        drop(event.to_owned());
    }
    for class in recording.classes().iter().take(100) {
        drop(recording.class_bytes(class));
    }
    for id in 0..16 {
        let blob = recording.blob(BlobId(id));
        let has = recording.has_blob(BlobId(id));
        assert!(blob.is_err() || blob.is_ok_and(|blob| blob.is_some() == has));
    }
    drop(culprit_replay::check(&recording, None));
}
