//! A filter: made ahead, then entered, which cannot be undone and is inherited.

use std::fmt;
use std::io;

use libc::{EACCES, ENOSYS, ENOTSUP};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter,
    apply_filter_all_threads, sock_filter,
};

use crate::rules::{self, Rules};
use crate::{Permissions, calls};

/// A filter of system calls. What it forbids fails with `EACCES`.
#[derive(Clone, Debug)]
pub struct Filter {
    program: BpfProgram,
}

/// A filter could not be made or entered.
#[derive(Debug)]
pub enum FilterError {
    /// Nobody knows the system calls of this kind of processor.
    Architecture,
    /// The rules make no filter: a mistake of this crate.
    Rules(BackendError),
    /// The kernel refused it.
    Kernel(io::Error),
    /// Another thread has filters of its own.
    Thread(i64),
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilterError::Architecture => {
                write!(f, "no seccomp filter for {}", std::env::consts::ARCH)
            }
            FilterError::Rules(error) => write!(f, "bad seccomp rules: {error}"),
            FilterError::Kernel(error) => write!(f, "the kernel refused a seccomp filter: {error}"),
            FilterError::Thread(id) => write!(f, "thread {id} has seccomp filters of its own"),
        }
    }
}

impl std::error::Error for FilterError {}

impl Filter {
    /// True if the kernel has such filters.
    pub fn is_available() -> bool {
        std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail")
            .is_ok_and(|actions| actions.split_whitespace().any(|action| action == "errno"))
            && arch().is_ok()
    }

    /// The filter that is set before a confined program is executed: the calls that it may make.
    pub fn for_launch(permissions: Permissions) -> Result<Filter, FilterError> {
        let program = compile(rules::launch(permissions), SeccompAction::Allow, denied())?;
        // The C library tries newer calls first, and takes another way where the kernel has none.
        // Calls of 32-bit pointers on x86-64 have numbers beyond all others.
        let unknown = Test {
            code: libc::BPF_JGE,
            number: calls::UNKNOWN,
        };
        let program = prefixed(program, &[unknown], ENOSYS);
        let program = prefixed(program, &tests(Filter::ignored(permissions)), SUCCESS);
        let program = match permissions.programs {
            true => prefixed(program, &tests(calls::EXTENDED), ENOTSUP),
            false => without_clone3(program),
        };
        Ok(Filter { program })
    }

    /// The numbers of the calls that a confined program may make, some of them with certain arguments only.
    pub fn allowed(permissions: Permissions) -> Result<Vec<i64>, FilterError> {
        let rules = rules::launch(permissions).map_err(FilterError::Rules)?;
        Ok(rules.into_keys().collect())
    }

    /// The numbers of the calls that return success to a confined program and have no effect: changes of modes,
    /// owners and times of files. Landlock does not see them, so they would reach every file of the user's; ordinary
    /// programs make them on their own temporary files and do not go on where they fail.
    pub fn ignored(permissions: Permissions) -> Vec<i64> {
        match permissions.attributes {
            true => Vec::new(),
            false => calls::attributes().collect(),
        }
    }

    /// The filter that [`seal`](crate::seal) adds, for the process with this id.
    pub fn for_seal(process: u32) -> Result<Filter, FilterError> {
        let program = compile(rules::seal(process), denied(), SeccompAction::Allow)?;
        Ok(Filter {
            program: without_clone3(program),
        })
    }

    /// Enters the filter, with what this thread starts and executes from now on. Neither
    /// allocates nor locks, so it may be called between `fork` and `exec`.
    pub fn enter(&self) -> io::Result<()> {
        apply_filter(&self.program).map_err(|error| match error {
            seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => error,
            _ => io::ErrorKind::Unsupported.into(),
        })
    }

    /// Enters the filter with all threads of the process.
    pub fn enter_with_all_threads(&self) -> Result<(), FilterError> {
        apply_filter_all_threads(&self.program).map_err(|error| match error {
            seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => {
                FilterError::Kernel(error)
            }
            seccompiler::Error::ThreadSync(id) => FilterError::Thread(id),
            seccompiler::Error::Backend(error) => FilterError::Rules(error),
            _ => FilterError::Kernel(io::ErrorKind::InvalidInput.into()),
        })
    }
}

fn arch() -> Result<TargetArch, FilterError> {
    TargetArch::try_from(std::env::consts::ARCH).map_err(|_| FilterError::Architecture)
}

fn denied() -> SeccompAction {
    SeccompAction::Errno(EACCES.unsigned_abs())
}

/// A program that answers calls with one action where they match the rules, else with another.
fn compile(
    rules: Result<Rules, BackendError>,
    matching: SeccompAction,
    other: SeccompAction,
) -> Result<BpfProgram, FilterError> {
    let rules = rules.map_err(FilterError::Rules)?;
    SeccompFilter::new(rules, other, matching, arch()?)
        .and_then(BpfProgram::try_from)
        .map_err(FilterError::Rules)
}

/// `clone3` has its flags (thread or process) in memory, which a filter cannot see.
/// Without it, the C library makes threads with `clone`.
fn without_clone3(program: BpfProgram) -> BpfProgram {
    prefixed(program, &tests([rules::CLONE3]), ENOSYS)
}

/// The error of a call that returns 0.
const SUCCESS: i32 = 0;

/// A comparison with the number of a system call.
struct Test {
    code: u32,
    number: u32,
}

/// Tests for single calls.
fn tests(calls: impl IntoIterator<Item = i64>) -> Vec<Test> {
    let is = |call| Test {
        code: libc::BPF_JEQ,
        number: call as u32,
    };
    calls.into_iter().map(is).collect()
}

/// The program, preceded by tests: a call that passes one of them is answered with the error. The compiler of
/// rules has one answer for all calls, and knows no ranges.
fn prefixed(program: BpfProgram, tests: &[Test], error: i32) -> BpfProgram {
    let instruction = |code: u32, jt, jf, k| sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let Some((last, first)) = tests.split_last() else {
        return program;
    };
    let compare = |test: &Test, jt, jf| {
        let code = libc::BPF_JMP | test.code | libc::BPF_K;
        instruction(code, jt, jf, test.number)
    };
    let answer = u32::from(SeccompAction::Errno(error.unsigned_abs()));
    // The number of the call is the first word of what a filter sees.
    let load = instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
    let mut whole = vec![load];
    // The way to the answer is over the tests that are left.
    let first = first.iter().zip((1..tests.len() as u8).rev());
    whole.extend(first.map(|(test, left)| compare(test, left, 0)));
    whole.push(compare(last, 0, 1));
    whole.push(instruction(libc::BPF_RET | libc::BPF_K, 0, 0, answer));
    whole.extend(program);
    whole
}
