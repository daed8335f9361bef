//! The rules of both filters, each a call with conditions on its arguments. At launch they say
//! which calls are allowed; what they do not name is denied. The seal denies a few more.

use std::collections::BTreeMap;

use libc::{
    AF_INET, AF_INET6, AF_UNIX, CLONE_THREAD, IPPROTO_TCP, MAP_ANONYMOUS, MAP_PRIVATE, MAP_TYPE,
    SOCK_STREAM,
};
use seccompiler::{
    BackendError,
    SeccompCmpArgLen::{Dword, Qword},
    SeccompCmpOp::{self, Eq, MaskedEq, Ne},
    SeccompCondition, SeccompRule,
};

use crate::{Network, Permissions, calls};

pub(crate) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

pub(crate) const CLONE3: i64 = libc::SYS_clone3;

/// The way that a thread is scheduled, whose number is the first argument; 0 is the caller.
const SCHEDULING: [i64; 4] = [
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// The constants of `setpriority` and `ioprio_set` for one thread.
const PRIO_PROCESS: u64 = 0;
const IOPRIO_WHO_PROCESS: u64 = 1;

/// Of the requests to open files those that ask: is it a terminal and how large, how much is there
/// to read; and those that set flags of a descriptor. All others change file systems, interfaces,
/// devices or terminals, also through a descriptor that is open for reading only.
const REQUESTS: [u64; 7] = [
    0x5401, // TCGETS
    0x5413, // TIOCGWINSZ
    0x540f, // TIOCGPGRP
    0x541b, // FIONREAD
    0x5421, // FIONBIO
    0x5450, // FIONCLEX
    0x5451, // FIOCLEX
];

/// Of what can be done with a descriptor everything but: owners to whom the kernel sends signals,
/// leases and notifications, which hold up others, and larger pipes.
const DESCRIPTORS: [i32; 14] = [
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_GETLK,
    libc::F_SETLK,
    libc::F_SETLKW,
    libc::F_OFD_GETLK,
    libc::F_OFD_SETLK,
    libc::F_OFD_SETLKW,
    libc::F_GETPIPE_SZ,
    libc::F_GET_SEALS,
];

/// Of the settings of a process: names, questions, and what it gives up for good. Not among them:
/// to outlive its parent, to be traced, to adopt processes.
const SETTINGS: [i32; 14] = [
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_GET_DUMPABLE,
    libc::PR_GET_SECCOMP,
    libc::PR_CAPBSET_READ,
    libc::PR_SET_NO_NEW_PRIVS,
    libc::PR_GET_NO_NEW_PRIVS,
    libc::PR_SET_THP_DISABLE,
    libc::PR_GET_THP_DISABLE,
    libc::PR_GET_TIMERSLACK,
    libc::PR_GET_SPECULATION_CTRL,
    PR_SVE_GET_VL,
    PR_GET_TAGGED_ADDR_CTRL,
    libc::PR_SET_VMA,
];

/// Questions of one kind of processor.
const PR_SVE_GET_VL: i32 = 51;
const PR_GET_TAGGED_ADDR_CTRL: i32 = 56;

/// The system calls that a confined program may make.
pub(crate) fn launch(permissions: Permissions) -> Result<Rules, BackendError> {
    let mut rules: Rules = calls::always().map(|call| (call, Vec::new())).collect();
    // Which program is Landlock's to say.
    rules.insert(libc::SYS_execve, Vec::new());
    let own = [(0, Eq, 0)];
    rules.insert(libc::SYS_prlimit64, any(&[&own])?);
    for call in SCHEDULING {
        rules.insert(call, any(&[&own])?);
    }
    // Which sort of number, then the number. Of threads, the caller is 0 here too.
    for (call, thread) in [
        (libc::SYS_setpriority, PRIO_PROCESS),
        (libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS),
    ] {
        rules.insert(call, any(&[&[(0, Eq, thread), (1, Eq, 0)]])?);
    }
    rules.insert(libc::SYS_ioctl, one_of(1, REQUESTS)?);
    rules.insert(libc::SYS_fcntl, one_of(1, DESCRIPTORS.map(number))?);
    // Only pairs of streams: a datagram could be sent from one to the socket of anybody.
    let stream = (1, MaskedEq(KIND), number(SOCK_STREAM));
    let pair = [(0, Eq, number(AF_UNIX)), stream];
    rules.insert(libc::SYS_socketpair, any(&[&pair])?);
    // Nor has a message an address.
    let address = SeccompCondition::new(4, Qword, Eq, 0)?;
    rules.insert(libc::SYS_sendto, vec![SeccompRule::new(vec![address])?]);
    match permissions.programs {
        true => {
            rules.extend(calls::of_commands().map(|call| (call, Vec::new())));
            rules.insert(libc::SYS_execveat, Vec::new());
            rules.insert(libc::SYS_sendmsg, Vec::new());
        }
        false => {
            let thread = (0, MaskedEq(number(CLONE_THREAD)), number(CLONE_THREAD));
            rules.insert(libc::SYS_clone, any(&[&[thread]])?);
            rules.insert(libc::SYS_prctl, one_of(0, SETTINGS.map(number))?);
        }
    }
    if permissions.attributes {
        rules.extend(calls::TIMES.map(|call| (call, Vec::new())));
        for (call, mode) in calls::MODES {
            // A file may be given to everybody, but not the rights of its owner.
            rules.insert(call, any(&[&[(mode, MaskedEq(SET_ID), 0)]])?);
        }
    }
    // Memory that is shared, and memory that is a file, do not count towards a limit.
    match permissions.programs || permissions.shared_memory {
        true => {
            rules.insert(libc::SYS_mmap, Vec::new());
            rules.insert(libc::SYS_memfd_create, Vec::new());
        }
        false => {
            let of_a_file = [(3, MaskedEq(number(MAP_ANONYMOUS)), 0)];
            let private = [(3, MaskedEq(number(MAP_TYPE)), number(MAP_PRIVATE))];
            rules.insert(libc::SYS_mmap, any(&[&of_a_file, &private])?);
        }
    }
    match permissions.network {
        Network::Nothing => {}
        Network::Listen => listening(&mut rules)?,
        Network::Loopback => on_loopback(&mut rules)?,
    }
    // It names a thread and not its process. The C library of GNU does not use it, musl does.
    if cfg!(target_env = "musl") {
        rules.insert(libc::SYS_tkill, Vec::new());
    }
    Ok(rules)
}

/// Bits of a mode by which a program has the rights of its owner or group, and the sticky one.
const SET_ID: u64 = 0o7000;

/// The kind of a socket is in the last four bits, flags are above.
const KIND: u64 = 0xf;

/// TCP sockets may be made, bound and listened at, and answer; they may not connect.
fn listening(rules: &mut Rules) -> Result<(), BackendError> {
    for call in [
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        libc::SYS_setsockopt,
    ] {
        rules.insert(call, Vec::new());
    }
    let mut sockets = Vec::new();
    for family in [AF_INET, AF_INET6] {
        for protocol in [0, IPPROTO_TCP] {
            sockets.push(rule(&[
                (0, Eq, number(family)),
                (1, MaskedEq(KIND), number(SOCK_STREAM)),
                (2, Eq, number(protocol)),
            ])?);
        }
    }
    rules.insert(libc::SYS_socket, sockets);
    Ok(())
}

/// Levels of options of IP, TCP and UDP. Those that do more than set up a connection take a capability.
const LEVELS: [i32; 4] = [
    libc::IPPROTO_IP,
    libc::IPPROTO_TCP,
    libc::IPPROTO_UDP,
    libc::IPPROTO_IPV6,
];

/// Of the options of all sockets those that libraries set. Filters, which are programs for the kernel, are none.
const OPTIONS: [i32; 10] = [
    libc::SO_REUSEADDR,
    libc::SO_REUSEPORT,
    libc::SO_BROADCAST,
    libc::SO_SNDBUF,
    libc::SO_RCVBUF,
    libc::SO_KEEPALIVE,
    libc::SO_OOBINLINE,
    libc::SO_LINGER,
    libc::SO_RCVTIMEO,
    libc::SO_SNDTIMEO,
];

/// TCP and UDP may be used to the full. Sockets of other families may not be made.
fn on_loopback(rules: &mut Rules) -> Result<(), BackendError> {
    for call in [
        libc::SYS_bind,
        libc::SYS_connect,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        libc::SYS_sendto,
        libc::SYS_sendmsg,
        libc::SYS_sendmmsg,
        libc::SYS_recvmmsg,
    ] {
        rules.insert(call, Vec::new());
    }
    let mut sockets = Vec::new();
    for family in [AF_INET, AF_INET6] {
        for (kind, own) in [
            (SOCK_STREAM, IPPROTO_TCP),
            (libc::SOCK_DGRAM, libc::IPPROTO_UDP),
        ] {
            for protocol in [0, own] {
                sockets.push(rule(&[
                    (0, Eq, number(family)),
                    (1, MaskedEq(KIND), number(kind)),
                    (2, Eq, number(protocol)),
                ])?);
            }
        }
    }
    rules.insert(libc::SYS_socket, sockets);
    let mut options = one_of(1, LEVELS.map(number))?;
    for option in OPTIONS.map(number) {
        options.push(rule(&[(1, Eq, number(libc::SOL_SOCKET)), (2, Eq, option)])?);
    }
    rules.insert(libc::SYS_setsockopt, options);
    Ok(())
}

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

/// The system calls that are denied once the JVM is running.
pub(crate) fn seal(process: u32) -> Result<Rules, BackendError> {
    let mut rules: Rules = PROGRAMS.iter().map(|call| (*call, Vec::new())).collect();
    let no_thread = rule(&[(0, MaskedEq(number(CLONE_THREAD)), 0)])?;
    rules.insert(libc::SYS_clone, vec![no_thread]);
    for call in [
        libc::SYS_kill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
    ] {
        rules.insert(call, vec![rule(&[(0, Ne, u64::from(process))])?]);
    }
    if cfg!(not(target_env = "musl")) {
        rules.insert(libc::SYS_tkill, Vec::new());
    }
    Ok(rules)
}

/// A condition: number of the argument, comparison, value. Of these arguments the kernel looks at
/// the lower half only.
type Condition = (u8, SeccompCmpOp, u64);

/// Every one of the conditions holds.
fn rule(conditions: &[Condition]) -> Result<SeccompRule, BackendError> {
    let conditions: Result<Vec<_>, _> = conditions
        .iter()
        .map(|(argument, op, value)| SeccompCondition::new(*argument, Dword, op.clone(), *value))
        .collect();
    SeccompRule::new(conditions?)
}

/// One of the rules holds.
fn any(rules: &[&[Condition]]) -> Result<Vec<SeccompRule>, BackendError> {
    rules.iter().map(|conditions| rule(conditions)).collect()
}

/// An argument is one of these values.
fn one_of<const N: usize>(
    argument: u8,
    values: [u64; N],
) -> Result<Vec<SeccompRule>, BackendError> {
    let rules = values.map(|value| rule(&[(argument, Eq, value)]));
    rules.into_iter().collect()
}

/// A constant of the C library as the kernel compares it.
fn number(constant: i32) -> u64 {
    u64::from(constant as u32)
}
