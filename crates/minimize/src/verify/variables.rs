//! The environment variables that the failure of a test depends on, found by delta debugging.

use std::fmt;
use std::time::Duration;

use culprit_program::Environment;
use culprit_reduce::{
    Artefact, ArtefactOracle, Budget, DeltaSet, Digester, Driver, Error as Refused, Goal, Problem,
    Scale, Schedule, Search, SearchEnd, Verdict, Wanted,
};

use super::{Compiled, Fails, LIMIT, RunSettings, Verified};
use crate::Error;

/// The name of the search for variables, in events.
pub const VARIABLES: &str = "variables";

/// Bounds of the search, besides those of the user.
const BUDGET: Budget = Budget {
    tests: Some(60),
    time: Some(Duration::from_secs(30)),
};

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
pub(super) fn needed(
    compiled: &Compiled<'_>,
    settings: RunSettings<'_>,
    driver: &Driver<'_>,
    fails: Fails<'_>,
) -> Result<Needed, Error> {
    let environment = &compiled.surroundings.confines.environment;
    let variables = Variables {
        compiled,
        settings,
        environment,
        fails,
    };
    let size = environment.len() as u64;
    let search = Search {
        name: VARIABLES,
        problem: Problem::new(size),
        goal: Goal::Simplify,
        schedule: Schedule::Classic,
        scale: Scale {
            whole: size,
            best: size,
            extent: 1.0,
        },
        // Tests may share the folder of the user.
        is_sequential: true,
        learn: None,
    };
    match driver.within(BUDGET, || driver.search(search, &variables)) {
        Ok(found) if found.end == SearchEnd::Minimal => {
            let part = environment.only(|number| found.failing.contains(number as u64));
            let names = part.names().map(|name| name.to_string_lossy().into_owned());
            Ok(Needed::Named(names.collect()))
        }
        Err(Refused::Oracle { source, .. }) if !source.is_end() => Err(source),
        Ok(_) | Err(_) => Ok(Needed::Unknown),
    }
}

/// The oracle: runs of the test with some of the variables.
struct Variables<'a> {
    compiled: &'a Compiled<'a>,
    settings: RunSettings<'a>,
    environment: &'a Environment,
    fails: Fails<'a>,
}

impl ArtefactOracle for Variables<'_> {
    type Content = Environment;
    type Error = Error;

    fn make(&self, candidate: &DeltaSet) -> Result<Artefact<Environment>, Error> {
        let part = self
            .environment
            .only(|number| candidate.contains(number as u64));
        let mut digester = Digester::default();
        digester.field(VARIABLES.as_bytes());
        digester.field(self.compiled.test.source.as_bytes());
        digester.digest(candidate.digest());
        Ok(Artefact {
            digest: digester.finish(),
            size: candidate.len(),
            content: Ok(part),
        })
    }

    fn judge(&self, part: &Environment, _: &Wanted<'_>) -> Result<Verdict<String>, Error> {
        let verified = self.compiled.run(
            RunSettings {
                environment: part,
                ..self.settings
            },
            LIMIT,
        )?;
        Ok(match verified {
            _ if (self.fails)(&verified) => Verdict::Fail(String::new()),
            Verified::Passed => Verdict::Pass,
            _ => Verdict::Unresolved(String::new()),
        })
    }
}
