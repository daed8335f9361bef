//! The last check of a test: compiled by `javac`, and run in a JVM of its own without anything of
//! Culprit, in the confines of the candidates.

mod by_hand;
mod runner;
mod verdict;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_junit::{Junit, Test};
use culprit_jvm::{Deadline, Jdk, LaunchError, Status};
use culprit_signature::Thrown;

pub use by_hand::ByHand;
use runner::CLASS;
pub use runner::Runner;
use verdict::Mark;

use crate::confines::{Place, on_class_path};
use crate::{Confines, Error, Program, full_name};

/// How long a test may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// How a test ended that was run on its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verified {
    /// Nothing was thrown.
    Passed,
    /// The stack trace of the exception.
    Threw(String),
    /// The same where the sandbox refused something: this is no failure of the program.
    Refused(String),
    /// It does not compile: what the compiler says.
    Rejected(String),
    /// The test ended the JVM with this exit status, by `System.exit` say: it neither passed nor failed.
    Exited(u8),
    /// It did not end as tests do.
    Broken(String),
    /// It did not end in this time.
    Late(Duration),
    /// There is no compiler.
    NoCompiler(PathBuf),
    /// Somebody wanted us to end before it did.
    Interrupted,
}

/// Which JUnit a class path has.
pub fn junit_of(program: &Program) -> Option<Junit> {
    if program.entry_of("org/junit/jupiter/api/Test").is_some() {
        return Some(Junit::Five);
    }
    program.entry_of("org/junit/Test").map(|_| Junit::Four)
}

/// What a test is compiled and run with.
pub struct Surroundings<'a> {
    pub jdk: &'a Jdk,
    pub class_path: &'a [PathBuf],
    pub junit: Junit,
    /// Who runs it. Where JUnit does not run with this class path, it is our own.
    pub runner: Runner,
    /// Where files go that are made on the way. It is to be empty.
    pub folder: &'a Path,
    /// The folder that the test works in; without one, a new one that it may write to.
    pub directory: Option<&'a Path>,
    /// Rights and limits of the compiler and of the test.
    pub confines: &'a Confines,
    /// When it ends at the latest.
    pub deadline: &'a Deadline,
}

/// Compiles and runs a test; who ran it in the end.
pub fn verify(test: &Test, surroundings: &Surroundings<'_>) -> Result<(Verified, Runner), Error> {
    let javac = surroundings.jdk.tool("javac");
    let runner = surroundings.runner;
    if !javac.exists() {
        return Ok((Verified::NoCompiler(javac), runner));
    }
    let verified = match surroundings.run(test, runner) {
        Err(Error::Launch(LaunchError::Interrupted)) => Verified::Interrupted,
        verified => verified?,
    };
    let is_broken = matches!(verified, Verified::Rejected(_) | Verified::Broken(_));
    match is_broken && runner.is_junit() {
        true => Ok((surroundings.run(test, Runner::Own)?, Runner::Own)),
        false => Ok((verified, runner)),
    }
}

impl Surroundings<'_> {
    fn run(&self, test: &Test, runner: Runner) -> Result<Verified, Error> {
        let folder = self.folder.join(runner.name().replace(' ', "-"));
        let (classes, scratch) = (folder.join("classes"), folder.join("tmp"));
        for place in [&classes, &scratch] {
            fs::create_dir_all(place)?;
        }
        let own = (format!("{}.java", test.class_name), &*test.source);
        let mut files = Vec::new();
        for (name, source) in [own].into_iter().chain(runner.sources(self.junit)) {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap_or(&folder))?;
            fs::write(&file, source)?;
            files.push(OsString::from(file));
        }
        let path = self.joined();
        let place = Place {
            directory: &folder,
            scratch: &folder,
        };
        let javac = self
            .confines
            .javac(self.jdk, (&path, &files), &classes, place);
        let compiled = javac.run(self.deadline.within(LIMIT))?;
        if compiled.status.is_none() {
            let why = format!("the compiler did not end within {:.0?}", compiled.took);
            return Ok(Verified::Rejected(why));
        }
        if compiled.status != Some(Status::Exited(0)) {
            return Ok(Verified::Rejected(compiled.err));
        }
        let mut words: Vec<OsString> = ["-Xshare:auto", "-XX:TieredStopAtLevel=1"]
            .map(OsString::from)
            .to_vec();
        let mark = Mark::new();
        words.extend(running(&classes, &path, test));
        words.push(mark.word().into());
        let place = Place {
            directory: self.directory.unwrap_or(&scratch),
            scratch: &scratch,
        };
        let java = self.confines.java(self.jdk, words, place);
        let ran = java.run(self.deadline.within(LIMIT))?;
        Ok(match mark.verdict(ran.status, &ran.err, ran.took) {
            Verified::Threw(trace) if self.is_refused(&trace) => Verified::Refused(trace),
            verified => verified,
        })
    }

    fn is_refused(&self, trace: &str) -> bool {
        let is_refusal = |thrown: Thrown| thrown.refusal().is_some();
        self.confines.sandbox.is_some() && Thrown::parse(trace).is_some_and(is_refusal)
    }

    fn joined(&self) -> OsString {
        std::env::join_paths(self.class_path).unwrap_or_default()
    }
}

/// Arguments of the JVM that runs a test. A mark may follow, for the lines of the runner.
fn running(classes: &Path, class_path: &OsStr, test: &Test) -> Vec<OsString> {
    let mut whole = classes.as_os_str().to_owned();
    whole.push(":");
    whole.push(class_path);
    let name = full_name(test);
    let method = &test.method;
    let last = [CLASS, &name, method].map(OsString::from);
    ["-ea".into(), on_class_path(&whole)]
        .into_iter()
        .chain(last)
        .collect()
}
