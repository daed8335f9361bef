//! The last check of a test: compiled by `javac`, and run in a JVM of its own without anything of
//! Culprit, in the confines of the candidates.

mod by_hand;
mod runner;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_junit::{Junit, Test};
use culprit_jvm::{Deadline, Jdk, LaunchError, Status, WorkingFolder, Workspace};
use culprit_signature::Thrown;

pub use by_hand::ByHand;
pub use runner::Runner;
use runner::{CLASS, MARK};

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
    /// The folder that the test works in.
    pub works_in: &'a WorkingFolder,
    /// The folder of the user that it is meant for.
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
        let workspace = Workspace::new(&scratch, self.works_in)?;
        words.extend_from_slice(workspace.jvm_options());
        words.extend(running(&classes, &path, test));
        let place = Place {
            directory: workspace.directory(),
            scratch: &scratch,
        };
        let java = self.confines.java(self.jdk, words, place);
        let ran = java.run(self.deadline.within(LIMIT))?;
        Ok(match verdict(ran.status, &ran.err, ran.took) {
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

/// Arguments of the JVM that runs a test.
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

/// The end of a test, from the status of its JVM and what it printed; without a status, it took too long.
fn verdict(status: Option<Status>, err: &str, took: Duration) -> Verified {
    match (status, err.split_once(MARK)) {
        (None, _) => Verified::Late(Duration::from_secs(took.as_secs())),
        (_, Some((_, trace))) => Verified::Threw(trace.to_owned()),
        (Some(Status::Exited(0)), None) => Verified::Passed,
        _ => Verified::Broken(err.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_test_ended_is_told_by_its_status_and_by_what_is_behind_the_mark() {
        let trace = "java.lang.IllegalStateException: why\n\tat T.t(T.java:1)\n";
        let threw = Verified::Threw(trace.to_owned());
        let printed = format!("noise of the program\n{MARK}{trace}");
        let verdict = |status, err: &str| verdict(status, err, LIMIT);
        assert_eq!(verdict(Some(Status::Exited(1)), &printed), threw);
        assert_eq!(verdict(Some(Status::Exited(0)), "noise"), Verified::Passed);
        let broken = Verified::Broken("no such class".to_owned());
        assert_eq!(verdict(Some(Status::Exited(1)), "no such class"), broken);
        let killed = Verified::Broken(String::new());
        assert_eq!(verdict(Some(Status::Killed(9)), ""), killed);
        assert_eq!(verdict(None, &printed), Verified::Late(LIMIT));
    }
}
