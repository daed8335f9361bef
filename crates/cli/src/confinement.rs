//! The sandbox for code that is not the user's own command, as all commands ask for it: there is one, or the
//! user does without.

use std::path::{Path, PathBuf};

use culprit_jvm::{Abilities, Sandbox};

use crate::console::Console;
use crate::exit::{ExitCode, Expected};

/// The option that does without a sandbox.
pub(crate) const WITHOUT: &str = "--no-sandbox";

/// The sandbox of a command. `None` is what the user asked for. Without Landlock or seccomp it is an error; a
/// smaller gap is a warning.
pub(crate) fn sandbox(no_sandbox: bool, console: &mut Console) -> anyhow::Result<Option<Sandbox>> {
    if no_sandbox {
        return Ok(None);
    }
    if let Some(gap) = judge(Sandbox::probe())? {
        let warn = console.err_styles().warn;
        writeln!(console.err(), "{warn}culprit: warning:{warn:#} {gap}")?;
        let hint = "a newer kernel closes it; culprit doctor shows what this one offers";
        writeln!(console.err(), "  {hint}")?;
    }
    Ok(Some(Sandbox::default().allow_loopback()))
}

/// Whether this system has a sandbox.
pub(crate) fn is_available() -> bool {
    judge(Sandbox::probe()).is_ok()
}

/// A folder that the user lets confined code write to, as an absolute path.
pub(crate) fn folder(folder: &Path) -> Result<PathBuf, Expected> {
    folder.canonicalize().map_err(|error| {
        let message = format!("no folder {}: {error}", folder.display());
        Expected::new(ExitCode::Usage, message).hint("create the folder first (--allow-write)")
    })
}

/// The gap of a sandbox that is good enough, if it has one.
fn judge(abilities: Abilities) -> Result<Option<String>, Expected> {
    let missing = match (abilities.files, abilities.calls) {
        (true, true) => return Ok(abilities.gap()),
        (false, true) => "Landlock",
        (true, false) => "seccomp",
        (false, false) => "Landlock and seccomp",
    };
    let message = format!("this system has no sandbox: its kernel does not offer {missing}");
    let hint = format!(
        "culprit doctor shows how to fix that; {WITHOUT} runs the code with all your rights"
    );
    Err(Expected::new(ExitCode::Target, message).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Abilities = Abilities {
        files: true,
        truncation: true,
        signals: true,
        calls: true,
        loopback: true,
    };

    #[test]
    fn a_whole_sandbox_is_used_without_a_word() {
        assert_eq!(judge(WHOLE).unwrap(), None);
    }

    #[test]
    fn a_small_gap_is_a_warning() {
        let old = Abilities {
            truncation: false,
            signals: false,
            ..WHOLE
        };
        let gap = judge(old).unwrap().unwrap();
        assert!(gap.ends_with("can empty files and send signals"), "{gap}");
    }

    #[test]
    fn without_landlock_or_seccomp_nothing_is_run_and_the_next_step_is_named() {
        for (files, calls, missing) in [
            (false, true, "Landlock"),
            (true, false, "seccomp"),
            (false, false, "Landlock and seccomp"),
        ] {
            let lacking = Abilities {
                files,
                calls,
                ..WHOLE
            };
            let error = judge(lacking).unwrap_err();
            assert_eq!(error.code, ExitCode::Target);
            assert!(error.message.ends_with(missing), "{error}");
            let hint = error.hint.unwrap();
            assert!(hint.contains("--no-sandbox") && hint.contains("doctor"));
        }
    }

    #[test]
    fn whoever_does_without_is_not_asked() {
        let mut console = Console::kept();
        assert_eq!(sandbox(true, &mut console).unwrap(), None);
        assert_eq!(console.kept_text(), Default::default());
    }
}
