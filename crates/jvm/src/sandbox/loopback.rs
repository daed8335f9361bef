//! A network of a confined program's own: nothing but a loopback interface, which no other process is on.
//!
//! It takes a user namespace, which not every system lets its users make.

use std::io;
use std::os::unix::process::CommandExt;
use std::sync::OnceLock;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;

use crate::target::command;

/// The flags of an interface that is up and running.
const UP: libc::c_short = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;

/// The error by which the probe says that everything worked.
const WORKED: rustix::io::Errno = rustix::io::Errno::CANCELED;

/// A network to enter, with all that must be put together before.
#[derive(Debug)]
pub(super) struct Loopback {
    users: String,
    groups: String,
}

impl Loopback {
    /// True if this system lets its users have one.
    pub(super) fn is_available() -> bool {
        static AVAILABLE: OnceLock<bool> = OnceLock::new();
        *AVAILABLE.get_or_init(probe)
    }

    pub(super) fn new() -> Loopback {
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        Loopback {
            users: format!("{user} {user} 1"),
            groups: format!("{group} {group} 1"),
        }
    }

    /// Moves this process into the network. It has all capabilities in it until it gives them up. Neither
    /// allocates nor locks.
    #[expect(
        unsafe_code,
        reason = "rustix offers no safe way to leave a namespace, nor to set flags of an interface"
    )]
    pub(super) fn enter(&self) -> io::Result<()> {
        let flags = UnshareFlags::NEWUSER | UnshareFlags::NEWNET;
        // SAFETY: `unshare` is unsafe for what other threads and open descriptors may rely on: files, the table of
        // descriptors, the root folder. Neither of these two flags changes any of them, and this process has
        // one thread: it was just forked.
        unsafe { rustix::thread::unshare_unsafe(flags)? };
        write(c"/proc/self/setgroups", b"deny")?;
        write(c"/proc/self/uid_map", self.users.as_bytes())?;
        write(c"/proc/self/gid_map", self.groups.as_bytes())?;
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
        // SAFETY: `socket` takes numbers only.
        let socket = unsafe { libc::socket(libc::AF_INET, kind, 0) };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: an `ifreq` is plain data, for which all zeroes are valid.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = UP;
        // SAFETY: the request reads the `ifreq` that it is given, which lives until it returns.
        let set = unsafe { libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &request) };
        let error = io::Error::last_os_error();
        // SAFETY: the descriptor is ours, and is not used again.
        unsafe { libc::close(socket) };
        match set {
            0 => Ok(()),
            _ => Err(error),
        }
    }
}

fn write(path: &std::ffi::CStr, text: &[u8]) -> io::Result<()> {
    let file = openat(CWD, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    match rustix::io::write(&file, text)? == text.len() {
        true => Ok(()),
        false => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Tries it in a process that never becomes a program.
#[expect(
    unsafe_code,
    reason = "the standard library has no other way to do something between fork and exec"
)]
fn probe() -> bool {
    let loopback = Loopback::new();
    let mut nothing = command("/");
    // SAFETY: between fork and exec only what is safe in a signal handler may be done. Entering makes system calls
    // with what was put together before.
    unsafe { nothing.pre_exec(move || loopback.enter().and(Err(WORKED.into()))) };
    match nothing.spawn() {
        Ok(mut child) => {
            // A folder cannot be executed, so this is no place to be.
            let _ = child.wait();
            false
        }
        Err(error) => error.raw_os_error() == Some(WORKED.raw_os_error()),
    }
}
