//! Differences one at a time, for as long as the user wants to see the next one.

use std::io::BufRead;

use culprit_report::replay::{Case, Difference, Verdict};

use super::result;
use crate::console::Console;

/// Shows what came of a replay that went on after differences, and asks after each but the last.
pub(super) fn print(
    case: &Case,
    answers: &mut dyn BufRead,
    console: &mut Console,
) -> std::io::Result<()> {
    let Verdict::OutOfSync { differences, .. } = &case.verdict else {
        return result::print(case, console);
    };
    let count = differences.len();
    for (number, difference) in differences.iter().enumerate() {
        show(difference, case, console)?;
        let left = count - number - 1;
        if left > 0 && !goes_on(left, answers, console)? {
            return Ok(());
        }
    }
    Ok(())
}

fn show(difference: &Difference, case: &Case, console: &mut Console) -> std::io::Result<()> {
    for line in difference.lines(case) {
        writeln!(console.out(), "{line}")?;
    }
    Ok(())
}

/// Whether the user wants to see the next difference. The end of the input is a no.
fn goes_on(left: usize, answers: &mut dyn BufRead, console: &mut Console) -> std::io::Result<bool> {
    write!(console.err(), "Go on after it ({left} more)? [Y/n] ")?;
    console.flush()?;
    let mut answer = String::new();
    if answers.read_line(&mut answer)? == 0 {
        writeln!(console.err())?;
        return Ok(false);
    }
    Ok(!answer.trim_start().starts_with(['n', 'N', 'q', 'Q']))
}
