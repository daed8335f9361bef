//! A JDK, JUnit, and the compiled library.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use culprit_junit::{ClassFacts, Classes};
use culprit_jvm::{Ended, Jdk, JdkLocations, Launch, Limits, Status};
use tempfile::TempDir;

use crate::library::jar;

/// Far more than any of the programs takes.
const LIMIT: Duration = Duration::from_secs(240);

pub(crate) struct Bench {
    pub(crate) jdk: Jdk,
    pub(crate) folder: TempDir,
}

impl Bench {
    /// `None`, with a message, where there is no JDK. In CI that is an error.
    pub(crate) fn new() -> Option<Bench> {
        match Jdk::find(&JdkLocations::of_process()) {
            Ok(jdk) => Some(Bench {
                jdk,
                folder: tempfile::tempdir().unwrap(),
            }),
            Err(error) => {
                skipped(&error.to_string());
                None
            }
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn run(&self, tool: &str, args: &[&str]) -> Ended {
        let launch = Launch {
            file: self.jdk.tool(tool),
            args: args.iter().map(OsString::from).collect(),
            env: Vec::new(),
            directory: self.folder.path().to_owned(),
            limits: Limits::default(),
            sandbox: None,
        };
        launch.run(LIMIT).unwrap()
    }

    /// Runs a tool that must end well.
    #[track_caller]
    pub(crate) fn must(&self, tool: &str, args: &[&str]) -> String {
        let ended = self.run(tool, args);
        let well = ended.status == Some(Status::Exited(0));
        assert!(well, "{tool} {args:?}\n{}\n{}", ended.out, ended.err);
        ended.out
    }
}

/// The class path of the library and JUnit, and the facts of the classes on it and of the JDK.
pub(crate) struct Library {
    pub(crate) class_path: String,
    folders: Vec<PathBuf>,
    jars: Vec<Mutex<zip::ZipArchive<fs::File>>>,
}

impl Library {
    /// `None`, with a message, where JUnit cannot be had.
    pub(crate) fn new(bench: &Bench) -> Option<Library> {
        let jars = [
            jar(
                "org.junit.platform",
                "junit-platform-console-standalone",
                "1.10.2",
                None,
            ),
            jar("junit", "junit", "4.13.2", None),
            jar("org.hamcrest", "hamcrest-core", "1.3", None),
        ];
        let Some(jars) = jars.into_iter().collect::<Option<Vec<_>>>() else {
            skipped("there is no JUnit");
            return None;
        };
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/junit");
        let sources: Vec<String> = ["shop", "shop/stock"]
            .iter()
            .flat_map(|folder| fs::read_dir(sources.join(folder)).unwrap())
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "java"))
            .map(|path| path.display().to_string())
            .collect();
        let mut args = vec!["-g", "-Xlint:all", "-Werror", "-d", "library"];
        args.extend(sources.iter().map(String::as_str));
        bench.must("javac", &args);
        let modules = bench.jdk.home.join("lib/modules").display().to_string();
        let include = "regex:/java.base/java/(lang|util|io)/.*";
        let extract = ["extract", "--dir", "jdk", "--include", include, &modules];
        bench.must("jimage", &extract);
        let path: Vec<String> = [bench.path("library")]
            .iter()
            .chain(&jars)
            .map(|path| path.display().to_string())
            .collect();
        let open = |path| Mutex::new(zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap());
        Some(Library {
            class_path: path.join(":"),
            folders: vec![bench.path("library"), bench.path("jdk/java.base")],
            jars: jars.iter().map(open).collect(),
        })
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let file = format!("{name}.class");
        let mut folders = self.folders.iter();
        if let Some(bytes) = folders.find_map(|folder| fs::read(folder.join(&file)).ok()) {
            return Some(bytes);
        }
        self.jars.iter().find_map(|jar| {
            let mut jar = jar.lock().unwrap();
            let mut bytes = Vec::new();
            jar.by_name(&file).ok()?.read_to_end(&mut bytes).unwrap();
            Some(bytes)
        })
    }
}

impl Classes for Library {
    fn class(&self, name: &str) -> Option<ClassFacts> {
        Some(ClassFacts::parse(&self.read(name)?).unwrap())
    }

    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.read(name)
    }
}

#[expect(clippy::print_stderr, reason = "a test says what it leaves out")]
pub(crate) fn skipped(why: &str) {
    assert!(env::var_os("CI").is_none(), "{why}");
    eprintln!("SKIPPED: {why}");
}
