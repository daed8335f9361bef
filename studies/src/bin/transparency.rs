//! `make study-transparency`: see `docs/studies/transparency.md`.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::Parser;
use culprit_jvm::{Jdk, Surroundings};
use studies::maven::Maven;
use studies::transparency::{LIBRARIES, Library, Section, Study, render, write_into};

/// Runs the test suites of libraries plain and recorded, and compares test by test
#[derive(Parser)]
struct Args {
    /// The executable to study [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    culprit: Option<PathBuf>,
    /// Only these libraries
    #[arg(long, value_name = "NAME")]
    library: Vec<String>,
    /// Only these JDKs, by their feature number
    #[arg(long, value_name = "N")]
    jdk: Vec<u32>,
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
        place: args.place.join("transparency"),
        runner: here.join("java/transparency/SuiteRunner.java"),
        maven: Maven::new(
            std::env::var_os("PATH").as_deref(),
            &args.place.join("maven"),
        ),
    };
    let wanted = |name: &str| args.library.is_empty() || args.library.iter().any(|it| it == name);
    let libraries: Vec<&Library> = LIBRARIES.iter().filter(|it| wanted(it.artifact)).collect();
    ensure!(!libraries.is_empty(), "no such library");
    let mut jdks = Jdk::all(&Surroundings::of_process());
    jdks.retain(|jdk| args.jdk.is_empty() || args.jdk.contains(&jdk.version.feature));
    ensure!(!jdks.is_empty(), "no such JDK");

    let mut sections = Vec::new();
    for jdk in &jdks {
        let mut results = Vec::new();
        for library in &libraries {
            writeln!(
                io::stderr(),
                "transparency: {} {} on JDK {}",
                library.artifact,
                library.version,
                jdk.version
            )?;
            results.push((*library, study.compare(library, jdk)?));
        }
        sections.push(Section { jdk, results });
    }
    let text = render(&sections)?;
    io::stdout().write_all(text.as_bytes())?;
    if args.document && args.library.is_empty() && args.jdk.is_empty() {
        let document = here.with_file_name("docs/studies/transparency.md");
        write_into(&document, &text)?;
    }
    let clean = sections
        .iter()
        .flat_map(|section| &section.results)
        .all(|(_, found)| found.is_clean());
    Ok(match clean {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
