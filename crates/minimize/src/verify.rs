//! The last word on a test: compiled by `javac`, and run in a JVM of its own without anything of
//! Culprit.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_junit::{Junit, Test};
use culprit_jvm::{CRASH_REPORT, Jdk, Launch, Limits, Status};

use crate::{Error, Program};

/// Stands in for JUnit where the class path has none: enough to compile, and to run, one method.
const JUNIT_5: &str = "package org.junit.jupiter.api;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

@Retention(RetentionPolicy.RUNTIME)
public @interface Test {}
";
const JUNIT_4: &str = "package org.junit;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

@Retention(RetentionPolicy.RUNTIME)
public @interface Test {}
";

/// Runs one test method and prints what it throws.
const RUNNER: &str = "import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

public final class CulpritRunner {
    public static void main(String[] words) throws Exception {
        Class<?> type = Class.forName(words[0]);
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        Method method = type.getDeclaredMethod(words[1]);
        method.setAccessible(true);
        try {
            method.invoke(constructor.newInstance());
        } catch (InvocationTargetException thrown) {
            System.err.println(\"CULPRIT-THROWN\");
            thrown.getCause().printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().halt(0);
    }
}
";

/// What the runner prints before an exception.
const MARK: &str = "CULPRIT-THROWN\n";

/// How long a test may take.
const LIMIT: Duration = Duration::from_secs(60);

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
    /// There is no compiler.
    NoCompiler(PathBuf),
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
    /// Whether the class path has JUnit.
    pub has_junit: bool,
    /// Where files go that are made on the way. It is to be empty.
    pub folder: &'a Path,
    /// The folder that the test is run in.
    pub directory: &'a Path,
}

/// Compiles and runs a test.
pub fn verify(test: &Test, surroundings: &Surroundings<'_>) -> Result<Verified, Error> {
    let Surroundings {
        jdk,
        class_path,
        has_junit,
        folder,
        directory,
    } = *surroundings;
    let javac = jdk.tool("javac");
    if !javac.exists() {
        return Ok(Verified::NoCompiler(javac));
    }
    let classes = folder.join("classes");
    fs::create_dir_all(&classes)?;
    let file = folder.join(format!("{}.java", test.class_name));
    fs::write(&file, &test.source)?;
    let runner = folder.join("CulpritRunner.java");
    fs::write(&runner, RUNNER)?;
    let mut sources = vec![file, runner];
    if !has_junit {
        let five = test.source.contains("org.junit.jupiter");
        let stub = folder.join("junit");
        fs::create_dir_all(&stub)?;
        let stub = stub.join("Test.java");
        fs::write(&stub, if five { JUNIT_5 } else { JUNIT_4 })?;
        sources.push(stub);
    }
    let path = std::env::join_paths(class_path).unwrap_or_default();
    let launch = |tool: &str, directory: &Path, args: Vec<OsString>| Launch {
        file: jdk.tool(tool),
        args,
        env: vec![
            ("TZ".into(), "UTC".into()),
            ("LC_ALL".into(), "C.UTF-8".into()),
        ],
        directory: directory.to_owned(),
        limits: Limits::default(),
        sandbox: None,
    };
    let mut args: Vec<OsString> = ["-nowarn", "-proc:none", "-g", "-encoding", "UTF-8", "-d"]
        .map(OsString::from)
        .to_vec();
    args.extend([classes.clone().into(), "-cp".into(), path.clone()]);
    args.extend(sources.into_iter().map(OsString::from));
    let compiled = launch("javac", folder, args).run(LIMIT)?;
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
    let mut args: Vec<OsString> = ["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-ea", "-cp"]
        .map(OsString::from)
        .to_vec();
    let mut report = OsString::from("-XX:ErrorFile=");
    report.push(folder.join(CRASH_REPORT));
    args.insert(0, report);
    args.extend([
        whole,
        "CulpritRunner".into(),
        name.into(),
        test.method.clone().into(),
    ]);
    let ran = launch("java", directory, args).run(LIMIT)?;
    Ok(verdict(ran.status, &ran.err))
}

/// How a test ended whose JVM ended like this and printed that; without a status, it took too long.
fn verdict(status: Option<Status>, err: &str) -> Verified {
    match (status, err.split_once(MARK)) {
        (None, _) => Verified::Broken(format!("it took more than {LIMIT:?}")),
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
        assert_eq!(verdict(Some(Status::Exited(1)), &printed), threw);
        assert_eq!(verdict(Some(Status::Exited(0)), "noise"), Verified::Passed);
        let broken = Verified::Broken("no such class".to_owned());
        assert_eq!(verdict(Some(Status::Exited(1)), "no such class"), broken);
        let killed = Verified::Broken(String::new());
        assert_eq!(verdict(Some(Status::Killed(9)), ""), killed);
        let late = Verified::Broken("it took more than 60s".to_owned());
        assert_eq!(verdict(None, &printed), late);
    }
}
