//! `make study-replay`: see `docs/studies/replay.md`.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::Parser;
use culprit_jvm::{Jdk, JdkLocations};
use studies::markdown::write_into;
use studies::maven::Maven;
use studies::replay::{Filter, PROGRAMS, Program, Results, Section, Study, render};

/// Records small tests of libraries with many sets of classes observed, and replays each recording
#[derive(Parser)]
struct Args {
    /// The executable to study [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    culprit: Option<PathBuf>,
    /// Only these libraries
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Only tests whose names hold this
    #[arg(long, value_name = "TEXT")]
    test: Vec<String>,
    /// Only sets with this class, besides those of all classes
    #[arg(long, value_name = "NAME")]
    class: Vec<String>,
    /// So many tests of each library, at even distances
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// So many random sets for each test
    #[arg(long, value_name = "N")]
    sets: Option<usize>,
    /// Only these JDKs, by their feature number [default: the one that is found first]
    #[arg(long, value_name = "N")]
    jdk: Vec<u32>,
    /// So many tests at the same time
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "target/studies")]
    place: PathBuf,
    /// Put the tables into the study's document, if they are all there
    #[arg(long)]
    document: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let culprit = match args.culprit {
        Some(file) => file,
        None => std::env::current_exe()?.with_file_name("culprit"),
    };
    let study = Study {
        culprit: culprit
            .canonicalize()
            .with_context(|| format!("no executable {}", culprit.display()))?,
        place: args.place.join("replay"),
        java: here.join("java/replay"),
        maven: Maven::new(
            std::env::var_os("PATH").as_deref(),
            &args.place.join("maven"),
        ),
    };
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|it| it == name);
    let programs: Vec<&Program> = PROGRAMS.iter().filter(|it| wanted(it.name)).collect();
    ensure!(!programs.is_empty(), "no such library");
    let around = JdkLocations::of_process();
    let jdks = match args.jdk.is_empty() {
        true => vec![Jdk::find(&around)?],
        false => Jdk::all(&around)
            .into_iter()
            .filter(|jdk| args.jdk.contains(&jdk.version.feature))
            .collect(),
    };
    ensure!(!jdks.is_empty(), "no such JDK");
    let filter = Filter {
        tests: args.test,
        classes: args.class,
        limit: args.limit,
        random: args.sets,
    };

    let is_whole = args.only.is_empty() && filter.is_all();
    let document = here.with_file_name("docs/studies/replay.md");
    let mut found: Vec<Vec<Results>> = Vec::new();
    for jdk in &jdks {
        found.push(Vec::new());
        for program in &programs {
            writeln!(
                io::stderr(),
                "replay: {} on JDK {}",
                program.name,
                jdk.version
            )?;
            let about = || format!("{} on JDK {}", program.name, jdk.version);
            let ended = study.run(program, jdk, &filter, args.jobs);
            let ended = ended.with_context(about)?;
            if let Some(of_jdk) = found.last_mut() {
                of_jdk.push(ended);
            }
            // A run that is interrupted leaves the libraries behind that it was through with.
            if args.document && is_whole {
                write_into(&document, &report(&programs, &jdks, &found)?)?;
            }
        }
    }
    let text = report(&programs, &jdks, &found)?;
    io::stdout().write_all(text.as_bytes())?;
    let all = found.iter().flatten().flat_map(Results::rows);
    Ok(match all.into_iter().all(|row| row.verdict.is_good()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The tables of what was run so far, and what is missing.
fn report(
    programs: &[&Program],
    jdks: &[Jdk],
    found: &[Vec<Results>],
) -> Result<String, std::fmt::Error> {
    let sections: Vec<Section<'_>> = jdks
        .iter()
        .zip(found)
        .map(|(jdk, results)| Section {
            jdk,
            results: programs
                .iter()
                .zip(results)
                .map(|(program, results)| (*program, results.rows()))
                .collect(),
        })
        .collect();
    let mut text = render(&sections)?;
    for (jdk, results) in jdks.iter().zip(found) {
        for program in &programs[results.len()..] {
            let version = &jdk.version;
            text.push_str(&format!(
                "Not run to its end: {} on JDK {version}.\n",
                program.name
            ));
        }
    }
    Ok(text)
}
