//! What the agents left in the folder of a run, and what to tell the user about it.
//!
//! Per JVM: `jvm-PID.culprit`, the recording; `jvm-PID.log`, only if the agent had something
//! to say; `jvm-PID.classes`, the names of the loaded classes, only if none was observed;
//! `jvm-PID.discarded`, empty, in place of a recording that `--keep failing` did not keep;
//! `jvm-PID.coupling` in place of a recording under `--suggest`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use culprit_jvm::untrusted;
use culprit_model::count::counted;
use culprit_model::options::{Mode, RecordOptions};
use culprit_model::{Caught, Evidence, Pattern, clean, shell};
use culprit_report::recording::caught_line;
use culprit_trace::{COUPLING_EXTENSION, EXTENSION, Recording};

use super::folder::RunFolder;
use super::nearest;
use crate::console::Console;
use crate::origin;

/// How many names to propose.
const PROPOSALS: usize = 5;

/// Bytes that are read of what an agent left.
const MOST_READ: u64 = 64 << 20;

/// How many packages to list of a recording.
const PACKAGES: usize = 3;

/// How many exceptions that were caught to list.
const CAUGHT: usize = 5;

/// How many recordings to list one by one.
const LISTED: usize = 10;

/// How much to tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Say {
    /// The summary and all warnings.
    Everything,
    /// Only what the user must not miss.
    Warnings,
}

/// What a run left behind.
pub(crate) struct Aftermath {
    recordings: Vec<PathBuf>,
    logs: Vec<PathBuf>,
    unmatched: Vec<PathBuf>,
    discarded: usize,
    counted: usize,
    patterns: Vec<Pattern>,
    /// The program's own code was observed, whatever that is.
    of_app: bool,
}

impl Aftermath {
    /// Looks into the folder of a run.
    pub(crate) fn find(folder: PathBuf, mode: &Mode) -> io::Result<Aftermath> {
        let files = files(&folder)?;
        let with = |extension: &str| {
            let matching = |(_, file): &&(u64, PathBuf)| {
                file.extension().is_some_and(|found| found == extension)
            };
            let found = files.iter().filter(matching);
            found.map(|(_, file)| file.clone()).collect::<Vec<_>>()
        };
        if let Mode::Record(RecordOptions {
            last: Some(last), ..
        }) = *mode
        {
            // A JVM that was killed left its last events in segments.
            let dead = files.iter().filter(|(pid, _)| !is_alive(*pid));
            for (_, file) in dead.filter(|(_, f)| f.extension().is_some_and(|e| e == EXTENSION)) {
                // Those that cannot be joined can be read as they are.
                let _ = culprit_trace::join(file, last, None);
            }
        }
        let marks = with("discarded");
        for mark in &marks {
            // Only a mark between agent and launcher; leaving it does no harm.
            let _ = fs::remove_file(mark);
        }
        let selection = match mode {
            Mode::Record(record) => Some(&record.weave.selection),
            Mode::Suggest(suggest) => Some(&suggest.selection),
            Mode::Witness | Mode::Sentinel | Mode::Worker(_) | Mode::Follow(_) => None,
        };
        Ok(Aftermath {
            recordings: with(EXTENSION),
            logs: with("log"),
            unmatched: with("classes"),
            discarded: marks.len(),
            counted: with(COUPLING_EXTENSION).len(),
            of_app: selection.is_some_and(|it| it.app || it.observe.is_empty()),
            patterns: selection.map_or_else(Vec::new, |it| it.observe.clone()),
        })
    }

    /// Notes that the recordings were made here.
    pub(crate) fn note(&self, folders: &[PathBuf]) -> io::Result<()> {
        match self.recordings.is_empty() {
            true => Ok(()),
            false => origin::note(&self.recordings, folders),
        }
    }

    /// Whether no JVM was recorded at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.recordings.is_empty() && self.discarded == 0 && self.counted == 0
    }

    /// Whether no recording observed a class. In the runs of a build tool, its own JVM is
    /// expected to have nothing to observe.
    fn is_unmatched(&self) -> bool {
        !self.recordings.is_empty()
            && self.discarded == 0
            && self.unmatched.len() >= self.recordings.len()
    }

    /// Prints what is asked for.
    pub(crate) fn report(
        &self,
        folder: &RunFolder,
        say: Say,
        console: &mut Console,
    ) -> io::Result<()> {
        if say == Say::Everything {
            self.summarise(folder, console)?;
        }
        for log in &self.logs {
            warn(console, &format!("the agent of {} says:", stem(log)))?;
            let text = untrusted::read_text(log, MOST_READ)?;
            for line in text.lines().take(LISTED) {
                writeln!(console.err(), "  {line}")?;
            }
        }
        if self.is_empty() {
            self.explain_empty(console)?;
        } else if self.is_unmatched() {
            self.explain_unmatched(folder, console)?;
        }
        Ok(())
    }

    fn summarise(&self, folder: &RunFolder, console: &mut Console) -> io::Result<()> {
        let style = console.err_styles();
        if self.counted == 0 && !self.is_empty() {
            let kept = counted(self.recordings.len() as u64, "recording");
            let discarded = match self.discarded {
                0 => String::new(),
                n => format!(", {n} discarded because nothing failed"),
            };
            let (s, place) = (style.strong, folder);
            writeln!(
                console.err(),
                "culprit: {kept} in {s}{place}{s:#}{discarded}"
            )?;
        }
        for file in self.recordings.iter().take(LISTED) {
            let recording = Recording::open(file);
            writeln!(
                console.err(),
                "  {}: {}",
                stem(file),
                clean::line(&describe(&recording))
            )?;
            if let Ok(recording) = &recording {
                if let Some(observed) = observed_packages(recording).filter(|_| self.of_app) {
                    writeln!(console.err(), "    of {}", clean::line(&observed))?;
                }
                list_caught(recording, console)?;
            }
        }
        if let Some(more) = self.recordings.len().checked_sub(LISTED).filter(|n| *n > 0) {
            writeln!(console.err(), "  and {more} more")?;
        }
        if !self.recordings.is_empty() {
            let command = shell::line(["culprit", "show", &folder.to_string()]);
            let s = style.strong;
            writeln!(console.err(), "  next: {s}{command}{s:#}")?;
        }
        Ok(())
    }

    fn explain_empty(&self, console: &mut Console) -> io::Result<()> {
        warn(console, "nothing was recorded")?;
        let text = match self.logs.is_empty() {
            true => {
                "  the command started no JVM, or handed its work to one that ran already\n  \
                 (a Gradle or Maven daemon: add --no-daemon), or cleared JAVA_TOOL_OPTIONS"
            }
            false => "  run the command with a JDK 11 or newer, and see the lines above",
        };
        writeln!(console.err(), "{text}")
    }

    fn explain_unmatched(&self, folder: &RunFolder, console: &mut Console) -> io::Result<()> {
        let mut classes = Vec::new();
        for file in &self.unmatched {
            classes.extend(
                untrusted::read_text(file, MOST_READ)?
                    .lines()
                    .map(str::to_owned),
            );
        }
        classes.sort();
        classes.dedup();
        if self.patterns.is_empty() {
            warn(console, "no class of the program's own was loaded")?;
            propose(
                "all code came from libraries; observe some of it by name:",
                &nearest::largest_packages(&classes, PROPOSALS),
                console,
            )?;
        }
        for pattern in &self.patterns {
            warn(console, &format!("no loaded class matches {pattern}"))?;
            let near = nearest::nearest(pattern, &classes, PROPOSALS);
            propose("the nearest that would match:", &near, console)?;
        }
        let count = classes.len();
        writeln!(
            console.err(),
            "  the names of all {count} loaded classes are in {folder}/jvm-*.classes"
        )
    }
}

pub(super) fn warn(console: &mut Console, message: &str) -> io::Result<()> {
    let s = console.err_styles().warn;
    writeln!(
        console.err(),
        "{s}culprit: warning:{s:#} {}",
        clean::line(message)
    )
}

fn propose(lead: &str, patterns: &[String], console: &mut Console) -> io::Result<()> {
    if patterns.is_empty() {
        return Ok(());
    }
    writeln!(console.err(), "  {lead}")?;
    for pattern in patterns {
        writeln!(console.err(), "    --observe {}", shell::line([pattern]))?;
    }
    Ok(())
}

/// The facts of one recording in half a line.
fn describe(recording: &Result<Recording, culprit_trace::Error>) -> String {
    let recording = match recording {
        Ok(recording) => recording,
        // The list names the file already.
        Err(culprit_trace::Error::Empty { .. }) => return "nothing was written".to_owned(),
        Err(error) => return error.to_string(),
    };
    let mut parts = vec![counted(recording.event_count(), "event")];
    let failures = recording.failures().len() as u64;
    if failures > 0 {
        parts.push(counted(failures, "failure"));
    }
    let losses = recording.losses();
    if let Some(reason) = &losses.stopped {
        parts.push(format!("stopped: {reason}"));
    }
    // What an option asked to leave out is no loss.
    let counts = losses
        .counts
        .iter()
        .filter(|(name, _)| !name.contains("(--"));
    let lost: u64 = counts.map(|(_, count)| count).sum();
    if lost > 0 {
        parts.push(counted(lost, "loss"));
    }
    if recording.is_truncated() || recording.end().is_none() {
        parts.push("ends early".to_owned());
    }
    parts.join(", ")
}

/// The packages of the observed classes of a recording, or `None` if there are none.
fn observed_packages(recording: &Recording) -> Option<String> {
    let observed = recording.classes().iter().filter(|class| class.observed);
    let packages: BTreeSet<String> = observed.map(|class| package_pattern(&class.name)).collect();
    let listed: Vec<&str> = packages.iter().take(PACKAGES).map(String::as_str).collect();
    let more = packages.len() - listed.len();
    let listed = listed.join(", ");
    match (packages.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(listed),
        (false, more) => Some(format!("{listed} and {more} more")),
    }
}

/// The pattern of the package of a class, by its internal name; or of the class, if it has none.
fn package_pattern(class: &str) -> String {
    match class.rsplit_once('/') {
        Some((package, _)) => format!("{}.*", package.replace('/', ".")),
        None => match class.split_once('$') {
            Some((outer, _)) if !outer.is_empty() => outer.to_owned(),
            _ => class.to_owned(),
        },
    }
}

/// Lists the exceptions of a recording that were caught and are likely to be failures, with the numbers by which
/// `culprit minimize` knows them.
fn list_caught(recording: &Recording, console: &mut Console) -> io::Result<()> {
    let first = recording.failures().len() + 1;
    let caught = (first..).zip(recording.caught());
    let caught = caught.filter(|(_, caught)| caught.evidence() > Evidence::None);
    let caught: Vec<(usize, &Caught)> = caught.collect();
    for (number, caught) in caught.iter().take(CAUGHT) {
        writeln!(console.err(), "    {number}  {}", caught_line(caught))?;
    }
    match caught.len().checked_sub(CAUGHT) {
        Some(more) if more > 0 => writeln!(console.err(), "    and {more} more that were caught"),
        _ => Ok(()),
    }
}

fn stem(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The number of the JVM in `jvm-PID.*`; other files are not ours to look at.
fn pid(file: &Path) -> Option<u64> {
    stem(file).strip_prefix("jvm-")?.parse().ok()
}

/// Whether a process of this number runs.
fn is_alive(pid: u64) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// The files of the agents with this extension.
pub(super) fn files_with(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = files(folder)?;
    files.retain(|(_, file)| file.extension().is_some_and(|found| found == extension));
    Ok(files.into_iter().map(|(_, file)| file).collect())
}

/// The files of the agents, by number of their JVM. A folder that the command removed (a clean
/// build does) has none.
fn files(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let file = entry?.path();
        files.extend(pid(&file).map(|pid| (pid, file)));
    }
    files.sort();
    Ok(files)
}
