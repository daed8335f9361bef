//! The worker: the agent in a JVM that runs what its host sends, through JNI, and says how it ended.
//!
//! A scenario is replayed: the runtime and the weaving are those of a recorded JVM, and what its threads record
//! is compared with the scenario instead of being written to a file. A script is run plainly (`plain`).

mod cache;
mod compare;
mod coverage;
mod ending;
mod java;
mod long;
mod natives;
mod objects;
mod opened;
mod perform;
mod plain;
mod reset;
mod resync;
mod run;
mod stand_in;
mod state;
mod subject;
mod turns;

use std::collections::HashSet;
use std::io::BufReader;
use std::net::Shutdown;
use std::os::fd::FromRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, OnceLock};

use culprit_classfile::ClassFile;
use culprit_jvmti::{Jni, Jvmti};
use culprit_model::options::{WeaveOptions, WorkerOptions};
use culprit_wire::{FromWorker, Message as _, Mode, ToWorker};

use crate::agent::{Agent, Trouble};
use crate::lock::LockSafe;
use crate::recorder::block_signals;
use cache::Cache;
use java::Java;
use run::WorkerRun;
use subject::Classes;

pub(crate) use natives::{remember_state, runs_steps, table};

static WORKER: OnceLock<Worker> = OnceLock::new();

pub(crate) fn worker() -> Option<&'static Worker> {
    WORKER.get()
}

/// A JVM that replays.
pub(crate) struct Worker {
    jvmti: Jvmti,
    /// The process is to forbid itself to start programs, once it is up.
    seal: bool,
    incoming: Mutex<BufReader<UnixStream>>,
    outgoing: Mutex<UnixStream>,
    subject: Classes,
    java: OnceLock<Java>,
    cache: Cache,
    run: Mutex<WorkerRun>,
    /// Steps were used up, or the run is over.
    moved: Condvar,
}

/// Why a run cannot go on, other than by a difference.
pub(crate) enum Halt {
    /// The run has ended; its outcome is known.
    Ended,
    /// The scenario asks for something that cannot be done.
    Unsupported(String),
}

impl From<culprit_jvmti::Error> for Halt {
    fn from(error: culprit_jvmti::Error) -> Halt {
        Halt::Unsupported(error.to_string())
    }
}

/// Ends the process when the host is gone: whatever runs then, nobody waits for it.
fn end_with_host(descriptor: i32) -> Result<(), Trouble> {
    // SAFETY: changes a flag of a descriptor of ours: programs that the subject starts are not to
    // have it.
    unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    let watch = move || {
        block_signals();
        let mut gone = libc::pollfd {
            fd: descriptor,
            events: libc::POLLRDHUP,
            revents: 0,
        };
        // SAFETY: one descriptor, of ours, for the duration of the call.
        while unsafe { libc::poll(&mut gone, 1, -1) } < 0 {}
        // SAFETY: ends the process at once, which is what is wanted.
        unsafe { libc::_exit(0) };
    };
    std::thread::Builder::new()
        .name("culprit-host".to_owned())
        .spawn(watch)?;
    Ok(())
}

/// Greets the host and takes the subject; returns the options by which its classes are woven.
pub(crate) fn greet(
    jvmti: Jvmti,
    options: &WorkerOptions,
    feature: u16,
) -> Result<WeaveOptions, Trouble> {
    let descriptor = i32::try_from(options.socket)?;
    // SAFETY: the host opened this socket for the worker, and nobody else uses it.
    let stream = unsafe { UnixStream::from_raw_fd(descriptor) };
    let mut outgoing = stream.try_clone()?;
    end_with_host(descriptor)?;
    let version = jvmti.system_property("java.vm.version").unwrap_or_default();
    FromWorker::ready(feature, version, std::process::id()).write_to(&mut outgoing)?;
    let mut incoming = BufReader::with_capacity(256 << 10, stream);
    let Some(ToWorker::Subject(subject)) = ToWorker::read_from(&mut incoming)? else {
        return Err("the host did not name a subject".into());
    };
    let weave = subject.options.parse()?;
    let worker = Worker {
        jvmti,
        seal: options.seal,
        incoming: Mutex::new(incoming),
        outgoing: Mutex::new(outgoing),
        subject: Classes::new(subject),
        java: OnceLock::new(),
        cache: Cache::default(),
        run: Mutex::default(),
        moved: Condvar::new(),
    };
    WORKER
        .set(worker)
        .map_err(|_| "a JVM is one worker, not two")?;
    Ok(weave)
}

impl Worker {
    /// The Java side, once the runtime is there.
    pub(crate) fn install(&self, jni: &Jni<'_>) -> Result<(), Trouble> {
        let java = Java::find(jni)?;
        self.java
            .set(java)
            .map_err(|_| "the worker is installed already")?;
        Ok(())
    }

    /// The methods that other agents have added to a class.
    pub(crate) fn strangers(
        &self,
        class: &ClassFile,
        bytes: &[u8],
    ) -> Result<Vec<(String, String)>, culprit_classfile::Error> {
        self.subject.strangers(class, bytes)
    }

    fn java(&self) -> Result<&Java, Halt> {
        let missing = || Halt::Unsupported("the runtime of the worker is not there".to_owned());
        self.java.get().ok_or_else(missing)
    }

    /// The classes that the code of one was woven to leave observed code for when it was recorded.
    /// A subclass of an observed class is observed as well, but code that was woven before that was
    /// loaded could not know.
    pub(crate) fn taken_for_external(&self, class: &str) -> HashSet<String> {
        let members = self.run.lock_safe().taken_for_external(class);
        // An observed class may inherit the member of an external one.
        let declared = members.into_iter().filter(|it| !self.subject.inherits(it));
        declared.map(|member| member.owner).collect()
    }

    /// Whether the recording has a class.
    pub(crate) fn has_class(&self, class: &str) -> bool {
        self.subject.has(class)
    }

    /// Whether a class stands for an external one, whatever it inherits from.
    pub(crate) fn is_stub(&self, class: &str) -> bool {
        self.subject.is_outline(class)
    }

    /// Runs scenarios until the host says goodbye or is gone.
    fn work(&'static self, agent: &'static Agent, jni: &Jni<'_>) {
        if self.seal
            && let Err(error) = culprit_sandbox::seal()
        {
            let _ = self.say(&FromWorker::Fault(format!("cannot be sealed: {error}")));
            return;
        }
        if let Err(trouble) = self.watch(agent) {
            let _ = self.say(&FromWorker::Fault(format!("no thread to watch: {trouble}")));
            return;
        }
        let mut is_fresh = true;
        loop {
            let message = ToWorker::read_from(&mut *self.incoming.lock_safe());
            match message {
                Ok(Some(ToWorker::Run(run))) => {
                    // The host gave time for the subject besides that for the run.
                    if std::mem::take(&mut is_fresh) && self.say(&FromWorker::TakenIn).is_err() {
                        return;
                    }
                    self.refresh(agent, jni, run.fresh);
                    self.run.lock_safe().begin(&run);
                    let is_alone = self.run_to_end(agent, jni, &run);
                    let report = self.report(agent, &mut self.run.lock_safe());
                    while report.is_empty() {
                        // It took too long: who watches has said it, and ends the process.
                        std::thread::park();
                    }
                    if self.say_all(&report).is_err() {
                        return;
                    }
                    if !is_alone {
                        // The host is to know that nobody listens any more.
                        let _ = self.outgoing.lock_safe().shutdown(Shutdown::Write);
                        return;
                    }
                }
                Ok(Some(ToWorker::Class(class))) => self.subject.add(class),
                Ok(Some(ToWorker::Tables(tables))) => self.run.lock_safe().define(tables),
                Ok(Some(ToWorker::Blob { id, bytes })) => self.run.lock_safe().keep(id, bytes),
                Ok(Some(ToWorker::Forget)) => self.run.lock_safe().forget(),
                Ok(Some(ToWorker::Bye) | None) | Err(_) => return,
                Ok(Some(ToWorker::Subject(_))) => {
                    let _ = self.say(&FromWorker::Fault("a second subject".to_owned()));
                    return;
                }
                // What is left of a run that ended before its last step was read.
                Ok(Some(
                    ToWorker::Steps(_)
                    | ToWorker::Statements(_)
                    | ToWorker::EndOfSteps
                    | ToWorker::Stop,
                )) => {}
            }
        }
    }

    /// Runs a scenario; whether none of its threads is left.
    fn run_to_end(&self, agent: &Agent, jni: &Jni<'_>, run: &culprit_wire::RunRequest) -> bool {
        agent.recorder.states.gate(run.multi_threaded);
        if let Ok(java) = self.java() {
            java.set_several_threads(jni, run.multi_threaded);
        }
        if run.multi_threaded {
            self.run_threads(jni);
            return self.await_threads(jni);
        }
        natives::run_steps_of(None);
        self.drive_to_end(agent, jni);
        true
    }

    /// Has each thread of the scenario do its own steps, and waits until the run is over.
    fn run_threads(&self, jni: &Jni<'_>) {
        let threads = {
            let mut run = self.run.lock_safe();
            // The tables come before the first step.
            run.peek(0, &self.incoming);
            run.threads()
        };
        for (id, name) in &threads {
            self.run.lock_safe().thread_starts();
            let started = self
                .java()
                .and_then(|java| java.start_thread(jni, *id, name));
            if let Err(halt) = started {
                self.run.lock_safe().thread_ends();
                self.halt(halt);
                break;
            }
        }
        self.await_end(jni, &threads);
    }

    /// Does the steps of the current thread until the run is over.
    fn drive_to_end(&self, agent: &Agent, jni: &Jni<'_>) {
        let mode = self.run.lock_safe().mode;
        let driven = match mode {
            Mode::Strict | Mode::Skip => self.drive(agent, jni),
            Mode::Plain => self.drive_plainly(jni),
        };
        if let Err(halt) = driven {
            self.halt(halt);
        }
        self.wake_all(&mut self.run.lock_safe());
    }

    fn say(&self, message: &FromWorker) -> Result<(), culprit_wire::WireError> {
        message.write_to(&mut *self.outgoing.lock_safe())
    }
}
