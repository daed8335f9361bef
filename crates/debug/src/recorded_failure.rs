//! A failure in an existing recording, and the script of its calls.

use std::path::{Path, PathBuf};

use culprit_jvm::Jdk;
use culprit_model::Failure;
use culprit_program::Program;
use culprit_scripts::{Script, extract};
use culprit_signature::{Signature, Thrown};
use culprit_trace::{Recording, RunFolder};

use crate::Error;

/// The last failure of a recording.
pub struct RecordedFailure {
    pub recording: Recording,
    pub signature: Signature,
    failure: Failure,
}

/// The script of a recorded failure, with the program that it calls.
pub struct RecordedScript {
    pub program: Program,
    pub script: Script,
}

impl RecordedFailure {
    /// The last failure of a recording, or of the first recording of a run that has one.
    pub fn open(path: &Path) -> Result<RecordedFailure, Error> {
        let recordings = match path.is_dir() {
            true => {
                let run = RunFolder::open(path).map_err(Error::RunFolder)?;
                run.recordings
            }
            false => vec![path.to_owned()],
        };
        for path in &recordings {
            let recording = Recording::open(path)?;
            if let Some(failure) = recording.failures().last().cloned() {
                let thrown = Thrown::parse(&failure.stack).ok_or(Error::NoStack)?;
                return Ok(RecordedFailure {
                    signature: Signature::of(&thrown),
                    recording,
                    failure,
                });
            }
        }
        Err(Error::NoFailure(path.to_owned()))
    }

    /// The script of its calls on the program of a class path.
    pub fn script(&self, class_path: &[PathBuf], jdk: &Jdk) -> Result<RecordedScript, Error> {
        let program = Program::open(class_path, jdk)?;
        let script = extract(&self.recording, &self.failure)?.script;
        let gone = class_path.iter().find(|path| !path.exists());
        if let (Some(class), Some(entry)) = (lost(&script, &program), gone) {
            return Err(Error::Gone {
                class,
                entry: entry.clone(),
            });
        }
        Ok(RecordedScript { program, script })
    }
}

/// A class of a script that the program does not have.
fn lost(script: &Script, program: &Program) -> Option<String> {
    let targets = script.statements.iter().filter_map(|it| script.target(it));
    let mut owners = targets.map(|target| &target.owner);
    let lost = owners.find(|owner| program.bytes(owner).is_none())?;
    Some(lost.replace('/', "."))
}
