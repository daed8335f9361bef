//! Which system calls are denied. Each map has numbers of calls, each with the conditions on its
//! arguments under which it is denied; none means always.

use std::collections::BTreeMap;

use libc::{AF_INET, AF_INET6, CLONE_THREAD, IPPROTO_TCP, SOCK_STREAM};
use seccompiler::{
    BackendError,
    SeccompCmpArgLen::{Dword, Qword},
    SeccompCmpOp::{self, Eq, MaskedEq, Ne},
    SeccompCondition, SeccompRule,
};

use crate::Network;

pub(crate) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

// Newer calls have one number on all processors, but not yet a name in every list of `libc`.
pub(crate) const CLONE3: u32 = 435;
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;
const QUOTACTL_FD: i64 = 443;

/// The network, and the way around filters that a ring of calls is.
const NETWORK: [i64; 7] = [
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_io_uring_setup,
];

/// A hold on other processes and their memory, and leaving the group by which this one is killed.
const PROCESSES: [i64; 11] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_kcmp,
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// Memory, queues and semaphores that processes share by number or name. They outlive whoever made
/// them, and are in no folder. No JVM needs them; those of large pages (`UseSHM`) do without.
const SHARED: [i64; 17] = [
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_timedreceive,
    libc::SYS_mq_notify,
    libc::SYS_mq_getsetattr,
];

/// Of the calls on open files those that change attributes, even of files that are open for reading
/// only, and those that type into a terminal or take it over. The numbers are those of processors
/// that Culprit runs on.
const REQUESTS: [u64; 7] = [
    0x4008_6602, // FS_IOC_SETFLAGS
    0x4004_6602, // FS_IOC32_SETFLAGS
    0x4008_7602, // FS_IOC_SETVERSION
    0x401c_5820, // FS_IOC_FSSETXATTR
    0x5412,      // TIOCSTI
    0x541c,      // TIOCLINUX
    0x540e,      // TIOCSCTTY
];

/// The way that a thread is scheduled, whose number is the first argument; 0 is the caller.
const SCHEDULING: [i64; 4] = [
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// Modes, owners, times and further attributes of files, which Landlock leaves alone.
const ATTRIBUTES: [i64; 15] = [
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// The same by calls that newer processors do not have.
#[cfg(target_arch = "x86_64")]
const OLD_ATTRIBUTES: [i64; 6] = [
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_ATTRIBUTES: [i64; 0] = [];

/// Ports of the hardware, which one processor has.
#[cfg(target_arch = "x86_64")]
const HARDWARE: [i64; 2] = [libc::SYS_iopl, libc::SYS_ioperm];
#[cfg(not(target_arch = "x86_64"))]
const HARDWARE: [i64; 0] = [];

/// The system itself: whoever replays as root is asked not to break it.
const SYSTEM: [i64; 38] = [
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_quotactl,
    QUOTACTL_FD,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_acct,
];

/// What `setpriority` and `ioprio_set` call one thread.
const PRIO_PROCESS: u64 = 0;
const IOPRIO_WHO_PROCESS: u64 = 1;

/// Other programs and other processes.
#[cfg(target_arch = "x86_64")]
const PROGRAMS: [i64; 4] = [
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_fork,
    libc::SYS_vfork,
];
#[cfg(not(target_arch = "x86_64"))]
const PROGRAMS: [i64; 2] = [libc::SYS_execve, libc::SYS_execveat];

/// What is denied from before a confined program is executed.
pub(crate) fn launch(network: Network) -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    let denied = NETWORK
        .iter()
        .chain(&PROCESSES)
        .chain(&ATTRIBUTES)
        .chain(&OLD_ATTRIBUTES)
        .chain(&SHARED)
        .chain(&SYSTEM)
        .chain(&HARDWARE);
    rules.extend(denied.map(|call| (*call, Vec::new())));
    // Limits of other processes; 0 is this one.
    let others = rule(&[(0, Ne, 0)])?;
    rules.insert(libc::SYS_prlimit64, vec![others.clone()]);
    rules.extend(SCHEDULING.map(|call| (call, vec![others.clone()])));
    // Which sort of number, then the number. Of threads, the caller is 0 here too.
    for (call, thread) in [
        (libc::SYS_setpriority, PRIO_PROCESS),
        (libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS),
    ] {
        let others = vec![rule(&[(0, Ne, thread)])?, rule(&[(1, Ne, 0)])?];
        rules.insert(call, others);
    }
    let requests: Result<Vec<_>, _> = REQUESTS
        .map(|it| rule(&[(1, Eq, it)]))
        .into_iter()
        .collect();
    rules.insert(libc::SYS_ioctl, requests?);
    if network == Network::Listen {
        listening(&mut rules)?;
    }
    Ok(rules)
}

/// TCP sockets may be made, bound and listened at, and answer; they may not connect.
fn listening(rules: &mut Rules) -> Result<(), BackendError> {
    for call in [
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
    ] {
        rules.remove(&call);
    }
    let mut sockets = vec![
        rule(&[(0, Ne, AF_INET as u64), (0, Ne, AF_INET6 as u64)])?,
        rule(&[(2, Ne, 0), (2, Ne, IPPROTO_TCP as u64)])?,
    ];
    // The kind is in the last four bits, flags are above.
    for kind in (0..16).filter(|kind| *kind != SOCK_STREAM as u64) {
        sockets.push(rule(&[(1, MaskedEq(0xf), kind)])?);
    }
    rules.insert(libc::SYS_socket, sockets);
    // The first bytes may be sent to an address without connecting to it before.
    let address = SeccompCondition::new(4, Qword, Ne, 0)?;
    rules.insert(libc::SYS_sendto, vec![SeccompRule::new(vec![address])?]);
    rules.insert(libc::SYS_sendmsg, Vec::new());
    rules.insert(libc::SYS_sendmmsg, Vec::new());
    Ok(())
}

/// What is denied when the JVM is up.
pub(crate) fn seal(process: u32) -> Result<Rules, BackendError> {
    let mut rules: Rules = PROGRAMS.iter().map(|call| (*call, Vec::new())).collect();
    let no_thread = rule(&[(0, MaskedEq(CLONE_THREAD as u64), 0)])?;
    rules.insert(libc::SYS_clone, vec![no_thread]);
    for call in [
        libc::SYS_kill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
    ] {
        rules.insert(call, vec![rule(&[(0, Ne, u64::from(process))])?]);
    }
    // It names a thread and not its process. The C library of GNU does not use it, musl does.
    if cfg!(not(target_env = "musl")) {
        rules.insert(libc::SYS_tkill, Vec::new());
    }
    Ok(rules)
}

/// All of the conditions hold: number of the argument, comparison, value. Of these arguments the
/// kernel looks at the lower half only.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, BackendError> {
    let conditions: Result<Vec<_>, _> = conditions
        .iter()
        .map(|(argument, op, value)| SeccompCondition::new(*argument, Dword, op.clone(), *value))
        .collect();
    SeccompRule::new(conditions?)
}
