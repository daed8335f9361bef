//! Many runs by one worker: what one leaves behind, the next must not meet.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use culprit_jvm::{Deadline, Job, JobResult, Output, WorkerPool};
use culprit_model::Outcome;
use culprit_program::{ClassPath, WorkerJvm};
use culprit_replay::{Replayer, against, lift, subject};
use culprit_trace::Recording;
use culprit_wire::{FreshState, LineCheck, Mode, Subject};

use crate::against::version;
use crate::fixture::Fixture;
use crate::replay::{record, replayed_in};
use crate::stage::{Stage, folder, on_one_jdk};

/// Runs that each take far less.
const LIMIT: Duration = Duration::from_secs(60);

/// The agent that `culprit` has unpacked in a folder.
pub(crate) fn agent(home: &Path) -> PathBuf {
    let entries = fs::read_dir(home.join("cache/culprit")).unwrap();
    let mut files = entries.map(|entry| entry.unwrap().path());
    let is_library = |path: &PathBuf| path.extension().is_some_and(|it| it == "so");
    files.find(is_library).unwrap()
}

/// A pool of one worker.
fn pool(stage: &Stage, recording: &Recording, subject: Subject, home: &Path) -> WorkerPool {
    let replayer = Replayer {
        jvm: WorkerJvm {
            jdk: stage.jdk.clone(),
            agent: agent(home),
            scratch: home.to_owned(),
            heap: 64,
            sandbox: None,
            output: Output::Kept,
            interrupt: None,
        },
        mode: Mode::Strict,
        coverage: false,
        limit: Some(LIMIT),
        options: Vec::new(),
        capture: None,
    };
    replayer.pool(recording, subject, 1).unwrap()
}

fn outcome(pool: &WorkerPool, recording: &Recording) -> Outcome {
    let lifted = lift(recording);
    let answer = pool.run(&Job {
        mode: Mode::Strict,
        fresh: FreshState::Reset,
        multi_threaded: lifted.tables.threads.len() > 1,
        lines: LineCheck::Ignore,
        tables: Arc::new(lifted.tables.clone()),
        source: &lifted,
        limit: LIMIT,
        deadline: Deadline::never(),
    });
    match answer.unwrap() {
        JobResult::Ran { outcome, .. } => outcome,
        JobResult::Unresolved(unresolved) => panic!("{unresolved}"),
    }
}

#[test]
fn threads_that_are_halted_are_gone_before_the_next_run() {
    let stage = on_one_jdk();
    let home = folder();
    let recorded = record(stage, "replay/halted");
    replayed_in(stage, home.path(), &recorded);
    let recording = recorded.recording();
    let subject = subject(&recording).unwrap();
    let pool = pool(stage, &recording, subject, home.path());
    for _ in 0..5 {
        let outcome = outcome(&pool, &recording);
        assert!(matches!(outcome, Outcome::InSync { .. }), "{outcome:?}");
    }
    assert_eq!(pool.started(), 1);
}

#[test]
fn a_thread_that_goes_on_takes_the_worker_with_it_and_not_the_next_run() {
    let stage = on_one_jdk();
    let home = folder();
    let fixture = Fixture::named("replay/stubborn");
    let recorded = stage.run(&fixture).args(&["two"]).record();
    replayed_in(stage, home.path(), &recorded);
    let recording = recorded.recording();
    let classes = version(stage, &fixture, "deaf", home.path());
    let path = ClassPath::open(classes.as_os_str(), stage.feature()).unwrap();
    let subject = against(&recording, &path).unwrap().subject;
    let pool = pool(stage, &recording, subject, home.path());
    for _ in 0..2 {
        let Outcome::Diverged(divergence) = outcome(&pool, &recording) else {
            panic!("in sync");
        };
        assert_eq!(divergence.why, "argument 1 differs: -1, not 0");
    }
    assert_eq!(pool.started(), 2);
}
