//! Errors before a target runs. The way it ends is a [`Status`](crate::Status), never
//! an error.

use std::io;
use std::path::PathBuf;

use crate::{JavaVersion, OLDEST_JAVA};

/// No usable JDK.
#[derive(Debug, thiserror::Error)]
pub enum JdkError {
    #[error("no JDK in JAVA_HOME, PATH or the usual folders")]
    NotFound,
    #[error("no JDK at {}: it has no bin/java", .0.display())]
    NotAJdk(PathBuf),
    #[error("the JDK at {} does not report its version", .0.display())]
    NoVersion(PathBuf),
    #[error("Java {version} at {} is too old; {OLDEST_JAVA} is the oldest that works", .home.display())]
    TooOld { home: PathBuf, version: JavaVersion },
}

impl JdkError {
    /// The next step for the user.
    pub fn next_step(&self) -> String {
        match self {
            JdkError::NotFound | JdkError::TooOld { .. } => {
                format!("install a JDK {OLDEST_JAVA} or newer, or point JAVA_HOME or PATH at one")
            }
            JdkError::NotAJdk(_) | JdkError::NoVersion(_) => {
                "point JAVA_HOME at the folder of a JDK, the one that holds bin/java".to_owned()
            }
        }
    }
}

/// A command that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    #[error("no program `{0}` on PATH")]
    NotOnPath(String),
    #[error("no program at {}", .0.display())]
    NoSuchFile(PathBuf),
    #[error("{} is not executable", .0.display())]
    NotExecutable(PathBuf),
    #[error("cannot start {}: {error}", .program.display())]
    Start { program: PathBuf, error: io::Error },
    #[error("cannot wait for the started program: {0}")]
    Watch(io::Error),
}

impl TargetError {
    /// The next step for the user.
    pub fn next_step(&self) -> &'static str {
        match self {
            TargetError::NotOnPath(_) | TargetError::NoSuchFile(_) => {
                "check the spelling of the command after `--`, or give its full path"
            }
            TargetError::NotExecutable(_) => {
                "make it executable, or run it through its interpreter"
            }
            TargetError::Start { .. } => "check that the command runs without culprit",
            TargetError::Watch(_) => "run the command again",
        }
    }
}
