//! Removes from a script the calls that its failure does not need: the oracle *calls* of the driver.

mod commands;
mod configuration;
mod repetitions;
mod turning_point;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use culprit_jvm::PoolError;
use culprit_model::{Reference, Tables, Value};
use culprit_program::Program;
use culprit_reduce::{
    Artefact, ArtefactOracle, Budget, DeltaSet, Digester, Driver, Error as Refused, Goal, Needs,
    Problem, Scale, Schedule, Search, SearchEnd, Verdict, Wanted,
};
use culprit_scripts::{Error as ScriptError, ScriptRun, closure, finds_fault, interactions, needs};
use culprit_signature::{Grade, Signature, Thrown};
use culprit_wire::FreshState;

use crate::concrete::{Runs, concrete_calls, concrete_expectation};
use crate::merge::merge;
use crate::shrink::is_raised;
use crate::{Error, Script, Stage, Statement, slice};
use configuration::{configuration, introductions};
use turning_point::LostTurn;
pub(crate) use turning_point::TurningPoint;

/// What is left of a script.
#[derive(Debug)]
pub struct Minimised {
    pub script: Script,
    /// Calls into the program of the whole script, and of its slice.
    pub captured: usize,
    pub sliced: usize,
    /// How the search ended. If early, more calls could be removed.
    pub end: SearchEnd,
    /// Whether of long loops only some rounds were tried, and the others kept.
    pub is_sampled: bool,
    /// Whether objects were merged after the last search.
    pub(crate) is_merged: bool,
    /// Whether there are statements that the failure does not need, but other versions may.
    pub(crate) is_configured: bool,
    /// The statement before which the failing call passes, if there is one.
    pub(crate) turn: Option<TurningPoint>,
}

impl Minimised {
    /// The method before whose call the failing one passes, and after which it fails, if there is one.
    pub fn turns_at(&self) -> Option<&str> {
        self.turn.as_ref()?.name.as_deref()
    }

    /// Calls of a class, as Java writes it: calls on its objects, of its constructors and static methods.
    pub fn calls_of(&self, class: &str) -> usize {
        let class = class.replace('.', "/");
        let is_of = |statement: &&Statement| {
            let site = self.script.site(statement);
            let on = match statement.given.first() {
                Some(Value::Reference(Reference::Object { class, .. })) => Some(*class),
                _ => None,
            };
            site.is_some_and(|site| {
                let on = on.filter(|_| site.has_receiver());
                site.target.owner == class
                    || on.is_some_and(|on| self.script.class_name(on) == class)
            })
        };
        self.script.statements.iter().filter(is_of).count()
    }
}

/// How runs are compared with the failure.
#[derive(Clone, Copy)]
pub struct Likeness<'a> {
    /// How much an exception, as it is printed, has in common with the failure.
    pub grade: &'a (dyn Fn(&str) -> Option<Grade> + Sync),
    /// The grade that the whole script has to reach.
    pub wanted: Grade,
}

/// The program that scripts call, and the workers that run them.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub stage: &'a Stage,
    pub program: &'a Program,
}

/// Minimises a script whose last statement fails, again and again while objects can be merged: what made the
/// others may not be needed any more.
pub fn minimise(
    script: &Script,
    scene: Scene<'_>,
    likeness: &Likeness<'_>,
    driver: &Driver<'_>,
) -> Result<Minimised, Error> {
    let mut found = minimise_once(script, scene, likeness, driver, false)?;
    while found.is_merged && !driver.is_over() {
        let again = match minimise_once(&found.script, scene, likeness, driver, true) {
            Ok(again)
                if again.script.statements.len() < found.script.statements.len()
                    && (again.turn.is_some() || found.turn.is_none()) =>
            {
                again
            }
            // What was found before fails, and for the same reason, whatever became of this.
            Ok(_) | Err(Error::OtherFailure(_) | Error::OtherMessage(_)) => break,
            Err(Error::NotLinked | Error::Unsteady) => break,
            Err(error) if error.is_end() => break,
            Err(error) => return Err(error),
        };
        found = Minimised {
            captured: found.captured,
            sliced: found.sliced,
            ..again
        };
    }
    Ok(found)
}

/// Minimises a script once. Where the whole script fails with the very message of
/// the failure, so does what is left of it; where that is wanted and the script does not, nothing is reduced.
///
/// Candidates run in the same classes one after the other, which is fast, and the result in classes
/// of its own. Where that does not fail, some state was left by others: then each candidate has
/// classes of its own.
fn minimise_once(
    script: &Script,
    scene @ Scene { stage, program }: Scene<'_>,
    &Likeness { grade, wanted }: &Likeness<'_>,
    driver: &Driver<'_>,
    is_repeated: bool,
) -> Result<Minimised, Error> {
    let mut reduction = CallReduction {
        script,
        stage,
        program,
        grade,
        enough: Signature::ENOUGH,
        fresh: FreshState::NewLoader,
        driver,
        is_repeated,
        is_raised: false,
        turn: None,
    };
    let all: Vec<usize> = (0..script.statements.len()).collect();
    let last = all
        .len()
        .checked_sub(1)
        .ok_or(Error::Script(ScriptError::NoFailure))?;
    let slice = slice(script, last);
    let (captured, sliced) = (interactions(script, &all), interactions(script, &slice));
    let first = reduction.run(&all)?;
    if let ScriptRun::Threw { at, trace } = &first {
        reduction.is_raised = Thrown::parse(trace).is_some_and(|thrown| is_raised(&thrown));
        // An earlier call may be the one that fails: where threads took turns, the order of calls may be another.
        let enough = match finds_fault(script) {
            true => Grade::L3,
            false => Signature::ENOUGH,
        };
        if *at < last && grade(trace) >= Some(enough) {
            let cut = script.keep(&all[..=*at]);
            let likeness = Likeness { grade, wanted };
            return minimise_once(&cut, scene, &likeness, driver, is_repeated);
        }
        match grade(trace) {
            Some(reached) if reached >= Grade::L3 => reduction.enough = Grade::L3,
            Some(reached) if reached >= reduction.enough && reached < wanted => {
                return Err(Error::OtherMessage(first));
            }
            _ => {}
        }
    }
    let least = reduction.least(last);
    if least.len() > MANY_NEEDED
        && let Some(lighter) = reduction.with_concrete_expectation()?
    {
        let likeness = Likeness { grade, wanted };
        return minimise_once(&lighter, scene, &likeness, driver, is_repeated);
    }
    let mut whole = None;
    for part in [least, slice.clone()] {
        let more = reduction.with_settings(&part, last);
        let parts = match more.len() > part.len() {
            true => vec![part, more],
            false => vec![part],
        };
        for part in parts {
            if whole.is_none() && reduction.fails_in_time(&part)? {
                whole = Some(part);
            }
        }
    }
    let whole = match whole {
        Some(whole) => whole,
        None if reduction.trace(&first, all.len()).is_some() => all.clone(),
        None => return Err(Error::OtherFailure(first.in_words(script))),
    };
    let Reduced {
        kept,
        mut end,
        is_sampled,
    } = reduction.reduce_safely(&whole, last)?;
    if !reduction.is_telling(&kept, last) {
        return Err(Error::NotLinked);
    }
    let configured = reduction.with_configuration(&kept, last)?;
    let mut is_configured = configured.is_some();
    let mut left = script.keep(configured.as_ref().unwrap_or(&kept));
    let all_fail = reduction.trace(&first, all.len()).is_some();
    if let Some(turn) = reduction.lost_turn(&kept, if all_fail { &all } else { &slice })? {
        let point = turn.point.clone();
        match driver.within(WITH_TURN, || reduction.reduce_with_turn(turn)) {
            Ok(with_turn) => {
                (left, end) = with_turn;
                is_configured = false;
                reduction.turn = Some(point);
            }
            // It depends on more than the statements.
            Err(Error::Unsteady | Error::OtherFailure(_)) => {}
            Err(error) if error.is_end() => {}
            Err(error) => return Err(error),
        }
    }
    let before = left.statements.clone();
    // An object takes the place of another one only if neither is configured.
    let merged = match is_configured {
        true => left,
        false => merge(
            left,
            &|| driver.is_over(),
            &|script| match reduction.fails_as(script) {
                Err(error) if error.is_end() => Ok(false),
                trace => Ok(trace?.is_some()),
            },
        )?,
    };
    Ok(Minimised {
        is_merged: merged.statements != before,
        is_sampled,
        is_configured,
        turn: reduction.turn.clone(),
        script: merged,
        captured,
        sliced,
        end,
    })
}

/// The name of the search for calls, in events.
pub const CALLS: &str = "calls";

/// Bounds of a second reduction that keeps the turning point, besides those of the user.
const WITH_TURN: Budget = Budget {
    tests: Some(3_000),
    time: Some(Duration::from_secs(30)),
};

/// Statements that are so many that loops of the driver are among them, which removing single statements cannot undo.
const MANY_STATEMENTS: usize = 40;

/// Statements that are so many that a test of them all would be of no use. An assertion that needs them is given the value
/// that it expects.
const MANY_NEEDED: usize = 300;

/// Calls that are more than one likes to read: another schedule may leave fewer.
const MANY: usize = 8;

struct CallReduction<'a> {
    script: &'a Script,
    stage: &'a Stage,
    program: &'a Program,
    grade: &'a (dyn Fn(&str) -> Option<Grade> + Sync),
    /// The grade of what counts as the failure.
    enough: Grade,
    fresh: FreshState,
    driver: &'a Driver<'a>,
    /// Little is expected of a second reduction: one schedule does.
    is_repeated: bool,
    /// The program throws the exception on purpose.
    is_raised: bool,
    /// What candidates must have besides the failure.
    turn: Option<TurningPoint>,
}

/// What a search came to.
struct Reduced {
    kept: Vec<usize>,
    end: SearchEnd,
    /// Whether of long loops only some rounds were tried.
    is_sampled: bool,
}

impl CallReduction<'_> {
    /// The statements that are left of some, in classes that are shared where that makes no difference.
    fn reduce_safely(&mut self, whole: &[usize], last: usize) -> Result<Reduced, Error> {
        self.fresh = FreshState::Reset;
        let shared = match self.reduce(whole, last) {
            Err(Error::Unsteady) => None,
            reduced => Some(reduced?),
        };
        self.close();
        self.fresh = FreshState::NewLoader;
        self.stage.forget_late();
        match shared {
            Some(reduced) if self.fails_in_time(&reduced.kept)? => Ok(reduced),
            // All of them were seen to fail, and there is no time for less.
            _ if self.driver.is_over() => Ok(Reduced {
                kept: whole.to_vec(),
                end: self.driver.end(),
                is_sampled: false,
            }),
            _ => {
                let reduced = self.reduce(whole, last)?;
                self.close();
                match self.fails_in_time(&reduced.kept)? {
                    true => Ok(reduced),
                    false => Err(Error::Unsteady),
                }
            }
        }
    }

    /// The script with the values that its assertion expects as they were, if it fails with them.
    fn with_concrete_expectation(&self) -> Result<Option<Script>, Error> {
        let run = |script: &Script| {
            self.driver.count_run();
            let fresh = FreshState::NewLoader;
            self.stage.run(&script.tables, &script.statements, fresh)
        };
        let count = self.script.statements.len();
        concrete_expectation(self.script, &run, &|run| self.trace(run, count).is_some())
    }

    /// Some failing statements with calls that other versions may need, if they lack some: those that introduce the names
    /// which the failing call is given, and the configuration of the objects, if the program throws on purpose.
    fn with_configuration(&self, kept: &[usize], last: usize) -> Result<Option<Vec<usize>>, Error> {
        if finds_fault(self.script) || self.driver.is_over() {
            return Ok(None);
        }
        let mut found: BTreeSet<usize> = kept.iter().copied().collect();
        let mut more = vec![introductions(self.script, &found, last)];
        if self.is_raised {
            more.push(configuration(self.script, &found, last));
        }
        for more in more {
            let whole = &found | &more;
            let is_more = whole.len() > found.len();
            if is_more && self.fails_in_time(&whole.iter().copied().collect::<Vec<_>>())? {
                found = whole;
            }
        }
        let found: Vec<usize> = found.into_iter().collect();
        Ok((found.len() > kept.len()).then_some(found))
    }

    /// What is left of statements that have a turning point, if they do in classes of their own.
    fn reduce_with_turn(&self, turn: LostTurn) -> Result<(Script, SearchEnd), Error> {
        let mut script = self.script.keep(&turn.whole);
        if script.statements.len() > MANY_STATEMENTS && !finds_fault(&script) {
            let run = |script: &Script, fresh| {
                self.driver.count_run();
                self.stage.run(&script.tables, &script.statements, fresh)
            };
            let runs = Runs {
                asks: &|script| run(script, FreshState::NewLoader),
                tries: &|script| run(script, FreshState::Reset),
            };
            let fails = |run: &ScriptRun| match run {
                ScriptRun::Threw { trace, .. } => (self.grade)(trace) >= Some(self.enough),
                _ => false,
            };
            script = concrete_calls(&script, runs, &fails)?;
        }
        let all: Vec<usize> = (0..script.statements.len()).collect();
        let mut reduction = CallReduction {
            script: &script,
            turn: Some(turn.point),
            fresh: FreshState::NewLoader,
            ..*self
        };
        reduction.fails(&all)?.ok_or(Error::Unsteady)?;
        let reduced = reduction.reduce_safely(&all, all.len() - 1)?;
        Ok((script.keep(&reduced.kept), reduced.end))
    }

    /// The turning point that a reduction has left out, if there is time to look for one.
    fn lost_turn(&mut self, kept: &[usize], whole: &[usize]) -> Result<Option<LostTurn>, Error> {
        let last = kept.last().copied().unwrap_or_default();
        // Statements that the failure needs, besides those that the failing one does, are a reason of their own.
        let has_reason = kept != closure(&needs(self.script), last);
        if has_reason || self.driver.is_over() {
            return Ok(None);
        }
        self.fresh = FreshState::Reset;
        let found = TurningPoint::find(self.script, kept, whole, &|part| self.run(part));
        self.fresh = FreshState::NewLoader;
        match found {
            Err(error) if error.is_end() => Ok(None),
            found => found,
        }
    }

    /// The statements that are left of some, which fail.
    fn reduce(&self, whole: &[usize], last: usize) -> Result<Reduced, Error> {
        let needs = needs(self.script);
        let mut fixed = self.least(last);
        if whole.len() == fixed.len() || self.fails_in_time(&fixed)? {
            return Ok(Reduced {
                kept: fixed,
                end: SearchEnd::Minimal,
                is_sampled: false,
            });
        }
        let whole = self.without_repetitions(whole, &fixed, &needs)?;
        let needed = self.needed_repetitions(&whole, &fixed, &needs)?;
        let is_sampled = !needed.is_empty();
        fixed.extend(needed);
        fixed.sort_unstable();
        fixed.dedup();
        let is_fixed = |number: &usize| fixed.binary_search(number).is_ok();
        let deltas = whole.iter().copied().filter(|number| !is_fixed(number));
        let deltas: Vec<usize> = deltas.collect();
        if deltas.is_empty() {
            return Ok(Reduced {
                kept: fixed,
                end: SearchEnd::Minimal,
                is_sampled,
            });
        }
        let place = |n: &usize| deltas.binary_search(n).ok().map(|at| at as u32);
        let pairs = deltas.iter().enumerate().flat_map(|(at, n)| {
            let of_this = needs[*n].iter().filter_map(place);
            of_this.map(move |need| (at as u32, need))
        });
        let needs = Needs::graph(deltas.len() as u32, pairs);
        let problem = Problem::new(deltas.len() as u64).needs(needs);
        let key = self.key(&whole);
        let problem = problem.key(key.as_str());
        let calls = Calls {
            stage: self.stage,
            script: self.script,
            fresh: self.fresh,
            grade: self.grade,
            enough: self.enough,
            turn: self.turn.as_ref(),
            deltas: &deltas,
            fixed: &fixed,
            key: &key,
        };
        let mut found = self.search(&calls, &problem, Schedule::default(), whole.len())?;
        found.is_sampled = is_sampled;
        let left = interactions(self.script, &found.kept);
        if left > MANY && found.end == SearchEnd::Minimal && !self.is_repeated && !is_sampled {
            // Each schedule ends where nothing can be taken out any more, but not at the same place.
            let least = found.kept.len();
            let other = self.search(&calls, &problem, Schedule::Classic, least)?;
            if other.kept.len() < found.kept.len() {
                found = other;
            }
        }
        Ok(found)
    }

    /// What is left to do after an early end is done all the same.
    fn close(&self) {
        if self.driver.is_over() {
            self.stage.close(self.driver.end());
        }
    }

    /// The fewest calls that a schedule arrives at: all of them where it ends before it begins. `best` is
    /// the number of statements that are known to fail.
    fn search(
        &self,
        calls: &Calls<'_>,
        problem: &Problem,
        schedule: Schedule,
        best: usize,
    ) -> Result<Reduced, Error> {
        let search = Search {
            name: CALLS,
            problem: problem.clone(),
            goal: Goal::Simplify,
            schedule,
            scale: Scale {
                whole: self.script.statements.len() as u64,
                best: best as u64,
                extent: 1.0,
            },
            is_sequential: false,
            learn: None,
        };
        match self.driver.search(search, calls) {
            Ok(found) => Ok(Reduced {
                kept: calls.statements(&found.failing),
                end: found.end,
                is_sampled: false,
            }),
            Err(Refused::Nothing) => Ok(Reduced {
                kept: calls.statements(problem.all()),
                end: self.driver.end(),
                is_sampled: false,
            }),
            Err(Refused::NotFailing { .. }) => Err(Error::Unsteady),
            Err(Refused::Oracle { source, .. }) => Err(source),
            Err(Refused::Journal(error)) => Err(error.into()),
            Err(error) => Err(Error::Reduction(error.to_string())),
        }
    }

    /// What verdicts on parts of some statements depend on.
    fn key(&self, whole: &[usize]) -> String {
        let part = Script {
            tables: Arc::clone(&self.script.tables),
            statements: self.statements(whole).cloned().collect(),
            ..Script::default()
        };
        let (grade, fresh, folder) = (self.enough, self.fresh, self.stage.surroundings());
        let turn = &self.turn;
        format!("{grade:?} {fresh:?} {folder} {turn:?}\n{}", part.pruned())
    }

    /// The stack trace of a run of so many statements that ended with the failure.
    fn trace(&self, run: &ScriptRun, statements: usize) -> Option<String> {
        trace(run, statements, self.grade, self.enough)
    }

    fn statements(&self, kept: &[usize]) -> impl Iterator<Item = &Statement> {
        kept.iter().map(|number| &self.script.statements[*number])
    }

    fn run(&self, kept: &[usize]) -> Result<ScriptRun, Error> {
        self.run_counted(&self.script.tables, self.statements(kept))
    }

    fn run_counted<'s>(
        &self,
        tables: &Arc<Tables>,
        statements: impl IntoIterator<Item = &'s Statement>,
    ) -> Result<ScriptRun, Error> {
        self.driver.count_run();
        Ok(self.stage.run(tables, statements, self.fresh)?)
    }

    /// Whether the statements fail the same way, as far as there is time to see it.
    fn fails_in_time(&self, kept: &[usize]) -> Result<bool, Error> {
        match self.fails(kept) {
            Err(Error::Pool(PoolError::OutOfTime)) => Ok(false),
            trace => Ok(trace?.is_some()),
        }
    }

    /// What the failure prints, if the statements fail the same way.
    fn fails(&self, kept: &[usize]) -> Result<Option<String>, Error> {
        let trace = self.trace(&self.run(kept)?, kept.len());
        match (trace, &self.turn) {
            (Some(_), Some(turn)) if !self.turns(turn, &self.script.keep(kept))? => Ok(None),
            (trace, _) => Ok(trace),
        }
    }

    /// What the failure prints, if another script fails the same way.
    fn fails_as(&self, script: &Script) -> Result<Option<String>, Error> {
        let run = self.run_counted(&script.tables, &script.statements)?;
        match (self.trace(&run, script.statements.len()), &self.turn) {
            (Some(_), Some(turn)) if !self.turns(turn, script)? => Ok(None),
            (trace, _) => Ok(trace),
        }
    }

    /// Whether a script that fails has the turning point.
    fn turns(&self, turn: &TurningPoint, script: &Script) -> Result<bool, Error> {
        turn.is_in(script, &|part| {
            let statements = part.iter().map(|number| &script.statements[*number]);
            self.run_counted(&script.tables, statements)
        })
    }
}

/// The stack trace of a run of so many statements whose last one ended with the failure, by the grade of its
/// likeness. An earlier one that fails alike, such as another assertion without a message, is another failure.
fn trace(
    run: &ScriptRun,
    statements: usize,
    grade: &dyn Fn(&str) -> Option<Grade>,
    enough: Grade,
) -> Option<String> {
    match run {
        ScriptRun::Threw { at, trace } if at + 1 == statements && grade(trace) >= Some(enough) => {
            Some(trace.clone())
        }
        _ => None,
    }
}

/// The verdict on a candidate that fails alike without the turning point.
const OTHER_REASON: &str = "it fails for another reason";

/// The oracle: runs of the script without some of its statements.
struct Calls<'a> {
    stage: &'a Stage,
    script: &'a Script,
    fresh: FreshState,
    grade: &'a (dyn Fn(&str) -> Option<Grade> + Sync),
    enough: Grade,
    /// What candidates must have besides the failure.
    turn: Option<&'a TurningPoint>,
    /// The statements that can be removed, by delta.
    deltas: &'a [usize],
    /// The statements of every candidate.
    fixed: &'a [usize],
    /// Everything that verdicts depend on besides the candidate.
    key: &'a str,
}

impl Calls<'_> {
    /// The statements of a candidate, in their order.
    fn statements(&self, candidate: &DeltaSet) -> Vec<usize> {
        let chosen = candidate.iter().map(|delta| self.deltas[delta as usize]);
        let mut kept: Vec<usize> = chosen.chain(self.fixed.iter().copied()).collect();
        kept.sort_unstable();
        kept
    }
}

impl ArtefactOracle for Calls<'_> {
    type Content = Vec<usize>;
    type Error = Error;

    fn make(&self, candidate: &DeltaSet) -> Result<Artefact<Vec<usize>>, Error> {
        let kept = self.statements(candidate);
        let mut digester = Digester::default();
        digester.field(CALLS.as_bytes());
        digester.field(self.key.as_bytes());
        digester.digest(candidate.digest());
        Ok(Artefact {
            digest: digester.finish(),
            size: kept.len() as u64,
            content: Ok(kept),
        })
    }

    fn judge(&self, kept: &Vec<usize>, _: &Wanted<'_>) -> Result<Verdict<String>, Error> {
        if self.stage.is_held_up() {
            return Err(Error::Unsteady);
        }
        let run_part = |part: &[usize]| {
            let statements = part.iter().map(|number| &self.script.statements[*number]);
            self.stage.run(&self.script.tables, statements, self.fresh)
        };
        let run = run_part(kept)?;
        if let Some(trace) = trace(&run, kept.len(), self.grade, self.enough) {
            let Some(turn) = self.turn else {
                return Ok(Verdict::Fail(trace));
            };
            let run_some = |part: &[usize]| {
                let part: Vec<usize> = part.iter().map(|at| kept[*at]).collect();
                Ok(run_part(&part)?)
            };
            return Ok(match turn.is_in(&self.script.keep(kept), &run_some)? {
                true => Verdict::Fail(trace),
                false => Verdict::Unresolved(OTHER_REASON.to_owned()),
            });
        }
        Ok(match run {
            ScriptRun::Done => Verdict::Pass,
            ScriptRun::Threw { trace, .. } => Verdict::Unresolved(trace),
            ScriptRun::Refused { .. } | ScriptRun::Unresolved(_) => {
                Verdict::Unresolved(run.to_string())
            }
        })
    }
}
