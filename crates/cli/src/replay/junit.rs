//! Replays as JUnit XML, which build servers show: each recording is a test.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use culprit_model::clean;

use super::case::{Case, Verdict};
use culprit_report::markup::html::escape;

/// Writes the file.
pub(crate) fn write(file: &Path, cases: &[Case]) -> io::Result<()> {
    fs::write(file, text(cases))
}

/// Whether the file can be written, asked before anything takes long. What is in it stays.
pub(crate) fn try_out(file: &Path) -> io::Result<()> {
    let is_new = !file.exists();
    fs::File::options().create(true).append(true).open(file)?;
    match is_new {
        true => fs::remove_file(file),
        false => Ok(()),
    }
}

/// What a test is to a build server.
enum Kind {
    Passed,
    Skipped,
    /// The answer is no.
    Failure,
    /// There is no answer.
    Error,
}

fn kind(verdict: &Verdict) -> Kind {
    match verdict {
        Verdict::InSync { .. } => Kind::Passed,
        Verdict::Nothing => Kind::Skipped,
        Verdict::OutOfSync { .. } | Verdict::Unsupported(_) => Kind::Failure,
        Verdict::Lost(_)
        | Verdict::NotStarted { .. }
        | Verdict::BadClasses { .. }
        | Verdict::Refused { .. }
        | Verdict::Unreadable { .. }
        | Verdict::Fault(_) => Kind::Error,
    }
}

fn text(cases: &[Case]) -> String {
    let count = |is: fn(&Kind) -> bool| cases.iter().filter(|c| is(&kind(&c.verdict))).count();
    let time: f64 = cases.iter().map(|case| case.took.as_secs_f64()).sum();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "  <testsuite name=\"culprit replay\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{time:.3}\">",
        cases.len(),
        count(|kind| matches!(kind, Kind::Failure)),
        count(|kind| matches!(kind, Kind::Error)),
        count(|kind| matches!(kind, Kind::Skipped)),
    );
    for case in cases {
        add(case, &mut out);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn add(case: &Case, out: &mut String) {
    let (name, time) = (escaped(&clean::path(&case.path)), case.took.as_secs_f64());
    let _ = write!(
        out,
        "    <testcase classname=\"culprit.replay\" name=\"{name}\" time=\"{time:.3}\""
    );
    let tag = match kind(&case.verdict) {
        Kind::Passed => {
            out.push_str("/>\n");
            return;
        }
        Kind::Skipped => {
            let _ = writeln!(
                out,
                "><skipped message=\"{}\"/></testcase>",
                case.verdict.name()
            );
            return;
        }
        Kind::Failure => "failure",
        Kind::Error => "error",
    };
    let lines = case.lines();
    let message = escaped(lines.first().map_or("", String::as_str));
    let (kind, text) = (case.verdict.name(), escaped(&lines.join("\n")));
    let _ = writeln!(
        out,
        ">\n      <{tag} type=\"{kind}\" message=\"{message}\">{text}</{tag}>\n    </testcase>"
    );
}

/// XML has no way at all to hold most control characters, nor the last two of a plane.
fn escaped(text: &str) -> String {
    escape(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use culprit_jvm::{Status, Unresolved};

    use super::*;
    use crate::replay::case::Facts;

    #[test]
    fn recordings_are_tests_and_what_they_print_is_escaped() {
        let case = |name: &str, verdict: Verdict| Case {
            took: Duration::from_millis(1500),
            ..Case::new(Path::new(name), Facts::default(), verdict)
        };
        let cases = [
            case(
                "run/a.culprit",
                Verdict::InSync {
                    steps: 3,
                    open_calls: 0,
                },
            ),
            case("b", Verdict::Nothing),
            case("c", Verdict::Unsupported("a <clinit> & more".to_owned())),
            case(
                "d",
                Verdict::Lost(Unresolved::Died {
                    status: Status::Exited(1),
                    output: "\u{1b}[31m\"x\"".to_owned(),
                }),
            ),
        ];
        insta::assert_snapshot!(text(&cases));
    }
}
