//! The programs of the study: which tests there are, and how much of them is recorded.

use std::time::Duration;

use anyhow::Context;

use crate::maven::Coordinates;
use crate::transparency::{LIBRARIES, Library};

/// A library, and tests that use it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Program {
    pub name: &'static str,
    pub version: &'static str,
    /// The pattern that means all of the library.
    pub observe: &'static str,
    pub tests: Tests,
    /// Options of the JVM.
    pub jvm: &'static [&'static str],
    pub extent: Extent,
    /// The time limit of a recorded run, and of a replay.
    pub limit: Duration,
}

/// The source of tests. Each runs in a JVM of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tests {
    /// Programs of the study: the sources in a folder, whose class `Main` lists and runs them.
    Ours {
        library: &'static str,
        folder: &'static str,
    },
    /// The test classes that the project publishes as a jar.
    Published,
}

/// Which sets are recorded of each test, besides the one of all classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The same sets for all tests, or others for each one, drawn from the classes it loads.
    pub sets_of: SetsOf,
    /// At most so many classes alone.
    pub alone: usize,
    /// So many random sets.
    pub random: usize,
    /// A test whose recording of all classes has more events than this is not replayed.
    pub most_events: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetsOf {
    Library,
    Test,
}

/// Options that make short programs quick.
const QUICK: [&str; 5] = [
    "-Xshare:auto",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-Xmx64m",
];

const SUITE: [&str; 4] = [
    "-Xshare:auto",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
];

const OF_EACH_TEST: Extent = Extent {
    sets_of: SetsOf::Test,
    alone: 6,
    random: 4,
    most_events: 3_000_000,
};

/// The programs, the one with the most recordings first.
pub const PROGRAMS: [Program; 4] = [
    Program {
        name: "nanoxml",
        version: "2.2.3",
        observe: "net.n3.nanoxml.**",
        tests: Tests::Ours {
            library: "be.cyberelf.nanoxml:nanoxml:2.2.3",
            folder: "nanoxml",
        },
        jvm: &QUICK,
        extent: Extent {
            sets_of: SetsOf::Library,
            alone: usize::MAX,
            random: 64,
            most_events: u64::MAX,
        },
        limit: Duration::from_secs(60),
    },
    published("commons-codec", "1.17.0", "org.apache.commons.codec.**"),
    published("commons-csv", "1.11.0", "org.apache.commons.csv.**"),
    published("commons-lang3", "3.14.0", "org.apache.commons.lang3.**"),
];

const fn published(name: &'static str, version: &'static str, observe: &'static str) -> Program {
    Program {
        name,
        version,
        observe,
        tests: Tests::Published,
        jvm: &SUITE,
        extent: OF_EACH_TEST,
        limit: Duration::from_secs(300),
    }
}

impl Program {
    /// The library, as the study of transparency knows it.
    pub fn library(&self) -> anyhow::Result<&'static Library> {
        let is_it = |it: &&Library| it.artifact == self.name && it.version == self.version;
        LIBRARIES
            .iter()
            .find(is_it)
            .with_context(|| format!("{} {} is not a known library", self.name, self.version))
    }

    /// The jar of the library.
    pub fn jar(&self) -> anyhow::Result<Coordinates> {
        match self.tests {
            Tests::Ours { library, .. } => library.parse(),
            Tests::Published => {
                let library = self.library()?;
                let (group, name, version) = (library.group, library.artifact, library.version);
                format!("{group}:{name}:{version}").parse()
            }
        }
    }

    /// Everything on the class path but the tests of ours.
    pub fn class_path(&self) -> anyhow::Result<Vec<Coordinates>> {
        match self.tests {
            Tests::Ours { library, .. } => Ok(vec![library.parse()?]),
            Tests::Published => self.library()?.class_path(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_programs_are_known_libraries_or_have_tests_of_ours() {
        for program in PROGRAMS {
            let jar = program.jar().unwrap();
            assert_eq!(jar.version, program.version);
            assert!(program.class_path().unwrap().contains(&jar));
        }
    }
}
