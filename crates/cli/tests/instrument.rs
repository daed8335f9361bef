//! `culprit instrument` on a small jar: what it writes, and that its jar runs and is recorded as
//! the original is.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use culprit_jvm::{Jdk, Surroundings};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

const MANIFEST: &str = "Manifest-Version: 1.0\r\nMain-Class: shop.Main\r\n\r\n\
                        Name: shop/Main.class\r\nSHA-256-Digest: AAAA\r\n\r\n";

/// A folder with the program as `shop.jar`.
struct Stage {
    jdk: Jdk,
    dir: tempfile::TempDir,
}

fn jdks() -> Vec<Jdk> {
    let mut jdks: Vec<Jdk> = Vec::new();
    for jdk in Jdk::all(&Surroundings::of_process()) {
        let known = jdks
            .iter()
            .any(|j| j.version.feature == jdk.version.feature);
        if !known && jdk.tool("javac").is_file() {
            jdks.push(jdk);
        }
    }
    assert!(!jdks.is_empty(), "no JDK: install one, or set JAVA_HOME");
    jdks
}

#[expect(clippy::disallowed_methods, reason = "the commands under test")]
fn run(program: impl AsRef<std::ffi::OsStr>, words: &[&str], folder: &Path) -> Output {
    Command::new(program)
        .args(words)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("NO_COLOR", "1")
        .env_remove("JAVA_TOOL_OPTIONS")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Stage {
    fn new(jdk: Jdk) -> Stage {
        let dir = tempfile::tempdir().unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/suggest/shop");
        let mut words = vec!["-g".to_owned(), "-d".to_owned(), "classes".to_owned()];
        for entry in fs::read_dir(sources).unwrap() {
            words.push(entry.unwrap().path().display().to_string());
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = run(jdk.tool("javac"), &words, dir.path());
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        let stage = Stage { jdk, dir };
        stage.pack();
        stage
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
        let mut classes: Vec<_> = fs::read_dir(self.path().join("classes/shop"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        classes.sort();
        for class in &classes {
            let name = format!("shop/{}", class.file_name().unwrap().to_str().unwrap());
            put(&name, &fs::read(class).unwrap(), deflated);
        }
        let free = fs::read(self.path().join("classes/shop/Free.class")).unwrap();
        put("META-INF/versions/11/shop/Free.class", &free, deflated);
        put("broken/B.class", b"\xca\xfe\xba\xbe and no more", deflated);
        put("lib/inner.jar", b"PK", CompressionMethod::Stored);
        jar.finish().unwrap();
    }

    fn culprit(&self, words: &[&str]) -> (Option<i32>, String, String) {
        let ended = run(env!("CARGO_BIN_EXE_culprit"), words, self.path());
        (
            ended.status.code(),
            text(&ended.stdout),
            text(&ended.stderr),
        )
    }

    fn instrument(&self, words: &[&str]) -> String {
        let all = [&["instrument", "shop.jar", "-o", "woven.jar"], words].concat();
        let (code, _, err) = self.culprit(&all);
        assert_eq!(code, Some(0), "{err}");
        err
    }

    fn java(&self, words: &[&str]) -> Output {
        run(
            self.jdk.tool("java"),
            &[&["-Xverify:all"], words].concat(),
            self.path(),
        )
    }

    /// The events of a recorded run, as text.
    fn events(&self, jar: &str, run: &str, observe: &[&str]) -> String {
        let java = self.jdk.tool("java").display().to_string();
        let record = [&["record", "-q", "-o", run], observe].concat();
        let jvm = ["--", &java, "-Xverify:all", "-Xcheck:jni", "-jar", jar];
        let (code, out, err) = self.culprit(&[&record[..], &jvm].concat());
        assert_eq!(code, Some(0), "{err}");
        assert!(out.starts_with("40 lines, "), "{out}");
        self.culprit(&["show", run, "--events"]).1
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
    for jdk in jdks() {
        let stage = Stage::new(jdk);
        let ledger = ["--observe", "shop.Ledger", "--observe", "shop.Ledger$*"];
        stage.instrument(&ledger);
        let in_the_jvm = stage.events("shop.jar", "run-1", &ledger);
        let ahead = stage.events("woven.jar", "run-2", &ledger);
        assert!(in_the_jvm.lines().count() > 500, "{in_the_jvm}");
        assert_eq!(ahead, in_the_jvm, "JDK {}", stage.jdk.version.feature);
        // The jar decides, not the options.
        assert_eq!(stage.events("woven.jar", "run-3", &[]), in_the_jvm);
        let (_, summary, _) = stage.culprit(&["show", "run-3"]);
        assert!(
            summary.contains("2 of them chosen by an instrumented jar"),
            "{summary}"
        );
    }
}

#[test]
fn without_the_agent_the_jar_runs_as_before() {
    for jdk in jdks() {
        let stage = Stage::new(jdk);
        stage.instrument(&[]);
        let (before, after) = (
            stage.java(&["-jar", "shop.jar"]),
            stage.java(&["-jar", "woven.jar"]),
        );
        assert!(after.status.success(), "{}", text(&after.stderr));
        assert_eq!(after, before);
    }
}

#[test]
fn the_recording_holds_the_classes_as_they_were() {
    let stage = Stage::new(jdks().remove(0));
    stage.instrument(&[]);
    stage.events("woven.jar", "run", &[]);
    let recording = culprit_trace::Recording::open(&stage.path().join("run")).unwrap();
    let classes = recording.classes();
    let ledger = classes.iter().find(|class| class.name == "shop/Ledger");
    let kept = recording.class_bytes(ledger.unwrap()).unwrap();
    let original = fs::read(stage.path().join("classes/shop/Ledger.class")).unwrap();
    assert_eq!(kept, original);
}

#[test]
fn everything_but_classes_and_signatures_is_copied_in_the_same_order() {
    let stage = Stage::new(jdks().remove(0));
    let err = stage.instrument(&["--observe", "shop.Ledger"]);
    for expect in [
        "1 of them observed",
        "the jar was signed",
        "broken/B.class: ",
        "lib/inner.jar",
        "next: culprit record -- java -jar woven.jar",
    ] {
        assert!(err.contains(expect), "{expect}: {err}");
    }
    let before = entries(&stage.path().join("shop.jar"));
    let after = entries(&stage.path().join("woven.jar"));
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
    let stage = Stage::new(jdks().remove(0));
    stage.instrument(&[]);
    fs::write(stage.path().join("text"), "not a jar").unwrap();
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
        let (code, _, err) = stage.culprit(&[&["instrument"], words].concat());
        assert_eq!(code, Some(2), "{words:?}: {err}");
        assert!(err.contains(expect), "{words:?}: {err}");
        assert!(!stage.path().join("x.jar").exists(), "{words:?}");
    }
}
