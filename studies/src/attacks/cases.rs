//! Attacks of candidates and tests on Culprit itself, its folders, and the memory and disk of the machine.

use std::fs;
use std::path::Path;
use std::time::Duration;

use culprit_jvm::Status;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::attempt::{Aim, Verdict};
use super::session::{Order, Seen};
use super::stage::Stage;
use super::within::SUBJECT;
use crate::process::words;

/// The time that a reduction is given, and what may pass before it has ended: starts of the program and of JVMs, and
/// the check.
const MAX_TIME: &str = "15s";
const PATIENCE: Duration = Duration::from_secs(100);

/// More than a worker of 1 GB and the JVMs beside it need.
const MEMORY: u64 = 5 << 30;
const DISK: u64 = 3 << 30;

/// Something that a candidate does in place of an answer.
pub struct Case {
    /// The argument that makes the program do it.
    pub mode: &'static str,
    pub aim: Aim,
    pub what: &'static str,
}

macro_rules! cases {
    ($($aim:ident: $($mode:literal $what:literal),*;)*) => {
        &[$($(Case { mode: $mode, aim: Aim::$aim, what: $what },)*)*]
    };
}

pub const CASES: &[Case] = cases! {
    Culprit:
        "exit" "`System.exit` in a candidate",
        "halt" "`Runtime.halt` in a candidate",
        "exit-later" "`System.exit` a second later",
        "hanging-hook" "`System.exit` with a hook that hangs",
        "segfault" "a crash of the JVM",
        "stop" "`SIGSTOP` to itself",
        "close-descriptors" "close all descriptors",
        "garbage" "garbage into all descriptors",
        "zeros" "64 MB of zeros into all descriptors",
        "ones" "bytes of 255 into all descriptors",
        "settings" "properties, locale, output and handlers replaced",
        "fifo" "a FIFO as the report of a crash",
        "link-to-fifo" "a link to a FIFO as a log",
        "link-to-terminal" "a link to an endless device as a log",
        "link-as-stderr" "links in place of its output",
        "many-logs" "20,000 logs",
        "huge-log" "a report of a crash of 200 MB",
        "closed-folder" "a folder without rights",
        "deep-folder" "1,500 folders in each other",
        "check-exit" "`System.exit` in the check of the test",
        "check-segfault" "a crash of the JVM of the check";
    Resources:
        "spin" "every candidate spins",
        "sleep" "every candidate sleeps",
        "deadlock" "every candidate waits for a lock",
        "check-spin" "the check of the test spins",
        "output" "output without end",
        "check-output" "output of the check without end",
        "threads" "threads without end",
        "heap" "heap without end",
        "direct" "direct memory without end",
        "metaspace" "classes without end",
        "shared-memory" "6 GB of shared memory",
        "memory-files" "6 GB of files in memory",
        "check-shared-memory" "6 GB of shared memory in the check",
        "pipes" "pipes without end",
        "disk-one-file" "one file without end",
        "disk-many-files" "files of 64 MB without end",
        "disk-empty-files" "2,000,000 empty files",
        "check-disk-many-files" "files of 64 MB without end in the check";
};

impl Case {
    /// Has `culprit debug` run the program that does it.
    pub fn run(&self, stage: &Stage, culprit: &Path) -> anyhow::Result<Verdict> {
        let folder = stage.place.join(format!("case-{}", self.mode));
        let mut session = stage.session(culprit, &folder, self.mode)?;
        let subject = folder.join(SUBJECT);
        mknodat(CWD, subject.join("fifo"), FileType::Fifo, Mode::RWXU, 0)?;
        fs::write(subject.join("secret"), "a secret of a file elsewhere")?;
        session.args.splice(1..1, words(["--max-time", MAX_TIME]));
        session.limit = PATIENCE;
        let seen = session.watch(|| Ok(Order::GoOn))?;
        let verdict = judge(&seen);
        // Reports of crashes and full disks are not kept until the study ends.
        super::place::remove_all(&folder);
        Ok(verdict)
    }
}

/// Culprit must end in time, with an answer, within its bounds, and leave nothing.
fn judge(seen: &Seen) -> Verdict {
    let took = seen.took.as_secs();
    let Some(status) = seen.status else {
        return Verdict::Succeeded(format!("no end in {took} s"));
    };
    let mut harm = Vec::new();
    if !matches!(status, Status::Exited(0 | 1 | 3)) {
        harm.push(format!("status {status}"));
    }
    if seen.memory > MEMORY {
        harm.push(format!("{} MB of memory", seen.memory >> 20));
    }
    if seen.disk > DISK {
        harm.push(format!("{} MB on disk", seen.disk >> 20));
    }
    if seen.printed.contains("a secret of a file elsewhere") {
        harm.push("printed a file elsewhere".to_owned());
    }
    harm.extend(seen.left.iter().map(|it| format!("left {it}")));
    match harm.is_empty() {
        true => Verdict::Refused(format!("status {status} in {took} s")),
        false => Verdict::Succeeded(harm.join(", ")),
    }
}
