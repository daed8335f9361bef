//! The system calls that a confined program may make, whatever their arguments, by what they are
//! for. Files are bounded by Landlock, which sees paths; here only calls matter.
//!
//! The lists cover the C libraries of GNU and musl and HotSpot. `examples/calls.rs` shows which other
//! calls a command makes. A call that is missing fails with `EACCES`.

/// Newer calls have one number on all processors, but not yet a name in every list of `libc`.
const FCHMODAT2: i64 = 452;
const MAP_SHADOW_STACK: i64 = 453;
const FUTEX_WAKE: i64 = 454;
const FUTEX_WAIT: i64 = 455;
const FUTEX_REQUEUE: i64 = 456;
const MSEAL: i64 = 462;
const GETXATTRAT: i64 = 464;
const LISTXATTRAT: i64 = 465;
const FILE_GETATTR: i64 = 468;

/// The first number that no list here knows.
pub(crate) const UNKNOWN: u32 = 470;

/// Opening, reading, writing, naming and describing files.
const FILES: [i64; 65] = [
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_umask,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_fadvise64,
    libc::SYS_readahead,
    libc::SYS_flock,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_vmsplice,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_fgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_flistxattr,
    GETXATTRAT,
    LISTXATTRAT,
    FILE_GETATTR,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_rm_watch,
    libc::SYS_eventfd2,
    libc::SYS_signalfd4,
];

/// Memory of the process itself. `mmap` and `memfd_create` have conditions.
const MEMORY: [i64; 21] = [
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_mincore,
    libc::SYS_msync,
    libc::SYS_mlock,
    libc::SYS_mlock2,
    libc::SYS_munlock,
    libc::SYS_mlockall,
    libc::SYS_munlockall,
    libc::SYS_membarrier,
    libc::SYS_pkey_alloc,
    libc::SYS_pkey_free,
    libc::SYS_pkey_mprotect,
    libc::SYS_mbind,
    libc::SYS_get_mempolicy,
    libc::SYS_set_mempolicy,
    MAP_SHADOW_STACK,
    MSEAL,
];

/// Threads of the process, their signals, and the end of both.
const THREADS: [i64; 30] = [
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    FUTEX_WAKE,
    FUTEX_WAIT,
    FUTEX_REQUEUE,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getattr,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_sched_rr_get_interval,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sigaltstack,
    libc::SYS_tgkill,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_restart_syscall,
    // The seal is a filter that the process enters by itself.
    libc::SYS_seccomp,
];

/// Questions about the process and the machine.
const QUESTIONS: [i64; 29] = [
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getpgid,
    libc::SYS_getsid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_getpriority,
    libc::SYS_ioprio_get,
    libc::SYS_getrlimit,
    // Limits can be lowered; raising them needs a capability, and there is none.
    libc::SYS_setrlimit,
    libc::SYS_getrusage,
    libc::SYS_times,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_getcpu,
    libc::SYS_capget,
    libc::SYS_getrandom,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_getitimer,
];

/// Waiting: for time, for descriptors.
const WAITING: [i64; 17] = [
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_setitimer,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_gettime,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_delete,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
];

/// Both ends of a pair of sockets within the process, and the line to Culprit.
const PAIRS: [i64; 6] = [
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
];

/// The same by calls that only older processors have.
#[cfg(target_arch = "x86_64")]
const OLD: [i64; 29] = [
    libc::SYS_open,
    libc::SYS_creat,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_getdents,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_inotify_init,
    libc::SYS_eventfd,
    libc::SYS_signalfd,
    libc::SYS_time,
    libc::SYS_alarm,
    libc::SYS_pause,
    libc::SYS_getpgrp,
    libc::SYS_arch_prctl,
    libc::SYS_set_thread_area,
    libc::SYS_get_thread_area,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: [i64; 0] = [];

/// Everything above.
pub(crate) fn always() -> impl Iterator<Item = i64> {
    let lists: [&[i64]; 7] = [
        &FILES, &MEMORY, &THREADS, &QUESTIONS, &WAITING, &PAIRS, &OLD,
    ];
    lists.into_iter().flatten().copied()
}

/// Other programs and processes: for commands that are made of several programs. Signals reach
/// those of the same sandbox only, which is Landlock's part.
const PROGRAMS: [i64; 10] = [
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_setpgid,
    libc::SYS_setsid,
    libc::SYS_prctl,
    libc::SYS_personality,
    libc::SYS_pidfd_open,
];

/// Identities, which `make` sets for the programs that it starts. Without a capability only those that
/// the process has already can be set.
const IDENTITIES: [i64; 6] = [
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
];

/// New processes by calls that only older processors have.
#[cfg(target_arch = "x86_64")]
const OLD_PROGRAMS: [i64; 2] = [libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const OLD_PROGRAMS: [i64; 0] = [];

/// The calls that a command needs which starts programs, besides those that it always may make.
pub(crate) fn of_commands() -> impl Iterator<Item = i64> {
    let lists: [&[i64]; 3] = [&PROGRAMS, &IDENTITIES, &OLD_PROGRAMS];
    lists.into_iter().flatten().copied()
}

/// Modes of files, each with the number of the argument that has the mode. Landlock does not see them, so
/// whoever may change them may do so with every file of the user's; build tools cannot do without.
#[cfg(target_arch = "x86_64")]
pub(crate) const MODES: [(i64, u8); 4] = [
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_chmod, 1),
];
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const MODES: [(i64, u8); 3] = [
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
];

/// Times and owners of files. An owner can only be set to the user, since there is no capability.
#[cfg(target_arch = "x86_64")]
pub(crate) const TIMES: [i64; 8] = [
    libc::SYS_utimensat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const TIMES: [i64; 3] = [libc::SYS_utimensat, libc::SYS_fchown, libc::SYS_fchownat];

/// All calls that change modes, times and owners of files.
pub(crate) fn attributes() -> impl Iterator<Item = i64> {
    let modes = MODES.into_iter().map(|(call, _)| call);
    modes.chain(TIMES)
}

/// Further attributes of files, which commands that copy files do without where a file system has none.
pub(crate) const EXTENDED: [i64; 6] = [
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];
