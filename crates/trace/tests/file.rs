//! The file as a whole: metadata, versions, damage, errors while writing, run folders.

mod support;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;

use culprit_model::{BlobId, Catcher, Caught, Failure, FailureKind, Losses, ObjectId, ThreadId};
use culprit_trace::{
    BlobKind, ClassDef, EndReason, Ending, Error, EventsHead, FormatVersion, LoaderDef, MAX_EVENTS,
    RecordBuffer, Recording, RunFolder, Store, ThreadDef, WriteError, Writer,
};
use support::file::{Block, borders, put_together, take_apart};
use support::{Player, Program, sites, start, types};

fn read(bytes: Vec<u8>) -> Result<Recording, Error> {
    Recording::from_bytes("memory.culprit", bytes)
}

fn failure() -> Failure {
    Failure {
        kind: FailureKind::Test,
        thread: ThreadId(1),
        place: "com.acme.MainTest.adds()".to_owned(),
        class: "java.lang.IllegalStateException".to_owned(),
        message: Some("no total: é".to_owned()),
        stack: "java.lang.IllegalStateException: no total\n\tat com.acme.Main.main(Main.java:3)\n"
            .to_owned(),
        exceptions: vec![ObjectId(3), ObjectId(u64::MAX)],
    }
}

fn caught(number: u32, count: u64) -> Caught {
    Caught {
        number,
        failure: Failure {
            kind: FailureKind::Caught,
            ..failure()
        },
        catcher: Catcher::Program,
        printed: 1,
        count,
        ordinal: 1 << 40,
    }
}

fn losses(count: u64) -> Losses {
    Losses {
        counts: vec![("dropped events".to_owned(), count)],
        not_woven: vec![("com/acme/Huge".to_owned(), "over 64 KB".to_owned())],
        stopped: Some("max-bytes".to_owned()),
    }
}

/// A recording with something of everything.
fn full() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.start(&start()).unwrap();
    writer
        .loaders(&[LoaderDef {
            id: 1,
            class: "jdk/internal/loader/ClassLoaders$AppClassLoader".to_owned(),
            name: Some("app".to_owned()),
        }])
        .unwrap();
    writer.types(&types()).unwrap();
    writer.sites(&sites()).unwrap();
    for (id, is_virtual) in [(1, false), (2, true)] {
        let thread = ThreadDef {
            id: ThreadId(id),
            name: format!("worker {id}"),
            java_id: 30 + u64::from(id),
            is_virtual,
        };
        writer.thread(&thread).unwrap();
    }
    for observed in [true, false] {
        let class = ClassDef {
            name: "com/acme/Main",
            loader: 1,
            origin: observed.then_some("file:/srv/app/app.jar"),
            observed,
            ahead: false,
            outline: false,
            bytes: &[0xca, 0xfe, 0xba, 0xbe].repeat(50),
        };
        writer.class(&class).unwrap();
    }
    writer.blob(BlobId(1), BlobKind::Text, b"a\0b\0").unwrap();
    writer
        .blob(BlobId(9), BlobKind::Elements, &[7; 3000])
        .unwrap();
    let mut buffer = RecordBuffer::new();
    let mut player = Player::new(Program::Scanner, 3);
    (0..20).for_each(|_| player.play(&mut buffer));
    let head = EventsHead {
        thread: ThreadId(1),
        count: buffer.events(),
        ..EventsHead::default()
    };
    writer.events(head, buffer.bytes()).unwrap();
    writer.failure(&failure()).unwrap();
    for (number, count) in [(2, 1), (1, 1), (3, 1), (2, 4), (3, 0)] {
        writer.caught(&caught(number, count)).unwrap();
    }
    writer.losses(&losses(1)).unwrap();
    writer.losses(&losses(2)).unwrap();
    writer
        .end(&Ending {
            reason: EndReason::JvmEnded,
            exit_status: Some(-1),
            duration_ms: 1234,
        })
        .unwrap();
    let written = writer.bytes_written();
    let bytes = writer.into_store().unwrap();
    assert_eq!(written, bytes.len() as u64);
    bytes
}

#[test]
fn metadata_comes_back_as_it_was_given() {
    let bytes = full();
    let length = bytes.len() as u64;
    let recording = read(bytes).unwrap();
    assert_eq!(recording.start(), &start());
    assert_eq!(recording.bytes(), length);
    assert_eq!(
        recording.loaders().get(1).unwrap().name.as_deref(),
        Some("app")
    );
    assert!(recording.types().iter().eq(&types()));
    assert!(recording.sites().iter().eq(&sites()));
    assert!(recording.threads().get(2).unwrap().is_virtual);
    assert_eq!(recording.failures(), [failure()]);
    // The last entry of a number counts; one that has become a failure is taken back.
    assert_eq!(recording.caught(), [caught(1, 1), caught(2, 4)]);
    assert_eq!(recording.exceptions().count(), 3);
    assert_eq!(recording.losses(), &losses(2));
    assert!(!recording.is_truncated());
    let end = recording.end().unwrap();
    assert_eq!(end.reason, EndReason::JvmEnded);
    assert_eq!(end.exit_status, Some(-1));
    assert_eq!(end.duration_ms, 1234);
    assert_eq!(end.events, recording.event_count());
    assert!(end.bytes < length);
}

#[test]
fn classes_and_blobs_are_read_on_demand() {
    let recording = read(full()).unwrap();
    let [first, second] = recording.classes() else {
        panic!("two classes");
    };
    assert!(first.observed && !second.observed);
    assert_eq!(first.origin.as_deref(), Some("file:/srv/app/app.jar"));
    assert_eq!(first.length, 200);
    let bytes = recording.class_bytes(first).unwrap();
    assert_eq!(bytes, [0xca, 0xfe, 0xba, 0xbe].repeat(50));
    let blob = recording.blob(BlobId(9)).unwrap().unwrap();
    assert_eq!((blob.kind, blob.bytes), (BlobKind::Elements, vec![7; 3000]));
    let blob = recording.blob(BlobId(1)).unwrap().unwrap();
    assert_eq!(
        (blob.kind, blob.bytes),
        (BlobKind::Text, b"a\0b\0".to_vec())
    );
    assert_eq!(recording.blob(BlobId(2)).unwrap(), None);
}

#[test]
fn a_class_that_does_not_match_its_hash_is_refused() {
    let mut blocks = take_apart(&full());
    let class = blocks.iter_mut().find(|b| b.tag == 6).unwrap();
    *class.body.last_mut().unwrap() ^= 1;
    let recording = read(put_together(&blocks)).unwrap();
    let error = recording.class_bytes(&recording.classes()[0]).unwrap_err();
    assert!(
        error.to_string().contains("class bytes of the stored hash"),
        "{error}"
    );
}

#[test]
fn unknown_blocks_and_longer_entries_are_skipped() {
    let mut blocks = take_apart(&full());
    let unknown = Block {
        tag: 200,
        head: vec![],
        body: b"from the future".to_vec(),
    };
    blocks.insert(1, unknown);
    let end = blocks.last_mut().unwrap();
    end.body.extend_from_slice(b"a new field");
    let recording = read(put_together(&blocks)).unwrap();
    assert_eq!(recording.end().unwrap().exit_status, Some(-1));
    assert_eq!(recording.events().count() as u64, recording.event_count());
}

#[test]
fn other_versions_are_refused_with_both_versions_named() {
    let mut bytes = full();
    bytes[8] = 2;
    let error = read(bytes).unwrap_err();
    assert!(matches!(
        error,
        Error::Version {
            found: FormatVersion(2),
            supported: FormatVersion(1),
            ..
        }
    ));
    assert_eq!(
        error.to_string(),
        "memory.culprit has recording format 2; this culprit reads format 1"
    );
}

#[test]
fn other_files_and_empty_files_are_told_apart() {
    assert!(matches!(read(vec![]), Err(Error::Empty { .. })));
    assert!(matches!(read(b"CULP".to_vec()), Err(Error::Empty { .. })));
    assert!(matches!(
        read(b"CULPRIT\x1a\x01\0".to_vec()),
        Err(Error::Empty { .. })
    ));
    assert!(matches!(
        read(b"PK\x03\x04".to_vec()),
        Err(Error::NotARecording { .. })
    ));
    assert!(matches!(
        read(b"PK\x03\x04 and more bytes".to_vec()),
        Err(Error::NotARecording { .. })
    ));
}

#[test]
fn a_block_that_announces_too_much_is_not_allocated() {
    let mut bytes = full();
    let second = borders(&bytes)[1];
    bytes[second + 6..second + 10].copy_from_slice(&u32::MAX.to_le_bytes());
    let recording = read(bytes.clone()).unwrap();
    let cut = recording.truncation().unwrap();
    assert_eq!(cut.offset, second as u64);
    assert_eq!(cut.bytes_left, (bytes.len() - second) as u64);
}

#[test]
fn metadata_out_of_proportion_to_the_file_is_refused() {
    let blocks = take_apart(&full());
    let mut bytes = put_together(&blocks[..1]);
    // One sites block of 60 MB of zero-length entries, which compress to a few kilobytes.
    let raw = vec![0u8; 60 << 20];
    let packed = zstd::bulk::compress(&raw, 1).unwrap();
    let mut fields = vec![4, 1];
    fields.extend_from_slice(&(packed.len() as u32).to_le_bytes());
    fields.extend_from_slice(&(raw.len() as u32).to_le_bytes());
    let crc = crc32fast::hash(&[fields.as_slice(), &packed].concat());
    bytes.extend_from_slice(&fields);
    bytes.extend_from_slice(&crc.to_le_bytes());
    bytes.extend_from_slice(&packed);
    let error = read(bytes).unwrap_err();
    assert!(
        error.to_string().contains("content in proportion"),
        "{error}"
    );
}

#[test]
fn a_file_is_private_and_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jvm-1.culprit");
    let mut writer = Writer::create(&path).unwrap();
    writer.start(&start()).unwrap();
    drop(writer);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(matches!(Writer::create(&path), Err(WriteError::Io(_))));
    assert_eq!(Recording::open(&path).unwrap().start(), &start());
}

#[test]
fn a_full_disk_of_the_system_is_told_from_other_trouble() {
    let full = fs::OpenOptions::new()
        .append(true)
        .open("/dev/full")
        .unwrap();
    let error = Writer::new(full).err().unwrap();
    assert!(error.is_disk_full(), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let error = Writer::create(&folder.path().join("gone/x")).err().unwrap();
    assert!(!error.is_disk_full(), "{error}");
}

#[test]
fn a_buffer_over_the_limit_is_refused_and_nothing_is_written() {
    let mut writer = Writer::new(Vec::new()).unwrap();
    let before = writer.bytes_written();
    let error = writer.events(EventsHead::default(), &vec![0; MAX_EVENTS + 1]);
    assert!(matches!(error, Err(WriteError::TooLarge { .. })));
    assert_eq!(writer.bytes_written(), before);
}

/// Accepts a number of bytes, then fails like a full disk.
struct SmallDisk {
    bytes: Vec<u8>,
    room: usize,
    can_cut: bool,
}

impl Write for SmallDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.room.saturating_sub(self.bytes.len());
        if room == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let length = room.min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Store for SmallDisk {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        if !self.can_cut {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.bytes.truncate(length as usize);
        Ok(())
    }
}

fn fill(can_cut: bool) -> (Writer<SmallDisk>, WriteError) {
    let disk = SmallDisk {
        bytes: Vec::new(),
        room: 4000,
        can_cut,
    };
    let mut writer = Writer::new(disk).unwrap();
    writer.start(&start()).unwrap();
    writer.types(&types()).unwrap();
    writer.sites(&sites()).unwrap();
    let mut player = Player::new(Program::Geometry, 5);
    loop {
        let mut buffer = RecordBuffer::new();
        (0..30).for_each(|_| player.play(&mut buffer));
        let head = EventsHead {
            ordinal: writer.events_written(),
            count: buffer.events(),
            ..EventsHead::default()
        };
        if let Err(error) = writer.events(head, buffer.bytes()) {
            return (writer, error);
        }
    }
}

#[test]
fn on_a_full_disk_the_file_ends_with_its_last_whole_block() {
    let (mut writer, error) = fill(true);
    assert!(error.is_disk_full(), "{error}");
    let events = writer.events_written();
    assert!(events > 0);
    // What was half written is gone, so a small block may still fit.
    writer.losses(&losses(120)).unwrap();
    let disk = writer.into_store().unwrap();
    let recording = read(disk.bytes).unwrap();
    assert!(!recording.is_truncated());
    assert_eq!(
        recording.events().filter(|e| e.is_ok()).count() as u64,
        events
    );
    assert_eq!(recording.losses(), &losses(120));
}

#[test]
fn a_file_that_cannot_be_cut_back_is_closed_and_readable_to_its_last_whole_block() {
    let (mut writer, error) = fill(false);
    assert!(error.is_disk_full());
    let events = writer.events_written();
    assert!(matches!(writer.losses(&losses(1)), Err(WriteError::Closed)));
    let disk = writer.into_store().unwrap();
    let recording = read(disk.bytes).unwrap();
    assert!(recording.is_truncated());
    assert_eq!(
        recording.events().filter(|e| e.is_ok()).count() as u64,
        events
    );
}

#[test]
fn a_run_folder_opens_its_only_recording_and_lists_several() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Recording::open(folder.path());
    assert!(matches!(open(), Err(Error::NoRecordings { .. })));
    fs::write(
        folder.path().join("run.txt"),
        "command: mvn test\nodd line\n",
    )
    .unwrap();
    fs::write(folder.path().join("jvm-2.culprit"), full()).unwrap();
    assert!(open().is_ok());
    fs::write(folder.path().join("jvm-1.culprit"), full()).unwrap();
    assert!(matches!(open(), Err(Error::SeveralRecordings { .. })));
    let run = RunFolder::open(folder.path()).unwrap();
    let names: Vec<_> = run
        .recordings
        .iter()
        .map(|p| p.file_name().unwrap())
        .collect();
    assert_eq!(names, ["jvm-1.culprit", "jvm-2.culprit"]);
    assert_eq!(run.facts, [("command".to_owned(), "mvn test".to_owned())]);
    let gone = folder.path().join("gone");
    assert!(matches!(
        Recording::open(&gone),
        Err(Error::NotFound { .. })
    ));
    assert!(matches!(
        RunFolder::open(&gone),
        Err(Error::NotFound { .. })
    ));
}
