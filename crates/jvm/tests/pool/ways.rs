//! Ways in which a candidate can go: each costs exactly one candidate.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use culprit_jvm::{
    CRASH_REPORT, Deadline, Excess, Job, JobPiece, JobResult, JobSource, Limits, Output, PoolError,
    Sandbox, SourceError, StartError, Status, Unresolved, WorkerPlan, WorkerPool, WorkerSlot,
    WorkingFolder,
};
use culprit_model::scenario::Tables;
use culprit_model::site::TypeDef;
use culprit_model::{EventKind, Outcome, Reference, SiteId, Step, ThreadId, TypeId, Value};
use culprit_wire::{ClassCoverage, FreshState, LineCheck, Mode, Subject, VERSION};

use crate::fake;

/// Enough for any worker on a busy machine.
const LONG: Duration = Duration::from_secs(60);

pub(crate) fn plan(start: &str, scratch: &Path) -> WorkerPlan {
    WorkerPlan {
        file: std::env::current_exe().unwrap(),
        args: Box::new(|slot: &WorkerSlot<'_>| {
            let descriptor = format!("descriptor={}", slot.descriptor);
            ["--exact", "fake::worker", "--nocapture", &descriptor]
                .map(OsString::from)
                .to_vec()
        }),
        env: vec![(fake::START.into(), start.into())],
        scratch: scratch.to_owned(),
        folder: WorkingFolder::Scratch,
        limits: Limits::default(),
        sandbox: None,
        output: Output::Kept,
        patience: LONG,
        intake: LONG,
        interrupt: None,
    }
}

pub(crate) fn subject() -> Subject {
    Subject {
        options: "out=x".to_owned(),
        ..Subject::default()
    }
}

fn pool(size: usize, scratch: &Path) -> WorkerPool {
    WorkerPool::new(plan("ready", scratch), size, subject()).unwrap()
}

pub(crate) fn steps(way: u32, count: usize) -> Vec<Step> {
    let step = Step {
        thread: ThreadId(1),
        kind: EventKind::OutgoingCall,
        site: SiteId(way),
        values: vec![Value::Reference(Reference::String(vec![65; 50]))],
        depth: 1,
        origin: None,
    };
    vec![step; count]
}

pub(crate) fn job<'a>(source: &'a dyn JobSource, tables: &Arc<Tables>) -> Job<'a> {
    Job {
        mode: Mode::Strict,
        fresh: FreshState::Reset,
        multi_threaded: false,
        lines: LineCheck::Compare,
        tables: Arc::clone(tables),
        source,
        limit: LONG,
        deadline: Deadline::never(),
    }
}

fn run(pool: &WorkerPool, way: u32) -> Result<JobResult, PoolError> {
    let steps = steps(way, 3);
    pool.run(&job(&steps, &Arc::default()))
}

/// The next candidates are as if nothing had been.
#[track_caller]
fn check_answers(pool: &WorkerPool) {
    for _ in 0..3 {
        let answer = run(pool, fake::ANSWER).unwrap();
        assert!(
            matches!(
                answer,
                JobResult::Ran {
                    outcome: Outcome::InSync { steps: 3, .. },
                    ..
                }
            ),
            "{answer:?}"
        );
    }
}

/// A candidate that takes its worker with it is unresolved, alone, whether the worker is fresh
/// or not.
#[track_caller]
fn check_lost(way: u32, expect: impl Fn(&Unresolved) -> bool) {
    let scratch = tempfile::tempdir().unwrap();
    let pool = pool(1, scratch.path());
    for _ in 0..2 {
        let answer = run(&pool, way).unwrap();
        assert!(
            matches!(&answer, JobResult::Unresolved(it) if expect(it)),
            "{answer:?}"
        );
        check_answers(&pool);
    }
    drop(pool);
    let left = fs::read_dir(scratch.path()).unwrap().count();
    assert_eq!(left, 0, "every folder is removed");
}

#[test]
fn a_crash_costs_one_candidate() {
    check_lost(fake::CRASH, |it| {
        matches!(
            it,
            Unresolved::Died {
                status: Status::Killed(6),
                ..
            }
        )
    });
}

#[test]
fn an_exit_costs_one_candidate() {
    check_lost(fake::EXIT, |it| {
        matches!(
            it,
            Unresolved::Died {
                status: Status::Exited(7),
                ..
            }
        )
    });
}

#[test]
fn a_death_within_a_message_is_a_death() {
    check_lost(fake::DIE_WITHIN_MESSAGE, |it| {
        matches!(
            it,
            Unresolved::Died {
                status: Status::Exited(3),
                ..
            }
        )
    });
}

#[test]
fn nonsense_costs_one_candidate() {
    check_lost(fake::NONSENSE, |it| {
        matches!(it, Unresolved::Garbled { .. })
    });
    check_lost(fake::OTHER_NUMBER, |it| {
        matches!(it, Unresolved::Garbled { .. })
    });
}

#[test]
fn a_hang_costs_one_candidate_and_its_time() {
    let scratch = tempfile::tempdir().unwrap();
    let mut plan = plan("ready", scratch.path());
    plan.intake = Duration::from_secs(4);
    let pool = WorkerPool::new(plan, 1, subject()).unwrap();
    for way in [fake::HANG, fake::FLOOD] {
        check_answers(&pool);
        let started = Instant::now();
        let steps = steps(way, 3);
        let mut job = job(&steps, &Arc::default());
        job.limit = Duration::from_millis(100);
        let answer = pool.run(&job).unwrap();
        let limit = JobResult::Unresolved(Unresolved::TimeLimit(job.limit));
        assert_eq!(answer, limit, "way {way}");
        assert!(started.elapsed() < LONG);
        check_answers(&pool);
    }
}

/// The time for the subject is not spent on candidates.
#[test]
fn a_hang_of_a_fresh_worker_costs_the_time_of_the_candidate_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let mut plan = plan("ready", scratch.path());
    plan.intake = LONG;
    let pool = WorkerPool::new(plan, 1, subject()).unwrap();
    let steps = steps(fake::HANG_IN_RUN, 3);
    let mut job = job(&steps, &Arc::default());
    job.limit = Duration::from_millis(100);
    for _ in 0..3 {
        let started = Instant::now();
        let answer = pool.run(&job).unwrap();
        let limit = JobResult::Unresolved(Unresolved::TimeLimit(job.limit));
        assert_eq!(answer, limit);
        assert!(started.elapsed() < LONG / 2, "{:?}", started.elapsed());
    }
}

#[test]
fn no_run_and_no_start_goes_on_beyond_the_deadline() {
    let scratch = tempfile::tempdir().unwrap();
    let steps = steps(fake::HANG, 3);
    let mut job = job(&steps, &Arc::default());
    for start in ["ready", "never"] {
        let pool = WorkerPool::new(plan(start, scratch.path()), 1, subject()).unwrap();
        let started = Instant::now();
        job.deadline = Deadline::after(Duration::from_millis(300));
        let error = pool.run(&job).unwrap_err();
        assert!(matches!(error, PoolError::OutOfTime), "{start}: {error}");
        assert!(started.elapsed() < LONG / 2, "{:?}", started.elapsed());
    }
    let pool = pool(1, scratch.path());
    check_answers(&pool);
}

/// Reading from a folder that a worker can write to never blocks, and links are not followed.
#[test]
fn pipes_where_reports_are_looked_for_cost_one_candidate() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = pool(1, scratch.path());
    let answer = run(&pool, fake::PIPES).unwrap();
    let JobResult::Unresolved(Unresolved::Died { status, .. }) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(status, Status::Exited(6));
    assert!(!scratch.path().join(CRASH_REPORT).exists());
    check_answers(&pool);
}

#[test]
fn a_folder_without_rights_goes_with_its_worker() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = pool(1, scratch.path());
    for _ in 0..2 {
        let answer = run(&pool, fake::LOCKED).unwrap();
        assert!(matches!(answer, JobResult::Unresolved(_)), "{answer:?}");
    }
    drop(pool);
    let left = fs::read_dir(scratch.path()).unwrap().count();
    assert_eq!(left, 0);
}

/// Usage that the limits of the kernel do not count is detected from outside and reported.
#[test]
fn a_candidate_that_uses_up_the_machine_costs_one_candidate() {
    let check = |way: u32, expect: &dyn Fn(&Excess) -> bool| {
        let scratch = tempfile::tempdir().unwrap();
        let mut plan = plan("ready", scratch.path());
        plan.sandbox = Some(Sandbox::default());
        plan.limits.memory = Some(512 << 20);
        plan.limits.file_size = Some(16 << 20);
        let pool = WorkerPool::new(plan, 1, subject()).unwrap();
        let answer = run(&pool, way).unwrap();
        let JobResult::Unresolved(Unresolved::Exceeded(excess)) = &answer else {
            panic!("way {way}: {answer:?}");
        };
        assert!(expect(excess), "way {way}: {excess}");
        check_answers(&pool);
    };
    check(fake::FILL_DISK, &|it| matches!(it, Excess::Disk(_)));
    check(fake::FILL_NAMELESS, &|it| matches!(it, Excess::Disk(_)));
    check(fake::FILL_FOLDER, &|it| matches!(it, Excess::Files(_)));
}

/// The worker lives on without a line to us: it is ended.
#[test]
fn a_worker_that_hangs_up_is_replaced() {
    check_lost(fake::CLOSE, |it| matches!(it, Unresolved::Silent { .. }));
}

#[test]
fn what_a_worker_started_is_killed_with_it() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = pool(1, scratch.path());
    let answer = run(&pool, fake::CHILD).unwrap();
    assert!(matches!(answer, JobResult::Unresolved(_)), "{answer:?}");
    let child = fs::read_to_string(scratch.path().join("child")).unwrap();
    // A kill takes its time, and whoever reaps it may take more.
    let started = Instant::now();
    let stat = format!("/proc/{child}/stat");
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(started.elapsed() < LONG, "it is still there");
        std::thread::yield_now();
    }
}

#[test]
fn a_candidate_is_not_blamed_for_what_an_earlier_one_left_behind() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = pool(1, scratch.path());
    for way in [fake::LEAVE_BEHIND, fake::ANSWER_AND_EXIT] {
        let answer = run(&pool, way).unwrap();
        assert!(matches!(answer, JobResult::Ran { .. }), "{answer:?}");
        check_answers(&pool);
    }
}

#[test]
fn a_mistake_of_the_worker_is_an_error_and_no_verdict() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = pool(1, scratch.path());
    let error = run(&pool, fake::FAULT).unwrap_err();
    assert!(matches!(&error, PoolError::Fault { what, .. } if what == "index out of bounds"));
    check_answers(&pool);
}

#[test]
fn an_answer_may_come_before_the_last_step_was_sent() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = pool(1, scratch.path());
    let many = steps(fake::ANSWER_EARLY, 200_000);
    let tables = Arc::default();
    for _ in 0..3 {
        let answer = pool.run(&job(&many, &tables)).unwrap();
        let JobResult::Ran { outcome, .. } = answer else {
            panic!("{answer:?}");
        };
        assert!(matches!(outcome, Outcome::InSync { steps: 0, .. }));
        check_answers(&pool);
    }
    assert_eq!(pool.started(), 1);
}

#[test]
fn long_scenarios_and_their_tables_arrive_whole_and_once() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = pool(1, scratch.path());
    let many = steps(fake::ANSWER, 200_000);
    let tables = Arc::new(Tables {
        types: [TypeDef {
            id: TypeId(1),
            name: "T".to_owned(),
            loader: 0,
            constants: Vec::new(),
            fields: Vec::new(),
        }]
        .into_iter()
        .collect(),
        ..Tables::default()
    });
    for _ in 0..3 {
        let answer = pool.run(&job(&many, &tables)).unwrap();
        let expect = Outcome::InSync {
            steps: 200_000,
            open_calls: 1,
        };
        assert!(matches!(&answer, JobResult::Ran { outcome, .. } if *outcome == expect));
    }
}

#[test]
fn definitions_may_come_between_steps_and_a_source_that_fails_is_an_error() {
    struct Source {
        fails: bool,
    }
    impl JobSource for Source {
        fn pieces(&self) -> Box<dyn Iterator<Item = Result<JobPiece<'_>, SourceError>> + '_> {
            let step = |step: Step| Ok(JobPiece::Step(std::borrow::Cow::Owned(step)));
            let pieces = steps(fake::ANSWER, 2).into_iter().map(step);
            let blob = Ok(JobPiece::Blob(culprit_model::BlobId(1), vec![1]));
            let last = match self.fails {
                true => Err(SourceError::from("the disk is gone")),
                false => Ok(JobPiece::Tables(Tables::default())),
            };
            Box::new(pieces.chain([blob, last]))
        }

        fn births(&self) -> Result<Vec<(culprit_model::ThreadId, u64)>, SourceError> {
            Ok(Vec::new())
        }
    }
    let scratch = tempfile::tempdir().unwrap();
    let pool = pool(1, scratch.path());
    let answer = pool
        .run(&job(&Source { fails: false }, &Arc::default()))
        .unwrap();
    let expect = Outcome::InSync {
        steps: 2,
        open_calls: 2,
    };
    assert!(matches!(&answer, JobResult::Ran { outcome, .. } if *outcome == expect));
    let error = pool
        .run(&job(&Source { fails: true }, &Arc::default()))
        .unwrap_err();
    assert!(error.to_string().contains("the disk is gone"), "{error}");
    check_answers(&pool);
}

#[test]
fn coverage_comes_with_the_answer() {
    let scratch = tempfile::tempdir().unwrap();
    let answer = run(&pool(1, scratch.path()), fake::COVERAGE).unwrap();
    let expect = ClassCoverage {
        class: "C".to_owned(),
        lines: vec![(3, 1), (4, 2)],
    };
    assert!(matches!(answer, JobResult::Ran { coverage, .. } if coverage == [expect]));
}

#[test]
fn output_does_not_grow_from_run_to_run() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = pool(1, scratch.path());
    for _ in 0..3 {
        run(&pool, fake::PRINT).unwrap();
    }
    check_answers(&pool);
    let file = scratch.path().join("worker-0/stdout");
    assert!(file.metadata().unwrap().len() < 4 << 20);
}

/// Many threads, few workers, every way to go: the answers are those of one worker alone.
#[test]
fn answers_depend_on_the_candidate_alone() {
    let ways = [
        fake::ANSWER,
        fake::EXIT,
        fake::ANSWER_EARLY,
        fake::LEAVE_BEHIND,
        fake::ANSWER,
        fake::CRASH,
        fake::ANSWER_AND_EXIT,
        fake::COVERAGE,
    ];
    let candidates: Vec<u32> = (0..64).map(|i| ways[i * 5 % ways.len()]).collect();
    let all = |size: usize, threads: usize| -> Vec<String> {
        let scratch = tempfile::tempdir().unwrap();
        let pool = pool(size, scratch.path());
        let next = AtomicU32::new(0);
        let mut answers: Vec<(usize, String)> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads)
                .map(|_| {
                    scope.spawn(|| {
                        let mut mine = Vec::new();
                        loop {
                            let number = next.fetch_add(1, Ordering::Relaxed) as usize;
                            let Some(way) = candidates.get(number) else {
                                return mine;
                            };
                            let answer = match run(&pool, *way).unwrap() {
                                JobResult::Ran { outcome, .. } => format!("{outcome:?}"),
                                JobResult::Unresolved(it) => it.to_string(),
                            };
                            mine.push((number, answer));
                        }
                    })
                })
                .collect();
            running
                .into_iter()
                .flat_map(|thread| thread.join().unwrap())
                .collect()
        });
        answers.sort();
        answers.into_iter().map(|(_, answer)| answer).collect()
    };
    let alone = all(1, 1);
    assert_eq!(alone.len(), candidates.len());
    for (answer, way) in alone.iter().zip(&candidates) {
        let is_lost = [fake::EXIT, fake::CRASH].contains(way);
        assert_eq!(answer.contains("the JVM"), is_lost, "{way}: {answer}");
    }
    assert_eq!(all(3, 5), alone);
}

#[test]
fn a_slow_start_is_waited_for_and_a_failed_one_tried_again() {
    for start in ["slow", "second"] {
        let scratch = tempfile::tempdir().unwrap();
        let pool = WorkerPool::new(plan(start, scratch.path()), 1, subject()).unwrap();
        check_answers(&pool);
    }
}

#[track_caller]
fn start_error(start: &str, patience: Duration, attempts: u64) -> StartError {
    let scratch = tempfile::tempdir().unwrap();
    let mut plan = plan(start, scratch.path());
    plan.patience = patience;
    let pool = WorkerPool::new(plan, 1, subject()).unwrap();
    let error = run(&pool, fake::ANSWER).unwrap_err();
    assert!(!error.next_step().is_empty());
    assert_eq!(pool.started(), attempts);
    match error {
        PoolError::Start(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn a_worker_that_cannot_start_is_an_error_with_what_it_says() {
    let error = start_error("exit", LONG, 1);
    assert!(
        matches!(
            error,
            StartError::Ended {
                status: Status::Exited(1),
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("-Xnonsense"), "{error}");

    let error = start_error("never", Duration::from_millis(300), 2);
    assert!(matches!(error, StartError::Late { .. }), "{error}");

    let error = start_error("nonsense", LONG, 2);
    assert!(matches!(error, StartError::Garbled { .. }), "{error}");

    let error = start_error("version", LONG, 1);
    let (other, own) = (VERSION + 1, VERSION);
    assert_eq!(
        error.to_string(),
        format!("the worker speaks version {other} of the protocol, this culprit version {own}")
    );
}

#[test]
fn the_report_of_a_crash_outlives_its_worker() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = pool(1, scratch.path());
    let answer = run(&pool, fake::REPORT).unwrap();
    let JobResult::Unresolved(Unresolved::Died { output, .. }) = answer else {
        panic!("{answer:?}");
    };
    drop(pool);
    let report = scratch.path().join(CRASH_REPORT);
    let expect = format!("saved as {}\n", report.display());
    assert!(output.contains(&expect), "{output}");
    assert!(output.ends_with("SIGSEGV"), "{output}");
    assert_eq!(std::fs::read_to_string(report).unwrap(), "SIGSEGV");
}

#[test]
fn a_program_that_is_not_there_is_an_error_at_once() {
    let scratch = tempfile::tempdir().unwrap();
    let mut plan = plan("ready", scratch.path());
    plan.file = "/nowhere/java".into();
    let pool = WorkerPool::new(plan, 1, subject()).unwrap();
    let error = run(&pool, fake::ANSWER).unwrap_err();
    assert!(error.to_string().contains("/nowhere/java"), "{error}");
    assert_eq!(pool.started(), 1);
}

#[test]
fn workers_that_are_dismissed_end_by_themselves() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = pool(1, scratch.path());
    check_answers(&pool);
    let started = Instant::now();
    pool.dismiss(LONG);
    assert!(started.elapsed() < LONG);
}
