//! Scripts of recorded calls, for failures that cannot be followed. The set of observed classes is widened until
//! the script can make every object that it uses.

use std::path::Path;

use culprit_minimize::MinimizedTest;
use culprit_model::options::{Mode, RecordOptions, WeaveOptions};
use culprit_model::{Failure as RecordedThrowable, Pattern, Selection};
use culprit_scripts::{Extracted, extract, select};
use culprit_signature::{Signature, Thrown};
use culprit_trace::{Recording, RunFolder};

use crate::session::FailureTask;
use crate::{Case, Error, FailedJvm, Session, SessionEvent};

/// The most recordings of the command, each with more classes than the one before.
const ATTEMPTS: usize = 4;

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
        let mut selection = part.selection;
        let mut attempt = 1;
        let (recording, script) = loop {
            let observed = selection.observe.iter().map(ToString::to_string).collect();
            self.observer.notice(SessionEvent::Records { observed })?;
            let name = format!("{}-{}-{attempt}", part.name, failure.number);
            let (recording, thrown) = self.record_failing(&name, &selection, failure)?;
            let extracted = extract(&recording, &thrown)?;
            attempt += 1;
            let is_narrowed = narrow(&mut selection, &extracted);
            let is_widened = attempt <= part.attempts && widen(&mut selection, &extracted);
            if !(is_narrowed || is_widened) || attempt > 2 * ATTEMPTS {
                break (recording, extracted.script);
            }
        };
        let taken = self.taken.clone();
        self.reduce_case(&Case {
            signature,
            condition: None,
            script: &script,
            recording: &recording,
            program: &jvm.program,
            jdk: &jvm.jdk,
            taken: &taken,
            concrete: false,
        })
    }

    /// Records the command until it fails in a way, which it need not do each time.
    fn record_failing(
        &mut self,
        name: &str,
        selection: &Selection,
        failure: FailureTask<'_>,
    ) -> Result<(Recording, RecordedThrowable), Error> {
        let mut attempt = 1;
        loop {
            let name = match attempt {
                1 => name.to_owned(),
                _ => format!("{name}-{attempt}"),
            };
            let record = RecordOptions {
                weave: WeaveOptions {
                    selection: selection.clone(),
                    ..WeaveOptions::default()
                },
                contents: true,
                ..RecordOptions::default()
            };
            let run = self.run(&name, Mode::Record(record))?;
            let found = recorded(&run.folder, &failure.seen.signature);
            if found.is_ok() || failure.rate.is_always() || attempt == MOST_RUNS {
                return found;
            }
            attempt += 1;
        }
    }
}

/// Excludes observed classes whose objects a script uses and no call of the program makes, such as mocks that are
/// objects of the class itself: something stands in for them. Whether there are such.
fn narrow(selection: &mut Selection, extracted: &Extracted) -> bool {
    let before = selection.exclude.len();
    for class in &extracted.missing {
        let is_observed = selection.observe.iter().any(|known| known.matches(class));
        if is_observed
            && !selection.excludes(class)
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
        let excluded = selection.exclude.iter().any(|known| known.matches(class));
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
