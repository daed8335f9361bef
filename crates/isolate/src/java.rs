//! Tests of JUnit: one method of one class is the test, and the candidate is what it reads.
//!
//! The candidate is put where the test finds it and the user's own is hidden, not changed: as a resource
//! in a folder that comes before the class path, or as a file in a folder that has links to all else
//! that is where the user is. The classes of `java/tester` run the test, by whatever JUnit the class
//! path has.

mod shadow;
mod warm;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_jvm::{Limits, Sandbox};
use culprit_model::shell;
pub(crate) use shadow::shadow;
pub use warm::Warm;

use crate::{Convention, Error, Rule, Sign, TestCommand};

/// The class that runs tests.
const MAIN: &str = "culprit.tester.Main";

/// The variable with the folder of that class: a command is the same wherever that is.
const TESTER: &str = "CULPRIT_TESTER";

/// All options of the JVM. Tests are run with assertions by all build tools, and are over before the
/// better compiler pays.
const OPTIONS: &str = "-ea -Xshare:auto -XX:TieredStopAtLevel=1 -XX:-UsePerfData";

macro_rules! class {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!(
                "../../../java/tester/classes/culprit/tester/",
                $name
            )),
        )
    };
}

const CLASSES: [(&str, &[u8]); 7] = [
    class!("Junit.class"),
    class!("Main.class"),
    class!("Outcome.class"),
    class!("Plain.class"),
    class!("Platform.class"),
    class!("Warm.class"),
    class!("Warm$Run.class"),
];

/// A test of JUnit.
#[derive(Clone, Debug)]
pub struct JavaTest {
    /// The program.
    pub java: PathBuf,
    /// Absolute paths.
    pub class_path: Vec<PathBuf>,
    pub class: String,
    pub method: String,
    /// Where the test reads its input.
    pub reads: Reads,
    /// Where it may write besides folders of its own; `None` lets it do whatever we may do.
    pub sandbox: Option<Sandbox>,
    /// What each JVM may use up.
    pub limits: Limits,
}

/// Where a test reads its input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reads {
    /// A resource of the class path, by its name.
    Resource(PathBuf),
    /// A file, by its path from the folder that the test runs in.
    File(PathBuf),
}

impl JavaTest {
    /// The test as a command, each time in a new JVM. What it needs is put into a folder.
    pub fn test(
        &self,
        folder: &Path,
        signs: Vec<Sign>,
        limit: Duration,
        env: &[(OsString, OsString)],
    ) -> Result<TestCommand, Error> {
        let tester = self.install(folder)?;
        let before = match self.reads {
            Reads::Resource(_) => "{}:",
            Reads::File(_) => "",
        };
        let mut command = OsString::from("exec ");
        command.push(shell::word(&self.java));
        command.push(format!(
            " {OPTIONS} -Djava.io.tmpdir=\"$TMPDIR\" -cp {before}"
        ));
        command.push(shell::word(self.joined()));
        command.push(format!(":\"${TESTER}\" {MAIN}"));
        for word in [&self.class, &self.method] {
            command.push(" ");
            command.push(shell::word(word));
        }
        let mut env = env.to_vec();
        env.push((TESTER.into(), tester.into()));
        Ok(TestCommand {
            command,
            rule: Rule {
                convention: Convention::Tester,
                signs,
            },
            limit,
            env,
            sandbox: self.sandbox.clone(),
            limits: self.limits,
        })
    }

    /// Writes the classes that run tests; their folder.
    fn install(&self, folder: &Path) -> Result<PathBuf, Error> {
        let tester = folder.join("tester");
        let package = tester.join("culprit/tester");
        fs::create_dir_all(&package).map_err(Error::at(&package))?;
        for (name, bytes) in CLASSES {
            let path = package.join(name);
            fs::write(&path, bytes).map_err(Error::at(&path))?;
        }
        Ok(tester)
    }

    /// The user's class path.
    fn joined(&self) -> OsString {
        let mut joined = OsString::new();
        for place in &self.class_path {
            if !joined.is_empty() {
                joined.push(":");
            }
            joined.push(place);
        }
        joined
    }
}
