//! Environment variables of the user that runs of the user's own program get.
//!
//! Code of strangers gets none of them: they may hold secrets. The variables that are the same for every run
//! (time zone, language) are in `likeness`.

use std::ffi::{OsStr, OsString};

/// Variables that change which code a JVM loads and how it runs it; and those that are fixed for every run.
const STEERING: [&str; 9] = [
    "JAVA_TOOL_OPTIONS",
    "CLASSPATH",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "LOCPATH",
    "NLSPATH",
    "LANG",
    "LANGUAGE",
    "TZ",
];

/// Beginnings of the names of others: of the JVM, of the dynamic loader, of the allocator, of Culprit.
const FAMILIES: [&str; 7] = [
    "_JAVA_",
    "JAVA_MAIN_CLASS_",
    "LD_",
    "DYLD_",
    "MALLOC_",
    "LC_",
    "CULPRIT_",
];

/// Environment variables for plain runs of a program, besides the fixed ones.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// The environment for code of strangers: empty.
    pub fn none() -> Environment {
        Environment::default()
    }

    /// The variables of a process without those that steer JVMs or are fixed for every run, in the order of
    /// their names.
    pub fn of(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Environment {
        let variables = variables.into_iter();
        let mut kept: Vec<_> = variables.filter(|(name, _)| !is_steering(name)).collect();
        kept.sort();
        Environment(kept)
    }

    /// The variables for which a condition holds of their numbers.
    #[must_use]
    pub fn only(&self, is_wanted: impl Fn(usize) -> bool) -> Environment {
        let numbered = self.0.iter().enumerate();
        let kept = numbered.filter(|(number, _)| is_wanted(*number));
        Environment(kept.map(|(_, variable)| variable.clone()).collect())
    }

    /// The names, in their order.
    pub fn names(&self) -> impl Iterator<Item = &OsStr> {
        self.0.iter().map(|(name, _)| name.as_os_str())
    }

    /// The names and values.
    pub fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        self.0.iter().cloned()
    }

    /// The number of variables.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn is_steering(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let begins = |start: &str| name.starts_with(start.as_bytes());
    let is_options = begins("JDK_") && name.ends_with(b"_OPTIONS");
    STEERING.iter().any(|known| name == known.as_bytes())
        || FAMILIES.into_iter().any(begins)
        || is_options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(given: &[&str]) -> Vec<String> {
        let variables = given.iter().map(|name| ((*name).into(), "x".into()));
        let kept = Environment::of(variables);
        let names = kept.names();
        names.map(|name| name.to_string_lossy().into()).collect()
    }

    #[test]
    fn variables_of_the_program_are_kept_and_those_that_steer_a_jvm_are_not() {
        let kept = [
            "APP_MODE",
            "HOME",
            "JAVA_HOME",
            "JDK_HOME",
            "PATH",
            "TZDATA",
        ];
        let steering = [
            "JAVA_TOOL_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "JDK_JAVAC_OPTIONS",
            "JDK_AOT_VM_OPTIONS",
            "_JAVA_OPTIONS",
            "_JAVA_LAUNCHER_DEBUG",
            "CLASSPATH",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "GLIBC_TUNABLES",
            "MALLOC_ARENA_MAX",
            "CULPRIT_RUN",
            "TZ",
            "LANG",
            "LC_ALL",
            "LC_CTYPE",
        ];
        assert_eq!(names(&[&steering[..], &kept].concat()), kept);
    }

    #[test]
    fn parts_are_chosen_by_number() {
        let all = Environment::of([("B".into(), "2".into()), ("A".into(), "1".into())]);
        let part = all.only(|number| number == 1);
        let expect = [(OsString::from("B"), OsString::from("2"))];
        assert_eq!(part.variables().collect::<Vec<_>>(), expect);
        assert_eq!((all.len(), part.len()), (2, 1));
        assert!(Environment::none().is_empty());
    }
}
