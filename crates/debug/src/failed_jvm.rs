//! A recorded JVM with its program and a JDK that can run it again.

use std::path::Path;

use culprit_jvm::{Jdk, JdkLocations};
use culprit_program::{Program, class_path, matching_jdk, unpacked, with_recorded};
use culprit_trace::Recording;

use crate::Error;

/// A recorded JVM with its program and a JDK like its own.
pub struct FailedJvm {
    pub recording: Recording,
    pub program: Program,
    pub jdk: Jdk,
}

impl FailedJvm {
    /// Opens a recording and the program on the class path of its JVM. What no class path has is written to a folder.
    pub(crate) fn open(
        path: &Path,
        surroundings: &JdkLocations,
        classes: &Path,
    ) -> Result<FailedJvm, Error> {
        let recording = Recording::open(path)?;
        let jdk = jdk_of(&recording, surroundings)?;
        let class_path = unpacked(&class_path(recording.start()), classes)?;
        let class_path = with_recorded(class_path, &recording, &jdk, classes)?;
        let program = Program::open(&class_path, &jdk)?;
        Ok(FailedJvm {
            recording,
            program,
            jdk,
        })
    }
}

/// The JDK that a recorded program ran on, or one like it. One that has a compiler is preferred.
pub fn jdk_of(recording: &Recording, surroundings: &JdkLocations) -> Result<Jdk, Error> {
    let (whole, rest) = by_compiler(Jdk::all(surroundings));
    let jdk = matching_jdk(recording, &whole).or_else(|| matching_jdk(recording, &rest));
    jdk.ok_or_else(|| Error::NoJdk(recording.start().jvm_version.clone()))
}

/// The JDKs that can compile a test, and those that cannot.
fn by_compiler(jdks: Vec<Jdk>) -> (Vec<Jdk>, Vec<Jdk>) {
    let has_compiler = |jdk: &Jdk| jdk.tool("javac").exists();
    jdks.into_iter().partition(has_compiler)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_jdk_that_compiles_comes_before_a_jre() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str, tools: &[&str]| {
            let bin = home.path().join(name).join("bin");
            fs::create_dir_all(&bin).unwrap();
            for tool in tools {
                fs::write(bin.join(tool), "").unwrap();
                fs::set_permissions(bin.join(tool), fs::Permissions::from_mode(0o755)).unwrap();
            }
            let release = home.path().join(name).join("release");
            fs::write(release, "JAVA_VERSION=\"17.0.1\"\n").unwrap();
            Jdk::at(&home.path().join(name)).unwrap()
        };
        let (jre, jdk) = (at("jre", &["java"]), at("jdk", &["java", "javac"]));
        let (whole, rest) = by_compiler(vec![jre.clone(), jdk.clone()]);
        assert_eq!((whole, rest), (vec![jdk], vec![jre]));
    }
}
