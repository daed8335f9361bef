//! Removes from a script the calls that its failure does not need: the oracle *calls* of the driver.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use culprit_jvm::PoolError;
use culprit_model::observe::is_jdk_name;
use culprit_model::script::Effect;
use culprit_model::{ObjectId, Reference, Site, SiteId, SiteKind, Tables, Value};
use culprit_reduce::{
    Artefact, ArtefactOracle, DeltaSet, Digester, Driver, Error as Refused, Goal, Needs, Problem,
    Scale, Schedule, Search, SearchEnd, Verdict, Wanted,
};
use culprit_scripts::{
    Error as ScriptError, ScriptRun, closure, finds_fault, interactions, is_for_assertions, needs,
    standard_stream,
};
use culprit_signature::{Grade, Signature};
use culprit_wire::FreshState;

use crate::merge::{is_question, merge};
use crate::{Error, Script, Stage, Statement, slice};

/// What is left of a script.
#[derive(Debug)]
pub struct Minimised {
    pub script: Script,
    /// Calls into the program of the whole script, and of its slice.
    pub captured: usize,
    pub sliced: usize,
    /// How the search ended. If early, more calls could be removed.
    pub end: SearchEnd,
    /// Whether objects were merged after the last search.
    pub(crate) is_merged: bool,
}

impl Minimised {
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

/// Minimises a script whose last statement fails, again and again while objects can be merged: what made the
/// others may not be needed any more.
pub fn minimise(
    script: &Script,
    stage: &Stage,
    likeness: &Likeness<'_>,
    driver: &Driver<'_>,
) -> Result<Minimised, Error> {
    let mut found = minimise_once(script, stage, likeness, driver, false)?;
    while found.is_merged && !driver.is_over() {
        let again = match minimise_once(&found.script, stage, likeness, driver, true) {
            Ok(again) if again.script.statements.len() < found.script.statements.len() => again,
            // What was found before fails, whatever became of this.
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
    stage: &Stage,
    &Likeness { grade, wanted }: &Likeness<'_>,
    driver: &Driver<'_>,
    is_repeated: bool,
) -> Result<Minimised, Error> {
    let mut reduction = CallReduction {
        script,
        stage,
        grade,
        enough: Signature::ENOUGH,
        fresh: FreshState::NewLoader,
        driver,
        is_repeated,
    };
    let all: Vec<usize> = (0..script.statements.len()).collect();
    let last = all
        .len()
        .checked_sub(1)
        .ok_or(Error::Script(ScriptError::NoFailure))?;
    let slice = slice(script, last);
    let (captured, sliced) = (interactions(script, &all), interactions(script, &slice));
    let first = reduction.run(&all)?;
    if let ScriptRun::Threw { trace, .. } = &first {
        match grade(trace) {
            Some(reached) if reached >= Grade::L3 => reduction.enough = Grade::L3,
            Some(reached) if reached >= reduction.enough && reached < wanted => {
                return Err(Error::OtherMessage(first));
            }
            _ => {}
        }
    }
    let least = reduction.least(last);
    let mut whole = None;
    for part in [least, slice] {
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
        None if reduction.trace(&first).is_some() => all,
        None => return Err(Error::OtherFailure(first)),
    };
    reduction.fresh = FreshState::Reset;
    let shared = match reduction.reduce(&whole, last) {
        Err(Error::Unsteady) => None,
        reduced => Some(reduced?),
    };
    reduction.close();
    reduction.fresh = FreshState::NewLoader;
    let Reduced { kept, end } = match shared {
        Some(reduced) if reduction.fails(&reduced.kept)?.is_some() => reduced,
        _ => {
            let reduced = reduction.reduce(&whole, last)?;
            reduction.close();
            reduction.fails(&reduced.kept)?.ok_or(Error::Unsteady)?;
            reduced
        }
    };
    if !reduction.is_telling(&kept, last) {
        return Err(Error::NotLinked);
    }
    let left = script.keep(&kept);
    let before = left.statements.clone();
    let merged = merge(left, &|script| {
        if driver.is_over() {
            return Ok(None);
        }
        match reduction.run_counted(&script.tables, &script.statements) {
            Err(error) if error.is_end() => Ok(None),
            run => Ok(reduction.trace(&run?)),
        }
    })?;
    Ok(Minimised {
        is_merged: merged.statements != before,
        script: merged,
        captured,
        sliced,
        end,
    })
}

/// The name of the search for calls, in events.
pub const CALLS: &str = "calls";

/// Calls that are more than one likes to read: another schedule may leave fewer.
const MANY: usize = 8;

/// How methods of the library begin that change what they are called on, or given first.
const CHANGES: [&str; 21] = [
    "add", "put", "append", "set", "remove", "clear", "offer", "push", "pop", "poll", "insert",
    "delete", "replace", "write", "print", "sort", "fill", "reverse", "store", "read", "next",
];

/// A call of a library method that changes its receiver or first argument, or an operator that does.
fn changes_library(script: &Script, statement: &Statement) -> bool {
    let is_named = |name: &str| CHANGES.iter().any(|start| name.starts_with(start));
    match script.target(statement) {
        Some(target) => is_jdk_name(&target.owner) && is_named(&target.name),
        None => statement
            .operator()
            .is_some_and(|operator| operator.effect() == Effect::Writes),
    }
}

/// Whether a method of the program is named like those: `next` and `addAll`, but not `address`.
fn is_named_for_change(site: &Site) -> bool {
    let ends_word = |rest: &str| !rest.starts_with(|c: char| c.is_lowercase());
    CHANGES
        .iter()
        .any(|start| site.target.name.strip_prefix(start).is_some_and(ends_word))
}

/// Whether a call, by its name, only moves what it is called on: a cursor is no part of what it walks over.
fn moves_on(site: &Site) -> bool {
    let name = &site.target.name;
    name.starts_with("next") || name.starts_with("read")
}

struct CallReduction<'a> {
    script: &'a Script,
    stage: &'a Stage,
    grade: &'a (dyn Fn(&str) -> Option<Grade> + Sync),
    /// The grade of what counts as the failure.
    enough: Grade,
    fresh: FreshState,
    driver: &'a Driver<'a>,
    /// Little is expected of a second reduction: one schedule does.
    is_repeated: bool,
}

/// What a static method returns, as far as that tells what it is called for.
enum Returns {
    Nothing,
    /// The one object of its class, which nobody uses: it is called for the next call.
    Itself,
    Something,
}

/// What a search came to.
struct Reduced {
    kept: Vec<usize>,
    end: SearchEnd,
}

impl CallReduction<'_> {
    /// The statements that are left of some, which fail.
    fn reduce(&self, whole: &[usize], last: usize) -> Result<Reduced, Error> {
        let needs = needs(self.script);
        let fixed = self.least(last);
        let deltas = whole.iter().copied().filter(|n| !fixed.contains(n));
        let deltas: Vec<usize> = deltas.collect();
        if deltas.is_empty() || self.fails_in_time(&fixed)? {
            return Ok(Reduced {
                kept: fixed,
                end: SearchEnd::Minimal,
            });
        }
        let place = |n: &usize| deltas.binary_search(n).ok().map(|at| at as u32);
        let pairs = deltas.iter().enumerate().flat_map(|(at, n)| {
            let of_this = needs[*n].iter().filter_map(place);
            of_this.map(move |need| (at as u32, need))
        });
        let needs = Needs::graph(deltas.len() as u32, pairs);
        let problem = Problem::new(deltas.len() as u64).needs(needs);
        let key = self.key(whole);
        let problem = problem.key(key.as_str());
        let calls = Calls {
            stage: self.stage,
            script: self.script,
            fresh: self.fresh,
            grade: self.grade,
            enough: self.enough,
            deltas: &deltas,
            fixed: &fixed,
            key: &key,
        };
        let mut found = self.search(&calls, &problem, Schedule::default(), whole.len())?;
        let left = interactions(self.script, &found.kept);
        if left > MANY && found.end == SearchEnd::Minimal && !self.is_repeated {
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
            }),
            Err(Refused::Nothing) => Ok(Reduced {
                kept: calls.statements(problem.all()),
                end: self.driver.end(),
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
        format!("{grade:?} {fresh:?} {folder}\n{}", part.pruned())
    }

    /// The statements that stay: what the last one needs. Where that asserts something, also the
    /// commands to all objects behind it: without them something else might be right. A call is a command
    /// if nothing is done with its result, or if its name says so.
    fn least(&self, last: usize) -> Vec<usize> {
        let needs = needs(self.script);
        let mut kept: BTreeSet<usize> = closure(&needs, last).into_iter().collect();
        if !finds_fault(self.script) {
            return kept.into_iter().collect();
        }
        let statements = self.script.statements.iter();
        let uses = statements.clone().enumerate();
        let uses = uses.flat_map(|(number, s)| s.uses().into_iter().map(move |id| (id, number)));
        // Of each object the last one.
        let uses: BTreeMap<ObjectId, usize> = uses.collect();
        let is_ignored = |number: usize| {
            let made = self.script.statements[number].defines();
            made.is_some_and(|id| uses.get(&id).is_none_or(|last| *last <= number))
        };
        let streams = statements.filter_map(|s| standard_stream(self.script, s));
        let streams: BTreeSet<ObjectId> = streams.collect();
        loop {
            let before = kept.len();
            let objects = kept
                .iter()
                .flat_map(|n| self.script.statements[*n].objects());
            let objects = objects.filter(|id| !streams.contains(id));
            let objects: BTreeSet<ObjectId> = objects.collect();
            let parts = self.parts(&objects);
            let sets_up = self.set_up_classes(&kept, &is_ignored);
            for (number, statement) in self.script.statements.iter().enumerate() {
                let site = self.script.site(statement);
                let own = site.filter(|site| !is_for_assertions(&site.target.owner));
                let held = |id: &ObjectId| objects.contains(id);
                let changes = changes_library(self.script, statement)
                    && statement.uses().first().is_some_and(held);
                let commands = own.is_some_and(|site| {
                    let to = self.script.receiver(statement).filter(|_| {
                        self.script.is_command(statement)
                            || is_named_for_change(site)
                            || is_ignored(number) && !is_question(&site.target.name)
                    });
                    let is_part = |id: ObjectId| parts.contains(&id) && !moves_on(site);
                    to.is_some_and(|to| held(&to) || is_part(to))
                        || sets_up.contains(&number)
                        || !is_jdk_name(&site.target.owner)
                            && self.library_objects(statement, site).iter().any(held)
                });
                if number < last && (commands || changes) && !self.is_superseded(number, last) {
                    kept.extend(closure(&needs, number));
                }
            }
            if kept.len() == before {
                return kept.into_iter().collect();
            }
        }
    }

    /// Calls of static methods that are called for what they do to their class, of which others are kept:
    /// `Builder.named("a")` before `Builder.create()`. They return nothing, or the one object of the class.
    fn set_up_classes(
        &self,
        kept: &BTreeSet<usize>,
        is_ignored: &dyn Fn(usize) -> bool,
    ) -> BTreeSet<usize> {
        let called = |number: usize| {
            let site = self.script.site(&self.script.statements[number])?;
            let owner = site.target.owner.as_str();
            let is_ours = is_jdk_name(owner) || is_for_assertions(owner);
            let is_call = site.kind == SiteKind::Entry && site.is_static;
            (is_call && !is_ours).then_some(owner)
        };
        let returns = |number: usize| match self.script.statements[number].result() {
            None => Returns::Nothing,
            Some(Value::Reference(Reference::Object { class, .. }))
                if is_ignored(number) && called(number) == Some(self.script.class_name(*class)) =>
            {
                Returns::Itself
            }
            Some(_) => Returns::Something,
        };
        let mut found = BTreeSet::new();
        // From the end: by class, whether the next call for something is kept; and whether any is.
        let mut next: BTreeMap<&str, bool> = BTreeMap::new();
        let mut needed: BTreeSet<&str> = BTreeSet::new();
        let mut set: BTreeSet<Option<SiteId>> = BTreeSet::new();
        for number in (0..self.script.statements.len()).rev() {
            let Some(owner) = called(number) else {
                continue;
            };
            match returns(number) {
                Returns::Something => {
                    next.insert(owner, kept.contains(&number));
                    needed.extend(kept.contains(&number).then_some(owner));
                }
                Returns::Itself if next.get(owner) == Some(&true) => {
                    found.insert(number);
                }
                // What is set lasts until it is set anew.
                Returns::Nothing if needed.contains(owner) => {
                    let site = self.script.statements[number].site();
                    found.extend(set.insert(site).then_some(number));
                }
                _ => {}
            }
        }
        found
    }

    /// Objects of the program that some others gave out, which may be parts of them: who changes the settings
    /// of a document changes the document.
    fn parts(&self, objects: &BTreeSet<ObjectId>) -> BTreeSet<ObjectId> {
        let mut parts = BTreeSet::new();
        for statement in &self.script.statements {
            let of = self.script.receiver(statement);
            let is_held = of.is_some_and(|of| objects.contains(&of) || parts.contains(&of));
            if let Some(Value::Reference(Reference::Object { id, class })) = statement.result()
                && is_held
                && !objects.contains(id)
            {
                let name = self.script.class_name(*class);
                let is_object = !is_jdk_name(name) && name.contains('/');
                parts.extend(is_object.then_some(*id));
            }
        }
        parts
    }

    /// Some statements, and all earlier ones that set something for the whole program: static calls without
    /// a result.
    fn with_settings(&self, kept: &[usize], last: usize) -> Vec<usize> {
        let needs = needs(self.script);
        let mut kept: BTreeSet<usize> = kept.iter().copied().collect();
        for (number, statement) in self.script.statements[..last].iter().enumerate() {
            let sets = self.script.site(statement).is_some_and(|site| {
                let is_ours = is_for_assertions(&site.target.owner);
                site.is_static && site.kind == SiteKind::Entry && !is_ours
            });
            if sets && statement.result().is_none() && statement.catches().is_none() {
                kept.extend(closure(&needs, number));
            }
        }
        kept.into_iter().collect()
    }

    /// The objects of the library that a call of the program is given, which it may change.
    fn library_objects(&self, statement: &Statement, site: &Site) -> Vec<ObjectId> {
        if is_for_assertions(&site.target.owner) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for value in &statement.given {
            value.each_reference(&mut |reference| {
                if let Reference::Object { id, class } = reference {
                    let name = self.script.class_name(*class);
                    let is_value = name == "java/lang/String" || !name.contains(['/', '[']);
                    if !is_value && (is_jdk_name(name) || name.starts_with('[')) {
                        found.push(*id);
                    }
                }
            });
        }
        found
    }

    /// Whether a later call sets the same thing of the same object anew.
    fn is_superseded(&self, number: usize, last: usize) -> bool {
        let sets = |statement: &Statement| {
            let site = self.script.site(statement)?;
            let is_setter = site.target.name.starts_with("set") && statement.given.len() == 2;
            is_setter.then_some((site.id, self.script.receiver(statement)?))
        };
        let set = sets(&self.script.statements[number]);
        let mut later = self.script.statements[number + 1..last].iter();
        set.is_some() && later.any(|statement| sets(statement) == set)
    }

    /// Whether more than an assertion of literals is left.
    fn is_telling(&self, kept: &[usize], last: usize) -> bool {
        let of_program = |number: &usize| {
            let statement = &self.script.statements[*number];
            let target = self.script.target(statement);
            // What a lambda calls is not seen.
            statement.lambda().is_some()
                || target.is_some_and(|target| {
                    !is_jdk_name(&target.owner) && !is_for_assertions(&target.owner)
                })
        };
        let asserts = finds_fault(self.script);
        !asserts
            || kept
                .iter()
                .any(|number| *number != last && of_program(number))
    }

    /// The stack trace of a run that ended with the failure.
    fn trace(&self, run: &ScriptRun) -> Option<String> {
        trace(run, self.grade, self.enough)
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
        Ok(self.trace(&self.run(kept)?))
    }
}

/// The stack trace of a run that ended with the failure, by the grade of its likeness.
fn trace(run: &ScriptRun, grade: &dyn Fn(&str) -> Option<Grade>, enough: Grade) -> Option<String> {
    match run {
        ScriptRun::Threw { trace, .. } if grade(trace) >= Some(enough) => Some(trace.clone()),
        _ => None,
    }
}

/// The oracle: runs of the script without some of its statements.
struct Calls<'a> {
    stage: &'a Stage,
    script: &'a Script,
    fresh: FreshState,
    grade: &'a (dyn Fn(&str) -> Option<Grade> + Sync),
    enough: Grade,
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
        let statements = kept.iter().map(|number| &self.script.statements[*number]);
        let run = self
            .stage
            .run(&self.script.tables, statements, self.fresh)?;
        if let Some(trace) = trace(&run, self.grade, self.enough) {
            return Ok(Verdict::Fail(trace));
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
