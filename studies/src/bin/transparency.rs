//! `make study-transparency`: see `docs/studies/transparency.md`.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, ensure};
use clap::Parser;
use culprit_jvm::{Jdk, JdkLocations};
use studies::markdown::write_into;
use studies::maven::Maven;
use studies::transparency::{Found, LIBRARIES, Library, Section, Study, render};

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
    /// So many suites at the same time
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "target/studies")]
    place: PathBuf,
    /// Put the tables into the study's document, if they are all there
    #[arg(long)]
    document: bool,
}

/// Results by the version of the JDK and the name of the library.
type Results = HashMap<(String, &'static str), Found>;

/// Compares all of them, so many at the same time. Those that were found stay found, also if another
/// one fails.
fn compare_all(study: &Study, pairs: &[(&Jdk, &Library)], jobs: usize) -> anyhow::Result<Results> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Results::new()));
    let work = || -> anyhow::Result<()> {
        while let Some((jdk, library)) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (name, version) = (library.artifact, jdk.version.to_string());
            let about = format!("{name} {} on JDK {version}", library.version);
            writeln!(io::stderr(), "transparency: {about}")?;
            let result = study.compare(library, jdk).context(about)?;
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.insert((version, name), result);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(|worker| match worker.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ended.collect::<anyhow::Result<Vec<()>>>()
    })?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
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
    let mut jdks = Jdk::all(&JdkLocations::of_process());
    jdks.retain(|jdk| args.jdk.is_empty() || args.jdk.contains(&jdk.version.feature));
    ensure!(!jdks.is_empty(), "no such JDK");

    // One after the other, since they share a folder.
    for library in &libraries {
        study.maven.class_path(&library.class_path()?)?;
    }
    // The longest first, so that no processor is left without work for long.
    let pairs: Vec<(&Jdk, &Library)> = libraries
        .iter()
        .rev()
        .flat_map(|library| jdks.iter().map(move |jdk| (jdk, *library)))
        .collect();
    let mut found = compare_all(&study, &pairs, args.jobs.max(1))?;
    let mut sections = Vec::new();
    for jdk in &jdks {
        let mut results = Vec::new();
        for library in &libraries {
            let result = found.remove(&(jdk.version.to_string(), library.artifact));
            results.push((*library, result.context("a result is missing")?));
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
