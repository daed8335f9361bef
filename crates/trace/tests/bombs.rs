//! Small recordings that decompress to much, and decode to more: reading them is refused, or takes little
//! memory. One test, since the memory of a process is measured.

use std::fs;

use culprit_trace::{Error, Recording};

/// Bytes of payload in a block: what a small file may decompress to.
const PAYLOAD: usize = 15 << 20;

/// The same in a file with so much noise that it may decompress to more.
const LARGE_PAYLOAD: usize = 63 << 20;
const NOISE: usize = 300 << 10;

/// Bytes of records in a block of events, below their limit.
const RECORDS: usize = 15 << 20;

/// The memory that reading any of them may take. The parts: the block itself, twice what is allowed for decoded
/// items (vectors grow by copying), and the records that a walk keeps.
const MOST: u64 = 400 << 20;

/// Bytes of a block of events before its records.
const EVENTS_HEAD: usize = 24;

/// The fields of START up to the list of the command's words.
const START_TO_COMMAND: [u8; 5] = [1, 0, 0, 0, 0];

const START: u8 = 1;
const LOADERS: u8 = 2;
const TYPES: u8 = 3;
const SITES: u8 = 4;
const THREADS: u8 = 5;
const CLASS: u8 = 6;
const BLOBS: u8 = 7;
const EVENTS: u8 = 8;
const FAILURE: u8 = 9;
const LOSSES: u8 = 10;
const CARRY: u8 = 12;

#[test]
fn bombs_of_every_block_kind_are_refused_or_cost_little() {
    let mut refused = Vec::new();
    for (name, made) in BOMBS {
        let bytes = made();
        let size = bytes.len();
        assert!(
            size < NOISE + (20 << 10),
            "{name}: a bomb of {size} bytes is none"
        );
        forget_peak();
        let result = read(bytes);
        let peak = peak();
        assert!(peak < MOST, "{name}: {size} bytes took {} MB", peak >> 20);
        match result {
            Err(Error::Damaged { expected, .. }) => {
                let reason = "content in proportion to the size of the file";
                assert_eq!(expected, reason, "{name}");
                refused.push(name);
            }
            result => assert!(result.is_ok(), "{name}: {result:?}"),
        }
    }
    // These decode to gigabytes; what is not here can be read without keeping it.
    let expect = [
        "arguments in START",
        "notes in START",
        "loaders",
        "types",
        "constants of an enum",
        "fields of a type",
        "sites",
        "threads",
        "many large classes",
        "bytes of an array in EVENTS",
        "references of an array in EVENTS",
        "objects held in EVENTS",
        "bytes of an array in CARRY",
        "exceptions of a failure",
        "losses",
        "methods not woven",
        "constants of an enum, in a larger file",
        "types, in a larger file",
    ];
    assert_eq!(refused, expect);
}

/// Reads all that can be read.
fn read(bytes: Vec<u8>) -> Result<u64, Error> {
    let recording = Recording::from_bytes("bomb", bytes)?;
    let mut values = 0;
    for event in recording.events() {
        values += event?.values.len() as u64;
    }
    for class in recording.classes() {
        recording.class_bytes(class).ok();
    }
    Ok(values)
}

/// A name and what makes the bomb: no two are in memory at a time.
type Bomb = (&'static str, fn() -> Vec<u8>);

const BOMBS: [Bomb; 21] = [
    ("arguments in START", || {
        file(&[(START, long_list(&START_TO_COMMAND, &[0]))])
    }),
    ("notes in START", || {
        let before = [&START_TO_COMMAND[..], &[0; 8]].concat();
        file(&[(START, long_list(&before, &[0, 0]))])
    }),
    ("loaders", || with_start(&[(LOADERS, table(&[5, 0, 0]))])),
    ("types", || with_start(&[(TYPES, table(&[5, 0, 0, 0]))])),
    ("constants of an enum", || {
        with_start(&[(TYPES, entry(&long_list(&[1, 0, 0], &[0])))])
    }),
    ("fields of a type", || {
        with_start(&[(TYPES, entry(&long_list(&[1, 0, 0, 0], &[0, 0, 0])))])
    }),
    ("sites", || {
        with_start(&[(SITES, table(&[5, 1, 0, 0, 0, 0, 0, 0, 0, 0]))])
    }),
    ("threads", || with_start(&[(THREADS, table(&[5, 0, 0, 0]))])),
    ("many large classes", || {
        with_start(&[(CLASS, large_class()), (CLASS, large_class())])
    }),
    ("blobs", || with_start(&[(BLOBS, table(&[1, 1, 0]))])),
    ("bytes of an array in EVENTS", || {
        with_types(EVENTS, &array(1, 14 << 20))
    }),
    ("references of an array in EVENTS", || {
        with_types(EVENTS, &array(2, 3_500_000))
    }),
    ("objects held in EVENTS", || {
        let count = 3_000_000u32.to_le_bytes();
        with_types(EVENTS, &[&record(21, 0)[..], &[0; 4], &count].concat())
    }),
    ("bytes of an array in CARRY", || {
        with_types(CARRY, &array(1, 14 << 20))
    }),
    ("exceptions of a failure", || {
        with_start(&[(FAILURE, long_list(&[1, 0, 0, 0, 0, 0], &[0]))])
    }),
    ("losses", || {
        with_start(&[(LOSSES, long_list(&[], &[0, 0]))])
    }),
    ("methods not woven", || {
        with_start(&[(LOSSES, long_list(&[0], &[0, 0]))])
    }),
    ("blocks of an unknown kind", || {
        with_start(&[(99, vec![0; LARGE_PAYLOAD]), (99, vec![0; LARGE_PAYLOAD])])
    }),
    ("records without meaning", || with_types(EVENTS, &pads())),
    ("constants of an enum, in a larger file", || {
        with_noise(&[(TYPES, entry(&list(&[1, 0, 0], &[0], LARGE_PAYLOAD)))])
    }),
    ("types, in a larger file", || {
        with_noise(&[(TYPES, entry(&[5, 0, 0, 0]).repeat(LARGE_PAYLOAD / 5))])
    }),
];

/// An event that tells the contents of an array.
fn array(class: u32, length: u32) -> Vec<u8> {
    let reference = (9 << 24 | class).to_le_bytes();
    let contents = [&reference[..], &[0; 8], &length.to_le_bytes()].concat();
    [&record(13, 0)[..], &contents].concat()
}

/// A list of as many items as fit, behind the fields before it.
fn long_list(before: &[u8], item: &[u8]) -> Vec<u8> {
    list(before, item, PAYLOAD)
}

fn list(before: &[u8], item: &[u8], payload: usize) -> Vec<u8> {
    let count = (payload - 1024) / item.len();
    let mut out = before.to_vec();
    put_varint(count as u64, &mut out);
    out.extend(item.repeat(count));
    // Whatever comes after it is empty.
    out.extend([0; 16]);
    out
}

/// As many entries as fit, all the same.
fn table(content: &[u8]) -> Vec<u8> {
    let one = entry(content);
    one.repeat(PAYLOAD / one.len())
}

fn entry(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(content.len() as u64, &mut out);
    out.extend(content);
    out
}

fn large_class() -> Vec<u8> {
    let mut out = vec![1, b'A', 0, 0, 1];
    out.extend([0; 32]);
    put_varint(PAYLOAD as u64 - 64, &mut out);
    out.resize(out.len() + PAYLOAD - 64, 0);
    out
}

fn pads() -> Vec<u8> {
    let length = RECORDS - EVENTS_HEAD - 16;
    [
        &record(19, 0)[..],
        &(length as u32).to_le_bytes(),
        &vec![0; length],
        &record(13, 0),
        &[0; 4],
    ]
    .concat()
}

fn record(kind: u32, site: u32) -> [u8; 4] {
    (kind << 26 | site).to_le_bytes()
}

fn with_start(blocks: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut all = vec![(START, vec![1; 2])];
    all[0].1.extend([0; 32]);
    all.extend_from_slice(blocks);
    file(&all)
}

/// With a block that nobody looks at and that does not compress.
fn with_noise(blocks: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut number = 1u64;
    let noise = std::iter::repeat_with(|| {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (number >> 56) as u8
    });
    let noise = (99, noise.take(NOISE).collect());
    with_start(&[&[noise][..], blocks].concat())
}

/// One event, in a block that is as large as its kind may be, with arrays of bytes and of objects as types.
fn with_types(tag: u8, record: &[u8]) -> Vec<u8> {
    let types = [
        entry(&[1, 2, b'[', b'B', 0, 0]),
        entry(&[&[2, 19][..], b"[Ljava/lang/Object;", &[0, 0]].concat()),
    ];
    let mut events = vec![1, 0, 0, 0];
    events.extend([0; 16]);
    events.extend(1u32.to_le_bytes());
    events.extend(record);
    events.resize(RECORDS, 0);
    with_start(&[(TYPES, types.concat()), (tag, events)])
}

/// A recording with these blocks, compressed as much as zstd can.
fn file(blocks: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut out = b"CULPRIT\x1a\x01\x00".to_vec();
    for (tag, payload) in blocks {
        let plain = if [EVENTS, CARRY].contains(tag) {
            EVENTS_HEAD
        } else {
            0
        };
        let body = zstd::bulk::compress(&payload[plain..], 1).unwrap();
        let stored = [&payload[..plain], &body].concat();
        let mut fields = vec![*tag, 1];
        fields.extend((stored.len() as u32).to_le_bytes());
        fields.extend((payload.len() as u32).to_le_bytes());
        let crc = crc32fast::hash(&[&fields[..], &stored].concat());
        out.extend(fields);
        out.extend(crc.to_le_bytes());
        out.extend(stored);
    }
    out
}

fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Has the kernel measure the peak anew.
fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// The most memory that was resident, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let digits = line.unwrap().split_whitespace().nth(1);
    digits.unwrap().parse::<u64>().unwrap() << 10
}
