//! Small candidates a second: one scenario of a program of twenty classes, run again and again by
//! one worker, each time with the static state of the start.
//!
//! The result of the program depends on all of its static state, so a candidate that finds
//! anything left of the one before it is out of sync, and that ends the measurement.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use culprit_jvm::{Deadline, Jdk, Job, JobResult, Output, Sandbox, WorkerPool};
use culprit_model::scenario::Tables;
use culprit_model::{Outcome, Step};
use culprit_program::WorkerJvm;
use culprit_replay::{Replayer, lift, subject};
use culprit_trace::{Recording, RunFolder};
use culprit_wire::{FreshState, LineCheck, Mode, Subject};

use crate::process::{Outcome as Ended, Run, family_cpu_time, remove, tool, words};

const SOURCES: &str = "studies/java/bench";
const OBSERVED: &str = "depot.**";
/// Classes that are observed.
pub const CLASSES: usize = 20;
/// Megabytes of a worker's heap.
const HEAP: u64 = 256;
/// A candidate takes less than a millisecond, so one that takes this long is broken.
const LIMIT: Duration = Duration::from_secs(30);

/// The way in which a candidate gets the initial static state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Classes are initialised again, in place.
    Reset,
    /// Classes are loaded anew, in the same JVM.
    NewLoader,
    NewJvm,
}

impl Way {
    pub const EACH: [Way; 3] = [Way::Reset, Way::NewLoader, Way::NewJvm];

    pub fn label(self) -> &'static str {
        match self {
            Way::Reset => "initialised again in place",
            Way::NewLoader => "new class loader",
            Way::NewJvm => "new JVM",
        }
    }
}

/// The duration of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    pub rounds: usize,
    /// Time to run before the clock starts, which a new JVM does not have.
    pub warm_up: Duration,
    pub timed: Duration,
}

/// The result of one round of one way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pace {
    /// Candidates while the clock ran.
    pub runs: u64,
    /// Candidates a second.
    pub rate: f64,
    /// Candidates a second of processor time, of the worker and the host together, with what the
    /// JVM compiles and collects meanwhile; `None` where the system does not tell.
    pub cpu_rate: Option<f64>,
}

/// The scenario, and what is needed to run it.
#[derive(Debug)]
pub struct Candidates {
    recording: Recording,
    subject: Subject,
    replayer: Replayer,
    tables: Arc<Tables>,
    steps: Vec<Step>,
}

impl Candidates {
    /// Compiles the program, records it and lifts the recording, all in a folder of its own.
    /// `root` is the project's.
    pub fn prepare(
        root: &Path,
        culprit: &Path,
        jdk: &Jdk,
        place: &Path,
    ) -> anyhow::Result<Candidates> {
        remove(place)?;
        let classes = place.join("classes");
        fs::create_dir_all(&classes)?;
        compile(root, jdk, &classes)?;
        let (run, cache) = (place.join("run"), place.join("cache"));
        record(culprit, jdk, &classes, &run, &cache)?;
        let files = RunFolder::open(&run)?.recordings;
        let [file] = files.as_slice() else {
            bail!("{} recordings of one JVM", files.len());
        };
        let recording = Recording::open(file)?;
        let observed = recording.classes().iter().filter(|class| class.observed);
        let observed = observed.count();
        ensure!(
            observed == CLASSES,
            "{observed} classes are observed, not {CLASSES}"
        );
        let scenario = lift(&recording).scenario()?;
        let scratch = place.join("workers");
        fs::create_dir_all(&scratch)?;
        Ok(Candidates {
            subject: subject(&recording)?,
            replayer: replayer(jdk, agent(&cache)?, scratch),
            tables: Arc::new(scenario.tables),
            steps: scenario.steps,
            recording,
        })
    }

    /// The library of the agent.
    pub fn agent(&self) -> &Path {
        &self.replayer.jvm.agent
    }

    /// Steps of the scenario.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Measures every way, once a round. `progress` hears of each.
    pub fn measure(
        &self,
        effort: Effort,
        progress: &mut dyn FnMut(&str),
    ) -> anyhow::Result<Vec<(Way, Vec<Pace>)>> {
        let mut all = Way::EACH.map(|way| (way, Vec::new())).to_vec();
        for round in 1..=effort.rounds {
            for (way, paces) in &mut all {
                let pace = self.pace(*way, effort)?;
                let (label, rounds) = (way.label(), effort.rounds);
                progress(&format!(
                    "round {round} of {rounds}: candidates, {label}, {:.0} a second",
                    pace.rate
                ));
                paces.push(pace);
            }
        }
        Ok(all)
    }

    fn pace(&self, way: Way, effort: Effort) -> anyhow::Result<Pace> {
        match way {
            Way::Reset => self.in_one_jvm(FreshState::Reset, effort),
            Way::NewLoader => self.in_one_jvm(FreshState::NewLoader, effort),
            Way::NewJvm => pace(effort.timed, || {
                self.candidate(&self.pool()?, FreshState::Reset)
            }),
        }
    }

    fn in_one_jvm(&self, fresh: FreshState, effort: Effort) -> anyhow::Result<Pace> {
        let pool = self.pool()?;
        repeat(effort.warm_up, || self.candidate(&pool, fresh))?;
        let pace = pace(effort.timed, || self.candidate(&pool, fresh))?;
        ensure!(pool.started() == 1, "a worker was lost");
        Ok(pace)
    }

    fn pool(&self) -> anyhow::Result<WorkerPool> {
        let subject = self.subject.clone();
        Ok(self.replayer.pool(&self.recording, subject, 1)?)
    }

    /// Runs the scenario once, which must be in sync to its end.
    fn candidate(&self, pool: &WorkerPool, fresh: FreshState) -> anyhow::Result<()> {
        let answer = pool.run(&Job {
            mode: Mode::Strict,
            fresh,
            multi_threaded: self.tables.threads.len() > 1,
            lines: LineCheck::Compare,
            tables: self.tables.clone(),
            source: &self.steps,
            limit: LIMIT,
            deadline: Deadline::never(),
        })?;
        match answer {
            JobResult::Ran {
                outcome:
                    Outcome::InSync {
                        steps,
                        open_calls: 0,
                    },
                ..
            } if steps == self.steps.len() as u64 => Ok(()),
            other => bail!("a candidate is not in sync: {other:?}"),
        }
    }
}

/// The candidates per second.
fn pace(least: Duration, run: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<Pace> {
    let before = family_cpu_time();
    let (runs, time) = repeat(least, run)?;
    let cpu = family_cpu_time().zip(before);
    let cpu = cpu.map(|(after, before)| after.saturating_sub(before).as_secs_f64());
    Ok(Pace {
        runs,
        rate: runs as f64 / time.as_secs_f64(),
        cpu_rate: cpu.filter(|cpu| *cpu > 0.0).map(|cpu| runs as f64 / cpu),
    })
}

/// Does it at least once, and for at least so long: how often, and how long that took.
fn repeat(
    least: Duration,
    mut run: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<(u64, Duration)> {
    let start = Instant::now();
    let mut runs = 0;
    loop {
        run()?;
        runs += 1;
        let time = start.elapsed();
        if time >= least {
            return Ok((runs, time));
        }
    }
}

fn compile(root: &Path, jdk: &Jdk, classes: &Path) -> anyhow::Result<()> {
    let mut args = words(["-g", "-proc:none", "-Xlint:-options", "--release", "11"]);
    args.extend(["-d".into(), classes.into()]);
    for package in ["depot", "customer"] {
        let folder = root.join(SOURCES).join(package);
        let entries =
            fs::read_dir(&folder).with_context(|| format!("no sources at {}", folder.display()))?;
        for entry in entries {
            args.push(entry?.path().into());
        }
    }
    tool(&jdk.tool("javac"), args, classes)
}

fn record(
    culprit: &Path,
    jdk: &Jdk,
    classes: &Path,
    run: &Path,
    cache: &Path,
) -> anyhow::Result<()> {
    let mut args = words(["record", "--quiet", "--observe", OBSERVED, "-o"]);
    args.extend([run.into(), "--".into(), jdk.tool("java").into()]);
    args.extend(["-cp".into(), classes.into(), "customer.Main".into()]);
    let stderr = classes.with_file_name("record.err");
    let outcome = Run {
        program: culprit.to_owned(),
        args,
        folder: classes.to_owned(),
        // `culprit` unpacks its agent here, where it is found.
        env: vec![("XDG_CACHE_HOME".into(), OsString::from(cache))],
        stdout: classes.with_file_name("record.out"),
        stderr: stderr.clone(),
        limit: Duration::from_secs(60),
    }
    .run()?;
    match outcome {
        Ended::Ended { status, .. } if status.is_success() => Ok(()),
        _ => bail!(
            "the program cannot be recorded: {}",
            fs::read_to_string(stderr).unwrap_or_default()
        ),
    }
}

/// The agent that `culprit` unpacked.
fn agent(cache: &Path) -> anyhow::Result<PathBuf> {
    let folder = cache.join("culprit");
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "so") {
            return Ok(path);
        }
    }
    bail!("no agent in {}", folder.display())
}

fn replayer(jdk: &Jdk, agent: PathBuf, scratch: PathBuf) -> Replayer {
    Replayer {
        jvm: WorkerJvm {
            jdk: jdk.clone(),
            agent,
            scratch,
            heap: HEAP,
            // As a user has it, gaps of the kernel included.
            sandbox: Some(Sandbox::default()),
            output: Output::Kept,
            interrupt: None,
        },
        mode: Mode::Strict,
        coverage: false,
        limit: Some(LIMIT),
        options: Vec::new(),
        capture: None,
    }
}
