//! A failure in an existing recording, and the script of its calls.

use std::path::{Path, PathBuf};

use culprit_jvm::Jdk;
use culprit_model::{EventIndex, EventKind, Failure, Reference, Value};
use culprit_program::Program;
use culprit_scripts::{OwnCode, Script, escape, extract, extract_until};
use culprit_signature::{Signature, Thrown};
use culprit_trace::{Recording, RunFolder};

use crate::Error;
use crate::caught::{best, last_printed};
use crate::witness::test_class;

/// A failure of a recording.
pub struct RecordedFailure {
    pub recording: Recording,
    thrown: Thrown,
    failure: Failure,
    /// The event with which the script ends, where the user chose it.
    end: Option<EventIndex>,
}

/// The choice of a failure in a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FailureChoice {
    /// The last exception that left a thread or failed a test; or else, of a program that ended with a status other
    /// than 0, the last whose stack trace was printed.
    Last,
    /// The exception of this number, from 1: failures first, then the exceptions that were caught.
    Number(usize),
    /// The exception of a class that is most likely a failure.
    Class(String),
    /// The exception that left the observed code with this event.
    Event(u64),
}

/// The script of a recorded failure, with the program that it calls.
pub struct RecordedScript {
    pub signature: Signature,
    pub program: Program,
    pub script: Script,
}

impl RecordedFailure {
    /// The failure that is chosen in a recording, or in the first recording of a run that has such a one.
    pub fn open(path: &Path, choice: &FailureChoice) -> Result<RecordedFailure, Error> {
        let recordings = match path.is_dir() {
            true => {
                let run = RunFolder::open(path).map_err(Error::RunFolder)?;
                run.recordings
            }
            false => vec![path.to_owned()],
        };
        let mut caught = Vec::new();
        for path in &recordings {
            let recording = Recording::open(path)?;
            if let Some(Chosen { failure, end }) = choice.of(&recording)? {
                let thrown = Thrown::parse(&failure.stack).ok_or(Error::NoStack)?;
                return Ok(RecordedFailure {
                    thrown,
                    recording,
                    failure,
                    end,
                });
            }
            caught.extend(recording.caught().iter().cloned());
        }
        let what = match choice {
            FailureChoice::Last if caught.is_empty() => {
                return Err(Error::NoFailure(path.to_owned()));
            }
            FailureChoice::Last => "no exception left a thread or a test".to_owned(),
            FailureChoice::Number(number) => format!("there is no failure {number}"),
            FailureChoice::Class(class) => format!("no {class} was thrown"),
            FailureChoice::Event(event) => {
                format!("event {event} is no exception with a known stack that left observed code")
            }
        };
        caught.sort_by_key(|caught| std::cmp::Reverse((caught.evidence(), caught.printed)));
        Err(Error::NotChosen {
            path: path.to_owned(),
            what,
            caught,
        })
    }

    /// The script of its calls on the program of a class path.
    pub fn script(&self, class_path: &[PathBuf], jdk: &Jdk) -> Result<RecordedScript, Error> {
        let program = Program::open(class_path, jdk)?;
        let extracted = match self.end {
            Some(_) => extract_until(&self.recording, &self.failure, self.end)?,
            None => extract(&self.recording, &self.failure)?,
        };
        let script = extracted.script;
        let gone = class_path.iter().find(|path| !path.exists());
        if let (Some(class), Some(entry)) = (lost(&script, &program), gone) {
            return Err(Error::Gone {
                class,
                entry: entry.clone(),
            });
        }
        let test = test_class(&self.failure.place);
        let own = OwnCode::of(&program, self.recording.start(), test.as_deref());
        let signature = Signature::innermost(&self.thrown, |frame| own.has_frame(frame));
        Ok(RecordedScript {
            signature,
            program,
            script,
        })
    }
}

/// A failure, and the event with which its script is to end.
struct Chosen {
    failure: Failure,
    end: Option<EventIndex>,
}

impl FailureChoice {
    fn of(&self, recording: &Recording) -> Result<Option<Chosen>, Error> {
        let failures = recording.failures();
        let (failure, end) = match self {
            FailureChoice::Last => (last(recording), None),
            FailureChoice::Number(number) => {
                let place = number.checked_sub(1);
                (
                    place.and_then(|place| recording.exceptions().nth(place)),
                    None,
                )
            }
            FailureChoice::Class(class) => {
                let left = failures.iter().rev().find(|failure| failure.is_of(class));
                let caught = || best(recording.caught(), class).map(|caught| &caught.failure);
                (left.or_else(caught), None)
            }
            FailureChoice::Event(event) => {
                let event = EventIndex(*event);
                (thrown_by(recording, event)?, Some(event))
            }
        };
        let failure = failure.cloned();
        Ok(failure.map(|failure| Chosen { failure, end }))
    }
}

/// The last failure; or else the exception that a program printed which ended with a status other than 0.
fn last(recording: &Recording) -> Option<&Failure> {
    let status = recording.end().and_then(|end| end.exit_status);
    let has_failed = status.is_some_and(|status| status != 0);
    let printed = || last_printed(recording.caught()).filter(|_| has_failed);
    let failure = recording.failures().last();
    failure.or_else(|| printed().map(|caught| &caught.failure))
}

/// The exception with which an event ended a call into the observed code.
fn thrown_by(recording: &Recording, event: EventIndex) -> Result<Option<&Failure>, Error> {
    let mut events = recording.events_in(event.0..event.0 + 1);
    let Some(thrown) = events.next().transpose()? else {
        return Ok(None);
    };
    let Some(Value::Reference(Reference::Object { id, class })) = thrown.values.first() else {
        return Ok(None);
    };
    if thrown.kind != EventKind::IncomingThrow {
        return Ok(None);
    }
    let same = |failure: &&Failure| failure.exceptions.contains(id);
    let mut caught = recording.caught().iter();
    let escaped =
        caught.find(|caught| matches!(escape(recording, caught), Ok(Some(at)) if at == event));
    let class = recording.types().get(class.0);
    let class = class.map_or(String::new(), |class| class.name.replace('/', "."));
    let alike = || {
        recording
            .exceptions()
            .find(|failure| failure.class == class)
    };
    let known = recording.exceptions().find(same);
    let known = known.or(escaped.map(|caught| &caught.failure));
    Ok(known.or_else(alike))
}

/// A class of a script that the program does not have.
fn lost(script: &Script, program: &Program) -> Option<String> {
    let targets = script.statements.iter().filter_map(|it| script.target(it));
    let mut owners = targets.map(|target| &target.owner);
    let lost = owners.find(|owner| program.bytes(owner).is_none())?;
    Some(lost.replace('/', "."))
}
