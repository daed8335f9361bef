//! What Culprit says to a worker.

use culprit_model::scenario::Tables;
use culprit_model::{BlobId, Statement, Step, ThreadId};

use crate::codec::{Cursor, Put, TRUSTED};
use crate::statement::{put_statement, statement};
use crate::step::{put_step, step};
use crate::tables::{blob, put_tables, tables};
use crate::{Message, WireError};

pub(crate) const SUBJECT: u8 = 1;
pub(crate) const CLASS: u8 = 2;
pub(crate) const RUN: u8 = 3;
pub(crate) const TABLES: u8 = 4;
pub(crate) const BLOB: u8 = 5;
pub(crate) const STEPS: u8 = 6;
pub(crate) const END_OF_STEPS: u8 = 7;
pub(crate) const STOP: u8 = 8;
pub(crate) const BYE: u8 = 9;
pub(crate) const FORGET: u8 = 10;
pub(crate) const STATEMENTS: u8 = 11;

/// Bytes of long values after which those told so far are forgotten.
pub const LONG_VALUES: usize = 16 << 20;

/// A message to a worker.
#[derive(Clone, PartialEq, Debug)]
pub enum ToWorker {
    /// The program to work on, before the first run. Another one needs another worker.
    Subject(Subject),
    /// A further class of the subject.
    Class(SubjectClass),
    /// A run begins; its steps follow.
    Run(RunRequest),
    /// Definitions, each replacing that of the same number.
    Tables(Tables),
    /// A long value, likewise.
    Blob { id: BlobId, bytes: Vec<u8> },
    /// Later steps refer to no long value from before this.
    Forget,
    /// The next steps.
    Steps(Vec<Step>),
    /// The next statements of a run in [`Mode::Plain`].
    Statements(Vec<Statement>),
    /// There are no further steps or statements in this run.
    EndOfSteps,
    /// There are no further steps or statements, and the run is to end wherever it is.
    Stop,
    /// The worker is to end.
    Bye,
}

/// A program, as far as a worker needs it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Subject {
    /// The options of the agent that recorded it, in their text form: classes are woven alike.
    pub options: String,
    pub loaders: Vec<Loader>,
    /// Folders and archives of a program that runs as it is, in [`Mode::Plain`].
    pub class_path: Vec<String>,
    /// Not all of them need be here: the others follow one by one.
    pub classes: Vec<SubjectClass>,
}

/// A class loader of the recorded program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loader {
    pub number: u32,
    /// Internal name of its class.
    pub class: String,
    pub name: Option<String>,
}

/// A class of the subject, as it was before weaving.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubjectClass {
    /// Internal name.
    pub name: String,
    /// Number of the loader that defines it.
    pub loader: u32,
    pub kind: ClassKind,
    /// The class file.
    pub bytes: Vec<u8>,
}

/// What a class is to a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClassKind {
    /// Its code runs.
    Observed,
    /// It has no code; a stub is made of it.
    Outline,
}

/// How to run the steps that follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunRequest {
    /// Comes back with the outcome.
    pub number: u64,
    pub mode: Mode,
    pub fresh: FreshState,
    /// The steps are of several threads.
    pub multi_threaded: bool,
    pub lines: LineCheck,
    /// The objects that steps ask for by the thread that made them and their number, in order.
    pub births: Vec<(ThreadId, u64)>,
}

/// What a difference does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// The first one ends the run.
    #[default]
    Strict,
    /// What the subject does is answered by the next step that fits, within the same call of it; steps
    /// before that are skipped. The run ends where nothing fits.
    Skip,
    /// Nothing is compared: the statements of a script run on the program as it is.
    Plain,
}

/// Whether a step must come from the source line that the scenario says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LineCheck {
    #[default]
    Compare,
    /// The program was changed: lines have moved.
    Ignore,
}

/// How the static state of the subject becomes what it was at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreshState {
    /// Classes that an earlier run touched are initialised again, in place.
    Reset,
    /// Classes are loaded anew.
    NewLoader,
}

impl Message for ToWorker {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            ToWorker::Subject(subject) => {
                out.put_u8(SUBJECT);
                out.put_str(&subject.options);
                out.put_list(&subject.loaders, put_loader);
                out.put_list(&subject.class_path, |out, entry| out.put_str(entry));
                out.put_list(&subject.classes, put_class);
            }
            ToWorker::Class(class) => {
                out.put_u8(CLASS);
                put_class(out, class);
            }
            ToWorker::Run(run) => {
                out.put_u8(RUN);
                put_run(out, run);
            }
            ToWorker::Tables(tables) => {
                out.put_u8(TABLES);
                put_tables(out, tables);
            }
            ToWorker::Blob { id, bytes } => {
                out.put_u8(BLOB);
                out.put_varint(u64::from(id.0));
                out.put_bytes(bytes);
            }
            ToWorker::Forget => out.put_u8(FORGET),
            // Steps and statements continue to the end of the frame: they are packed without a count.
            ToWorker::Steps(steps) => {
                out.put_u8(STEPS);
                steps.iter().for_each(|step| put_step(out, step));
            }
            ToWorker::Statements(statements) => {
                out.put_u8(STATEMENTS);
                statements.iter().for_each(|it| put_statement(out, it));
            }
            ToWorker::EndOfSteps => out.put_u8(END_OF_STEPS),
            ToWorker::Stop => out.put_u8(STOP),
            ToWorker::Bye => out.put_u8(BYE),
        }
    }

    fn decode(bytes: &[u8]) -> Result<ToWorker, WireError> {
        let cursor = &mut Cursor::new(bytes, TRUSTED);
        let message = match cursor.u8()? {
            SUBJECT => ToWorker::Subject(Subject {
                options: cursor.string()?,
                loaders: cursor.list(loader)?,
                class_path: cursor.list(Cursor::string)?,
                classes: cursor.list(class)?,
            }),
            CLASS => ToWorker::Class(class(cursor)?),
            RUN => ToWorker::Run(run(cursor)?),
            TABLES => ToWorker::Tables(tables(cursor)?),
            BLOB => {
                let (id, bytes) = blob(cursor)?;
                ToWorker::Blob { id, bytes }
            }
            FORGET => ToWorker::Forget,
            STEPS => ToWorker::Steps(cursor.rest_of(step)?),
            STATEMENTS => ToWorker::Statements(cursor.rest_of(statement)?),
            END_OF_STEPS => ToWorker::EndOfSteps,
            STOP => ToWorker::Stop,
            BYE => ToWorker::Bye,
            _ => return Err(WireError::Malformed("a known message to a worker")),
        };
        cursor.end()?;
        Ok(message)
    }
}

fn put_loader(out: &mut Vec<u8>, loader: &Loader) {
    out.put_varint(u64::from(loader.number));
    out.put_str(&loader.class);
    out.put_option(loader.name.as_deref(), |out, name| out.put_str(name));
}

fn loader(cursor: &mut Cursor<'_>) -> Result<Loader, WireError> {
    Ok(Loader {
        number: cursor.varint_u32()?,
        class: cursor.string()?,
        name: cursor.option(Cursor::string)?,
    })
}

fn put_class(out: &mut Vec<u8>, class: &SubjectClass) {
    out.put_str(&class.name);
    out.put_varint(u64::from(class.loader));
    out.put_u8(match class.kind {
        ClassKind::Observed => 1,
        ClassKind::Outline => 2,
    });
    out.put_bytes(&class.bytes);
}

fn class(cursor: &mut Cursor<'_>) -> Result<SubjectClass, WireError> {
    Ok(SubjectClass {
        name: cursor.string()?,
        loader: cursor.varint_u32()?,
        kind: match cursor.u8()? {
            1 => ClassKind::Observed,
            2 => ClassKind::Outline,
            _ => return Err(WireError::Malformed("a known kind of class")),
        },
        bytes: cursor.bytes()?.to_vec(),
    })
}

fn put_run(out: &mut Vec<u8>, run: &RunRequest) {
    out.put_varint(run.number);
    out.put_u8(match run.mode {
        Mode::Strict => 1,
        Mode::Skip => 2,
        Mode::Plain => 3,
    });
    out.put_u8(match run.fresh {
        FreshState::Reset => 1,
        FreshState::NewLoader => 2,
    });
    out.put_bool(run.multi_threaded);
    out.put_u8(match run.lines {
        LineCheck::Compare => 1,
        LineCheck::Ignore => 2,
    });
    out.put_list(&run.births, |out, (thread, number)| {
        out.put_varint(u64::from(thread.0));
        out.put_varint(*number);
    });
}

fn run(cursor: &mut Cursor<'_>) -> Result<RunRequest, WireError> {
    Ok(RunRequest {
        number: cursor.varint()?,
        mode: match cursor.u8()? {
            1 => Mode::Strict,
            2 => Mode::Skip,
            3 => Mode::Plain,
            _ => return Err(WireError::Malformed("a known mode")),
        },
        fresh: match cursor.u8()? {
            1 => FreshState::Reset,
            2 => FreshState::NewLoader,
            _ => return Err(WireError::Malformed("a known way to a fresh state")),
        },
        multi_threaded: cursor.bool()?,
        lines: match cursor.u8()? {
            1 => LineCheck::Compare,
            2 => LineCheck::Ignore,
            _ => return Err(WireError::Malformed("a known way to check lines")),
        },
        births: cursor.list(|cursor| Ok((ThreadId(cursor.varint_u32()?), cursor.varint()?)))?,
    })
}
