//! What is printed for synthetic recordings. `INSTA_UPDATE=always cargo test` takes new
//! snapshots.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use culprit_model::site::TypeDef;
use culprit_model::value::Contents;
use culprit_model::{
    BlobId, Failure, FailureKind, Losses, Member, ObjectId, Reference, Site, SiteId, SiteKind,
    ThreadId, Turn, TypeId, Value,
};
use culprit_trace::{
    BlobKind, ClassDef, EndReason, Ending, EventsHead, GAP_FORGOTTEN, RecordBuffer, Start,
    ThreadDef, Writer,
};

use super::*;

#[derive(Parser)]
struct Typed {
    #[command(flatten)]
    args: Args,
}

/// What `culprit show WORDS` prints, with the folder of the test written as DIR.
struct Shown {
    code: Result<ExitCode, Expected>,
    out: String,
    err: String,
}

fn show(folder: &Path, words: &[&str]) -> Shown {
    let words: Vec<String> = words
        .iter()
        .map(|word| word.replace("DIR", &folder.display().to_string()))
        .collect();
    let typed = Typed::try_parse_from([vec!["show".to_owned()], words].concat());
    let args = typed.unwrap_or_else(|error| panic!("{error}")).args;
    let mut console = Console::kept();
    let code = run(&args, &mut console).map_err(|error| error.downcast::<Expected>().unwrap());
    let (out, err) = console.kept_text();
    let version = concat!("culprit ", env!("CARGO_PKG_VERSION"));
    let hide = |text: String| {
        let text = text.replace(&folder.display().to_string(), "DIR");
        text.replace(version, "culprit VERSION")
    };
    Shown {
        code,
        out: hide(out),
        err: hide(err),
    }
}

const OPTIONS: &str = "out=/runs/1,observe=com.acme.Order*,exclude=com.acme.Noise";
/// Not shown among the words of the command, since nobody typed it.
const AGENT: &str =
    "-agentpath:/c/agent.so=out=/runs/1,observe=com.acme.Order*,exclude=com.acme.Noise";

#[track_caller]
fn answer(folder: &Path, words: &[&str]) -> String {
    let shown = show(folder, words);
    assert_eq!(shown.code.unwrap(), ExitCode::Answered);
    assert_eq!(shown.err, "");
    shown.out
}

#[track_caller]
fn refusal(folder: &Path, words: &[&str]) -> (ExitCode, String) {
    let error = show(folder, words).code.unwrap_err();
    let text = format!("{}\n  {}", error.message, error.hint.unwrap());
    (
        error.code,
        text.replace(&folder.display().to_string(), "DIR"),
    )
}

fn within_80_columns(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "over 80 columns: {line}");
    }
}

fn site(id: u32, kind: SiteKind, place: (&str, u16), target: (&str, &str, &str)) -> Site {
    Site {
        id: SiteId(id),
        kind,
        class: place.0.to_owned(),
        method: "run".to_owned(),
        descriptor: "()V".to_owned(),
        line: Some(place.1),
        target: Member {
            owner: target.0.to_owned(),
            name: target.1.to_owned(),
            descriptor: target.2.to_owned(),
        },
        is_static: false,
        source: Some(format!(
            "{}.java",
            place.0.rsplit('/').next().unwrap_or_default()
        )),
    }
}

fn object(id: u64, class: u32) -> Value {
    Value::Reference(Reference::Object {
        id: ObjectId(id),
        class: TypeId(class),
    })
}

fn text(text: &str) -> Value {
    Value::Reference(Reference::String(text.encode_utf16().collect()))
}

fn array(id: u64, class: u32, length: u32, contents: Contents) -> Value {
    Value::Reference(Reference::Array {
        id: ObjectId(id),
        class: TypeId(class),
        length,
        contents,
    })
}

const NAMES: [&str; 8] = [
    "com/acme/Order",
    "java/util/HashMap",
    "java/lang/IllegalStateException",
    "com/acme/Color",
    "[I",
    "[[Ljava/lang/String;",
    "com/acme/Point",
    "com/acme/Order$Line",
];

fn types() -> Vec<TypeDef> {
    let named = |(place, name): (usize, &&str)| TypeDef {
        id: TypeId(place as u32 + 1),
        name: (*name).to_owned(),
        loader: 1,
        constants: match *name {
            "com/acme/Color" => vec!["RED".to_owned(), "GREEN".to_owned()],
            _ => Vec::new(),
        },
        fields: match *name {
            "java/util/HashMap" => ["table [Ljava/util/HashMap$Node;", "size I"]
                .map(|field| field.split_once(' ').unwrap())
                .map(|(field, descriptor)| Member {
                    owner: (*name).to_owned(),
                    name: field.to_owned(),
                    descriptor: descriptor.to_owned(),
                })
                .to_vec(),
            _ => Vec::new(),
        },
    };
    NAMES.iter().enumerate().map(named).collect()
}

fn sites() -> Vec<Site> {
    let (order, line) = ("com/acme/Order", "com/acme/Order$Line");
    let point = ("com/acme/Point", "x", "D");
    let map = "(Ljava/lang/Object;)Ljava/lang/Object;";
    let mut sites = vec![
        site(
            1,
            SiteKind::Entry,
            (order, 14),
            (order, "total", "(ILjava/lang/String;)J"),
        ),
        site(
            2,
            SiteKind::Call,
            (order, 15),
            ("java/util/Map", "get", map),
        ),
        site(
            3,
            SiteKind::Callee,
            ("com/acme/Key", 3),
            ("com/acme/Key", "hashCode", "()I"),
        ),
        site(4, SiteKind::Entry, (line, 40), (line, "<init>", "(C)V")),
        site(5, SiteKind::Field, (order, 16), point),
        site(
            6,
            SiteKind::Field,
            ("com/acme/Shop", 9),
            (order, "open", "Z"),
        ),
        site(7, SiteKind::Array, (order, 17), ("", "", "I")),
        site(
            8,
            SiteKind::Call,
            (order, 18),
            ("com/acme/Log", "write", "(Ljava/lang/Object;)V"),
        ),
    ];
    sites[7].is_static = true;
    sites[4].line = None;
    sites
}

/// Two threads; values of every sort; a gap; a failure that leaves the observed code.
fn shop() -> Writer<Vec<u8>> {
    use culprit_model::EventKind as K;
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer
        .start(&Start {
            culprit: "0.1.0".to_owned(),
            pid: 4711,
            started_ms: 1_700_000_000_000,
            command: [
                "java",
                AGENT,
                "-cp",
                "app.jar",
                "com.acme.Shop",
                "two words",
            ]
            .map(str::to_owned)
            .to_vec(),
            directory: "/srv/shop".to_owned(),
            jvm_name: "OpenJDK 64-Bit Server VM".to_owned(),
            jvm_version: "21.0.2+13".to_owned(),
            jvm_vendor: "Eclipse Adoptium".to_owned(),
            jvm_flags: vec!["-Xmx1g".to_owned()],
            properties: vec![("file.encoding".to_owned(), "UTF-8".to_owned())],
            options: OPTIONS.to_owned(),
            notes: Vec::new(),
        })
        .unwrap();
    writer.types(&types()).unwrap();
    writer.sites(&sites()).unwrap();
    for (id, name, is_virtual) in [(1, "main", false), (2, "pool-1\u{1b}[31m", true)] {
        let thread = ThreadDef {
            id: ThreadId(id),
            name: name.to_owned(),
            java_id: id.into(),
            is_virtual,
        };
        writer.thread(&thread).unwrap();
    }
    for (name, observed) in [(NAMES[0], true), (NAMES[7], true), ("com/acme/Shop", false)] {
        let class = ClassDef {
            name,
            loader: 1,
            origin: None,
            observed,
            ahead: false,
            outline: false,
            bytes: b"\xca\xfe\xba\xbe",
        };
        writer.class(&class).unwrap();
    }
    let long: Vec<u8> = "0123456789"
        .repeat(20)
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    writer.blob(BlobId(1), BlobKind::Text, &long).unwrap();
    let numbers: Vec<u8> = (0..12i32).flat_map(i32::to_le_bytes).collect();
    writer
        .blob(BlobId(2), BlobKind::Elements, &numbers)
        .unwrap();

    let reference = Value::Reference;
    let mut main = RecordBuffer::new();
    main.event(
        K::IncomingCall,
        SiteId(1),
        &[object(3, 1), Value::Int(2), text("EUR \"\n")],
    );
    main.event(K::OutgoingCall, SiteId(2), &[object(4, 2), object(9, 7)]);
    main.event(K::OutgoingCall, SiteId(3), &[object(9, 7)]);
    main.event(K::OutgoingReturn, SiteId(3), &[Value::Int(-31)]);
    let boxed = reference(Reference::Boxed(Box::new(Value::Double(0.5))));
    main.event(K::OutgoingReturn, SiteId(2), &[boxed]);
    main.turn(Turn(3));
    main.event(
        K::OutgoingRead,
        SiteId(5),
        &[object(9, 7), Value::Double(1.0)],
    );
    main.event(
        K::IncomingWrite,
        SiteId(6),
        &[object(3, 1), Value::Boolean(true)],
    );
    let three = Contents::Elements(vec![Value::Int(1), Value::Int(2), Value::Int(3)]);
    let ints = array(7, 5, 3, three);
    let unknown = array(7, 5, 3, Contents::Unknown);
    main.event(
        K::ArrayWrite,
        SiteId(7),
        &[unknown.clone(), Value::Int(2), Value::Int(5)],
    );
    main.gap(7, 1200);
    main.event(
        K::ArrayRead,
        SiteId(7),
        &[unknown, Value::Int(0), Value::Int(1)],
    );
    for logged in [
        ints,
        array(8, 5, 12, Contents::Blob(BlobId(2))),
        array(
            9,
            6,
            2,
            Contents::Elements(vec![reference(Reference::Null); 2]),
        ),
        reference(Reference::StringBlob(BlobId(1))),
        reference(Reference::StringBlob(BlobId(77))),
        reference(Reference::Redacted),
        reference(Reference::Class(TypeId(8))),
        reference(Reference::Enum {
            class: TypeId(4),
            ordinal: 1,
        }),
        reference(Reference::String(vec![0xd800, 0x202e, 0x263a])),
        reference(Reference::Null),
    ] {
        main.event(K::OutgoingCall, SiteId(8), std::slice::from_ref(&logged));
        main.event(K::OutgoingReturn, SiteId(8), &[]);
    }
    main.event(
        K::ArrayContents,
        SiteId(8),
        &[array(7, 5, 1, Contents::Elements(vec![Value::Int(4)]))],
    );
    main.event(
        K::IdentityHash,
        SiteId(3),
        &[object(9, 7), Value::Int(1234)],
    );
    main.event(
        K::OutgoingCall,
        SiteId(2),
        &[object(4, 2), reference(Reference::Null)],
    );
    main.event(K::OutgoingThrow, SiteId(2), &[object(11, 3)]);
    main.event(K::IncomingThrow, SiteId(1), &[object(11, 3)]);
    let fields = vec![reference(Reference::Piece(1)), Value::Int(1)];
    let pieces = [
        reference(Reference::Structure {
            class: TypeId(2),
            fields,
        }),
        array(0, 5, 1, Contents::Elements(vec![Value::Int(4)])),
        reference(Reference::Constant {
            class: TypeId(2),
            name: "EMPTY".to_owned(),
        }),
    ];
    let state = [&[object(4, 2)][..], &pieces].concat();
    main.event(K::ObjectState, SiteId(2), &state);
    let mut pool = RecordBuffer::new();
    pool.event(K::IncomingCall, SiteId(4), &[Value::Char('é' as u16)]);
    pool.event(K::Constructed, SiteId(4), &[object(12, 8)]);
    pool.event(K::IncomingReturn, SiteId(4), &[object(12, 8)]);
    for (thread, turn, buffer) in [(1, 1, &main), (2, 2, &pool)] {
        let head = EventsHead {
            thread: ThreadId(thread),
            turn: Turn(turn),
            ordinal: 0,
            count: buffer.events(),
        };
        writer.events(head, buffer.bytes()).unwrap();
    }
    let frames: Vec<String> = (1..=8)
        .map(|line| format!("\tat com.acme.Order.total(Order.java:{line})\n"))
        .collect();
    writer
        .failure(&Failure {
            kind: FailureKind::Uncaught,
            thread: ThreadId(1),
            place: "main".to_owned(),
            class: "java.lang.IllegalStateException".to_owned(),
            message: Some("no total for order 3\u{7}".to_owned()),
            stack: format!(
                "java.lang.IllegalStateException: no total\n{}",
                frames.concat()
            ),
            exceptions: vec![ObjectId(11)],
        })
        .unwrap();
    writer
        .losses(&Losses {
            counts: vec![("dropped events".to_owned(), 1200)],
            not_woven: vec![(
                "com/acme/Huge".to_owned(),
                "method run is over 64 KB".to_owned(),
            )],
            stopped: Some("more than 1,000,000 events".to_owned()),
        })
        .unwrap();
    writer
}

fn end(mut writer: Writer<Vec<u8>>) -> Vec<u8> {
    writer
        .end(&Ending {
            reason: EndReason::JvmEnded,
            exit_status: Some(1),
            duration_ms: 1234,
        })
        .unwrap();
    writer.into_store().unwrap()
}

/// A recording with nothing in it but its start.
fn quiet(pid: u32, command: &str) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer
        .start(&Start {
            pid,
            command: command.split(' ').map(str::to_owned).collect(),
            ..Start::default()
        })
        .unwrap();
    end(writer)
}

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn shop_folder() -> tempfile::TempDir {
    folder(&[("jvm-4711.culprit", &end(shop()))])
}

#[test]
fn the_summary_of_a_run_folder_with_one_recording() {
    let folder = shop_folder();
    let text = answer(folder.path(), &["DIR"]);
    within_80_columns(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn the_help_fits_80_columns() {
    use clap::CommandFactory;
    let help = Typed::command().term_width(80).render_long_help();
    within_80_columns(&help.to_string());
}

#[test]
fn the_full_summary_leaves_nothing_out() {
    let folder = shop_folder();
    let text = answer(folder.path(), &["DIR", "--full"]);
    within_80_columns(&text);
    assert_eq!(text.matches("at com.acme.Order.total").count(), 8);
}

#[test]
fn the_summary_as_json() {
    let folder = shop_folder();
    let text = answer(folder.path(), &["DIR", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["version"], 1);
    assert_eq!(document["failures"][0]["left_observed_code_at"], 36);
    insta::assert_snapshot!(text);
}

#[test]
fn events_one_a_line() {
    let folder = shop_folder();
    insta::assert_snapshot!(answer(folder.path(), &["DIR", "--events"]));
}

#[test]
fn events_in_full_are_not_shortened() {
    let folder = shop_folder();
    let text = answer(folder.path(), &["DIR", "--events", "--full"]);
    assert!(text.contains(&format!("\"{}\"", "0123456789".repeat(20))));
    assert!(text.contains("int[12]#8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}"));
}

#[test]
fn events_as_json_lines() {
    let folder = shop_folder();
    let text = answer(folder.path(), &["DIR", "--events", "--json"]);
    for line in text.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["version"], 1);
    }
    insta::assert_snapshot!(text);
}

#[track_caller]
fn check_filter(words: &[&str], expect: &[u64]) {
    let folder = shop_folder();
    let text = answer(folder.path(), &[&["DIR", "--events"], words].concat());
    let found: Vec<u64> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next()?.parse().ok())
        .collect();
    assert_eq!(found, expect, "{text}");
    let json = answer(
        folder.path(),
        &[&["DIR", "--events", "--json"], words].concat(),
    );
    assert_eq!(json.lines().count(), text.lines().count(), "{json}");
}

#[test]
fn filters_choose_events_and_all_of_them_must_hold() {
    check_filter(&["--range", "3..6"], &[3, 4, 5]);
    check_filter(&["--range", "36"], &[36]);
    check_filter(&["--range", "100.."], &[]);
    check_filter(&["--thread", "t2"], &[5, 6, 7]);
    check_filter(&["--kind", "incoming-throw"], &[36]);
    check_filter(
        &["--kind", "constructed", "--kind", "identity-hash"],
        &[6, 33],
    );
    check_filter(&["--class", "com.acme.Key"], &[2, 3, 33]);
    check_filter(&["--class", "java.util.*"], &[1, 4, 34, 35, 37]);
    check_filter(&["--class", "java.util.*", "--range", "..10"], &[1, 4]);
    check_filter(&["--grep", "threw #11"], &[35, 36]);
}

#[test]
fn gaps_show_only_where_they_belong() {
    let folder = shop_folder();
    let shown = |words: &[&str]| {
        let words = [&["DIR", "--events"], words].concat();
        answer(folder.path(), &words).contains("1,200 events lost here")
    };
    assert!(shown(&[]));
    assert!(shown(&["--thread", "1"]));
    assert!(!shown(&["--thread", "2"]));
    assert!(!shown(&["--range", "0..5"]));
    assert!(!shown(&["--kind", "incoming-call"]));
}

#[test]
fn the_scenario_as_text() {
    let folder = shop_folder();
    let text = answer(folder.path(), &["DIR", "--scenario"]);
    let recording = Recording::open(folder.path()).unwrap();
    let whole = culprit_replay::lift(&recording).scenario().unwrap();
    assert_eq!(text.parse(), Ok(whole));
    insta::assert_snapshot!(text);
}

#[test]
fn a_part_of_the_scenario_has_what_it_refers_to_and_says_how_deep_it_starts() {
    let folder = shop_folder();
    let words = ["DIR", "--scenario", "--thread", "1", "--range", "4..9"];
    let expect = "\
scenario 1
type 7 com/acme/Point loader 1
thread 1 \"main\"
site 2 call java/util/Map.get(Ljava/lang/Object;)Ljava/lang/Object; in com/acme/Order.run()V at Order.java:15
site 5 field com/acme/Point.x:D in com/acme/Order.run()V at Order.java

4 depth 2   <- Map.get@2 = box 0.5
8   -> get Point.x@5 on #9:Point = 1.0
";
    assert_eq!(answer(folder.path(), &words), expect);
}

#[test]
fn filters_that_tear_a_scenario_apart_are_refused() {
    for words in [
        ["--kind", "constructed"],
        ["--class", "a.B"],
        ["--grep", "x"],
        ["--json", "--full"],
        ["--events", "--full"],
    ] {
        let words = [&["show", "x", "--scenario"], &words[..]].concat();
        let error = Typed::try_parse_from(&words).err().unwrap();
        let text = error.to_string();
        assert!(text.contains("cannot be used with"), "{text}");
        assert!(text.contains("--scenario"), "{text}");
    }
}

#[test]
fn filters_without_events_are_refused() {
    for words in [
        ["show", "x", "--kind", "constructed"],
        ["show", "x", "--range", "1"],
    ] {
        let error = Typed::try_parse_from(words).err().unwrap();
        assert!(error.to_string().contains("--events"), "{error}");
    }
    let error = Typed::try_parse_from(["show", "x", "--events", "--kind", "call"])
        .err()
        .unwrap();
    assert!(
        error.to_string().contains("the kinds are incoming-call"),
        "{error}"
    );
}

#[test]
fn a_run_folder_with_several_recordings_is_a_table() {
    let shop = end(shop());
    let folder = folder(&[
        ("run.txt", b"command: mvn -q test\nstatus: 1\n".as_slice()),
        (
            "jvm-1.culprit",
            &quiet(
                1,
                "/opt/jdk/bin/java -cp plexus.jar org.codehaus.Launcher -q test",
            ),
        ),
        ("jvm-4711.culprit", &shop),
        ("jvm-5.culprit", b"CULPRIT\x1a\x09\0"),
    ]);
    let text = answer(folder.path(), &["DIR"]);
    within_80_columns(&text);
    insta::assert_snapshot!(text);
    let json: serde_json::Value =
        serde_json::from_str(&answer(folder.path(), &["DIR", "--json"])).unwrap();
    assert_eq!(json["document"], "run-folder");
    assert_eq!(json["recordings"][1]["failures"], 1);
    assert_eq!(json["facts"]["command"], "mvn -q test");
    let (code, text) = refusal(folder.path(), &["DIR", "--events"]);
    assert_eq!(code, ExitCode::Usage);
    insta::assert_snapshot!("several_recordings_and_events", text);
    let (code, text) = refusal(folder.path(), &["DIR", "--scenario"]);
    assert_eq!(code, ExitCode::Usage);
    assert!(
        text.contains("without --scenario they are listed"),
        "{text}"
    );
}

#[test]
fn a_recording_without_events_is_shown() {
    let folder = folder(&[("jvm-1.culprit", &quiet(1, "java Main"))]);
    let text = answer(folder.path(), &["DIR"]);
    within_80_columns(&text);
    insta::assert_snapshot!(text);
    assert_eq!(answer(folder.path(), &["DIR", "--events"]), "");
    assert_eq!(
        answer(folder.path(), &["DIR", "--scenario"]),
        "scenario 1\n"
    );
}

#[test]
fn an_exception_out_of_a_call_that_was_not_kept_is_shown() {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.start(&Start::default()).unwrap();
    writer.types(&types()).unwrap();
    let mut buffer = RecordBuffer::new();
    buffer.gap(GAP_FORGOTTEN, 9000);
    buffer.event(EventKind::OutgoingThrow, SiteId(0), &[object(1, 3)]);
    let head = EventsHead {
        count: 1,
        ..EventsHead::default()
    };
    writer.events(head, buffer.bytes()).unwrap();
    let folder = folder(&[("jvm-1.culprit", &end(writer))]);
    let text = answer(folder.path(), &["DIR", "--events"]);
    let lines = "  t0 ... 9,000 events forgotten here (--last)\n\
                 0 t0 <-! an earlier call threw #1 IllegalStateException   ?\n";
    assert_eq!(text, lines);
    let json = answer(folder.path(), &["DIR", "--events", "--json"]);
    assert!(json.contains(r#""class":null"#), "{json}");
    assert!(json.contains(r#""reason":"forgotten""#), "{json}");
}

#[test]
fn a_cut_recording_is_shown_with_a_warning() {
    let mut bytes = shop().into_store().unwrap();
    bytes.truncate(bytes.len() - 7);
    let folder = folder(&[("jvm-1.culprit", &bytes)]);
    let shown = show(folder.path(), &["DIR/jvm-1.culprit"]);
    assert_eq!(shown.code.unwrap(), ExitCode::Answered);
    assert!(
        shown.out.contains("not in order: the JVM was killed"),
        "{}",
        shown.out
    );
    insta::assert_snapshot!(shown.err);
    let events = show(folder.path(), &["DIR", "--events"]);
    assert_eq!(events.out.lines().count(), 39);
}

/// An events block that promises one event more than it has, with a right checksum.
#[test]
fn damage_is_an_error_after_what_is_good() {
    let mut writer = shop();
    let head = EventsHead {
        thread: ThreadId(1),
        turn: Turn(9),
        ordinal: 32,
        count: 1,
    };
    writer.events(head, &[0xff; 8]).unwrap();
    let folder = folder(&[("jvm-1.culprit", &end(writer))]);
    for words in [
        &["DIR", "--events"][..],
        &["DIR", "--scenario"],
        &["DIR"],
        &["DIR", "--json"],
    ] {
        let shown = show(folder.path(), words);
        let error = shown.code.unwrap_err();
        assert_eq!(error.code, ExitCode::Recording);
        assert!(
            error.message.contains("is damaged in the block"),
            "{}",
            error.message
        );
        let out = shown.out.replace('/', ".");
        assert!(out.contains("com.acme.Order"), "{out}");
    }
}

#[test]
fn what_cannot_be_read_says_why_and_what_to_do() {
    let folder = folder(&[
        ("text.culprit", b"hello, I am a text file".as_slice()),
        ("newer.culprit", b"CULPRIT\x1a\x02\0"),
        ("older.culprit", b"CULPRIT\x1a\0\0"),
        ("empty.culprit", b""),
        ("begun.culprit", b"CULPRIT\x1a\x01\0"),
    ]);
    fs::create_dir(folder.path().join("folder")).unwrap();
    let names = [
        "gone",
        "text.culprit",
        "newer.culprit",
        "older.culprit",
        "empty.culprit",
        "begun.culprit",
        "folder",
    ];
    let mut all = String::new();
    for name in names {
        let (code, text) = refusal(folder.path(), &[&format!("DIR/{name}")]);
        assert_eq!(code, ExitCode::Recording, "{name}");
        within_80_columns(&text);
        all.push_str(&text);
        all.push('\n');
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_summary_with_very_long_names_stays_within_80_columns() {
    let name = "averylongpackagename/".repeat(8) + "Class";
    let mut writer = Writer::new(Vec::new()).unwrap();
    let start = Start {
        command: vec![
            name.clone(),
            "-cp".to_owned(),
            format!("{name}.jar:").repeat(20),
        ],
        directory: format!("/{name}"),
        jvm_name: name.clone(),
        options: format!("out=/x,observe={name}"),
        ..Start::default()
    };
    writer.start(&start).unwrap();
    let entry = site(1, SiteKind::Entry, (&name, 1), (&name, "f", "()V"));
    writer.sites(&[entry]).unwrap();
    let mut buffer = RecordBuffer::new();
    buffer.event(
        EventKind::IncomingCall,
        SiteId(1),
        &[Value::Reference(Reference::Null)],
    );
    let head = EventsHead {
        count: 1,
        ..EventsHead::default()
    };
    writer.events(head, buffer.bytes()).unwrap();
    let failure = Failure {
        kind: FailureKind::Test,
        thread: ThreadId(0),
        place: name.clone(),
        class: name.clone(),
        message: Some(name.clone()),
        stack: format!("{name}\n\tat {name}\n"),
        exceptions: vec![],
    };
    writer.failure(&failure).unwrap();
    let losses = Losses {
        counts: vec![(name.clone(), u64::MAX)],
        not_woven: vec![(name.clone(), name.clone()); 12],
        stopped: Some(name),
    };
    writer.losses(&losses).unwrap();
    let path = PathBuf::from("jvm-1.culprit");
    let folder = folder(&[("jvm-1.culprit", &end(writer))]);
    let text = answer(folder.path(), &[&format!("DIR/{}", path.display())]);
    within_80_columns(&text);
}
