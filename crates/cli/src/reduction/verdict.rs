//! The result of the last check of a test, in words; and the command for a look without the sandbox, where the
//! test did not fail the same way inside.

use std::io;
use std::path::Path;

use culprit_minimize::{MinimizedTest, Verified};
use culprit_model::shell;
use culprit_signature::Signature;

use crate::quantity;

/// What is said of a test that was checked, and whether it fails as the program did.
pub(super) fn verdict(found: &MinimizedTest) -> (String, bool) {
    let text = match (&found.verified, found.grade) {
        (Verified::Threw(_), Some(grade)) if grade >= Signature::ENOUGH => {
            let mut text = format!("compiled and run: fails the same way ({grade})");
            if let Some(needs) = &found.needs {
                text.push_str(&format!("; {needs}"));
            }
            return (text, true);
        }
        (Verified::Threw(trace), _) => {
            format!(
                "compiled and run: fails differently ({})",
                first_line(trace)
            )
        }
        (Verified::Refused(trace), _) => format!(
            "compiled and run: the sandbox refused something ({})",
            first_line(trace)
        ),
        (Verified::Passed, _) => "compiled and run: passes".to_owned(),
        (Verified::Rejected(why), _) => format!("does not compile: {why}"),
        (Verified::Exited(status), _) => format!(
            "compiled and run: the program ends the JVM with exit status {status}, which is neither a pass \
             nor a failure"
        ),
        (Verified::Broken(why), _) => format!("does not run: {why}"),
        (Verified::Late(limit), _) => {
            let limit = quantity::typed_duration(*limit);
            format!("compiled, but does not end within {limit}")
        }
        (Verified::Interrupted, _) => "not checked: interrupted".to_owned(),
        (Verified::NoCompiler(path), _) => format!(
            "not compiled: there is no {}; install the JDK, not only its JRE, or set JAVA_HOME",
            path.display()
        ),
    };
    (text, false)
}

/// The command that compiles a test and runs it outside of the sandbox. `None` where the sandbox had no say in
/// how it ended. What the command needs is put into a folder.
pub(super) fn by_hand(
    found: &MinimizedTest,
    file: &Path,
    folder: &Path,
) -> io::Result<Option<String>> {
    let is_of_no_use = matches!(
        found.verified,
        Verified::Rejected(_) | Verified::NoCompiler(_)
    );
    let Some(by_hand) = found.by_hand.as_ref().filter(|_| !is_of_no_use) else {
        return Ok(None);
    };
    let commands = by_hand.commands((&found.test, file), &folder.join(&found.test.class_name))?;
    let lines: Vec<String> = commands.into_iter().map(shell::line).collect();
    Ok(Some(lines.join(" && ")))
}

fn first_line(trace: &str) -> &str {
    trace.lines().next().unwrap_or_default()
}
