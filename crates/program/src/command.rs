//! The user's command, and how the agent gets into its JVMs.
//!
//! `java` takes the agent as its first argument; that JVM prints nothing about it, and the
//! agent itself sees to the JVMs that it starts in turn. Any other program (a build tool, a
//! script) passes the agent on in `JAVA_TOOL_OPTIONS`, after what was there already.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};

use culprit_jvm::{
    Jdk, JdkError, KeptInput, Status, TargetCommand, TargetError, java_home_of, resolve,
};
use culprit_model::AgentOptions;
use culprit_model::options::writes_archive;

use crate::agent_argument;

/// The streams of a run that is not connected to ours.
#[derive(Clone, Copy, Debug)]
pub struct Streams<'a> {
    /// The file for what it prints.
    pub output: &'a File,
    pub input: &'a KeptInput,
}

/// A command whose program exists and, if it is `java`, is new enough.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    file: PathBuf,
    name: OsString,
    args: Vec<OsString>,
}

impl Command {
    /// Finds the program of a command.
    pub fn find(words: &[OsString], path: Option<&OsStr>) -> Result<Command, CommandError> {
        let (name, args) = words.split_first().ok_or(CommandError::Empty)?;
        let command = Command {
            file: resolve(name, path)?,
            name: name.clone(),
            args: args.to_vec(),
        };
        if command.is_java() {
            let mut options = command.args.iter().filter_map(|word| word.to_str());
            if let Some(option) = options.find(|word| writes_archive(word)) {
                return Err(CommandError::WritesArchive(option.to_owned()));
            }
            // A script named `java` has no home to look into; then the agent checks.
            if let Some(Err(error)) = java_home_of(&command.file).map(|home| Jdk::at(&home)) {
                return Err(error.into());
            }
        }
        Ok(command)
    }

    fn is_java(&self) -> bool {
        Path::new(&self.name).file_name() == Some(OsStr::new("java"))
    }

    /// Runs it with the agent.
    pub fn run(
        &self,
        library: &Path,
        options: &AgentOptions,
        java_tool_options: Option<&OsStr>,
    ) -> Result<Status, CommandError> {
        Ok(self.target(library, options, java_tool_options).run()?)
    }

    /// The same with streams of its own.
    pub fn run_into(
        &self,
        streams: Streams<'_>,
        library: &Path,
        options: &AgentOptions,
        java_tool_options: Option<&OsStr>,
    ) -> Result<Status, CommandError> {
        let target = self.target(library, options, java_tool_options);
        Ok(target.run_into(streams.output, streams.input)?)
    }

    fn target(
        &self,
        library: &Path,
        options: &AgentOptions,
        java_tool_options: Option<&OsStr>,
    ) -> TargetCommand {
        let agent = agent_argument(library, options);
        let mut target = TargetCommand {
            file: self.file.clone(),
            name: self.name.clone(),
            args: self.args.clone(),
            env: Vec::new(),
        };
        if self.is_java() {
            target.args.insert(0, agent);
        } else {
            let mut value = OsString::new();
            if let Some(before) = java_tool_options.filter(|text| !text.is_empty()) {
                value.push(before);
                value.push(" ");
            }
            value.push(agent);
            target.env.push(("JAVA_TOOL_OPTIONS".into(), value));
        }
        target
    }
}

/// The command cannot be run with the agent.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// There are no words.
    #[error("no command to run")]
    Empty,
    /// Its program cannot be found or started.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// It is `java` with this option, which excludes agents.
    #[error("a JVM that writes an archive of classes accepts no agent ({0})")]
    WritesArchive(String),
    /// It is a `java` that cannot be used.
    #[error(transparent)]
    Jdk(#[from] JdkError),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(command: &[&str], before: Option<&str>) -> TargetCommand {
        let (name, args) = command.split_first().unwrap();
        let command = Command {
            file: "/bin/x".into(),
            name: name.into(),
            args: args.iter().map(Into::into).collect(),
        };
        let options = AgentOptions {
            out: "/runs/1".to_owned(),
            ..AgentOptions::default()
        };
        command.target(Path::new("/c/agent.so"), &options, before.map(OsStr::new))
    }

    #[test]
    fn java_takes_the_agent_as_its_first_argument_and_no_variable() {
        for name in ["java", "/opt/jdk/bin/java", "./java"] {
            let target = target(&[name, "-cp", "x", "Main"], Some("-Dkept=1"));
            let expect = ["-agentpath:/c/agent.so=out=/runs/1", "-cp", "x", "Main"];
            assert_eq!(target.args, expect, "{name}");
            assert_eq!(target.env, []);
        }
    }

    #[test]
    fn other_programs_take_it_in_the_environment_after_what_was_there() {
        let variable = |before| target(&["mvn", "test"], before).env;
        let agent = "-agentpath:/c/agent.so=out=/runs/1";
        let pair = |value: String| vec![("JAVA_TOOL_OPTIONS".into(), value.into())];
        assert_eq!(variable(None), pair(agent.to_owned()));
        assert_eq!(variable(Some("")), pair(agent.to_owned()));
        assert_eq!(variable(Some("-Da=b")), pair(format!("-Da=b {agent}")));
        assert_eq!(target(&["mvn", "test"], None).args, ["test"]);
        assert_eq!(target(&["javac", "X.java"], None).args, ["X.java"]);
    }

    #[test]
    fn a_java_that_is_too_old_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let java = dir.path().join("bin/java");
        std::fs::create_dir(dir.path().join("bin")).unwrap();
        std::fs::write(&java, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&java, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(dir.path().join("release"), "JAVA_VERSION=\"1.8.0_1\"\n").unwrap();
        let error = Command::find(&[java.into()], None).unwrap_err();
        assert!(error.to_string().contains("too old"), "{error}");
        let CommandError::Jdk(error) = error else {
            panic!("{error:?}");
        };
        assert!(error.next_step().contains("JDK 11 or newer"));
    }
}
