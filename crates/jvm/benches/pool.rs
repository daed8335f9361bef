//! The cost of a pool: starting a worker, and a run in which nothing happens. Measured with a
//! worker that is a bare process (this program, started once more) and with one that is a JVM,
//! neither with an agent.
#![expect(clippy::print_stdout, reason = "a bench speaks to a terminal only")]

use std::ffi::OsString;
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use culprit_jvm::{
    Deadline, Jdk, JdkLocations, Job, JobResult, Launch, Limits, Output, Sandbox, WorkerPlan,
    WorkerPool, WorkerSlot, WorkingFolder, jvm_options,
};
use culprit_model::scenario::Tables;
use culprit_model::{
    EventIndex, EventKind, ObjectId, Outcome, Reference, SiteId, Step, ThreadId, TypeId, Value,
};
use culprit_wire::{FreshState, FromWorker, LineCheck, Message, Mode, Subject, ToWorker};

const LONG: Duration = Duration::from_secs(60);
const STARTS: usize = 20;
const RUNS: usize = 20_000;

fn main() {
    let descriptor =
        std::env::args().find_map(|word| word.strip_prefix("descriptor=")?.parse().ok());
    match descriptor {
        Some(descriptor) => serve(descriptor),
        None => measure(),
    }
}

/// The bare worker: answers every run.
fn serve(descriptor: RawFd) {
    // SAFETY: the pool made the descriptor for this process, and nobody else here knows of it.
    let line = unsafe { UnixStream::from_raw_fd(descriptor) };
    let ready = FromWorker::ready(17, String::new(), std::process::id());
    ready.write_to(&line).unwrap();
    let (mut number, mut steps) = (0, 0);
    let mut reader = std::io::BufReader::with_capacity(64 << 10, &line);
    while let Some(message) = ToWorker::read_from(&mut reader).unwrap() {
        match message {
            ToWorker::Run(run) => (number, steps) = (run.number, 0),
            ToWorker::Steps(chunk) => steps += chunk.len() as u64,
            ToWorker::EndOfSteps => {
                let outcome = Outcome::InSync {
                    steps,
                    open_calls: 0,
                };
                let done = FromWorker::Done { number, outcome };
                done.write_to(&line).unwrap();
            }
            _ => {}
        }
    }
}

fn measure() {
    let scratch = std::env::temp_dir().join(format!("culprit-bench-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    let confined = Some(Sandbox::default()).filter(|_| Sandbox::probe().gap().is_none());
    for (name, sandbox) in [("free", None), ("confined", confined)] {
        let plan = || bare(&scratch, sandbox.clone());
        report(&format!("bare process, {name}"), &plan);
        for jdk in Jdk::all(&JdkLocations::of_process()) {
            let classes = compile(&jdk, &scratch);
            let plan = || java(&jdk, &classes, &scratch, sandbox.clone());
            report(&format!("JVM {}, {name}", jdk.version), &plan);
        }
    }
    let _ = std::fs::remove_dir_all(&scratch);
}

fn report(name: &str, plan: &dyn Fn() -> WorkerPlan) {
    let starts = (0..STARTS).map(|_| {
        let pool = pool(plan());
        let started = Instant::now();
        run(&pool, &Vec::new());
        started.elapsed()
    });
    let starts = sorted(starts.collect());
    let pool = pool(plan());
    let times = |steps: &Vec<Step>, runs: usize| {
        (0..runs / 4).for_each(|_| run(&pool, steps));
        let times = (0..runs).map(|_| {
            let started = Instant::now();
            run(&pool, steps);
            started.elapsed()
        });
        sorted(times.collect())
    };
    println!("{name}");
    println!(
        "  start and first run: best {:?}, median {:?}",
        starts[0],
        middle(&starts)
    );
    for (steps, runs) in [(0, RUNS), (10, RUNS), (1000, RUNS / 20), (100_000, 20)] {
        let times = times(&scenario(steps), runs);
        let late = times[times.len() * 99 / 100];
        println!(
            "  run of {steps} steps: median {:?}, 99 of 100 within {late:?}",
            middle(&times)
        );
    }
}

fn sorted(mut times: Vec<Duration>) -> Vec<Duration> {
    times.sort();
    times
}

fn middle(times: &[Duration]) -> Duration {
    times[times.len() / 2]
}

fn scenario(count: usize) -> Vec<Step> {
    let step = |number: usize| Step {
        thread: ThreadId(1),
        kind: EventKind::OutgoingCall,
        site: SiteId(number as u32 % 100),
        values: vec![
            Value::Reference(Reference::Object {
                id: ObjectId(number as u64),
                class: TypeId(7),
            }),
            Value::Int(number as i32),
        ],
        depth: 1,
        origin: Some(EventIndex(number as u64)),
    };
    (0..count).map(step).collect()
}

fn pool(plan: WorkerPlan) -> WorkerPool {
    WorkerPool::new(plan, 1, Subject::default()).unwrap()
}

fn run(pool: &WorkerPool, steps: &Vec<Step>) {
    let job = Job {
        mode: Mode::Strict,
        fresh: FreshState::Reset,
        multi_threaded: false,
        lines: LineCheck::Compare,
        tables: Arc::<Tables>::default(),
        source: steps,
        limit: LONG,
        deadline: Deadline::never(),
    };
    let answer = pool.run(&job).unwrap();
    assert!(matches!(answer, JobResult::Ran { .. }), "{answer:?}");
}

fn bare(scratch: &Path, sandbox: Option<Sandbox>) -> WorkerPlan {
    WorkerPlan {
        file: std::env::current_exe().unwrap(),
        args: Box::new(|slot: &WorkerSlot<'_>| {
            vec![format!("descriptor={}", slot.descriptor).into()]
        }),
        env: Vec::new(),
        scratch: scratch.to_owned(),
        folder: WorkingFolder::Scratch,
        limits: Limits::default(),
        sandbox,
        output: Output::Kept,
        patience: LONG,
        intake: LONG,
        interrupt: None,
    }
}

fn compile(jdk: &Jdk, scratch: &Path) -> PathBuf {
    let classes = scratch.join(format!("classes-{}", jdk.version));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/worker/Echo.java");
    let javac = Launch {
        file: jdk.tool("javac"),
        args: vec!["-d".into(), classes.clone().into(), source.into()],
        env: Vec::new(),
        directory: scratch.to_owned(),
        limits: Limits::default(),
        sandbox: None,
    };
    javac.run(LONG).unwrap();
    classes
}

fn java(jdk: &Jdk, classes: &Path, scratch: &Path, sandbox: Option<Sandbox>) -> WorkerPlan {
    let classes = classes.to_owned();
    WorkerPlan {
        file: jdk.tool("java"),
        args: Box::new(move |slot: &WorkerSlot<'_>| {
            let words = [
                "--add-opens",
                "java.base/java.io=ALL-UNNAMED",
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
            ];
            let mut args = jvm_options(slot.scratch);
            args.extend(words.map(OsString::from));
            args.push(classes.clone().into());
            args.push("Echo".into());
            args.push(slot.descriptor.to_string().into());
            args
        }),
        ..bare(scratch, sandbox)
    }
}
