//! Where scripts run: worker JVMs with the program as it is.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use culprit_jvm::{Answer, Interrupt, Job, Pool};
use culprit_model::{Outcome, Step, Tables};
use culprit_wire::{FreshState, LineCheck, Mode};

use crate::Error;

/// Workers for scripts.
pub struct Stage {
    pub pool: Pool,
    /// How long a script may take.
    pub limit: Duration,
    /// What ends runs early.
    pub interrupt: Interrupt,
}

/// How a script ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Run {
    /// All statements were done.
    Done,
    /// One threw: the number of its step, and what is printed of the exception.
    Threw { at: u64, trace: String },
    /// It could not be run, or not to its end.
    Unresolved(String),
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Run::Done => f.write_str("nothing is thrown"),
            Run::Threw { trace, .. } => f.write_str(trace.lines().next().unwrap_or("?")),
            Run::Unresolved(why) => f.write_str(why),
        }
    }
}

impl Stage {
    /// Runs steps. In classes that are loaded anew it takes longer, and nothing is there that an
    /// earlier run left.
    pub fn run(
        &self,
        tables: &Arc<Tables>,
        steps: Vec<Step>,
        fresh: FreshState,
    ) -> Result<Run, Error> {
        let answer = self.pool.run(&Job {
            mode: Mode::Plain,
            fresh,
            multi_threaded: false,
            lines: LineCheck::Ignore,
            tables: Arc::clone(tables),
            steps: &steps,
            limit: self.limit,
        })?;
        Ok(match answer {
            Answer::Ran { outcome, .. } => match outcome {
                Outcome::InSync { .. } => Run::Done,
                Outcome::Threw { at, trace } => Run::Threw { at, trace },
                Outcome::Unsupported(why) => Run::Unresolved(why),
                Outcome::Diverged(divergence) => Run::Unresolved(divergence.why),
                Outcome::Differed { .. } | Outcome::Stopped => {
                    Run::Unresolved("the worker ended it".to_owned())
                }
            },
            Answer::Unresolved(why) => Run::Unresolved(why.to_string()),
        })
    }
}
