//! The tools of the benchmark: a JDK, the compiled drivers, the agents
//! to compare with, the libraries.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use culprit_jvm::{Jdk, JdkLocations};

use super::subject::{SUBJECTS, Subject};
use crate::maven::Maven;
use crate::process::{Outcome, Run, words};

const JACOCO: &str = "org.jacoco:org.jacoco.agent:runtime:0.8.12";
const ASPECTJ: &str = "org.aspectj:aspectjweaver:1.9.22.1";
const SOURCES: &str = "studies/java/bench";
/// The oldest Java that all the libraries run on.
const RELEASE: &str = "11";

/// Programs and jars, by path.
#[derive(Clone, Debug)]
pub struct Tools {
    pub culprit: PathBuf,
    pub jdk: Jdk,
    pub java: PathBuf,
    pub java_version: String,
    pub jacoco: PathBuf,
    pub aspectj: PathBuf,
    /// The folder of the compiled drivers and aspects.
    pub classes: PathBuf,
    maven: Maven,
}

impl Tools {
    /// Finds, fetches and compiles all of it. `place` is the benchmark's own folder.
    pub fn prepare(root: &Path, culprit: &Path, place: &Path) -> anyhow::Result<Tools> {
        let around = JdkLocations::of_process();
        let jdk = Jdk::find(&around).context("a JDK is needed")?;
        let maven = Maven::new(around.path.as_deref(), &place.join("../maven"));
        let tools = Tools {
            culprit: culprit
                .canonicalize()
                .with_context(|| format!("no culprit at {}", culprit.display()))?,
            java: jdk.tool("java"),
            java_version: jdk.version.to_string(),
            jdk,
            jacoco: maven.jar(&JACOCO.parse()?)?,
            aspectj: maven.jar(&ASPECTJ.parse()?)?,
            classes: place.join("classes"),
            maven,
        };
        tools.compile(root, place)?;
        Ok(tools)
    }

    /// The class path to run a subject with.
    pub fn class_path(&self, subject: &Subject) -> anyhow::Result<PathBuf> {
        let mut entries = vec![self.classes.clone()];
        entries.extend(self.maven.class_path(&[subject.coordinates()?])?);
        Ok(joined(&entries)?.into())
    }

    fn compile(&self, root: &Path, place: &Path) -> anyhow::Result<()> {
        let mut libraries = vec![self.aspectj.clone()];
        for subject in &SUBJECTS {
            libraries.extend(self.maven.class_path(&[subject.coordinates()?])?);
        }
        fs::create_dir_all(&self.classes)?;
        let mut args = words(["-g", "-proc:none", "-Xlint:-options", "--release", RELEASE]);
        args.extend(["-d".into(), self.classes.clone().into()]);
        args.extend(["-cp".into(), joined(&libraries)?]);
        for folder in ["bench", "peer"] {
            let folder = root.join(SOURCES).join(folder);
            for entry in fs::read_dir(&folder)? {
                args.push(entry?.path().into());
            }
        }
        let said = place.join("javac.err");
        let outcome = Run {
            program: self.jdk.tool("javac"),
            args,
            folder: place.to_owned(),
            env: Vec::new(),
            stdout: place.join("javac.out"),
            stderr: said.clone(),
            limit: Duration::from_secs(300),
        }
        .run()?;
        match outcome {
            Outcome::Ended { status, .. } if status.is_success() => Ok(()),
            _ => bail!(
                "the drivers do not compile:\n{}",
                fs::read_to_string(said).unwrap_or_default()
            ),
        }
    }
}

fn joined(entries: &[PathBuf]) -> anyhow::Result<OsString> {
    std::env::join_paths(entries).context("a path of the class path holds a colon")
}
