//! A responder: a program that keeps running and answers requests on its standard streams.
//!
//! The caller interprets questions and answers; this module ensures that nobody
//! waits for ever, and that no process of the program is left at the end.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;

use crate::group::{Group, Streams};
use crate::{Launch, LaunchError, orphans};

/// The interval between checks whether somebody still waits.
const PULSE: Duration = Duration::from_millis(10);

/// A running program that answers requests.
#[derive(Debug)]
pub struct Responder {
    group: Group,
    input: File,
    output: File,
    mark: String,
}

/// The result of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Response {
    Answer(Vec<u8>),
    /// The program has ended, or closed its stream.
    Ended,
    /// There was no answer in time.
    Late,
    /// Nobody waits for it any more.
    Unwanted,
}

impl Responder {
    /// Starts a program. What it prints on its standard error is not kept.
    pub fn start(launch: &Launch) -> Result<Responder, LaunchError> {
        let (marked, mark) = launch.marked();
        let failed = |error| LaunchError::Start {
            file: launch.file.clone(),
            error,
        };
        let mut group = marked.start(Streams {
            input: Stdio::piped(),
            out: Stdio::piped(),
            err: Stdio::null(),
            inherited: None,
        })?;
        let lacking = || failed(io::Error::other("it has no streams"));
        let input = group.take_input().map(OwnedFd::from);
        let output = group.take_output().0.map(OwnedFd::from);
        let (input, output) = (input.ok_or_else(lacking)?, output.ok_or_else(lacking)?);
        ioctl_fionbio(&output, true).map_err(|error| failed(error.into()))?;
        Ok(Responder {
            group,
            input: input.into(),
            output: output.into(),
            mark,
        })
    }

    /// Asks a question, and waits for an answer that is whole. After anything but an answer the
    /// responder is of no more use.
    pub fn ask(
        &mut self,
        question: &[u8],
        is_whole: &dyn Fn(&[u8]) -> bool,
        limit: Duration,
        wanted: &dyn Fn() -> bool,
    ) -> Response {
        let end = Instant::now() + limit;
        if self.input.write_all(question).is_err() || self.input.flush().is_err() {
            return Response::Ended;
        }
        let mut answer = Vec::new();
        loop {
            match self.read(&mut answer) {
                Ok(true) => {}
                Ok(false) | Err(_) => return Response::Ended,
            }
            let left = end.saturating_duration_since(Instant::now());
            match () {
                () if is_whole(&answer) => return Response::Answer(answer),
                () if left.is_zero() => return Response::Late,
                () if !wanted() => return Response::Unwanted,
                () => {}
            }
            if wait(&self.output, left.min(PULSE)).is_err() {
                return Response::Ended;
            }
        }
    }

    /// Reads what is there; whether there may be more.
    fn read(&mut self, answer: &mut Vec<u8>) -> io::Result<bool> {
        let mut buffer = [0; 16 << 10];
        loop {
            match self.output.read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(count) => answer.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) => return Err(error),
            }
        }
    }

    /// Ends the program with all that it started; how many processes had left its group.
    pub fn end(mut self) -> usize {
        self.end_now()
    }

    fn end_now(&mut self) -> usize {
        match self.group.end_within(Duration::ZERO) {
            Ok(_) => orphans::end(&self.mark, self.group.leader()),
            Err(_) => 0,
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.end_now();
    }
}

fn wait(output: &File, limit: Duration) -> io::Result<()> {
    let mut sources = [PollFd::from_borrowed_fd(output.as_fd(), PollFlags::IN)];
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    match poll(&mut sources, Some(&limit)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    fn responder(script: &str) -> Responder {
        let launch = Launch {
            file: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
            directory: "/".into(),
            limits: Limits::default(),
            sandbox: None,
        };
        Responder::start(&launch).unwrap()
    }

    fn ask(responder: &mut Responder, question: &str, millis: u64) -> Response {
        let whole = |answer: &[u8]| answer.ends_with(b"\n");
        let limit = Duration::from_millis(millis);
        responder.ask(question.as_bytes(), &whole, limit, &|| true)
    }

    #[test]
    fn questions_are_answered_one_after_the_other_until_it_ends() {
        let mut responder = responder("while read a; do [ $a = end ] && exit; echo got $a; done");
        let answer = |text: &str| Response::Answer(text.as_bytes().to_vec());
        assert_eq!(ask(&mut responder, "1\n", 60_000), answer("got 1\n"));
        assert_eq!(ask(&mut responder, "2\n", 60_000), answer("got 2\n"));
        assert_eq!(ask(&mut responder, "end\n", 60_000), Response::Ended);
        assert_eq!(ask(&mut responder, "3\n", 60_000), Response::Ended);
        assert_eq!(responder.end(), 0);
    }

    #[test]
    fn one_that_is_late_or_unwanted_is_not_waited_for() {
        let mut late = responder("read a; sleep 1000");
        assert_eq!(ask(&mut late, "1\n", 100), Response::Late);
        let mut unwanted = responder("read a; sleep 1000");
        let whole = |_: &[u8]| false;
        let heard = unwanted.ask(b"1\n", &whole, Duration::from_secs(60), &|| false);
        assert_eq!(heard, Response::Unwanted);
    }
}
