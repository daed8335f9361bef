//! A watched run: one run of a command of the user's, within limits, as long as somebody waits for it.
//!
//! It ends by itself, is late, or nobody waits for it any more; in each case nothing of it is left:
//! neither its group nor processes that left the group.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use tracing::debug;

use crate::group::{Group, Streams};
use crate::{Excess, Launch, LaunchError, Status, orphans};

/// The time that streams may remain open after all known processes were ended.
const GRACE: Duration = Duration::from_secs(1);

/// The interval between checks whether somebody still waits.
const PULSE: Duration = Duration::from_millis(10);

/// Bytes of a stream that are read before anything else is looked at.
const AT_ONCE: usize = 1 << 20;

/// The limits and the input of one run.
pub struct WatchedRun<'a> {
    /// It is killed after so long.
    pub limit: Duration,
    /// The file on its standard input, if any.
    pub input: Option<&'a Path>,
    /// Bytes of each stream that are kept at most, half of them of its end.
    pub kept: usize,
    /// True if somebody waits for it. It is killed when nobody does.
    pub wanted: &'a dyn Fn() -> bool,
}

/// The outcome of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ran {
    pub end: RunEnd,
    pub out: KeptOutput,
    pub err: KeptOutput,
    pub took: Duration,
    /// Processes that had left its group and were ended.
    pub strays: usize,
}

/// The way in which a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunEnd {
    /// By itself.
    Ended(Status),
    /// It took too long.
    Late,
    /// Nobody waited any more.
    Unwanted,
    /// It was killed because it used too much of something.
    Exceeded(Excess),
}

/// The kept part of a stream: all, or its start and its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptOutput {
    most: usize,
    start: Vec<u8>,
    end: Vec<u8>,
    /// Bytes between the two that are gone.
    pub left_out: u64,
}

impl KeptOutput {
    fn within(most: usize) -> KeptOutput {
        KeptOutput {
            most,
            start: Vec::new(),
            end: Vec::new(),
            left_out: 0,
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        let room = (self.most / 2)
            .saturating_sub(self.start.len())
            .min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.start.extend_from_slice(first);
        self.end.extend_from_slice(rest);
        // Cut now and then, not with each piece.
        if self.end.len() > self.most {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let surplus = self.end.len().saturating_sub(self.most / 2);
        self.end.drain(..surplus);
        self.left_out += surplus as u64;
    }

    /// As text. What is left out is told on a line of its own.
    pub fn text(&self) -> String {
        let start = String::from_utf8_lossy(&self.start);
        let end = String::from_utf8_lossy(&self.end);
        match self.left_out {
            0 => {
                let mut all = self.start.clone();
                all.extend_from_slice(&self.end);
                String::from_utf8_lossy(&all).into_owned()
            }
            count => format!("{start}\n[{count} bytes left out]\n{end}"),
        }
    }
}

impl Launch {
    /// The same with a mark in its environment, and the mark: what it leaves behind is known by it.
    pub(crate) fn marked(&self) -> (Launch, String) {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        orphans::adopt();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}{number}", orphans::mark());
        let mut marked = self.clone();
        if let Some((name, value)) = mark.split_once('=') {
            marked.env.push((name.into(), value.into()));
        }
        (marked, mark)
    }

    /// Runs the program to its end, which may come from us.
    pub fn run_watched(&self, run_watched: &WatchedRun<'_>) -> Result<Ran, LaunchError> {
        let (marked, mark) = self.marked();
        let failed = |error| LaunchError::Start {
            file: self.file.clone(),
            error,
        };
        let input = match run_watched.input {
            Some(path) => Stdio::from(File::open(path).map_err(failed)?),
            None => Stdio::null(),
        };
        let began = Instant::now();
        let mut group = marked.start(Streams {
            input,
            out: Stdio::piped(),
            err: Stdio::piped(),
            inherited: None,
        })?;
        let (out, err) = group.take_output();
        let mut streams = [
            CapturedStream::of(out.map(OwnedFd::from), run_watched.kept).map_err(failed)?,
            CapturedStream::of(err.map(OwnedFd::from), run_watched.kept).map_err(failed)?,
        ];
        let cause = attend(&group, &mut streams, run_watched, began).map_err(failed)?;
        let (status, _) = group.end_within(Duration::ZERO).map_err(failed)?;
        let took = began.elapsed();
        let exceeded = || group.excess().map(RunEnd::Exceeded);
        let end = cause.or_else(exceeded).unwrap_or(RunEnd::Ended(status));
        debug!(pid = group.leader().as_raw_nonzero().get(), end = ?end, took = ?took, "process ended");
        let strays = orphans::end(&mark, group.leader());
        drain(&mut streams, Instant::now() + GRACE).map_err(failed)?;
        let [out, err] = streams.map(|mut stream| {
            if stream.kept.left_out > 0 {
                stream.kept.cut();
            }
            stream.kept
        });
        Ok(Ran {
            end,
            out,
            err,
            took,
            strays,
        })
    }
}

/// Our end of a stream.
struct CapturedStream {
    /// `None` when it has ended.
    from: Option<File>,
    kept: KeptOutput,
}

impl CapturedStream {
    fn of(from: Option<OwnedFd>, kept: usize) -> io::Result<CapturedStream> {
        if let Some(from) = &from {
            ioctl_fionbio(from, true)?;
        }
        Ok(CapturedStream {
            from: from.map(File::from),
            kept: KeptOutput::within(kept),
        })
    }

    /// Reads what is there, up to [`AT_ONCE`]: who writes without an end must not keep
    /// us from looking at the time.
    fn read(&mut self) {
        let mut buffer = [0; 64 << 10];
        let mut left = AT_ONCE;
        while let Some(from) = self.from.as_mut().filter(|_| left > 0) {
            match from.read(&mut buffer) {
                Ok(0) => self.from = None,
                Ok(count) => {
                    self.kept.add(&buffer[..count]);
                    left = left.saturating_sub(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // What was read before is what there is.
                Err(_) => self.from = None,
            }
        }
    }
}

/// Reads until the program ends, is late or is unwanted. `None` if it ended by itself.
fn attend(
    group: &Group,
    streams: &mut [CapturedStream; 2],
    run_watched: &WatchedRun<'_>,
    began: Instant,
) -> io::Result<Option<RunEnd>> {
    let watch = group.watch();
    loop {
        let left = run_watched.limit.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Ok(Some(RunEnd::Late));
        }
        if !(run_watched.wanted)() {
            return Ok(Some(RunEnd::Unwanted));
        }
        wait(watch.as_ref().map(AsFd::as_fd), streams, left.min(PULSE))?;
        streams.iter_mut().for_each(CapturedStream::read);
        if group.has_ended()? {
            return Ok(None);
        }
    }
}

/// Waits for something to happen.
fn wait(
    watch: Option<BorrowedFd<'_>>,
    streams: &[CapturedStream],
    limit: Duration,
) -> io::Result<()> {
    let open = streams.iter().filter_map(|stream| stream.from.as_ref());
    let sources = open.map(AsFd::as_fd).chain(watch);
    let mut all: Vec<PollFd<'_>> = sources
        .map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN))
        .collect();
    let limit = match watch {
        Some(_) => limit,
        // Nothing tells of the end.
        None => limit.min(Duration::from_millis(2)),
    };
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    match poll(&mut all, Some(&limit)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Reads what is left. Processes that we do not know of may hold the streams: they are not waited
/// for longer than this.
fn drain(streams: &mut [CapturedStream; 2], end: Instant) -> io::Result<()> {
    loop {
        streams.iter_mut().for_each(CapturedStream::read);
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || streams.iter().all(|stream| stream.from.is_none()) {
            return Ok(());
        }
        wait(None, streams, left)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    const KEPT: usize = 1 << 20;

    fn shell(script: &str) -> Launch {
        Launch {
            file: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
            directory: "/".into(),
            limits: Limits::default(),
            sandbox: None,
        }
    }

    fn run(script: &str, limit: u64) -> Ran {
        let run_watched = WatchedRun {
            limit: Duration::from_millis(limit),
            input: None,
            kept: KEPT,
            wanted: &|| true,
        };
        shell(script).run_watched(&run_watched).unwrap()
    }

    #[test]
    fn status_signal_and_streams_are_kept() {
        let ran = run("echo out; echo err >&2; exit 3", 60_000);
        assert_eq!(ran.end, RunEnd::Ended(Status::Exited(3)));
        assert_eq!(
            (ran.out.text(), ran.err.text()),
            ("out\n".into(), "err\n".into())
        );
        let ran = run("kill -SEGV $$", 60_000);
        assert_eq!(ran.end, RunEnd::Ended(Status::Killed(11)));
    }

    #[test]
    fn what_it_reads_is_what_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("input");
        std::fs::write(&path, "abc").unwrap();
        let run_watched = WatchedRun {
            limit: Duration::from_secs(60),
            input: Some(&path),
            kept: KEPT,
            wanted: &|| true,
        };
        assert_eq!(
            shell("cat").run_watched(&run_watched).unwrap().out.text(),
            "abc"
        );
        assert_eq!(run("cat", 60_000).out.text(), "");
    }

    #[test]
    fn one_that_is_late_or_unwanted_is_killed() {
        let ran = run("echo begun; sleep 1000", 300);
        assert_eq!((ran.end, ran.out.text()), (RunEnd::Late, "begun\n".into()));
        let began = Instant::now();
        let run_watched = WatchedRun {
            limit: Duration::from_secs(60),
            input: None,
            kept: KEPT,
            wanted: &|| began.elapsed() < Duration::from_millis(100),
        };
        let ran = shell("sleep 1000").run_watched(&run_watched).unwrap();
        assert_eq!(ran.end, RunEnd::Unwanted);
    }

    #[test]
    fn long_output_keeps_its_start_and_its_end() {
        let ran = run("echo first; yes | head -c 5000000; echo last", 60_000);
        let text = ran.out.text();
        assert!(text.starts_with("first\n") && text.ends_with("last\n"));
        assert!(text.len() < KEPT + 100, "{}", text.len());
        assert!(ran.out.left_out > 3_900_000);
    }

    #[test]
    fn one_that_writes_without_an_end_is_late_too() {
        let ran = run("yes", 300);
        assert_eq!(ran.end, RunEnd::Late);
        assert!(ran.out.text().starts_with("y\ny\n"));
        // Here there is always more to read, whoever is faster.
        let zeros = File::open("/dev/zero").unwrap();
        let mut stream = CapturedStream::of(Some(zeros.into()), KEPT).unwrap();
        stream.read();
        assert!(stream.from.is_some());
        stream.read();
        stream.kept.cut();
        assert_eq!(stream.kept.left_out, (2 * AT_ONCE - KEPT) as u64);
    }

    #[test]
    fn a_program_that_was_just_written_can_be_run() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let write_and_run = |name: &str| {
            for _ in 0..50 {
                let path = folder.path().join(name);
                let write = || {
                    std::fs::write(&path, "#!/bin/sh\n")?;
                    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
                };
                orphans::between_starts(write).unwrap();
                let ran = run(&path.display().to_string(), 60_000);
                assert_eq!(
                    ran.end,
                    RunEnd::Ended(Status::Exited(0)),
                    "{}",
                    ran.err.text()
                );
            }
        };
        std::thread::scope(|scope| {
            for name in ["a", "b", "c", "d"] {
                scope.spawn(move || write_and_run(name));
            }
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn one_that_uses_too_much_is_killed_and_the_reason_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let check = |script: &str, expect: Excess| {
            let mut launch = shell(script);
            launch.directory = folder.path().to_owned();
            launch.limits = Limits {
                memory: None,
                file_size: Some(4 << 20),
                open_files: None,
                files: Some(50),
            };
            let sandbox = crate::Sandbox::default().allow_programs();
            launch.sandbox = Some(sandbox.allow_write(folder.path()));
            let run_watched = WatchedRun {
                limit: Duration::from_secs(60),
                input: None,
                kept: KEPT,
                wanted: &|| true,
            };
            let ran = launch.run_watched(&run_watched).unwrap();
            assert_eq!(ran.end, RunEnd::Exceeded(expect), "{ran:?}");
        };
        let files = "while :; do i=$((i+1)); head -c 3000000 /dev/zero >$i; sleep 0.01; done";
        check(files, Excess::Disk(8 << 20));
        check(
            "while :; do i=$((i+1)); : >$i.empty; done",
            Excess::Files(50),
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_is_left_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let pids = folder.path().join("pids");
        let script = format!(
            "sleep 1001 & echo $! >>{0}; \
             setsid sh -c 'sleep 1002 & echo $! >>{0}; echo $$ >>{0}; sleep 1003' & \
             while [ $(wc -l <{0}) -lt 3 ]; do sleep 0.01; done",
            pids.display()
        );
        let ran = run(&script, 60_000);
        assert_eq!(ran.end, RunEnd::Ended(Status::Exited(0)));
        assert!(ran.strays >= 2, "{ran:?}");
        for pid in std::fs::read_to_string(&pids).unwrap().lines() {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            let ended = state.is_err() || state.is_ok_and(|it| it.contains(") Z "));
            assert!(ended, "{pid} is still there");
        }
    }
}
