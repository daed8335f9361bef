//! Showing a file in the user's own browser.
//!
//! The browser belongs to the user: it has the environment of this process, is in a process group of its own without our
//! streams, and goes on when this process has ended. No shell reads the name of the file.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::target::command;
use crate::{Status, TargetError, orphans, resolve};

/// The programs of desktops that open a file.
const OF_SYSTEM: &str = match cfg!(target_os = "macos") {
    true => "open",
    false => "xdg-open",
};

/// The time in which a program that cannot open a file ends. One that still runs is taken for the browser itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// A file that no browser shows.
#[derive(Debug, thiserror::Error)]
pub enum ViewerError {
    #[error(transparent)]
    Start(#[from] TargetError),
    #[error("{} ended with {}", .program.display(), .status.shell_code())]
    Failed { program: PathBuf, status: Status },
}

/// The browser of a user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Viewer {
    /// Commands to try, in this order; the file takes the place of `%s`, or follows.
    commands: Vec<Vec<OsString>>,
    /// The folders of programs.
    path: Option<OsString>,
}

impl Viewer {
    /// The browser that the environment names: the commands of `BROWSER`, divided by colons, else that of the system.
    pub fn of_process() -> Viewer {
        Viewer::of(std::env::var_os("BROWSER"), std::env::var_os("PATH"))
    }

    fn of(browser: Option<OsString>, path: Option<OsString>) -> Viewer {
        let browser = browser.unwrap_or_default();
        let commands = browser.as_bytes().split(|byte| *byte == b':').map(words);
        let mut commands: Vec<Vec<OsString>> = commands.filter(|it| !it.is_empty()).collect();
        if commands.is_empty() {
            commands.push(vec![OF_SYSTEM.into()]);
        }
        Viewer { commands, path }
    }

    /// Opens a file, whose path is absolute. The error is that of the last command.
    pub fn open(&self, file: &Path) -> Result<(), ViewerError> {
        let mut opened = Err(TargetError::NotOnPath(OF_SYSTEM.to_owned()).into());
        for words in &self.commands {
            opened = self.try_command(words, file);
            if opened.is_ok() {
                break;
            }
        }
        opened
    }

    fn try_command(&self, words: &[OsString], file: &Path) -> Result<(), ViewerError> {
        let (name, args) = words
            .split_first()
            .map_or((OsStr::new(""), &[][..]), |it| (it.0.as_os_str(), it.1));
        let program = resolve(name, self.path.as_deref())?;
        let mut browser = command(&program);
        browser.args(arguments(args, file)).process_group(0);
        browser.stdin(Stdio::null());
        browser.stdout(Stdio::null()).stderr(Stdio::null());
        let error = |error: io::Error| TargetError::Start {
            program: program.clone(),
            error,
        };
        let mut child = orphans::spawn(browser).map_err(error)?;
        let (send, ended) = mpsc::channel();
        // It waits until the browser ends, or this process.
        thread::spawn(move || {
            let status = child.wait();
            orphans::forget(child.id());
            let _ = send.send(status);
        });
        match ended.recv_timeout(PATIENCE) {
            Ok(Ok(status)) if !status.success() => Err(ViewerError::Failed {
                program,
                status: status.into(),
            }),
            _ => Ok(()),
        }
    }
}

/// The words of a command of `BROWSER`: there are no quotes in it.
fn words(command: &[u8]) -> Vec<OsString> {
    let words = command.split(u8::is_ascii_whitespace);
    let words = words.filter(|word| !word.is_empty());
    words
        .map(|word| OsStr::from_bytes(word).to_owned())
        .collect()
}

/// The arguments of a command, with the file in the place of each `%s`, or as the last one.
fn arguments(words: &[OsString], file: &Path) -> Vec<OsString> {
    let file = file.as_os_str();
    let mut has_file = false;
    let mut arguments: Vec<OsString> = Vec::new();
    for word in words {
        let mut argument = Vec::new();
        let mut rest = word.as_bytes();
        while let Some(at) = rest.windows(2).position(|it| it == b"%s") {
            argument.extend_from_slice(&rest[..at]);
            argument.extend_from_slice(file.as_bytes());
            rest = &rest[at + 2..];
            has_file = true;
        }
        argument.extend_from_slice(rest);
        arguments.push(OsString::from_vec(argument));
    }
    if !has_file {
        arguments.push(file.to_owned());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::target::tests::write_program;

    fn viewer(browser: &str) -> Viewer {
        Viewer::of(Some(browser.into()), Some("/bin:/usr/bin".into()))
    }

    #[test]
    fn a_browser_gets_the_path_as_one_word_that_no_shell_reads() {
        let folder = tempfile::tempdir().unwrap();
        let browser = folder.path().join("browser");
        write_program(&browser, "#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$0.got\"\n");
        let got = || fs::read_to_string(folder.path().join("browser.got")).unwrap();
        let file = folder.path().join("a $(touch x); b.html");
        let (shown, browser) = (file.display(), browser.display());
        for (commands, expect) in [
            (format!("{browser}"), format!("{shown}\n")),
            (
                format!("{browser}  --new u=%s"),
                format!("--new\nu={shown}\n"),
            ),
            (format!("no-such:false:{browser}"), format!("{shown}\n")),
        ] {
            viewer(&commands).open(&file).unwrap();
            assert_eq!(got(), expect);
        }
        assert!(!folder.path().join("x").exists());
    }

    #[test]
    fn a_browser_that_is_missing_or_fails_is_an_error() {
        let open = |browser: &str| viewer(browser).open(Path::new("/r.html")).unwrap_err();
        let error = open("no-such-browser");
        assert!(matches!(error, ViewerError::Start(_)), "{error}");
        let told = open("false").to_string();
        assert!(told.ends_with("false ended with 1"), "{told}");
    }

    #[test]
    fn without_a_browser_the_system_opens_files() {
        for none in [None, Some(""), Some(" : ")] {
            let viewer = Viewer::of(none.map(OsString::from), None);
            assert_eq!(viewer.commands, [[OF_SYSTEM]]);
        }
    }
}
