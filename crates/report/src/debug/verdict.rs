//! The result of the last check of a test, in words.

use culprit_minimize::{MinimizedTest, Verified};
use culprit_signature::Signature;

use crate::figure;

/// The result of the last check of a test.
pub(super) fn verdict(found: &MinimizedTest) -> String {
    match (&found.verified, found.grade) {
        (Verified::Threw(_), Some(grade)) if grade >= Signature::ENOUGH => {
            let mut text = format!("compiled and run: fails the same way ({grade})");
            if let Some(needs) = &found.needs {
                text.push_str(&format!("; {needs}"));
            }
            if !found.options.is_empty() {
                let options = found.options.join(" ");
                text.push_str(&format!("; needs {options}"));
            }
            text
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
            let limit = figure::typed_duration(*limit);
            format!("compiled, but does not end within {limit}")
        }
        (Verified::Interrupted, _) => "not checked: interrupted".to_owned(),
        (Verified::NoCompiler(path), _) => format!(
            "not compiled: there is no {}; install the JDK, not only its JRE, or set JAVA_HOME",
            path.display()
        ),
    }
}

fn first_line(trace: &str) -> &str {
    trace.lines().next().unwrap_or_default()
}
