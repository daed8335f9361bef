//! Confines of the compiler and of a generated test: those of the workers that ran the candidates.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use culprit_jvm::{Jdk, Launch, Limits, Sandbox, jvm_options};
use culprit_replay::{Environment, Replayer};

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
}

/// Where a process works, and the one folder that it may write to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) directory: &'a Path,
    pub(crate) scratch: &'a Path,
}

impl Confines {
    /// Those of the workers of a replayer.
    pub fn of(replayer: &Replayer) -> Confines {
        Confines {
            sandbox: replayer.sandbox.clone(),
            limits: replayer.limits(),
            heap: replayer.heap,
            environment: replayer.environment.clone(),
        }
    }

    /// The compiler. Nothing that the class path names is run by it: neither annotation processors nor
    /// plugins, which start by themselves where they are found.
    pub(crate) fn javac(
        &self,
        jdk: &Jdk,
        (class_path, files): (&OsStr, &[OsString]),
        out: &Path,
        place: Place<'_>,
    ) -> Launch {
        let mut args: Vec<OsString> = Vec::new();
        for option in self.options(place) {
            let mut passed = OsString::from("-J");
            passed.push(option);
            args.push(passed);
        }
        args.extend(compiling(class_path, files, out));
        self.launch(jdk, "javac", args, place)
    }

    /// A JVM, with some of the variables.
    pub(crate) fn java(
        &self,
        jdk: &Jdk,
        words: Vec<OsString>,
        place: Place<'_>,
        environment: &Environment,
    ) -> Launch {
        let mut args = self.options(place);
        args.extend(words);
        let mut launch = self.launch(jdk, "java", args, place);
        launch.env.extend(environment.variables());
        launch
    }

    fn options(&self, place: Place<'_>) -> Vec<OsString> {
        let mut options = jvm_options(place.scratch);
        options.push(format!("-Xmx{}m", self.heap).into());
        options
    }

    fn launch(&self, jdk: &Jdk, tool: &str, args: Vec<OsString>, place: Place<'_>) -> Launch {
        let sandbox = self.sandbox.clone();
        Launch {
            file: jdk.tool(tool),
            args,
            env: vec![
                ("TZ".into(), "UTC".into()),
                ("LC_ALL".into(), "C.UTF-8".into()),
            ],
            directory: place.directory.to_owned(),
            limits: self.limits,
            sandbox: sandbox.map(|sandbox| sandbox.allow_write(place.scratch)),
        }
    }
}

/// Arguments of the compiler.
pub(crate) fn compiling(class_path: &OsStr, files: &[OsString], out: &Path) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["-nowarn", "-proc:none", "-g", "-encoding", "UTF-8"]
        .map(OsString::from)
        .to_vec();
    // The folder of the classes has no plugins yet.
    args.extend(["--processor-path".into(), out.into()]);
    args.extend(["-d".into(), out.into(), on_class_path(class_path)]);
    args.extend(files.iter().cloned());
    args
}

/// The option for a class path, in one word: a word of its own that begins with `@` would be the name of a
/// file with more options.
pub(crate) fn on_class_path(path: &OsStr) -> OsString {
    let mut option = OsString::from("--class-path=");
    option.push(path);
    option
}
