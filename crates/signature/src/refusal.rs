//! Failures that a sandbox causes: the system refused to write a file, to open a connection or to start a
//! program.
//!
//! A refusal looks the same whether the sandbox or the rights of the user are behind it. So what fails like
//! this in a sandbox proves nothing of the program.

use crate::{Frame, Thrown};

/// Exceptions of the JDK that stand for a refusal, whatever they say.
const ALWAYS: [&str; 2] = [
    "java.nio.file.AccessDeniedException",
    // Names of hosts are resolved over a socket.
    "java.net.UnknownHostException",
];

/// Words of the C library for `EACCES` and `EPERM`, which the JDK puts into messages.
const WORDS: [&str; 2] = ["Permission denied", "Operation not permitted"];

/// Packages of the JDK that talk to the system.
const JDK: [&str; 4] = ["java.", "sun.", "jdk.", "com.sun."];

impl Thrown {
    /// The exception, among this one and its causes, by which the JDK reports that the system refused
    /// something. One that the program itself throws is none, whatever it says.
    pub fn refusal(&self) -> Option<&Thrown> {
        self.chain().find(|thrown| thrown.is_refusal())
    }

    fn is_refusal(&self) -> bool {
        let is_of_jdk = |frame: &Frame| JDK.iter().any(|start| frame.class.starts_with(start));
        let message = self.message.as_deref().unwrap_or_default();
        let says_so = ALWAYS.contains(&&*self.class)
            || self.class.starts_with("java.") && WORDS.iter().any(|word| message.contains(word));
        says_so && self.frames.first().is_none_or(is_of_jdk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(trace: &str, expect: Option<&str>) {
        let thrown = Thrown::parse(trace).unwrap();
        let found = thrown.refusal().map(|it| it.class.as_str());
        assert_eq!(found, expect, "{trace}");
    }

    #[test]
    fn what_the_jdk_throws_for_a_refused_call_is_a_refusal() {
        check(
            "java.nio.file.AccessDeniedException: /a/b\n\tat java.base/sun.nio.fs.UnixException.translateToIOException(UnixException.java:90)\n\tat a.B.c(B.java:1)\n",
            Some("java.nio.file.AccessDeniedException"),
        );
        check(
            "java.io.FileNotFoundException: x.txt (Permission denied)\n\tat java.base/java.io.FileOutputStream.open0(Native Method)\n",
            Some("java.io.FileNotFoundException"),
        );
        check(
            "java.net.SocketException: Permission denied\n\tat java.base/sun.nio.ch.Net.socket0(Native Method)\n",
            Some("java.net.SocketException"),
        );
        check(
            "java.io.IOException: Cannot run program \"ls\": error=13, Permission denied\n\tat java.base/java.lang.ProcessBuilder.start(ProcessBuilder.java:1143)\n",
            Some("java.io.IOException"),
        );
    }

    #[test]
    fn a_cause_may_be_the_refusal() {
        check(
            "a.Failed: cannot save\n\tat a.B.save(B.java:3)\nCaused by: java.net.UnknownHostException: db\n\tat java.base/java.net.InetAddress.getAllByName(InetAddress.java:1)\n\t... 1 more\n",
            Some("java.net.UnknownHostException"),
        );
    }

    #[test]
    fn other_failures_and_those_of_the_program_itself_are_none() {
        check(
            "java.io.FileNotFoundException: x.txt (No such file or directory)\n\tat java.base/java.io.FileInputStream.open0(Native Method)\n",
            None,
        );
        check(
            "java.lang.IllegalStateException: Permission denied for bob\n\tat a.B.check(B.java:3)\n",
            None,
        );
        check(
            "org.acme.AccessDeniedException: Permission denied\n\tat java.base/java.util.ArrayList.forEach(ArrayList.java:3)\n",
            None,
        );
    }
}
