//! The course of an isolation: commits, then files, blocks of code, hunks and lines of what the last
//! commits changed, each level with what the one before left.
//!
//! At each level but the last, units bring what they need: the declarations of names that they use,
//! the other end of a bracket, and what a failed build spoke of together; and what is not well-formed is
//! not tested. Then come hunks and lines without all that, so that the result is 1-minimal whatever was
//! guessed before.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use culprit_reduce::{
    Budget, Cancel, Clock, DeltaSet, End, Engine, Error as SearchError, Journal, Kind, Needs,
    Oracle, Origin, Problem, Reduction, Settings, Step, Verdict, Wanted,
};

use super::Error;
use super::brackets;
use super::complaints::{Broken, Lack};
use super::difference::{Difference, FileChange};
use super::grammars::{Grammars, Malformed};
use super::groups::{self, Level};
use super::names::Names;
use super::trial::{Lesson, Trial, reason_in, with_lesson};
use crate::{Digest, Goal, Memo};

/// Names of one message that are learned from, at most.
const LEARNED: usize = 12;

/// How often in a row changes are joined only because they are next to each other.
const GUESSES: u32 = 4;

/// So many of the finest levels are decided once more without what was guessed.
const UNGUESSED: usize = 2;

/// How far it may go.
pub struct Limits<'a> {
    /// Candidates judged at the same time.
    pub jobs: usize,
    /// The most tests.
    pub tests: Option<u64>,
    /// The longest time.
    pub time: Option<Duration>,
    /// Whether somebody wants it to end.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// The time that `time` speaks of.
    pub clock: Arc<dyn Clock + Send>,
}

/// One verdict, and where the isolation stands after it.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Versions tested so far, this one included.
    pub tests: u64,
    /// What is taken apart: `commits`, `files`, ..., `lines`.
    pub level: &'static str,
    /// Units of the level in the candidate.
    pub units: u64,
    /// Units of the level that are left.
    pub left: u64,
    /// Lines and the like in the candidate; of commits, commits.
    pub deltas: u64,
    /// What is left to decide, as a share of the whole, about.
    pub share: f64,
    /// The verdict.
    pub kind: Kind,
    /// What is told of it.
    pub reason: String,
    /// Since the beginning.
    pub since: Duration,
    /// Whether a journal had it.
    pub is_known: bool,
}

/// An isolation under way.
pub(crate) struct Course<'a> {
    pub(crate) goal: Goal,
    pub(crate) limits: &'a Limits<'a>,
    pub(crate) trial: Trial<'a>,
    /// Where verdicts are kept.
    pub(crate) journals: &'a Path,
    /// What verdicts depend on besides.
    pub(crate) key: String,
    /// When it began, by the clock of the limits.
    pub(crate) began: Duration,
    pub(crate) memo: Memo,
    /// Versions that were needed, or are known to be the same as one that was.
    pub(crate) tested: HashSet<Digest>,
    /// How many of them were tested.
    pub(crate) tests: u64,
    /// Searches so far, each with a journal of its own.
    pub(crate) searches: u32,
    pub(crate) watch: &'a mut dyn FnMut(&Tried),
    /// How the last search ended, or why there is none after it.
    pub(crate) end: End,
    /// Whether the version that all begins with was seen to pass.
    pub(crate) has_passed: bool,
}

/// Versions by sets of units.
pub(crate) trait Versions: Sync {
    /// What stands for the version; `Err` says why there is none.
    fn digest(&self, set: &DeltaSet) -> Result<Result<Digest, String>, Error>;

    /// The verdict on it.
    fn judge(
        &self,
        set: &DeltaSet,
        trial: &Trial<'_>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Verdict<String>, Error>;
}

/// What a level works on.
pub(crate) struct Work<'w> {
    pub(crate) name: &'static str,
    pub(crate) problem: Problem,
    /// Units of the level.
    pub(crate) units: u64,
    /// What is left to decide when it begins, as a share of the whole.
    pub(crate) share: f64,
    pub(crate) versions: &'w dyn Versions,
    /// Lines and the like in so many units of the level.
    pub(crate) deltas: &'w dyn Fn(&DeltaSet) -> u64,
    /// Learns from what is told of a version without a verdict; whether there is something new.
    pub(crate) learn: &'w mut dyn FnMut(&DeltaSet, &str) -> bool,
}

/// How a search ended.
pub(crate) enum Found {
    /// With what it had to say.
    Sets {
        passing: DeltaSet,
        failing: DeltaSet,
    },
    /// It is to begin anew from here, with what it learned.
    Again {
        passing: DeltaSet,
        failing: DeltaSet,
    },
}

struct Judges<'j, 't> {
    versions: &'j dyn Versions,
    trial: &'j Trial<'t>,
    memo: &'j Memo,
    stop: &'j (dyn Fn() -> bool + Sync),
    cancel: Cancel,
    /// What stands for the versions so far, where there was something to test.
    digests: Mutex<HashMap<Digest, Option<Digest>>>,
}

impl Judges<'_, '_> {
    fn digests(&self) -> MutexGuard<'_, HashMap<Digest, Option<Digest>>> {
        self.digests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What stands for a version; nothing if there was nothing to test.
    fn digest_of(&self, candidate: &DeltaSet) -> Result<Option<Digest>, Error> {
        let known = self.digests().get(&candidate.digest()).copied();
        match known {
            Some(digest) => Ok(digest),
            None => Ok(self.versions.digest(candidate)?.ok()),
        }
    }
}

impl Oracle for Judges<'_, '_> {
    type Detail = String;
    type Error = Error;

    fn judge(&self, candidate: &DeltaSet, wanted: &Wanted<'_>) -> Result<Verdict<String>, Error> {
        let made = self.versions.digest(candidate)?;
        let known = made.as_ref().ok().copied();
        self.digests().insert(candidate.digest(), known);
        let digest = match made {
            Ok(digest) => digest,
            Err(why) => return Ok(Verdict::Unresolved(why)),
        };
        let still = || {
            if (self.stop)() {
                self.cancel.cancel();
            }
            wanted.still()
        };
        let judged = self.memo.recall(digest, || {
            self.versions.judge(candidate, self.trial, &still)
        });
        match judged {
            // Nobody hears it: the engine passes over what it does not want.
            Err(Error::Test(crate::Error::Unwanted)) if !wanted.still() => {
                Ok(Verdict::Unresolved(String::new()))
            }
            judged => judged,
        }
    }
}

impl Course<'_> {
    /// Runs one search to its end.
    pub(crate) fn search(&mut self, work: Work<'_>) -> Result<Found, Error> {
        self.searches += 1;
        let problem = work.problem.key(format!("{}\n{}", self.key, work.name));
        std::fs::create_dir_all(self.journals).map_err(Error::at(self.journals))?;
        let path = self
            .journals
            .join(format!("{:03}-{}", self.searches, work.name));
        let mut journal = Journal::open(&path, &problem)?;
        let cancel = Cancel::new();
        let judges = Judges {
            versions: work.versions,
            trial: &self.trial,
            memo: &self.memo,
            stop: self.limits.stop,
            cancel: cancel.clone(),
            digests: Mutex::default(),
        };
        let spent = self.elapsed();
        let settings = Settings {
            jobs: self.limits.jobs,
            budget: Budget {
                // Many a candidate needs no test: they are counted below.
                tests: None,
                time: self.limits.time.map(|time| time.saturating_sub(spent)),
            },
            cancel: cancel.clone(),
            clock: self.limits.clock.clone(),
            ..Settings::default()
        };
        let (tested, tests) = (&mut self.tested, &mut self.tests);
        let watch = &mut *self.watch;
        let (mut learned, mut is_spent) = (false, false);
        let (limits, began, memo) = (self.limits, self.began, &self.memo);
        let mut trouble = None;
        let mut begin = None;
        let hear = |step: &Step<'_, String>| {
            if matches!(step.origin, Origin::Cache | Origin::Inference) {
                return;
            }
            if step.candidate.is_empty() {
                begin = Some(step.verdict.kind());
            }
            let digest = judges.digest_of(step.candidate).unwrap_or_else(|error| {
                trouble = Some(error);
                cancel.cancel();
                None
            });
            let told = step.verdict.detail().map_or("", String::as_str);
            if let Some(digest) = digest {
                memo.learn(digest, step.verdict.clone());
            }
            // What cannot be made, or is not well-formed, was not tested.
            if digest.is_some_and(|digest| tested.insert(digest)) {
                *tests += 1;
                let left = step.standing.failing.saturating_sub(step.standing.passing);
                watch(&Tried {
                    tests: *tests,
                    level: work.name,
                    units: step.candidate.len(),
                    left,
                    share: work.share * left as f64 / work.units.max(1) as f64,
                    deltas: (work.deltas)(step.candidate),
                    kind: step.verdict.kind(),
                    reason: reason_in(told).to_owned(),
                    since: limits.clock.now().saturating_sub(began),
                    is_known: step.origin == Origin::Journal,
                });
            }
            if step.verdict.kind() == Kind::Unresolved && (work.learn)(step.candidate, told) {
                learned = true;
                cancel.cancel();
            }
            if limits.tests.is_some_and(|most| *tests >= most) {
                is_spent = true;
                cancel.cancel();
            }
            if (limits.stop)() {
                cancel.cancel();
            }
        };
        let engine = Engine::new(&problem, &judges)
            .settings(settings)
            .journal(&mut journal);
        let engine = engine.watch(hear);
        let outcome = match self.goal {
            Goal::Isolate => engine.dd(),
            Goal::Simplify => engine.ddmin(),
        };
        if let Some(error) = trouble {
            return Err(error);
        }
        let Reduction {
            failing,
            passing,
            end,
            ..
        } = match outcome {
            Err(SearchError::NotPassing { verdict }) => {
                return Err(self.not_passing(work.versions, verdict)?);
            }
            // It was over before it began.
            Err(SearchError::Nothing) if self.has_passed => {
                self.end = self.why_over().unwrap_or(End::Cancelled);
                return Ok(Found::Sets {
                    passing: DeltaSet::empty(),
                    failing: DeltaSet::all(work.units),
                });
            }
            Err(SearchError::Nothing) => return Err(self.ended_early()),
            outcome => outcome.map_err(search_error)?,
        };
        match begin {
            Some(Kind::Pass) => self.has_passed = true,
            Some(kind) => return Err(self.not_passing(work.versions, kind)?),
            None if self.has_passed => {}
            None => return Err(self.ended_early()),
        }
        if learned && !is_spent && !(self.limits.stop)() {
            return Ok(Found::Again { passing, failing });
        }
        self.end = match end {
            End::Cancelled if is_spent => End::Tests,
            end => end,
        };
        Ok(Found::Sets { passing, failing })
    }

    /// Why the version without any of the changes is of no use.
    fn not_passing(&self, versions: &dyn Versions, kind: Kind) -> Result<Error, Error> {
        let told = match versions.digest(&DeltaSet::empty())? {
            Ok(digest) => self.memo.get(digest).and_then(|it| it.detail().cloned()),
            Err(why) => Some(why),
        };
        let told = told.unwrap_or_default();
        Ok(match kind {
            Kind::Fail => Error::GoodFails(told),
            _ => Error::GoodUnresolved(reason_in(&told).to_owned()),
        })
    }

    /// Why there is no result: the good version was not seen to pass.
    pub(crate) fn ended_early(&self) -> Error {
        match (self.limits.stop)() {
            true => Error::Interrupted,
            false => Error::Spent,
        }
    }

    /// The time since it began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.limits.clock.now().saturating_sub(self.began)
    }

    /// Why nothing more is to be judged, if so.
    fn why_over(&self) -> Option<End> {
        let Limits { tests, time, .. } = self.limits;
        match () {
            () if (self.limits.stop)() => Some(End::Cancelled),
            () if tests.is_some_and(|most| self.tests >= most) => Some(End::Tests),
            () if time.is_some_and(|most| self.elapsed() >= most) => Some(End::Time),
            () => None,
        }
    }

    /// Whether nothing more is to be judged; then that is how it ended.
    pub(crate) fn is_over(&mut self) -> bool {
        if let (End::Minimal, Some(why)) = (self.end, self.why_over()) {
            self.end = why;
        }
        self.end != End::Minimal
    }

    /// Takes a difference apart: the deltas that pass, and those that fail.
    pub(crate) fn take_apart(
        &mut self,
        difference: &Difference,
    ) -> Result<(DeltaSet, DeltaSet), Error> {
        let names = Names::of(difference);
        let grammars = Grammars::of(difference);
        let fixed = fixed_needs(difference);
        let mut guessed = names.needs(difference)?;
        guessed.extend(difference.files.iter().flat_map(brackets::needs));
        guessed.extend(difference.files.iter().flat_map(brackets::comments));
        guessed.extend(&fixed);
        let mut ends = (DeltaSet::empty(), DeltaSet::all(difference.size()));
        let mut learned = Learned::default();
        let levels = groups::levels(difference);
        for level in &levels {
            if self.is_over() {
                return Ok(ends);
            }
            let guides = Guides {
                names: &names,
                grammars: &grammars,
                learned: &mut learned,
            };
            self.narrow(difference, level, &guessed, Some(guides), &mut ends)?;
        }
        // The finest level is that of single deltas.
        let finest = levels.iter().rev().take(UNGUESSED).rev();
        for level in finest {
            if self.is_over() {
                break;
            }
            self.narrow(difference, level, &fixed, None, &mut ends)?;
        }
        Ok(ends)
    }

    /// Narrows the ends as far as the units of a level allow.
    fn narrow(
        &mut self,
        difference: &Difference,
        level: &Level,
        needs: &[(u64, u64)],
        mut guides: Option<Guides<'_>>,
        ends: &mut (DeltaSet, DeltaSet),
    ) -> Result<(), Error> {
        loop {
            let (passing, failing) = ends.clone();
            let open = failing.minus(&passing);
            let units: Vec<DeltaSet> = level
                .groups
                .iter()
                .map(|group| group.intersection(&open))
                .filter(|unit| !unit.is_empty())
                .collect();
            // A single unit is known to matter: with it fails what passes without it. The ends are
            // seen once in any case.
            if units.len() < 2 && self.has_passed {
                return Ok(());
            }
            let owners = Owners::new(&units);
            let empty = Learned::default();
            let known = guides.as_ref().map_or(&empty, |guides| &*guides.learned);
            let edges = owners.lifted(needs).chain(owners.lifted(&known.lacks));
            let edges = edges.chain(owners.circles(&known.together));
            let graph = Needs::graph(units.len() as u32, edges);
            let versions = Parts {
                difference,
                known: guides.as_ref().map(|it| (it.names, it.grammars)),
                base: &passing,
                all: &failing,
                units: &units,
            };
            let mut learn = |_: &DeltaSet, told: &str| match &mut guides {
                Some(guides) => owners.learn(guides.names, told, guides.learned),
                None => false,
            };
            let work = Work {
                name: level.name,
                problem: Problem::new(units.len() as u64).needs(graph),
                units: units.len() as u64,
                share: open.len() as f64 / difference.size() as f64,
                versions: &versions,
                deltas: &|set| versions.deltas(set).minus(versions.base).len(),
                learn: &mut learn,
            };
            let found = self.search(work)?;
            let (again, passed, failed) = match found {
                Found::Sets { passing, failing } => (false, passing, failing),
                Found::Again { passing, failing } => (true, passing, failing),
            };
            let narrowed = (versions.deltas(&passed), versions.deltas(&failed));
            if let Some(guides) = guides.as_mut().filter(|_| narrowed != *ends) {
                guides.learned.guesses = 0;
            }
            *ends = narrowed;
            if !again {
                return Ok(());
            }
        }
    }
}

/// What deltas need in any case: lines a file, files a place, and comments their ends, where the language
/// has such. Without its end a comment takes in the code behind it, and that would be the answer.
fn fixed_needs(difference: &Difference) -> Vec<(u64, u64)> {
    let within = difference.files.iter().flat_map(FileChange::needs);
    let commented = difference.files.iter();
    let commented = commented.filter(|file| brackets::has_comments(file));
    let comments = commented.flat_map(brackets::comments);
    let all = within.chain(comments);
    all.chain(difference.path_needs()).collect()
}

fn search_error(error: SearchError<Error>) -> Error {
    match error {
        SearchError::Oracle { source, .. } => source,
        other => Error::Search(other.to_string()),
    }
}

/// What saves tests, right or wrong.
struct Guides<'g> {
    names: &'g Names,
    grammars: &'g Grammars,
    learned: &'g mut Learned,
}

/// What failed builds told.
#[derive(Default)]
struct Learned {
    /// Changes that need others.
    lacks: Vec<Lack>,
    /// Changes that come and go together.
    together: Vec<DeltaSet>,
    /// How often in a row it was only places that taught something.
    guesses: u32,
}

/// The units of a level, by their deltas.
struct Owners {
    of: BTreeMap<u64, u32>,
    count: usize,
}

impl Owners {
    fn new(units: &[DeltaSet]) -> Owners {
        let numbered = (0u32..).zip(units);
        Owners {
            of: numbered
                .flat_map(|(number, unit)| unit.iter().map(move |delta| (delta, number)))
                .collect(),
            count: units.len(),
        }
    }

    /// What units need, by what their deltas do. What is not open is there or never will be.
    fn lifted<'o>(&'o self, needs: &'o [(u64, u64)]) -> impl Iterator<Item = (u32, u32)> + 'o {
        let pairs = needs
            .iter()
            .filter_map(|(delta, needed)| Some((*self.of.get(delta)?, *self.of.get(needed)?)));
        pairs.filter(|(one, other)| one != other)
    }

    fn units(&self, deltas: &DeltaSet) -> Vec<u32> {
        let mut found: Vec<u32> = deltas
            .iter()
            .filter_map(|delta| self.of.get(&delta).copied())
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Units that come and go together.
    fn circles<'o>(&'o self, groups: &'o [DeltaSet]) -> impl Iterator<Item = (u32, u32)> + 'o {
        groups.iter().flat_map(|group| {
            let units = self.units(group);
            let next: Vec<u32> = units
                .iter()
                .cycle()
                .skip(1)
                .take(units.len())
                .copied()
                .collect();
            units.into_iter().zip(next)
        })
    }

    /// Remembers what is heard of a version without a verdict; whether that is news for the units.
    fn learn(&self, names: &Names, told: &str, learned: &mut Learned) -> bool {
        let heard = Lesson::of(told);
        let news = |lacks: Vec<Lack>, known: &[Lack]| -> Vec<Lack> {
            let lacks = lacks.into_iter().filter(|lack| !known.contains(lack));
            lacks
                .filter(|lack| self.lifted(std::slice::from_ref(lack)).next().is_some())
                .collect()
        };
        let named = news(heard.lacks, &learned.lacks);
        if !named.is_empty() {
            learned.lacks.extend(named);
            return true;
        }
        let near = news(heard.near, &learned.lacks);
        if !near.is_empty() && learned.guesses < GUESSES {
            learned.guesses += 1;
            learned.lacks.extend(near);
            return true;
        }
        self.learn_names(names, &heard.names.join(" "), &mut learned.together)
    }

    /// Remembers which deltas a message speaks of together.
    fn learn_names(&self, names: &Names, said: &str, learned: &mut Vec<DeltaSet>) -> bool {
        let most = (self.count / 2).max(2);
        let mut together: Vec<usize> = (0..self.count).collect();
        for group in &*learned {
            self.join(&mut together, group);
        }
        let mut is_new = false;
        let named = names.named(said);
        let open = named.filter(|(_, group)| (2..=most).contains(&self.units(group).len()));
        for (_, group) in open.take(LEARNED) {
            if self.join(&mut together, &group) {
                learned.push(group);
                is_new = true;
            }
        }
        is_new
    }

    /// Joins the units of a group; whether they were apart.
    fn join(&self, together: &mut [usize], group: &DeltaSet) -> bool {
        fn root(together: &[usize], mut at: usize) -> usize {
            while together[at] != at {
                at = together[at];
            }
            at
        }
        let mut apart = false;
        let units = self.units(group);
        for pair in units.windows(2) {
            let (one, other) = (
                root(together, pair[0] as usize),
                root(together, pair[1] as usize),
            );
            if one != other {
                together[one] = other;
                apart = true;
            }
        }
        apart
    }
}

/// Versions that are parts of a difference.
struct Parts<'p> {
    difference: &'p Difference,
    /// What is known of names and languages, where that counts.
    known: Option<(&'p Names, &'p Grammars)>,
    /// What every version has.
    base: &'p DeltaSet,
    /// What versions may have.
    all: &'p DeltaSet,
    units: &'p [DeltaSet],
}

impl Parts<'_> {
    fn deltas(&self, set: &DeltaSet) -> DeltaSet {
        let units = set
            .iter()
            .flat_map(|unit| self.units[unit as usize].ranges());
        self.base.union(&units.collect())
    }

    /// What messages on a version tell of its changes.
    fn hear(&self, deltas: &DeltaSet, message: &str) -> Lesson {
        let Some((names, _)) = self.known else {
            return Lesson::default();
        };
        let broken = Broken {
            difference: self.difference,
            names,
            made: deltas.minus(self.base),
            open: self.all.minus(deltas),
            all: deltas.clone(),
        };
        let (lacks, near) = broken.lacks(message);
        let names = match lacks.is_empty() {
            true => names
                .known(message)
                .into_iter()
                .map(str::to_owned)
                .collect(),
            false => Vec::new(),
        };
        Lesson { lacks, near, names }
    }
}

impl Versions for Parts<'_> {
    fn digest(&self, set: &DeltaSet) -> Result<Result<Digest, String>, Error> {
        let deltas = self.deltas(set);
        let changed = self.difference.changed(&deltas)?;
        let malformed = match self.known {
            Some((_, grammars)) => grammars.error_in(self.difference, &deltas, &changed)?,
            None => None,
        };
        if let Some(Malformed { path, line }) = malformed {
            let why = format!("is not well-formed: {}:{line}", path.display());
            return Ok(Err(with_lesson(&why, &self.hear(&deltas, &why))));
        }
        let made = self.difference.tree_of(changed)?;
        Ok(made.map(|(_, digest)| digest).map_err(in_the_way))
    }

    fn judge(
        &self,
        set: &DeltaSet,
        trial: &Trial<'_>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Verdict<String>, Error> {
        let deltas = self.deltas(set);
        let hear = |message: &str| self.hear(&deltas, message);
        let heard: Option<&dyn Fn(&str) -> Lesson> = self.known.is_some().then_some(&hear);
        match self.difference.tree(&deltas)? {
            Ok((tree, _)) => trial.judge(&tree, heard, wanted),
            Err(path) => Ok(Verdict::Unresolved(in_the_way(path))),
        }
    }
}

fn in_the_way(path: PathBuf) -> String {
    format!("does not apply: two files would be at {}", path.display())
}
