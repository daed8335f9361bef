//! The cost of instruction traces, from which slices are computed: iterations of each subject as a script in a worker,
//! traced and not, and the replay of the trace.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use culprit_jvm::{Deadline, Job, JobResult, Output, Sandbox, WorkerPool};
use culprit_model::options::{TraceOptions, TraceScope};
use culprit_model::script::{Builder, MemberName};
use culprit_model::{ObjectId, Outcome, Script, Tables, Value};
use culprit_program::{Extras, WorkerJvm};
use culprit_slice::replay;
use culprit_trace::instructions::{INSTRUCTIONS_EXTENSION, InstructionTrace};
use culprit_wire::{FreshState, LineCheck, Mode, Subject as WorkerSubject};
use serde_json::{Value as Json, json};

use super::figures::median;
use super::page::{Conditions, thousands, write};
use super::subject::Subject;
use super::tools::Tools;

/// What is traced, as by `culprit slice`.
const WHOLE: TraceOptions = TraceOptions {
    bytes: 128 << 20,
    scope: TraceScope::Whole,
};

/// Megabytes of a worker's heap.
const HEAP: u64 = 1024;

/// A run that takes longer is broken.
const LIMIT: Duration = Duration::from_secs(120);

/// As traced workers are started: what is compared is the cost of the trace alone.
const FIRST_COMPILER: &str = "-XX:TieredStopAtLevel=1";

/// One subject: seconds by round, and what was traced.
#[derive(Clone, PartialEq, Debug)]
pub struct Traced {
    pub subject: &'static str,
    pub plain: Vec<f64>,
    pub traced: Vec<f64>,
    pub replayed: Vec<f64>,
    pub instructions: u64,
    /// Bytes of events.
    pub bytes: u64,
    /// The reason why the end of the run is missing.
    pub partial: Option<String>,
}

impl Traced {
    /// Instructions that are traced in a second.
    pub fn pace(&self) -> f64 {
        self.instructions as f64 / median(self.traced.clone())
    }

    /// The time of the traced run against that of the plain one.
    pub fn slowdown(&self) -> f64 {
        median(self.traced.clone()) / median(self.plain.clone())
    }
}

/// Traces every subject so many times, each time in new JVMs. `progress` hears of each.
pub fn run(
    tools: &Tools,
    subjects: &[Subject],
    rounds: usize,
    agent: &Path,
    place: &Path,
    progress: &mut dyn FnMut(&str),
) -> anyhow::Result<Vec<Traced>> {
    let empty = |subject: &Subject| Traced {
        subject: subject.name,
        plain: Vec::new(),
        traced: Vec::new(),
        replayed: Vec::new(),
        instructions: 0,
        bytes: 0,
        partial: None,
    };
    let mut all: Vec<Traced> = subjects.iter().map(empty).collect();
    for round in 1..=rounds {
        for (subject, figures) in subjects.iter().zip(&mut all) {
            let workers = Workers {
                tools,
                subject,
                agent,
                place,
            };
            figures.plain.push(workers.plain()?);
            workers.traced(figures)?;
            progress(&format!(
                "round {round} of {rounds}: trace, {}, {:.2} million instructions a second",
                subject.name,
                figures.pace() / 1e6
            ));
        }
    }
    Ok(all)
}

/// How workers of a subject are started.
struct Workers<'a> {
    tools: &'a Tools,
    subject: &'a Subject,
    agent: &'a Path,
    place: &'a Path,
}

impl Workers<'_> {
    /// The seconds of the script without a trace.
    fn plain(&self) -> anyhow::Result<f64> {
        let scratch = super::results::fresh(self.place)?;
        timed(&self.pool(&scratch, None)?, &self.script())
    }

    /// Runs the script with a trace, and replays it.
    fn traced(&self, figures: &mut Traced) -> anyhow::Result<()> {
        let scratch = super::results::fresh(self.place)?;
        let pool = self.pool(&scratch, Some(WHOLE))?;
        figures.traced.push(timed(&pool, &self.script())?);
        let trace = InstructionTrace::read(&fs::read(newest_trace(&scratch)?)?)?;
        let words: usize = trace.threads.iter().map(|it| it.words.len()).sum();
        let began = Instant::now();
        let replayed = replay(&trace, &[])?;
        figures.replayed.push(began.elapsed().as_secs_f64());
        figures.instructions = replayed.instructions;
        figures.bytes = 4 * words as u64;
        figures.partial = replayed.partial;
        Ok(())
    }

    fn pool(&self, scratch: &Path, trace: Option<TraceOptions>) -> anyhow::Result<WorkerPool> {
        let jvm = WorkerJvm {
            jdk: self.tools.jdk.clone(),
            agent: self.agent.to_owned(),
            scratch: scratch.to_owned(),
            heap: HEAP,
            // As a user has it, gaps of the kernel included.
            sandbox: Some(Sandbox::default()),
            output: Output::Kept,
            interrupt: None,
        };
        let plan = jvm.plan(Extras {
            last_options: vec![FIRST_COMPILER.into()],
            trace,
            ..Extras::default()
        });
        let class_path = self.tools.class_path(self.subject)?;
        let entries = std::env::split_paths(&class_path);
        let subject = WorkerSubject {
            class_path: entries.map(|it| it.display().to_string()).collect(),
            ..WorkerSubject::default()
        };
        Ok(WorkerPool::new(plan, 1, subject)?)
    }

    /// `new Parse().iteration(0)`, the same for the other subjects.
    fn script(&self) -> Script {
        let (first, rest) = self.subject.name.split_at(1);
        let class = format!("bench/{}{rest}", first.to_uppercase());
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let workload = builder.variable(&class);
        let iteration = MemberName::of(&class, "iteration", "(I)J");
        let statements = vec![
            builder.construct(&class, "()V", vec![], workload.clone()),
            builder.call(iteration, workload, vec![Value::Int(0)], None),
        ];
        builder.script(statements)
    }
}

/// Runs a script after an empty one, with which the JVM starts: the seconds.
fn timed(pool: &WorkerPool, script: &Script) -> anyhow::Result<f64> {
    let mut builder = Builder::with(Tables::default(), ObjectId(0));
    let object = builder.variable("java/lang/Object");
    let first = builder.construct("java/lang/Object", "()V", vec![], object);
    run_script(pool, &builder.script(vec![first]))?;
    let began = Instant::now();
    run_script(pool, script)?;
    Ok(began.elapsed().as_secs_f64())
}

fn run_script(pool: &WorkerPool, script: &Script) -> anyhow::Result<()> {
    let statements: Vec<_> = script.statements.iter().collect();
    let answer = pool.run(&Job {
        mode: Mode::Plain,
        fresh: FreshState::NewLoader,
        multi_threaded: false,
        lines: LineCheck::Ignore,
        tables: Arc::clone(&script.tables),
        source: &statements,
        limit: LIMIT,
        deadline: Deadline::never(),
    })?;
    match answer {
        JobResult::Ran {
            outcome: Outcome::InSync { .. },
            ..
        } => Ok(()),
        other => bail!("a script did not end well: {other:?}"),
    }
}

/// The trace of the last run in the folder of the worker.
fn newest_trace(scratch: &Path) -> anyhow::Result<PathBuf> {
    let mut newest = None;
    for folder in fs::read_dir(scratch)? {
        let folder = folder?.path();
        if !folder.is_dir() {
            continue;
        }
        for file in fs::read_dir(folder)? {
            let (path, written) = {
                let file = file?;
                (file.path(), file.metadata()?.modified()?)
            };
            if path
                .extension()
                .is_some_and(|it| it == INSTRUCTIONS_EXTENSION)
            {
                newest = newest.max(Some((written, path)));
            }
        }
    }
    let (_, path) = newest.context("no trace was written")?;
    Ok(path)
}

/// The table, as Markdown that is readable as it is.
pub fn text(all: &[Traced], around: &Conditions) -> anyhow::Result<String> {
    ensure!(!all.is_empty(), "nothing was traced");
    let mut out = String::new();
    writeln!(
        out,
        "JDK {}, {}, {} processors; median of {} rounds; {:.0} minutes.\n",
        around.java, around.system, around.processors, around.rounds, around.minutes
    )?;
    let heads = [
        "subject",
        "instructions",
        "B/instruction",
        "not traced",
        "traced",
        "slowdown",
        "million/s traced",
        "million/s replayed",
    ];
    let mut table = vec![heads.map(str::to_owned).to_vec()];
    for it in all {
        let millions = |seconds: &[f64]| {
            format!(
                "{:.1}",
                it.instructions as f64 / median(seconds.to_vec()) / 1e6
            )
        };
        table.push(vec![
            it.subject.to_owned(),
            thousands(it.instructions),
            format!("{:.1}", it.bytes as f64 / it.instructions as f64),
            format!("{:.2} s", median(it.plain.clone())),
            format!("{:.2} s", median(it.traced.clone())),
            match it.partial {
                // The rest of the run is not traced.
                Some(_) => String::new(),
                None => format!("{:.0} x", it.slowdown()),
            },
            millions(&it.traced),
            millions(&it.replayed),
        ]);
    }
    write(&mut out, &table)?;
    for it in all {
        if let Some(why) = &it.partial {
            writeln!(out, "\n{}: the trace ends early: {why}.", it.subject)?;
        }
    }
    Ok(out)
}

/// Everything for programs to read.
pub fn json(all: &[Traced], around: &Conditions) -> Json {
    json!({
        "version": 1,
        "java": around.java,
        "system": around.system,
        "processors": around.processors,
        "rounds": around.rounds,
        "traces": all.iter().map(|it| json!({
            "subject": it.subject,
            "instructions": it.instructions,
            "event_bytes": it.bytes,
            "plain_s": it.plain,
            "traced_s": it.traced,
            "replayed_s": it.replayed,
            "partial": it.partial,
        })).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_is_that_of_the_median_round() {
        let traced = Traced {
            subject: "parse",
            plain: vec![0.1, 0.2, 0.3],
            traced: vec![2.0, 9.0, 1.0],
            replayed: vec![0.5],
            instructions: 4_000_000,
            bytes: 10_000_000,
            partial: None,
        };
        assert!((traced.pace() - 2e6).abs() < 1.0);
        assert!((traced.slowdown() - 10.0).abs() < 1e-9);
    }
}
