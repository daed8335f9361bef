//! `culprit instrument` on a small jar: what it writes, and that its jar runs and is recorded as
//! the original is.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::process::{self, Ended, command};
use crate::stage::{Stage, folder, on_one_jdk, stages};

const MANIFEST: &str = "Manifest-Version: 1.0\r\nMain-Class: shop.Main\r\n\r\n\
                        Name: shop/Main.class\r\nSHA-256-Digest: AAAA\r\n\r\n";

/// A folder with the program of `fixtures/suggest/shop` as `shop.jar`.
struct Shop {
    stage: &'static Stage,
    dir: tempfile::TempDir,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Shop {
    fn new(stage: &'static Stage) -> Shop {
        let dir = folder();
        let shop = Shop { stage, dir };
        shop.pack();
        shop
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Makes `shop.jar`: the classes, and one entry of every kind that needs care.
    fn pack(&self) {
        let mut jar = ZipWriter::new(File::create(self.path().join("shop.jar")).unwrap());
        let mut put = |name: &str, bytes: &[u8], method| {
            let options = SimpleFileOptions::default().compression_method(method);
            jar.start_file(name, options).unwrap();
            jar.write_all(bytes).unwrap();
        };
        let deflated = CompressionMethod::Deflated;
        put("META-INF/MANIFEST.MF", MANIFEST.as_bytes(), deflated);
        put("META-INF/SHOP.SF", b"signed", deflated);
        put("notes.txt", b"some text, some text", deflated);
        let mut classes: Vec<_> = fs::read_dir(self.stage.classes.join("shop"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        classes.sort();
        for class in &classes {
            let name = format!("shop/{}", class.file_name().unwrap().to_str().unwrap());
            put(&name, &fs::read(class).unwrap(), deflated);
        }
        let free = fs::read(self.stage.classes.join("shop/Free.class")).unwrap();
        put("META-INF/versions/11/shop/Free.class", &free, deflated);
        put("broken/B.class", b"\xca\xfe\xba\xbe and no more", deflated);
        put("lib/inner.jar", b"PK", CompressionMethod::Stored);
        jar.finish().unwrap();
    }

    fn culprit(&self, words: &[&str]) -> Ended {
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), self.path());
        process::run(culprit.args(words))
    }

    fn instrument(&self, words: &[&str]) -> String {
        let all = [&["instrument", "shop.jar", "-o", "woven.jar"], words].concat();
        let ended = self.culprit(&all);
        assert_eq!(ended.status, 0, "{}", ended.err);
        ended.err
    }

    fn java(&self, words: &[&str]) -> Ended {
        let mut java = command(self.stage.jdk.tool("java"), self.path());
        process::run(java.arg("-Xverify:all").args(words))
    }

    /// The events of a recorded run, as text.
    fn events(&self, jar: &str, run: &str, observe: &[&str]) -> String {
        let java = self.stage.jdk.tool("java").display().to_string();
        let record = [&["record", "-q", "-o", run], observe].concat();
        let jvm = ["--", &java, "-Xverify:all", "-Xcheck:jni", "-jar", jar];
        let ended = self.culprit(&[&record[..], &jvm].concat());
        assert_eq!(ended.status, 0, "{}", ended.err);
        assert!(ended.out.starts_with("40 lines, "), "{}", ended.out);
        self.culprit(&["show", run, "--events"]).out
    }
}

fn entries(jar: &Path) -> Vec<(String, Vec<u8>)> {
    let mut jar = ZipArchive::new(File::open(jar).unwrap()).unwrap();
    let mut entries = Vec::new();
    for index in 0..jar.len() {
        let mut entry = jar.by_index(index).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        entries.push((text(entry.name_raw()), bytes));
    }
    entries
}

#[test]
fn what_is_recorded_is_the_same_woven_ahead_and_in_the_jvm() {
    for stage in stages() {
        let shop = Shop::new(stage);
        let ledger = ["--observe", "shop.Ledger", "--observe", "shop.Ledger$*"];
        shop.instrument(&ledger);
        let in_the_jvm = shop.events("shop.jar", "run-1", &ledger);
        let ahead = shop.events("woven.jar", "run-2", &ledger);
        assert!(in_the_jvm.lines().count() > 500, "{in_the_jvm}");
        assert_eq!(ahead, in_the_jvm, "JDK {}", stage.feature());
        // The jar decides, not the options.
        assert_eq!(shop.events("woven.jar", "run-3", &[]), in_the_jvm);
        let summary = shop.culprit(&["show", "run-3"]).out;
        assert!(
            summary.contains("2 of them chosen by an instrumented jar"),
            "{summary}"
        );
    }
}

#[test]
fn without_the_agent_the_jar_runs_as_before() {
    for stage in stages() {
        let shop = Shop::new(stage);
        shop.instrument(&[]);
        let (before, after) = (
            shop.java(&["-jar", "shop.jar"]),
            shop.java(&["-jar", "woven.jar"]),
        );
        assert_eq!(after.status, 0, "{}", after.err);
        assert_eq!(after, before);
    }
}

#[test]
fn the_recording_holds_the_classes_as_they_were() {
    let shop = Shop::new(on_one_jdk());
    shop.instrument(&[]);
    shop.events("woven.jar", "run", &[]);
    let recording = culprit_trace::Recording::open(&shop.path().join("run")).unwrap();
    let classes = recording.classes();
    let ledger = classes.iter().find(|class| class.name == "shop/Ledger");
    let kept = recording.class_bytes(ledger.unwrap()).unwrap();
    let original = fs::read(shop.stage.classes.join("shop/Ledger.class")).unwrap();
    assert_eq!(kept, original);
}

#[test]
fn everything_but_classes_and_signatures_is_copied_in_the_same_order() {
    let shop = Shop::new(on_one_jdk());
    let err = shop.instrument(&["--observe", "shop.Ledger"]);
    for expect in [
        "1 of them observed",
        "the jar was signed",
        "broken/B.class: ",
        "lib/inner.jar",
        "next: culprit record -- java -jar woven.jar",
    ] {
        assert!(err.contains(expect), "{expect}: {err}");
    }
    let before = entries(&shop.path().join("shop.jar"));
    let after = entries(&shop.path().join("woven.jar"));
    let names = |entries: &[(String, Vec<u8>)]| {
        let names = entries.iter().map(|(name, _)| name.clone());
        names
            .filter(|name| !name.ends_with(".SF"))
            .collect::<Vec<_>>()
    };
    let mut expect = names(&before);
    expect.push("culprit/runtime/Probe.class".to_owned());
    assert_eq!(names(&after), expect);
    for (name, bytes) in &after {
        let original = before
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, bytes)| bytes);
        let is_shop = name.contains("shop/");
        match name.as_str() {
            "META-INF/MANIFEST.MF" => {
                let expect = "Manifest-Version: 1.0\r\nMain-Class: shop.Main\r\n\r\n";
                assert_eq!(text(bytes), expect);
            }
            "culprit/runtime/Probe.class" => {}
            _ if is_shop => assert_ne!(Some(bytes), original, "{name}"),
            _ => assert_eq!(Some(bytes), original, "{name}"),
        }
    }
}

#[test]
fn what_cannot_be_done_is_said_with_the_next_step() {
    let shop = Shop::new(on_one_jdk());
    shop.instrument(&[]);
    fs::write(shop.path().join("text"), "not a jar").unwrap();
    for (words, expect) in [
        (&["text", "-o", "x.jar"][..], "text is not a jar"),
        (&["nowhere.jar", "-o", "x.jar"], "cannot read nowhere.jar"),
        (&["shop.jar", "-o", "woven.jar"], "woven.jar exists already"),
        (&["shop.jar", "-o", "no/x.jar"], "cannot write no/x.jar"),
        (&["woven.jar", "-o", "x.jar"], "instrumented already"),
        (
            &["shop.jar", "-o", "x.jar", "--observe", "shop.Leger"],
            "the nearest that would match: shop.Ledger",
        ),
    ] {
        let ended = shop.culprit(&[&["instrument"], words].concat());
        let err = ended.err;
        assert_eq!(ended.status, 2, "{words:?}: {err}");
        assert!(err.contains(expect), "{words:?}: {err}");
        assert!(!shop.path().join("x.jar").exists(), "{words:?}");
    }
}
