//! The entry of the agent into a process that the program starts.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use culprit_model::options::writes_archive;

/// The way in which the agent enters the process of a command. The numbers are those of `Children.java`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AgentEntry {
    /// It is no `java` of a JDK: JVMs that it starts find the agent in their environment.
    Environment = 0,
    /// The agent is its first argument.
    Argument = 1,
    /// A JVM that must not have an agent.
    None = 2,
}

/// Finds the entry for a command; `path` is the search path for programs.
pub(crate) fn agent_entry(words: &[&str], path: Option<&OsStr>) -> AgentEntry {
    let Some((program, arguments)) = words.split_first() else {
        return AgentEntry::Environment;
    };
    if Path::new(program).file_name() != Some(OsStr::new("java")) {
        return AgentEntry::Environment;
    }
    if arguments.iter().any(|word| writes_archive(word)) {
        return AgentEntry::None;
    }
    match find(program, path).is_some_and(|file| is_of_jdk(&file)) {
        true => AgentEntry::Argument,
        false => AgentEntry::Environment,
    }
}

fn find(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(program.into());
    }
    std::env::split_paths(path?)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// A program may have the name by chance: a script that looks for a JDK, or something else.
fn is_of_jdk(file: &Path) -> bool {
    let home = file
        .canonicalize()
        .ok()
        .and_then(|file| Some(file.parent()?.parent()?.to_owned()));
    home.is_some_and(|home| home.join("lib/modules").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_a_java_of_a_jdk_takes_the_agent_as_an_argument() {
        let place = tempfile::tempdir().unwrap();
        let jdk = place.path().join("jdk");
        for folder in ["jdk/bin", "jdk/lib", "tools"] {
            fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        for file in ["jdk/bin/java", "jdk/lib/modules", "tools/java"] {
            fs::write(place.path().join(file), "").unwrap();
        }
        let (real, other) = (jdk.join("bin/java"), place.path().join("tools/java"));
        let (real, other) = (real.to_str().unwrap(), other.to_str().unwrap());
        let bin = jdk.join("bin").into_os_string();
        for (words, path, expect) in [
            (vec![real, "-cp", "x", "Main"], None, AgentEntry::Argument),
            (vec!["java", "Main"], Some(&*bin), AgentEntry::Argument),
            (vec!["java", "Main"], None, AgentEntry::Environment),
            (vec![other, "one"], Some(&*bin), AgentEntry::Environment),
            (vec!["mvn", "test"], Some(&*bin), AgentEntry::Environment),
            (vec![real, "-Xshare:dump"], None, AgentEntry::None),
            (vec![], None, AgentEntry::Environment),
        ] {
            assert_eq!(agent_entry(&words, path), expect, "{words:?}");
        }
    }
}
