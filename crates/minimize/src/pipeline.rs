//! From a script that fails to a test that was seen to fail: reduced, printed and checked.

use std::io;
use std::path::PathBuf;

use culprit_junit::{ClassBytes, Language, Notes, Options, PrintedTest, print};
use culprit_jvm::{PoolError, WorkingFolder};
use culprit_model::count::{counted, grouped};
use culprit_model::owner::returns_for_mock;
use culprit_program::Program;
use culprit_reduce::Driver;
use culprit_scripts::{
    Condition, Predicate, ScriptRun, fetches, interactions, links, resource_names, seek,
    with_aliases, without_idle_guards, without_idle_reads,
};
use culprit_signature::{Grade, Refusal, Signature, Thrown};
use culprit_wire::FreshState;

use crate::concrete::concrete;
use crate::shrink::shrink;
use crate::test_names::{SourceFolders, test_names};
use crate::verify::TestEnvironment;
use crate::{
    ByHand, Checked, Error, Likeness, Minimised, Needed, Runner, Scene, Script, Stage, Statement,
    Verified, minimise, verify,
};

/// A verified test, and the reduced script that it is printed from.
#[derive(Debug)]
pub struct MinimizedTest {
    pub minimised: Minimised,
    /// Candidates that were run.
    pub tests: u64,
    /// Why verdicts are missing in a journal.
    pub journal_trouble: Option<io::Error>,
    pub test: PrintedTest,
    pub verified: Verified,
    /// Who ran the test.
    pub runner: Runner,
    /// How much the failure of the test has in common with the recorded one.
    pub grade: Option<Grade>,
    /// The environment variables that the test needs to fail, if any.
    pub needs: Option<Needed>,
    /// The options of the JVM that the test needs to fail.
    pub options: Vec<String>,
    /// The files that the test reads in its working folder, by their paths below it, as far as they are known.
    pub files: Vec<PathBuf>,
    /// The files and folders that the test finds on its class path.
    pub resources: Vec<Resource>,
    /// How to run the test outside of the sandbox, where it was run inside.
    pub by_hand: Option<ByHand>,
    /// The working folder of the candidates and of the test.
    pub works_in: WorkingFolder,
    /// Whether the script fails where the test does not.
    pub is_misprinted: bool,
    /// The reason why the test is not in Kotlin, although it was to be.
    pub no_kotlin: Option<String>,
}

/// A file or folder that a test finds on its class path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resource {
    /// The name by which the test finds it.
    pub name: String,
    /// The place of a copy, as long as the reduction lasts.
    pub path: PathBuf,
}

impl MinimizedTest {
    /// Whether the test was seen to fail as the program did.
    pub fn fails_the_same_way(&self) -> bool {
        matches!(self.verified, Verified::Threw(_)) && self.grade >= Some(Signature::ENOUGH)
    }

    /// Calls into the program that are left, as they are written in the test: those of a loop once.
    pub fn left(&self) -> usize {
        left(&self.minimised, &self.test.notes)
    }

    /// Calls into the program that the test makes: those of a loop in each round.
    pub fn calls(&self) -> usize {
        calls(&self.minimised)
    }
}

/// True if a mock answered while a statement ran that is no stand-in of the script: the mocked method itself would run in a test, and
/// return whatever it returns there.
fn asks_mock(script: &Script) -> bool {
    let mut answers = script.statements.iter().flat_map(Statement::answers);
    answers.any(|answer| {
        let site = script.tables.site(answer.site);
        site.is_some_and(|site| returns_for_mock(&site.target.owner))
    })
}

fn left(minimised: &Minimised, notes: &Notes) -> usize {
    interactions(&minimised.script, &notes.written)
}

fn calls(minimised: &Minimised) -> usize {
    let all: Vec<usize> = (0..minimised.script.statements.len()).collect();
    interactions(&minimised.script, &all)
}

/// The failure that a test must show.
#[derive(Clone, Copy)]
pub struct TargetFailure<'a> {
    pub signature: &'a Signature,
    /// The least grade of the failure of the whole script.
    pub wanted: Grade,
    /// The condition that makes it a failure, if the script does not end with it.
    pub condition: Option<&'a Condition>,
    /// The same, compiled, if it is about objects.
    pub predicate: Option<&'a Predicate>,
}

/// Makes a test of a script.
#[derive(Clone, Copy)]
pub struct TestMaker<'a> {
    pub program: &'a Program,
    pub failure: TargetFailure<'a>,
    /// The workers of candidates.
    pub stage: &'a Stage,
    /// Runs all searches, under one budget.
    pub driver: &'a Driver<'a>,
    /// The tools and folders of the last check.
    pub surroundings: TestEnvironment<'a>,
    /// Names of tests that exist already, with their packages.
    pub taken: &'a [String],
    /// Whether numbers and texts are given as they were, and not computed again.
    pub concrete: bool,
}

/// The form of a printed test.
#[derive(Clone, Copy)]
pub(crate) struct Form<'a> {
    pub(crate) language: Language,
    pub(crate) loops: bool,
    /// The needs of the test that the comment names.
    pub(crate) checked: Option<&'a Checked>,
}

impl Form<'_> {
    const PLAIN: Form<'static> = Form {
        language: Language::Java,
        loops: true,
        checked: None,
    };
}

impl TestMaker<'_> {
    /// Reduces a script, prints it as a test and checks the test.
    ///
    /// Candidates share JVMs, and a test has one of its own. If neither the test nor the script that it was printed
    /// from fails in a new JVM, or if the same calls fail in one run and pass in another, candidates depend on something
    /// that others left in the JDK, such as a port or a lock: then each candidate has a JVM of its own, too.
    pub fn make(&self, script: &Script) -> Result<MinimizedTest, Error> {
        let folder = &self.surroundings.folder.join("alone");
        let alone = || {
            let again = TestMaker {
                surroundings: TestEnvironment {
                    folder,
                    ..self.surroundings
                },
                ..*self
            };
            again.make_and_check(script)
        };
        let mut found = match self.make_and_check(script) {
            Err(Error::Unsteady) if !self.stage.deadline().is_over() => {
                self.stage.use_new_workers();
                return alone();
            }
            found => found?,
        };
        let ran = matches!(found.verified, Verified::Passed | Verified::Threw(_));
        if !ran || found.grade >= Some(Signature::ENOUGH) || self.stage.deadline().is_over() {
            return Ok(found);
        }
        self.stage.use_new_workers();
        let left = &found.minimised.script;
        let ran = self
            .stage
            .run(&left.tables, &left.statements, FreshState::NewLoader);
        let run = match ran.map_err(Error::from) {
            Err(error) if error.is_end() => return Ok(found),
            run => run?,
        };
        if let ScriptRun::Threw { trace, .. } = run {
            let grade =
                Thrown::parse(&trace).and_then(|thrown| self.failure.signature.grade(&thrown));
            found.is_misprinted = grade >= Some(Signature::ENOUGH);
        }
        if found.is_misprinted {
            return Ok(found);
        }
        match alone() {
            Ok(again) if again.grade > found.grade => Ok(again),
            _ => Ok(found),
        }
    }

    fn make_and_check(&self, script: &Script) -> Result<MinimizedTest, Error> {
        let TargetFailure { signature, .. } = self.failure;
        let grade = |trace: &str| Thrown::parse(trace).and_then(|thrown| signature.grade(&thrown));
        if let Some(refusal) = Refusal::of(signature.thrown()).filter(|_| self.stage.is_confined())
        {
            return Err(Error::Refused(refusal));
        }
        let likeness = Likeness {
            grade: &grade,
            wanted: self.failure.wanted,
        };
        let driver = self.driver;
        let scene = Scene {
            stage: self.stage,
            program: self.program,
        };
        let tests_before = driver.tally().run();
        let mut minimised = Err(Error::NotLinked);
        let runs = |script: &Script| {
            driver.count_run();
            let stage = self.stage;
            stage.run(&script.tables, &script.statements, FreshState::NewLoader)
        };
        let sought = match (self.failure.predicate, self.failure.condition) {
            (Some(predicate), _) => predicate.seek(script, self.program, &runs)?,
            (None, Some(condition)) => seek(script, condition, &runs)?,
            (None, None) => script.clone(),
        };
        let ways = fetches(&sought, self.program);
        let linked = |script: &Script| {
            let last = script.statements.len().saturating_sub(1);
            if script.waits.iter().any(|wait| wait.statement == last) {
                return vec![script.clone()];
            }
            // What the assertion is given may come from a call as it is.
            let is_given = |statement: &Statement| !statement.uses().is_empty();
            let own = script.statements.last().is_some_and(is_given);
            let own = own.then(|| script.clone());
            own.into_iter().chain(links(script)).collect()
        };
        let mut refusals = Refusals::default();
        for script in ways.iter().flat_map(linked) {
            minimised = minimise(&script, scene, &likeness, driver);
            let is_other = match &minimised {
                Err(Error::OtherFailure(ScriptRun::Unresolved(why))) => !refusals.add(why),
                Err(Error::OtherFailure(_) | Error::NotLinked) => true,
                _ => false,
            };
            if !is_other || driver.is_over() {
                break;
            }
        }
        if driver.is_over() && matches!(minimised, Err(Error::NotLinked)) {
            return Err(Error::Pool(PoolError::OutOfTime));
        }
        let mut minimised = minimised?;
        if asks_mock(&minimised.script) {
            return Err(Error::MockedInside);
        }
        if self.concrete && !driver.is_over() {
            let fails = |run: &ScriptRun| match run {
                ScriptRun::Threw { trace, .. } => grade(trace) >= Some(Signature::ENOUGH),
                _ => false,
            };
            let concrete = concrete(&minimised.script, &runs, &fails);
            // What made the values is not needed any more.
            let smaller = match concrete {
                Err(error) if error.is_end() => Err(error),
                concrete => minimise(&concrete?, scene, &likeness, driver),
            };
            let is_same = |smaller: &Minimised| {
                // A call that does not pass first any more may fail for another reason.
                smaller.turn.is_some() || minimised.turn.is_none()
            };
            if let Some(smaller) = smaller.ok().filter(is_same) {
                minimised = Minimised {
                    captured: minimised.captured,
                    sliced: minimised.sliced,
                    ..smaller
                };
            }
        }
        let before = minimised.script.clone();
        if !driver.is_over() {
            minimised = shrink(minimised, self.stage, driver)?;
        }
        minimised.script = without_idle_reads(&without_idle_guards(&minimised.script));
        let mut test = self.printed(&minimised, Form::PLAIN);
        if test.is_err() {
            // What is small need not be printable.
            minimised.script = before;
            test = self.printed(&minimised, Form::PLAIN);
        }
        let mut test = test?;
        let graded = |verified: &Verified| match verified {
            Verified::Threw(trace) => grade(trace),
            _ => None,
        };
        // What was found in time is checked, even where that takes a little longer.
        let tests = driver.tally().run() - tests_before;
        if driver.is_over() {
            minimised.end = driver.end();
        }
        self.stage.close(driver.end());
        driver.close();
        let fails = |verified: &Verified| graded(verified) >= Some(Signature::ENOUGH);
        let mut loops = true;
        let checked = self.stage.deadline().complete(|| {
            let checked = verify(&test, &self.surroundings, driver, &fails)?;
            let is_judged = !matches!(
                checked.verified,
                Verified::NoCompiler(_) | Verified::Interrupted
            );
            if !is_judged || graded(&checked.verified).is_some() || test.notes.loops == 0 {
                return Ok(checked);
            }
            // A straight line asks less of the compiler.
            loops = false;
            test = self.printed(
                &minimised,
                Form {
                    loops,
                    ..Form::PLAIN
                },
            )?;
            let folder = &self.surroundings.folder.join("straight");
            let straight = TestEnvironment {
                folder,
                ..self.surroundings
            };
            verify(&test, &straight, driver, &fails)
        });
        let mut checked = checked?;
        let mut no_kotlin = None;
        if self.surroundings.kotlin.is_some() && fails(&checked.verified) {
            let in_kotlin = self.stage.deadline().complete(|| {
                let form = Form {
                    language: Language::Kotlin,
                    loops,
                    checked: None,
                };
                self.in_kotlin(&minimised, form, &fails)
            });
            match in_kotlin? {
                Ok(kotlin) => {
                    test = kotlin.test;
                    checked = kotlin.checked;
                }
                Err(why) => no_kotlin = Some(why),
            }
        }
        if checked.needs.is_some() || !checked.options.is_empty() || !checked.files.is_empty() {
            let form = Form {
                language: test.language,
                loops,
                checked: Some(&checked),
            };
            test = self.printed(&minimised, form)?;
        }
        let resources = self.resources(&minimised.script);
        let is_confined = self.surroundings.confines.sandbox.is_some();
        let by_hand = is_confined
            .then(|| ByHand::of(&self.surroundings, &checked, test.language, &resources));
        let Checked {
            verified,
            runner,
            needs,
            options,
            files,
        } = checked;
        let grade = graded(&verified);
        Ok(MinimizedTest {
            minimised,
            tests,
            journal_trouble: driver.take_journal_trouble(),
            test,
            verified,
            runner,
            grade,
            needs,
            options,
            files,
            resources,
            by_hand,
            works_in: self.surroundings.works_in.clone(),
            is_misprinted: false,
            no_kotlin,
        })
    }

    /// The resources that a script finds.
    fn resources(&self, script: &Script) -> Vec<Resource> {
        let Some(folder) = self.surroundings.resources else {
            return Vec::new();
        };
        let names = resource_names(script).into_iter();
        let found = names.map(|name| Resource {
            path: folder.root().join(&name),
            name,
        });
        found.filter(|resource| resource.path.exists()).collect()
    }

    pub(crate) fn printed(
        &self,
        minimised: &Minimised,
        form: Form<'_>,
    ) -> Result<PrintedTest, Error> {
        let classes = ClassBytes(|name: &str| self.program.bytes(name));
        let is_a = |class: &str, wanted: &str| self.program.is_a(class, wanted);
        let script = with_aliases(&minimised.script, &is_a);
        let mut names = test_names(&minimised.script);
        loop {
            let options = Options {
                junit: self.surroundings.junit,
                language: form.language,
                name: names.next().unwrap_or_default(),
                loops: form.loops,
                condition: self.failure.predicate.map(Predicate::printed),
            };
            let test = print(&script, &classes, &options, |notes| {
                comment(self.failure.signature, minimised, notes, form.checked)
            });
            let test = test.map_err(|error| Error::Print(error.to_string()))?;
            // The program may have a test of that name, which is not to be hidden or overwritten.
            let full = full_name(&test);
            let class = full.replace('.', "/");
            let is_taken = self.taken.contains(&full)
                || self.program.bytes(&class).is_some()
                || self.sources().contain(&class);
            if !is_taken {
                return Ok(test);
            }
        }
    }

    /// The source files around the program.
    fn sources(&self) -> SourceFolders<'_> {
        SourceFolders {
            directory: self.surroundings.directory,
            class_path: self.surroundings.class_path,
        }
    }
}

/// The most ways to link an assertion that cannot be run for the same reason, one after the other.
const MOST_REFUSALS: usize = 8;

/// The reasons why ways to link an assertion cannot be run.
#[derive(Default)]
struct Refusals {
    last: String,
    times: usize,
}

impl Refusals {
    /// Adds a reason; whether it was the same so often that other ways will hardly end differently.
    fn add(&mut self, why: &str) -> bool {
        match self.last == why {
            true => self.times += 1,
            false => {
                self.times = 1;
                self.last = why.to_owned();
            }
        }
        self.times >= MOST_REFUSALS
    }
}

/// The name of a test with its package.
pub fn full_name(test: &PrintedTest) -> String {
    match test.package.is_empty() {
        true => test.class_name.clone(),
        false => format!("{}.{}", test.package, test.class_name),
    }
}

/// Columns of a comment.
const COLUMNS: usize = 88;

/// Breaks a text into lines, between words.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn comment(
    signature: &Signature,
    minimised: &Minimised,
    notes: &Notes,
    checked: Option<&Checked>,
) -> Vec<String> {
    let mut text = format!("Fails with {signature}.");
    let (written, calls) = (left(minimised, notes), calls(minimised));
    if calls < minimised.captured {
        let captured = counted(minimised.captured as u64, "call");
        let in_loops = match written < calls {
            true => format!(", written as {} with loops", grouped(written as u64)),
            false => String::new(),
        };
        let calls = grouped(calls as u64);
        text.push_str(&format!(" Reduced from {captured} to {calls}{in_loops}."));
    }
    if let Some(needs) = checked.and_then(|checked| checked.needs.as_ref()) {
        text.push_str(&format!(" It {needs}."));
    }
    if let Some(Checked { options, .. }) = checked.filter(|checked| !checked.options.is_empty()) {
        let noun = if options.len() == 1 {
            "option"
        } else {
            "options"
        };
        let options = options.join(" ");
        text.push_str(&format!(" It needs the JVM {noun} {options}."));
    }
    if let Some(Checked { files, .. }) = checked.filter(|checked| !checked.files.is_empty()) {
        let files: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
        let files = files.join(", ");
        text.push_str(&format!(" It reads {files} in its working folder."));
    }
    wrapped(&text, COLUMNS)
}
