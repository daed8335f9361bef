//! The result folder of `debug` and `minimize`: tests, reports and the journal.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use culprit_debug::{CallLevel, FailureTest, KeptScript, LeftOutLevel, Rate};
use culprit_jvm::{copy_input, remove_folder};
use culprit_minimize::{ByHand, MinimizedTest, Verified};
use culprit_model::{clean, secret, shell};
use culprit_pinpoint::Located;
use culprit_report::debug::{OUTSIDE, ReportedFailure, RunCommand, TestsReport, resource_file};
use culprit_signature::Signature;

use super::{instructions, source_tree, told};
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::log;
use crate::origin;

/// The folder for verdicts, within that for results.
const JOURNALS: &str = "journal";

/// The file with the standard input of the command, within the same folder.
const INPUT: &str = "input";

/// The folder for the scripts of tests, within the same folder.
pub(crate) const SCRIPTS: &str = "scripts";

/// The file with the script of a test, by the path of the test within the result folder.
pub(crate) fn script_file(results: &Path, test: &Path) -> PathBuf {
    results.join(SCRIPTS).join(test).with_extension("script")
}

/// The result folder, and the reports to come.
pub(crate) struct Results {
    folder: PathBuf,
    report: TestsReport,
    /// The file of the last test, within the folder.
    last_test: Option<PathBuf>,
}

impl Results {
    /// Uses a folder that is new or empty.
    pub(crate) fn in_folder(wish: &Path) -> Result<Results, Expected> {
        let unusable = |error: io::Error| {
            let message = format!("cannot write to {}: {error}", wish.display());
            Expected::new(ExitCode::Usage, message).hint("name another folder (-o)")
        };
        // Values of the program are in there.
        let mut private = fs::DirBuilder::new();
        let made = private.recursive(true).mode(0o700).create(wish);
        made.map_err(unusable)?;
        let mut entries = fs::read_dir(wish).map_err(unusable)?.flatten();
        if entries.any(|it| it.file_name() != log::FILE) {
            let message = format!("{} is not empty", wish.display());
            return Err(Expected::new(ExitCode::Usage, message)
                .hint("name a new or empty folder with -o, so that nothing is overwritten"));
        }
        let folder = wish.canonicalize().map_err(unusable)?;
        log::keep_in(&folder);
        Ok(Results {
            folder,
            report: TestsReport::default(),
            last_test: None,
        })
    }

    /// Goes on in the folder of an earlier reduction.
    pub(crate) fn resumed(wish: &Path) -> Result<Results, Expected> {
        let nothing = || {
            let message = format!("{} has no journal to resume from", wish.display());
            Expected::new(ExitCode::Usage, message)
                .hint("name the folder of an earlier reduction with -o, or leave out --resume")
        };
        let folder = wish.canonicalize().map_err(|_| nothing())?;
        match folder.join(JOURNALS).is_dir() {
            true => {
                log::keep_in(&folder);
                Ok(Results {
                    folder,
                    report: TestsReport::default(),
                    last_test: None,
                })
            }
            false => Err(nothing()),
        }
    }

    /// Takes everything away if there was no room for all of it. The folder was new, or empty.
    pub(crate) fn discard_if_full(&self, error: &anyhow::Error) {
        if crate::is_full(error) {
            // What stays is as much as the disk lets go.
            let _ = remove_folder(&self.folder);
        }
    }

    /// Takes the folder away: there is no result. The folder was new, or empty.
    pub(crate) fn discard(&self) {
        log::discard();
        // Nothing in it is missed.
        let _ = remove_folder(&self.folder);
    }

    /// The folder for verdicts.
    pub(crate) fn journals(&self) -> PathBuf {
        self.folder.join(JOURNALS)
    }

    /// The file for the standard input of the command.
    pub(crate) fn input(&self) -> PathBuf {
        self.folder.join(INPUT)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of the report as a page.
    pub(crate) fn page(&self) -> PathBuf {
        self.folder.join("report.html")
    }

    /// Writes a test and prints it.
    pub(crate) fn add(&mut self, test: &FailureTest, console: &mut Console) -> io::Result<()> {
        let found = &test.found;
        let tests = self.folder.join(match test.level {
            CallLevel::Outermost | CallLevel::Result { .. } => "tests",
            // These need not pass when the caller is fixed.
            CallLevel::Between { .. } => "between",
            CallLevel::Innermost { .. } => "innermost",
        });
        let place = tests.join(found.test.package.replace('.', "/"));
        fs::create_dir_all(&place)?;
        let ending = found.test.language.ending();
        let file = place.join(format!("{}.{ending}", found.test.class_name));
        fs::write(&file, &found.test.source)?;
        for resource in &found.resources {
            let copy = self.folder.join(resource_file(resource));
            fs::create_dir_all(copy.parent().unwrap_or(&self.folder))?;
            copy_input(&resource.path, &copy)?;
        }
        let checks = self.folder.join("check");
        let (run, by_hand) = match found.fails_the_same_way() {
            true => (run_command(found, &file, &checks)?, None),
            false => (None, by_hand(found, &file, &checks)?),
        };
        let shown = file.strip_prefix(&self.folder).unwrap_or(&file);
        let file_name = clean::path(shown);
        self.last_test = Some(shown.to_owned());
        let failure = ReportedFailure::with_test(test, file_name, run.clone(), by_hand.clone());
        for line in failure.lines() {
            told(console.err(), "  ", &line)?;
        }
        write!(console.out(), "{}", found.test.source)?;
        writeln!(console.err(), "  {}", clean::path(&file))?;
        if let Some(run) = run {
            writeln!(
                console.err(),
                "  to run it: {}",
                clean::line(&run.to_string())
            )?;
        }
        if let Some(command) = by_hand {
            writeln!(console.err(), "  {OUTSIDE}:\n  {command}")?;
        }
        // Further attempts may take long.
        console.flush()?;
        self.report.failures.push(failure);
        Ok(())
    }

    /// Keeps the script of the last test, so that `culprit slice` can trace it. It is noted as written here.
    pub(crate) fn keep(&mut self, kept: &KeptScript, folders: &[PathBuf]) -> io::Result<()> {
        if let (Some(test), Some(text)) = (&self.last_test, kept.text(&self.folder)) {
            let file = script_file(&self.folder, test);
            fs::create_dir_all(file.parent().unwrap_or(&self.folder))?;
            fs::write(file, &text)?;
            // Without the note, `culprit slice` asks for the class path.
            let _ = origin::note_text(&text, folders);
        }
        Ok(())
    }

    /// Adds where the failure of the last test comes from, and prints it.
    pub(crate) fn locate(&mut self, located: &Located, console: &mut Console) -> io::Result<()> {
        if let Some(failure) = self.report.failures.last_mut() {
            failure.locate(located);
            for line in failure.origin_lines() {
                told(console.err(), "  ", &line)?;
            }
        }
        console.flush()
    }

    /// Notes why it is not known where the failure of the last test comes from, and prints it.
    pub(crate) fn not_located(&mut self, why: &str, console: &mut Console) -> io::Result<()> {
        if let Some(failure) = self.report.failures.last_mut() {
            failure.not_located(why);
            for line in failure.origin_lines() {
                told(console.err(), "  ", &line)?;
            }
        }
        console.flush()
    }

    /// Notes the levels of the last failure that have no test of their own.
    pub(crate) fn leave_out(&mut self, levels: &[LeftOutLevel]) {
        let mut failures = self.report.failures.iter_mut().rev();
        if let Some(failure) = failures.find(|it| it.is_outermost()) {
            failure.leave_out(levels);
        }
    }

    /// Notes a failure that no test was made of.
    pub(crate) fn miss(
        &mut self,
        signature: &Signature,
        rate: Option<Rate>,
        error: &anyhow::Error,
    ) {
        let failure = ReportedFailure::without_test(signature, rate, format!("{error:#}"));
        self.report.failures.push(failure);
    }

    /// Writes the reports.
    pub(crate) fn finish(&self, command: &str, of: &[&OsStr]) -> io::Result<()> {
        let masked = secret::masked(of);
        let mut script = "#!/bin/sh\n# Runs the command that made this folder again.\n".to_owned();
        if masked != of {
            script.push_str(shell::INCOMPLETE);
        }
        let words = shell::line(masked);
        let has_input = fs::metadata(self.input()).is_ok_and(|file| file.len() > 0);
        let input = match has_input {
            true => format!(" < {}", shell::line([self.input()])),
            false => String::new(),
        };
        script.push_str(&format!("{command} -o \"${{1:-again}}\" {words}{input}\n"));
        let command = format!("{command} {words}");
        let json = self.report.document(&command).json();
        fs::write(self.folder.join("report.json"), json)?;
        let text = self.report.markdown(&command);
        fs::write(self.folder.join("report.md"), text)?;
        let page = self.report.html(&command);
        fs::write(self.page(), page)?;
        let wanted = self.report.source_files();
        let find = |here: PathBuf| source_tree::find(&here, &wanted, &self.folder);
        // The folder may be gone: then no sources are found.
        let sources = std::env::current_dir().map(find).unwrap_or_default();
        let sarif = self.report.sarif(&command, &sources);
        fs::write(self.folder.join("report.sarif"), sarif)?;
        fs::write(self.folder.join("repeat.sh"), script)
    }
}

/// The command that compiles a test and runs it outside of the sandbox, or `None` if the test does not depend on the
/// sandbox. The files that the command needs are written to a folder.
fn by_hand(found: &MinimizedTest, file: &Path, folder: &Path) -> io::Result<Option<String>> {
    let is_of_no_use = matches!(
        found.verified,
        Verified::Rejected(_) | Verified::NoCompiler(_)
    );
    let Some(by_hand) = found.by_hand.as_ref().filter(|_| !is_of_no_use) else {
        return Ok(None);
    };
    let folder = folder.join(&found.test.class_name);
    let lines = instructions::lines(by_hand, &found.test, file, &folder)?;
    Ok(Some(lines.join(" && ")))
}

/// The command that runs a test, or `None` if it is not known: without a sandbox, nothing was noted of how it was run.
fn run_command(
    found: &MinimizedTest,
    file: &Path,
    folder: &Path,
) -> io::Result<Option<RunCommand>> {
    let test = &found.test;
    let worked_in = found.by_hand.as_ref().and_then(ByHand::directory);
    let resources = found.resources.iter();
    let resources: Vec<String> = resources
        .map(|resource| clean::path(&resource_file(resource)))
        .collect();
    let here = std::env::current_dir()?;
    let project = instructions::in_project(&here, worked_in, test, &resources);
    match (project, &found.by_hand) {
        (None, Some(by_hand)) => {
            let folder = folder.join(&test.class_name);
            instructions::script(by_hand, test, file, &folder).map(Some)
        }
        (project, _) => Ok(project),
    }
}
