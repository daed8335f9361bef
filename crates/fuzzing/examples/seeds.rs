//! Writes the seeds of all fuzz targets into `fuzz/corpus`, made by our own code or written for it.

use std::fs;
use std::path::{Path, PathBuf};

use culprit_classfile::ClassFile;
use culprit_fuzzing::blocks;
use culprit_model::script::{Action, Operator, StatementEnd};
use culprit_model::value::Shape;
use culprit_model::{
    EventKind, Outcome, Reference, SiteId, Statement, Step, Tables, ThreadId, Value,
};
use culprit_trace::instructions::{
    EventKind as Kind, InstructionTrace, TraceEnding, TracedClass, TracedMethod, TracedObject,
    TracedThread, write,
};
use culprit_weave::trace::{BlockNumbers, traced};
use culprit_wire::{
    ClassCoverage, FreshState, FromWorker, LineCheck, Message, Mode, RunRequest, Subject, ToWorker,
};

/// The trace of a run that enters each method of a class and each of its blocks, and ends by an exception.
fn instructions(class: &[u8]) -> Vec<u8> {
    let parsed = ClassFile::parse(class).expect("a class");
    let traced = traced(parsed, &BlockNumbers::default()).expect("a class that can be traced");
    let word = |kind: Kind, operand: u32| (kind as u32) << 27 | operand;
    let mut words = vec![word(Kind::Turn, 0), 1, word(Kind::Statement, 0)];
    for method in &traced.methods {
        words.extend([word(Kind::Enter, method.first_block), 1]);
        words.push(word(Kind::ArgumentObject, 1));
        for number in 1..method.blocks.len() as u32 {
            words.extend([word(Kind::FieldInt, 1), 2, word(Kind::ResultInt, 1), 2]);
            words.push(word(Kind::Block, method.first_block + number));
        }
        words.extend([word(Kind::Left, 1), 2]);
    }
    let methods = traced.methods.into_iter().map(|it| TracedMethod {
        index: it.index,
        first_block: it.first_block,
        blocks: it.blocks,
        reporting: it.reporting,
    });
    let object = |class: &str, text: Option<&str>| TracedObject {
        class: class.to_owned(),
        text: text.map(str::to_owned),
    };
    let trace = InstructionTrace {
        classes: vec![TracedClass {
            bytes: class.to_vec(),
            methods: methods.collect(),
        }],
        threads: vec![TracedThread { object: 1, words }],
        objects: vec![
            object("java/lang/Thread", None),
            object("java/lang/String", Some("text")),
        ],
        ending: TraceEnding::default(),
    };
    let mut bytes = Vec::new();
    write(&mut bytes, &trace).expect("memory takes any bytes");
    bytes
}

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let corpus = root.join("fuzz/corpus");
    let put = |target: &str, name: &str, bytes: &[u8]| {
        let folder = corpus.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)
    };
    for version in ["v1", "v1.1"] {
        let golden = fs::read(root.join(format!("golden/{version}.culprit")))?;
        put("recording", &format!("file-{version}"), &golden)?;
        put("recording", &format!("blocks-{version}"), &apart(&golden))?;
    }
    for (name, bytes) in messages() {
        put("wire", name, &bytes)?;
    }
    let classes = root.join("java/runtime/classes/culprit/runtime");
    for name in ["Identity$Stripe", "Hashes", "Escape$1", "Constants$1"] {
        let bytes = fs::read(classes.join(format!("{name}.class")))?;
        put("class", name, &bytes)?;
    }
    let hashes = fs::read(classes.join("Hashes.class"))?;
    put("instructions", "hashes", &instructions(&hashes))?;
    let manifest = "Manifest-Version: 1.0\r\nMain-Class: shop.Main\r\nMulti-Release: true\r\n\
        Class-Path: a.jar lib/b%20c.jar file:/d/e/ ../up.jar http://x.org/g.j\r\n ar h%zz\r\n\r\nName: x\r\n";
    put("manifest", "all", manifest.as_bytes())?;
    put("trace", "java", JAVA.as_bytes())?;
    put("trace", "maven", MAVEN.as_bytes())?;
    put("trace", "messages", MESSAGES.as_bytes())?;
    let id = "0123456789abcdef0123456789abcdef01234567";
    put("git", "rev-list", format!("{id} {id}\n{id}\n").as_bytes())?;
    let log = format!("{id}\0Ann\0ann@example.org\02024-01-01T00:00:00Z\0a subject\n");
    put("git", "log", log.as_bytes())?;
    let blame = format!("{id} 1 1 2\nauthor Ann\nboundary\nfilename a\n\tline\n{id} 2 2\n\tline\n");
    put("git", "blame", blame.as_bytes())?;
    let index = format!(
        "H 100644 {id} 0\ta\0S 100755 {id} 2\td/b\0H 120000 {id} 0\tl\0H 160000 {id} 0\tsub\0? new\0"
    );
    put("git", "ls-files", index.as_bytes())?;
    put(
        "git",
        "ls-tree",
        format!("160000 commit {id}\tsub/x\0").as_bytes(),
    )?;
    put(
        "scenario",
        "book",
        example(&root, "docs/scenario-text.md")?.as_bytes(),
    )?;
    put(
        "scenario",
        "script",
        example(&root, "docs/script-text.md")?.as_bytes(),
    )?;
    put(
        "scenario",
        "options",
        b"out=/run,observe=com.acme.*,exclude=x.Y,last=100",
    )?;
    let fingerprint = "0123456789abcdef0123456789abcdef";
    let journal =
        format!("p {fingerprint} \nf {fingerprint} at a.b:3\\nwith \\\\\nu {fingerprint} x");
    put("journal", "lines", journal.as_bytes())
}

/// A recording as the parts that [`blocks::parts`] reads, with payloads as they were before compression.
fn apart(recording: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (tag, payload) in blocks::take_apart(recording) {
        blocks::put_part(tag, &payload, &mut out);
    }
    out
}

/// The first example in a specification.
fn example(root: &Path, page: &str) -> std::io::Result<String> {
    let page: PathBuf = root.join(page);
    let text = fs::read_to_string(page)?;
    let blocks = text.split("```").skip(1).step_by(2);
    let longest = blocks.max_by_key(|block| block.len()).unwrap_or_default();
    Ok(longest
        .split_once('\n')
        .map_or(longest, |(_, rest)| rest)
        .to_owned())
}

fn messages() -> Vec<(&'static str, Vec<u8>)> {
    let step = Step {
        thread: ThreadId(1),
        kind: EventKind::IncomingCall,
        site: SiteId(2),
        depth: 0,
        origin: None,
        values: vec![
            Value::Int(5),
            Value::Double(0.5),
            Value::Reference(Reference::String("hi".encode_utf16().collect())),
            Value::Reference(Reference::Boxed(Box::new(Value::Long(-7)))),
        ],
    };
    let compare = Operator::IsLess.of(Shape::Int);
    let operands = vec![Value::Int(3), Value::Int(5)];
    let end = StatementEnd::Returned(Some(Value::Boolean(true)));
    let statements = vec![
        Statement::new(Action::Operate(compare), operands, end),
        Statement::new(
            Action::Guard,
            vec![Value::Boolean(true)],
            StatementEnd::Returned(None),
        ),
    ];
    let to = [
        ("to-steps", ToWorker::Steps(vec![step.clone()])),
        ("to-statements", ToWorker::Statements(statements)),
        ("to-tables", ToWorker::Tables(Tables::default())),
        (
            "to-subject",
            ToWorker::Subject(Subject {
                options: "out=/run".to_owned(),
                loaders: Vec::new(),
                class_path: vec!["/a.jar".to_owned()],
                classes: Vec::new(),
            }),
        ),
        (
            "to-run",
            ToWorker::Run(RunRequest {
                number: 3,
                mode: Mode::Plain,
                fresh: FreshState::Reset,
                multi_threaded: false,
                lines: LineCheck::Ignore,
                births: vec![(ThreadId(1), 2)],
            }),
        ),
    ];
    let threw = Outcome::Threw {
        at: 4,
        trace: "java.lang.Error: x\n\tat A.b(A.java:1)\n".to_owned(),
    };
    let done = FromWorker::Done {
        number: 3,
        outcome: threw,
    };
    let mut found = Vec::new();
    for (name, message) in to {
        found.push((name, tagged(1, &message)));
    }
    let ready = FromWorker::ready(17, "17.0.1".to_owned(), 300);
    let coverage = FromWorker::Coverage(vec![ClassCoverage {
        class: "shop/Cart".to_owned(),
        lines: vec![(7, 2), (9, 1)],
    }]);
    for (name, message) in [
        ("from-done", done),
        ("from-ready", ready),
        ("from-coverage", coverage),
    ] {
        found.push((name, tagged(0, &message)));
    }
    found
}

fn tagged(direction: u8, message: &impl Message) -> Vec<u8> {
    let mut bytes = vec![direction];
    message.encode(&mut bytes);
    bytes
}

const JAVA: &str = "noise\nException in thread \"main\" java.lang.IllegalStateException: at 12:30:05 id 0x7f10\n\
    \tat app//shop.Cart.add(Cart.java:7)\n\tat java.base/java.util.ArrayList.forEach(ArrayList.java:1511)\n\
    \tat shop.Main$$Lambda/0x00007f10.run(Unknown Source)\n\
    \tSuppressed: java.io.IOException: x\n\t\tat a.B.c(Native Method)\n\
    Caused by: java.io.FileNotFoundException: /a/b (Permission denied)\n\tat java.base/java.io.FileInputStream.open0(Native Method)\n\
    \t... 2 more\n";

const MAVEN: &str = "[ERROR] shop.CartTest.adds  Time elapsed: 0.01 s  <<< FAILURE!\n\
    org.opentest4j.AssertionFailedError: expected: <1> but was: <2>\n\tat shop.CartTest.adds(CartTest.java:9)\n\n\
    1) adds(shop.CartTest)\njava.lang.AssertionError: x\n\tat org.junit.Assert.fail(Assert.java:89)\n";

const MESSAGES: &str = "java.lang.RuntimeException: 2024-01-01T10:00:00Z 550e8400-e29b-41d4-a716-446655440000 \
    /tmp/x.123 foo@1a2b3c \"a 'b' c\" 10.0.0.1:80 1.5e-7 ms\n\tat x.Y.z(Y.java:1)\n";
