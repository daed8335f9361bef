//! A pool of real JVMs in the sandbox: `fixtures/worker`.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use culprit_jvm::{
    Jdk, JdkLocations, JobResult, Launch, Limits, Output, Sandbox, Status, WorkerPlan, WorkerPool,
    WorkerSlot, WorkingFolder, jvm_options,
};

use crate::fake;
use crate::ways::{job, steps, subject};

const LONG: Duration = Duration::from_secs(120);

/// The plan for JVMs as workers, on the user's JDK.
fn plan(scratch: &Path) -> WorkerPlan {
    let jdk = Jdk::find(&JdkLocations::of_process()).unwrap();
    let classes = scratch.join("classes");
    std::fs::create_dir(&classes).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/worker/Echo.java");
    let javac = Launch {
        file: jdk.tool("javac"),
        args: vec!["-d".into(), classes.clone().into(), source.into()],
        env: Vec::new(),
        directory: scratch.to_owned(),
        limits: Limits::default(),
        sandbox: None,
    };
    let ended = javac.run(LONG).unwrap();
    assert_eq!(ended.status, Some(Status::Exited(0)), "{ended:?}");
    WorkerPlan {
        file: jdk.tool("java"),
        args: Box::new(move |slot: &WorkerSlot<'_>| {
            let words = [
                "--add-opens",
                "java.base/java.io=ALL-UNNAMED",
                "-Xmx64m",
                "-cp",
            ];
            let mut args = jvm_options(slot.scratch);
            args.extend(words.map(OsString::from));
            args.push(classes.clone().into());
            args.push("Echo".into());
            args.push(slot.descriptor.to_string().into());
            args
        }),
        env: Vec::new(),
        scratch: scratch.join("workers"),
        folder: WorkingFolder::Scratch,
        limits: Limits {
            memory: Some(1 << 30),
            ..Limits::default()
        },
        sandbox: Some(Sandbox::default()),
        output: Output::Kept,
        patience: LONG,
        intake: LONG,
        interrupt: None,
    }
}

#[test]
fn a_jvm_in_the_sandbox_is_a_worker() {
    let scratch = tempfile::tempdir().unwrap();
    let mut plan = plan(scratch.path());
    if Sandbox::probe().gap().is_some() {
        plan.sandbox = None;
    }
    let pool = WorkerPool::new(plan, 1, subject()).unwrap();
    let steps = steps(fake::ANSWER, 10);
    let tables = Arc::default();
    for _ in 0..100 {
        let answer = pool.run(&job(&steps, &tables)).unwrap();
        assert!(matches!(answer, JobResult::Ran { .. }), "{answer:?}");
    }
    assert_eq!(pool.started(), 1);
    pool.dismiss(LONG);
}
