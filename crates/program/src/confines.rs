//! Confines of the compiler and of a generated test: those of the workers that ran the candidates.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use culprit_jvm::{Jdk, Launch, Limits, Sandbox, jvm_options};

use crate::{Environment, PlainWorkers};

/// Options of a JVM that runs for a second: its fast compiler and its simplest collector. With them `javac` needs
/// two thirds of the time for a short test.
const SHORT_LIVED: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// Rights and limits of the processes that are started for a test.
#[derive(Clone, Debug)]
pub struct Confines {
    /// `None` lets them do whatever we may do.
    pub sandbox: Option<Sandbox>,
    pub limits: Limits,
    /// Megabytes of the Java heap.
    pub heap: u64,
    /// Variables that a test may be given, besides those that are the same everywhere.
    pub environment: Environment,
    /// Options that a test may be given, which limit its memory.
    pub memory: Vec<String>,
}

/// The folders of a process.
#[derive(Clone, Copy, Debug)]
pub struct Folders<'a> {
    /// The working folder.
    pub directory: &'a Path,
    /// The one folder that the process may write to.
    pub scratch: &'a Path,
}

/// The input and the output of the compiler.
#[derive(Clone, Copy, Debug)]
pub struct Compilation<'a> {
    pub class_path: &'a OsStr,
    pub sources: &'a [OsString],
    /// The folder for the classes.
    pub classes: &'a Path,
}

impl Confines {
    /// The confines of workers.
    pub fn of(workers: &PlainWorkers) -> Confines {
        Confines {
            sandbox: workers.jvm.sandbox.clone(),
            limits: workers.jvm.limits(),
            heap: workers.jvm.heap,
            environment: workers.environment.clone(),
            memory: workers.memory.clone(),
        }
    }

    /// The compiler. It runs no code from the class path: neither annotation processors nor plugins, which
    /// would start by themselves.
    pub fn javac(&self, jdk: &Jdk, compilation: Compilation<'_>, folders: Folders<'_>) -> Launch {
        let mut args: Vec<OsString> = Vec::new();
        for option in self
            .options(folders)
            .into_iter()
            .chain(SHORT_LIVED.map(OsString::from))
        {
            let mut passed = OsString::from("-J");
            passed.push(option);
            args.push(passed);
        }
        args.extend(compilation.arguments());
        self.launch(jdk, "javac", args, folders)
    }

    /// A JVM, with some of the variables.
    pub fn java(
        &self,
        jdk: &Jdk,
        words: Vec<OsString>,
        folders: Folders<'_>,
        environment: &Environment,
    ) -> Launch {
        let mut args = self.options(folders);
        args.extend(words);
        let mut launch = self.launch(jdk, "java", args, folders);
        launch.env.extend(environment.variables());
        launch
    }

    fn options(&self, folders: Folders<'_>) -> Vec<OsString> {
        let mut options = jvm_options(folders.scratch);
        options.push(format!("-Xmx{}m", self.heap).into());
        options
    }

    fn launch(&self, jdk: &Jdk, tool: &str, args: Vec<OsString>, folders: Folders<'_>) -> Launch {
        let sandbox = self.sandbox.clone();
        Launch {
            file: jdk.tool(tool),
            args,
            env: vec![
                ("TZ".into(), "UTC".into()),
                ("LC_ALL".into(), "C.UTF-8".into()),
            ],
            directory: folders.directory.to_owned(),
            limits: self.limits,
            sandbox: sandbox.map(|sandbox| sandbox.allow_write(folders.scratch)),
        }
    }
}

impl Compilation<'_> {
    /// The arguments of the compiler.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = ["-nowarn", "-proc:none", "-g", "-encoding", "UTF-8"]
            .map(OsString::from)
            .to_vec();
        let classes: OsString = self.classes.into();
        // The folder of the classes has no plugins yet.
        args.extend(["--processor-path".into(), classes.clone()]);
        args.extend(["-d".into(), classes, class_path_option(self.class_path)]);
        args.extend(self.sources.iter().cloned());
        args
    }
}

/// The option for a class path, as a single argument: as an argument of its own, a class path that begins with
/// `@` would be read as a file with more options.
pub fn class_path_option(path: &OsStr) -> OsString {
    let mut option = OsString::from("--class-path=");
    option.push(path);
    option
}
