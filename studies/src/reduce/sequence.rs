//! A real sequence of calls: the script of a recorded crash, on workers that run parts of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use culprit_jvm::{Deadline, Interrupt, Jdk, JdkLocations, Output, Sandbox, WorkingFolder};
use culprit_minimize::{Script, Stage};
use culprit_program::{Environment, PlainWorkers, Program, WorkerJvm, class_path, matching_jdk};
use culprit_reduce::VerdictKind;
use culprit_scripts::{ScriptRun, extract, needs};
use culprit_signature::{Grade, Signature, Thrown};
use culprit_trace::{Recording, RunFolder};
use culprit_wire::FreshState;

/// As `culprit debug` has them.
const LIMIT: Duration = Duration::from_secs(10);
const HEAP: u64 = 1024;

/// The material of workers.
pub struct Workers {
    /// The library of the agent.
    pub agent: PathBuf,
    /// A folder for files on the way.
    pub scratch: PathBuf,
    pub interrupt: Interrupt,
}

/// A recorded crash. Its calls are numbered from 0; the last one fails.
pub struct Sequence {
    pub name: String,
    script: Script,
    stage: Stage,
    signature: Signature,
    /// The grade of what counts as the failure.
    enough: Grade,
    needs: Vec<Vec<usize>>,
}

impl Sequence {
    /// Opens the folder of a run that `culprit record --contents` made. `None` where that has no crash, or no
    /// script can be made of it, or the script does not fail alike: then there is nothing to reduce.
    pub fn open(name: &str, run: &Path, workers: &Workers) -> anyhow::Result<Option<Sequence>> {
        for path in RunFolder::open(run)?.recordings {
            let recording = Recording::open(&path)?;
            for failure in recording.failures() {
                let Some(thrown) = Thrown::parse(&failure.stack) else {
                    continue;
                };
                let signature = Signature::of(&thrown);
                if signature.is_assertion() {
                    continue;
                }
                let Ok(extracted) = extract(&recording, failure) else {
                    continue;
                };
                let script = extracted.script;
                let mut sequence = Sequence {
                    name: name.to_owned(),
                    needs: needs(&script),
                    stage: stage(&recording, workers)?,
                    script,
                    signature,
                    enough: Grade::L3,
                };
                // As in `culprit debug`: the very message if all calls together have it, else its kind.
                let all: Vec<u32> = (0..sequence.size()).collect();
                if sequence.judge(&all)? != VerdictKind::Fail {
                    sequence.enough = Signature::ENOUGH;
                }
                let fails = sequence.judge(&all)? == VerdictKind::Fail;
                return Ok(fails.then_some(sequence));
            }
        }
        Ok(None)
    }

    /// The time of all calls.
    pub fn pace(&self) -> anyhow::Result<Duration> {
        let all: Vec<u32> = (0..self.size()).collect();
        let start = Instant::now();
        self.judge(&all)?;
        Ok(start.elapsed())
    }

    /// The number of calls.
    pub fn size(&self) -> u32 {
        self.needs.len() as u32
    }

    /// Each call with each earlier one that it needs.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let each = self.needs.iter().enumerate();
        each.flat_map(|(call, needs)| needs.iter().map(move |need| (call as u32, *need as u32)))
    }

    /// Calls and all that they need, in order.
    pub fn completed(&self, calls: &[u32]) -> Vec<u32> {
        let mut found: BTreeSet<u32> = calls.iter().copied().collect();
        let mut open: Vec<u32> = calls.to_vec();
        while let Some(call) = open.pop() {
            for need in &self.needs[call as usize] {
                if found.insert(*need as u32) {
                    open.push(*need as u32);
                }
            }
        }
        found.into_iter().collect()
    }

    /// Runs some of the calls.
    pub fn judge(&self, calls: &[u32]) -> anyhow::Result<VerdictKind> {
        let statements = calls.iter().map(|at| &self.script.statements[*at as usize]);
        let tables = &self.script.tables;
        let run = self.stage.run(tables, statements, FreshState::Reset)?;
        ensure!(!self.stage.deadline().is_interrupted(), "interrupted");
        Ok(match run {
            ScriptRun::Done => VerdictKind::Pass,
            ScriptRun::Threw { trace, .. } => match Thrown::parse(&trace) {
                Some(thrown) if self.signature.grade(&thrown) >= Some(self.enough) => {
                    VerdictKind::Fail
                }
                _ => VerdictKind::Unresolved,
            },
            ScriptRun::Refused { .. } | ScriptRun::Unresolved(_) => VerdictKind::Unresolved,
        })
    }
}

fn stage(recording: &Recording, workers: &Workers) -> anyhow::Result<Stage> {
    let jdks = Jdk::all(&JdkLocations::of_process());
    let Some(jdk) = matching_jdk(recording, &jdks) else {
        bail!("no JDK like the one that was recorded");
    };
    let program = Program::open(&class_path(recording.start()), &jdk)?;
    let class_path = program
        .class_path()
        .map(|path| path.display().to_string())
        .collect();
    let plain = PlainWorkers {
        jvm: WorkerJvm {
            jdk,
            agent: workers.agent.clone(),
            scratch: workers.scratch.clone(),
            heap: HEAP,
            sandbox: Some(Sandbox::default()),
            output: Output::Kept,
            interrupt: Some(workers.interrupt.clone()),
        },
        environment: Environment::none(),
        memory: Vec::new(),
    };
    Ok(Stage::new(
        plain.pool(recording, class_path, WorkingFolder::Empty, 1)?,
        LIMIT,
        Deadline::never().unless(&workers.interrupt),
    ))
}
