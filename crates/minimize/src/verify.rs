//! The last word on a test: compiled by `javac`, and run in a JVM of its own without anything of
//! Culprit.

mod runner;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_junit::{Junit, Test};
use culprit_jvm::{CRASH_REPORT, Deadline, Jdk, Launch, LaunchError, Limits, Status};

pub use runner::Runner;
use runner::{CLASS, MARK};

use crate::{Error, Program};

/// How long a test may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// How a test ended that was run on its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verified {
    /// Nothing was thrown.
    Passed,
    /// What is printed of the exception.
    Threw(String),
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
    /// The folder that the test is run in.
    pub directory: &'a Path,
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
        let classes = folder.join("classes");
        fs::create_dir_all(&classes)?;
        let stand_in = runner.stand_in(self.junit);
        let sources = [
            (format!("{}.java", test.class_name), Some(&*test.source)),
            (format!("{CLASS}.java"), Some(runner.source())),
            ("junit/Test.java".to_owned(), stand_in),
        ];
        let mut files = Vec::new();
        for (name, source) in sources {
            if let Some(source) = source {
                let file = folder.join(name);
                fs::create_dir_all(file.parent().unwrap_or(&folder))?;
                fs::write(&file, source)?;
                files.push(OsString::from(file));
            }
        }
        let path = std::env::join_paths(self.class_path).unwrap_or_default();
        let mut args: Vec<OsString> = ["-nowarn", "-proc:none", "-g", "-encoding", "UTF-8", "-d"]
            .map(OsString::from)
            .to_vec();
        args.extend([classes.clone().into(), "-cp".into(), path.clone()]);
        args.extend(files);
        let limit = self.deadline.within(LIMIT);
        let compiled = self.launch("javac", &folder, args).run(limit)?;
        if compiled.status.is_none() {
            let why = format!("the compiler did not end within {:.0?}", compiled.took);
            return Ok(Verified::Rejected(why));
        }
        if compiled.status != Some(Status::Exited(0)) {
            return Ok(Verified::Rejected(compiled.err));
        }
        let mut whole = classes.into_os_string();
        whole.push(":");
        whole.push(&path);
        let name = match test.package.is_empty() {
            true => test.class_name.clone(),
            false => format!("{}.{}", test.package, test.class_name),
        };
        let mut report = OsString::from("-XX:ErrorFile=");
        report.push(folder.join(CRASH_REPORT));
        let mut args = vec![report];
        args.extend(["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-ea", "-cp"].map(OsString::from));
        args.extend([whole, CLASS.into(), name.into(), test.method.clone().into()]);
        let limit = self.deadline.within(LIMIT);
        let ran = self.launch("java", self.directory, args).run(limit)?;
        Ok(verdict(ran.status, &ran.err, ran.took))
    }

    fn launch(&self, tool: &str, directory: &Path, args: Vec<OsString>) -> Launch {
        Launch {
            file: self.jdk.tool(tool),
            args,
            env: vec![
                ("TZ".into(), "UTC".into()),
                ("LC_ALL".into(), "C.UTF-8".into()),
            ],
            directory: directory.to_owned(),
            limits: Limits::default(),
            sandbox: None,
        }
    }
}

/// How a test ended whose JVM ended like this and printed that; without a status, it took too long.
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
