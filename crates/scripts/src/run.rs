//! The outcome of a script, and the function that runs one.

use std::fmt;

use culprit_jvm::PoolError;
use culprit_model::Script;
use culprit_signature::Refusal;

/// Runs a script.
pub type RunScript<'a> = dyn Fn(&Script) -> Result<ScriptRun, PoolError> + 'a;

/// The outcome of a script.
#[derive(Clone, PartialEq, Debug)]
pub enum ScriptRun {
    /// Every statement was executed.
    Done,
    /// A statement threw: its number, and the printed stack trace.
    Threw { at: usize, trace: String },
    /// A statement threw because the sandbox denied something, which says nothing about the program.
    Refused { refusal: Refusal, trace: String },
    /// The script could not be run, or not to its end.
    Unresolved(String),
}

impl fmt::Display for ScriptRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptRun::Done => f.write_str("nothing is thrown"),
            ScriptRun::Threw { trace, .. } => f.write_str(first_line(trace)),
            ScriptRun::Refused { refusal, trace } => {
                write!(f, "the sandbox denied {refusal} ({})", first_line(trace))
            }
            ScriptRun::Unresolved(why) => f.write_str(why),
        }
    }
}

fn first_line(trace: &str) -> &str {
    trace.lines().next().unwrap_or("?")
}
