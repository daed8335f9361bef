//! One worker: a process that runs candidates, in a folder of its own, at the other end of a
//! socket that it inherited. It ends when that is closed, so none outlives us.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use culprit_model::ThreadId;
use culprit_model::scenario::Tables;
use culprit_wire::{FromWorker, Message, Packer, RunRequest, ToWorker, WireError, table_messages};

use crate::connection::{Broken, Connection, Received};
use crate::group::{Group, Streams};
use crate::job::{Job, JobPiece, JobResult, Unresolved};
use crate::pool::{PoolError, ReportedOutput, StartError};
use crate::{
    CRASH_REPORT, Deadline, Interrupt, Launch, Limits, Sandbox, Status, WorkingFolder, Workspace,
    remove_folder, untrusted,
};

/// The parameters for starting workers.
pub struct WorkerPlan {
    /// The executable of the JVM.
    pub file: PathBuf,
    /// Its arguments, for one worker.
    pub args: Arguments,
    /// All of its environment.
    pub env: Vec<(OsString, OsString)>,
    /// The folder in which each worker gets one of its own. The report of the last JVM that crashed
    /// stays there, as [`CRASH_REPORT`].
    pub scratch: PathBuf,
    pub folder: WorkingFolder,
    pub limits: Limits,
    /// The confinement of a worker, which may always write to its folder; `None` for no confinement.
    pub sandbox: Option<Sandbox>,
    pub output: Output,
    /// The time limit for the start of a worker.
    pub patience: Duration,
    /// The time limit for loading the subject, in addition to that of the first run.
    pub intake: Duration,
    /// The interrupt that ends every wait for a worker.
    pub interrupt: Option<Interrupt>,
}

/// Makes the arguments of one worker.
pub type Arguments = Box<dyn Fn(&WorkerSlot<'_>) -> Vec<OsString> + Send + Sync>;

impl fmt::Debug for WorkerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "WorkerPlan({} in {})",
            self.file.display(),
            self.scratch.display()
        )
    }
}

/// The place of one worker.
#[derive(Clone, Copy, Debug)]
pub struct WorkerSlot<'a> {
    /// The number of its end of the socket.
    pub descriptor: RawFd,
    /// The folder of its own.
    pub scratch: &'a Path,
    /// The folders of its runs.
    pub workspace: &'a Workspace,
}

/// The destination of the output of workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Output {
    /// To files in their folders. They are emptied now and then.
    #[default]
    Kept,
    /// To our standard error, all of it: our standard output is for results.
    Shared,
}

/// Bytes of output after which a file is emptied between two runs.
const MOST_OUTPUT: u64 = 1 << 20;

/// Bytes of each output and report that are told when something goes wrong.
const TOLD: u64 = 4096;

/// Reports in its folder that are told then.
const MOST_REPORTS: usize = 4;

/// Bytes of the report of a crash that are saved.
const MOST_SAVED: u64 = 16 << 20;

/// The messages of a JVM that ends for lack of memory.
const NO_MEMORY: [&str; 2] = [
    "There is insufficient memory for the Java Runtime Environment to continue",
    "Terminating due to java.lang.OutOfMemoryError",
];

/// Bytes of messages that are put together before they are sent.
const BATCH: usize = 64 << 10;

/// The time that a JVM may take to end after it closed the line.
const GRACE: Duration = Duration::from_secs(2);

/// A limit beyond all others, for those that no clock can express.
const FOR_EVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// A started worker. When it is dropped, it is killed and its folder removed.
#[derive(Debug)]
pub(crate) struct Worker {
    group: Group,
    connection: Connection,
    scratch: PathBuf,
    workspace: Workspace,
    /// Its output, errors first.
    printed: Vec<File>,
    intake: Duration,
    /// The tables that it has.
    tables: Option<Arc<Tables>>,
    runs: u64,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// The worker is lost.
    Lost(Unresolved),
    /// Neither the worker nor the candidate is to blame.
    Failed(PoolError),
}

impl Worker {
    /// Starts a worker and waits until it greets.
    pub(crate) fn start(
        plan: &WorkerPlan,
        number: u64,
        deadline: &Deadline,
    ) -> Result<Worker, StartError> {
        let scratch = plan.scratch.join(format!("worker-{number}"));
        let failed = |error| StartError::Folder {
            path: scratch.clone(),
            error,
        };
        // What an earlier pool may have left behind is not this worker's.
        remove_folder(&scratch).map_err(failed)?;
        fs::create_dir_all(&scratch).map_err(failed)?;
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let printed = match plan.output {
            Output::Kept => vec![
                printed_to(&scratch.join("stderr")).map_err(failed)?,
                printed_to(&scratch.join("stdout")).map_err(failed)?,
            ],
            Output::Shared => Vec::new(),
        };
        let stream = |number: usize| match printed.get(number) {
            Some(file) => file.try_clone().map(Stdio::from),
            None => io::stderr().as_fd().try_clone_to_owned().map(Stdio::from),
        };
        let workspace = Workspace::new(&scratch, &plan.folder).map_err(failed)?;
        let slot = WorkerSlot {
            descriptor: theirs.as_raw_fd(),
            scratch: &scratch,
            workspace: &workspace,
        };
        let launch = Launch {
            file: plan.file.clone(),
            args: (plan.args)(&slot),
            env: plan.env.clone(),
            directory: workspace.directory().to_owned(),
            limits: plan.limits,
            sandbox: plan.sandbox.clone().map(|it| it.allow_write(&scratch)),
        };
        let group = launch.start(Streams {
            input: Stdio::null(),
            err: stream(0).map_err(failed)?,
            out: stream(1).map_err(failed)?,
            inherited: Some(OwnedFd::from(theirs)),
        })?;
        let mut worker = Worker {
            connection: Connection::new(ours, group.watch(), plan.interrupt.clone())
                .map_err(failed)?,
            group,
            scratch,
            workspace,
            printed,
            intake: plan.intake,
            tables: None,
            runs: 0,
        };
        worker.greeting(plan.patience.min(deadline.left()))?;
        Ok(worker)
    }

    fn greeting(&mut self, patience: Duration) -> Result<(), StartError> {
        let nothing = |_: &mut Vec<u8>| Ok::<bool, std::convert::Infallible>(false);
        match self.connection.listen(after(patience), nothing) {
            Ok(Received::Message(FromWorker::Ready { .. })) => Ok(()),
            Ok(Received::Message(FromWorker::Fault(what))) => Err(StartError::Garbled {
                what,
                output: self.told(),
            }),
            Ok(Received::Message(_)) => Err(StartError::Garbled {
                what: "it does not greet".to_owned(),
                output: self.told(),
            }),
            Ok(Received::Closed) => match self.group.end_within(GRACE) {
                Ok((status, _)) => Err(StartError::Ended {
                    status,
                    output: self.told(),
                }),
                Err(error) => Err(StartError::Watch(error)),
            },
            Ok(Received::Interrupted) => Err(StartError::Interrupted),
            Ok(Received::Nothing) => Err(StartError::Late {
                limit: patience,
                output: self.told(),
            }),
            Err(Broken::Line(WireError::Version { found, supported })) => {
                Err(StartError::Version { found, supported })
            }
            Err(Broken::Line(error)) => Err(StartError::Garbled {
                what: error.to_string(),
                output: self.told(),
            }),
            Err(Broken::Source(never)) => match never {},
        }
    }

    /// Tells the worker the subject, with the first run.
    pub(crate) fn tell(&mut self, frames: &[u8]) {
        self.connection.outgoing().extend_from_slice(frames);
    }

    /// True if it has run nothing yet: whatever happens is the candidate's doing.
    pub(crate) fn is_fresh(&self) -> bool {
        self.runs == 0
    }

    /// True if it is there and waits for work.
    pub(crate) fn is_idle(&mut self) -> bool {
        self.connection.is_quiet()
    }

    /// Runs a candidate.
    pub(crate) fn run(&mut self, job: &Job<'_>, number: u64) -> Result<JobResult, NoAnswer> {
        // The first run has the time to take in the subject besides, unless the worker says when that is over.
        let limit = match self.is_fresh() {
            true => job.limit.saturating_add(self.intake),
            false => job.limit,
        };
        if !self.is_fresh() && self.workspace.restore().is_err() {
            // Something that an earlier run started keeps on writing. A new worker has none of that.
            return Err(self.garbled("its folders cannot be restored"));
        }
        let births = job.source.births();
        let births = births.map_err(|error| NoAnswer::Failed(PoolError::Source(error)))?;
        let mut end = after(limit);
        self.runs += 1;
        self.begin(job, number, births).map_err(unsendable)?;
        let mut talk = Talk::new(job);
        let mut coverage = Vec::new();
        loop {
            let last = end.min(after(job.deadline.left()));
            let heard = self.connection.listen(last, |out| talk.continue_with(out));
            let late = Instant::now() >= last;
            match heard {
                Ok(Received::Message(FromWorker::Done {
                    number: done,
                    outcome,
                })) if done == number => {
                    if !talk.is_over {
                        let out = self.connection.outgoing();
                        ToWorker::Stop.frame(out).map_err(unsendable)?;
                    }
                    self.empty_output();
                    return Ok(JobResult::Ran { outcome, coverage });
                }
                Ok(Received::Message(FromWorker::TakenIn)) if !late && self.runs == 1 => {
                    end = end.min(after(job.limit));
                }
                Ok(Received::Message(FromWorker::Coverage(classes))) if !late => {
                    coverage.extend(classes);
                }
                Ok(Received::Message(FromWorker::Fault(what))) => {
                    return Err(NoAnswer::Failed(PoolError::Fault {
                        what,
                        output: self.told(),
                    }));
                }
                Ok(Received::Message(_)) if !late => return Err(self.garbled("not an answer")),
                Ok(Received::Message(_) | Received::Nothing) if job.deadline.is_over() => {
                    return Err(NoAnswer::Failed(PoolError::OutOfTime));
                }
                Ok(Received::Message(_) | Received::Nothing) => {
                    return Err(NoAnswer::Lost(Unresolved::TimeLimit(job.limit)));
                }
                Ok(Received::Interrupted) => {
                    return Err(NoAnswer::Failed(PoolError::Interrupted));
                }
                Ok(Received::Closed) => return Err(self.dead()),
                Err(Broken::Line(error)) => return Err(self.garbled(&error.to_string())),
                Err(Broken::Source(error)) => return Err(NoAnswer::Failed(error)),
            }
        }
    }

    /// Puts the start of a run into the outgoing messages.
    fn begin(
        &mut self,
        job: &Job<'_>,
        number: u64,
        births: Vec<(ThreadId, u64)>,
    ) -> Result<(), WireError> {
        let out = self.connection.outgoing();
        let run = RunRequest {
            number,
            mode: job.mode,
            fresh: job.fresh,
            multi_threaded: job.multi_threaded,
            lines: job.lines,
            births,
        };
        ToWorker::Run(run).frame(out)?;
        let known = self.tables.as_ref();
        if !known.is_some_and(|known| Arc::ptr_eq(known, &job.tables)) {
            for message in table_messages(&job.tables) {
                message.frame(out)?;
            }
            self.tables = Some(Arc::clone(&job.tables));
        }
        Ok(())
    }

    fn garbled(&mut self, what: &str) -> NoAnswer {
        NoAnswer::Lost(Unresolved::Garbled {
            what: what.to_owned(),
            output: self.last_lines(),
        })
    }

    /// The end of a worker that has closed the line.
    fn dead(&mut self) -> NoAnswer {
        match self.group.end_within(GRACE) {
            Ok((status, true)) => NoAnswer::Lost(self.death(status)),
            Ok((_, false)) => NoAnswer::Lost(Unresolved::Silent {
                output: self.last_lines(),
            }),
            Err(error) => NoAnswer::Failed(PoolError::Start(StartError::Watch(error))),
        }
    }

    /// Why a worker ended with a status.
    fn death(&self, status: Status) -> Unresolved {
        let output = self.last_lines();
        match self.group.excess() {
            Some(excess) => Unresolved::Exceeded(excess),
            None if NO_MEMORY.iter().any(|words| output.contains(words)) => {
                Unresolved::OutOfMemory { output }
            }
            None => Unresolved::Died { status, output },
        }
    }

    /// Asks the worker to end, and ends it if it does not.
    pub(crate) fn dismiss(mut self, patience: Duration) {
        let deadline = after(patience);
        let bye = |out: &mut Vec<u8>| ToWorker::Bye.frame(out).map(|()| false);
        // Whatever it answers: it is asked to end.
        let heard = self.connection.listen(deadline, bye);
        let rest = deadline.saturating_duration_since(Instant::now());
        if matches!(heard, Ok(Received::Closed)) {
            let _ = self.group.end_within(rest);
        }
    }

    /// The same, where there is something that was not seen.
    fn told(&self) -> ReportedOutput {
        let lines = self.last_lines();
        match self.printed.is_empty() && lines.is_empty() {
            true => ReportedOutput::Shared,
            false => ReportedOutput::Lines(lines),
        }
    }

    /// The end of what it printed, errors first, and the start of the reports in its folder: of a
    /// crash, say, which is saved before the folder is removed.
    fn last_lines(&self) -> String {
        let ends = self
            .printed
            .iter()
            .map(|file| untrusted::end_of(file, TOLD));
        let reports = untrusted::files_with(&self.scratch, "log", MOST_REPORTS);
        let starts = reports.iter().map(|path| {
            let text = untrusted::read_text(path, TOLD).unwrap_or_default();
            text.trim().to_owned()
        });
        let texts: Vec<String> = ends.chain(starts).filter(|it| !it.is_empty()).collect();
        let text = texts.join("\n");
        let (here, saved) = (self.scratch.join(CRASH_REPORT), self.scratch.parent());
        let Some(saved) = saved.map(|folder| folder.join(CRASH_REPORT)) else {
            return text;
        };
        match untrusted::copy(&here, &saved, MOST_SAVED) {
            Ok(()) => text.replace(&*here.to_string_lossy(), &saved.to_string_lossy()),
            Err(_) => text,
        }
    }

    /// Files of output must not grow from run to run. What is in them is of no use to anybody,
    /// so neither is an error here.
    fn empty_output(&mut self) {
        for file in &self.printed {
            if file.metadata().is_ok_and(|it| it.len() > MOST_OUTPUT) {
                let _ = file.set_len(0);
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.group.end_within(Duration::ZERO);
        // What stays goes with the folder around it.
        let _ = remove_folder(&self.scratch);
    }
}

/// The conversation of a run after its start.
struct Talk<'a> {
    pieces: Box<dyn Iterator<Item = Result<JobPiece<'a>, crate::job::SourceError>> + 'a>,
    packer: Packer,
    /// Everything is said.
    is_over: bool,
}

impl<'a> Talk<'a> {
    fn new(job: &Job<'a>) -> Talk<'a> {
        Talk {
            pieces: job.source.pieces(),
            packer: Packer::default(),
            is_over: false,
        }
    }

    /// Appends the next messages; whether there are more.
    fn continue_with(&mut self, out: &mut Vec<u8>) -> Result<bool, PoolError> {
        while !self.is_over && out.len() < BATCH {
            let piece = self.pieces.next().transpose().map_err(PoolError::Source)?;
            let message = match piece {
                Some(JobPiece::Step(step)) => {
                    self.packer.step(&step, out).map_err(PoolError::TooLarge)?;
                    continue;
                }
                Some(JobPiece::Statement(statement)) => {
                    self.packer
                        .statement(statement, out)
                        .map_err(PoolError::TooLarge)?;
                    continue;
                }
                Some(JobPiece::Tables(tables)) => ToWorker::Tables(tables),
                Some(JobPiece::Blob(id, bytes)) => ToWorker::Blob { id, bytes },
                Some(JobPiece::Forget) => ToWorker::Forget,
                None => {
                    self.is_over = true;
                    ToWorker::EndOfSteps
                }
            };
            // Steps that were said before may not come after.
            self.packer.flush(out).map_err(PoolError::TooLarge)?;
            message.frame(out).map_err(PoolError::TooLarge)?;
        }
        Ok(!self.is_over)
    }
}

fn unsendable(error: WireError) -> NoAnswer {
    NoAnswer::Failed(PoolError::TooLarge(error))
}

fn after(limit: Duration) -> Instant {
    Instant::now() + limit.min(FOR_EVER)
}

fn printed_to(path: &Path) -> io::Result<File> {
    let mut file = File::options();
    file.create_new(true).read(true).append(true).open(path)
}
