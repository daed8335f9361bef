//! `make bench`: see `docs/studies/bench.md`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::{Parser, ValueEnum};
use studies::bench::candidates::{Candidates, Effort};
use studies::bench::choose::choose;
use studies::bench::figures::{aims, rows};
use studies::bench::page::{Conditions, Section, json, placed, text};
use studies::bench::replay_page::{self, ReplayFigures};
use studies::bench::replays::{self, CASES, Case};
use studies::bench::results::{Extent, Peers, run, starts};
use studies::bench::subject::{SUBJECTS, Subject, classes};
use studies::bench::tools::Tools;
use studies::bench::tracing;

/// Measures what recording costs, and how fast recordings run again
#[derive(Parser, Debug)]
struct Args {
    /// The executable to measure
    #[arg(long, value_name = "FILE", default_value = "target/release/culprit")]
    culprit: PathBuf,
    /// Where to work and to leave the results
    #[arg(long, value_name = "DIR", default_value = "target/studies/bench")]
    place: PathBuf,
    /// This part alone
    #[arg(long, value_name = "PART")]
    only: Option<Part>,
    /// Three classes a subject and three rounds, all shorter; the document stays as it is
    #[arg(long)]
    quick: bool,
    /// This subject alone (repeatable); the document stays as it is
    #[arg(long, value_name = "NAME")]
    subject: Vec<String>,
    /// Leave JaCoCo and AspectJ out; what recording costs stays as it is in the document
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

/// The kind of measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Part {
    /// What recording costs
    Recording,
    /// How long replays take, and how many small candidates run in a second
    Replay,
    /// How fast instructions are traced, and replayed for slices
    Trace,
}

const DOCUMENT: &str = "docs/studies/bench.md";

/// Rounds without which the document stays as it is.
const ROUNDS: usize = 5;

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
    let bench = Bench {
        root,
        place,
        tools,
        subjects: subjects(&args.subject)?,
        rounds: args.rounds.unwrap_or(if args.quick { 3 } else { ROUNDS }),
    };
    let wanted = |part| args.only.is_none_or(|only| only == part);
    if wanted(Part::Recording) {
        bench.recording(&args)?;
    }
    if wanted(Part::Replay) {
        bench.replay(&args)?;
    }
    if wanted(Part::Trace) {
        bench.trace(&args)?;
    }
    Ok(())
}

/// The common needs of both parts.
struct Bench {
    root: PathBuf,
    place: PathBuf,
    tools: Tools,
    subjects: Vec<Subject>,
    rounds: usize,
}

impl Bench {
    fn recording(&self, args: &Args) -> anyhow::Result<()> {
        let count = if args.quick { 3 } else { 9 };
        let extent = Extent {
            rounds: self.rounds,
            starts: if args.quick { 5 } else { 15 },
            classes: args.classes.unwrap_or(count),
            peers: if args.no_peers {
                Peers::Skip
            } else {
                Peers::Run
            },
        };
        let begin = Instant::now();
        let starts = starts(&self.tools, self.subjects[0], extent.starts, &self.place)?;
        let mut table = Vec::new();
        for subject in &self.subjects {
            let classes = classes(&self.root, subject)?;
            let samples = run(
                &self.tools,
                *subject,
                &classes,
                extent,
                &self.place,
                &mut progress,
            )?;
            table.extend(rows(&samples));
        }
        let aims = aims(&table, &starts);
        let around = self.conditions(begin);
        let results = text(&table, &aims, &starts, &around)?;
        std::io::stdout().write_all(results.as_bytes())?;
        let document = json(&table, &aims, &starts, &around);
        fs::write(self.place.join("results.json"), format!("{document:#}\n"))?;
        fs::write(self.place.join("results.md"), &results)?;
        if self.is_whole(args) && extent.classes >= 9 && !args.no_peers {
            publish(&self.root, Section::Recording, &results)?;
        }
        Ok(())
    }

    /// The candidates, which also have `culprit` unpack its agent.
    fn candidates(&self) -> anyhow::Result<Candidates> {
        Candidates::prepare(
            &self.root,
            &self.tools.culprit,
            &self.tools.jdk,
            &self.place.join("candidates"),
        )
    }

    fn trace(&self, args: &Args) -> anyhow::Result<()> {
        let begin = Instant::now();
        let candidates = self.candidates()?;
        let traced = tracing::run(
            &self.tools,
            &self.subjects,
            self.rounds,
            candidates.agent(),
            &self.place,
            &mut progress,
        )?;
        let around = self.conditions(begin);
        let results = tracing::text(&traced, &around)?;
        std::io::stdout().write_all(results.as_bytes())?;
        let document = tracing::json(&traced, &around);
        fs::write(self.place.join("trace.json"), format!("{document:#}\n"))?;
        fs::write(self.place.join("trace.md"), &results)?;
        if self.is_whole(args) {
            publish(&self.root, Section::Trace, &results)?;
        }
        Ok(())
    }

    fn replay(&self, args: &Args) -> anyhow::Result<()> {
        let begin = Instant::now();
        let candidates = self.candidates()?;
        let seconds = if args.quick { 2 } else { 5 };
        let effort = Effort {
            rounds: self.rounds,
            warm_up: Duration::from_secs(seconds),
            timed: Duration::from_secs(seconds),
        };
        let paces = candidates.measure(effort, &mut progress)?;
        let wanted = |case: &&Case| self.subjects.iter().any(|it| it.name == case.subject);
        let cases: Vec<Case> = CASES.iter().filter(wanted).copied().collect();
        let figures = ReplayFigures {
            replays: replays::run(&self.tools, &cases, self.rounds, &self.place, &mut progress)?,
            steps: candidates.steps(),
            paces,
        };
        let around = self.conditions(begin);
        let results = replay_page::text(&figures, &around)?;
        std::io::stdout().write_all(results.as_bytes())?;
        let document = replay_page::json(&figures, &around);
        fs::write(self.place.join("replay.json"), format!("{document:#}\n"))?;
        fs::write(self.place.join("replay.md"), &results)?;
        if self.is_whole(args) {
            publish(&self.root, Section::Replay, &results)?;
        }
        Ok(())
    }

    fn conditions(&self, begin: Instant) -> Conditions {
        Conditions {
            java: self.tools.java_version.clone(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            rounds: self.rounds,
            minutes: begin.elapsed().as_secs_f64() / 60.0,
        }
    }

    /// True if the results may go into the document.
    fn is_whole(&self, args: &Args) -> bool {
        !args.quick && self.rounds >= ROUNDS && self.subjects.len() == SUBJECTS.len()
    }
}

fn progress(line: &str) {
    // Progress that nobody can read is no reason to stop.
    let _ = writeln!(std::io::stderr(), "{line}");
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

fn publish(root: &Path, section: Section, results: &str) -> anyhow::Result<()> {
    let file = root.join(DOCUMENT);
    let document =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(fs::write(&file, placed(&document, section, results)?)?)
}
