//! Records a crash that `culprit debug` has seen, in the way of `culprit debug`: it observes the code
//! that failed, and more where that is given objects of other classes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use culprit_jvm::Jdk;
use culprit_model::Pattern;
use culprit_program::{Program, class_path};
use culprit_scripts::{Failed, extract, select};
use culprit_signature::{Signature, Thrown};
use culprit_trace::{Recording, RunFolder, Start};

use crate::process::{Outcome, Run, remove, words};

/// The number of recordings of a program, each with more classes.
const ATTEMPTS: usize = 4;
const LIMIT: Duration = Duration::from_secs(120);

/// Records the program again whose run without probes is in the folder `witness` of what `culprit debug`
/// left. The folder of the new run; `None` where no exception left the program.
pub fn record(
    debugged: &Path,
    culprit: &Path,
    jdk: &Jdk,
    place: &Path,
) -> anyhow::Result<Option<PathBuf>> {
    let files = RunFolder::open(&debugged.join("witness"))?.recordings;
    let file = files.first().context("no JVM was seen")?;
    let witness = Recording::open(file)?;
    let mut failures = witness.failures().iter();
    let signature = failures.find_map(|failure| {
        let signature = Signature::of(&Thrown::parse(&failure.stack)?);
        (!signature.is_assertion()).then_some(signature)
    });
    let Some(signature) = signature else {
        return Ok(None);
    };
    let program = Program::open(&class_path(witness.start()), jdk)?;
    let failed = Failed {
        signature: &signature,
        test: None,
        start: witness.start(),
    };
    let mut selection = select(&failed, &program)?;
    for _ in 0..ATTEMPTS {
        remove(place)?;
        let mut args = words(["record", "--quiet", "--contents", "-o"]);
        args.push(place.join("run").into());
        for (option, patterns) in [
            ("--observe", &selection.observe),
            ("--exclude", &selection.exclude),
        ] {
            let each = patterns.iter().map(ToString::to_string);
            args.extend(each.flat_map(|pattern| words([option, pattern.as_str()])));
        }
        args.extend(command(witness.start(), jdk)?);
        run(culprit, args, witness.start(), place)?;
        let before = selection.observe.len();
        for class in missing(&place.join("run"), &signature)? {
            let known = selection.observe.iter().chain(&selection.exclude);
            if !known.into_iter().any(|pattern| pattern.matches(&class)) {
                selection
                    .observe
                    .push(class.replace('/', ".").parse::<Pattern>()?);
            }
        }
        if selection.observe.len() == before {
            break;
        }
    }
    Ok(Some(place.join("run")))
}

/// `-- java -cp PATH MAIN ARGUMENTS`, as the program was started.
fn command(start: &Start, jdk: &Jdk) -> anyhow::Result<Vec<std::ffi::OsString>> {
    let property = |wanted: &str| {
        let mut properties = start.properties.iter();
        let found = properties.find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.as_str())
    };
    let path = property("java.class.path").context("no class path")?;
    let main = property("sun.java.command").context("no main class")?;
    let mut command = words(["--"]);
    command.push(jdk.tool("java").into());
    command.extend(words(["-cp", path]));
    command.extend(words(main.split(' ')));
    Ok(command)
}

fn run(
    culprit: &Path,
    args: Vec<std::ffi::OsString>,
    start: &Start,
    place: &Path,
) -> anyhow::Result<()> {
    std::fs::create_dir_all(place)?;
    let run = Run {
        program: culprit.to_owned(),
        args,
        folder: PathBuf::from(&start.directory),
        env: Vec::new(),
        stdout: place.join("out"),
        stderr: place.join("err"),
        limit: LIMIT,
    };
    // The program fails, and so does the command.
    match run.run()? {
        Outcome::Ended { .. } => Ok(()),
        Outcome::TimedOut => bail!("the program did not end: {}", start.directory),
    }
}

/// Classes whose objects the script of a run uses and does not make.
fn missing(run: &Path, signature: &Signature) -> anyhow::Result<Vec<String>> {
    for path in RunFolder::open(run)?.recordings {
        let recording = Recording::open(&path)?;
        for failure in recording.failures() {
            let thrown = Thrown::parse(&failure.stack);
            if thrown.is_some_and(|thrown| signature.is_same(&thrown))
                && let Ok(extracted) = extract(&recording, failure)
            {
                return Ok(extracted.missing.into_iter().collect());
            }
        }
    }
    Ok(Vec::new())
}
