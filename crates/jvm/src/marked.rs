//! Processes that have a text in their command line or in the environment that they were started with: those of one
//! run of a command, with whatever it started.
//!
//! On systems without `/proc` there are none.

use std::fs;

use rustix::process::{Pid, Signal, getpid, kill_process};

/// The signal by which a process is asked, or made, to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    Asked,
    Killed,
}

/// Ends the processes with a text in their command line or environment, other than this one; how many there were.
pub fn end_marked(text: &str, ending: Ending) -> usize {
    let signal = match ending {
        Ending::Asked => Signal::TERM,
        Ending::Killed => Signal::KILL,
    };
    let marked = marked(text);
    for pid in &marked {
        // It may have ended meanwhile.
        let _ = kill_process(*pid, signal);
    }
    marked.len()
}

fn marked(text: &str) -> Vec<Pid> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let names = processes.flatten().map(|entry| entry.file_name());
    let pids = names.filter_map(|name| Pid::from_raw(name.to_str()?.parse().ok()?));
    pids.filter(|pid| *pid != getpid() && is_marked(*pid, text))
        .collect()
}

fn is_marked(pid: Pid, text: &str) -> bool {
    ["cmdline", "environ"].iter().any(|file| {
        let path = format!("/proc/{}/{file}", pid.as_raw_nonzero());
        let content = fs::read(path).unwrap_or_default();
        let mut windows = content.windows(text.len().max(1));
        windows.any(|window| window == text.as_bytes())
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::target::command;
    use crate::{Status, orphans};

    #[test]
    fn marked_processes_are_asked_to_end_and_others_are_not() {
        let start = |mark: &str| {
            let mut sleep = command("/bin/sleep");
            sleep.arg("600").env("CULPRIT_TEST_MARK", mark);
            orphans::spawn(sleep).unwrap()
        };
        let (mut one, mut other) = (start("marked-7f3a"), start("marked-81bc"));
        // Until it is the program that it is to be, it has our environment.
        while end_marked("=marked-7f3a", Ending::Asked) == 0 {
            std::thread::yield_now();
        }
        assert_eq!(Status::from(one.wait().unwrap()), Status::Killed(15));
        assert!(other.try_wait().unwrap().is_none());
        while end_marked("=marked-81bc", Ending::Killed) == 0 {
            std::thread::yield_now();
        }
        assert_eq!(Status::from(other.wait().unwrap()), Status::Killed(9));
        [one, other]
            .iter()
            .for_each(|child| orphans::forget(child.id()));
    }
}
