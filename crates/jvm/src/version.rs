//! Java version numbers, in both the old (`1.8.0_292`) and the new (`17.0.15`) manner.

use std::fmt;

/// A version of Java: the feature number that decides what works, and the text it came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JavaVersion {
    /// 8, 11, 17, ...
    pub feature: u32,
    text: String,
}

impl JavaVersion {
    /// Reads `17.0.15`, `25`, `21-ea`, `1.8.0_292`.
    pub fn parse(text: &str) -> Option<JavaVersion> {
        let mut numbers = text
            .split(|c: char| !c.is_ascii_digit())
            .map(str::parse::<u32>);
        let first = numbers.next()?.ok()?;
        let feature = if first == 1 {
            numbers.next()?.ok()?
        } else {
            first
        };
        Some(JavaVersion {
            feature,
            text: text.to_owned(),
        })
    }

    /// Finds the version in the `release` file at the root of a JDK.
    pub(crate) fn in_release_file(release: &str) -> Option<JavaVersion> {
        let value = release
            .lines()
            .find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
        JavaVersion::parse(value.trim().trim_matches('"'))
    }

    /// Finds the version in what `java -version` prints.
    pub(crate) fn in_banner(banner: &str) -> Option<JavaVersion> {
        let line = banner.lines().find(|line| line.contains(" version \""))?;
        JavaVersion::parse(line.split('"').nth(1)?)
    }
}

impl fmt::Display for JavaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: Option<JavaVersion>, feature: u32) {
        assert_eq!(found.map(|v| v.feature), Some(feature));
    }

    #[test]
    fn old_and_new_version_texts_have_a_feature_number() {
        check(JavaVersion::parse("1.8.0_292"), 8);
        check(JavaVersion::parse("11.0.2"), 11);
        check(JavaVersion::parse("25"), 25);
        check(JavaVersion::parse("26-ea"), 26);
        assert_eq!(JavaVersion::parse("unknown"), None);
        assert_eq!(JavaVersion::parse("1"), None);
    }

    #[test]
    fn the_release_file_and_the_banner_both_tell_it() {
        let release = "IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"17.0.15\"\nOS_NAME=\"Linux\"\n";
        check(JavaVersion::in_release_file(release), 17);
        let banner = "Picked up JAVA_TOOL_OPTIONS: -Dx=\"y\"\nopenjdk version \"21.0.1\" 2023\n";
        check(JavaVersion::in_banner(banner), 21);
        assert_eq!(JavaVersion::in_banner("no such thing"), None);
    }
}
