//! The choice of a JDK for a recording.

use culprit_jvm::{JavaVersion, Jdk};
use culprit_trace::Recording;

/// The JDK for a recording: one of the same feature version, and of exactly the same version if there is one.
pub fn matching_jdk(recording: &Recording, jdks: &[Jdk]) -> Option<Jdk> {
    let recorded = JavaVersion::parse(&recording.start().jvm_version)?;
    let mut fit = jdks
        .iter()
        .filter(|jdk| jdk.version.feature == recorded.feature);
    let is_same = |jdk: &&Jdk| {
        let rest = recording
            .start()
            .jvm_version
            .strip_prefix(&jdk.version.to_string());
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
    };
    let same = fit.clone().find(is_same);
    same.or_else(|| fit.next()).cloned()
}
