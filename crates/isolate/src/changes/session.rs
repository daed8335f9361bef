//! A session: commits, then files, blocks of code, hunks and lines of what the last commits changed, each
//! level with what the one before left. Its searches are the oracle *changes* of the driver.
//!
//! At each level but the last, units bring what they need: the declarations of names that they use,
//! the other end of a bracket, and what a failed build spoke of together; and what is not well-formed is
//! not tested. Then come hunks and lines without all that, so that the result is 1-minimal whatever was
//! guessed before.

use std::collections::BTreeMap;
use std::path::PathBuf;

use culprit_reduce::{
    Artefact, ArtefactOracle, DeltaSet, Driver, Error as SearchError, Goal, Needs, Problem, Scale,
    Schedule, Search, SearchEnd, SearchResult, Verdict, VerdictKind, Wanted,
};

use super::Error;
use super::brackets;
use super::complaints::{Broken, Lack};
use super::difference::{Difference, FileChange};
use super::grammars::{Grammars, Malformed};
use super::groups::{self, DeltaLevel};
use super::names::EditNames;
use super::tree::FileTree;
use super::trial::{Lesson, Trial, reason_in, with_lesson};

/// Names of one message that are learned from, at most.
const LEARNED: usize = 12;

/// How often in a row changes are joined only because they are next to each other.
const GUESSES: u32 = 4;

/// So many of the finest levels are decided once more without what was guessed.
const UNGUESSED: usize = 2;

/// An isolation under way.
pub(crate) struct Session<'a> {
    pub(crate) goal: Goal,
    pub(crate) driver: &'a Driver<'a>,
    pub(crate) trial: Trial<'a>,
    /// Everything that verdicts depend on besides the candidate.
    pub(crate) key: String,
    /// The last lines that the test printed on the bad version.
    pub(crate) printed: String,
    /// Whether the version without any change was seen to pass.
    pub(crate) has_passed: bool,
}

/// One search among the units of a level.
pub(crate) struct LevelSearch<'l> {
    pub(crate) name: &'static str,
    pub(crate) problem: Problem,
    /// What is left to decide when the search begins, as a share of the whole.
    pub(crate) share: f64,
    /// Learns from the detail of a version without a verdict; whether there is something new.
    pub(crate) learn: &'l mut dyn FnMut(&str) -> bool,
}

impl Session<'_> {
    /// Runs one search to its end.
    pub(crate) fn search<O: ArtefactOracle<Error = Error>>(
        &mut self,
        level: LevelSearch<'_>,
        oracle: &O,
    ) -> Result<SearchResult, Error> {
        let key = format!("{}\n{}", self.key, level.name);
        let problem = level.problem.key(key);
        let all = problem.all().clone();
        let search = Search {
            name: level.name,
            problem,
            goal: self.goal,
            schedule: Schedule::default(),
            scale: Scale {
                whole: all.len(),
                best: all.len(),
                extent: level.share,
            },
            is_sequential: false,
            learn: Some(level.learn),
        };
        let found = match self.driver.search(search, oracle) {
            Err(SearchError::NotPassing { verdict }) => {
                return Err(self.not_passing(oracle, verdict)?);
            }
            // It was over before it began.
            Err(SearchError::Nothing) if self.has_passed => {
                return Ok(SearchResult {
                    passing: DeltaSet::empty(),
                    failing: all,
                    passing_end: None,
                    end: self.driver.end(),
                    has_learned: false,
                });
            }
            Err(SearchError::Nothing) => return Err(self.ended_early()),
            outcome => outcome.map_err(search_error)?,
        };
        match found.passing_end {
            Some(VerdictKind::Pass) => self.has_passed = true,
            Some(kind) => return Err(self.not_passing(oracle, kind)?),
            None if self.has_passed => {}
            None => return Err(self.ended_early()),
        }
        Ok(found)
    }

    /// Why the version without any of the changes is of no use.
    fn not_passing<O: ArtefactOracle<Error = Error>>(
        &self,
        oracle: &O,
        kind: VerdictKind,
    ) -> Result<Error, Error> {
        let artefact = oracle.make(&DeltaSet::empty())?;
        let known = self.driver.memo().get(artefact.digest);
        let told = match (known, artefact.content) {
            (Some(known), _) => known.detail().cloned().unwrap_or_default(),
            (None, Err(flaw)) => flaw,
            (None, Ok(_)) => String::new(),
        };
        Ok(match kind {
            VerdictKind::Fail => Error::GoodFails {
                how: told,
                printed: self.printed.clone(),
            },
            _ => Error::GoodUnresolved(reason_in(&told).to_owned()),
        })
    }

    /// Why there is no result: the good version was not seen to pass.
    pub(crate) fn ended_early(&self) -> Error {
        match self.driver.is_over() && self.driver.end() == SearchEnd::Cancelled {
            true => Error::Interrupted,
            false => Error::Spent,
        }
    }

    /// Takes a difference apart: the deltas that pass, and those that fail.
    pub(crate) fn take_apart(
        &mut self,
        difference: &Difference,
    ) -> Result<(DeltaSet, DeltaSet), Error> {
        let names = EditNames::of(difference);
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
            if self.driver.is_over() {
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
            if self.driver.is_over() {
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
        level: &DeltaLevel,
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
            let trial = self.trial;
            let parts = PartialVersions {
                trial: &trial,
                difference,
                known: guides.as_ref().map(|it| (it.names, it.grammars)),
                base: &passing,
                all: &failing,
                units: &units,
            };
            let mut learn = |told: &str| match &mut guides {
                Some(guides) => owners.learn(guides.names, told, guides.learned),
                None => false,
            };
            let search = LevelSearch {
                name: level.name,
                problem: Problem::new(units.len() as u64).needs(graph),
                share: open.len() as f64 / difference.size() as f64,
                learn: &mut learn,
            };
            let found = self.search(search, &parts)?;
            let narrowed = (parts.deltas(&found.passing), parts.deltas(&found.failing));
            if let Some(guides) = guides.as_mut().filter(|_| narrowed != *ends) {
                guides.learned.guesses = 0;
            }
            *ends = narrowed;
            if !found.has_learned {
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
        SearchError::Journal(error) => error.into(),
        other => Error::Search(other.to_string()),
    }
}

/// What saves tests, right or wrong.
struct Guides<'g> {
    names: &'g EditNames,
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
    fn learn(&self, names: &EditNames, told: &str, learned: &mut Learned) -> bool {
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
    fn learn_names(&self, names: &EditNames, said: &str, learned: &mut Vec<DeltaSet>) -> bool {
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
struct PartialVersions<'p> {
    trial: &'p Trial<'p>,
    difference: &'p Difference,
    /// What is known of names and languages, where that counts.
    known: Option<(&'p EditNames, &'p Grammars)>,
    /// What every version has.
    base: &'p DeltaSet,
    /// What versions may have.
    all: &'p DeltaSet,
    units: &'p [DeltaSet],
}

impl PartialVersions<'_> {
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

/// A part of a difference.
struct PartialVersion {
    deltas: DeltaSet,
    tree: FileTree,
}

impl ArtefactOracle for PartialVersions<'_> {
    type Content = PartialVersion;
    type Error = Error;

    fn make(&self, set: &DeltaSet) -> Result<Artefact<PartialVersion>, Error> {
        let deltas = self.deltas(set);
        let size = deltas.minus(self.base).len();
        // A version that is not tested needs no digest but that of its deltas.
        let own = deltas.digest();
        let flawed = |why: String| Artefact {
            digest: own,
            size,
            content: Err(why),
        };
        let changed = self.difference.changed(&deltas)?;
        let malformed = match self.known {
            Some((_, grammars)) => grammars.error_in(self.difference, &deltas, &changed)?,
            None => None,
        };
        if let Some(Malformed { path, line }) = malformed {
            let why = format!("is not well-formed: {}:{line}", path.display());
            return Ok(flawed(with_lesson(&why, &self.hear(&deltas, &why))));
        }
        Ok(match self.difference.tree_of(changed)? {
            Ok((tree, digest)) => Artefact {
                digest,
                size,
                content: Ok(PartialVersion { deltas, tree }),
            },
            Err(path) => flawed(in_the_way(path)),
        })
    }

    fn judge(&self, part: &PartialVersion, wanted: &Wanted<'_>) -> Result<Verdict<String>, Error> {
        let hear = |message: &str| self.hear(&part.deltas, message);
        let heard: Option<&dyn Fn(&str) -> Lesson> = self.known.is_some().then_some(&hear);
        self.trial.judge(&part.tree, heard, &|| wanted.still())
    }
}

fn in_the_way(path: PathBuf) -> String {
    format!("does not apply: two files would be at {}", path.display())
}
