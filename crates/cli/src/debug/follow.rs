//! The shorter way: the driver of the failing run, a test or the main class, is followed call by call.

use std::fmt::Write as _;
use std::fs;

use culprit_jvm::{Jdk, untrusted};
use culprit_minimize::Found;
use culprit_model::options::{FOLLOWED_EXTENSION, FollowOptions, Mode};
use culprit_model::{Script, Selection};
use culprit_program::{Program, class_path};
use culprit_scripts::{drivers, followed, innermost};
use culprit_signature::Signature;
use culprit_trace::Recording;

use super::{Seen, Session};
use crate::console::Console;
use crate::exit::Expected;
use crate::reduction::{Case, jdk_of};

/// Seconds after which a run that follows a driver is ended.
pub(super) const PATIENCE: u64 = 120;

/// The same where more is followed, which others may have done already.
const SHORT_PATIENCE: u64 = 10;

/// Bytes that are read of what a driver did.
const MOST_FOLLOWED: u64 = 1 << 30;

/// A run that is followed.
struct Following {
    /// The folder it has.
    name: String,
    selection: Selection,
    /// The tests that are followed, or all.
    tests: Vec<String>,
    /// After which it is ended.
    seconds: u64,
    /// Whether numbers and texts are given as they were.
    concrete: bool,
}

impl Session<'_> {
    /// Makes a test of what the driver did. `None` where that does not fail the same way alone; a file in
    /// the folder of the run says why.
    pub(super) fn follow(
        &self,
        number: usize,
        seen: &Seen,
        (witness, program, jdk): (&Recording, &Program, &Jdk),
        console: &mut Console,
    ) -> anyhow::Result<Option<Found>> {
        let Some(selection) = drivers(&seen.failed(witness), program) else {
            return Ok(None);
        };
        if let Some(driver) = selection.observe.first() {
            writeln!(console.err(), "  following {driver}")?;
        }
        let following = |name: String, tests: Vec<String>| Following {
            name,
            selection: selection.clone(),
            tests,
            seconds: PATIENCE,
            concrete: false,
        };
        let mut name = format!("follow-{number}");
        // Tests that pass may take long to follow, but what they leave behind may matter.
        if !self.tests.borrow().is_empty() {
            let following = following(name.clone(), self.tests.borrow().clone());
            let found = self.test_of(following, seen, (witness, program, jdk), console)?;
            let is_over = self.interrupt.is_wanted() || self.allowance.borrow().is_spent();
            if found.is_some() || is_over {
                return Ok(found);
            }
            name.push_str("-all");
        }
        let following = following(name, Vec::new());
        self.test_of(following, seen, (witness, program, jdk), console)
    }

    /// Makes another test of the same crash at the innermost level of abstraction: what is called of the class
    /// that threw, by whatever is around it. `None` where there is no such level, or it is too much to follow.
    pub(super) fn follow_inwards(
        &self,
        number: usize,
        seen: &Seen,
        console: &mut Console,
    ) -> anyhow::Result<Option<(String, Found)>> {
        let witness = Recording::open(&seen.recording)?;
        let jdk = jdk_of(&witness)?;
        let program = Program::open(&class_path(witness.start()), &jdk)?;
        let innermost = innermost(&seen.failed(&witness), &program);
        let is_over = self.interrupt.is_wanted() || self.allowance.borrow().is_spent();
        let Some((class, selection)) = innermost.filter(|_| !is_over) else {
            return Ok(None);
        };
        writeln!(console.err(), "  the innermost level: calls to {class}")?;
        let following = Following {
            name: format!("inner-{number}"),
            selection,
            tests: self.tests.borrow().clone(),
            seconds: SHORT_PATIENCE,
            concrete: true,
        };
        let found = self.test_of(following, seen, (&witness, &program, &jdk), console)?;
        Ok(found.map(|found| (class, found)))
    }

    /// A test of what some classes did when a run followed them.
    fn test_of(
        &self,
        following: Following,
        seen: &Seen,
        (witness, program, jdk): (&Recording, &Program, &Jdk),
        console: &mut Console,
    ) -> anyhow::Result<Option<Found>> {
        let Following {
            name,
            selection,
            tests,
            seconds,
            concrete,
        } = following;
        let mut reasons = String::new();
        for run in self.scripts(&name, selection, (seconds, &tests), console)? {
            for script in followed(run, &seen.signature, witness.start()) {
                let case = Case {
                    signature: &seen.signature,
                    condition: None,
                    recording: witness,
                    script: &script,
                    program,
                    jdk,
                    sandbox: self.sandbox.as_ref(),
                    journals: self.journals.clone(),
                    taken: self.taken.borrow().clone(),
                    concrete,
                    found: &self.found,
                    environment: self.environment.clone(),
                };
                match self.reduce_case(&case, console) {
                    Ok(found) if found.grade >= Some(Signature::ENOUGH) => return Ok(Some(found)),
                    Ok(found) => {
                        let verified = &found.verified;
                        writeln!(reasons, "{}\n{verified:?}", found.test.source)?;
                    }
                    Err(error) if error.is::<Expected>() && !self.interrupt.is_wanted() => {
                        writeln!(reasons, "{error}")?;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        if reasons.is_empty() {
            reasons.push_str("no call of the driver ended with the failure\n");
        }
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("not-taken.txt"), reasons)?;
        Ok(None)
    }

    /// What drivers do, by JVM. Failures of the same test class are in the same run.
    pub(super) fn scripts(
        &self,
        name: &str,
        selection: Selection,
        (seconds, tests): (u64, &[String]),
        console: &mut Console,
    ) -> anyhow::Result<Vec<Script>> {
        let drivers = selection.observe.iter().map(ToString::to_string);
        let drivers: Vec<String> = drivers.chain(tests.iter().cloned()).collect();
        if let Some(known) = self.followed.borrow().get(&drivers) {
            return Ok(known.clone());
        }
        let follow = FollowOptions {
            classes: selection.observe,
            seconds: Some(seconds),
            tests: tests.to_vec(),
        };
        let (folder, _) = self.run_with(name, Mode::Follow(follow), console)?;
        let mut found = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|end| end == FOLLOWED_EXTENSION)
            {
                let text = untrusted::read_text(&path, MOST_FOLLOWED)?;
                found.push(text.parse::<Script>()?);
            }
        }
        self.followed.borrow_mut().insert(drivers, found.clone());
        Ok(found)
    }
}
