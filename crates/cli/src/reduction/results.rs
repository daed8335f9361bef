//! The result folder of `debug` and `minimize`: tests, reports and the journal.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use culprit_debug::{FailureTest, Level, Rate};
use culprit_jvm::{WorkingFolder, remove_folder};
use culprit_minimize::Needed;
use culprit_model::{clean, secret, shell};
use culprit_reduce::End;
use culprit_report::markup;
use culprit_report::markup::markdown::{block, code, plain};
use culprit_signature::Signature;
use serde_json::json;

use super::verdict::{by_hand, verdict};
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::log;

/// The folder for verdicts, within that for results.
const JOURNALS: &str = "journal";

/// What is said before the command that runs a test with the rights of the user.
const OUTSIDE: &str = "it was run in the sandbox; to run it with all your rights";

/// The result folder, and the reports to come.
pub(crate) struct Results {
    folder: PathBuf,
    /// The tests for `report.json`.
    tests: Vec<serde_json::Value>,
    /// The text of `report.md`.
    text: String,
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
            tests: Vec::new(),
            text: String::new(),
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
                    tests: Vec::new(),
                    text: String::new(),
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

    /// The folder for verdicts.
    pub(crate) fn journals(&self) -> PathBuf {
        self.folder.join(JOURNALS)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a test and says what it is.
    pub(crate) fn add(&mut self, test: &FailureTest, console: &mut Console) -> io::Result<()> {
        let FailureTest {
            signature,
            rate,
            level,
            found,
            took,
        } = test;
        let tests = self.folder.join(match level {
            Level::Outermost => "tests",
            // These need not pass when the caller is mended.
            Level::Innermost { .. } => "innermost",
        });
        let place = tests.join(found.test.package.replace('.', "/"));
        fs::create_dir_all(&place)?;
        let file = place.join(format!("{}.java", found.test.class_name));
        fs::write(&file, &found.test.source)?;
        let minimised = &found.minimised;
        let left = found.left();
        let (verdict, is_good) = verdict(found);
        let by_hand = match is_good {
            true => None,
            false => by_hand(found, &file, &self.folder.join("check"))?,
        };
        let early = early(minimised.end);
        let seconds = took.as_secs_f64();
        let shown = file
            .strip_prefix(&self.folder)
            .map_or_else(|_| clean::path(&file), clean::path);
        self.tests.push(json!({
            "failure": signature.to_string(),
            "stack": signature.thrown().to_string(),
            "fails": rate.map(|rate| json!({ "times": rate.times, "of": rate.of })),
            "level": level.to_string(),
            "test": shown,
            "captured": minimised.captured,
            "sliced": minimised.sliced,
            "left": left,
            "leftOfThrower": match level {
                Level::Outermost => None,
                Level::Innermost { calls, .. } => Some(calls),
            },
            "statements": found.test.notes.statements,
            "surroundings": minimised.script.prelude,
            "environment": found.needs.as_ref().map(Needed::names),
            "standIns": found.test.notes.stand_ins,
            "reflection": found.test.notes.uses_reflection,
            "runs": found.tests,
            "minimal": early.is_none(),
            "seconds": (seconds * 10.0).round() / 10.0,
            "runBy": found.runner.name(),
            "folder": clean::line(&found.works_in.to_string()),
            "verified": is_good,
            "verdict": verdict,
            "byHand": by_hand,
        }));
        let own = match level {
            Level::Outermost => String::new(),
            Level::Innermost { calls, .. } if *calls == left => String::new(),
            Level::Innermost { class, calls } => format!(" ({calls} of {class})"),
        };
        let summary = format!(
            "{} calls recorded, {} in the slice, {left} left{own} after {} runs",
            minimised.captured, minimised.sliced, found.tests
        );
        let partial = early.map(|why| format!("may not be minimal: {why}"));
        let needs = needed_files(&found.works_in);
        self.text.push_str(&format!(
            "## {}{}\n\n{}{summary}{}. {}: {}.{}\n\n{}\n{}",
            plain(&signature.to_string()),
            match level {
                Level::Outermost => "",
                Level::Innermost { .. } => ": the innermost level",
            },
            rate.map_or(String::new(), |rate| format!("The command {rate}. ")),
            (partial.as_ref()).map_or(String::new(), |partial| format!("; {partial}")),
            code(&shown),
            plain(&verdict),
            (needs.as_ref()).map_or(String::new(), |needs| format!(" Note: {}.", plain(needs))),
            block("java", &found.test.source),
            (by_hand.as_ref()).map_or(String::new(), |command| format!(
                "{OUTSIDE}:\n\n{}\n",
                block("sh", &format!("{command}\n"))
            )),
        ));
        let trouble = found.journal_trouble.as_ref();
        let trouble = trouble.map(|why| format!("the journal lacks verdicts: {why}"));
        for line in [Some(summary), partial, trouble].into_iter().flatten() {
            writeln!(console.err(), "  {line}")?;
        }
        writeln!(console.err(), "  {}", clean::line(&verdict))?;
        if let Some(needs) = &needs {
            writeln!(console.err(), "  {}", clean::line(needs))?;
        }
        write!(console.out(), "{}", found.test.source)?;
        writeln!(console.err(), "  {}", clean::path(&file))?;
        if let Some(command) = by_hand {
            writeln!(console.err(), "  {OUTSIDE}:\n  {command}")?;
        }
        Ok(())
    }

    /// Notes a failure that no test was made of.
    pub(crate) fn miss(
        &mut self,
        signature: &Signature,
        rate: Option<Rate>,
        error: &anyhow::Error,
    ) {
        let why = format!("{error:#}");
        let how_often = rate.map_or(String::new(), |rate| format!("The command {rate}. "));
        self.text.push_str(&format!(
            "## {}\n\n{how_often}No test: {}.\n\n",
            plain(&signature.to_string()),
            plain(&why)
        ));
        self.tests.push(json!({
            "failure": signature.to_string(),
            "stack": signature.thrown().to_string(),
            "fails": rate.map(|rate| json!({ "times": rate.times, "of": rate.of })),
            "verified": false,
            "verdict": why,
        }));
    }

    /// Writes the reports.
    pub(crate) fn finish(&self, command: &str, of: &[&OsStr]) -> io::Result<()> {
        let masked = secret::masked(of);
        let mut script = "#!/bin/sh\n# Runs the command that made this folder again.\n".to_owned();
        if masked != of {
            script.push_str(shell::INCOMPLETE);
        }
        let words = shell::line(masked);
        script.push_str(&format!("{command} -o \"${{1:-again}}\" {words}\n"));
        let command = format!("{command} {words}");
        let report = json!({ "version": 1, "command": command, "tests": self.tests });
        fs::write(self.folder.join("report.json"), markup::json(&report))?;
        let text = format!("# What fails in {}\n\n{}", code(&command), self.text);
        fs::write(self.folder.join("report.md"), text)?;
        fs::write(self.folder.join("repeat.sh"), script)
    }
}

/// Files that a test does not fail without, as a part of a sentence.
fn needed_files(folder: &WorkingFolder) -> Option<String> {
    match folder {
        WorkingFolder::Empty | WorkingFolder::Scratch => None,
        WorkingFolder::Copy(template) => {
            let root = template.root().display();
            let changed = template.changed().map(|file| {
                let file = file.display();
                format!("; the program changed {file} there, so calls may be missing")
            });
            let changed = changed.unwrap_or_default();
            Some(format!("it needs files of {root}{changed}"))
        }
        WorkingFolder::Given(path) => Some(format!(
            "it needs files of {}, or of your home folder; if the program wrote them, calls may be missing",
            path.display()
        )),
    }
}

/// Why a result may not be minimal.
fn early(end: End) -> Option<&'static str> {
    match end {
        End::Minimal => None,
        End::Tests => Some("--max-tests was reached"),
        End::Time => Some("--max-time was reached"),
        End::Cancelled => Some("interrupted"),
    }
}
