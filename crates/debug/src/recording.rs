//! Scripts of recorded calls, for failures that cannot be followed. The set of observed classes is widened until
//! the script can make every object that it uses.

use std::path::{Path, PathBuf};

use culprit_minimize::MinimizedTest;
use culprit_model::observe::ClassOrigin;
use culprit_model::options::{Mode, RecordOptions, WeaveOptions};
use culprit_model::{Failure as RecordedThrowable, Owner, Pattern, Selection};
use culprit_program::{Program, with_loader};
use culprit_scripts::{
    Extracted, Script, extract, finds_fault, loader_of_failing_call, select, wrong_results,
};
use culprit_signature::{Signature, Thrown};
use culprit_trace::{Recording, RunFolder};

use crate::session::{CLASSES, FailureTask};
use crate::{Case, Error, FailedJvm, Session, SessionEvent};

/// The most recordings of the command, each with more classes than the one before.
const ATTEMPTS: usize = 4;

/// The most recordings that each have fewer classes than the one before.
const MOST_NARROWED: usize = 2;

/// The most runs until the command fails, if it does not always.
const MOST_RUNS: usize = 5;

/// A part of the program that is recorded.
pub(crate) struct RecordedPart {
    /// The beginning of the names of the folders of its runs.
    pub(crate) name: &'static str,
    pub(crate) selection: Selection,
    /// The most recordings of the command.
    pub(crate) attempts: usize,
}

/// A run in which the calls of some classes were recorded.
#[derive(Clone)]
pub(crate) struct RecordedRun {
    selection: Selection,
    folder: PathBuf,
}

/// A test that fails if a call returns what it returned.
pub(crate) struct WrongResultTest {
    /// The result in words.
    pub(crate) told: String,
    pub(crate) found: MinimizedTest,
}

impl RecordedPart {
    /// The name of the folder of a run.
    pub(crate) fn run_name(&self, failure: usize, attempt: usize) -> String {
        format!("{}-{failure}-{attempt}", self.name)
    }
}

/// The options of the agent that record the calls of some classes.
pub(crate) fn record_options(selection: &Selection) -> RecordOptions {
    RecordOptions {
        weave: WeaveOptions {
            selection: selection.clone(),
            ..WeaveOptions::default()
        },
        contents: true,
        ..RecordOptions::default()
    }
}

impl Session<'_> {
    /// Makes a test of recorded calls of all the code that failed.
    pub(crate) fn reduce_recorded(
        &mut self,
        failure: FailureTask<'_>,
        jvm: &FailedJvm,
    ) -> Result<MinimizedTest, Error> {
        let part = RecordedPart {
            name: "run",
            selection: select(&failure.seen.failed(&jvm.recording), &jvm.program)?,
            attempts: ATTEMPTS,
        };
        self.reduce_part(failure, jvm, part)
    }

    /// Makes a test of recorded calls of a part of the program.
    pub(crate) fn reduce_part(
        &mut self,
        failure: FailureTask<'_>,
        jvm: &FailedJvm,
        part: RecordedPart,
    ) -> Result<MinimizedTest, Error> {
        let signature = &failure.seen.signature;
        let mut selection = part.selection.clone();
        let (mut attempt, mut narrowed) = (1, 0);
        let (recording, extracted) = loop {
            let observed = selection.observe.iter().map(ToString::to_string).collect();
            self.observer.notice(SessionEvent::Records { observed })?;
            let name = part.run_name(failure.number, attempt);
            let run = self.record_failing(&name, &selection, failure)?;
            let (recording, thrown) = recorded(&run.folder, signature)?;
            let extracted = extract(&recording, &thrown).map_err(Error::from);
            let extracted = extracted.map_err(|error| of_mock(error, &part, &selection))?;
            attempt += 1;
            let is_narrowed = narrowed < MOST_NARROWED && narrow(&mut selection, &extracted);
            narrowed += usize::from(is_narrowed);
            // With stand-ins, less may be missing.
            let is_widened = !is_narrowed
                && attempt <= part.attempts + narrowed
                && widen(&mut selection, &extracted);
            if !is_narrowed && !is_widened {
                break (recording, extracted);
            }
        };
        let script = &extracted.script;
        let taken = self.taken.clone();
        let of_loader = self.program_of_loader(jvm, &recording, script)?;
        let found = self.reduce_case(&Case {
            signature,
            condition: None,
            script,
            recording: &recording,
            program: of_loader.as_ref().unwrap_or(&jvm.program),
            jdk: &jvm.jdk,
            taken: &taken,
            concrete: false,
        });
        let found = found.map_err(|error| of_mock(error, &part, &selection))?;
        without_unseen(found, &extracted)
    }

    /// Makes a test of a wrong result in the last recording, if the assertion that found it wrong cannot be repeated.
    pub(crate) fn reduce_wrong_result(
        &mut self,
        failure: FailureTask<'_>,
        jvm: &FailedJvm,
    ) -> Result<Option<WrongResultTest>, Error> {
        let Some(RecordedRun {
            mut selection,
            mut folder,
        }) = self.last_recorded.clone()
        else {
            return Ok(None);
        };
        let mut narrowed = 0;
        let (recording, wrong) = loop {
            let (recording, thrown) = recorded(&folder, &failure.seen.signature)?;
            let wrong = wrong_results(&recording, &thrown)?;
            let mut results = wrong.iter();
            let is_narrowed = results.any(|it| narrow(&mut selection, &it.extracted));
            narrowed += 1;
            if !is_narrowed || narrowed > MOST_NARROWED {
                break (recording, wrong);
            }
            let name = format!("result-{}-{narrowed}", failure.number);
            folder = self.record_failing(&name, &selection, failure)?.folder;
        };
        for wrong in wrong {
            let signature = wrong.signature();
            let taken = self.taken.clone();
            let script = &wrong.extracted.script;
            let of_loader = self.program_of_loader(jvm, &recording, script)?;
            let found = self.reduce_case(&Case {
                signature: &signature,
                condition: None,
                script,
                recording: &recording,
                program: of_loader.as_ref().unwrap_or(&jvm.program),
                jdk: &jvm.jdk,
                taken: &taken,
                concrete: false,
            });
            match found.and_then(|found| without_unseen(found, &wrong.extracted)) {
                Ok(found) if found.fails_the_same_way() => {
                    let told = wrong.told;
                    return Ok(Some(WrongResultTest { told, found }));
                }
                Err(error) if !error.is_answer() => return Err(error),
                _ if self.is_over() => break,
                _ => {}
            }
        }
        Ok(None)
    }

    /// The program with the classes of the loader whose code failed, if the class path has others of their names or none.
    fn program_of_loader(
        &self,
        jvm: &FailedJvm,
        recording: &Recording,
        script: &Script,
    ) -> Result<Option<Program>, Error> {
        let Some(loader) = loader_of_failing_call(script, recording) else {
            return Ok(None);
        };
        let folder = self.settings.folder.join(CLASSES);
        let class_path = with_loader(&jvm.program, recording, loader, &folder)?;
        let opened = class_path.map(|class_path| Program::open(&class_path, &jvm.jdk));
        Ok(opened.transpose()?)
    }

    /// Records the command until it fails in a way, which it need not do each time.
    fn record_failing(
        &mut self,
        name: &str,
        selection: &Selection,
        failure: FailureTask<'_>,
    ) -> Result<RecordedRun, Error> {
        let mut attempt = 1;
        loop {
            let name = match attempt {
                1 => name.to_owned(),
                _ => format!("{name}-{attempt}"),
            };
            let run = match self.recorded_early.take() {
                Some((recorded, run)) if recorded == *selection => run,
                early => {
                    self.recorded_early = early;
                    self.run(&name, Mode::Record(record_options(selection)))?
                }
            };
            let found = recorded(&run.folder, &failure.seen.signature);
            if found.is_ok() || failure.rate.is_always() || attempt == MOST_RUNS {
                let last = RecordedRun {
                    selection: selection.clone(),
                    folder: run.folder,
                };
                self.last_recorded = Some(last.clone());
                return Ok(last);
            }
            attempt += 1;
        }
    }
}

/// A test of a wrong result, unless that comes from an exception that nobody saw.
fn without_unseen(found: MinimizedTest, extracted: &Extracted) -> Result<MinimizedTest, Error> {
    let reduced = &found.minimised.script;
    let unseen = extracted.thrown_unseen(reduced);
    match unseen.filter(|_| finds_fault(reduced)) {
        Some(unseen) => Err(Error::Unseen(unseen)),
        None => Ok(found),
    }
}

/// The error for a failure that no recorded call has: if classes were excluded because a mocking library made their objects,
/// it is one of theirs.
fn of_mock(error: Error, part: &RecordedPart, selection: &Selection) -> Error {
    let excluded = &selection.exclude[part.selection.exclude.len()..];
    match excluded.first().filter(|_| error.is_unseen()) {
        Some(class) => Error::OfMock(class.to_string()),
        None => error,
    }
}

/// Excludes observed classes whose objects a script uses and nobody constructed, such as mocks that are objects of
/// the class itself: something stands in for them. Whether there are such.
fn narrow(selection: &mut Selection, extracted: &Extracted) -> bool {
    let before = selection.exclude.len();
    for class in &extracted.unmade {
        if selection.selects(class, ClassOrigin::Library)
            && let Ok(pattern) = class.replace('/', ".").parse::<Pattern>()
        {
            selection.exclude.push(pattern);
        }
    }
    selection.exclude.len() > before
}

/// Observes classes whose objects a script uses and does not make; whether there are such.
fn widen(selection: &mut Selection, extracted: &Extracted) -> bool {
    let before = selection.observe.len();
    for class in &extracted.missing {
        let pattern = class.replace('/', ".").parse::<Pattern>();
        let excluded = selection.exclude.iter().any(|known| known.matches(class))
            || Owner::of(class) == Owner::Mock;
        if let (Ok(pattern), false) = (pattern, excluded)
            && !selection.observe.iter().any(|known| known.matches(class))
        {
            selection.observe.push(pattern);
        }
    }
    selection.observe.len() > before
}

/// The recording of a run that has a failure, and the failure.
fn recorded(folder: &Path, signature: &Signature) -> Result<(Recording, RecordedThrowable), Error> {
    for path in RunFolder::open(folder)?.recordings {
        let recording = Recording::open(&path)?;
        let same = recording.exceptions().find(|failure| {
            let thrown = Thrown::parse(&failure.stack);
            thrown.is_some_and(|thrown| signature.is_same(&thrown))
        });
        if let Some(failure) = same.cloned() {
            return Ok((recording, failure));
        }
    }
    Err(Error::RecordedOtherwise)
}
