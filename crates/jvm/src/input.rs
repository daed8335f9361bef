//! The standard input of this process, for each of several runs of a command.
//!
//! The first run is given the input as it comes, and what it is given is kept in a file; later runs read that file. A
//! run that does not read its input does not wait for it, however long that stays open.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The most bytes that are kept. Every run sees the input end there.
const MOST: u64 = 64 << 20;

/// The standard input of several runs.
#[derive(Debug)]
pub struct KeptInput {
    /// The file with what was kept; `None` gives every run nothing to read.
    file: Option<PathBuf>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
enum State {
    /// No run has been given it yet.
    New,
    /// The first run is being given it.
    Passing(File),
    Kept,
}

impl KeptInput {
    /// No input: every run finds its end.
    pub fn none() -> KeptInput {
        KeptInput {
            file: None,
            state: Arc::new(Mutex::new(State::Kept)),
        }
    }

    /// The input of this process, kept in a file. A terminal is not read.
    pub fn of_process(file: &Path) -> KeptInput {
        match io::IsTerminal::is_terminal(&io::stdin()) {
            true => KeptInput::none(),
            false => KeptInput::in_file(file),
        }
    }

    fn in_file(file: &Path) -> KeptInput {
        KeptInput {
            file: Some(file.to_owned()),
            state: Arc::new(Mutex::new(State::New)),
        }
    }

    /// The input as a text, if there is some and it is no longer than this.
    pub fn text(&self, most: u64) -> Option<String> {
        let file = self.file.as_ref()?;
        let length = fs::metadata(file).ok()?.len();
        let text = (1..=most).contains(&length).then(|| fs::read(file).ok())?;
        String::from_utf8(text?).ok()
    }

    /// The file with the input, if there is some.
    pub fn kept(&self) -> Option<&Path> {
        let file = self.file.as_deref();
        file.filter(|file| fs::metadata(file).is_ok_and(|it| it.len() > 0))
    }

    /// The standard input of the next run.
    pub(crate) fn stream(&self) -> io::Result<Stdio> {
        let Some(path) = &self.file else {
            return Ok(Stdio::null());
        };
        let mut state = lock(&self.state);
        if matches!(*state, State::Kept) {
            return Ok(File::open(path)?.into());
        }
        // The input may have secrets.
        let mut private = File::options();
        let private = private.write(true).create(true).truncate(true).mode(0o600);
        *state = State::Passing(private.open(path)?);
        Ok(Stdio::piped())
    }

    /// Passes the input of this process on to the first run.
    pub(crate) fn pass(&self, to: Option<ChildStdin>) {
        if let Some(to) = to {
            let state = Arc::clone(&self.state);
            // It ends with the input, with the run, or with this process: whichever is first.
            thread::spawn(move || pass(io::stdin(), to, &state));
        }
    }

    /// The run has ended: what it was given is all that later runs are given.
    pub(crate) fn end(&self) {
        *lock(&self.state) = State::Kept;
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes bytes on until they end, nobody reads them any more, or there are too many. They are kept before they are
/// passed on, so that nothing is read that is not kept.
fn pass(from: impl Read, mut to: impl Write, state: &Mutex<State>) {
    let mut from = from.take(MOST);
    let mut bytes = vec![0; 64 << 10];
    loop {
        let read = match from.read(&mut bytes) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let is_kept = match &mut *lock(state) {
            State::Passing(file) => file.write_all(&bytes[..read]).is_ok(),
            State::New | State::Kept => false,
        };
        if !is_kept || to.write_all(&bytes[..read]).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_passed_on_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let input = KeptInput::in_file(&dir.path().join("input"));
        assert_eq!(input.text(10), None);
        drop(input.stream().unwrap());
        let mut passed = Vec::new();
        pass("3\n0\n".as_bytes(), &mut passed, &input.state);
        assert_eq!(passed, b"3\n0\n");
        input.end();
        pass("more".as_bytes(), &mut passed, &input.state);
        assert_eq!(passed, b"3\n0\n");
        assert_eq!(input.text(4).as_deref(), Some("3\n0\n"));
        assert_eq!(input.text(3), None);
        assert!(input.kept().is_some());
    }

    #[test]
    fn nothing_is_no_text() {
        assert_eq!(KeptInput::none().text(10), None);
        assert_eq!(KeptInput::none().kept(), None);
    }
}
