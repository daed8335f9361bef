//! The user's test: a command that is run on a candidate.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use culprit_jvm::{Launch, Limits, RunEnd, Sandbox, WatchedRun, resolve};
use culprit_model::shell;
use culprit_reduce::Budget;

use crate::{Ending, Error, Rule};

/// Stands for the path of the candidate in a command.
const PLACE: &str = "{}";

/// The least that the time of a search makes of the limit of one run.
const LEAST_LIMIT: Duration = Duration::from_secs(10);

/// A command, and what its end means.
#[derive(Clone, Debug)]
pub struct TestCommand {
    /// What a shell runs. `{}` stands for the candidate's path.
    pub command: OsString,
    pub rule: Rule,
    /// It is killed after so long.
    pub limit: Duration,
    /// All of its environment, but for `TMPDIR`.
    pub env: Vec<(OsString, OsString)>,
    /// Where it may write besides the folder of its setup; `None` lets it do whatever we may do.
    pub sandbox: Option<Sandbox>,
    /// What it may use up. Of a command of the user's, that is for the user to say.
    pub limits: Limits,
}

/// The folders and the input of one run of a test.
#[derive(Clone, Debug)]
pub struct RunSetup {
    /// The folder that holds what was made for this run. In a sandbox it is the only one to write to.
    pub own: PathBuf,
    /// The folder it works in.
    pub directory: PathBuf,
    /// Its folder for temporary files.
    pub scratch: PathBuf,
    /// What `{}` stands for. Without `{}` in the command it comes last.
    pub candidate: Option<PathBuf>,
    /// What it reads on its standard input.
    pub input: Option<PathBuf>,
}

impl TestCommand {
    /// The same command, whose runs may take no longer than the whole search, but long enough to see how a
    /// test ends that does not hang.
    #[must_use]
    pub(crate) fn within(&self, budget: &Budget) -> TestCommand {
        let most = budget.time.unwrap_or(Duration::MAX);
        let mut test = self.clone();
        test.limit = test.limit.min(most.max(LEAST_LIMIT));
        test
    }

    /// Runs the command once. Nothing of it is left when this returns.
    pub fn run(&self, setup: &RunSetup, wanted: &dyn Fn() -> bool) -> Result<Ending, Error> {
        let mut env = self.env.clone();
        env.retain(|(name, _)| name != "TMPDIR");
        env.push(("TMPDIR".into(), setup.scratch.clone().into()));
        let launch = Launch {
            file: "/bin/sh".into(),
            args: vec!["-c".into(), self.script(setup)],
            env,
            directory: setup.directory.clone(),
            limits: self.limits,
            sandbox: self.sandbox.clone().map(|it| it.allow_write(&setup.own)),
        };
        let ran = launch.run_watched(&WatchedRun {
            limit: self.limit,
            input: setup.input.as_deref(),
            kept: self.rule.kept(),
            wanted,
        })?;
        match ran.end {
            RunEnd::Unwanted => Err(Error::Unwanted),
            _ => Ok(Ending::of(&ran)),
        }
    }

    /// What the shell is told.
    pub fn script(&self, setup: &RunSetup) -> OsString {
        // The shell becomes the program: a process less, and its signals are told as they are.
        let mut script = OsString::from(if self.is_plain() { "exec " } else { "" });
        script.push(match &setup.candidate {
            Some(path) => with_word(&self.command, PLACE, &shell::word(path)),
            None => self.command.clone(),
        });
        script
    }

    /// Whether the command is a program with plain words.
    fn is_plain(&self) -> bool {
        let safe = |c: char| c.is_ascii_alphanumeric() || " _-./:,+@%{}".contains(c);
        let command = self.command.to_str().unwrap_or_default();
        let Some(first) = command.split_whitespace().next() else {
            return false;
        };
        let path = self.env.iter().find(|(name, _)| name == "PATH");
        command.chars().all(safe)
            && resolve(first.as_ref(), path.map(|(_, path)| path.as_os_str())).is_ok()
    }
}

/// Replaces each mark in a command by a quoted word, or appends the word to a command without a mark.
/// Quotes around the mark alone are removed.
fn with_word(command: &OsStr, mark: &str, word: &str) -> OsString {
    let mut rest = command.as_bytes();
    let mut script = Vec::new();
    while let Some(at) = rest
        .windows(mark.len())
        .position(|it| it == mark.as_bytes())
    {
        let (mut before, mut after) = (&rest[..at], &rest[at + mark.len()..]);
        if let (Some((one, less)), Some((other, more))) = (before.split_last(), after.split_first())
            && one == other
            && b"'\"".contains(one)
        {
            (before, after) = (less, more);
        }
        script.extend_from_slice(before);
        script.extend_from_slice(word.as_bytes());
        rest = after;
    }
    script.extend_from_slice(rest);
    if rest.len() == command.len() {
        script.push(b' ');
        script.extend_from_slice(word.as_bytes());
    }
    OsString::from_vec(script)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use culprit_jvm::Status;

    use super::*;
    use crate::Rule;
    use crate::ending::How;

    pub(crate) fn shell(command: &str) -> TestCommand {
        TestCommand {
            command: command.into(),
            rule: Rule::default(),
            limit: Duration::from_secs(60),
            env: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
            sandbox: None,
            limits: Limits::NONE,
        }
    }

    pub(crate) fn setup(folder: &Path) -> RunSetup {
        RunSetup {
            own: folder.to_owned(),
            directory: folder.to_owned(),
            scratch: folder.to_owned(),
            candidate: None,
            input: None,
        }
    }

    fn run(command: &str, name: impl AsRef<OsStr>) -> Ending {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name.as_ref());
        fs::write(&path, "abc\n").unwrap();
        let setup = RunSetup {
            candidate: Some(path.clone()),
            ..setup(folder.path())
        };
        shell(command).run(&setup, &|| true).unwrap()
    }

    #[test]
    fn the_candidate_is_where_the_user_put_it_or_last() {
        for (command, name, expect) in [
            ("cat", "a.txt", "abc\n"),
            ("cat {} {}", "it's one file.txt", "abc\nabc\n"),
            ("tr a-c x <{}; true", "a b", "xxx\n"),
            ("pwd >/dev/null; cat", "$HOME", "abc\n"),
        ] {
            let ending = run(command, name);
            assert_eq!(ending.out, expect, "{command}: {ending:?}");
            assert_eq!(ending.how, How::Ended(Status::Exited(0)));
        }
        let odd = OsStr::from_bytes(b"two\nlines \xff");
        assert_eq!(run("cat {}; true", odd).out, "abc\n");
    }

    #[test]
    fn a_signal_is_seen_through_the_shell() {
        let script = "kill -SEGV $$; cat";
        let told = run(&format!("sh -c '{script}' x"), "a").how;
        assert_eq!(told.signal(), Some(11), "{told:?}");
        let told = run(&format!("true; sh -c '{script}' x; exit $?"), "a").how;
        assert_eq!(told.signal(), Some(11), "{told:?}");
    }

    #[test]
    fn standard_input_and_the_folder_for_temporary_files_are_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in");
        fs::write(&path, "xyz").unwrap();
        let setup = RunSetup {
            input: Some(path),
            ..setup(folder.path())
        };
        let test = shell("cat; echo; echo $TMPDIR");
        let ending = test.run(&setup, &|| true).unwrap();
        let expect = format!("xyz\n{}\n", folder.path().display());
        assert_eq!(ending.out, expect);
    }

    #[test]
    fn a_test_that_uses_too_much_has_no_verdict() {
        let home = tempfile::tempdir().unwrap();
        let fill = "while :; do i=$((i+1)); head -c 3000000 /dev/zero >$i; sleep 0.01; done";
        let mut test = shell(fill);
        test.rule.convention = crate::Convention::Tester;
        test.sandbox = Some(Sandbox::default().allow_programs());
        test.limits.file_size = Some(4 << 20);
        let ending = test.run(&setup(home.path()), &|| true).unwrap();
        let why = "was killed because it wrote more than 8 MB to its folder";
        assert_eq!(ending.how.to_string(), why);
        let answer = test.rule.answer(&ending);
        assert_eq!(answer, crate::RunAnswer::Unresolved(why.to_owned()));
        // Memory is refused by the kernel, to each process.
        test.command = "head -c 300000000 /dev/zero | tail -c 200000000 >/dev/null".into();
        let mut code = |memory| {
            test.limits.memory = memory;
            test.run(&setup(home.path()), &|| true).unwrap().how.code()
        };
        assert_eq!(code(None), Some(0));
        assert_ne!(code(Some(64 << 20)), Some(0));
    }

    #[test]
    fn in_a_sandbox_a_command_starts_programs_and_writes_to_the_folder_of_its_run_only() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("own");
        fs::create_dir(&own).unwrap();
        let precious = home.path().join("precious");
        fs::write(&precious, "kept").unwrap();
        let command = "rm -f ../precious; echo x >../new; cat ../precious >copy; cat copy";
        let mut test = shell(command);
        test.sandbox = Some(Sandbox::default().allow_programs());
        let ending = test.run(&setup(&own), &|| true).unwrap();
        assert_eq!(ending.out, "kept", "{ending:?}");
        assert!(precious.exists() && !home.path().join("new").exists());
        test.sandbox = None;
        test.run(&setup(&own), &|| true).unwrap();
        assert!(!precious.exists());
    }

    #[test]
    fn a_word_is_put_where_it_is_wanted_or_last() {
        let check = |command: &str, expect: &str| {
            let made = with_word(command.as_ref(), "{}", "w");
            assert_eq!(made, expect);
        };
        check("cat", "cat w");
        check("{} <{}", "w <w");
        check("a {} b", "a w b");
        check("a \"{}\" '{}' '{} b'", "a w w 'w b'");
    }
}
