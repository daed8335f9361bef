//! The way from a minimal script that fails to the places that it comes from.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use culprit_jvm::{Deadline, WorkingFolder};
use culprit_model::{Owner, Script};
use culprit_program::{PlainWorkers, Program, Sources};
use culprit_slice::{Criterion, NodeId, Origin, Place, Replayed};
use culprit_trace::Recording;
use culprit_weave::change::Changeable;

use crate::Error;
use crate::chain::{Evidence, Link, chain, remove};
use crate::experiment::{Change, Experiment, Laboratory, Spot, prepare, spots};
use crate::rank::{Distances, Suspect, suspects};
use crate::source::{Excerpt, SourceFiles, excerpts};
use crate::tracing::{ScriptToTrace, TraceLimits};

/// The time for all experiments, and for one of them.
const EXPERIMENTS: Duration = Duration::from_secs(4);
const ONE: Duration = Duration::from_secs(1);

/// The instructions whose values are changed, and how many times each.
const MOST_SPOTS: usize = 600;
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
    /// The methods that the failure depended on, the likeliest first.
    pub suspects: Vec<Suspect>,
    /// Source lines of the likeliest methods and of those on the chain.
    pub excerpts: Vec<Excerpt>,
    /// Lines of the program that the minimal run executed, and those of them that the failure depended on.
    pub lines_run: usize,
    pub lines_in_slice: usize,
    /// Experiments that were made.
    pub experiments: usize,
    /// The reason why the end of the run is missing in the trace.
    pub partial: Option<String>,
}

impl FailingScript<'_> {
    /// Traces the script, and makes experiments with the values that its failure depended on.
    pub fn locate(&self) -> Result<Located, Error> {
        let (run, stack) = self.trace()?;
        let criterion = Criterion::Exception;
        let is_own = |place: &Place| Owner::of(&place.class) == Owner::Other;
        let distances = Distances::of(&run, &criterion, &is_own);
        let nodes = distances.nearest(&run, EACH);
        let spots = spots(&run, &nodes[..nodes.len().min(MOST_SPOTS)]);
        let experiments = self.experiments(&run, &spots)?;
        let slice = run.backward(&criterion).nodes;
        let suspects = suspects(&run, &distances, &experiments, &stack);
        let mut chain = chain(&run, &criterion, &distances, &experiments, &suspects);
        let mut files = SourceFiles::of(Sources::of(self.program.class_path()));
        add_code(&mut chain, &mut files);
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
            suspects,
            excerpts,
            lines_run: lines(&run, run.graph.nodes(), &is_own),
            lines_in_slice: lines(&run, slice.iter().copied(), &is_own),
            experiments: experiments.len(),
            partial: run.partial,
        })
    }

    /// The traced run, and the stack trace of its failure.
    fn trace(&self) -> Result<(Replayed, String), Error> {
        let run = ScriptToTrace {
            script: self.script,
            recording: self.recording,
            workers: self.workers,
            class_path: self.class_path,
            folder: self.folder.clone(),
            limits: TraceLimits::default(),
            deadline: self.deadline,
        };
        let run = run.trace()?;
        match run.threw().map(str::to_owned) {
            Some(trace) if (self.is_same)(&trace) => Ok((run.replayed, trace)),
            Some(trace) => {
                let first = trace.lines().next().unwrap_or_default();
                Err(Error::OtherFailure(first.to_owned()))
            }
            None => Err(Error::OtherFailure("nothing is thrown".to_owned())),
        }
    }

    fn experiments(&self, run: &Replayed, spots: &[Spot]) -> Result<Vec<Experiment>, Error> {
        let changed: PathBuf = self.workers.jvm.scratch.join("changed");
        let prepared = prepare(run, spots, self.program, &changed)?;
        let mut class_path = vec![changed.display().to_string()];
        class_path.extend(self.class_path.iter().cloned());
        let pool = self
            .workers
            .pool(self.recording, class_path, self.folder.clone(), self.jobs)?;
        let planned = spots.iter().flat_map(|spot| {
            let kind = prepared.kinds.get(&spot.instruction);
            changes(kind).iter().map(|change| (*spot, *change))
        });
        let most = self.most_experiments.unwrap_or(u64::MAX);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let planned: Vec<(Spot, Change)> = planned.take(most).collect();
        let laboratory = Laboratory {
            pool: &pool,
            script: self.script,
            jobs: self.jobs,
            limit: ONE,
            deadline: &self.deadline.within(EXPERIMENTS),
            is_same: self.is_same,
        };
        Ok(match laboratory.fails_unchanged() {
            true => laboratory.run(&planned),
            false => Vec::new(),
        })
    }
}

/// Adds the lines of the source files to the links of a chain.
fn add_code(chain: &mut [Link], files: &mut SourceFiles) {
    for link in chain {
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

/// The changes that are tried with an instruction.
fn changes(kind: Option<&Changeable>) -> &'static [Change] {
    match kind {
        None => &[],
        Some(Changeable::Branch) => &[Change::Flip],
        Some(Changeable::Value(_)) => &[
            Change::Put(0),
            Change::Put(1),
            Change::Add(1),
            Change::Add(-1),
            Change::Negate,
        ],
    }
}

/// The number of lines of the program's own code that some nodes are in.
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
    let lines: BTreeSet<(String, Option<u16>)> = places
        .filter(|place| is_own(place))
        .map(|place| (place.class, place.line))
        .collect();
    lines.len()
}
