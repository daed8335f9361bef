//! `culprit record --suggest`: propose borders from the coupling of classes.
//!
//! The agent counts calls between classes and leaves them in the folder of the run. The
//! analysis of these counts is not written yet, so the option is refused before anything runs.

use crate::exit::{ExitCode, Expected};

/// Says that the analysis is missing.
pub(crate) fn check_available() -> Result<(), Expected> {
    Err(
        Expected::new(ExitCode::Usage, "--suggest is not available yet")
            .hint("choose with --observe, or leave it out to observe the program's own code"),
    )
}
