//! A large recording is read in bounded memory. Alone in its test binary, since it looks at the
//! memory of the whole process.

mod support;

use culprit_model::{ThreadId, Turn};
use culprit_trace::{EventsHead, RecordBuffer, Recording, Writer};
use support::{PROGRAMS, Player, sites, start, types};

/// The optimised build reads as many as the promise says.
const EVENTS: u64 = if cfg!(debug_assertions) {
    1_000_000
} else {
    10_000_000
};
const LIMIT_KB: u64 = 200 << 10;

/// Peak resident memory of this process.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn millions_of_events_are_read_in_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.culprit");
    let mut writer = Writer::create(&path).unwrap();
    writer.start(&start()).unwrap();
    writer.types(&types()).unwrap();
    writer.sites(&sites()).unwrap();
    let mut threads: Vec<_> = PROGRAMS.map(|p| (Player::new(p, 1), 0)).into();
    let mut turn = Turn(0);
    let mut buffer = RecordBuffer::new();
    while writer.events_written() < EVENTS {
        for (thread, (player, ordinal)) in threads.iter_mut().enumerate() {
            buffer.clear();
            let mut head = EventsHead {
                thread: ThreadId(thread as u32),
                turn,
                ordinal: *ordinal,
                count: 0,
            };
            while buffer.bytes().len() < 128 << 10 {
                player.play(&mut buffer);
                // Every thread is in turn 1 while thread 0 is in turn 0, and so on: they mix.
                if buffer.events() % 50 == 0 {
                    turn.0 += 1;
                    buffer.turn(turn);
                }
            }
            head.count = buffer.events();
            *ordinal += u64::from(head.count);
            writer.events(head, buffer.bytes()).unwrap();
        }
    }
    let (events, bytes) = (writer.events_written(), writer.bytes_written());
    drop(writer);
    let recording = Recording::open(&path).unwrap();
    let mut found = 0;
    for event in recording.events() {
        assert_eq!(event.unwrap().index.0, found);
        found += 1;
    }
    assert_eq!(found, events);
    let peak = peak_kb();
    assert!(
        peak < LIMIT_KB,
        "{events} events in {bytes} bytes took {peak} KB"
    );
}
