//! Experiments: the run is repeated with one value changed, to see whether the failure goes away.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use culprit_classfile::ClassFile;
use culprit_jvm::{Deadline, Job, JobResult, WorkerPool};
use culprit_model::{Outcome, Script, Statement, Tables};
use culprit_program::Program;
use culprit_slice::{NodeId, Origin, Replayed};
use culprit_weave::change::{CHANGE, CHANGE_CLASS, Changeable, InstructionPlace, changeable};
use culprit_wire::{FreshState, LineCheck, Mode};

use crate::Error;
use crate::change::Change;
use crate::expected::{EndedBy, is_expected};

/// An instruction instance that can be changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Spot {
    pub(crate) node: NodeId,
    /// The number of the instruction.
    pub(crate) instruction: u32,
    /// How many times it has been executed then.
    pub(crate) occurrence: u32,
}

/// A change of a run, and its end.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Experiment {
    pub(crate) spot: Spot,
    pub(crate) change: Change,
    /// The passing neighbour that has the new value, by its number.
    pub(crate) neighbour: Option<usize>,
    pub(crate) ended: Ended,
}

/// A change that is to be tried.
pub(crate) struct PlannedChange {
    pub(crate) spot: Spot,
    pub(crate) change: Change,
    /// The passing neighbour that has the new value, by its number.
    pub(crate) neighbour: Option<usize>,
}

/// The end of a changed run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// Nothing failed.
    Passed,
    /// It failed as before.
    Failed,
    /// It failed in another way, or did not end.
    Otherwise,
}

/// The instances of instructions with their numbers of executions.
pub(crate) fn spots(run: &Replayed, nodes: &[NodeId]) -> Vec<Spot> {
    let wanted: HashMap<NodeId, usize> =
        nodes.iter().enumerate().map(|(at, it)| (*it, at)).collect();
    let mut counts: HashMap<u32, u32> = HashMap::new();
    let mut found: Vec<(usize, Spot)> = Vec::new();
    for node in run.graph.nodes() {
        if let Origin::Instruction(instruction) = run.graph.origin(node) {
            let count = counts.entry(instruction).or_default();
            *count += 1;
            if let Some(at) = wanted.get(&node) {
                found.push((
                    *at,
                    Spot {
                        node,
                        instruction,
                        occurrence: *count,
                    },
                ));
            }
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, spot)| spot).collect()
}

/// Classes whose chosen instructions can be changed.
pub(crate) struct Prepared {
    /// What can be changed of an instruction.
    pub(crate) kinds: BTreeMap<u32, Changeable>,
}

/// Writes the classes of some instructions to a folder for the beginning of the class path, such that these can be changed.
pub(crate) fn prepare(
    run: &Replayed,
    spots: &[Spot],
    program: &Program,
    folder: &Path,
) -> Result<Prepared, Error> {
    let mut classes: BTreeMap<String, BTreeMap<InstructionPlace, u32>> = BTreeMap::new();
    for spot in spots {
        if let Some(place) = run.program.place(spot.instruction) {
            let own = InstructionPlace {
                method: place.method,
                descriptor: place.descriptor,
                pc: place.pc,
            };
            classes
                .entry(place.class)
                .or_default()
                .insert(own, spot.instruction);
        }
    }
    let mut kinds = BTreeMap::new();
    for (name, places) in classes {
        let Some(bytes) = program.bytes(&name) else {
            continue;
        };
        let Ok(woven) = ClassFile::parse(&bytes)
            .map_err(culprit_weave::Error::from)
            .and_then(|class| changeable(class, &places))
        else {
            continue;
        };
        write(folder, &name, &woven.bytes)?;
        kinds.extend(woven.kinds);
    }
    write(folder, CHANGE, CHANGE_CLASS)?;
    Ok(Prepared { kinds })
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Error> {
    // The name is that of a class which a JVM has loaded, but the file says so itself.
    let is_plain = name
        .split('/')
        .all(|part| !part.is_empty() && part != ".." && part != ".");
    if !is_plain {
        return Ok(());
    }
    let file: PathBuf = folder.join(format!("{name}.class"));
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(fs::write(file, bytes)?)
}

/// The place for experiments.
pub(crate) struct Laboratory<'a> {
    pub(crate) pool: &'a WorkerPool,
    pub(crate) script: &'a Script,
    pub(crate) program: &'a Program,
    pub(crate) jobs: usize,
    pub(crate) limit: Duration,
    pub(crate) deadline: Deadline,
    /// True for the stack trace of a run that failed as before.
    pub(crate) is_same: &'a (dyn Fn(&str) -> bool + Sync),
}

impl Laboratory<'_> {
    /// Makes experiments, until the deadline.
    pub(crate) fn run(&self, planned: &[PlannedChange]) -> Vec<Experiment> {
        let ended = self.each(planned, |it| self.experiment(it));
        let ended = planned.iter().zip(ended);
        ended
            .filter_map(|(planned, ended)| {
                Some(Experiment {
                    spot: planned.spot,
                    change: planned.change.clone(),
                    neighbour: planned.neighbour,
                    ended: ended?,
                })
            })
            .collect()
    }

    /// What becomes of each thing that is to be tried, begun in this order; nothing for those that the deadline left out, and
    /// after a first one that came to nothing.
    pub(crate) fn each<T: Sync, R: Send>(
        &self,
        things: &[T],
        of: impl Fn(&T) -> Option<R> + Sync,
    ) -> Vec<Option<R>> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(thing) = things.get(at).filter(|_| !self.deadline.is_over())
                        else {
                            break;
                        };
                        let Some(result) = of(thing) else {
                            break;
                        };
                        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                        done.push((at, result));
                    }
                });
            }
        });
        let mut results: Vec<Option<R>> = things.iter().map(|_| None).collect();
        for (at, result) in done.into_inner().unwrap_or_else(PoisonError::into_inner) {
            results[at] = Some(result);
        }
        results
    }

    /// True if nothing fails in the run of a script, also in classes that are loaded anew; nothing if it cannot be run any
    /// more.
    pub(crate) fn passes(&self, script: &Script) -> Option<bool> {
        let statements: Vec<&Statement> = script.statements.iter().collect();
        let tables = || Arc::clone(&script.tables);
        let first = self.ended(tables(), &statements, FreshState::Reset)?;
        Some(match first {
            Ended::Passed => {
                self.ended(tables(), &statements, FreshState::NewLoader)? == Ended::Passed
            }
            _ => false,
        })
    }

    /// True if the script fails as before with nothing changed; otherwise no experiment means anything.
    pub(crate) fn fails_unchanged(&self) -> bool {
        let statements: Vec<&Statement> = self.script.statements.iter().collect();
        let tables = Arc::clone(&self.script.tables);
        self.ended(tables, &statements, FreshState::NewLoader) == Some(Ended::Failed)
    }

    /// Runs the script with one change; nothing if that is not possible any more. A run that passes may owe it to
    /// what an earlier one has left: it must pass again in classes that are loaded anew.
    fn experiment(&self, planned: &PlannedChange) -> Option<Ended> {
        let Some((tables, first)) = planned.change.chosen(self.script, planned.spot) else {
            return Some(Ended::Otherwise);
        };
        let tables = Arc::new(tables);
        let mut statements: Vec<&Statement> = vec![&first];
        statements.extend(&self.script.statements);
        match self.ended(Arc::clone(&tables), &statements, FreshState::Reset)? {
            Ended::Passed => self.ended(tables, &statements, FreshState::NewLoader),
            ended => Some(ended),
        }
    }

    fn ended(
        &self,
        tables: Arc<Tables>,
        statements: &Vec<&Statement>,
        fresh: FreshState,
    ) -> Option<Ended> {
        let expects = |at: u64, trace: &str| {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            let ended = EndedBy { at, trace };
            is_expected(&tables, statements, self.program, &ended)
        };
        let answer = self.pool.run(&Job {
            mode: Mode::Plain,
            fresh,
            multi_threaded: false,
            lines: LineCheck::Ignore,
            tables: Arc::clone(&tables),
            source: statements,
            limit: self.limit,
            deadline: self.deadline.clone(),
        });
        Some(match answer.ok()? {
            JobResult::Ran { outcome, .. } => match outcome {
                Outcome::InSync { .. } => Ended::Passed,
                Outcome::Threw { trace, .. } if (self.is_same)(&trace) => Ended::Failed,
                Outcome::Threw { at, trace } if expects(at, &trace) => Ended::Passed,
                _ => Ended::Otherwise,
            },
            JobResult::Unresolved(_) => Ended::Otherwise,
        })
    }
}
