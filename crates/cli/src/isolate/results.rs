//! The folder for what an isolation finds.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use culprit_model::{clean, shell};
use serde::Serialize;

use super::typed::Typed;
use crate::exit::{ExitCode, Expected};
use crate::log;
use culprit_report::markup;

/// The folder for verdicts, within that for results.
const JOURNALS: &str = "journal";

/// The file with all verdicts, as they come.
const CANDIDATES: &str = "candidates.jsonl";

/// The same of a run that this one goes on with.
const BEFORE: &str = "candidates.before.jsonl";

/// Has Git overlook the folder: it is no part of a work tree that is looked at.
const OVERLOOKED: &str = ".gitignore";

/// A folder that is ours.
pub(crate) struct Results {
    folder: PathBuf,
}

impl Results {
    /// Uses a folder that is new or empty, or goes on in one that has a journal.
    pub(crate) fn in_folder(wish: &Path, resume: bool) -> Result<Results, Expected> {
        let unusable = |error: io::Error| {
            let message = format!("cannot write to {}: {error}", wish.display());
            Expected::new(ExitCode::Usage, message).hint("name another folder (-o)")
        };
        if resume && !wish.join(JOURNALS).is_dir() {
            let message = format!("there is nothing to resume in {}", wish.display());
            return Err(Expected::new(ExitCode::Usage, message)
                .hint("name the folder of an earlier run with -o, or leave out --resume"));
        }
        // The input, or the change, may be nobody else's business.
        let mut private = fs::DirBuilder::new();
        let made = private.recursive(true).mode(0o700).create(wish);
        made.map_err(unusable)?;
        let mut entries = fs::read_dir(wish).map_err(unusable)?.flatten();
        if !resume && entries.any(|it| it.file_name() != log::FILE) {
            let message = format!("{} is not empty", wish.display());
            return Err(Expected::new(ExitCode::Usage, message).hint(
                "name a new or empty folder with -o, or continue in this one with --resume",
            ));
        }
        let folder = wish.canonicalize().map_err(unusable)?;
        fs::create_dir_all(folder.join(JOURNALS)).map_err(unusable)?;
        fs::write(folder.join(OVERLOOKED), "*\n").map_err(unusable)?;
        log::keep_in(&folder);
        Ok(Results { folder })
    }

    /// Takes away what holds no verdict, so that the next try finds the folder as this one did.
    pub(crate) fn give_up(&self) {
        log::discard();
        let candidates = self.path(CANDIDATES);
        if fs::metadata(&candidates).is_ok_and(|data| data.len() == 0) {
            let _ = fs::remove_file(&candidates);
        }
        let _ = fs::rename(self.path(BEFORE), &candidates);
        // Folders with something in them stay: that is what these calls refuse.
        let _ = fs::remove_dir(self.journals());
        let left = fs::read_dir(&self.folder).map_or(0, Iterator::count);
        if left == 1 {
            let _ = fs::remove_file(self.path(OVERLOOKED));
        }
        let _ = fs::remove_dir(&self.folder);
    }

    /// Takes away all that this run wrote: its verdicts are of no use to another.
    pub(crate) fn forget(&self) {
        let _ = fs::remove_dir_all(self.journals());
        let _ = fs::remove_file(self.path(CANDIDATES));
        self.give_up();
    }

    /// The folder for verdicts.
    pub(crate) fn journals(&self) -> PathBuf {
        self.folder.join(JOURNALS)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        fs::write(self.path(name), bytes)
    }

    /// Writes a script that repeats what was done in a folder, with some notes.
    pub(crate) fn write_script(
        &self,
        folder: &Path,
        notes: &[String],
        command: &Typed,
    ) -> io::Result<()> {
        // All verdicts are in the new one.
        let _ = fs::remove_file(self.path(BEFORE));
        let mut script =
            "#!/bin/sh\n# Runs the command that made this folder again, into another folder.\n"
                .to_owned();
        for note in notes {
            script.push_str(&format!("# {}\n", clean::line(note)));
        }
        if command.has_secrets() {
            script.push_str(shell::INCOMPLETE);
        }
        script.push_str("out=${1:-again}\ncase $out in /*) ;; *) out=$PWD/$out ;; esac\n");
        let (folder, command) = (shell::word(folder), command.line());
        script.push_str(&format!("cd {folder} || exit 2\n{command} -o \"$out\"\n"));
        self.write("repeat.sh", script.as_bytes())?;
        fs::set_permissions(self.path("repeat.sh"), fs::Permissions::from_mode(0o755))
    }
}

/// A line of JSON for each candidate, as they come.
pub(crate) struct Candidates(File);

impl Candidates {
    pub(crate) fn begin(results: &Results) -> io::Result<Candidates> {
        let path = results.path(CANDIDATES);
        if fs::metadata(&path).is_ok_and(|data| data.len() > 0) {
            fs::rename(&path, results.path(BEFORE))?;
        }
        File::create(path).map(Candidates)
    }

    pub(crate) fn add(&mut self, candidate: &impl Serialize) -> io::Result<()> {
        writeln!(self.0, "{}", markup::json_line(candidate))
    }
}
