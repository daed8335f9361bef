//! A process that ends what is left of our programs when this process is killed.
//!
//! The kernel kills the programs that this process started when it ends (`PR_SET_PDEATHSIG`), but not the processes
//! that those started. The watchdog is forked before there are other threads, and learns over a pipe which sessions
//! exist. At the end of the pipe without a farewell it kills all processes of those sessions, and all processes with
//! the mark of our runs in their environment.
//!
//! A process that left its session and cleared its environment is not found. Without a watchdog, only the direct
//! children end with this process.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use crate::{descriptors, orphans};

/// The name of the process, as `ps` shows it.
const NAME: &std::ffi::CStr = c"culprit-watch";

/// The time between two looks at all processes.
const PAUSE: Duration = Duration::from_millis(2);

/// Looks in a row that find nothing to kill. A process that is becoming another program has no environment.
const CLEAN: usize = 3;

/// The time after which processes that cannot be killed are given up.
const GIVE_UP: Duration = Duration::from_secs(60);

/// The one of this process.
static LINE: OnceLock<WatchdogPipe> = OnceLock::new();

/// Our end.
#[derive(Debug)]
struct WatchdogPipe {
    pipe: OwnedFd,
    watchdog: Pid,
}

/// The watchdog of this process, which is told to go when this is dropped.
#[derive(Debug)]
pub struct Watchdog(());

impl Watchdog {
    /// Starts the watchdog. Nothing is started where this process has several threads already, or where the system
    /// does not allow it: then only direct children end with this process.
    pub fn start() -> Watchdog {
        if LINE.get().is_none()
            && let Some(line) = fork()
        {
            // Nobody else reaps it.
            orphans::keep(line.watchdog);
            let _ = LINE.set(line);
        }
        Watchdog(())
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        tell(Message::Farewell);
    }
}

/// A session was started, whose leader is our child.
pub(crate) fn watch(leader: Pid) {
    tell(Message::Begun(leader));
}

/// The leader of a session is about to be reaped: its number may soon be that of another process.
pub(crate) fn forget(leader: Pid) {
    tell(Message::Ended(leader));
}

fn tell(message: Message) {
    let Some(line) = LINE.get() else { return };
    match rustix::io::retry_on_intr(|| rustix::io::write(&line.pipe, &message.encode())) {
        // It is gone, and nobody but the user can have ended it.
        Ok(_) | Err(Errno::PIPE) => {}
        // It does not read, so it would take numbers for ours that are not. It is our child and not reaped.
        Err(_) => {
            let _ = kill_process(line.watchdog, Signal::KILL);
        }
    }
}

/// A message to the watchdog: a letter, and a number that may be zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Message {
    Begun(Pid),
    Ended(Pid),
    Farewell,
}

/// Bytes of a message. The kernel writes as few as these at once.
const LENGTH: usize = 5;

impl Message {
    fn encode(self) -> [u8; LENGTH] {
        let (letter, number) = match self {
            Message::Begun(leader) => (b'+', leader.as_raw_nonzero().get()),
            Message::Ended(leader) => (b'-', leader.as_raw_nonzero().get()),
            Message::Farewell => (b'.', 0),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [letter, a, b, c, d]
    }

    fn decode([letter, a, b, c, d]: [u8; LENGTH]) -> Option<Message> {
        let number = Pid::from_raw(i32::from_le_bytes([a, b, c, d]));
        match letter {
            b'+' => number.map(Message::Begun),
            b'-' => number.map(Message::Ended),
            b'.' => Some(Message::Farewell),
            _ => None,
        }
    }
}

/// Forks the watchdog.
#[expect(unsafe_code, reason = "no safe library can fork")]
fn fork() -> Option<WatchdogPipe> {
    let mark = orphans::mark();
    let (end, pipe) = pipe_with(PipeFlags::CLOEXEC).ok()?;
    // A watchdog that does not read must not hold us up.
    rustix::io::ioctl_fionbio(&pipe, true).ok()?;
    if fs::read_dir("/proc/self/task").ok()?.count() != 1 {
        return None;
    }
    // SAFETY: this is the only thread, so no other one can hold a lock that the copy of this process would wait for.
    let child = unsafe { libc::fork() };
    match child {
        0 => {
            drop(pipe);
            detach(&end);
            if let Some(sessions) = listen() {
                end_all(&sessions, mark, now());
            }
            // SAFETY: ends this process without running anything that the original registered for its end.
            unsafe { libc::_exit(0) }
        }
        // The system has no room for another process.
        -1 => None,
        child => Some(WatchdogPipe {
            pipe,
            watchdog: Pid::from_raw(child)?,
        }),
    }
}

/// The number of the pipe in the watchdog, the only descriptor that it has besides the standard streams.
const PIPE: libc::c_int = 3;

/// Leaves the session, the folder and the open files of the original: nobody waits for the watchdog at the other end
/// of a stream, and no signal of a terminal reaches it.
#[expect(unsafe_code, reason = "no safe library has these calls")]
fn detach(pipe: &OwnedFd) {
    use std::os::fd::AsRawFd;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: ignoring a signal runs no code.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir(c"/");
    let _ = rustix::thread::set_name(NAME);
    if let Ok(null) = fs::File::options().read(true).write(true).open("/dev/null") {
        for stream in 0..PIPE {
            // SAFETY: replaces a descriptor by number. Nothing here owns the standard streams.
            unsafe { libc::dup2(null.as_raw_fd(), stream) };
        }
        std::mem::forget(null);
    }
    // SAFETY: as above. What had this number is used by nobody: the code of the original does not go on here.
    unsafe { libc::dup2(pipe.as_raw_fd(), PIPE) };
    descriptors::close_from(PIPE + 1);
}

/// The sessions that exist when the original is gone; `None` if it said farewell.
#[expect(unsafe_code, reason = "the descriptor is known by its number")]
fn listen() -> Option<BTreeSet<i32>> {
    // SAFETY: `detach` has opened it, and nothing closes it as long as this process lives.
    let pipe = unsafe { std::os::fd::BorrowedFd::borrow_raw(PIPE) };
    let mut sessions = BTreeSet::new();
    let mut message = [0; LENGTH];
    let mut known = 0;
    loop {
        match rustix::io::read(pipe, &mut message[known..]) {
            Err(Errno::INTR) => continue,
            Err(_) | Ok(0) => return Some(sessions),
            Ok(count) => known += count,
        }
        if known < LENGTH {
            continue;
        }
        known = 0;
        match Message::decode(message) {
            Some(Message::Begun(leader)) => {
                sessions.insert(leader.as_raw_nonzero().get());
            }
            Some(Message::Ended(leader)) => {
                sessions.remove(&leader.as_raw_nonzero().get());
            }
            Some(Message::Farewell) => return None,
            None => {}
        }
    }
}

/// Kills the processes of sessions, and those with such a mark, until there are none.
fn end_all(sessions: &BTreeSet<i32>, mark: &str, end: u64) {
    let began = Instant::now();
    let mut clean = 0;
    while clean < CLEAN && began.elapsed() < GIVE_UP {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let found = names.filter_map(Pid::from_raw).filter(|pid| {
            // It names the process even when its number is that of another one.
            let process = pidfd_open(*pid, PidfdFlags::empty());
            let is_ours = is_of_session(*pid, sessions, end) || is_marked(*pid, mark);
            let killed = || match &process {
                Ok(process) => pidfd_send_signal(process, Signal::KILL),
                Err(Errno::NOSYS) => kill_process(*pid, Signal::KILL),
                Err(error) => Err(*error),
            };
            is_ours && killed().is_ok()
        });
        clean = match found.count() {
            0 => clean + 1,
            _ => 0,
        };
        std::thread::sleep(PAUSE);
    }
}

/// True if a live process belongs to one of the sessions. A session whose leader was started after the original
/// ended has the number of one of ours by chance.
fn is_of_session(pid: Pid, sessions: &BTreeSet<i32>, end: u64) -> bool {
    let is_new = |session| About::of(session).is_some_and(|leader| leader.started > end);
    About::of(pid.as_raw_nonzero().get()).is_some_and(|about| {
        about.is_alive && sessions.contains(&about.session) && !is_new(about.session)
    })
}

/// True if a process has a variable that begins with the mark.
fn is_marked(pid: Pid, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()));
    let environment = environment.unwrap_or_default();
    let mut variables = environment.split(|byte| *byte == 0);
    variables.any(|variable| variable.starts_with(mark.as_bytes()))
}

/// The facts about a process that the kernel keeps in one line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct About {
    is_alive: bool,
    session: i32,
    /// Hundredths of a second after the machine was started.
    started: u64,
}

impl About {
    fn of(pid: i32) -> Option<About> {
        About::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(line: &[u8]) -> Option<About> {
        let line = String::from_utf8_lossy(line);
        // The name of the program may contain anything.
        let (_, rest) = line.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        Some(About {
            is_alive: !matches!(*fields.first()?, "Z" | "X"),
            session: fields.get(3)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

/// The time on the clock by which the kernel tells when a process was started. Without a clock no session is new.
fn now() -> u64 {
    let text = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = text.split_whitespace().next().unwrap_or_default();
    seconds.replace('.', "").parse().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_as_they_were() {
        let pid = Pid::from_raw(4_194_303).unwrap();
        for message in [Message::Begun(pid), Message::Ended(pid), Message::Farewell] {
            assert_eq!(Message::decode(message.encode()), Some(message));
        }
        assert_eq!(Message::decode(*b"+\0\0\0\0"), None);
        assert_eq!(Message::decode(*b"?\x01\0\0\0"), None);
    }

    #[test]
    fn a_line_of_the_kernel_is_read_whatever_the_program_is_called() {
        let line = b"7 (a) Z 1 \xff) S 1 7 5 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        let expect = About {
            is_alive: true,
            session: 5,
            started: 4711,
        };
        assert_eq!(About::parse(line), Some(expect));
        assert_eq!(About::parse(b"7 (a"), None);
        let us = About::of(rustix::process::getpid().as_raw_nonzero().get()).unwrap();
        assert!(us.is_alive && us.started <= now());
    }

    #[test]
    fn a_process_with_many_threads_is_not_forked() {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || wait.recv());
        assert!(fork().is_none());
        drop(go);
        let _ = other.join();
    }

    /// Its number is that of a session of ours, but it began after the end of the original.
    #[test]
    fn a_session_with_the_number_of_one_of_ours_is_left_alone() {
        let us = rustix::process::getpid();
        let about = About::of(us.as_raw_nonzero().get()).unwrap();
        let sessions = BTreeSet::from([about.session]);
        let leader = About::of(about.session);
        assert!(is_of_session(us, &sessions, u64::MAX));
        assert!(!is_of_session(us, &BTreeSet::new(), u64::MAX));
        if let Some(leader) = leader.filter(|leader| leader.started > 0) {
            assert!(!is_of_session(us, &sessions, leader.started - 1));
        }
    }
}
