//! The way from a minimal script that fails to the places that it comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use culprit_jvm::{Deadline, WorkingFolder};
use culprit_model::script::Missing;
use culprit_model::{Owner, Script};
use culprit_program::{PlainWorkers, Program, Sources};
use culprit_slice::{Criterion, NodeId, Origin, Place, Replayed};
use culprit_trace::Recording;
use culprit_weave::change::Changeable;

use crate::Error;
use crate::chain::{Evidence, Link, chain, omissions, remove};
use crate::change::{Change, Replacement};
use crate::experiment::{Ended, Experiment, Laboratory, PlannedChange, Spot, prepare, spots};
use crate::neighbour::{Difference, Neighbour, Neighbours, PassingValues, neighbours};
use crate::rank::{Distances, Suspect, suspects};
use crate::source::{Excerpt, SourceFiles, excerpts};
use crate::tracing::{ScriptToTrace, TraceLimits, TracedRun, Tracer};

/// The time for all experiments, and for one of them.
const EXPERIMENTS: Duration = Duration::from_secs(4);
const ONE: Duration = Duration::from_secs(1);

/// The limits of a trace. Its graph takes some ten times the memory.
const LIMITS: TraceLimits = TraceLimits {
    time: Duration::from_secs(20),
    bytes: 64 << 20,
};

/// The time to look for passing neighbours.
const NEIGHBOURS: Duration = Duration::from_secs(2);

/// The instructions whose values are changed, and how many times each.
const MOST_SPOTS: usize = 600;

/// The instructions outside of the slice that are looked at for branches, and the time for experiments with these.
const MOST_OUTSIDE: usize = 400;
const OMISSIONS: Duration = Duration::from_secs(2);

const EACH: usize = 3;

/// A script that fails, and how it is run.
pub struct FailingScript<'a> {
    pub script: &'a Script,
    pub program: &'a Program,
    pub recording: &'a Recording,
    pub workers: &'a PlainWorkers,
    pub class_path: &'a [String],
    pub folder: WorkingFolder,
    /// Experiments that run at the same time.
    pub jobs: usize,
    /// The most experiments, if they are limited.
    pub most_experiments: Option<u64>,
    pub deadline: &'a Deadline,
    /// True for the stack trace of a run that fails in the same way.
    pub is_same: &'a (dyn Fn(&str) -> bool + Sync),
}

/// Where a failure comes from.
#[derive(Clone, PartialEq, Debug)]
pub struct Located {
    /// From the failure back.
    pub chain: Vec<Link>,
    /// Branches that the failure did not depend on, but with which it goes away if they go the other way: code that did not
    /// run decides. The last ones first.
    pub omissions: Vec<Link>,
    /// The methods that the failure depended on, the likeliest first.
    pub suspects: Vec<Suspect>,
    /// Source lines of the likeliest methods and of those on the chain.
    pub excerpts: Vec<Excerpt>,
    /// Lines of the program that the minimal run executed, and those of them that the failure depended on.
    pub lines_run: usize,
    pub lines_in_slice: usize,
    /// Runs with a difference.
    pub experiments: usize,
    /// Differences with which nothing fails.
    pub neighbours: Vec<Difference>,
    /// The reason why dependences are missing in the trace, if some are.
    pub partial: Option<String>,
    /// The reason why there are no experiments.
    pub untried: Option<&'static str>,
}

impl FailingScript<'_> {
    /// Traces the script, and makes experiments with the values that its failure depended on.
    pub fn locate(&self) -> Result<Located, Error> {
        let (tracer, traced) = self.to_trace().traced()?;
        let partial = traced.partial();
        let (run, stack) = self.failed(traced)?;
        let is_own = |place: &Place| Owner::of(&place.class) == Owner::Other;
        let mut criterion = Criterion::Exception;
        let mut distances = Distances::of(&run, &criterion, &is_own);
        let missing = self.script.missing().filter(|_| run.exception.is_some());
        if let Some(missing) = missing {
            criterion = Criterion::Nodes(match missing {
                Missing::Last => run.decisions(None, &is_own),
                Missing::Of(statement) => run.decisions(Some(statement), &is_own),
            });
            distances = Distances::of(&run, &criterion, &is_own);
        }
        let nodes = distances.nearest(&run, EACH);
        let others = distances.outside(&run, EACH);
        let places = Places {
            inside: spots(&run, &nodes[..nodes.len().min(MOST_SPOTS)]),
            outside: spots(&run, &others[..others.len().min(MOST_OUTSIDE)]),
        };
        let Tried {
            neighbours,
            experiments,
            untried,
        } = self.experiments(&run, &places, &tracer)?;
        let decisions = run.nodes(&criterion);
        if let Some(decisive) = decisive(&decisions, &experiments).filter(|_| missing.is_some()) {
            criterion = Criterion::Nodes(vec![decisive]);
        }
        let slice = run.backward(&criterion).nodes;
        let suspects = suspects(&run, &distances, &experiments, &stack);
        let passing = PassingValues::of(&run, &neighbours.found, &places.inside);
        let mut chain = chain(
            &run,
            &criterion,
            &distances,
            &experiments,
            &suspects,
            &passing,
        );
        let is_decision = |node| missing.is_some() && decisions.contains(&node);
        let is_omission = |node| distances.at(node).is_infinite() || is_decision(node);
        let mut omissions = omissions(&run, &experiments, &is_omission);
        let mut files = SourceFiles::of(Sources::of(self.program.class_path()));
        let is_on_chain = |link: &Link| {
            let mut places = chain.iter().map(|it| (&it.place.class, it.place.line));
            places.any(|place| place == (&link.place.class, link.place.line))
        };
        omissions.retain(|link| !is_on_chain(link));
        add_code(chain.iter_mut().chain(&mut omissions), &mut files);
        remove_bare(&mut chain);
        let excerpts = excerpts(
            &run,
            &distances,
            &experiments,
            &suspects,
            &chain,
            &mut files,
        );
        Ok(Located {
            chain,
            omissions,
            suspects,
            excerpts,
            lines_run: lines(&run, run.graph.nodes(), &is_own),
            lines_in_slice: lines(&run, slice.iter().copied(), &is_own),
            experiments: neighbours.runs + experiments.len(),
            neighbours: neighbours
                .found
                .into_iter()
                .map(|it| it.difference)
                .collect(),
            partial,
            untried,
        })
    }

    fn to_trace(&self) -> ScriptToTrace<'_> {
        ScriptToTrace {
            script: self.script,
            recording: self.recording,
            workers: self.workers,
            class_path: self.class_path,
            folder: self.folder.clone(),
            limits: LIMITS,
            deadline: self.deadline,
        }
    }

    /// A traced run that failed as it should, and the stack trace of its failure.
    fn failed(&self, run: TracedRun) -> Result<(Replayed, String), Error> {
        match run.threw().map(str::to_owned) {
            Some(trace) if (self.is_same)(&trace) => Ok((run.replayed, trace)),
            Some(trace) => {
                let first = trace.lines().next().unwrap_or_default();
                Err(Error::OtherFailure(first.to_owned()))
            }
            None => Err(Error::OtherFailure("nothing is thrown".to_owned())),
        }
    }

    /// Looks for passing neighbours, and changes values of the run: to those of neighbours, and to usual ones.
    fn experiments(
        &self,
        run: &Replayed,
        places: &Places,
        tracer: &Tracer<'_>,
    ) -> Result<Tried, Error> {
        if places.inside.is_empty() {
            // There is no chain that they could confirm.
            return Ok(Tried::default());
        }
        let changed: PathBuf = self.workers.jvm.scratch.join("changed");
        let all: Vec<Spot> = places
            .inside
            .iter()
            .chain(&places.outside)
            .copied()
            .collect();
        let prepared = prepare(run, &all, self.program, &changed)?;
        let mut class_path = vec![changed.display().to_string()];
        class_path.extend(self.class_path.iter().cloned());
        // Two pools cannot share a folder.
        let mut workers = self.workers.clone();
        workers.jvm.scratch.push("experiments");
        let pool = workers.pool(self.recording, class_path, self.folder.clone(), self.jobs)?;
        let laboratory = |limit| Laboratory {
            pool: &pool,
            script: self.script,
            program: self.program,
            jobs: self.jobs,
            limit: ONE,
            deadline: self.deadline.within(limit),
            is_same: self.is_same,
        };
        if !laboratory(EXPERIMENTS).fails_unchanged() {
            return Ok(Tried {
                untried: Some(
                    "the run takes long, or ends in another way, if its values can be changed",
                ),
                ..Tried::default()
            });
        }
        let most = self.most_experiments.unwrap_or(u64::MAX);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let neighbours = neighbours(&laboratory(NEIGHBOURS), most, tracer, run, &places.inside);
        let planned = planned(run, &places.inside, &prepared.kinds, &neighbours.found);
        let most = most.saturating_sub(neighbours.runs);
        let mut experiments = laboratory(EXPERIMENTS).run(&planned[..planned.len().min(most)]);
        let most = most.saturating_sub(experiments.len());
        let switched = switched(&places.outside, &prepared.kinds);
        experiments.extend(laboratory(OMISSIONS).run(&switched[..switched.len().min(most)]));
        Ok(Tried {
            neighbours,
            experiments,
            untried: None,
        })
    }
}

/// The last of some nodes that an experiment confirmed.
fn decisive(nodes: &[NodeId], experiments: &[Experiment]) -> Option<NodeId> {
    let passed = experiments.iter().filter(|it| it.ended == Ended::Passed);
    let passed = passed.map(|it| it.spot.node);
    passed.filter(|it| nodes.contains(it)).max()
}

/// The instruction instances that may be changed.
struct Places {
    /// Those that the failure depended on, the nearest first.
    inside: Vec<Spot>,
    /// Others that leave no value, the last first.
    outside: Vec<Spot>,
}

/// Runs with a difference, and their ends.
#[derive(Default)]
struct Tried {
    /// Those with a difference in the script that pass.
    neighbours: Neighbours,
    /// Those with a changed value.
    experiments: Vec<Experiment>,
    /// The reason why there are none.
    untried: Option<&'static str>,
}

/// The changes that are tried, the nearest to the failure first.
fn planned(
    run: &Replayed,
    spots: &[Spot],
    kinds: &BTreeMap<u32, Changeable>,
    neighbours: &[Neighbour],
) -> Vec<PlannedChange> {
    let mut planned: Vec<PlannedChange> = Vec::new();
    for spot in spots {
        let Some(kind) = kinds.get(&spot.instruction) else {
            continue;
        };
        let own = Replacement::of(run, spot.node).map(Change::Put);
        let found = neighbours.iter().enumerate().filter_map(|(number, it)| {
            let value = it.value(run, *spot)?.clone();
            Some((Change::to(value, *kind)?, Some(number)))
        });
        let usual = Change::usual(*kind)
            .into_iter()
            .map(|change| (change, None));
        let first = planned.len();
        for (change, neighbour) in found.chain(usual) {
            let mut known = planned[first..].iter().map(|it| &it.change).chain(&own);
            if !known.any(|it| *it == change) {
                planned.push(PlannedChange {
                    spot: *spot,
                    change,
                    neighbour,
                });
            }
        }
    }
    planned
}

/// Branches that go the other way.
fn switched(spots: &[Spot], kinds: &BTreeMap<u32, Changeable>) -> Vec<PlannedChange> {
    let is_branch = |spot: &&Spot| kinds.get(&spot.instruction) == Some(&Changeable::Branch);
    let branches = spots.iter().filter(is_branch);
    let flipped = branches.map(|spot| PlannedChange {
        spot: *spot,
        change: Change::Flip,
        neighbour: None,
    });
    flipped.collect()
}

/// Adds the lines of the source files to the links of a chain.
fn add_code<'l>(links: impl Iterator<Item = &'l mut Link>, files: &mut SourceFiles) {
    for link in links {
        let file = link.place.source.as_deref();
        let line = link.place.line;
        link.code = line.and_then(|line| files.line(&link.place.class, file, line));
    }
}

/// Removes the links of lines that tell nothing.
fn remove_bare(chain: &mut Vec<Link>) {
    for at in (0..chain.len()).rev() {
        if chain[at].evidence == Evidence::Related && is_bare(&chain[at]) {
            remove(chain, at);
        }
    }
}

/// True for a line of brackets and keywords alone, such as the end of a `finally`.
fn is_bare(link: &Link) -> bool {
    let is_word = |c: char| c.is_alphanumeric();
    let code = link.code.as_deref();
    code.is_some_and(|code| {
        let words = code.split(|c: char| !is_word(c));
        words
            .filter(|word| !word.is_empty())
            .all(|word| BARE.contains(&word))
    })
}

/// The keywords of lines that tell nothing.
const BARE: [&str; 4] = ["else", "finally", "try", "do"];

/// The number of lines of the program's own code that some nodes are in; of methods where there are no line numbers.
fn lines(
    run: &Replayed,
    nodes: impl Iterator<Item = NodeId>,
    is_own: &dyn Fn(&Place) -> bool,
) -> usize {
    let numbers = nodes.filter_map(|node| match run.graph.origin(node) {
        Origin::Instruction(number) => Some(number),
        Origin::Statement(_) => None,
    });
    let numbers: BTreeSet<u32> = numbers.collect();
    let places = numbers
        .into_iter()
        .filter(|number| !run.program.is_library(*number))
        .filter_map(|number| run.program.place(number));
    let lines: BTreeSet<(String, Option<u16>, Option<String>)> = places
        .filter(|place| is_own(place))
        .map(|place| match place.line {
            Some(line) => (place.class, Some(line), None),
            None => (place.class, None, Some(place.method + &place.descriptor)),
        })
        .collect();
    lines.len()
}
