//! Scripts of what the driver did, from a run of the command in which the agent interprets the driver.

use std::fmt::Write as _;
use std::fs;

use culprit_jvm::untrusted;
use culprit_minimize::MinimizedTest;
use culprit_model::Selection;
use culprit_model::options::{FOLLOWED_EXTENSION, FollowOptions, Mode};
use culprit_scripts::{
    FollowedFailure, InnerLevel, OwnCalls, Script, Surroundings, call_of_thrower, drivers,
    followed, loses_changes, own_calls,
};
use culprit_signature::Signature;

use crate::session::FailureTask;
use crate::{Case, Error, FailedJvm, Session, SessionEvent};

/// Seconds after which a run that follows a driver is ended.
pub(crate) const FOLLOW_SECONDS: u64 = 120;

/// The same for a level inside, since there is a test already.
const INNER_SECONDS: u64 = 10;

/// The most bytes that are read of what a driver did.
const LONGEST: u64 = 1 << 30;

/// The most bytes of standard input that a test contains.
pub(crate) const LONGEST_INPUT: u64 = 16 << 10;

/// A run in which classes are followed.
#[derive(Clone)]
pub(crate) struct Following {
    /// The name of its folder.
    pub(crate) name: String,
    pub(crate) selection: Selection,
    /// The tests that are followed, or all.
    pub(crate) tests: Vec<String>,
    /// The methods that alone are followed, or all.
    pub(crate) methods: Vec<String>,
    /// The code that threw is followed, so a test throws by itself.
    pub(crate) is_inlined: bool,
    /// Seconds after which the run is ended.
    pub(crate) seconds: u64,
}

/// A test at a level inside the program.
pub(crate) struct InnerTest {
    /// The class whose calls it makes.
    pub(crate) class: String,
    pub(crate) found: MinimizedTest,
}

impl Session<'_> {
    /// Makes a test of what the driver did. `None` if that does not fail the same way alone; a file in the folder
    /// of the run says why.
    pub(crate) fn follow(
        &mut self,
        failure: FailureTask<'_>,
        jvm: &FailedJvm,
    ) -> Result<Option<MinimizedTest>, Error> {
        let failed = failure.seen.failed(&jvm.recording);
        let Some(selection) = drivers(&failed, &jvm.program) else {
            return Ok(None);
        };
        let own_calls = own_calls(&failed, &jvm.program);
        if let Some(driver) = selection.observe.first() {
            let driver = driver.to_string();
            self.observer.notice(SessionEvent::Follows { driver })?;
        }
        let mut following = Following {
            name: format!("follow-{}", failure.number),
            selection,
            tests: self.driver_methods.clone(),
            is_inlined: own_calls.as_ref().is_none_or(|own| own.is_inlined),
            methods: own_calls.map(OwnCalls::outermost).unwrap_or_default(),
            seconds: FOLLOW_SECONDS,
        };
        // Tests that pass may take long to follow, but what they leave behind may matter.
        if !following.tests.is_empty() {
            let found = self.test_followed(&following, failure, jvm, false)?;
            if found.is_some() || self.is_over() {
                return Ok(found);
            }
            following.name.push_str("-all");
            following.tests.clear();
        }
        self.test_followed(&following, failure, jvm, false)
    }

    /// Makes another test of the same failure at a level inside the program: the calls of a class, by whatever is around it.
    /// `None` if it is too much to follow, or the calls do not fail the same way.
    pub(crate) fn follow_inwards(
        &mut self,
        failure: FailureTask<'_>,
        jvm: &FailedJvm,
        level: &InnerLevel,
        depth: usize,
    ) -> Result<Option<MinimizedTest>, Error> {
        let following = Following {
            name: match depth {
                0 => format!("inner-{}", failure.number),
                _ => format!("inner-{}-{depth}", failure.number),
            },
            selection: level.selection.clone(),
            tests: self.driver_methods.clone(),
            is_inlined: level.methods.is_empty(),
            methods: level.methods.clone(),
            seconds: INNER_SECONDS,
        };
        self.test_followed(&following, failure, jvm, true)
    }

    /// Makes a test of the method that threw, by following the program's own methods around it. `None` if there are none, or their
    /// calls do not fail the same way.
    pub(crate) fn follow_to_thrower(
        &mut self,
        failure: FailureTask<'_>,
        jvm: &FailedJvm,
    ) -> Result<Option<InnerTest>, Error> {
        let failed = failure.seen.failed(&jvm.recording);
        let Some(call) = call_of_thrower(&failed, &jvm.program) else {
            return Ok(None);
        };
        let driver = call.class.clone();
        self.observer.notice(SessionEvent::Follows { driver })?;
        let following = Following {
            name: format!("around-{}", failure.number),
            selection: call.selection,
            tests: self.driver_methods.clone(),
            is_inlined: false,
            methods: call.methods,
            seconds: FOLLOW_SECONDS,
        };
        let found = self.test_followed(&following, failure, jvm, true)?;
        let class = call.class;
        Ok(found.map(|found| InnerTest { class, found }))
    }

    /// Makes a test of what some classes did in a run that followed them. With `concrete`, numbers and texts are
    /// given as they were.
    fn test_followed(
        &mut self,
        following: &Following,
        failure: FailureTask<'_>,
        jvm: &FailedJvm,
        concrete: bool,
    ) -> Result<Option<MinimizedTest>, Error> {
        let mut signature = failure.seen.signature.clone();
        let driver = following.selection.observe.first();
        if let Some(driver) = driver.filter(|_| following.is_inlined) {
            signature = signature.inlining(&driver.to_string());
        }
        let signature = &signature;
        let input = self.settings.input.text(LONGEST_INPUT);
        let surroundings = Surroundings {
            start: jvm.recording.start(),
            input: input.as_deref(),
        };
        let mut reasons = String::new();
        for run in self.scripts(following)? {
            let wanted = FollowedFailure {
                signature,
                among_alike: failure.among_alike,
            };
            for script in followed(run, wanted, surroundings) {
                let taken = self.taken.clone();
                let case = Case {
                    signature,
                    condition: None,
                    script: &script,
                    recording: &jvm.recording,
                    program: &jvm.program,
                    jdk: &jvm.jdk,
                    taken: &taken,
                    concrete,
                };
                // Writing to a text does not fail.
                match self.reduce_case(&case) {
                    Ok(found) if concrete && loses_changes(&script, &found.minimised.script) => {
                        let why = "without the calls that changed the object, it may fail for another reason";
                        let _ = writeln!(reasons, "{}\n{why}", found.test.source);
                    }
                    Ok(found) if found.grade >= Some(Signature::ENOUGH) => return Ok(Some(found)),
                    Ok(found) => {
                        let verified = &found.verified;
                        let _ = writeln!(reasons, "{}\n{verified:?}", found.test.source);
                    }
                    Err(error) if error.is_answer() && !self.is_interrupted() => {
                        let _ = writeln!(reasons, "{error}");
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        if reasons.is_empty() {
            reasons.push_str("no call of the driver ended with the failure\n");
        }
        let folder = self.settings.folder.join(&following.name);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("not-taken.txt"), reasons)?;
        Ok(None)
    }

    /// The scripts of what drivers do, one for each JVM. Failures of the same test class share a run.
    pub(crate) fn scripts(&mut self, following: &Following) -> Result<Vec<Script>, Error> {
        let Following {
            name,
            selection,
            tests,
            methods,
            is_inlined: _,
            seconds,
        } = following;
        let follow = FollowOptions {
            classes: selection.observe.clone(),
            seconds: Some(*seconds),
            tests: tests.clone(),
            methods: methods.clone(),
        };
        if let Some(known) = self.followed.get(&follow) {
            return Ok(known.clone());
        }
        let run = self.run(name, Mode::Follow(follow.clone()))?;
        let mut found = Vec::new();
        for entry in fs::read_dir(&run.folder)? {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|end| end == FOLLOWED_EXTENSION)
            {
                let script = untrusted::read_text(&path, LONGEST)?.parse::<Script>();
                found.push(script.map_err(|error| Error::Followed(error.to_string()))?);
            }
        }
        self.followed.insert(follow, found.clone());
        Ok(found)
    }
}
