//! The attempts at a test of one failure. The route from the driver to the code that failed decides their order:
//! where a framework stands in between, the inside comes first.

use std::time::{Duration, Instant};

use culprit_junit::PrintedTest;
use culprit_minimize::{Error as ReductionError, MinimizedTest};
use culprit_model::owner::is_thrown_for_mock;
use culprit_scripts::{Border, Route, inner_borders, route};

use crate::entry::{Again, Entry};
use crate::following::InnerTest;
use crate::levels::OuterTest;
use crate::recording::{RecordedPart, WrongResultTest};
use crate::session::{FailureTask, missed};
use crate::witness::Seen;
use crate::{CallLevel, Error, FailedJvm, Session, SessionEvent};

/// The time for the calls around a class that there is a test of already.
const AROUND: Duration = Duration::from_secs(30);

/// A way to a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Attempt {
    /// The calls of the driver, followed.
    Driver,
    /// Recorded calls of the class that threw.
    Thrower,
    /// Recorded calls of all of the program's own code.
    OwnCode,
    /// Recorded calls of everything that failed, with the libraries that it uses as far as they are needed.
    Everything,
}

impl Attempt {
    /// All of them, in the order in which they are made.
    fn all(route: Route) -> [Attempt; 4] {
        use Attempt::{Driver, Everything, OwnCode, Thrower};
        match route {
            Route::Direct => [Driver, OwnCode, Everything, Thrower],
            Route::Library => [Thrower, Driver, OwnCode, Everything],
            Route::Framework => [Thrower, OwnCode, Driver, Everything],
        }
    }

    /// The border of recorded calls inside the program.
    fn border(self, borders: &[Border]) -> Option<&Border> {
        let mut borders = borders.iter();
        match self {
            Attempt::Thrower => borders.find(|border| border.class.is_some()),
            Attempt::OwnCode => borders.find(|border| border.class.is_none()),
            Attempt::Driver | Attempt::Everything => None,
        }
    }
}

/// The outcome of the attempts so far.
#[derive(Default)]
struct Outcome {
    /// The number of calls of a test of the driver's calls, or of those of the program's own code.
    around: Option<usize>,
    /// There is a test of the class that threw.
    inside: bool,
    /// The class of the first test, without its name.
    first: Option<String>,
    /// There is a test of a wrong result.
    is_result_tested: bool,
    /// A test of the calls around that class that does not fail the same way, and when it was begun.
    doubtful: Option<(MinimizedTest, Instant)>,
    /// A test that is the program again, or calls nothing of it or only the body of a lambda, and when it was begun.
    again: Option<(MinimizedTest, Instant)>,
    /// The reason why the first attempt at the calls around that class came to nothing.
    why: Option<Error>,
}

impl Session<'_> {
    /// Makes tests of one failure; whether one fails the same way.
    pub(crate) fn test_of(&mut self, failure: FailureTask<'_>) -> Result<bool, Error> {
        let mut outcome = Outcome::default();
        match self.try_all(failure, &mut outcome) {
            Err(error) if error.is_answer() => outcome.fail(error),
            tried => tried?,
        }
        if !outcome.has_test()
            && let Some((found, began)) = outcome.again
        {
            let is_same = found.fails_the_same_way();
            self.add(failure, CallLevel::Outermost, found, began)?;
            return Ok(is_same);
        }
        match outcome {
            Outcome {
                around: Some(_), ..
            }
            | Outcome {
                is_result_tested: true,
                ..
            } => Ok(true),
            Outcome {
                inside: true, why, ..
            } => {
                if let Some(error) = why {
                    let missed = missed(failure, error);
                    self.observer.notice(SessionEvent::OnlyInside(missed))?;
                }
                Ok(true)
            }
            Outcome {
                doubtful: Some((found, began)),
                ..
            } => {
                self.add(failure, CallLevel::Outermost, found, began)?;
                Ok(false)
            }
            Outcome { why, .. } => {
                let missed = missed(failure, why.unwrap_or(Error::OutOfTime));
                self.observer.notice(SessionEvent::Missed(missed))?;
                Ok(false)
            }
        }
    }

    /// The part of the program that the first attempt at a failure is to record, unless it follows the driver.
    pub(crate) fn first_recorded_part(&self, seen: &Seen) -> Result<Option<RecordedPart>, Error> {
        let jvm = self.failed_jvm(&seen.recording)?;
        let failed = seen.failed(&jvm.recording);
        let borders = inner_borders(&failed, &jvm.program)?;
        let attempts = Attempt::all(route(&failed, &jvm.program)).into_iter();
        let mut to_make =
            attempts.filter(|it| *it == Attempt::Driver || it.border(&borders).is_some());
        let first = to_make.next();
        let border = first.and_then(|first| first.border(&borders));
        Ok(border.map(RecordedPart::within))
    }

    fn try_all(&mut self, failure: FailureTask<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        let jvm = self.failed_jvm(&failure.seen.recording)?;
        let failed = failure.seen.failed(&jvm.recording);
        let thrown = failed.signature.thrown();
        let thrower = thrown.frames.first();
        let thrower = thrower.map(|frame| frame.class.replace('.', "/"));
        if is_thrown_for_mock(&thrown.class.replace('.', "/"), thrower.as_deref()) {
            let class = thrown.class.rsplit('.').next().unwrap_or(&thrown.class);
            return Err(Error::ByMock(class.to_owned()));
        }
        let route = route(&failed, &jvm.program);
        let borders = inner_borders(&failed, &jvm.program)?;
        let entry = Entry::of(&jvm, failed.test);
        for attempt in Attempt::all(route) {
            if self.is_interrupted() {
                return Err(Error::Interrupted);
            }
            let is_outside = matches!(attempt, Attempt::Driver | Attempt::Everything);
            let is_hopeless = route == Route::Framework && is_outside;
            if self.allowance.is_spent()
                || outcome.around.is_some()
                || outcome.is_result_tested
                || outcome.inside && is_hopeless
            {
                break;
            }
            if outcome.inside {
                self.allowance.limit(AROUND);
            }
            let began = Instant::now();
            let is_inside = attempt == Attempt::Thrower;
            let found = match attempt {
                Attempt::Driver => match self.find_test(failure, &jvm)? {
                    Some(found) => Ok(found),
                    None => continue,
                },
                Attempt::Everything => self.reduce_recorded(failure, &jvm),
                Attempt::Thrower | Attempt::OwnCode => {
                    let Some(border) = attempt.border(&borders) else {
                        continue;
                    };
                    self.reduce_part(failure, &jvm, RecordedPart::within(border))
                }
            };
            let found = match found {
                Ok(found) => match entry.again(&found.minimised.script) {
                    // What is wrong is not in the calls of the JDK that are left; and the body of a lambda has a name that the
                    // compiler may give to another one when the program is fixed.
                    None if found.left() == 0 || calls_lambda(&found) => {
                        outcome.again.get_or_insert((found, began));
                        continue;
                    }
                    None => Ok(found),
                    Some(Again::Main(class)) => Err(Error::MainAgain(class)),
                    Some(Again::Command) => {
                        outcome.again.get_or_insert((found, began));
                        continue;
                    }
                },
                failed => failed,
            };
            let class = borders.iter().find_map(|border| border.class.clone());
            match (found, class.filter(|_| is_inside)) {
                (Ok(found), Some(class)) if found.fails_the_same_way() => {
                    outcome.inside = true;
                    outcome.first = Some(body(&found));
                    self.add_inner(failure, InnerTest { class, found }, began)?;
                }
                (Ok(found), None) if found.fails_the_same_way() => {
                    outcome.around = Some(found.left());
                    let body = body(&found);
                    if outcome.first.as_ref() != Some(&body) {
                        self.add(failure, CallLevel::Outermost, found, began)?;
                    }
                    outcome.first.get_or_insert(body);
                }
                (Ok(found), None) => {
                    outcome.doubtful.get_or_insert((found, began));
                }
                (Err(error), _) if !error.is_answer() => return Err(error),
                // Without the mocks, all other calls around the code fail or pass by chance.
                (Err(error @ Error::Reduction(ReductionError::MockedInside)), None) => {
                    return Err(error);
                }
                (Err(error), None) => outcome.fail(error),
                (_, Some(_)) => {}
            }
            // Behind a framework or a library, following the driver hardly leads to a test of its assertion.
            if attempt == Attempt::OwnCode && route != Route::Direct {
                self.add_wrong_result(failure, &jvm, outcome)?;
            }
        }
        self.add_wrong_result(failure, &jvm, outcome)?;
        if !outcome.has_test() {
            return self.add_thrower(failure, &jvm, &entry, outcome);
        }
        match outcome.around {
            Some(left) if !outcome.inside => {
                let body = outcome.first.take();
                self.add_inner_levels(failure, &jvm, OuterTest { left, body })
            }
            _ => Ok(()),
        }
    }

    /// Adds a test of a wrong result in the last recording, if an assertion failed that there is no test of.
    fn add_wrong_result(
        &mut self,
        failure: FailureTask<'_>,
        jvm: &FailedJvm,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let began = Instant::now();
        if outcome.has_test() || !failure.seen.signature.is_assertion() || self.is_over() {
            return Ok(());
        }
        match self.reduce_wrong_result(failure, jvm) {
            Ok(Some(WrongResultTest { told, found })) => {
                outcome.is_result_tested = true;
                self.add(failure, CallLevel::Result { told }, found, began)
            }
            Err(error) if !error.is_answer() => Err(error),
            _ => Ok(()),
        }
    }

    /// Adds a test of the method that threw, whose exception may not have left its class.
    fn add_thrower(
        &mut self,
        failure: FailureTask<'_>,
        jvm: &FailedJvm,
        entry: &Entry<'_>,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let began = Instant::now();
        if failure.seen.signature.is_assertion() || self.is_over() {
            return Ok(());
        }
        match self.follow_to_thrower(failure, jvm) {
            Ok(Some(inner)) if inner.found.left() > 0 => {
                match entry.again(&inner.found.minimised.script) {
                    None => {
                        outcome.inside = true;
                        outcome.why = None;
                        self.add_inner(failure, inner, began)?;
                    }
                    Some(Again::Main(class)) => outcome.fail(Error::MainAgain(class)),
                    Some(Again::Command) => {
                        outcome.again.get_or_insert((inner.found, began));
                    }
                }
                Ok(())
            }
            Err(error) if !error.is_answer() => Err(error),
            _ => Ok(()),
        }
    }

    /// Adds a test of the class that threw.
    fn add_inner(
        &mut self,
        failure: FailureTask<'_>,
        InnerTest { class, found }: InnerTest,
        began: Instant,
    ) -> Result<(), Error> {
        let calls = found.minimised.calls_of(&class);
        self.add(failure, CallLevel::Innermost { class, calls }, found, began)
    }
}

/// True if the failing call of a test is that of the body of a lambda, which no source code can name.
pub(crate) fn calls_lambda(found: &MinimizedTest) -> bool {
    let script = &found.minimised.script;
    let last = script.statements.last();
    let target = last.and_then(|last| script.target(last));
    target.is_some_and(|target| target.name.starts_with("lambda$"))
}

/// The class of a test, without its name: two tests with the same are one.
pub(crate) fn body(found: &MinimizedTest) -> String {
    let PrintedTest {
        source, class_name, ..
    } = &found.test;
    let declared = format!("class {class_name} ");
    let body = source.split_once(&declared).map(|(_, body)| body);
    body.unwrap_or(source).to_owned()
}

impl Outcome {
    fn has_test(&self) -> bool {
        self.inside || self.around.is_some() || self.is_result_tested
    }

    /// Keeps the reason of the first attempt that came to nothing, unless it saw nothing fail.
    fn fail(&mut self, error: Error) {
        if self.why.as_ref().is_none_or(Error::is_unseen) {
            self.why = Some(error);
        }
    }
}

impl RecordedPart {
    fn within(border: &Border) -> RecordedPart {
        RecordedPart {
            name: match border.class {
                Some(_) => "thrower",
                None => "own",
            },
            selection: border.selection.clone(),
            attempts: 1,
        }
    }
}
