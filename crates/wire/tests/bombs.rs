//! Messages that a worker could send to fill the memory of Culprit. Each is a whole frame of items as small as
//! they can be.

use culprit_wire::{FromWorker, MAX_FRAME, Message, WireError};

const DONE: u8 = 2;
const COVERAGE: u8 = 4;
const DIVERGED: u8 = 2;
const DIFFERED: u8 = 5;

/// A frame that begins like this and goes on with a list of items.
fn bomb(head: &[u8], item: &[u8]) -> Vec<u8> {
    let mut bytes = head.to_vec();
    let mut count = (MAX_FRAME - 1024) / item.len();
    let items = item.repeat(count);
    while count >= 0x80 {
        bytes.push(count as u8 | 0x80);
        count >>= 7;
    }
    bytes.push(count as u8);
    bytes.extend(items);
    bytes
}

#[track_caller]
fn refused(bytes: &[u8]) {
    let error = FromWorker::decode(bytes).unwrap_err();
    let WireError::Malformed(expected) = error else {
        panic!("{error}");
    };
    assert_eq!(expected, "content in proportion to its length");
}

#[test]
fn coverage_of_classes_without_names_is_refused() {
    refused(&bomb(&[COVERAGE], &[0, 0]));
}

#[test]
fn differences_without_content_are_refused() {
    refused(&bomb(&[DONE, 0, DIFFERED, 0], &[0, 0, 0, 0, 0, 0]));
}

#[test]
fn a_path_of_calls_without_names_is_refused() {
    refused(&bomb(&[DONE, 0, DIVERGED, 0, 0, 0, 0, 0], &[0]));
}

#[test]
fn values_of_a_step_beyond_all_measure_are_refused() {
    // At 0; a step is expected: its kind, thread, site, depth, no origin, values.
    refused(&bomb(&[DONE, 0, DIVERGED, 0, 1, 1, 0, 0, 0, 0], &[0]));
}

#[test]
fn a_trace_as_long_as_a_frame_is_read() {
    let length = MAX_FRAME - 1024;
    let bytes = bomb(&[DONE, 0, 6, 0], b"x");
    let Ok(FromWorker::Done { outcome, .. }) = FromWorker::decode(&bytes) else {
        panic!("a trace of {length} bytes");
    };
    assert!(matches!(
        outcome,
        culprit_model::Outcome::Threw { trace, .. } if trace.len() == length
    ));
}
