//! The environment variables that the failure of a test depends on.

use std::fmt;
use std::time::Duration;

use culprit_reduce::{Budget, Driver};

use super::parts::Parts;
use super::{Compiled, Fails, RunSettings};
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
    let parts = Parts {
        name: VARIABLES,
        size: environment.len(),
        budget: BUDGET,
        compiled,
        fails,
        only: &|chosen| environment.only(|number| chosen.contains(number as u64)),
        settings,
        within: |settings, environment| RunSettings {
            environment,
            ..settings
        },
    };
    let Some(needed) = parts.needed(driver)? else {
        return Ok(Needed::Unknown);
    };
    let part = environment.only(|number| needed.contains(number as u64));
    let names = part.names().map(|name| name.to_string_lossy().into_owned());
    Ok(Needed::Named(names.collect()))
}
