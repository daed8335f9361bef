//! The environment variables that the failure of a test depends on, found by delta debugging.

use std::fmt;
use std::time::Duration;

use culprit_program::Environment;
use culprit_reduce::{
    Budget, DeltaSet, End, Engine, Error as Refused, Oracle, Problem, Schedule, Settings, Verdict,
    Wanted,
};

use super::{Compiled, Fails, LIMIT, Verified};
use crate::Error;

/// Bounds of the search.
const MOST_RUNS: u64 = 60;
const LONGEST: Duration = Duration::from_secs(30);

/// The environment variables without which a test does not fail as it should.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Needed {
    /// These: the test fails with them alone, and without any single one of them it does not.
    Named(Vec<String>),
    /// Some of those of the command. The search for them did not end in time, or the test fails only
    /// sometimes.
    Unknown,
}

impl Needed {
    /// Their names, as far as they are known.
    pub fn names(&self) -> &[String] {
        match self {
            Needed::Named(names) => names,
            Needed::Unknown => &[],
        }
    }
}

impl fmt::Display for Needed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Needed::Named(names) if names.len() == 1 => {
                write!(f, "needs the environment variable {}", names[0])
            }
            Needed::Named(names) => {
                write!(f, "needs the environment variables {}", names.join(", "))
            }
            Needed::Unknown => {
                f.write_str("needs environment variables of the command; which ones was not found")
            }
        }
    }
}

/// The variables that a test needs which fails with all of them and not without any.
pub(super) fn needed(compiled: &Compiled<'_>, fails: Fails<'_>) -> Result<Needed, Error> {
    let environment = &compiled.surroundings.confines.environment;
    let search = Search {
        compiled,
        environment,
        fails,
    };
    let problem = Problem::new(environment.len() as u64);
    let time = compiled.surroundings.deadline.left().min(LONGEST);
    let engine = Engine::new(&problem, &search).settings(Settings {
        schedule: Schedule::Classic,
        budget: Budget {
            tests: Some(MOST_RUNS),
            time: Some(time),
        },
        ..Settings::default()
    });
    match engine.ddmin() {
        Ok(found) if found.end == End::Minimal => {
            let part = environment.only(|number| found.failing.contains(number as u64));
            let names = part.names().map(|name| name.to_string_lossy().into_owned());
            Ok(Needed::Named(names.collect()))
        }
        Err(Refused::Oracle { source, .. }) if !source.is_end() => Err(source),
        Ok(_) | Err(_) => Ok(Needed::Unknown),
    }
}

struct Search<'a> {
    compiled: &'a Compiled<'a>,
    environment: &'a Environment,
    fails: Fails<'a>,
}

impl Oracle for Search<'_> {
    type Detail = ();
    type Error = Error;

    fn judge(&self, candidate: &DeltaSet, _: &Wanted<'_>) -> Result<Verdict<()>, Error> {
        let part = self
            .environment
            .only(|number| candidate.contains(number as u64));
        let verified = self.compiled.run(&part, LIMIT)?;
        Ok(match verified {
            _ if (self.fails)(&verified) => Verdict::Fail(()),
            Verified::Passed => Verdict::Pass,
            _ => Verdict::Unresolved(()),
        })
    }
}
