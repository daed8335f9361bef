//! Programs that run to their end: within a time, with their output kept, confined if wanted.

use std::time::Duration;

use crate::{Deadline, Launch, LaunchError, RunEnd, Status, WatchedRun};

/// Bytes of each stream that are kept, half of them of its end.
const KEPT: usize = 2 << 20;

/// The end of a program, and its output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// `None` where it was killed because it took too long or used too much.
    pub status: Option<Status>,
    /// Its output: all, or the first and the last megabyte.
    pub out: String,
    pub err: String,
    pub took: Duration,
}

impl Launch {
    /// Runs the program to its end, but not beyond this. Nothing of it is left then.
    pub fn run(&self, deadline: impl Into<Deadline>) -> Result<Ended, LaunchError> {
        let deadline = deadline.into();
        let ran = self.run_watched(&WatchedRun {
            limit: deadline.left(),
            input: None,
            kept: KEPT,
            wanted: &|| !deadline.is_interrupted(),
        })?;
        Ok(Ended {
            status: match ran.end {
                RunEnd::Ended(status) => Some(status),
                RunEnd::Late | RunEnd::Exceeded(_) => None,
                RunEnd::Unwanted => return Err(LaunchError::Interrupted),
            },
            out: ran.out.text(),
            err: ran.err.text(),
            took: ran.took,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    fn shell(script: &str) -> Launch {
        Launch {
            file: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![("CULPRIT_TEST".into(), "7".into())],
            directory: "/".into(),
            limits: Limits::default(),
            sandbox: None,
        }
    }

    #[test]
    fn status_and_output_are_kept_and_the_environment_is_what_was_given() {
        let script = "echo \"$CULPRIT_TEST$HOME\"; echo err >&2; exit 3";
        let ended = shell(script).run(Duration::from_secs(60)).unwrap();
        assert_eq!(ended.status, Some(Status::Exited(3)));
        assert_eq!((ended.out.as_str(), ended.err.as_str()), ("7\n", "err\n"));
    }

    #[test]
    fn a_program_that_takes_too_long_is_killed_with_all_that_it_started() {
        let ended = shell("echo begun; sleep 1000 & sleep 1000")
            .run(Duration::from_millis(300))
            .unwrap();
        assert_eq!(ended.status, None);
        // Its child held the stream too: the stream has ended, so the child has.
        assert_eq!(ended.out, "begun\n");
    }

    #[test]
    fn output_without_end_neither_blocks_nor_fills_memory() {
        let ended = shell("yes | head -c 5000000; echo done >&2")
            .run(Duration::from_secs(60))
            .unwrap();
        assert!(ended.out.len() < KEPT + 100, "{}", ended.out.len());
        assert_eq!(ended.err, "done\n");
    }

    #[test]
    fn limits_hold() {
        let mut launch = shell("ulimit -c; ulimit -n; ulimit -d; head -c 9000 /dev/zero >f");
        let folder = tempfile::tempdir().unwrap();
        launch.directory = folder.path().to_owned();
        launch.limits = Limits {
            memory: Some(512 << 20),
            file_size: Some(4096),
            open_files: Some(64),
            files: None,
        };
        let ended = launch.run(Duration::from_secs(60)).unwrap();
        assert_eq!(ended.out, "0\n64\n524288\n", "{ended:?}");
        assert_ne!(ended.status, Some(Status::Exited(0)));
        assert_eq!(folder.path().join("f").metadata().unwrap().len(), 4096);
    }
}
