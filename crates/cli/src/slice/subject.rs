//! The script that is sliced: that of a test in a result folder, or the whole script of a recorded failure.

use std::path::{Path, PathBuf};

use culprit_debug::{
    Error, FailureChoice, KeptScript, RecordedFailure, folder_of_test, folders_of, jdk_of,
};
use culprit_jvm::{Jdk, JdkLocations, WorkingFolder, untrusted};
use culprit_model::{Script, shell};
use culprit_program::{Program, unpacked, with_recorded};
use culprit_trace::Recording;

use super::{Args, shown};
use crate::exit::{ExitCode, Expected};
use crate::origin;
use crate::program::Maker;
use crate::reduction::{SCRIPTS, explained, script_file};
use crate::show;

/// The most bytes of a script.
const LONGEST: u64 = 64 << 20;

/// The most tests of a result folder that are looked at.
const MOST_TESTS: usize = 1_000;

/// The file that every result folder has.
const REPORT: &str = "report.json";

/// Options that choose the failure of a recording.
#[derive(clap::Args, Debug)]
pub(crate) struct FailureArgs {
    /// Slice the failure of this number in `culprit show`, of a recording
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), group = "choice")]
    failure: Option<u32>,
    /// Slice the exception of this class, of a recording, also if it was caught
    #[arg(long, value_name = "TYPE", group = "choice")]
    exception: Option<String>,
}

impl FailureArgs {
    /// The option that was given.
    fn given(&self) -> Option<&'static str> {
        match (self.failure, &self.exception) {
            (Some(_), _) => Some("--failure"),
            (_, Some(_)) => Some("--exception"),
            _ => None,
        }
    }

    fn choice(&self) -> FailureChoice {
        match (self.failure, &self.exception) {
            (Some(number), _) => FailureChoice::Number(number as usize),
            (_, Some(class)) => FailureChoice::Class(class.clone()),
            _ => FailureChoice::Last,
        }
    }
}

/// A script that fails, with all that it needs to run.
pub(super) struct Subject {
    pub(super) script: Script,
    pub(super) recording: Recording,
    pub(super) program: Program,
    pub(super) jdk: Jdk,
    /// The class of the exception that ends it.
    pub(super) thrown: String,
    /// The working folders to try.
    pub(super) folders: Vec<WorkingFolder>,
    pub(super) maker: Maker,
}

impl Subject {
    /// The script that a path stands for. Classes that no class path has are written to a folder.
    pub(super) fn open(
        args: &Args,
        private: &[PathBuf],
        classes: &Path,
    ) -> anyhow::Result<Subject> {
        match (test_of(&args.path)?, args.failure.given()) {
            (Some(_), Some(option)) => {
                let message = format!(
                    "{option} is for recordings, and {} is a test",
                    shown(&args.path)
                );
                let hint = "leave it out: a test has one failure";
                Err(Expected::new(ExitCode::Usage, message).hint(hint).into())
            }
            (Some(test), None) => Subject::of_test(args, &test, private, classes),
            (None, _) => Subject::of_recording(args, private, classes),
        }
    }

    fn of_test(
        args: &Args,
        test: &KeptTest,
        private: &[PathBuf],
        classes: &Path,
    ) -> anyhow::Result<Subject> {
        let unreadable = |why: String| {
            let message = format!("{} cannot be read: {why}", shown(&test.script));
            Expected::new(ExitCode::Recording, message)
                .hint("make the result folder again with culprit debug or minimize")
        };
        let text = untrusted::read_text(&test.script, LONGEST);
        let text = text.map_err(|error| unreadable(error.to_string()))?;
        let kept: KeptScript = text
            .parse()
            .map_err(|error| unreadable(format!("{error}")))?;
        let path = test.results.join(&kept.recording);
        let recording = Recording::open(&path).map_err(|error| {
            let message = format!("the recording of the test cannot be read: {error}");
            Expected::new(ExitCode::Recording, message)
                .hint("keep it where it was, or make the result folder again")
        })?;
        let makers = [
            origin::maker(&recording, private),
            origin::writer(&text, private),
        ];
        let maker = match makers {
            [Maker::Us, Maker::Us] => Maker::Us,
            _ => Maker::Unknown,
        };
        let class_path = args.program.class_path(&recording, maker)?;
        let jdk = jdk_of(&recording, &JdkLocations::of_process()).map_err(explained)?;
        let trusts = args.program.trusts(maker);
        let class_path = unpacked(&class_path, classes)
            .and_then(|class_path| match trusts {
                true => with_recorded(class_path, &recording, &jdk, classes),
                false => Ok(class_path),
            })
            .map_err(|error| explained(Error::from(error)))?;
        let program = Program::open(&class_path, &jdk);
        let program = program.map_err(|error| explained(Error::from(error)))?;
        let folder = match trusts {
            true => folder_of_test(kept.folder, &recording, &test.results),
            // A folder of the user is none of a stranger's business.
            false => WorkingFolder::Empty,
        };
        let subject = Subject {
            script: kept.script,
            recording,
            program,
            jdk,
            thrown: kept.thrown,
            folders: vec![folder],
            maker,
        };
        match subject.lost() {
            Some(lost) => Err(lost.into()),
            None => Ok(subject),
        }
    }

    /// The error for a class of the script that the program does not have any more.
    fn lost(&self) -> Option<Expected> {
        let statements = self.script.statements.iter();
        let targets = statements.filter_map(|it| self.script.target(it));
        let mut owners = targets.map(|target| &target.owner);
        let lost =
            owners.find(|owner| !owner.starts_with('[') && self.program.bytes(owner).is_none())?;
        let message = format!(
            "the program has no class {} any more",
            lost.replace('/', ".")
        );
        let hint = "build it again where it was, or name its class path: --class-path CP";
        Some(Expected::new(ExitCode::Target, message).hint(hint))
    }

    fn of_recording(args: &Args, private: &[PathBuf], classes: &Path) -> anyhow::Result<Subject> {
        let failure = RecordedFailure::open(&args.path, &args.failure.choice());
        let failure = failure.map_err(|error| match error {
            Error::RunFolder(error) => show::expected_calls("slice", &error).into(),
            error => explained(error),
        })?;
        let maker = origin::maker(&failure.recording, private);
        let class_path = args.program.class_path(&failure.recording, maker)?;
        let jdk = jdk_of(&failure.recording, &JdkLocations::of_process()).map_err(explained)?;
        let script = unpacked(&class_path, classes)
            .and_then(|class_path| match args.program.trusts(maker) {
                true => with_recorded(class_path, &failure.recording, &jdk, classes),
                false => Ok(class_path),
            })
            .map_err(Error::from)
            .and_then(|class_path| failure.script(&class_path, &jdk));
        let script = script.map_err(explained)?;
        let folders = match args.program.trusts(maker) {
            true => folders_of(&failure.recording, &args.path),
            false => vec![WorkingFolder::Empty],
        };
        Ok(Subject {
            script: script.script,
            recording: failure.recording,
            program: script.program,
            jdk,
            thrown: script.signature.thrown().class.clone(),
            folders,
            maker,
        })
    }
}

/// A test of a result folder.
struct KeptTest {
    results: PathBuf,
    script: PathBuf,
}

/// The test that a path stands for; none if it is no part of a result folder.
fn test_of(path: &Path) -> Result<Option<KeptTest>, Expected> {
    let is_source = path
        .extension()
        .is_some_and(|ending| ending == "java" || ending == "kt");
    if path.is_file() && is_source {
        return named_test(path).map(Some);
    }
    if !path.is_dir() || !path.join(REPORT).is_file() {
        return Ok(None);
    }
    let results = path.to_owned();
    let outermost = scripts(&path.join(SCRIPTS).join("tests"));
    let found = match outermost.is_empty() {
        true => scripts(&path.join(SCRIPTS).join("innermost")),
        false => outermost,
    };
    match found.as_slice() {
        [] => {
            let message = format!("{} has no test that can be sliced", shown(path));
            Err(Expected::new(ExitCode::No, message).hint(
                "only a test that was seen to fail in the same way is; \
                 or slice a recording: culprit record --contents, then culprit slice RUN",
            ))
        }
        [script] => Ok(Some(KeptTest {
            results,
            script: script.clone(),
        })),
        several => {
            let count = several.len();
            let message = format!("{} has {count} tests", shown(path));
            let commands = several.iter().map(|script| {
                let test = script.strip_prefix(path.join(SCRIPTS)).unwrap_or(script);
                let test = source_file(&path.join(test));
                shell::line(["culprit".as_ref(), "slice".as_ref(), test.as_os_str()])
            });
            let commands: Vec<String> = commands.collect();
            let hint = format!("name one of them:\n{}", commands.join("\n"));
            Err(Expected::new(ExitCode::Usage, message).hint(hint))
        }
    }
}

/// The source file of a test, by its path with the ending of its script.
fn source_file(script: &Path) -> PathBuf {
    let sources = ["java", "kt"].map(|ending| script.with_extension(ending));
    let [first, _] = &sources;
    sources
        .iter()
        .find(|it| it.is_file())
        .unwrap_or(first)
        .clone()
}

/// The test of a source file in a result folder.
fn named_test(path: &Path) -> Result<KeptTest, Expected> {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    for results in whole.ancestors().skip(1) {
        let Ok(test) = whole.strip_prefix(results) else {
            continue;
        };
        let script = script_file(results, test);
        if script.is_file() {
            return Ok(KeptTest {
                results: results.to_owned(),
                script,
            });
        }
    }
    let message = format!("{} is no test that can be sliced", shown(path));
    Err(Expected::new(ExitCode::Usage, message).hint(
        "name a test in the result folder of culprit debug or minimize that fails in the same way",
    ))
}

/// The scripts in a folder and in those within, in order.
fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = folder.read_dir() else {
            continue;
        };
        for entry in entries.flatten().take(MOST_TESTS) {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() && found.len() < MOST_TESTS => {
                    let is_script = path.extension().is_some_and(|it| it == "script");
                    found.extend(Some(path).filter(|_| is_script));
                }
                _ => {}
            }
        }
    }
    found.sort();
    found
}
