//! The folder of a run: made new for each, private, with the facts of the run in `run.txt`.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use culprit_jvm::Status;
use culprit_model::secret::{self, MASK};
use culprit_model::{AgentOptions, clean, shell};
use culprit_trace::RUN_FACTS;
use jiff::Zoned;
use jiff::civil::Date;
use regex_lite::Regex;

use crate::exit::{ExitCode, Expected};
use crate::log;

/// Where runs go when no folder is named.
const RUNS: &str = "culprit-runs";

/// A folder made for this run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RunFolder {
    /// As the user would write it.
    shown: PathBuf,
    cwd: PathBuf,
}

impl fmt::Display for RunFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&clean::path(&self.shown))
    }
}

impl RunFolder {
    /// Makes the folder, and checks that it can be written to.
    pub(crate) fn create(wish: Option<&Path>, cwd: &Path, today: Date) -> Result<Self, Expected> {
        let made = match wish {
            Some(wish) => RunFolder::make(wish, cwd),
            None => RunFolder::make_numbered(cwd, today),
        }?;
        made.try_writing()?;
        log::keep_in(&made.path());
        Ok(made)
    }

    fn make(wish: &Path, cwd: &Path) -> Result<RunFolder, Expected> {
        let made = RunFolder {
            shown: wish.to_path_buf(),
            cwd: cwd.to_path_buf(),
        };
        private()
            .recursive(true)
            .create(made.path())
            .map_err(|error| {
                // An existing file in the way is said as such by the system.
                unwritable(wish, &error)
            })?;
        let mut entries = fs::read_dir(made.path()).map_err(|error| unwritable(wish, &error))?;
        if entries.next().is_some() {
            let message = format!("{} is not empty", wish.display());
            return Err(Expected::new(ExitCode::Usage, message)
                .hint("name a new or empty folder with -o, so that nothing is overwritten"));
        }
        Ok(made)
    }

    fn make_numbered(cwd: &Path, today: Date) -> Result<RunFolder, Expected> {
        let runs = cwd.join(RUNS);
        private()
            .recursive(true)
            .create(&runs)
            .map_err(|error| unwritable(Path::new(RUNS), &error))?;
        for number in 1_u64.. {
            let name = format!("{today}-{number}");
            let shown = Path::new(RUNS).join(&name);
            match private().create(runs.join(&name)) {
                Ok(()) => {
                    return Ok(RunFolder {
                        shown,
                        cwd: cwd.to_path_buf(),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(&shown, &error)),
            }
        }
        unreachable!("the numbers do not run out")
    }

    fn try_writing(&self) -> Result<(), Expected> {
        self.write(RUN_FACTS, b"")
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.cwd.join(&self.shown)
    }

    /// The path as the agent needs it: it may run in another folder.
    pub(crate) fn absolute(&self) -> Result<String, Expected> {
        let path = self.path();
        let path = path.canonicalize().unwrap_or(path);
        path.into_os_string().into_string().map_err(|path| {
            let message = format!("{} is not UTF-8", path.to_string_lossy());
            Expected::new(ExitCode::Usage, message).hint("name another folder with -o")
        })
    }

    /// Writes the facts, in place of those written before.
    pub(crate) fn write_facts(&self, facts: &Facts) -> Result<(), Expected> {
        self.write(RUN_FACTS, facts.to_string().as_bytes())
    }

    /// A command line may hold secrets, so the file is private like the recordings.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Expected> {
        let part = self.path().join(format!("{name}.part"));
        let write = || {
            let mut file = File::options()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&part)?;
            file.write_all(bytes)?;
            fs::rename(&part, self.path().join(name))
        };
        write().map_err(|error| unwritable(&self.shown, &error))
    }
}

fn private() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

fn unwritable(path: &Path, error: &io::Error) -> Expected {
    let message = format!("cannot record into {}: {error}", path.display());
    Expected::new(ExitCode::Usage, message).hint("name a folder you can write to with -o")
}

/// What is worth knowing about a run besides its recordings.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Facts {
    pub(crate) command: Vec<OsString>,
    pub(crate) cwd: PathBuf,
    pub(crate) options: AgentOptions,
    pub(crate) start: Zoned,
    /// When and how the command ended; absent while it runs, or if we were killed.
    pub(crate) end: Option<(Zoned, Status)>,
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |at: &Zoned| at.strftime("%FT%T%:z").to_string();
        let mask = Mask::of(self.options.mode.redact());
        let command = secret::masked(&self.command);
        let command = command.iter().map(|word| mask.apply(word));
        writeln!(f, "version: {}", env!("CARGO_PKG_VERSION"))?;
        writeln!(f, "command: {}", shell::line(command))?;
        writeln!(
            f,
            "folder: {}",
            shell::line([mask.apply(self.cwd.as_os_str())])
        )?;
        writeln!(f, "options: {}", self.options.without_patterns())?;
        writeln!(f, "start: {}", time(&self.start))?;
        if let Some((end, status)) = &self.end {
            writeln!(f, "end: {}", time(end))?;
            writeln!(f, "status: {status}")?;
        }
        Ok(())
    }
}

/// What `--redact` keeps out of sight.
struct Mask(Vec<Regex>);

impl Mask {
    fn of(patterns: &[String]) -> Mask {
        // Patterns that are none were refused before.
        Mask(patterns.iter().filter_map(|p| Regex::new(p).ok()).collect())
    }

    fn apply(&self, word: &OsStr) -> OsString {
        let text = word.to_string_lossy();
        match self.0.iter().any(|pattern| pattern.is_match(&text)) {
            true => MASK.into(),
            false => word.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use culprit_model::options::{Mode, RecordOptions};
    use std::os::unix::fs::MetadataExt;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn runs_of_a_day_are_numbered_and_private() {
        let dir = tempfile::tempdir().unwrap();
        let today = jiff::civil::date(2026, 3, 9);
        for expect in ["culprit-runs/2026-03-09-1", "culprit-runs/2026-03-09-2"] {
            let folder = RunFolder::create(None, dir.path(), today).unwrap();
            assert_eq!(folder.to_string(), expect);
            assert_eq!(mode(&folder.path()), 0o700);
            assert_eq!(mode(&folder.path().join("run.txt")), 0o600);
        }
    }

    #[test]
    fn a_named_folder_is_made_and_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let today = jiff::civil::date(2026, 3, 9);
        let wish = Path::new("a/b");
        let folder = RunFolder::create(Some(wish), dir.path(), today).unwrap();
        assert_eq!(mode(&folder.path()), 0o700);
        let error = RunFolder::create(Some(wish), dir.path(), today).unwrap_err();
        assert_eq!(error.message, "a/b is not empty");
        assert_eq!(error.code, ExitCode::Usage);
    }

    #[test]
    fn a_file_in_the_way_is_a_usage_error() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        let today = jiff::civil::date(2026, 3, 9);
        for wish in ["file", "file/below"] {
            let error = RunFolder::create(Some(Path::new(wish)), dir.path(), today).unwrap_err();
            assert!(error.message.contains(wish), "{error}");
            assert_eq!(error.code, ExitCode::Usage);
        }
    }

    #[test]
    fn facts_are_one_line_each() {
        let at = |text: &str| text.parse::<Zoned>().unwrap();
        let facts = Facts {
            command: vec!["java".into(), "-jar".into(), "my app.jar".into()],
            cwd: "/home/me".into(),
            options: AgentOptions {
                out: "/home/me/r".to_owned(),
                mode: Mode::Record(RecordOptions {
                    last: Some(5),
                    ..RecordOptions::default()
                }),
            },
            start: at("2026-03-09T10:00:00+01:00[+01:00]"),
            end: Some((at("2026-03-09T10:00:02+01:00[+01:00]"), Status::Killed(9))),
        };
        let expect = format!(
            "version: {}\n\
             command: java -jar 'my app.jar'\n\
             folder: /home/me\n\
             options: out=/home/me/r,last=5\n\
             start: 2026-03-09T10:00:00+01:00\n\
             end: 2026-03-09T10:00:02+01:00\n\
             status: 137 (signal 9)\n",
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(facts.to_string(), expect);
        let masked = Facts {
            command: vec!["java".into(), "-Dpw=hunter2".into()],
            options: AgentOptions {
                out: String::new(),
                mode: Mode::Record(RecordOptions {
                    redact: vec!["hunter2".to_owned()],
                    ..RecordOptions::default()
                }),
            },
            ..facts
        };
        assert!(!masked.to_string().contains("hunter2"), "{masked}");
        assert!(masked.to_string().contains("java '***'"), "{masked}");
    }
}
