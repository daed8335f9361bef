//! Properties of recordings: what goes in comes out, and no input harms the reader.

mod support;

use culprit_model::{Event, ThreadId};
use culprit_trace::{Error, Recording, Step};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use support::file::{put_together, take_apart};
use support::story::{record, story};

/// The same cases in every run.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(20),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn read(bytes: &[u8]) -> Result<Recording, Error> {
    Recording::from_bytes("memory.culprit", bytes.to_vec())
}

/// The events up to the end or the first error.
fn readable(recording: &Recording) -> Vec<Event> {
    recording.events().map_while(Result::ok).collect()
}

fn of_thread(events: &[Event], thread: ThreadId) -> Vec<(u64, &[culprit_model::Value])> {
    events
        .iter()
        .filter(|e| e.thread == thread)
        .map(|e| (e.ordinal, e.values.as_slice()))
        .collect()
}

/// Uses every part of the reader; only the absence of panics and of endless work counts.
fn exercise(bytes: Vec<u8>) {
    let Ok(recording) = Recording::from_bytes("memory.culprit", bytes) else {
        return;
    };
    recording.events().for_each(drop);
    recording.heads().for_each(drop);
    for class in recording.classes() {
        let _ = recording.class_bytes(class);
    }
    for id in 0..4 {
        let _ = recording.blob(culprit_model::BlobId(id));
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn events_of_several_threads_come_back_in_global_order(story in story(4, 60)) {
        let (bytes, expected) = record(&story);
        let recording = read(&bytes).unwrap();
        let found: Vec<Event> = recording.events().collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(recording.event_count(), expected.len() as u64);
        let heads: Vec<_> = recording.heads().collect::<Result<Vec<_>, _>>().unwrap();
        prop_assert_eq!(heads.len(), expected.len());
        for (head, event) in heads.iter().zip(&expected) {
            prop_assert_eq!(head.kind, event.kind);
            prop_assert_eq!(head.depth, event.depth);
        }
    }

    #[test]
    fn a_range_or_a_thread_is_a_part_of_the_whole(story in story(3, 40), from in 0..40u64, length in 0..40u64) {
        let (bytes, expected) = record(&story);
        let recording = read(&bytes).unwrap();
        let part: Vec<Event> = recording.events_in(from..from + length).map(Result::unwrap).collect();
        let start = expected.len().min(from as usize);
        let end = expected.len().min((from + length) as usize);
        prop_assert_eq!(&part[..], &expected[start..end]);
        let thread: Vec<Event> = recording.thread_events(ThreadId(1)).map(Result::unwrap).collect();
        let wanted: Vec<Event> = expected.iter().filter(|e| e.thread == ThreadId(1)).cloned().collect();
        prop_assert_eq!(thread, wanted);
    }

    #[test]
    fn a_cut_file_gives_each_thread_a_prefix_of_its_events(story in story(3, 40), cut in any::<prop::sample::Index>()) {
        let (mut bytes, expected) = record(&story);
        let cut = cut.index(bytes.len() + 1);
        let whole = support::file::borders(&bytes).contains(&cut);
        bytes.truncate(cut);
        match read(&bytes) {
            Err(error) => prop_assert!(matches!(error, Error::Empty { .. }), "{}", error),
            Ok(recording) => {
                prop_assert_eq!(recording.is_truncated(), !whole);
                prop_assert!(recording.end().is_none());
                let found: Vec<Event> = recording.events().collect::<Result<_, _>>().unwrap();
                for thread in 0..3 {
                    let found = of_thread(&found, ThreadId(thread));
                    let expected = of_thread(&expected, ThreadId(thread));
                    prop_assert_eq!(&found[..], &expected[..found.len()]);
                }
            }
        }
    }

    #[test]
    fn a_cut_file_of_one_thread_gives_a_prefix_of_all_events(story in story(1, 40), cut in any::<prop::sample::Index>()) {
        let (mut bytes, expected) = record(&story);
        bytes.truncate(cut.index(bytes.len() + 1));
        if let Ok(recording) = read(&bytes) {
            let found = readable(&recording);
            prop_assert_eq!(&found[..], &expected[..found.len()]);
        }
    }

    #[test]
    fn flipped_bits_give_an_error_or_a_clean_prefix(
        story in story(1, 40),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8u32), 1..4),
    ) {
        let (mut bytes, expected) = record(&story);
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        if let Ok(recording) = read(&bytes) {
            let found = readable(&recording);
            prop_assert_eq!(&found[..], &expected[..found.len()]);
        }
        exercise(bytes);
    }

    /// Checksums made right again, so that the damage reaches the decoders.
    #[test]
    fn no_content_makes_the_reader_panic(
        story in story(2, 30),
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6),
    ) {
        let mut blocks = take_apart(&record(&story).0);
        for (block, at, byte, how) in edits {
            let block = block.index(blocks.len());
            let block = &mut blocks[block];
            let bytes = if how == 3 && !block.head.is_empty() { &mut block.head } else { &mut block.body };
            if bytes.is_empty() {
                continue;
            }
            let at = at.index(bytes.len());
            match how {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, byte),
                _ => bytes[at] = byte,
            }
        }
        exercise(put_together(&blocks));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(bytes.clone());
        exercise([b"CULPRIT\x1a\x01\x00".as_slice(), &bytes].concat());
    }
}

proptest! {
    #![proptest_config(config(32))]

    #[test]
    fn gaps_are_reported_where_they_are(story in story(2, 30)) {
        let (bytes, _) = record(&story);
        let recording = read(&bytes).unwrap();
        let mut scan = recording.scan();
        let mut found = Vec::new();
        while let Some(step) = scan.step() {
            if let Step::Gap(gap) = step.unwrap() {
                found.push((gap.before.0, gap.thread.0, gap.count));
            }
        }
        let mut wanted = Vec::new();
        let mut events = 0;
        for (thread, happening) in &story {
            match happening {
                support::story::Happening::Event(..) => events += 1,
                support::story::Happening::Gap(_, count) => wanted.push((events, *thread, *count)),
                _ => {}
            }
        }
        prop_assert_eq!(found, wanted);
    }
}
