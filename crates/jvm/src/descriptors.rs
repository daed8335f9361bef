//! Open files of ours, and of whoever started us, that a started program must not get: a sandbox
//! does not look at what is open already.

use std::io;

use rustix::process::{Resource, getrlimit};

/// The first descriptor that is no standard stream.
const FIRST: libc::c_int = 3;

/// As many descriptors as are tried one by one, where the system tells no limit.
const MOST: u64 = 1 << 20;

/// Has everything but the standard streams closed when this process becomes another program. Neither
/// allocates nor locks.
#[expect(unsafe_code, reason = "no safe library has these calls")]
pub(crate) fn close_on_exec() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        let flags = libc::CLOSE_RANGE_CLOEXEC as libc::c_int;
        // SAFETY: takes numbers only, and marks descriptors; none is closed here.
        let marked = unsafe { libc::close_range(FIRST as libc::c_uint, libc::c_uint::MAX, flags) };
        if marked == 0 {
            return Ok(());
        }
    }
    // Before Linux 5.11, and elsewhere.
    let most = getrlimit(Resource::Nofile).maximum.unwrap_or(MOST);
    for descriptor in FIRST..libc::c_int::try_from(most.min(MOST)).unwrap_or(libc::c_int::MAX) {
        // SAFETY: takes numbers only; for those that are not open it is an error without effect.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    Ok(())
}

/// Closes every descriptor from this one on.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no safe library has these calls")]
pub(crate) fn close_from(first: libc::c_int) {
    // SAFETY: takes numbers only. Whoever calls this uses none of the descriptors any more.
    let closed = unsafe { libc::close_range(first as libc::c_uint, libc::c_uint::MAX, 0) };
    if closed == 0 {
        return;
    }
    let most = getrlimit(Resource::Nofile).maximum.unwrap_or(MOST);
    for descriptor in first..libc::c_int::try_from(most.min(MOST)).unwrap_or(libc::c_int::MAX) {
        // SAFETY: as above.
        unsafe { libc::close(descriptor) };
    }
}
