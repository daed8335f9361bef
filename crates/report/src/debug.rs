//! The result of `culprit debug` and `culprit minimize`: failures and the tests made of them, as JSON, Markdown,
//! HTML, SARIF and text.

mod dependence;
mod excerpt;
mod headline;
mod html;
mod ids;
mod origin;
mod picture;
mod sarif;
mod verdict;
mod way;

use std::fmt;
use std::path::{Path, PathBuf};

use culprit_debug::{CallLevel, FailureTest, LeftOutLevel, LevelReason, Rate};
use culprit_junit::Language;
use culprit_jvm::WorkingFolder;
use culprit_minimize::Resource;
use culprit_model::clean;
use culprit_pinpoint::Located;
use culprit_reduce::SearchEnd;
use culprit_signature::Signature;
use serde::{Deserialize, Serialize};

use crate::document::{Content, Document};
use crate::figure::{counted, grouped};
use crate::markup::markdown::{block, code, plain};
use sarif::Identity;
use verdict::verdict;

pub use dependence::{LinkDependence, LinkDependenceKind};
pub use excerpt::{ExcerptEntry, ExcerptLineEntry, ExcerptMark};
pub use origin::{LinkEntry, LinkEvidence, MethodEntry, OriginEntry, PassingEntry};
pub use sarif::SourcePaths;

/// The introduction of the command that runs a test with the rights of the user.
pub const OUTSIDE: &str = "it was run in the sandbox; to run it with all your rights";

/// The tests that were made of failures: `report.json` of `culprit debug` and `culprit minimize`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestsDocument {
    /// The command that made them, without the folder for results.
    pub command: String,
    /// The failures, each with its test.
    pub tests: Vec<FailureEntry>,
}

impl Content for TestsDocument {
    const NAME: &'static str = "tests";
}

/// A failure, and the test that was made of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailureEntry {
    /// The failure.
    pub failure: String,
    /// Its stack trace.
    pub stack: String,
    /// Runs of the command that failed; null if the command was not run.
    pub fails: Option<FailureRate>,
    /// Whether the test was compiled and run, and failed in the same way.
    pub verified: bool,
    /// The result of that check in words, or the reason why there is no test.
    pub verdict: String,
    /// The test; its fields are missing where there is none.
    #[serde(flatten)]
    pub test: Option<TestEntry>,
}

/// The share of runs that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailureRate {
    /// Runs that failed.
    pub times: usize,
    /// All runs.
    pub of: usize,
}

/// A test.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TestEntry {
    /// The code whose calls it makes.
    pub level: Level,
    /// Its file, within the folder for results.
    pub test: String,
    /// Calls that were recorded.
    pub captured: usize,
    /// Calls in the slice.
    pub sliced: usize,
    /// Calls that are left, as they are written: those of a loop once.
    pub left: usize,
    /// Calls that the test makes: those of a loop in each round.
    #[serde(default)]
    pub calls: usize,
    /// The class whose calls it makes, inside the program; null on the outermost level.
    #[serde(default)]
    pub inside: Option<String>,
    /// Calls of that class that are left; null on the outermost level.
    pub left_of_inside: Option<usize>,
    /// Statements of the test.
    pub statements: usize,
    /// Statements at the beginning that set up the surroundings, such as system properties.
    pub surroundings: usize,
    /// The environment variables that it needs to fail; null if it needs none, empty if it needs some and their
    /// names are not known.
    pub environment: Option<Vec<String>>,
    /// The options of the JVM that it needs to fail.
    #[serde(default)]
    pub jvm_options: Vec<String>,
    /// The files that it reads in its working folder, by their paths below it, as far as they are known.
    #[serde(default)]
    pub files: Vec<String>,
    /// The files and folders that it finds on its class path, by their paths in the result folder.
    #[serde(default)]
    pub resources: Vec<String>,
    /// Objects that stand in for others.
    pub stand_ins: usize,
    /// The language that it is written in.
    #[serde(default)]
    pub language: TestLanguage,
    /// Whether it uses reflection.
    pub reflection: bool,
    /// Candidates that were run.
    pub runs: u64,
    /// Whether it is 1-minimal.
    pub minimal: bool,
    /// The method before whose call the failing one passes, and after which it fails; null if none was found.
    #[serde(default)]
    pub fails_after: Option<String>,
    /// The seconds until it was found.
    pub seconds: f64,
    /// The runner of the last check.
    pub run_by: String,
    /// The working folder that it needs, in words.
    pub folder: String,
    /// The command that compiles and runs it outside of the sandbox, if it did not fail in the same way inside.
    pub by_hand: Option<String>,
    /// Where the failure comes from; null if the run was not traced.
    #[serde(default)]
    pub origin: Option<OriginEntry>,
    /// The reason why it is not known where the failure comes from; null if it is known.
    #[serde(default)]
    pub no_origin: Option<String>,
    /// The levels inside the program that have no test of their own.
    #[serde(default)]
    pub left_out: Vec<LeftOutEntry>,
}

/// A level without a test of its own.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOutEntry {
    /// The class, or the method of the driver, whose calls would be the test.
    pub called: String,
    /// The reason, in words.
    pub why: String,
}

impl LeftOutEntry {
    fn of(level: &LeftOutLevel) -> LeftOutEntry {
        let why = match level.why {
            LevelReason::NotAlike => "its calls alone do not fail in the same way",
            LevelReason::NotSmaller => "its test is no smaller",
            LevelReason::SameTest => "its test is the same as another one",
            LevelReason::Refuses => {
                "the exception comes from the called method or a helper of it, which may be right to refuse what it was given"
            }
            LevelReason::Enough => "levels around it were tried",
            LevelReason::FewCalls => "the test from outside has few calls",
            LevelReason::NoTime => "it was not tried, for lack of time",
        };
        LeftOutEntry {
            called: clean::line(&level.called).into_owned(),
            why: why.to_owned(),
        }
    }
}

/// The language of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TestLanguage {
    /// Java.
    #[default]
    Java,
    /// Kotlin.
    Kotlin,
}

impl TestLanguage {
    fn of(language: Language) -> TestLanguage {
        match language {
            Language::Java => TestLanguage::Java,
            Language::Kotlin => TestLanguage::Kotlin,
        }
    }

    /// As blocks of source code are marked.
    fn name(self) -> &'static str {
        match self {
            TestLanguage::Java => Language::Java.name(),
            TestLanguage::Kotlin => Language::Kotlin.name(),
        }
    }
}

/// The code whose calls a test makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The calls of the test or the main class.
    Outermost,
    /// The calls of a class on the stack between these and the class that threw.
    Between,
    /// The calls of the class that threw.
    Innermost,
}

/// A failure of the report: its entry in the document, and the parts of its text that the document lacks.
#[derive(Clone, PartialEq, Debug)]
pub struct ReportedFailure {
    entry: FailureEntry,
    rate: Option<Rate>,
    text: Option<TestText>,
    identity: Identity,
}

/// The command that runs a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunCommand {
    /// The files that must be copied into the user's project before, if any.
    pub copies: Vec<CopyStep>,
    /// The command for a shell.
    pub command: String,
}

/// A file that must be copied before a test can run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopyStep {
    /// The file in the result folder; `None` is the test itself.
    pub file: Option<String>,
    /// The folder of the user's project.
    pub to: PathBuf,
}

/// The parts of the text on a test that the document lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
struct TestText {
    source: String,
    /// The command that runs the test, if it fails like the program.
    run: Option<RunCommand>,
    /// The reason why the test may not be minimal.
    early: Option<&'static str>,
    /// The call before which the failing one passes, as a part of a sentence.
    turn: Option<String>,
    /// The files that the test needs, as a part of a sentence.
    needed_files: Option<String>,
    /// The resources that the test finds, as a part of a sentence.
    resources: Option<String>,
    /// The reason why verdicts are missing in a journal.
    journal_trouble: Option<String>,
    /// The reason why the test is not in the language that was asked for, as a part of a sentence.
    other_language: Option<String>,
}

/// The results of `culprit debug` or `culprit minimize`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TestsReport {
    /// The failures, in the order in which they were found.
    pub failures: Vec<ReportedFailure>,
}

impl TestsReport {
    /// `report.json`.
    pub fn document(&self, command: &str) -> Document<TestsDocument> {
        let entries = self.failures.iter().map(|failure| failure.entry.clone());
        Document::new(TestsDocument {
            command: command.to_owned(),
            tests: entries.collect(),
        })
    }

    /// `report.md`.
    pub fn markdown(&self, command: &str) -> String {
        let failures: String = self
            .failures
            .iter()
            .map(ReportedFailure::markdown)
            .collect();
        format!("# What fails in {}\n\n{failures}", code(command))
    }
}

impl ReportedFailure {
    /// A failure with its test. The file is named as in the result folder; `run` is the command that runs a test that
    /// fails like the program, `by_hand` the one that compiles and runs another test outside of the sandbox.
    pub fn with_test(
        test: &FailureTest,
        file: String,
        run: Option<RunCommand>,
        by_hand: Option<String>,
    ) -> ReportedFailure {
        let found = &test.found;
        let (minimised, notes) = (&found.minimised, &found.test.notes);
        let (level, inside) = match &test.level {
            CallLevel::Outermost | CallLevel::Result { .. } => (Level::Outermost, None),
            CallLevel::Between { class, calls } => (Level::Between, Some((class.clone(), *calls))),
            CallLevel::Innermost { class, calls } => {
                (Level::Innermost, Some((class.clone(), *calls)))
            }
        };
        let (inside, left_of_inside) = inside.unzip();
        let early = early(minimised.end).or_else(|| {
            let sampled = "of long loops, only some rounds were tried";
            minimised.is_sampled.then_some(sampled)
        });
        let files = found.files.iter();
        let files: Vec<String> = files.map(clean::path).collect();
        let resources = found.resources.iter();
        let resources: Vec<String> = resources
            .map(|resource| clean::path(&resource_file(resource)))
            .collect();
        let entry = TestEntry {
            level,
            test: file,
            captured: minimised.captured,
            sliced: minimised.sliced,
            left: found.left(),
            calls: found.calls(),
            inside,
            left_of_inside,
            statements: notes.statements,
            surroundings: minimised.script.prelude,
            environment: found.needs.as_ref().map(|it| it.names().to_vec()),
            jvm_options: found.options.clone(),
            files: files.clone(),
            resources: resources.clone(),
            stand_ins: notes.stand_ins,
            language: TestLanguage::of(found.test.language),
            reflection: notes.uses_reflection,
            runs: found.tests,
            minimal: early.is_none(),
            fails_after: minimised.turns_at().map(str::to_owned),
            seconds: (test.took.as_secs_f64() * 10.0).round() / 10.0,
            run_by: found.runner.name().to_owned(),
            folder: clean::line(&found.works_in.to_string()).into_owned(),
            by_hand,
            origin: None,
            no_origin: None,
            left_out: Vec::new(),
        };
        let journal_trouble = found.journal_trouble.as_ref();
        let verdict = match &test.level {
            CallLevel::Result { told } if found.fails_the_same_way() => format!(
                "compiled and run: fails since {told}; the assertion itself cannot be repeated \
                 without what is around it"
            ),
            _ => verdict(found),
        };
        ReportedFailure {
            entry: FailureEntry {
                verified: found.fails_the_same_way(),
                test: Some(entry),
                ..FailureEntry::new(&test.signature, test.rate, verdict)
            },
            rate: test.rate,
            text: Some(TestText {
                source: found.test.source.clone(),
                run,
                early,
                turn: minimised.turns_at().map(turn),
                needed_files: needed_files(&found.works_in, &files),
                resources: (!resources.is_empty())
                    .then(|| format!("it finds {} on its class path", resources.join(", "))),
                journal_trouble: journal_trouble.map(ToString::to_string),
                other_language: found
                    .no_kotlin
                    .as_ref()
                    .map(|why| format!("written in Java, not in Kotlin: {why}")),
            }),
            identity: Identity::of(&test.signature),
        }
    }

    /// A failure that no test was made of, and the reason.
    pub fn without_test(signature: &Signature, rate: Option<Rate>, why: String) -> ReportedFailure {
        ReportedFailure {
            entry: FailureEntry::new(signature, rate, why),
            rate,
            text: None,
            identity: Identity::of(signature),
        }
    }

    /// The lines on a test as a terminal shows them before its source code; none without a test.
    pub fn lines(&self) -> Vec<String> {
        let (Some(test), Some(text)) = (&self.entry.test, &self.text) else {
            return Vec::new();
        };
        let trouble = text.journal_trouble.as_ref();
        let lines = [
            Some(text.summary(test)),
            text.reservation(test),
            trouble.map(|why| format!("the journal lacks verdicts: {why}")),
            Some(self.entry.verdict.clone()),
        ];
        let lines = lines.into_iter().flatten().chain(text.notes(test));
        lines.map(|line| clean::line(&line).into_owned()).collect()
    }

    /// Adds where the failure of the test comes from.
    pub fn locate(&mut self, located: &Located) {
        if let Some(test) = &mut self.entry.test {
            let origin = OriginEntry::of(located, &self.entry.failure);
            test.no_origin = origin.unknown();
            test.origin = Some(origin);
        }
    }

    /// Adds why it is not known where the failure of the test comes from.
    pub fn not_located(&mut self, why: &str) {
        if let Some(test) = &mut self.entry.test {
            test.no_origin = Some(clean::line(why).into_owned());
        }
    }

    /// True if the test makes the calls of the test or the main class.
    pub fn is_outermost(&self) -> bool {
        let test = self.entry.test.as_ref();
        test.is_some_and(|test| test.level == Level::Outermost)
    }

    /// Adds the levels inside the program that have no test of their own.
    pub fn leave_out(&mut self, levels: &[LeftOutLevel]) {
        if let Some(test) = &mut self.entry.test {
            test.left_out = levels.iter().map(LeftOutEntry::of).collect();
        }
    }

    /// The lines on where the failure comes from, as a terminal shows them after the source code; none if that is not known.
    pub fn origin_lines(&self) -> Vec<String> {
        let Some(test) = &self.entry.test else {
            return Vec::new();
        };
        match (&test.no_origin, &test.origin) {
            (Some(why), _) => vec![no_origin(why)],
            (None, origin) => origin.as_ref().map(OriginEntry::lines).unwrap_or_default(),
        }
    }

    fn markdown(&self) -> String {
        let entry = &self.entry;
        let (failure, verdict) = (plain(&entry.failure), plain(&entry.verdict));
        let how_often = self.rate.map(|rate| format!("The command {rate}. "));
        let how_often = how_often.unwrap_or_default();
        let (Some(test), Some(text)) = (&entry.test, &self.text) else {
            return format!("## {failure}\n\n{how_often}No test: {verdict}.\n\n");
        };
        let level = match (test.level, &test.inside) {
            (Level::Outermost, _) | (Level::Between, None) => String::new(),
            (Level::Between, Some(class)) => format!(": calls of {}", plain(class)),
            (Level::Innermost, _) => ": the innermost level".to_owned(),
        };
        let partial = text.reservation(test).map(|it| format!("; {it}"));
        let notes: String = text
            .notes(test)
            .map(|note| format!(" Note: {}.", plain(&note)))
            .collect();
        let by_hand = test.by_hand.as_ref().map(|command| {
            let command = block("sh", &format!("{command}\n"));
            format!("{OUTSIDE}:\n\n{command}\n")
        });
        let run = text.run.as_ref().map(RunCommand::markdown);
        let origin = test.origin.as_ref().filter(|it| !it.chain.is_empty());
        let headline = origin.map(|it| format!("**{}**\n\n", plain(&it.headline)));
        format!(
            "## {failure}{level}\n\n{}{how_often}{}{}. {}: {verdict}.{}\n\n{}\n{}{}{}",
            headline.unwrap_or_default(),
            text.summary(test),
            partial.unwrap_or_default(),
            code(&test.test),
            notes,
            block(test.language.name(), &text.source),
            run.unwrap_or_default(),
            by_hand.unwrap_or_default(),
            origin.map(OriginEntry::markdown).unwrap_or_default(),
        )
    }
}

impl RunCommand {
    fn markdown(&self) -> String {
        format!("To run it: {}\n\n", self.written(&code))
    }

    /// The steps in words, with names as `show` shows them.
    fn written(&self, show: &dyn Fn(&str) -> String) -> String {
        let steps = self.copies.iter().map(|CopyStep { file, to }| {
            let file = file.as_deref().map_or_else(|| "it".to_owned(), show);
            format!("{file} to {}", show(&to.display().to_string()))
        });
        let steps: Vec<String> = steps.collect();
        let command = show(&self.command);
        match steps.as_slice() {
            [] => command,
            steps => format!("copy {}, then {command}", steps.join(" and ")),
        }
    }
}

impl fmt::Display for RunCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written(&str::to_owned))
    }
}

impl FailureEntry {
    /// The entry of a failure without a test.
    fn new(signature: &Signature, rate: Option<Rate>, verdict: String) -> FailureEntry {
        FailureEntry {
            failure: signature.to_string(),
            stack: signature.thrown().to_string(),
            fails: rate.map(|Rate { times, of }| FailureRate { times, of }),
            verified: false,
            verdict,
            test: None,
        }
    }
}

impl TestText {
    /// Facts about the test besides its numbers and its verdict, each as a part of a sentence.
    fn notes(&self, test: &TestEntry) -> impl Iterator<Item = String> + use<> {
        let notes = [
            self.turn.clone(),
            self.needed_files.clone(),
            self.resources.clone(),
            passed_values(test),
            self.other_language.clone(),
            test.no_origin.as_deref().map(no_origin),
        ];
        let left_out = test.left_out.iter();
        let left_out = left_out.map(|it| format!("there is no test of {}: {}", it.called, it.why));
        let left_out: Vec<String> = left_out.collect();
        notes.into_iter().flatten().chain(left_out)
    }

    /// The course of the reduction in numbers.
    fn summary(&self, test: &TestEntry) -> String {
        let own = match (test.left_of_inside, &test.inside) {
            (Some(calls), Some(class)) if calls != test.left => format!(" ({calls} of {class})"),
            _ => String::new(),
        };
        let in_loops = match test.left < test.calls {
            true => format!(", written as {} with loops", grouped(test.left as u64)),
            false => String::new(),
        };
        format!(
            "{} recorded, {} in the slice, {} left{in_loops}{own} after {}",
            counted(test.captured as u64, "call"),
            grouped(test.sliced as u64),
            grouped(test.calls as u64),
            counted(test.runs, "run"),
        )
    }

    fn reservation(&self, test: &TestEntry) -> Option<String> {
        match (self.early, test.left) {
            (Some(why), _) => Some(format!("may not be minimal: {why}")),
            (None, 0) => {
                Some("calls nothing of the program, so it fails on any version".to_owned())
            }
            (None, _) => None,
        }
    }
}

/// The reason why there is no chain, as a part of a sentence.
fn no_origin(why: &str) -> String {
    format!("it is not known where the failure comes from: {why}")
}

/// The origin of the values of a test on a level inside: the fault may be where they were computed.
fn passed_values(test: &TestEntry) -> Option<String> {
    let class = test.inside.as_ref()?;
    Some(format!(
        "it shows how {class} fails, and not whether it should be called like this: if the caller is at fault, the test also \
         fails where the caller is fixed"
    ))
}

/// The reason why a result may not be minimal.
fn early(end: SearchEnd) -> Option<&'static str> {
    match end {
        SearchEnd::Minimal => None,
        SearchEnd::Tests => Some("--max-tests was reached"),
        SearchEnd::Time => Some("--max-time was reached"),
        SearchEnd::Cancelled => Some("interrupted"),
    }
}

/// The call that makes the failing one fail, as a part of a sentence.
fn turn(name: &str) -> String {
    format!("the failing call passes before {name} and fails after it")
}

/// The file or folder of a resource in the result folder.
pub fn resource_file(resource: &Resource) -> PathBuf {
    Path::new("resources").join(&resource.name)
}

/// The files that a test does not fail without, as a part of a sentence.
fn needed_files(folder: &WorkingFolder, files: &[String]) -> Option<String> {
    match folder {
        WorkingFolder::Empty | WorkingFolder::Scratch => None,
        WorkingFolder::Copy(template) => {
            let root = template.root().display();
            let files = match files {
                [] => "files".to_owned(),
                files => files.join(", "),
            };
            let changed = template.changed().map(|file| {
                let file = file.display();
                format!("; the program changed {file} there, so calls may be missing")
            });
            let changed = changed.unwrap_or_default();
            Some(format!("it needs {files} of {root}{changed}"))
        }
        WorkingFolder::Given(path) => Some(format!(
            "it needs files of {}, or of your home folder; if the program wrote them, calls may be missing",
            path.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use culprit_signature::Thrown;

    use super::*;
    use crate::document::conforming;

    pub(super) fn failure() -> ReportedFailure {
        ReportedFailure {
            entry: FailureEntry {
                failure: "a.Thrown \"<b>\"".to_owned(),
                stack: "a.Thrown: <b>\n\tat a.B.c(B.java:1)\n".to_owned(),
                fails: Some(FailureRate { times: 3, of: 10 }),
                verified: true,
                verdict: "compiled and run: fails the same way".to_owned(),
                test: Some(TestEntry {
                    level: Level::Innermost,
                    test: "innermost/a/BTest.java".to_owned(),
                    captured: 40,
                    sliced: 8,
                    left: 2,
                    calls: 1002,
                    inside: Some("a.B".to_owned()),
                    left_of_inside: Some(1),
                    statements: 4,
                    surroundings: 0,
                    environment: Some(vec!["HOME".to_owned()]),
                    jvm_options: vec!["-Xmx40m".to_owned()],
                    files: vec!["in.txt".to_owned()],
                    resources: vec!["resources/in.zip".to_owned()],
                    stand_ins: 0,
                    language: TestLanguage::Java,
                    reflection: false,
                    runs: 12,
                    minimal: false,
                    fails_after: None,
                    seconds: 1.5,
                    run_by: "JUnit platform".to_owned(),
                    folder: "an empty folder".to_owned(),
                    by_hand: Some("javac BTest.java".to_owned()),
                    origin: Some(origin()),
                    no_origin: None,
                    left_out: Vec::new(),
                }),
            },
            rate: Some(Rate { times: 3, of: 10 }),
            text: Some(TestText {
                source: "class BTest {}\n".to_owned(),
                run: Some(RunCommand {
                    copies: vec![CopyStep {
                        file: None,
                        to: "src/test/java/a".into(),
                    }],
                    command: "mvn test -Dtest=BTest".to_owned(),
                }),
                early: early(SearchEnd::Time),
                turn: None,
                needed_files: needed_files(&WorkingFolder::Given("/home/`x`".into()), &[]),
                resources: None,
                journal_trouble: Some("disk full".to_owned()),
                other_language: None,
            }),
            identity: Identity::of(&Signature::of(&thrown())),
        }
    }

    fn thrown() -> Thrown {
        let trace = "a.Thrown: <b>\n\tat java.util.List.of(List.java:9)\n\tat a.B.c(B.java:1)\n\tat a.Main.main(Main.java:3)";
        Thrown::parse(trace).unwrap()
    }

    pub(super) fn origin() -> OriginEntry {
        let related = LinkEntry {
            class: "a.B".to_owned(),
            method: "c".to_owned(),
            file: Some("B.java".to_owned()),
            line: Some(1),
            code: Some("if (a < b) {".to_owned()),
            value: None,
            dependence: None,
            evidence: LinkEvidence::Related,
            experiment: None,
            passing: Some(PassingEntry {
                value: "3".to_owned(),
                difference: "without B.add".to_owned(),
            }),
        };
        let confirmed = LinkEntry {
            line: Some(7),
            code: None,
            value: Some("-1".to_owned()),
            dependence: Some(LinkDependence {
                kind: LinkDependenceKind::Field,
                name: Some("total".to_owned()),
            }),
            evidence: LinkEvidence::Confirmed,
            experiment: Some("with 0 here, nothing fails".to_owned()),
            passing: None,
            ..related.clone()
        };
        let line = |line, code: &str, mark| ExcerptLineEntry {
            line,
            code: Some(code.to_owned()),
            mark,
            experiment: None,
        };
        let mut lines = vec![
            line(1, "    if (a < b) {", ExcerptMark::Related),
            line(2, "        // less", ExcerptMark::Around),
            line(7, "        total = a - b;", ExcerptMark::Confirmed),
        ];
        lines[2].experiment.clone_from(&confirmed.experiment);
        let mut origin = OriginEntry {
            headline: String::new(),
            omissions: vec![confirmed.clone()],
            chain: vec![related, confirmed],
            methods: vec![MethodEntry {
                class: "a.B".to_owned(),
                method: "c".to_owned(),
                descriptor: "()V".to_owned(),
                file: Some("B.java".to_owned()),
                lines: vec![7, 1],
                evidence: LinkEvidence::Confirmed,
            }],
            excerpts: vec![ExcerptEntry {
                class: "a.B".to_owned(),
                method: "c".to_owned(),
                descriptor: "()V".to_owned(),
                file: Some("B.java".to_owned()),
                lines,
            }],
            lines_run: 40,
            lines_in_slice: 2,
            experiments: 12,
            neighbours: vec!["without B.add".to_owned()],
            partial: None,
            untried: None,
        };
        origin.headline = origin.sentence("a.Thrown \"<b>\"");
        origin
    }

    pub(super) fn missed() -> ReportedFailure {
        let mut failure = failure();
        failure.entry.test = None;
        failure.entry.verified = false;
        failure.entry.verdict = "nothing was observed".to_owned();
        failure.text = None;
        failure
    }

    #[test]
    fn failures_with_and_without_a_test_conform() {
        let failures = vec![failure(), missed()];
        let report = TestsReport { failures };
        let document = report.document("culprit debug -- java A").json();
        let document = conforming::<TestsDocument>(&document).unwrap();
        assert_eq!(document["tests"][0]["leftOfInside"], 1);
        let missed = document["tests"][1].as_object().unwrap();
        let fields: Vec<&str> = missed.keys().map(String::as_str).collect();
        let expect = ["fails", "failure", "stack", "verdict", "verified"];
        assert_eq!(fields, expect);
    }

    #[test]
    fn the_readable_report_has_the_test_and_its_reservations() {
        let failures = vec![failure(), missed()];
        let report = TestsReport { failures };
        insta::assert_snapshot!(report.markdown("culprit debug -- java A"), @r#"
        # What fails in `culprit debug -- java A`

        ## a.Thrown "\<b>": the innermost level

        **a.Thrown "\<b>" is decided at B.java:7, in B.c: with 0 here, nothing fails.**

        The command fails 3 of 10 times. 40 calls recorded, 8 in the slice, 1,002 left, written as 2 with loops (1 of a.B) after 12 runs; may not be minimal: --max-time was reached. `innermost/a/BTest.java`: compiled and run: fails the same way. Note: it needs files of /home/\`x\`, or of your home folder; if the program wrote them, calls may be missing. Note: it shows how a.B fails, and not whether it should be called like this: if the caller is at fault, the test also fails where the caller is fixed.

        ```java
        class BTest {}
        ```

        To run it: copy it to `src/test/java/a`, then `mvn test -Dtest=BTest`

        it was run in the sandbox; to run it with all your rights:

        ```sh
        javac BTest.java
        ```

        Where it comes from, the failure first:

        1. B.java:1 `if (a < b) {`
        1. B.java:7 **confirmed**: with 0 here, nothing fails

        Nothing fails either if this goes the other way: B.java:7

        The failure depends on 2 of 40 lines that ran; 12 experiments. Methods, the likeliest first: `a.B.c`.

        Lines that the failure depended on; those with an exclamation mark are confirmed:

        `a.B.c`:

        ```java
              1  if (a < b) {
        !     7      total = a - b;
        ```

        ## a.Thrown "\<b>"

        The command fails 3 of 10 times. No test: nothing was observed.
        "#);
    }

    #[test]
    fn the_terminal_shows_the_numbers_the_reservations_and_the_verdict() {
        insta::assert_snapshot!(failure().lines().join("\n"), @r"
        40 calls recorded, 8 in the slice, 1,002 left, written as 2 with loops (1 of a.B) after 12 runs
        may not be minimal: --max-time was reached
        the journal lacks verdicts: disk full
        compiled and run: fails the same way
        it needs files of /home/`x`, or of your home folder; if the program wrote them, calls may be missing
        it shows how a.B fails, and not whether it should be called like this: if the caller is at fault, the test also fails where the caller is fixed
        ");
        assert!(missed().lines().is_empty());
    }
}
