//! Failures that a sandbox makes: the exceptions by which the JDK reports that the system denied a
//! file, a connection or a process.
//!
//! In a confined JVM such an exception tells of the sandbox and not of the program, which might have
//! failed in another way, or not at all, where the system had let it. So it must never count as "the
//! same failure", whatever a recording claims. Nothing but the trace is looked at: where a program
//! catches the exception and throws its own without cause or text of it, the refusal goes unseen.

use std::fmt;

use crate::{Frame, FrameOrigin, Thrown};

/// Access that the system denied, as the exception of a failure reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// To a file or a folder.
    File,
    /// To the network, name resolution included.
    Network,
    /// To a program that was to be started.
    Program,
}

/// Texts of `strerror` for `EPERM`, `EACCES` and `ENOSYS`, the errors of calls that a sandbox denies, and for
/// `ENETUNREACH`, since a sandbox may have a network without any other machine.
const ERRORS: [&str; 4] = [
    "Permission denied",
    "Operation not permitted",
    "Function not implemented",
    "Network is unreachable",
];

/// Parts of messages that nobody but the JDK writes, so that they tell of a refusal also where the
/// program copied them into an exception of its own.
const COPIED: [&str; 9] = [
    "(Permission denied)",
    "(Operation not permitted)",
    "error=13, Permission denied",
    "error=1, Operation not permitted",
    "java.io.IOException: Permission denied",
    "java.net.SocketException: Permission denied",
    "java.net.ConnectException: Network is unreachable",
    "java.nio.file.AccessDeniedException",
    "java.net.UnknownHostException",
];

impl Refusal {
    /// The refusal that a failure, or one of its causes, reports. `None` if it would be the same without
    /// a sandbox.
    ///
    /// An exception of the same class that the program makes itself, such as its own
    /// `AccessDeniedException` for a user without rights, is none.
    pub fn of(thrown: &Thrown) -> Option<Refusal> {
        thrown.refusal().and_then(of_one)
    }

    /// The refusal in a trace as Java prints it.
    pub fn of_trace(trace: &str) -> Option<Refusal> {
        match Thrown::parse(trace) {
            Some(thrown) => Refusal::of(&thrown),
            None => copied(trace).then_some(Refusal::File),
        }
    }
}

impl Thrown {
    /// The exception, among this one and its causes, that reports a refusal.
    pub fn refusal(&self) -> Option<&Thrown> {
        self.chain().find(|thrown| of_one(thrown).is_some())
    }
}

/// The access, as the object of a sentence.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::File => "access to a file",
            Refusal::Network => "access to the network",
            Refusal::Program => "the start of a program",
        })
    }
}

fn of_one(thrown: &Thrown) -> Option<Refusal> {
    let message = thrown.message.as_deref().unwrap_or_default();
    let is_told = copied(message)
        || is_by_system(thrown) && (is_refused(&thrown.class) || has_any(message, &ERRORS));
    is_told.then(|| access(thrown, message))
}

/// True if code that makes system calls threw it: the JDK's, or a native method. An exception without
/// frames may be anybody's.
fn is_by_system(thrown: &Thrown) -> bool {
    let by_system = |frame: &Frame| {
        frame.native || matches!(frame.origin(), FrameOrigin::Jdk | FrameOrigin::Reflection)
    };
    thrown.frames.first().is_none_or(by_system)
}

/// True if exceptions of a class say by themselves that something was denied. Without a socket no name
/// can be resolved, and the exception does not tell why.
fn is_refused(class: &str) -> bool {
    [
        "java.nio.file.AccessDeniedException",
        "java.net.UnknownHostException",
        "java.nio.channels.UnresolvedAddressException",
    ]
    .contains(&class)
}

fn copied(message: &str) -> bool {
    has_any(message, &COPIED)
}

fn has_any(message: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| message.contains(part))
}

fn access(thrown: &Thrown, message: &str) -> Refusal {
    let speaks_of = |words: &[&str]| {
        let is_in = |word: &&str| thrown.class.contains(*word) || message.contains(*word);
        words.iter().any(is_in)
    };
    if speaks_of(&["Cannot run program", "error=", "ProcessImpl"]) {
        Refusal::Program
    } else if speaks_of(&[
        "java.net.",
        "java.nio.channels.",
        "Socket",
        "bind(",
        "connect(",
    ]) {
        Refusal::Network
    } else {
        Refusal::File
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(trace: &str, expect: Option<Refusal>) {
        assert_eq!(Refusal::of_trace(trace), expect, "{trace}");
    }

    const FILES: &str = "\tat java.base/sun.nio.fs.UnixException.translateToIOException(UnixException.java:90)\n\
        \tat java.base/java.nio.file.Files.delete(Files.java:1152)\n\tat app.Main.main(Main.java:5)\n";

    #[test]
    fn files_that_the_system_denies_are_refused() {
        check(
            &format!("java.nio.file.AccessDeniedException: /a/b\n{FILES}"),
            Some(Refusal::File),
        );
        check(
            &format!("java.nio.file.FileSystemException: /a/b: Operation not permitted\n{FILES}"),
            Some(Refusal::File),
        );
        check(
            "java.io.FileNotFoundException: /a/b (Permission denied)\n\
             \tat java.base/java.io.FileOutputStream.open0(Native Method)\n\tat app.Main.main(Main.java:5)\n",
            Some(Refusal::File),
        );
        check(
            "java.io.IOException: Permission denied\n\
             \tat java.base/java.io.UnixFileSystem.createFileExclusively(Native Method)\n",
            Some(Refusal::File),
        );
    }

    #[test]
    fn connections_and_names_without_a_network_are_refused() {
        check(
            "java.net.SocketException: Permission denied\n\tat java.base/sun.nio.ch.Net.socket0(Native Method)\n",
            Some(Refusal::Network),
        );
        check(
            "java.net.ConnectException: Network is unreachable\n\tat java.base/sun.nio.ch.Net.connect0(Native Method)\n",
            Some(Refusal::Network),
        );
        check(
            "java.net.ConnectException: Permission denied\n\tat java.base/sun.nio.ch.Net.connect0(Native Method)\n",
            Some(Refusal::Network),
        );
        check(
            "java.net.UnknownHostException: a.example: Temporary failure in name resolution\n\
             \tat java.base/java.net.Inet6AddressImpl.lookupAllHostAddr(Native Method)\n",
            Some(Refusal::Network),
        );
        check(
            "io.netty.channel.unix.Errors$NativeIoException: bind(..) failed: Permission denied\n\
             \tat io.netty.channel.unix.Socket.bind(Native Method)\n",
            Some(Refusal::Network),
        );
    }

    #[test]
    fn programs_that_cannot_be_started_are_refused() {
        check(
            "java.io.IOException: Cannot run program \"ls\": error=13, Permission denied\n\
             \tat java.base/java.lang.ProcessBuilder.start(ProcessBuilder.java:1143)\n\tat app.Main.main(Main.java:5)\n\
             Caused by: java.io.IOException: error=13, Permission denied\n\
             \tat java.base/java.lang.ProcessImpl.forkAndExec(Native Method)\n\t... 1 more\n",
            Some(Refusal::Program),
        );
    }

    #[test]
    fn a_refusal_is_found_behind_what_carries_it() {
        check(
            &format!(
                "app.Trouble: cannot clean up\n\tat app.Main.main(Main.java:5)\n\
                 Caused by: java.nio.file.AccessDeniedException: /a\n{FILES}"
            ),
            Some(Refusal::File),
        );
        check(
            "app.Trouble: java.nio.file.AccessDeniedException: /a\n\tat app.Main.main(Main.java:5)\n",
            Some(Refusal::File),
        );
    }

    #[test]
    fn what_a_program_says_of_its_own_rights_is_no_refusal() {
        for trace in [
            "java.nio.file.AccessDeniedException: bob may not\n\tat app.Rights.check(Rights.java:9)\n",
            "java.lang.SecurityException: Permission denied for bob\n\tat app.Rights.check(Rights.java:9)\n",
            "java.lang.ArithmeticException: / by zero\n\tat app.Main.main(Main.java:5)\n",
            "java.io.FileNotFoundException: /a/b (No such file or directory)\n\
             \tat java.base/java.io.FileInputStream.open0(Native Method)\n",
            "java.io.IOException: Cannot run program \"lss\": error=2, No such file or directory\n\
             \tat java.base/java.lang.ProcessBuilder.start(ProcessBuilder.java:1143)\n",
            "",
        ] {
            check(trace, None);
        }
    }
}
