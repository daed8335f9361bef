//! The libraries of the study: which tests there are, and what they need to run.
//!
//! A library qualifies if its project publishes its tests as a jar. What its tests need is
//! taken from its own pom, JUnit aside: one JUnit runs them all.

use crate::maven::Coordinates;

/// The runner of the tests: JUnit 5, and JUnit 3 and 4 on top of it.
const JUNIT: [&str; 4] = [
    "org.junit.jupiter:junit-jupiter:5.10.2",
    "org.junit.vintage:junit-vintage-engine:5.10.2",
    "org.junit.platform:junit-platform-launcher:1.10.2",
    "org.hamcrest:hamcrest-core:2.2",
];

/// A library with published tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Library {
    pub group: &'static str,
    pub artifact: &'static str,
    pub version: &'static str,
    /// The pattern that means all of it.
    pub observe: &'static str,
    /// The dependencies of its tests besides JUnit.
    pub needs: &'static [&'static str],
    /// Options of the JVM that its own build gives to its tests.
    pub jvm: &'static [&'static str],
    /// Test classes that cannot be part of a comparison, each with the reason.
    pub leave_out: &'static [(&'static str, &'static str)],
}

impl Library {
    /// The jar of its tests.
    pub fn tests(&self) -> anyhow::Result<Coordinates> {
        format!("{}:{}:tests:{}", self.group, self.artifact, self.version).parse()
    }

    /// Everything on the class path, the library first.
    pub fn class_path(&self) -> anyhow::Result<Vec<Coordinates>> {
        let library = format!("{}:{}:{}", self.group, self.artifact, self.version).parse();
        // JUnit first: some needs bring an older one.
        let rest = JUNIT.iter().chain(self.needs).map(|text| text.parse());
        [library, self.tests()].into_iter().chain(rest).collect()
    }
}

/// The libraries, the quickest first.
pub const LIBRARIES: [Library; 7] = [
    Library {
        group: "org.apache.commons",
        artifact: "commons-csv",
        version: "1.11.0",
        observe: "org.apache.commons.csv.**",
        needs: &[
            "org.mockito:mockito-core:4.11.0",
            "org.apache.commons:commons-lang3:3.14.0",
            "com.h2database:h2:2.2.224",
            "org.openjdk.jmh:jmh-core:1.37",
        ],
        jvm: &["-Dnet.bytebuddy.experimental=true"],
        leave_out: &[(
            "org.apache.commons.csv.perf.PerformanceTest",
            "a measurement, which the library's own build leaves out too",
        )],
    },
    Library {
        group: "org.apache.commons",
        artifact: "commons-lang3",
        version: "3.14.0",
        observe: "org.apache.commons.lang3.**",
        needs: &[
            "org.junit-pioneer:junit-pioneer:1.9.1",
            "org.easymock:easymock:5.2.0",
            "org.apache.commons:commons-text:1.11.0",
            "org.openjdk.jmh:jmh-core:1.37",
        ],
        jvm: &[
            "-Xmx512m",
            "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--add-opens=java.base/java.util=ALL-UNNAMED",
        ],
        leave_out: &[(
            "org.apache.commons.lang3.time.FastDateParser_TimeZoneStrategyTest",
            "its plain runs disagree with each other on which locales it gives up",
        )],
    },
    Library {
        group: "org.apache.commons",
        artifact: "commons-text",
        version: "1.12.0",
        observe: "org.apache.commons.text.**",
        needs: &[
            "org.assertj:assertj-core:3.25.3",
            "commons-io:commons-io:2.16.1",
            "org.mockito:mockito-inline:4.11.0",
            "org.apache.commons:commons-rng-simple:1.5",
            "org.openjdk.jmh:jmh-core:1.37",
        ],
        jvm: &["-Dnet.bytebuddy.experimental=true"],
        leave_out: &[],
    },
    Library {
        group: "commons-codec",
        artifact: "commons-codec",
        version: "1.17.0",
        observe: "org.apache.commons.codec.**",
        needs: &[
            "org.apache.commons:commons-lang3:3.14.0",
            "commons-io:commons-io:2.16.1",
        ],
        // Some tests first look whether gigabytes are free; this makes the answer always no.
        jvm: &["-Xmx1g"],
        leave_out: &[],
    },
    Library {
        group: "org.apache.commons",
        artifact: "commons-collections4",
        version: "4.4",
        observe: "org.apache.commons.collections4.**",
        needs: &[
            "org.easymock:easymock:4.0.2",
            "org.apache.commons:commons-lang3:3.9",
        ],
        jvm: &[],
        leave_out: &[],
    },
    Library {
        group: "org.apache.commons",
        artifact: "commons-compress",
        version: "1.26.1",
        observe: "org.apache.commons.compress.**",
        needs: &[
            "com.github.luben:zstd-jni:1.5.5-11",
            "org.brotli:dec:0.1.2",
            "org.tukaani:xz:1.9",
            "org.ow2.asm:asm:9.6",
            "org.mockito:mockito-core:4.11.0",
            "org.mockito:mockito-junit-jupiter:4.11.0",
            "com.github.marschall:memoryfilesystem:2.8.0",
        ],
        jvm: &[
            "--add-opens=java.base/java.io=ALL-UNNAMED",
            "-Dnet.bytebuddy.experimental=true",
        ],
        leave_out: &[],
    },
    Library {
        group: "org.apache.commons",
        artifact: "commons-math3",
        version: "3.6.1",
        observe: "org.apache.commons.math3.**",
        needs: &[],
        jvm: &[],
        leave_out: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_coordinates_are_well_formed() {
        for library in LIBRARIES {
            assert!(library.class_path().unwrap().len() >= 5, "{library:?}");
        }
    }
}
