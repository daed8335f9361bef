//! One run of one variant, measured.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use culprit_trace::{Recording, RunFolder};

use super::variant::{Command, Recorded};
use crate::process::{Outcome, Run};

/// A run that takes longer is broken.
const LIMIT: Duration = Duration::from_secs(600);

/// The time of one run, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sample {
    /// From start to end of the process.
    pub wall: f64,
    /// Processor time of all its threads.
    pub cpu: f64,
    /// Processor time of the thread that does the work.
    pub thread: f64,
    /// The second half of the iterations: time, and processor time of the thread.
    pub steady: f64,
    pub steady_thread: f64,
    /// The result of the work; the same in every variant, or the agent changed the program.
    pub sum: i64,
    pub events: u64,
    /// Bytes of events on disk with all that they need.
    pub bytes: u64,
}

/// Runs a command in its folder and measures it. `work` says whether it prints a driver's line.
pub fn measure(command: &Command, folder: &Path, work: Work) -> anyhow::Result<Sample> {
    let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
    let outcome = Run {
        program: command.program.clone(),
        args: command.args.clone(),
        folder: folder.to_owned(),
        env: Vec::new(),
        stdout: stdout.clone(),
        stderr: stderr.clone(),
        limit: LIMIT,
    }
    .run()?;
    let Outcome::Ended { status, time, cpu } = outcome else {
        bail!("no end after {} s", LIMIT.as_secs());
    };
    let said = fs::read_to_string(&stderr).unwrap_or_default();
    ensure!(status.is_success(), "status {status}: {said}");
    let mut sample = Sample {
        wall: time.as_secs_f64(),
        cpu: cpu.unwrap_or_default().as_secs_f64(),
        ..Sample::default()
    };
    let printed = fs::read_to_string(&stdout)?;
    if work == Work::Driver {
        sample
            .read_line(&printed)
            .with_context(|| format!("the driver printed `{}`", printed.trim()))?;
        (sample.events, sample.bytes) = recorded(&command.recorded)?;
    }
    Ok(sample)
}

/// The purpose of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    Driver,
    /// Start and end, no more.
    Hello,
}

impl Sample {
    fn read_line(&mut self, line: &str) -> Option<()> {
        let number = |name: &str| -> Option<i64> {
            let word = line
                .split_whitespace()
                .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
            word.parse().ok()
        };
        let seconds = |name: &str| number(name).map(|ns| ns as f64 / 1e9);
        self.sum = number("sum")?;
        self.thread = seconds("thread_cpu_ns")?;
        self.steady = seconds("steady_ns")?;
        self.steady_thread = seconds("steady_cpu_ns")?;
        Some(())
    }
}

/// Events and bytes that a run left, once they are known to be complete.
fn recorded(recorded: &Recorded) -> anyhow::Result<(u64, u64)> {
    match recorded {
        Recorded::Nothing => Ok((0, 0)),
        Recorded::Log(log) => {
            let count = log.with_extension("log.count");
            let text = fs::read_to_string(&count)
                .with_context(|| format!("no count of events at {}", count.display()))?;
            Ok((text.parse()?, fs::metadata(log)?.len()))
        }
        Recorded::Run(folder) => {
            let mut sum = (0, 0);
            for file in RunFolder::open(folder)?.recordings {
                let recording = Recording::open(&file)?;
                ensure!(!recording.is_truncated(), "{} is truncated", file.display());
                if let Some(why) = &recording.losses().stopped {
                    bail!("the recording stopped early: {why}");
                }
                sum.0 += recording.event_count();
                sum.1 += recording.bytes();
            }
            Ok(sum)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_driver_is_read_by_names() {
        let mut sample = Sample::default();
        let line = "sum=-7 steady_ns=1500000000 steady_cpu_ns=500000000 thread_cpu_ns=2000000000\n";
        sample.read_line(line).unwrap();
        assert_eq!(sample.sum, -7);
        assert_eq!((sample.steady, sample.steady_thread), (1.5, 0.5));
        assert_eq!(sample.thread, 2.0);
        assert!(Sample::default().read_line("sum=1").is_none());
    }
}
