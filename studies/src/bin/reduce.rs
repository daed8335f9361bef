//! `make study-reduce`: see `docs/studies/reduce.md`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::ensure;
use clap::Parser;
use culprit_jvm::{Interrupt, Jdk, JdkLocations};
use culprit_reduce::Schedule;
use studies::markdown;
use studies::reduce::overhead::overhead;
use studies::reduce::page::{Cost, Row, text};
use studies::reduce::picire::Picire;
use studies::reduce::record::record;
use studies::reduce::sequence::{Sequence, Workers};
use studies::reduce::{Reducer, reduce};

/// Reduces recorded crashes by the engine and by others, and compares
#[derive(Parser, Debug)]
struct Args {
    /// Folders that culprit debug left, a sequence each
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// The executable to record with
    #[arg(long, value_name = "FILE")]
    culprit: PathBuf,
    /// The library of the agent
    #[arg(long, value_name = "FILE")]
    agent: PathBuf,
    /// Where to work and to leave the results
    #[arg(long, value_name = "DIR")]
    place: PathBuf,
    /// A Python that has picire; without it there is no such peer, and the document stays as it is
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// The version of picire, for the document
    #[arg(long, value_name = "TEXT", default_value = "?")]
    version: String,
}

const DOCUMENT: &str = "docs/studies/reduce.md";

/// Sequences whose calls take longer are left out: eight reducers would take an hour for one.
const SLOW: Duration = Duration::from_secs(1);

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    // Run by make, which starts in the root of the project.
    let root = std::env::current_dir()?;
    let picire = args.python.as_ref().map(|python| Picire {
        python: python.clone(),
        script: root.join("studies/python/picire_peer.py"),
    });
    let jdk = Jdk::find(&JdkLocations::of_process())?;
    let workers = Workers {
        agent: args.agent.clone(),
        scratch: args.place.join("workers"),
        interrupt: Interrupt::by_signals()?,
    };
    fs::create_dir_all(&workers.scratch)?;
    let mut rows = Vec::new();
    let mut slow: Vec<String> = Vec::new();
    let mut largest: Option<(u32, Vec<(u32, u32)>)> = None;
    for folder in &args.folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let place = args.place.join("runs").join(&*name);
        let run = record(folder, &args.culprit, &jdk, &place)?;
        let sequence = match run {
            Some(run) => Sequence::open(&name, &run, &workers)?,
            None => None,
        };
        let Some(sequence) = sequence else {
            say(&format!("{name}: no crash to reduce"))?;
            continue;
        };
        if sequence.pace()? > SLOW {
            say(&format!("{}: left out, it takes too long", sequence.name))?;
            slow.push(sequence.name);
            continue;
        }
        if largest
            .as_ref()
            .is_none_or(|(size, _)| *size < sequence.size())
        {
            largest = Some((sequence.size(), sequence.pairs().collect()));
        }
        rows.push(row(&sequence, picire.as_ref())?);
    }
    let Some((size, pairs)) = largest else {
        anyhow::bail!("there is nothing to reduce");
    };
    let mut costs: Vec<Cost> = Vec::new();
    for schedule in [
        Schedule::Splitting,
        Schedule::Classic,
        Schedule::Probabilistic,
    ] {
        for relevant in [3, 12, 1000] {
            let cost = overhead(size, &pairs, schedule, relevant)?;
            costs.push((schedule, relevant, cost));
        }
    }
    let conditions = format!(
        "{} sequences, picire {}; one job, {} cores. Left out, because they take more than a second: {}.",
        rows.len(),
        args.version,
        std::thread::available_parallelism()?,
        if slow.is_empty() {
            "none".to_owned()
        } else {
            slow.join(", ")
        }
    );
    let results = text(&rows, &costs, &conditions)?;
    std::io::stdout().write_all(results.as_bytes())?;
    fs::write(args.place.join("results.md"), &results)?;
    match picire {
        Some(_) => markdown::write_into(Path::new(DOCUMENT), &results),
        None => Ok(()),
    }
}

fn row(sequence: &Sequence, picire: Option<&Picire>) -> anyhow::Result<Row> {
    let mut reduced = Vec::new();
    for reducer in Reducer::EACH {
        if matches!(reducer, Reducer::Picire(..)) && picire.is_none() {
            continue;
        }
        let one = reduce(sequence, reducer, picire)?;
        let (name, label) = (&sequence.name, reducer.label());
        ensure!(!one.left.is_empty(), "{label} leaves nothing of {name}");
        say(&format!(
            "{name}: {label}: {} tests, {} of {} calls left, {:.1} s",
            one.tests,
            one.left.len(),
            sequence.size(),
            one.time.as_secs_f64()
        ))?;
        reduced.push(one);
    }
    Ok(Row {
        name: sequence.name.clone(),
        calls: sequence.size(),
        reduced,
    })
}

fn say(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stderr(), "{line}")?;
    Ok(())
}
