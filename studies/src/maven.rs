//! Libraries from Maven Central: coordinates in, paths of jars out.
//!
//! The ordinary `mvn` does all the work, on a pom written for the purpose. The jars stay in
//! Maven's own repository; what is kept here is the list of them, so that a study that was run
//! once needs neither Maven nor a network to run again.

use std::ffi::{OsStr, OsString};
use std::fmt::{self, Write};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use culprit_jvm::resolve;

use crate::process::{Outcome, Run, words};

/// Fixed, so that the same study means the same thing everywhere.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1";
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// A file in a Maven repository: `group:artifact:version` or
/// `group:artifact:classifier:version`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Coordinates {
    pub group: String,
    pub artifact: String,
    pub classifier: Option<String>,
    pub version: String,
}

impl FromStr for Coordinates {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Coordinates> {
        let parts: Vec<&str> = text.split(':').collect();
        let (group, artifact, classifier, version) = match parts.as_slice() {
            [group, artifact, version] => (group, artifact, None, version),
            [group, artifact, classifier, version] => (group, artifact, Some(classifier), version),
            _ => bail!("`{text}` is not group:artifact[:classifier]:version"),
        };
        let fit = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        ensure!(
            parts
                .iter()
                .all(|part| !part.is_empty() && part.chars().all(fit)),
            "`{text}` is not group:artifact[:classifier]:version"
        );
        Ok(Coordinates {
            group: (*group).to_owned(),
            artifact: (*artifact).to_owned(),
            classifier: classifier.map(|it| (*it).to_owned()),
            version: (*version).to_owned(),
        })
    }
}

impl fmt::Display for Coordinates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:", self.group, self.artifact)?;
        if let Some(classifier) = &self.classifier {
            write!(f, "{classifier}:")?;
        }
        write!(f, "{}", self.version)
    }
}

impl Coordinates {
    /// The name of the file in any Maven repository.
    pub fn file_name(&self) -> String {
        let classifier = self.classifier.iter().map(|it| format!("-{it}"));
        format!(
            "{}-{}{}.jar",
            self.artifact,
            self.version,
            classifier.collect::<String>()
        )
    }
}

/// Maven, and where to remember what it said.
#[derive(Clone, Debug)]
pub struct Maven {
    path: Option<OsString>,
    cache: PathBuf,
}

impl Maven {
    /// Takes `mvn` from `path` when it is needed, and keeps lists of jars in `cache`, a folder
    /// such as `target/studies/maven`.
    pub fn new(path: Option<&OsStr>, cache: &Path) -> Maven {
        Maven {
            path: path.map(OsStr::to_owned),
            cache: cache.to_owned(),
        }
    }

    /// The jars of `wanted` and of all they need at run time, in the order of a class path.
    pub fn class_path(&self, wanted: &[Coordinates]) -> anyhow::Result<Vec<PathBuf>> {
        ensure!(!wanted.is_empty(), "no coordinates to resolve");
        let pom = pom(wanted)?;
        let folder = self.cache.join(format!(
            "{}-{:016x}",
            wanted[0].artifact,
            fingerprint(pom.as_bytes())
        ));
        let list = folder.join("class-path.txt");
        if let Some(jars) = remembered(&list) {
            return Ok(jars);
        }
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let folder = folder.canonicalize()?;
        fs::write(folder.join("pom.xml"), pom)?;
        // Written under another name first: a list is whole or not there.
        let fresh = folder.join("class-path.new");
        self.ask(wanted, &folder, &fresh)?;
        fs::rename(&fresh, &list)?;
        remembered(&list).with_context(|| {
            format!(
                "Maven resolved {} to files that are not there",
                names(wanted)
            )
        })
    }

    /// One jar without what it needs.
    pub fn jar(&self, wanted: &Coordinates) -> anyhow::Result<PathBuf> {
        let name = wanted.file_name();
        self.class_path(std::slice::from_ref(wanted))?
            .into_iter()
            .find(|jar| jar.file_name() == Some(OsStr::new(&name)))
            .with_context(|| format!("Maven resolved {wanted}, but to no file {name}"))
    }

    fn ask(&self, wanted: &[Coordinates], folder: &Path, list: &Path) -> anyhow::Result<()> {
        let program = resolve("mvn".as_ref(), self.path.as_deref())
            .context("Maven is needed to fetch libraries; `scripts/setup maven` installs it")?;
        let log = folder.join("mvn.log");
        let mut args = words(["--batch-mode", "--quiet", "--file"]);
        args.push(folder.join("pom.xml").into_os_string());
        args.extend(words([
            format!("{PLUGIN}:build-classpath"),
            "-DincludeScope=runtime".to_owned(),
            "-Dmdep.pathSeparator=\u{7c}".to_owned(),
            format!("-Dmdep.outputFile={}", list.display()),
        ]));
        let outcome = Run {
            program,
            args,
            folder: folder.to_owned(),
            env: Vec::new(),
            stdout: log.clone(),
            stderr: folder.join("mvn.err"),
            limit: LIMIT,
        }
        .run()?;
        match outcome {
            Outcome::Ended { status, .. } if status.is_success() => Ok(()),
            Outcome::Ended { status, .. } => {
                let said = fs::read_to_string(&log).unwrap_or_default();
                let first = said.lines().find(|line| line.contains("ERROR"));
                bail!(
                    "Maven cannot resolve {} (status {status}): {} (all it said: {})",
                    names(wanted),
                    first.unwrap_or("no reason given"),
                    log.display()
                )
            }
            Outcome::TimedOut => bail!(
                "Maven took more than {} minutes to resolve {}",
                LIMIT.as_secs() / 60,
                names(wanted)
            ),
        }
    }
}

fn names(wanted: &[Coordinates]) -> String {
    let names: Vec<String> = wanted.iter().map(Coordinates::to_string).collect();
    names.join(", ")
}

/// The list, if every file on it is still there.
fn remembered(list: &Path) -> Option<Vec<PathBuf>> {
    let text = fs::read_to_string(list).ok()?;
    let jars: Vec<PathBuf> = text.trim().split('|').map(PathBuf::from).collect();
    jars.iter().all(|jar| jar.is_file()).then_some(jars)
}

fn pom(wanted: &[Coordinates]) -> Result<String, fmt::Error> {
    let mut pom = String::from(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">
  <modelVersion>4.0.0</modelVersion>
  <groupId>study</groupId>
  <artifactId>study</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
",
    );
    for it in wanted {
        writeln!(pom, "    <dependency>")?;
        writeln!(pom, "      <groupId>{}</groupId>", it.group)?;
        writeln!(pom, "      <artifactId>{}</artifactId>", it.artifact)?;
        writeln!(pom, "      <version>{}</version>", it.version)?;
        if let Some(classifier) = &it.classifier {
            writeln!(pom, "      <classifier>{classifier}</classifier>")?;
        }
        writeln!(pom, "    </dependency>")?;
    }
    pom.push_str("  </dependencies>\n</project>\n");
    Ok(pom)
}

/// FNV-1a: a name for the folder that only changes with the question.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_parse_and_print_back() {
        for (text, file) in [
            ("commons-codec:commons-codec:1.15", "commons-codec-1.15.jar"),
            ("org.a:b:tests:2.0-rc1", "b-2.0-rc1-tests.jar"),
        ] {
            let coordinates: Coordinates = text.parse().unwrap();
            assert_eq!(coordinates.to_string(), text);
            assert_eq!(coordinates.file_name(), file);
        }
    }

    #[test]
    fn what_is_not_a_coordinate_is_refused() {
        for text in ["", "a:b", "a::1", "a:b:c:d:e", "a:b:1<2"] {
            let error = text.parse::<Coordinates>().unwrap_err().to_string();
            assert!(error.contains("is not group:artifact"), "{text}: {error}");
        }
    }

    #[test]
    fn a_list_counts_only_while_its_files_are_there() {
        let dir = tempfile::tempdir().unwrap();
        let maven = Maven::new(None, dir.path());
        let wanted: Vec<Coordinates> = vec!["a:b:1".parse().unwrap()];
        let error = format!("{:#}", maven.class_path(&wanted).unwrap_err());
        assert!(error.contains("scripts/setup maven"), "{error}");

        let jar = dir.path().join("b-1.jar");
        let hash = fingerprint(pom(&wanted).unwrap().as_bytes());
        let folder = dir.path().join(format!("b-{hash:016x}"));
        fs::write(folder.join("class-path.txt"), jar.to_str().unwrap()).unwrap();
        assert!(maven.class_path(&wanted).is_err());
        fs::write(&jar, "").unwrap();
        assert_eq!(maven.jar(&wanted[0]).unwrap(), jar);
        assert_eq!(maven.class_path(&wanted).unwrap(), [jar]);
    }
}
