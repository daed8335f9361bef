//! How a run of a test ended.

use std::fmt;
use std::time::Duration;

use culprit_jvm::{Excess, Ran, RunEnd, Status};

/// Signals that a program dies of by itself.
const CRASHES: [(u8, &str); 7] = [
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (11, "SIGSEGV"),
    (31, "SIGSYS"),
];

/// Lines of the output that a message shows, at most.
const LAST_LINES: usize = 3;

/// The end of one run, with what it printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ending {
    pub how: How,
    /// What is kept of its output: all, or the start and the end.
    pub out: String,
    pub err: String,
    /// Whether some of it is not kept.
    pub is_out_cut: bool,
    pub is_err_cut: bool,
    pub took: Duration,
    /// Processes that it left behind, outside its group. They were ended.
    pub strays: usize,
}

/// By itself or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    Ended(Status),
    /// It took longer than this.
    Late,
    /// It used too much of something, and was killed.
    Exceeded(Excess),
}

impl Ending {
    pub(crate) fn of(ran: &Ran) -> Ending {
        Ending {
            how: match ran.end {
                RunEnd::Ended(status) => How::Ended(status),
                RunEnd::Late | RunEnd::Unwanted => How::Late,
                RunEnd::Exceeded(excess) => How::Exceeded(excess),
            },
            out: ran.out.text(),
            err: ran.err.text(),
            is_out_cut: ran.out.left_out > 0,
            is_err_cut: ran.err.left_out > 0,
            took: ran.took,
            strays: ran.strays,
        }
    }
}

impl Ending {
    /// The last lines that the run printed, on stderr if there are any, otherwise on stdout.
    pub fn last_lines(&self) -> String {
        let last = |text: &str| {
            let lines = text.lines().map(str::trim_end);
            let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
            lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
        };
        match last(&self.err) {
            none if none.is_empty() => last(&self.out),
            lines => lines,
        }
    }
}

impl How {
    /// The status of a program that ended by itself.
    pub fn code(self) -> Option<u8> {
        match self {
            How::Ended(Status::Exited(code)) => Some(code),
            _ => None,
        }
    }

    /// The signal it died of, also where a shell tells of it by its status.
    pub fn signal(self) -> Option<u8> {
        match self {
            How::Ended(Status::Killed(signal)) => Some(signal),
            How::Ended(Status::Exited(code)) => {
                let signal = code.checked_sub(128)?;
                CRASHES
                    .iter()
                    .any(|(it, _)| *it == signal)
                    .then_some(signal)
            }
            How::Late | How::Exceeded(_) => None,
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.signal()) {
            (How::Late, _) => f.write_str("does not end in time"),
            (How::Exceeded(excess), _) => write!(f, "was killed because it {excess}"),
            (_, Some(signal)) => {
                let name = CRASHES.iter().find(|(it, _)| *it == signal);
                match name {
                    Some((_, name)) => write!(f, "dies of {name}"),
                    None => write!(f, "dies of signal {signal}"),
                }
            }
            (How::Ended(status), None) => write!(f, "exits with status {}", status.shell_code()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::test::tests::{setup, shell};

    #[test]
    fn the_last_lines_are_those_of_stderr_if_it_has_any() {
        let folder = tempfile::tempdir().unwrap();
        let check = |script: &str, expect: &str| {
            let ending = shell(script).run(&setup(folder.path()), &|| true).unwrap();
            assert_eq!(ending.last_lines(), expect);
        };
        check("echo out; echo err >&2; echo >&2", "err");
        check("seq 9", "7\n8\n9");
        check("true", "");
    }
}
