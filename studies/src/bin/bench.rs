//! `make bench`: see `docs/studies/bench.md`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, ensure};
use clap::Parser;
use studies::bench::choose::choose;
use studies::bench::figures::{aims, rows};
use studies::bench::page::{Conditions, json, placed, text};
use studies::bench::results::{Extent, Peers, run, starts};
use studies::bench::subject::{SUBJECTS, Subject, classes};
use studies::bench::tools::Tools;

/// Measures what recording costs
#[derive(Parser, Debug)]
struct Args {
    /// The executable to measure
    #[arg(long, value_name = "FILE", default_value = "target/release/culprit")]
    culprit: PathBuf,
    /// Where to work and to leave the results
    #[arg(long, value_name = "DIR", default_value = "target/studies/bench")]
    place: PathBuf,
    /// Three classes a subject and three rounds; the document stays as it is
    #[arg(long)]
    quick: bool,
    /// This subject alone (repeatable); the document stays as it is
    #[arg(long, value_name = "NAME")]
    subject: Vec<String>,
    /// Leave JaCoCo and AspectJ out; the document stays as it is
    #[arg(long)]
    no_peers: bool,
    /// Rounds to run [default: 5, or 3 with --quick]
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Classes a subject to observe one at a time [default: 9, or 3 with --quick]
    #[arg(long, value_name = "N")]
    classes: Option<usize>,
    /// Choose the classes anew and write the list of them, instead of measuring
    #[arg(long)]
    choose: bool,
}

const DOCUMENT: &str = "docs/studies/bench.md";

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    // Run by cargo or make, both of which start in the root of the project.
    let root = std::env::current_dir()?;
    fs::create_dir_all(&args.place)?;
    let place = args.place.canonicalize()?;
    let tools = Tools::prepare(&root, &args.culprit, &place)?;
    if args.choose {
        return choose(&root, &tools, &place);
    }
    let subjects = subjects(&args.subject)?;
    let (rounds, count) = if args.quick { (3, 3) } else { (5, 9) };
    let extent = Extent {
        rounds: args.rounds.unwrap_or(rounds),
        starts: if args.quick { 5 } else { 15 },
        classes: args.classes.unwrap_or(count),
        peers: if args.no_peers {
            Peers::Skip
        } else {
            Peers::Run
        },
    };

    let begin = Instant::now();
    let mut err = std::io::stderr().lock();
    let mut progress = |line: &str| {
        // Progress that nobody can read is no reason to stop.
        let _ = writeln!(err, "{line}");
    };
    let starts = starts(&tools, subjects[0], extent.starts, &place)?;
    let mut table = Vec::new();
    for subject in &subjects {
        let classes = classes(&root, subject)?;
        let samples = run(&tools, *subject, &classes, extent, &place, &mut progress)?;
        table.extend(rows(&samples));
    }
    let aims = aims(&table, &starts);
    let around = Conditions {
        java: tools.java_version.clone(),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        rounds: extent.rounds,
        minutes: begin.elapsed().as_secs_f64() / 60.0,
    };
    let results = text(&table, &aims, &starts, &around)?;
    std::io::stdout().write_all(results.as_bytes())?;
    let document = json(&table, &aims, &starts, &around);
    fs::write(place.join("results.json"), format!("{document:#}\n"))?;
    fs::write(place.join("results.md"), &results)?;
    let whole = subjects.len() == SUBJECTS.len() && extent.rounds >= 5 && extent.classes >= 9;
    if whole && !args.quick && !args.no_peers {
        publish(&root, &results)?;
    }
    Ok(())
}

fn subjects(names: &[String]) -> anyhow::Result<Vec<Subject>> {
    let known = |name: &String| SUBJECTS.iter().any(|subject| subject.name == name);
    if let Some(name) = names.iter().find(|name| !known(name)) {
        let all = SUBJECTS.map(|subject| subject.name).join(", ");
        anyhow::bail!("no subject `{name}`; there are {all}");
    }
    let wanted =
        |subject: &&Subject| names.is_empty() || names.iter().any(|name| name == subject.name);
    let subjects: Vec<Subject> = SUBJECTS.iter().filter(wanted).copied().collect();
    ensure!(!subjects.is_empty(), "no subject to measure");
    Ok(subjects)
}

fn publish(root: &Path, results: &str) -> anyhow::Result<()> {
    let file = root.join(DOCUMENT);
    let document =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(fs::write(&file, placed(&document, results)?)?)
}
