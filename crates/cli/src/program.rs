//! The options that name the program of a recording, and the check of recordings that were made elsewhere: what they
//! merely claim to be the program is not run.

use std::ffi::OsString;
use std::path::PathBuf;

use culprit_model::shell;
use culprit_program::class_path;
use culprit_trace::Recording;

use crate::exit::{ExitCode, Expected};

/// Options for the program of a recording.
#[derive(clap::Args, Debug)]
pub(crate) struct ProgramArgs {
    /// Run the program from this class path instead of the recorded one
    #[arg(long, value_name = "CP")]
    pub(crate) class_path: Option<OsString>,
    /// Run the code on the recorded class path even though the recording was made elsewhere
    #[arg(long, conflicts_with = "class_path")]
    pub(crate) trust: bool,
}

/// The maker of a recording, or of a result folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Maker {
    /// Culprit, for this user on this machine.
    Us,
    /// Anybody.
    Unknown,
}

impl ProgramArgs {
    /// The class path of the program: the given one, or that of a recording which was made here.
    pub(crate) fn class_path(
        &self,
        recording: &Recording,
        maker: Maker,
    ) -> Result<Vec<PathBuf>, Expected> {
        if let Some(given) = &self.class_path {
            let whole = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
            return Ok(std::env::split_paths(given).map(whole).collect());
        }
        let claimed = class_path(recording.start());
        let mut there = claimed.iter().filter(|path| path.exists()).peekable();
        if there.peek().is_none() || self.trusts(maker) {
            return Ok(claimed);
        }
        let path = recording.path().display();
        let message = format!("{path} was not made here, and names code of this machine to run");
        let there = shell::line(there);
        Err(Expected::new(ExitCode::Usage, message).hint(format!(
            "it names {there}\nif that is the program, add --trust; or name it: --class-path CP"
        )))
    }

    /// Whether code that the recording has or names may run outside of the sandbox: in the user's own runs of the test.
    pub(crate) fn trusts(&self, maker: Maker) -> bool {
        self.trust || self.class_path.is_none() && maker == Maker::Us
    }

    /// The options as they would be typed.
    pub(crate) fn typed(&self) -> String {
        let mut typed = String::new();
        if self.trust {
            typed.push_str(" --trust");
        }
        if let Some(given) = &self.class_path {
            typed.push_str(&format!(" --class-path {}", shell::line([given])));
        }
        typed
    }
}
