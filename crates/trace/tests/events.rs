//! Properties of recordings: what goes in comes out, and no input harms the reader.

mod support;

use culprit_model::{Event, ThreadId};
use culprit_trace::{Error, Recording, ScanStep, Writer, keep_last};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use support::file::{put_together, take_apart};
use support::story::{Happening, Story, record, story};

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

/// A story whose gaps are small enough to add up.
fn with_small_gaps(mut story: Story) -> Story {
    for (_, happening) in &mut story {
        if let Happening::Gap(_, count) = happening {
            *count %= 1000;
        }
    }
    story
}

/// The parts of an event that do not depend on dropped ones.
fn lasting(event: &Event) -> Event {
    Event {
        index: culprit_model::EventIndex(0),
        ..event.clone()
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn the_last_events_are_kept_as_they_were(story in story(3, 60), last in 0..40u64) {
        let (bytes, expected) = record(&with_small_gaps(story));
        let mut writer = Writer::new(Vec::new()).unwrap();
        keep_last(&read(&bytes).unwrap(), last, &mut writer).unwrap();
        let kept = read(&writer.into_store().unwrap()).unwrap();
        let found: Vec<Event> = kept.events().collect::<Result<_, _>>().unwrap();
        let wanted = &expected[expected.len().saturating_sub(last as usize)..];
        let before = found.len() - wanted.len();
        let after: Vec<Event> = found[before..].iter().map(lasting).collect();
        prop_assert_eq!(after, wanted.iter().map(lasting).collect::<Vec<_>>());
        // What came before is open calls and constructions.
        for event in &found[..before] {
            let was = expected.iter().find(|e| (e.thread, e.ordinal) == (event.thread, event.ordinal));
            prop_assert_eq!(was.map(|e| (e.kind, &e.values)), Some((event.kind, &event.values)));
        }
        let forgotten: u64 = kept.losses().counts.iter().map(|(_, count)| count).sum();
        prop_assert_eq!(forgotten, (expected.len() - found.len()) as u64);
    }

    #[test]
    fn a_block_that_is_missing_or_out_of_place_is_damage(story in story(2, 60), place in any::<prop::sample::Index>(), swap in any::<bool>()) {
        let (bytes, _) = record(&story);
        let borders = support::file::borders(&bytes);
        let blocks: Vec<&[u8]> = borders.windows(2).map(|b| &bytes[b[0]..b[1]]).collect();
        // Thread, place of the first event, and number of events of each events block.
        let word = |block: &[u8], at: usize| u32::from_le_bytes(block[at..at + 4].try_into().unwrap());
        let head = |block: &[u8]| (block[0] == 8).then(|| (word(block, 14), block[26..34].to_vec(), word(block, 34)));
        let heads: Vec<_> = blocks.iter().map(|block| head(block)).collect();
        let next = |at: usize| {
            let (thread, _, count) = heads[at].as_ref()?;
            let later = (at + 1..blocks.len()).find(|b| heads[*b].as_ref().is_some_and(|h| h.0 == *thread))?;
            (*count > 0 && heads[at].as_ref()?.1 != heads[later].as_ref()?.1).then_some((at, later))
        };
        let candidates: Vec<_> = (0..blocks.len()).filter_map(next).collect();
        prop_assume!(!candidates.is_empty());
        let (first, second) = candidates[place.index(candidates.len())];
        let mut order = blocks.clone();
        if swap {
            order.swap(first, second);
        } else {
            order.remove(first);
        }
        let mut damaged = bytes[..borders[0]].to_vec();
        order.iter().for_each(|block| damaged.extend_from_slice(block));
        let wrong: usize = if swap {
            borders[first]
        } else {
            borders[second] - blocks[first].len()
        };
        let recording = read(&damaged).unwrap();
        match recording.heads().find_map(Result::err) {
            Some(Error::Damaged { offset, .. }) => prop_assert_eq!(offset, wrong as u64),
            other => prop_assert!(false, "{:?}", other),
        }
    }

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
    fn a_range_is_a_part_of_the_whole(story in story(3, 40), from in 0..40u64, length in 0..40u64) {
        let (bytes, expected) = record(&story);
        let recording = read(&bytes).unwrap();
        let part: Vec<Event> = recording.events_in(from..from + length).map(Result::unwrap).collect();
        let start = expected.len().min(from as usize);
        let end = expected.len().min((from + length) as usize);
        prop_assert_eq!(&part[..], &expected[start..end]);
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
            if let ScanStep::Gap(gap) = step.unwrap() {
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
