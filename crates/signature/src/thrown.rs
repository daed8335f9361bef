//! An exception with its stack and causes, printed as Java prints it.

use std::fmt;

use crate::Frame;
use crate::block::{self, TraceLines};

/// An exception as its stack trace tells it. Suppressed exceptions are not kept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Thrown {
    /// Class as Java prints it. Empty if the exception prints itself without it (an own
    /// `toString`); the message is what it prints then.
    pub class: String,
    /// The result of `getLocalizedMessage`.
    pub message: Option<String>,
    /// The stack, innermost activation first.
    pub frames: Vec<Frame>,
    /// True if the text said that it left frames out, or could not show them.
    pub truncated: bool,
    /// Its cause.
    pub cause: Option<Box<Thrown>>,
}

/// The exceptions of instructions of the JVM.
const OF_INSTRUCTIONS: [&str; 5] = [
    "java.lang.ArithmeticException",
    "java.lang.ArrayIndexOutOfBoundsException",
    "java.lang.ArrayStoreException",
    "java.lang.ClassCastException",
    "java.lang.NullPointerException",
];

impl Thrown {
    /// True if instructions of the JVM throw exceptions of its class, so that its code need not have meant to throw it.
    pub fn is_of_instruction(&self) -> bool {
        OF_INSTRUCTIONS.contains(&self.class.as_str())
    }

    /// Reads exactly what `Throwable.printStackTrace` prints. The frames that causes have in
    /// common with what they caused (`... 12 more`) are filled in.
    ///
    /// Messages may have several lines. A line in them that looks like a frame is taken for one,
    /// unless text that cannot belong to a stack follows it.
    pub fn parse(text: &str) -> Option<Thrown> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let lines: Vec<&str> = text
            .split('\n')
            .map(|line| line.strip_suffix('\r').unwrap_or(line))
            .collect();
        block::exact(&TraceLines::plain(&lines))
    }

    /// True if it carries the failures of several assertions (`assertAll`), the first of which is taken for its cause.
    pub(crate) fn is_of_several(&self) -> bool {
        self.class.ends_with("MultipleFailuresError")
    }

    /// The exception and its causes, outermost first.
    pub fn chain(&self) -> impl Iterator<Item = &Thrown> {
        std::iter::successors(Some(self), |thrown| thrown.cause.as_deref())
    }

    /// The frames that are not in the stack of another exception, which this one caused.
    pub(crate) fn further_in(&self, caused: &Thrown) -> &[Frame] {
        let pairs = self.frames.iter().rev().zip(caused.frames.iter().rev());
        let common = pairs.take_while(|(own, other)| own == other).count();
        &self.frames[..self.frames.len() - common]
    }
}

/// As `printStackTrace` prints it, ending with a line break.
impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nothing = Thrown::default();
        let mut caused = &nothing;
        for (depth, thrown) in self.chain().enumerate() {
            if depth > 0 {
                f.write_str("Caused by: ")?;
            }
            f.write_str(&thrown.class)?;
            match &thrown.message {
                Some(message) if thrown.class.is_empty() => f.write_str(message)?,
                Some(message) => write!(f, ": {message}")?,
                None => {}
            }
            f.write_str("\n")?;
            let own = thrown.further_in(caused);
            for frame in own {
                writeln!(f, "\tat {frame}")?;
            }
            let common = thrown.frames.len() - own.len();
            if common > 0 {
                writeln!(f, "\t... {common} more")?;
            }
            caused = thrown;
        }
        Ok(())
    }
}
