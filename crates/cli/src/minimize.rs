//! `culprit minimize`: from a recording of a failure to the few calls that make it fail.

use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_jvm::{Output, Sandbox, Surroundings};
use culprit_minimize::{Stage, extract, minimise};
use culprit_reduce::Settings;
use culprit_replay::{Replayer, choose};
use culprit_trace::Recording;
use culprit_wire::{Mode, Subject};

use crate::agent;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};

/// Options of `culprit minimize`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A recording, or the folder of a run
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let recording = Recording::open(&args.path)?;
    let failure = recording
        .failures()
        .last()
        .ok_or_else(|| Expected::new(ExitCode::Recording, "the recorded program did not fail"))?;
    let script = extract(&recording, failure)?;
    let library = agent::unpack(&agent::folders_of_process())?;
    let scratch = tempfile::tempdir()?;
    let jdks = culprit_jvm::Jdk::all(&Surroundings::of_process());
    let jdk = choose(&recording, &jdks).ok_or_else(|| anyhow::anyhow!("no jdk"))?;
    let replayer = Replayer {
        jdk,
        agent: library,
        scratch: scratch.path().to_owned(),
        heap: 1024,
        mode: Mode::Plain,
        coverage: false,
        limit: Some(Duration::from_secs(10)),
        sandbox: Some(Sandbox::default()),
        options: Vec::new(),
        output: Output::Kept,
        interrupt: None,
        capture: None,
    };
    let start = recording.start();
    let property = |name: &str| {
        let mut all = start.properties.iter();
        all.find(|(key, _)| key == name)
            .map(|(_, value)| value.clone())
    };
    let path = property("java.class.path").unwrap_or_default();
    let class_path = path
        .split(':')
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            Path::new(&start.directory)
                .join(entry)
                .display()
                .to_string()
        })
        .collect();
    let subject = Subject {
        options: "out=.".to_owned(),
        class_path,
        ..Subject::default()
    };
    let pool = replayer.pool(&recording, subject, 1)?;
    let stage = Stage {
        pool,
        limit: Duration::from_secs(5),
    };
    let wanted: Vec<&str> = failure.stack.lines().take(2).collect();
    let wanted = wanted.join("\n");
    let is_same = |trace: &str| trace.starts_with(&wanted);
    let found = minimise(&script, &stage, &is_same, Settings::default())?;
    writeln!(
        console.out(),
        "{} captured, {} in the slice, {} left, {} tests\n{}",
        found.captured,
        found.sliced,
        found.script.statements.len(),
        found.tests,
        found.script.scenario()
    )?;
    Ok(ExitCode::Answered)
}
