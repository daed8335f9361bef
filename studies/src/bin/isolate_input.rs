//! `make study-isolate`: see `docs/studies/isolate.md`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use studies::isolate::case::Case;
use studies::isolate::page::{Row, tables};
use studies::isolate::reducer::{Reduced, Reducer, Tools};
use studies::markdown;

/// Reduces inputs of real faults by culprit and by other reducers
#[derive(Parser, Debug)]
struct Args {
    /// The executable to isolate with
    #[arg(long, value_name = "FILE")]
    culprit: PathBuf,
    /// The folder that has picire and shrinkray
    #[arg(long, value_name = "DIR")]
    python: PathBuf,
    /// The folder that has treereduce
    #[arg(long, value_name = "DIR")]
    treereduce: PathBuf,
    /// C-Vise
    #[arg(long, value_name = "FILE", default_value = "/usr/bin/cvise")]
    cvise: PathBuf,
    /// A folder to work in and to leave the results
    #[arg(long, value_name = "DIR")]
    place: PathBuf,
    /// How many seconds a reducer has for an input
    #[arg(long, value_name = "S", default_value_t = 120)]
    limit: u64,
    /// How many inputs are reduced at a time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Only culprit
    #[arg(long)]
    alone: bool,
    /// Leave the document as it is
    #[arg(long)]
    dry: bool,
    /// Cases to run; all if none is named
    cases: Vec<String>,
}

const DOCUMENT: &str = "docs/studies/isolate.md";
const CASES: &str = "studies/isolate";

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    std::fs::create_dir_all(&args.place)?;
    let place = args.place.canonicalize()?;
    let tools = Tools {
        culprit: args.culprit.canonicalize()?,
        python: args.python.clone(),
        cvise: args.cvise.clone(),
        treereduce: args.treereduce.clone(),
    };
    let mut cases = Case::all(Path::new(CASES))?;
    cases.retain(|case| args.cases.is_empty() || args.cases.contains(&case.name));
    // All peers first: what disturbs the machine for a while disturbs no input alone.
    let peers = match args.alone {
        true => Vec::new(),
        false => reduce_all(&cases, &Reducer::ALL[1..], &tools, &place, &args)?,
    };
    let ours = reduce_all(&cases, &Reducer::ALL[..1], &tools, &place, &args)?;
    let mut rows = Vec::new();
    for (index, (bytes, mut reduced)) in ours.into_iter().enumerate() {
        match peers.get(index) {
            Some((_, others)) => reduced.extend(others.iter().copied()),
            None => reduced.resize(Reducer::ALL.len(), None),
        }
        rows.push(Row {
            case: cases[index].clone(),
            bytes,
            reduced,
        });
    }
    let results = format!(
        "{} at a time; at most {} s for each reducer and input.\n\n{}",
        match args.jobs {
            0 | 1 => "One input".to_owned(),
            jobs => format!("{jobs} inputs"),
        },
        args.limit,
        tables(&rows)?
    );
    writeln!(std::io::stdout(), "{results}")?;
    if !args.dry {
        markdown::write_into(Path::new(DOCUMENT), &results)?;
    }
    Ok(())
}

/// The bytes of an input, and what reducers made of it.
type Results = (u64, Vec<Option<Reduced>>);

/// Reduces all inputs by some reducers, several inputs at a time.
fn reduce_all(
    cases: &[Case],
    reducers: &[Reducer],
    tools: &Tools,
    place: &Path,
    args: &Args,
) -> anyhow::Result<Vec<Results>> {
    let results: Vec<Mutex<Results>> = cases.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let work = || -> anyhow::Result<()> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(index) else {
                return Ok(());
            };
            let result = reduce(case, reducers, tools, place, args)
                .with_context(|| format!("{} cannot be reduced", case.name))?;
            *results[index]
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = result;
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..args.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let ends = workers.into_iter().map(|worker| match worker.join() {
            Ok(end) => end,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ends.collect::<anyhow::Result<()>>()
    })?;
    let inner =
        |result: Mutex<Results>| result.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(results.into_iter().map(inner).collect())
}

/// Reduces one input by some reducers, one after the other.
fn reduce(
    case: &Case,
    reducers: &[Reducer],
    tools: &Tools,
    place: &Path,
    args: &Args,
) -> anyhow::Result<Results> {
    let ready = case.clone().ready(place)?;
    let limit = Duration::from_secs(args.limit);
    let mut all = Vec::new();
    for reducer in reducers {
        let reduced = reducer.reduce(tools, &ready, place, limit)?;
        if let Some(it) = &reduced {
            writeln!(
                std::io::stdout(),
                "{} {}: {} bytes, {} tests, {:.1} s{}",
                case.name,
                reducer.name(),
                it.bytes,
                it.tests,
                it.time.as_secs_f64(),
                if it.is_cut { ", cut" } else { "" }
            )?;
        }
        all.push(reduced);
    }
    Ok((ready.bytes.len() as u64, all))
}
