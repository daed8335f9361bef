//! Errors of starting the user's command, with their exit code and the next step.

use culprit_program::CommandError;

use crate::exit::{ExitCode, Expected};

impl From<CommandError> for Expected {
    fn from(error: CommandError) -> Expected {
        let told = |code: ExitCode| Expected::new(code, error.to_string());
        match &error {
            CommandError::Empty => told(ExitCode::Usage),
            CommandError::WritesArchive(_) => {
                told(ExitCode::Usage).hint("record a run without that option")
            }
            CommandError::Target(why) => told(ExitCode::Target).hint(why.next_step()),
            CommandError::Jdk(why) => told(ExitCode::Target).hint(why.next_step()),
        }
    }
}
