//! The last check of a test: compiled by `javac` or a Kotlin compiler, and run in a JVM of its own without anything of
//! Culprit, in the confines of the candidates.

mod by_hand;
mod files;
mod parts;
mod runner;
mod variables;
mod verdict;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use culprit_junit::{Junit, Language, PrintedTest};
use culprit_jvm::{Deadline, Jdk, LaunchError, Status, Template, WorkingFolder, Workspace};
use culprit_model::owner::{AGENT_OF_MOCKS, MOCKS};
use culprit_program::{
    Compilation, Confines, Environment, Folders, KotlinCompilation, KotlinCompiler, Program,
    class_path_option,
};
use culprit_reduce::Driver;
use culprit_scripts::is_for_assertions;
use culprit_signature::Thrown;

pub use by_hand::ByHand;
pub use files::FILES;
use files::needed_files;
use runner::CLASS;
pub use runner::Runner;
use variables::needed;
pub use variables::{Needed, VARIABLES};
use verdict::RunnerMark;

use crate::{Error, full_name};

/// How long a test may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The same for the run without the variables of the user, where another one may follow.
const PLAIN_LIMIT: Duration = Duration::from_secs(20);

/// The runs without the variables of the user, besides the first, before a test is said to need some: it may fail only
/// sometimes, as with threads.
const MORE_PLAIN_RUNS: usize = 2;

/// The option that turns assertions on, as Maven and Gradle do for tests.
const ASSERTIONS: &str = "-ea";

/// How a test ended that was run on its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verified {
    /// Nothing was thrown.
    Passed,
    /// The stack trace of the exception.
    Threw(String),
    /// The same where the sandbox refused something: this is no failure of the program.
    Refused(String),
    /// It does not compile: what the compiler says.
    Rejected(String),
    /// The test ended the JVM with this exit status, by `System.exit` say: it neither passed nor failed.
    Exited(u8),
    /// It did not end as tests do.
    Broken(String),
    /// It did not end in this time.
    Late(Duration),
    /// There is no compiler.
    NoCompiler(PathBuf),
    /// Somebody wanted us to end before it did.
    Interrupted,
}

/// The JUnit of the test that failed, or else the newest that the class path has. The platform runs tests of JUnit 3 and 4 too.
pub fn junit_of(program: &Program, thrown: &Thrown) -> Option<Junit> {
    let has = |class: &str| program.entry_of(class).is_some();
    let four = has("org/junit/Test").then_some(Junit::Four);
    let five = has("org/junit/jupiter/api/Test").then_some(Junit::Five);
    let was_run_by = |names: &[&str]| {
        let mut frames = thrown.frames.iter();
        frames.any(|frame| names.iter().any(|name| frame.class.starts_with(name)))
    };
    match was_run_by(&RUNNERS_5) || !was_run_by(&RUNNERS_4) {
        true => five.or(four),
        false => four.or(five),
    }
}

/// The starts of the names of classes that run tests.
const RUNNERS_5: [&str; 1] = ["org.junit.jupiter."];
const RUNNERS_4: [&str; 3] = [
    "org.junit.runners.",
    "org.junit.internal.runners.",
    "junit.framework.TestCase",
];

/// The tools and folders with which a test is compiled and run.
#[derive(Clone, Copy)]
pub struct TestEnvironment<'a> {
    pub jdk: &'a Jdk,
    pub class_path: &'a [PathBuf],
    pub junit: Junit,
    /// The compiler for tests in Kotlin, if those are wanted.
    pub kotlin: Option<&'a KotlinCompiler>,
    /// Who runs it. If JUnit does not run with this class path, it is our own.
    pub runner: Runner,
    /// An empty folder for files on the way.
    pub folder: &'a Path,
    /// The folder that the test works in.
    pub works_in: &'a WorkingFolder,
    /// Files and folders that it may find on its class path.
    pub resources: Option<&'a Template>,
    /// The folder of the user that it is meant for.
    pub directory: Option<&'a Path>,
    /// Rights and limits of the compiler and of the test.
    pub confines: &'a Confines,
    /// The end of the compiler and of the test at the latest.
    pub deadline: &'a Deadline,
}

/// Whether the end of a test is the failure that it was made for.
pub type Fails<'a> = &'a (dyn Fn(&Verified) -> bool + Sync);

/// The result of the last check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    pub verified: Verified,
    /// Who ran the test in the end.
    pub runner: Runner,
    /// The environment variables that it needs to fail, if any.
    pub needs: Option<Needed>,
    /// The options of the JVM that it needs to fail.
    pub options: Vec<String>,
    /// The files that it reads in its working folder, by their paths below it.
    pub files: Vec<PathBuf>,
}

/// The surroundings of one run of a test.
#[derive(Clone, Copy)]
struct RunSettings<'a> {
    environment: &'a Environment,
    options: &'a [String],
    folder: &'a WorkingFolder,
}

/// Compiles and runs a test: in an environment that is the same everywhere, and in that of the user where it does
/// not fail there.
pub fn verify(
    test: &PrintedTest,
    surroundings: &TestEnvironment<'_>,
    driver: &Driver<'_>,
    fails: Fails<'_>,
) -> Result<Checked, Error> {
    let javac = surroundings.jdk.tool("javac");
    let runner = surroundings.runner;
    let of = |verified: Verified| Checked {
        verified,
        runner,
        needs: None,
        options: Vec::new(),
        files: Vec::new(),
    };
    if !javac.exists() {
        return Ok(of(Verified::NoCompiler(javac)));
    }
    let checked = match surroundings.check(test, runner, driver, fails) {
        Err(Error::Launch(LaunchError::Interrupted)) => of(Verified::Interrupted),
        checked => checked?,
    };
    let is_broken = matches!(
        checked.verified,
        Verified::Rejected(_) | Verified::Broken(_)
    );
    match is_broken && runner.is_junit() {
        true => surroundings.check(test, Runner::Own, driver, fails),
        false => Ok(checked),
    }
}

/// A test that was compiled with its runner.
struct Compiled<'a> {
    surroundings: &'a TestEnvironment<'a>,
    test: &'a PrintedTest,
    folder: PathBuf,
    classes: PathBuf,
    class_path: OsString,
    /// The number of runs so far: each has a folder of its own.
    runs: AtomicUsize,
}

impl TestEnvironment<'_> {
    fn check(
        &self,
        test: &PrintedTest,
        runner: Runner,
        driver: &Driver<'_>,
        fails: Fails<'_>,
    ) -> Result<Checked, Error> {
        let of = |verified: Verified| Checked {
            verified,
            runner,
            needs: None,
            options: Vec::new(),
            files: Vec::new(),
        };
        let compiled = match self.compile(test, runner)? {
            Ok(compiled) => compiled,
            Err(why) => return Ok(of(Verified::Rejected(why))),
        };
        let none = Environment::none();
        let (environment, memory) = (&self.confines.environment, &self.confines.memory);
        let assertions = [ASSERTIONS.to_owned()];
        let limited: Vec<String> = assertions.iter().chain(memory).cloned().collect();
        let plain = RunSettings {
            environment: &none,
            options: &assertions,
            folder: self.works_in,
        };
        let with_memory = RunSettings {
            options: &limited,
            ..plain
        };
        let with_all = RunSettings {
            environment,
            ..with_memory
        };
        // Each has more of the user than the one before. Without a limit of the heap a test may fill all of the memory.
        let limits_heap = memory.iter().any(|option| option.starts_with("-Xmx"));
        let mut settings = match limits_heap {
            true => Vec::new(),
            false => vec![plain],
        };
        settings.extend((!memory.is_empty()).then_some(with_memory));
        settings.extend((!environment.is_empty()).then_some(with_all));
        let last = settings.len() - 1;
        for (number, mut settings) in settings.into_iter().enumerate() {
            let limit = if number == last { LIMIT } else { PLAIN_LIMIT };
            let mut verified = compiled.run(settings, limit)?;
            if !fails(&verified) {
                if number == last {
                    return Ok(of(verified));
                }
                continue;
            }
            let mut needs = None;
            if !settings.environment.is_empty() {
                let without = RunSettings {
                    environment: &none,
                    ..settings
                };
                match compiled.fails_again(without, fails)? {
                    Some(plain) => (settings, verified) = (without, plain),
                    None => needs = Some(needed(&compiled, settings, driver, fails)?),
                }
            }
            let mut options = settings.options[1..].to_vec();
            let without = RunSettings {
                options: &settings.options[1..],
                ..settings
            };
            if is_of_assert(&verified) && !fails(&compiled.run(without, PLAIN_LIMIT)?) {
                options.insert(0, ASSERTIONS.to_owned());
            }
            let files = needed_files(&compiled, settings, driver, fails)?;
            return Ok(Checked {
                needs,
                options,
                files: files.unwrap_or_default(),
                ..of(verified)
            });
        }
        Ok(of(Verified::Interrupted))
    }

    /// Compiles a test with its runner, or gives the messages of the compiler.
    fn compile<'a>(
        &'a self,
        test: &'a PrintedTest,
        runner: Runner,
    ) -> Result<Result<Compiled<'a>, String>, Error> {
        let folder = self.folder.join(runner.name().replace(' ', "-"));
        let classes = folder.join("classes");
        fs::create_dir_all(&classes)?;
        if let Some(resources) = self.resources {
            resources.lay_out(&classes)?;
        }
        let ending = test.language.ending();
        let own = folder.join(format!("{}.{ending}", test.class_name));
        fs::write(&own, &test.source)?;
        let mut files = match test.language {
            Language::Java => vec![own.clone().into()],
            Language::Kotlin => Vec::new(),
        };
        for (name, source) in runner.sources(self.junit) {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap_or(&folder))?;
            fs::write(&file, source)?;
            files.push(OsString::from(file));
        }
        let class_path = self.joined(test.language);
        let folders = Folders {
            directory: &folder,
            scratch: &folder,
        };
        let compilation = Compilation {
            class_path: &class_path,
            sources: &files,
            classes: &classes,
        };
        let javac = self.confines.javac(self.jdk, compilation, folders);
        let mut compiled = javac.run(self.deadline.within(LIMIT))?;
        let is_done = compiled.status == Some(Status::Exited(0));
        if let (true, Language::Kotlin, Some(kotlin)) = (is_done, test.language, self.kotlin) {
            // The runner is compiled; its annotations may stand in for those of JUnit.
            let with_runner = after(&classes, &class_path);
            let words = kotlin.words(&KotlinCompilation {
                class_path: &with_runner,
                source: &own,
                classes: &classes,
                jdk_home: &self.jdk.home,
                major: self.jdk.version.feature,
            });
            let none = Environment::none();
            let kotlinc = self.confines.java(self.jdk, words, folders, &none);
            compiled = kotlinc.run(self.deadline.within(LIMIT))?;
        }
        Ok(match compiled.status {
            None => Err(format!(
                "the compiler did not end within {:.0?}",
                compiled.took
            )),
            Some(Status::Exited(0)) => Ok(Compiled {
                surroundings: self,
                test,
                folder,
                classes,
                class_path,
                runs: AtomicUsize::new(0),
            }),
            Some(_) => Err(compiled.err),
        })
    }

    fn is_refused(&self, trace: &str) -> bool {
        let is_refusal = |thrown: Thrown| thrown.refusal().is_some();
        self.confines.sandbox.is_some() && Thrown::parse(trace).is_some_and(is_refusal)
    }

    /// The option by which the JVM has the agent that a test with mocks of final classes needs: the library of the mocks would start a
    /// program to load it.
    fn agent_of_mocks(&self, test: &PrintedTest) -> Option<OsString> {
        let imported = format!("import {};", MOCKS.replace('/', "."));
        let is_agent = |path: &&PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(AGENT_OF_MOCKS)
        };
        let agent = self.class_path.iter().find(is_agent);
        let agent = agent.filter(|_| test.source.contains(&imported))?;
        let mut option = OsString::from("-javaagent:");
        option.push(agent);
        Some(option)
    }

    /// The class path of a test. Programs in Java need not have the library of Kotlin.
    fn joined(&self, language: Language) -> OsString {
        let library = match language {
            Language::Java => None,
            Language::Kotlin => self.kotlin.filter(|_| !self.has_kotlin()),
        };
        let library = library.map(|it| it.library().to_owned());
        let all = self.class_path.iter().cloned().chain(library);
        std::env::join_paths(all).unwrap_or_default()
    }

    fn has_kotlin(&self) -> bool {
        let mut names = self.class_path.iter().filter_map(|path| path.file_name());
        names.any(|name| name.to_string_lossy().starts_with("kotlin-stdlib"))
    }
}

impl Compiled<'_> {
    /// The end of a test that fails as it should in one of a few more runs.
    fn fails_again(
        &self,
        settings: RunSettings<'_>,
        fails: Fails<'_>,
    ) -> Result<Option<Verified>, Error> {
        for _ in 0..MORE_PLAIN_RUNS {
            let verified = self.run(settings, PLAIN_LIMIT)?;
            if fails(&verified) {
                return Ok(Some(verified));
            }
        }
        Ok(None)
    }

    /// Runs the test in a JVM of its own.
    fn run(&self, settings: RunSettings<'_>, limit: Duration) -> Result<Verified, Error> {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let scratch = self.folder.join(format!("tmp-{number}"));
        fs::create_dir_all(&scratch)?;
        let mut words: Vec<OsString> = ["-Xshare:auto", "-XX:TieredStopAtLevel=1"]
            .map(OsString::from)
            .to_vec();
        let mark = RunnerMark::new();
        let with = self.surroundings;
        let workspace = Workspace::new(&scratch, settings.folder)?;
        words.extend_from_slice(workspace.jvm_options());
        words.extend(settings.options.iter().map(OsString::from));
        words.extend(with.agent_of_mocks(self.test));
        words.extend(running(&self.classes, &self.class_path, self.test));
        words.push(mark.word().into());
        let folders = Folders {
            directory: workspace.directory(),
            scratch: &scratch,
        };
        let java = with
            .confines
            .java(with.jdk, words, folders, settings.environment);
        let ran = java.run(with.deadline.within(limit))?;
        Ok(match mark.verdict(ran.status, &ran.err, ran.took) {
            Verified::Threw(trace) if with.is_refused(&trace) => Verified::Refused(trace),
            verified => verified,
        })
    }
}

/// True if a test ended with an `assert` of the program.
fn is_of_assert(verified: &Verified) -> bool {
    let Verified::Threw(trace) = verified else {
        return false;
    };
    let Some(thrown) = Thrown::parse(trace) else {
        return false;
    };
    let site = thrown.frames.first();
    let by_library = site.is_none_or(|frame| is_for_assertions(&frame.class.replace('.', "/")));
    thrown.class == "java.lang.AssertionError" && !by_library
}

/// A class path with a folder before it.
fn after(classes: &Path, class_path: &OsStr) -> OsString {
    let mut whole = classes.as_os_str().to_owned();
    whole.push(":");
    whole.push(class_path);
    whole
}

/// Arguments of the JVM that runs a test. A mark may follow, for the lines of the runner.
fn running(classes: &Path, class_path: &OsStr, test: &PrintedTest) -> Vec<OsString> {
    let whole = after(classes, class_path);
    let name = full_name(test);
    let method = &test.method;
    let last = [CLASS, &name, method].map(OsString::from);
    [class_path_option(&whole)]
        .into_iter()
        .chain(last)
        .collect()
}
