//! Finding a JDK: `JAVA_HOME` first, then `PATH`, then the folders where packages put them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::launcher::{is_executable, java_home_of, resolve};
use crate::target::command;
use crate::{JavaVersion, JdkError, OLDEST_JAVA};

/// An installed JDK of a version the agent works with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Jdk {
    pub home: PathBuf,
    pub version: JavaVersion,
}

/// The places to search; passed in, so that tests need not change the environment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JdkLocations {
    pub java_home: Option<PathBuf>,
    pub path: Option<OsString>,
    /// Folders whose children are JDKs.
    pub usual: Vec<PathBuf>,
}

impl JdkLocations {
    /// The surroundings of this process.
    pub fn of_process() -> JdkLocations {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let in_home = [".sdkman/candidates/java", ".jdks", ".asdf/installs/java"];
        let mut usual: Vec<PathBuf> = ["/usr/lib/jvm", "/usr/java", "/opt/java", "/opt/jdk"]
            .map(PathBuf::from)
            .to_vec();
        usual.extend(
            home.iter()
                .flat_map(|home| in_home.map(|name| home.join(name))),
        );
        JdkLocations {
            java_home: std::env::var_os("JAVA_HOME")
                .filter(|value| !value.is_empty())
                .map(PathBuf::from),
            path: std::env::var_os("PATH"),
            usual,
        }
    }
}

impl Jdk {
    /// The JDK the user means. `JAVA_HOME` is an explicit wish, so a bad one is an error and not
    /// passed over.
    pub fn find(around: &JdkLocations) -> Result<Jdk, JdkError> {
        if let Some(home) = &around.java_home {
            return Jdk::at(home);
        }
        let mut first_problem = None;
        for home in candidates(around) {
            match Jdk::at(&home) {
                Ok(jdk) => return Ok(jdk),
                Err(error) => first_problem = first_problem.or(Some(error)),
            }
        }
        Err(first_problem.unwrap_or(JdkError::NotFound))
    }

    /// Every usable JDK, each once, the one that [`Jdk::find`] takes first.
    pub fn all(around: &JdkLocations) -> Vec<Jdk> {
        let mut found: Vec<Jdk> = Vec::new();
        for home in around
            .java_home
            .clone()
            .into_iter()
            .chain(candidates(around))
        {
            let Ok(home) = home.canonicalize() else {
                continue;
            };
            if found.iter().any(|jdk| jdk.home == home) {
                continue;
            }
            found.extend(Jdk::at(&home));
        }
        found
    }

    /// The JDK at `home`.
    pub fn at(home: &Path) -> Result<Jdk, JdkError> {
        let java = home.join("bin/java");
        if !is_executable(&java) {
            return Err(JdkError::NotAJdk(home.to_path_buf()));
        }
        let version = fs::read_to_string(home.join("release"))
            .ok()
            .and_then(|text| JavaVersion::in_release_file(&text))
            .or_else(|| ask(&java))
            .ok_or_else(|| JdkError::NoVersion(home.to_path_buf()))?;
        if version.feature < OLDEST_JAVA {
            return Err(JdkError::TooOld {
                home: home.to_path_buf(),
                version,
            });
        }
        Ok(Jdk {
            home: home.to_path_buf(),
            version,
        })
    }

    /// The path of one of its tools: `java`, `javac`, `jar`.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }
}

fn candidates(around: &JdkLocations) -> Vec<PathBuf> {
    let on_path = resolve("java".as_ref(), around.path.as_deref())
        .ok()
        .and_then(|java| java_home_of(&java));
    let mut usual: Vec<PathBuf> = around
        .usual
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
        .filter(|home| home.join("bin/java").is_file())
        .collect();
    usual.sort();
    on_path.into_iter().chain(usual).collect()
}

fn ask(java: &Path) -> Option<JavaVersion> {
    let output = command(java)
        .arg("-version")
        .env_remove("JAVA_TOOL_OPTIONS")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    JavaVersion::in_banner(&String::from_utf8_lossy(&output.stderr))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::tests::write_program;

    fn fake(parent: &Path, name: &str, release: Option<&str>, banner: &str) -> PathBuf {
        let home = parent.join(name);
        fs::create_dir_all(home.join("bin")).unwrap();
        let java = home.join("bin/java");
        write_program(&java, &format!("#!/bin/sh\necho '{banner}' >&2\n"));
        if let Some(version) = release {
            fs::write(
                home.join("release"),
                format!("JAVA_VERSION=\"{version}\"\n"),
            )
            .unwrap();
        }
        home
    }

    #[test]
    fn java_home_wins_over_path_and_path_over_the_usual_folders() {
        let dir = tempfile::tempdir().unwrap();
        let wished = fake(dir.path(), "a", Some("21.0.1"), "");
        let on_path = fake(dir.path(), "b", Some("17.0.1"), "");
        fake(&dir.path().join("jvms"), "c", Some("11.0.1"), "");
        let mut around = JdkLocations {
            java_home: Some(wished),
            path: Some(on_path.join("bin").into_os_string()),
            usual: vec![dir.path().join("jvms")],
        };
        let features = |around: &JdkLocations| {
            let all = Jdk::all(around);
            all.iter()
                .map(|jdk| jdk.version.feature)
                .collect::<Vec<_>>()
        };
        assert_eq!(Jdk::find(&around).unwrap().version.feature, 21);
        assert_eq!(features(&around), [21, 17, 11]);
        around.java_home = None;
        assert_eq!(Jdk::find(&around).unwrap().version.feature, 17);
        around.path = None;
        assert_eq!(Jdk::find(&around).unwrap().version.feature, 11);
        around.usual.clear();
        assert!(matches!(Jdk::find(&around), Err(JdkError::NotFound)));
    }

    #[test]
    fn a_jdk_without_a_release_file_is_asked() {
        let dir = tempfile::tempdir().unwrap();
        let home = fake(
            dir.path(),
            "a",
            None,
            "openjdk version \"12.0.2\" 2019-07-16",
        );
        assert_eq!(Jdk::at(&home).unwrap().version.feature, 12);
    }

    #[test]
    fn unusable_jdks_say_why_and_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let old = fake(dir.path(), "old", Some("1.8.0_292"), "");
        let mute = fake(dir.path(), "mute", None, "");
        for (home, expect) in [
            (old, "Java 1.8.0_292 at "),
            (mute, "does not report its version"),
            (dir.path().join("none"), "it has no bin/java"),
        ] {
            let error = Jdk::at(&home).unwrap_err();
            assert!(error.to_string().contains(expect), "{error}");
            assert!(!error.next_step().is_empty());
        }
    }
}
