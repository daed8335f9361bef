//! Compiles the fixtures for every JDK of the machine and runs them, plain and recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use culprit_jvm::{Jdk, JdkLocations};
use culprit_trace::Recording;

use crate::consistency;
use crate::fixture::Fixture;
use crate::process::{self, Ended, command};
use crate::render;

/// Every class is verified and every JNI call checked.
const STRICT: [&str; 2] = ["-Xverify:all", "-Xcheck:jni"];

/// A JDK with the fixtures compiled for it.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) jdk: Jdk,
    pub(crate) classes: PathBuf,
}

/// Runs a test on every JDK that can compile the fixture. A machine without any fails the test:
/// `make test` sees to a JDK.
#[track_caller]
pub(crate) fn on_every_jdk(fixture: &Fixture, mut test: impl FnMut(&Stage)) {
    for stage in stages() {
        if stage.feature() >= fixture.needs {
            test(stage);
        } else {
            not_here(&format!("{} on JDK {}", fixture.name, stage.feature()));
        }
    }
}

/// Runs a test on the first JDK alone: where the JDK is not what it is about.
pub(crate) fn on_one_jdk() -> &'static Stage {
    &stages()[0]
}

/// Every JDK once per feature version.
pub(crate) fn stages() -> &'static [Stage] {
    static STAGES: OnceLock<Vec<Stage>> = OnceLock::new();
    STAGES.get_or_init(|| {
        let mut stages: Vec<Stage> = Vec::new();
        for jdk in Jdk::all(&JdkLocations::of_process()) {
            let known = stages.iter().any(|s| s.feature() == jdk.version.feature);
            if !known && jdk.tool("javac").is_file() {
                stages.push(Stage::compile(jdk));
            }
        }
        assert!(!stages.is_empty(), "no JDK: install one, or set JAVA_HOME");
        stages
    })
}

/// Reports that a test was left out because a program or library is missing. In CI that is an error.
#[track_caller]
pub(crate) fn skipped(what: &str) {
    let is_allowed = std::env::var_os("CI").is_none();
    assert!(is_allowed, "in CI nothing is left out: {what}");
    not_here(what);
}

/// Reports that a test was left out because this JDK or kernel does not have what it is about.
#[expect(clippy::print_stderr, reason = "whoever runs the tests must see it")]
pub(crate) fn not_here(what: &str) {
    eprintln!("SKIPPED: {what}");
}

/// A fresh folder that is removed when the test ends well.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(scratch()).unwrap()
}

/// Where tests of this binary may write.
pub(crate) fn scratch() -> &'static Path {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(path).unwrap();
    path
}

impl Stage {
    fn compile(jdk: Jdk) -> Stage {
        let feature = jdk.version.feature;
        let classes = scratch().join(format!("jvm-classes-{feature}"));
        let _ = fs::remove_dir_all(&classes);
        fs::create_dir_all(&classes).unwrap();
        let fixtures = Fixture::all();
        let sources = fixtures
            .iter()
            .filter(|fixture| fixture.needs <= feature)
            .flat_map(Fixture::sources);
        let stage = Stage { jdk, classes };
        let mut javac = stage.javac(scratch());
        javac
            .args(["-g", "-nowarn", "-proc:none", "-XDignore.symbol.file", "-d"])
            .arg(&stage.classes)
            .args(sources);
        let ended = process::run(&mut javac);
        assert_eq!(ended.status, 0, "{}", ended.err);
        stage
    }

    /// The compiler, in a folder. It runs so shortly that compiling it optimised takes longer than it saves.
    pub(crate) fn javac(&self, folder: &Path) -> Command {
        let mut javac = command(self.jdk.tool("javac"), folder);
        javac.args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"]);
        javac
    }

    pub(crate) fn feature(&self) -> u32 {
        self.jdk.version.feature
    }

    /// A run of a fixture, to be changed and started.
    pub(crate) fn run<'a>(&'a self, fixture: &'a Fixture) -> Run<'a> {
        Run {
            stage: self,
            record: fixture.record.clone(),
            java: STRICT
                .iter()
                .map(|&s| s.to_owned())
                .chain(fixture.java.clone())
                .collect(),
            class_path: self.classes.display().to_string(),
            program: vec![fixture.main()],
            before: Vec::new(),
            status: fixture.status,
        }
    }
}

/// How to run a program.
#[derive(Clone)]
pub(crate) struct Run<'a> {
    pub(crate) stage: &'a Stage,
    /// Options of `culprit record`.
    pub(crate) record: Vec<String>,
    /// Options of the JVM.
    pub(crate) java: Vec<String>,
    pub(crate) class_path: String,
    /// Main class and arguments.
    pub(crate) program: Vec<String>,
    /// What runs the JVM, where that is not us: a shell, say.
    pub(crate) before: Vec<String>,
    pub(crate) status: i32,
}

/// A program that was recorded.
pub(crate) struct Recorded {
    pub(crate) ended: Ended,
    /// The folder of the run.
    pub(crate) run: PathBuf,
    _folder: tempfile::TempDir,
}

impl Run<'_> {
    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.program.extend(args.iter().map(|&a| a.to_owned()));
        self
    }

    pub(crate) fn recording(mut self, options: &[&str]) -> Self {
        self.record.extend(options.iter().map(|&o| o.to_owned()));
        self
    }

    pub(crate) fn flags(mut self, flags: &[&str]) -> Self {
        self.java.extend(flags.iter().map(|&f| f.to_owned()));
        self
    }

    /// The command line of the JVM.
    pub(crate) fn java(&self) -> Vec<String> {
        let java = self.stage.jdk.tool("java").display().to_string();
        let path = ["-cp".to_owned(), self.class_path.clone()];
        self.before
            .iter()
            .cloned()
            .chain([java])
            .chain(self.java.clone())
            .chain(path)
            .chain(self.program.clone())
            .collect()
    }

    /// `culprit record ... -- java ...` in a folder.
    pub(crate) fn culprit(&self, folder: &Path) -> Command {
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), folder);
        culprit
            .env("XDG_CACHE_HOME", scratch().join("cache"))
            .args(["record", "--quiet", "-o"])
            .arg(folder.join("run"))
            .args(&self.record)
            .arg("--")
            .args(self.java());
        culprit
    }

    /// Runs it without us.
    pub(crate) fn plain(&self) -> Ended {
        let folder = folder();
        let java = self.java();
        process::run(command(&java[0], folder.path()).args(&java[1..]))
    }

    /// Runs it recorded.
    pub(crate) fn record(&self) -> Recorded {
        let folder = folder();
        let ended = process::run(&mut self.culprit(folder.path()));
        Recorded {
            ended,
            run: folder.path().join("run"),
            _folder: folder,
        }
    }

    /// Runs it without us and recorded: nobody can tell the difference.
    #[track_caller]
    pub(crate) fn record_unnoticed(&self) -> Recorded {
        let plain = self.plain_once();
        let recorded = self.record();
        let place = format!("{:?} on JDK {}", self.program, self.stage.feature());
        assert_eq!(plain.status, self.status, "{place} plain: {plain:?}");
        assert_eq!(recorded.ended, plain, "{place}");
        recorded
    }

    /// What the plain run of the same command did; asked for once.
    pub(crate) fn plain_once(&self) -> Ended {
        static KNOWN: Mutex<BTreeMap<Vec<String>, Ended>> = Mutex::new(BTreeMap::new());
        let java = self.java();
        if let Some(known) = KNOWN.lock().unwrap().get(&java) {
            return known.clone();
        }
        let ended = self.plain();
        KNOWN.lock().unwrap().insert(java, ended.clone());
        ended
    }
}

impl Recorded {
    /// The only recording of the run.
    #[track_caller]
    pub(crate) fn recording(&self) -> Recording {
        Recording::open(&self.run).unwrap()
    }

    /// The recording, which must be whole and without any loss, so that its scenario makes sense.
    #[track_caller]
    pub(crate) fn complete(&self) -> Recording {
        let recording = self.recording();
        assert!(recording.losses().is_empty(), "{:?}", recording.losses());
        assert!(!recording.is_truncated());
        let end = recording.end().expect("the recording has its end");
        assert_eq!(end.events, recording.event_count());
        if recording.event_count() <= render::MOST {
            let scenario = culprit_replay::lift(&recording).scenario().unwrap();
            if let Err(inconsistency) = consistency::check(&scenario) {
                panic!("{inconsistency}\n{scenario}");
            }
        }
        recording
    }

    /// The events of the only recording.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<String> {
        render::lines(&self.complete())
    }
}

/// Records a fixture on every JDK and compares the events with `events.txt`.
#[track_caller]
pub(crate) fn check(path: &str) {
    let fixture = Fixture::named(path);
    let runs = AtomicU32::new(0);
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).record_unnoticed();
        fixture.expects(&recorded.lines(), &format!("JDK {}", stage.feature()));
        runs.fetch_add(1, Ordering::Relaxed);
    });
    if runs.load(Ordering::Relaxed) == 0 {
        not_here(&format!("{path} needs JDK {}", fixture.needs));
    }
}
