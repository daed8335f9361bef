//! Makes what the statements of a script are given smaller, once nothing else can be taken out of
//! it: fewer answers of stand-ins, shorter texts and arrays, simpler numbers.
//!
//! A candidate must fail as the script did before, with the very message and by the very path. That is
//! not enough where something is refused or found wrong on purpose: with another input that
//! may well be right. So failed assertions, exceptions that the program raised itself, and those by which the
//! JDK refuses a text are left as they are. And where a text passes without one of its words, so does what is left
//! of it.

mod answers;
mod counterpart;
mod places;
mod shrinker;
mod simpler;

use std::sync::Arc;
use std::time::Duration;

use culprit_reduce::{Budget, Driver};
use culprit_scripts::{ScriptRun, finds_fault};
use culprit_signature::{FrameOrigin, Grade, Signature, Thrown};
use culprit_wire::FreshState;

use crate::{Error, Minimised, Script, Stage, Statement};
use counterpart::{Counterpart, Inputs};
pub use shrinker::VALUES;
use shrinker::{Fails, Oracle, Shrinker};

/// Bounds of the search, besides those of the user.
const BUDGET: Budget = Budget {
    tests: Some(2_000),
    time: Some(Duration::from_secs(10)),
};

/// Exceptions that the JVM throws by itself.
const OF_THE_JVM: [&str; 9] = [
    "java.lang.ArithmeticException",
    "java.lang.ArrayIndexOutOfBoundsException",
    "java.lang.ArrayStoreException",
    "java.lang.ClassCastException",
    "java.lang.IncompatibleClassChangeError",
    "java.lang.NegativeArraySizeException",
    "java.lang.NullPointerException",
    "java.lang.OutOfMemoryError",
    "java.lang.StackOverflowError",
];

/// Words in the names of exceptions that say that an input is wrong.
const REFUSING: [&str; 8] = [
    "CharacterCoding",
    "DOMException",
    "DateTimeException",
    "Format",
    "IllegalArgument",
    "Malformed",
    "Parse",
    "Syntax",
];

/// The script with smaller inputs, as far as it still fails the same way.
pub(crate) fn shrink(
    mut minimised: Minimised,
    stage: &Stage,
    driver: &Driver<'_>,
) -> Result<Minimised, Error> {
    let script = &minimised.script;
    if finds_fault(script) {
        return Ok(minimised);
    }
    // Outside of the search: `None` where the work was ended from outside.
    let run_new = |statements: &[Statement]| {
        driver.count_run();
        let run = stage.run(&script.tables, statements, FreshState::NewLoader);
        match run.map_err(Error::from) {
            Err(error) if error.is_end() => Ok(None),
            run => run.map(Some),
        }
    };
    let before = match run_new(&script.statements)? {
        Some(ScriptRun::Threw { trace, .. }) => Thrown::parse(&trace),
        _ => None,
    };
    let before = before.filter(|thrown| !is_raised(thrown));
    let Some(signature) = before.as_ref().map(Signature::of) else {
        return Ok(minimised);
    };
    let is_same = |run: &ScriptRun, statements: &[Statement]| match run {
        ScriptRun::Threw { at, trace } if at + 1 == statements.len() => {
            Thrown::parse(trace).and_then(|thrown| signature.grade(&thrown)) == Some(Grade::L4)
        }
        _ => false,
    };
    let run = |statements: &[Statement], fresh| stage.run(&script.tables, statements, fresh);
    let passes_in = |statements: &[Statement], fresh| -> Result<bool, Error> {
        Ok(run(statements, fresh)? == ScriptRun::Done)
    };
    let counterparts = Counterpart::all(Inputs {
        statements: &script.statements,
        prelude: script.prelude,
        tables: &script.tables,
        passes: &|statements| {
            driver.count_run();
            Ok(!driver.is_over() && passes_in(statements, FreshState::Reset)?)
        },
    });
    let counterparts = match counterparts {
        Err(error) if error.is_end() => Vec::new(),
        counterparts => counterparts?,
    };
    let fails_in = |statements: &[Statement], fresh| -> Result<bool, Error> {
        if !is_same(&run(statements, fresh)?, statements) {
            return Ok(false);
        }
        for counterpart in &counterparts {
            let is_left = counterpart.is_of(Inputs {
                statements,
                prelude: script.prelude,
                tables: &script.tables,
                passes: &|statements| passes_in(statements, fresh),
            });
            if !is_left? {
                return Ok(false);
            }
        }
        let Some(turn) = &minimised.turn else {
            return Ok(true);
        };
        let candidate = Script {
            tables: Arc::clone(&script.tables),
            statements: statements.to_vec(),
            ..Script::default()
        };
        turn.is_in(&candidate, &|part| {
            let part: Vec<Statement> = part.iter().map(|at| statements[*at].clone()).collect();
            Ok(run(&part, fresh)?)
        })
    };
    // As in the reduction: classes are shared while that makes no difference.
    for fresh in [FreshState::Reset, FreshState::NewLoader] {
        let fails: &Fails<'_> = &|statements| fails_in(statements, fresh);
        let oracle = Oracle {
            fails,
            key: format!("{fresh:?} {}\n{script}", stage.surroundings()),
        };
        let mut shrinker = Shrinker::new(script, &oracle, driver).sparing_small();
        if minimised.is_configured {
            shrinker = shrinker.keeping_statements();
        }
        driver.within(BUDGET, || shrinker.run())?;
        let left = shrinker.found();
        if left == script.statements {
            break;
        }
        if driver.is_over() {
            // The result is checked all the same.
            stage.close(driver.end());
        }
        let is_left = match fails_in(&left, FreshState::NewLoader) {
            Err(error) if error.is_end() => false,
            is_left => is_left?,
        };
        if is_left {
            minimised.script.waits.clear();
            minimised.script.statements = left;
            break;
        }
    }
    Ok(minimised)
}

/// Whether the program threw the exception, or the one behind it, on purpose; or the JDK did since it was
/// given something that it cannot read.
pub(crate) fn is_raised(thrown: &Thrown) -> bool {
    let first = thrown.chain().last().unwrap_or(thrown);
    let top = first.frames.first().map(|frame| frame.origin());
    let by_program = !matches!(top, Some(FrameOrigin::Jdk | FrameOrigin::Reflection));
    let name = first.class.rsplit('.').next().unwrap_or_default();
    let refuses = || REFUSING.iter().any(|word| name.contains(word));
    by_program && !OF_THE_JVM.contains(&first.class.as_str()) || refuses()
}

#[cfg(test)]
mod tests;
