//! The session of one command: its stages, and what they share.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use culprit_jvm::{JdkLocations, KeptInput, untrusted};
use culprit_minimize::{MinimizedTest, full_name};
use culprit_model::options::{FollowOptions, Mode};
use culprit_model::{AgentOptions, Selection};
use culprit_program::{Command, Program, Streams};
use culprit_scripts::{Script, driver_methods};
use culprit_signature::Signature;
use culprit_trace::{Error as TraceError, Recording, RunFolder};

use crate::caught::{CaughtInRun, signature};
use crate::output;
use crate::recording::{RecordedRun, record_options};
use crate::stopping::{StopAfter, StopWatch, Stopped, Watched};
use crate::witness::{Seen, Wanted, Witnesses};
use crate::{
    Activity, Allowance, CallLevel, Case, Error, FailedJvm, FailureTest, MissedFailure, Observer,
    Rate, Reducer, SessionEvent,
};

/// The most bytes that are read of a log of the agent.
const LONGEST_LOG: u64 = 64 << 10;

/// The folder, within that of a session, for classes of the program that no class path has.
pub const CLASSES: &str = "classes";

/// A command that is followed gets so many times as long to fail, and so much longer.
const FOLLOWED_SLOWER: u32 = 4;
const FOLLOWED_LATER: Duration = Duration::from_secs(5);

/// A command that takes longer is not run again only to look for exceptions that it caught.
const LONGEST_FIRST_RUN: Duration = Duration::from_secs(60);

/// Runs of the witness stage, if the first two disagree.
pub(crate) const WITNESSES: usize = 3;

/// The command of a session, and what it is debugged with.
pub struct Settings {
    pub command: Command,
    /// The variable `JAVA_TOOL_OPTIONS` of the user.
    pub java_tool_options: Option<OsString>,
    /// JDKs are looked for here.
    pub surroundings: JdkLocations,
    /// The folder for the runs of the command.
    pub folder: PathBuf,
    /// The class of the exception that is debugged, also if it is caught.
    pub exception: Option<String>,
    /// The moment at which each run of the command is ended.
    pub stop_after: Option<StopAfter>,
    /// The standard input of each run of the command.
    pub input: KeptInput,
    pub reducer: Reducer,
}

/// A command being debugged.
pub struct Session<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) observer: &'a mut dyn Observer,
    /// The scripts of runs in which something was followed.
    pub(crate) followed: HashMap<FollowOptions, Vec<Script>>,
    /// The time for the failure that is worked on.
    pub(crate) allowance: Allowance,
    /// Names of the tests so far.
    pub(crate) taken: Vec<String>,
    /// Methods of drivers on the stacks of the failures, if they are known for every failure.
    pub(crate) driver_methods: Vec<String>,
    /// The end of the first run of the command, if it was ended.
    stopped: Option<Stopped>,
    /// The run that was recorded before the failures were known to be the same each time, and its selection.
    pub(crate) recorded_early: Option<(Selection, EndedRun)>,
    /// The last run that was recorded for a failure.
    pub(crate) last_recorded: Option<RecordedRun>,
    /// Exceptions that are caught in silence are looked for.
    watches_closely: bool,
}

/// The exceptions that count as failures, and the first run that has them.
struct Chosen {
    wanted: Wanted,
    first: EndedRun,
}

/// A failure that is worked on.
#[derive(Clone, Copy)]
pub(crate) struct FailureTask<'s> {
    /// Its number in the session, from 1.
    pub(crate) number: usize,
    pub(crate) seen: &'s Seen,
    pub(crate) rate: Rate,
    /// Its number among those that differ from it in their lines alone, if there are others.
    pub(crate) among_alike: Option<usize>,
}

/// A run of the command that has ended.
pub(crate) struct EndedRun {
    pub(crate) folder: PathBuf,
    pub(crate) status: u8,
    /// It did not end by itself.
    is_stopped: bool,
    took: Duration,
}

impl EndedRun {
    /// The file with what the command printed.
    pub(crate) fn output(&self) -> PathBuf {
        self.folder.join("output.txt")
    }
}

impl<'a> Session<'a> {
    /// A session in which nothing has happened yet.
    pub fn new(settings: &'a Settings, observer: &'a mut dyn Observer) -> Session<'a> {
        Session {
            settings,
            observer,
            followed: HashMap::new(),
            allowance: settings.reducer.allowance(),
            taken: Vec::new(),
            driver_methods: Vec::new(),
            stopped: None,
            recorded_early: None,
            last_recorded: None,
            // Of those that the user asks for, nobody need print anything.
            watches_closely: settings.exception.is_some() || settings.stop_after.is_some(),
        }
    }

    /// Makes a test of each failure of the command; whether all have one that fails the same way.
    pub fn debug(&mut self) -> Result<bool, Error> {
        let witnesses = self.witness()?;
        self.driver_methods = driver_methods_of(&witnesses)?;
        let mut all = true;
        for (index, seen) in witnesses.most_frequent().enumerate() {
            let failure = FailureTask {
                number: index + 1,
                seen,
                rate: witnesses.rate(seen),
                among_alike: witnesses.place_among_alike(seen),
            };
            if self.is_interrupted() {
                let skipped = missed(failure, Error::Interrupted);
                self.observer.notice(SessionEvent::Skipped(skipped))?;
                continue;
            }
            self.allowance = self.settings.reducer.allowance();
            self.observer.notice(SessionEvent::Failure {
                failure: seen.signature.to_string(),
                rate: Some(failure.rate),
            })?;
            all &= self.test_of(failure)?;
        }
        Ok(all)
    }

    /// Reports a test of a failure.
    pub(crate) fn add(
        &mut self,
        failure: FailureTask<'_>,
        level: CallLevel,
        found: MinimizedTest,
        began: Instant,
    ) -> Result<(), Error> {
        let test = FailureTest {
            signature: failure.seen.signature.clone(),
            rate: Some(failure.rate),
            level,
            found,
            took: began.elapsed(),
        };
        self.observer.notice(SessionEvent::Test(&test))?;
        self.taken.push(full_name(&test.found.test));
        let jvm = self.failed_jvm(&failure.seen.recording)?;
        self.locate(&test, &jvm)
    }

    /// Finds where the failure of a test comes from, which was made of a run of this JVM.
    pub(crate) fn locate(&mut self, test: &FailureTest, jvm: &FailedJvm) -> Result<(), Error> {
        let found = &test.found;
        let case = Case {
            signature: &test.signature,
            condition: None,
            script: &found.minimised.script,
            recording: &jvm.recording,
            program: &jvm.program,
            jdk: &jvm.jdk,
            taken: &[],
            concrete: false,
        };
        let reducer = &self.settings.reducer;
        if let Some(located) = reducer.locate(&case, found, &mut self.allowance, self.observer)? {
            self.observer.notice(SessionEvent::Located(&located))?;
        }
        Ok(())
    }

    /// Runs the command until it is known how it fails.
    fn witness(&mut self) -> Result<Witnesses, Error> {
        self.observer.notice(SessionEvent::Witnesses)?;
        let first = self.watch("witness")?;
        if matches!(
            RunFolder::open(&first.folder),
            Err(TraceError::NoRecordings { .. })
        ) {
            return Err(no_jvm(&first)?);
        }
        let mut witnesses = Witnesses::default();
        let Chosen { wanted, first } = self.choose(first)?;
        witnesses.add(&first.folder, &wanted, &|path| self.program_of(path))?;
        if witnesses.is_empty() {
            return Err(Error::NotFailing {
                status: first.status,
                output: first.output(),
            });
        }
        if let Some(agreed) = self.witness_recording(&witnesses, &wanted)? {
            return Ok(agreed);
        }
        for number in 2..=WITNESSES {
            let again = self.watch(&format!("witness-{number}"))?;
            witnesses.add(&again.folder, &wanted, &|path| self.program_of(path))?;
            if witnesses.agree() {
                return Ok(witnesses);
            }
        }
        if witnesses.have_nothing_in_common() {
            let seen = witnesses.most_frequent();
            let seen = seen.map(|seen| seen.signature.to_string());
            return Err(Error::NeverTheSame(seen.collect()));
        }
        let others = witnesses.others();
        let left_out: Vec<_> = others
            .map(|seen| (&seen.signature, witnesses.rate(seen)))
            .collect();
        let left_out = &left_out;
        self.observer.notice(SessionEvent::Flaky { left_out })?;
        Ok(witnesses)
    }

    /// Where the first attempt at the first failure is to record a part of the program, the second run of the command
    /// does that already. The failures of both runs, if they are the same: otherwise the recording does not count.
    fn witness_recording(
        &mut self,
        first: &Witnesses,
        wanted: &Wanted,
    ) -> Result<Option<Witnesses>, Error> {
        let Some(seen) = first.most_frequent().next() else {
            return Ok(None);
        };
        // The attempt itself reports what stands in its way.
        let Ok(Some(part)) = self.first_recorded_part(seen) else {
            return Ok(None);
        };
        let mode = Mode::Record(record_options(&part.selection));
        let run = self.run(&part.run_name(1, 1), mode)?;
        let mut both = first.clone();
        match RunFolder::open(&run.folder) {
            Ok(_) => both.add(&run.folder, wanted, &|path| self.program_of(path))?,
            Err(_) => return Ok(None),
        }
        self.recorded_early = Some((part.selection, run));
        Ok(both.agree().then_some(both))
    }

    /// The exceptions that count as failures, by the first run of the command: those that left a thread or failed a
    /// test, or else the one that was caught and is the likeliest to have failed it.
    ///
    /// Exceptions that nobody printed are looked for in another run, in which throwing is slower.
    fn choose(&mut self, first: EndedRun) -> Result<Chosen, Error> {
        let class = self.settings.exception.clone();
        let left = Wanted::Left {
            class: class.clone(),
        };
        let mut failures = Witnesses::default();
        failures.add(&first.folder, &left, &|path| self.program_of(path))?;
        if !failures.is_empty() {
            let wanted = left;
            return Ok(Chosen { wanted, first });
        }
        let mut caught = CaughtInRun::read(&first.folder)?;
        let mut chosen = self.presume(&caught, &first)?;
        let mut first = first;
        if chosen.is_none() && !self.watches_closely && first.took < LONGEST_FIRST_RUN {
            self.watches_closely = true;
            first = self.watch("witness-caught")?;
            caught = CaughtInRun::read(&first.folder)?;
            chosen = self.presume(&caught, &first)?;
        }
        if let Some(signature) = chosen {
            let wanted = Wanted::Caught(signature);
            return Ok(Chosen { wanted, first });
        }
        if class.is_none() && caught.is_expected() {
            let wanted = left;
            return Ok(Chosen { wanted, first });
        }
        Err(Error::OnlyCaught {
            class: class.clone(),
            status: first.status,
            output: first.output(),
            caught: caught.by_evidence(),
        })
    }

    /// The exception that was caught and is the one that the user asked for, or failed the command.
    fn presume(&self, caught: &CaughtInRun, run: &EndedRun) -> Result<Option<Signature>, Error> {
        let chosen = match &self.settings.exception {
            Some(class) => caught.of_class(class),
            None if run.status == 0 && !run.is_stopped => None,
            None => caught.reported(&run.output())?,
        };
        Ok(chosen.and_then(signature))
    }

    /// Runs the command as it is, to see how it ends.
    pub(crate) fn watch(&mut self, name: &str) -> Result<EndedRun, Error> {
        let mode = match self.watches_closely {
            true => Mode::Sentinel,
            false => Mode::Witness,
        };
        self.run(name, mode)
    }

    /// Runs the command with the agent. The run has a folder of this name. Of a long output, the beginning and the end
    /// are kept.
    pub(crate) fn run(&mut self, name: &str, mode: Mode) -> Result<EndedRun, Error> {
        let run = self.run_whole(name, mode)?;
        output::bound(&run.output())?;
        Ok(run)
    }

    /// The same with all of the output.
    pub(crate) fn run_whole(&mut self, name: &str, mode: Mode) -> Result<EndedRun, Error> {
        let folder = self.settings.folder.join(name);
        fs::create_dir_all(&folder)?;
        let options = AgentOptions {
            out: folder.display().to_string(),
            mode,
        };
        // The command may print secrets.
        let mut private = File::options();
        let private = private.write(true).create(true).truncate(true).mode(0o600);
        let output = private.open(folder.join("output.txt"))?;
        let ongoing = self.observer.begin(match options.mode {
            Mode::Follow(_) => Activity::Following,
            Mode::Record(_) => Activity::Recording,
            _ => Activity::Witnessing,
        });
        let Settings {
            command,
            java_tool_options,
            input,
            reducer,
            ..
        } = self.settings;
        let inherited = java_tool_options.as_deref();
        let output = &output;
        let streams = Streams { output, input };
        let began = Instant::now();
        let stop = self.stop_watch(&folder, &options.mode);
        let status = command.run_into(streams, &reducer.agent, &options, inherited);
        let stopped = stop.and_then(StopWatch::end);
        let status = status?;
        drop(ongoing);
        if let Ok(run) = RunFolder::open(&folder) {
            let recordings = &run.recordings;
            self.observer.notice(SessionEvent::Ran { recordings })?;
        }
        if self.is_interrupted() {
            return Err(Error::Interrupted);
        }
        self.stopped = self.stopped.or(stopped);
        Ok(EndedRun {
            folder,
            status: status.shell_code(),
            is_stopped: stopped.is_some(),
            took: began.elapsed(),
        })
    }

    /// Watches a run that is to be ended. The failures of one that is followed are not recorded: it gets several
    /// times as long as the first run took.
    fn stop_watch(&self, folder: &Path, mode: &Mode) -> Option<StopWatch> {
        let after = match (self.settings.stop_after?, mode, self.stopped) {
            (StopAfter::Failures(_), Mode::Follow(_), Some(stopped)) => {
                StopAfter::Time(stopped.after * FOLLOWED_SLOWER + FOLLOWED_LATER)
            }
            (after, ..) => after,
        };
        Some(StopWatch::start(Watched {
            folder: folder.to_owned(),
            after,
            enough: self.stopped.map(|stopped| stopped.failures),
            class: self.settings.exception.clone(),
        }))
    }

    /// Makes a test of what the driver does. `None` if that does not fail the same way alone.
    pub(crate) fn find_test(
        &mut self,
        failure: FailureTask<'_>,
        jvm: &FailedJvm,
    ) -> Result<Option<MinimizedTest>, Error> {
        let reaches_into = |found: &MinimizedTest| found.test.notes.uses_reflection;
        match self.follow(failure, jvm)? {
            // Code of the driver that could not be printed; recorded calls may do without it.
            Some(found) if reaches_into(&found) && !self.allowance.is_spent() => {
                match self.reduce_recorded(failure, jvm) {
                    Ok(recorded) if recorded.grade.is_some() && !reaches_into(&recorded) => {
                        Ok(Some(recorded))
                    }
                    Err(error) if !error.is_answer() => Err(error),
                    _ => Ok(Some(found)),
                }
            }
            None if self.is_interrupted() => Err(Error::Interrupted),
            // There is no use in recording the command without time to reduce the calls.
            None if self.allowance.is_spent() => Err(Error::OutOfTime),
            found => Ok(found),
        }
    }

    /// A recorded JVM of this session.
    pub(crate) fn failed_jvm(&self, recording: &Path) -> Result<FailedJvm, Error> {
        let Settings {
            surroundings,
            folder,
            ..
        } = self.settings;
        FailedJvm::open(recording, surroundings, &folder.join(CLASSES))
    }

    /// The program of a recorded JVM, where it can be opened.
    fn program_of(&self, recording: &Path) -> Option<Program> {
        Some(self.failed_jvm(recording).ok()?.program)
    }

    /// Makes a test of a script in the time that is left for its failure.
    pub(crate) fn reduce_case(&mut self, case: &Case<'_>) -> Result<MinimizedTest, Error> {
        let reducer = &self.settings.reducer;
        reducer.reduce(case, &mut self.allowance, self.observer)
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.settings.reducer.interrupt.is_wanted()
    }

    /// Whether no further attempt at a failure is to be made.
    pub(crate) fn is_over(&self) -> bool {
        self.is_interrupted() || self.allowance.is_spent()
    }
}

pub(crate) fn missed(failure: FailureTask<'_>, error: Error) -> MissedFailure {
    MissedFailure {
        signature: failure.seen.signature.clone(),
        rate: Some(failure.rate),
        error,
    }
}

/// The reason why a run left no recording: an agent that gave up has written a log.
fn no_jvm(run: &EndedRun) -> io::Result<Error> {
    for entry in fs::read_dir(&run.folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "log") {
            return Ok(Error::Unrecordable(log(&path)?));
        }
    }
    Ok(Error::NoJvm {
        output: run.output(),
    })
}

fn log(path: &Path) -> io::Result<String> {
    let text = untrusted::read_text(path, LONGEST_LOG)?;
    Ok(text.trim().to_owned())
}

/// Methods of the drivers that led to failures. None if they are not known for some failure.
fn driver_methods_of(witnesses: &Witnesses) -> Result<Vec<String>, Error> {
    let mut found = BTreeSet::new();
    for seen in witnesses.most_frequent() {
        let witness = Recording::open(&seen.recording)?;
        let names = driver_methods(&seen.failed(&witness));
        if names.is_empty() {
            return Ok(Vec::new());
        }
        found.extend(names);
    }
    Ok(found.into_iter().collect())
}
