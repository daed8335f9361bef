//! The cost of recording on the thread that compresses, and on disk:
//! `cargo bench -p culprit-trace`. Prints one table; every row is the median of five runs.
#![allow(clippy::print_stdout, reason = "the table is the result")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use culprit_trace::{EventsHead, RecordBuffer, Recording, Writer};
use support::{PROGRAMS, Player, Program, sites, start, types};

const EVENTS: u64 = 2_000_000;
const RUNS: usize = 5;

fn main() {
    println!("program    buffer   raw B/event  disk B/event  write ns  heads ns  events ns");
    for program in PROGRAMS {
        for size in [16 << 10, 64 << 10, 256 << 10] {
            row(program, size);
        }
    }
}

fn row(program: Program, size: usize) {
    let mut player = Player::new(program, 1);
    let mut buffers = Vec::new();
    let (mut events, mut raw) = (0u64, 0);
    while events < EVENTS {
        let mut buffer = RecordBuffer::new();
        while buffer.bytes().len() < size {
            player.play(&mut buffer);
        }
        events += u64::from(buffer.events());
        raw += buffer.bytes().len();
        buffers.push(buffer);
    }
    let mut file = Vec::new();
    let write = median(events, || {
        let mut writer = Writer::new(Vec::with_capacity(raw)).expect("a writer");
        writer.start(&start()).expect("room");
        writer.types(&types()).expect("room");
        writer.sites(&sites()).expect("room");
        for buffer in &buffers {
            let head = EventsHead {
                ordinal: writer.events_written(),
                count: buffer.events(),
                ..EventsHead::default()
            };
            writer.events(head, buffer.bytes()).expect("room");
        }
        file = writer.into_store().expect("room");
    });
    let disk = file.len();
    let recording = Recording::from_bytes("memory", file).expect("a recording");
    let heads = median(events, || {
        assert_eq!(recording.heads().count() as u64, events);
    });
    let decoded = median(events, || {
        assert_eq!(recording.events().count() as u64, events);
    });
    println!(
        "{:<9} {:>4} KB  {:>11.1}  {:>12.2}  {write:>8.1}  {heads:>8.1}  {decoded:>9.1}",
        format!("{program:?}"),
        size >> 10,
        raw as f64 / events as f64,
        disk as f64 / events as f64,
    );
}

fn median(events: u64, mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_nanos() as f64 / events as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}
