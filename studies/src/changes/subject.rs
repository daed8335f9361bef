//! Releases as folders of sources, with what builds and tests them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use culprit_jvm::Jdk;

use super::case::Case;
use crate::maven::{Coordinates, Maven};
use crate::process::{tool, words};

/// The preparation of subjects.
pub struct Workshop<'w> {
    pub maven: &'w Maven,
    pub jdk: &'w Jdk,
}

/// A library to isolate changes of.
pub struct Subject {
    pub case: Case,
    /// Compiles a version, in its folder.
    pub build: String,
    /// Runs the driver on it.
    pub test: String,
}

impl Workshop<'_> {
    /// The commands for a case, its driver compiled below `place`.
    pub fn subject(&self, case: Case, also: &[&str], place: &Path) -> anyhow::Result<Subject> {
        let mut wanted = vec![case.buggy.clone()];
        wanted.extend(case.with.iter().cloned());
        wanted.extend(case.framework()?);
        for coordinates in also {
            wanted.push(coordinates.parse()?);
        }
        let jars = self.maven.class_path(&wanted)?;
        let driver = place.join("driver");
        fs::create_dir_all(&driver)?;
        let mut args = words(["-nowarn", "-proc:none", "-d"]);
        args.push(driver.clone().into());
        args.extend(["-cp".into(), joined(jars.iter()).into()]);
        for entry in fs::read_dir(&case.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|it| it == "java") {
                args.push(path.into());
            }
        }
        tool(&self.jdk.tool("javac"), args, place)?;
        // The library itself is what a candidate is.
        let own = case.buggy.file_name();
        let others: Vec<PathBuf> = jars
            .into_iter()
            .filter(|jar| !jar.ends_with(&own))
            .collect();
        let libraries = joined(others.iter());
        let build = format!(
            "{} -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -encoding ISO-8859-1 -nowarn \
             -proc:none -Xmaxerrs 1000 -cp :{libraries} -d classes $(find . -name '*.java')",
            self.jdk.tool("javac").display()
        );
        let test = format!(
            "{} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp classes:{} {}",
            self.jdk.tool("java").display(),
            joined([driver].iter().chain(&others)),
            case.main()
        );
        Ok(Subject { case, build, test })
    }

    /// Unpacks the sources of a release.
    pub fn sources(&self, release: &Coordinates, folder: &Path) -> anyhow::Result<()> {
        let sources = Coordinates {
            classifier: Some("sources".to_owned()),
            ..release.clone()
        };
        let jar = self.maven.jar(&sources)?;
        fs::create_dir_all(folder)?;
        let mut args = words(["xf"]);
        args.push(jar.into());
        tool(&self.jdk.tool("jar"), args, folder)?;
        // What says how the jar was packed is no source.
        let packing = folder.join("META-INF");
        if packing.exists() {
            fs::remove_dir_all(&packing)
                .with_context(|| format!("cannot remove {}", packing.display()))?;
        }
        Ok(())
    }
}

fn joined<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> String {
    let paths: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    paths.join(":")
}
