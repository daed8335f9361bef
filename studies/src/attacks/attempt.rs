//! An attempt as data, and what can come of it.

use std::fmt;

/// The target of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Aim {
    Files,
    Attributes,
    Network,
    Processes,
    Programs,
    System,
    Devices,
    Rights,
    Culprit,
    Resources,
    Printed,
    Recordings,
    Repositories,
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Aim::Files => "Contents and names of files",
            Aim::Attributes => "Attributes of files",
            Aim::Network => "Network and other processes' sockets",
            Aim::Processes => "Other processes",
            Aim::Programs => "Starting programs and processes",
            Aim::System => "The system",
            Aim::Devices => "File systems and devices",
            Aim::Rights => "More rights, higher limits, inherited things",
            Aim::Culprit => "Culprit itself",
            Aim::Resources => "Memory, disk and time",
            Aim::Printed => "What is printed",
            Aim::Recordings => "Recordings",
            Aim::Repositories => "Repositories and jars",
        })
    }
}

/// By what an attempt is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Plain Java.
    Java,
    /// A C library, loaded by JNI; with Java 22 and later by foreign functions too.
    Native,
    /// Foreign functions of Java 22 and later, with the C library of the system alone.
    Foreign,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Java => "Java",
            Way::Native => "native",
            Way::Foreign => "foreign",
        })
    }
}

/// The visible effect of a successful attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Witness {
    /// A folder with files was changed: contents, names, modes, owners, times or attributes.
    Place,
    /// Something arrived at a socket of the study.
    Arrival,
    /// A process of the study ended, or its priority, limits or processors were changed.
    Victim,
    /// A started program left a file.
    Ran,
    /// There is a device node in the folder that may be written to.
    Node,
    /// A file system of the study, or the loop device below it, was changed. Needs root.
    Loop,
    /// The file behind a descriptor that was open when Culprit was started was changed.
    Descriptor,
    /// A file in memory that others can open was changed.
    Shared,
    /// The length of the queue of the loopback interface was changed.
    Interface,
    /// None but the kernel, which let the call pass.
    Kernel,
    /// Nothing: success does no harm, for this reason.
    Harmless(&'static str),
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Witness::Place => "files",
            Witness::Arrival => "sockets",
            Witness::Victim => "victim",
            Witness::Ran => "mark",
            Witness::Node => "node",
            Witness::Loop => "loop device",
            Witness::Descriptor => "descriptor",
            Witness::Shared => "shared file",
            Witness::Interface => "interface",
            Witness::Kernel => "call",
            Witness::Harmless(_) => "none",
        })
    }
}

/// Something that a confined program tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    pub name: &'static str,
    pub way: Way,
    pub aim: Aim,
    /// In a few words, for readers.
    pub what: &'static str,
    pub witness: Witness,
    /// Only root has something to lose by it.
    pub root_only: bool,
}

impl Attempt {
    /// True if it needs a JVM of its own, because nothing can be tried after it.
    pub fn is_alone(&self) -> bool {
        self.needs_loop() || self.name == "change-root"
    }

    /// True if the program that it starts takes the place of the JVM. Nobody can forbid that to a process that is yet
    /// to become the JVM: only workers forbid it to themselves.
    fn is_in_place(&self) -> bool {
        ["exec-linker", "exec-jvm"].contains(&self.name)
    }

    /// True if it is made on a file system of its own.
    pub fn needs_loop(&self) -> bool {
        self.witness == Witness::Loop || ["trim", "quota"].contains(&self.name)
    }
}

/// A list of attempts, those alike in aim, way and witness together: name and description of each, and `root` where
/// only root has something to lose.
macro_rules! attempts {
    ($($aim:ident $way:ident $witness:expr => [$($name:literal $what:literal $($root:ident)?),* $(,)?];)*) => {
        &[$($(Attempt {
            name: $name,
            way: $way,
            aim: $aim,
            what: $what,
            witness: $witness,
            root_only: attempts!(@root $($root)?),
        },)*)*]
    };
    (@root root) => { true };
    (@root) => { false };
}

pub(super) use attempts;

/// The outcome of an attempt.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// It does not work without a sandbox either, for this reason: it proves nothing.
    Impossible(String),
    /// It was refused; without a sandbox it works.
    Refused(String),
    /// It is allowed, and does no harm.
    Harmless(String),
    /// It did what it was to do.
    Succeeded(String),
}

impl Verdict {
    pub fn has_succeeded(&self) -> bool {
        matches!(self, Verdict::Succeeded(_))
    }

    /// The reason or circumstance.
    pub fn reason(&self) -> &str {
        match self {
            Verdict::Impossible(why)
            | Verdict::Refused(why)
            | Verdict::Harmless(why)
            | Verdict::Succeeded(why) => why,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Impossible(_) => "not possible",
            Verdict::Refused(_) => "refused",
            Verdict::Harmless(_) => "harmless",
            Verdict::Succeeded(_) => "SUCCEEDED",
        })
    }
}

/// The observations on one attempt: those of the witness, and the program's own report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observed {
    /// The observation of the witness, if any.
    pub harm: Option<String>,
    /// `None` if the program says that it succeeded, else why it did not.
    pub refusal: Option<String>,
}

impl Observed {
    fn is_made(&self, witness: Witness) -> bool {
        match witness {
            Witness::Kernel | Witness::Harmless(_) => self.refusal.is_none(),
            _ => self.harm.is_some(),
        }
    }
}

/// The verdict on an attempt, given what was seen without and with a sandbox. A JVM without the agent has no seal.
pub fn judge(attempt: &Attempt, free: &Observed, confined: &Observed, sealed: bool) -> Verdict {
    let word = |observed: &Observed| {
        let harm = observed.harm.clone();
        harm.or_else(|| observed.refusal.clone())
            .unwrap_or_else(|| "done".to_owned())
    };
    match (confined.is_made(attempt.witness), attempt.witness) {
        (true, Witness::Harmless(why)) => Verdict::Harmless(why.to_owned()),
        (true, Witness::Ran) if !sealed && attempt.is_in_place() => {
            Verdict::Harmless("in place of the JVM, in its sandbox".to_owned())
        }
        (true, _) => Verdict::Succeeded(word(confined)),
        (false, _) if !free.is_made(attempt.witness) => Verdict::Impossible(word(free)),
        (false, _) if confined.refusal.is_none() => {
            Verdict::Harmless("the call is allowed and changes nothing".to_owned())
        }
        (false, _) => Verdict::Refused(word(confined)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATTEMPT: Attempt = Attempt {
        name: "x",
        way: Way::Java,
        aim: Aim::Files,
        what: "",
        witness: Witness::Place,
        root_only: false,
    };

    fn observed(harm: bool, refused: bool) -> Observed {
        Observed {
            harm: harm.then(|| "changed".to_owned()),
            refusal: refused.then(|| "EACCES".to_owned()),
        }
    }

    #[track_caller]
    fn check(free: Observed, confined: Observed, expect: &str) {
        assert_eq!(judge(&ATTEMPT, &free, &confined, true).to_string(), expect);
    }

    #[test]
    fn the_witness_decides_and_not_the_program() {
        check(observed(true, false), observed(true, true), "SUCCEEDED");
        check(observed(true, false), observed(false, true), "refused");
        check(observed(true, false), observed(false, false), "harmless");
    }

    #[test]
    fn what_does_not_work_without_a_sandbox_proves_nothing() {
        check(observed(false, true), observed(false, true), "not possible");
    }

    #[test]
    fn a_call_that_nothing_else_witnesses_has_succeeded_if_it_was_let_pass() {
        let attempt = Attempt {
            witness: Witness::Kernel,
            ..ATTEMPT
        };
        let verdict = judge(
            &attempt,
            &observed(false, false),
            &observed(false, false),
            true,
        );
        assert!(verdict.has_succeeded());
    }
}
