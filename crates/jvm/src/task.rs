//! Programs that run to their end: within a time, with their output kept, confined if wanted.

use std::io::{self, Read};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::group::Streams;
use crate::{Launch, LaunchError, Status};

/// Bytes of each stream that are kept.
const KEPT: u64 = 1 << 20;

/// How long the streams of a killed group may stay open.
const GRACE: Duration = Duration::from_secs(2);

/// How a program ended and what it printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// `None` where it was killed because it took too long.
    pub status: Option<Status>,
    /// The first megabyte of its output.
    pub out: String,
    pub err: String,
}

impl Launch {
    /// Runs the program to its end, but not longer than this.
    pub fn run(&self, limit: Duration) -> Result<Ended, LaunchError> {
        let failed = |error| LaunchError::Start {
            file: self.file.clone(),
            error,
        };
        let mut group = self.start(Streams {
            input: Stdio::null(),
            out: Stdio::piped(),
            err: Stdio::piped(),
            inherited: None,
        })?;
        let (out, err) = group.take_output();
        let (out, err) = (collect(out), collect(err));
        let (status, by_itself) = group.end_within(limit).map_err(failed)?;
        // A program may have left its group and hold the streams on: then they are not waited for.
        Ok(Ended {
            status: by_itself.then_some(status),
            out: out.recv_timeout(GRACE).unwrap_or_default(),
            err: err.recv_timeout(GRACE).unwrap_or_default(),
        })
    }
}

/// Keeps the start of a stream and reads the rest, so that the writer never waits.
fn collect(from: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            // What was read before an error is what there is.
            let _ = (&mut from).take(KEPT).read_to_end(&mut bytes);
            let _ = io::copy(&mut from, &mut io::sink());
        }
        // Nobody listens any more: then nobody wants it.
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receive
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
        assert_eq!(ended.out.len() as u64, KEPT);
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
        };
        let ended = launch.run(Duration::from_secs(60)).unwrap();
        assert_eq!(ended.out, "0\n64\n524288\n", "{ended:?}");
        assert_ne!(ended.status, Some(Status::Exited(0)));
        assert_eq!(folder.path().join("f").metadata().unwrap().len(), 4096);
    }
}
