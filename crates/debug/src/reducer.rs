//! One script becomes one test: workers, the compiler and the reduction are put together for it, in the
//! working folder in which the failure is most alike.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use culprit_junit::Junit;
use culprit_jvm::{
    Deadline, Interrupt, Jdk, Output, Sandbox, Scratch, Template, WorkingFolder, remove_folder,
};
use culprit_minimize::{
    Error as ReductionError, MinimizedTest, Runner, Stage, TargetFailure, TestEnvironment,
    TestMaker, junit_of,
};
use culprit_pinpoint::{FailingScript, Located};
use culprit_program::{
    Confines, Environment, KotlinCompilers, PlainWorkers, Program, WorkerJvm, memory_option,
    working_folder,
};
use culprit_reduce::{Budget, Cancel, Driver, Journals, ReductionEvent, Settings};
use culprit_scripts::{
    Condition, InputFile, Predicate, PredicateCompiler, Script, WithFiles, with_default_arguments,
    with_input_files,
};
use culprit_signature::{Grade, Signature, Thrown};
use culprit_trace::Recording;

use crate::{
    Activity, Allowance, Error, FilesFound, KeptFolder, KeptScript, Observer, SessionEvent,
};

/// How long a candidate may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How long it may take to find where a failure comes from.
const LOCATING: Duration = Duration::from_secs(30);

/// A search ends so long before its candidates are cut off.
const AHEAD: Duration = Duration::from_millis(50);

/// Megabytes of the heap of a worker.
const HEAP: u64 = 1024;

/// The limits of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct ReductionLimits {
    /// Candidates that run at the same time.
    pub jobs: usize,
    /// The time for all attempts at one failure.
    pub time: Duration,
    /// The most candidates for all attempts at one failure.
    pub tests: Option<u64>,
}

/// How scripts become tests.
pub struct Reducer {
    pub limits: ReductionLimits,
    /// The version of JUnit; otherwise that of the class path, or 5.
    pub junit: Option<Junit>,
    /// The compilers for tests in Kotlin, if those are wanted.
    pub kotlin: Option<KotlinCompilers>,
    /// The library of the agent.
    pub agent: PathBuf,
    /// For candidates, the compiler and the test.
    pub sandbox: Option<Sandbox>,
    /// Variables for candidates and the test: those of the user if the program is the user's own.
    pub environment: Environment,
    /// The folder for verdicts.
    pub journals: PathBuf,
    /// The files that the program found.
    pub files: FilesFound,
    pub interrupt: Interrupt,
}

/// A script that fails.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    pub signature: &'a Signature,
    /// The condition that makes it a failure, if the script does not end with it.
    pub condition: Option<&'a Condition>,
    pub script: &'a Script,
    /// The recording of the JVM that failed.
    pub recording: &'a Recording,
    pub program: &'a Program,
    pub jdk: &'a Jdk,
    /// Names of tests that exist already.
    pub taken: &'a [String],
    /// Whether numbers and texts are given as they were, and not computed again.
    pub concrete: bool,
}

impl Reducer {
    /// The time and the candidates for all attempts at one failure.
    pub fn allowance(&self) -> Allowance {
        Allowance::new(self.limits.time, self.limits.tests)
    }

    /// Makes a test of a script in the time that is left.
    pub fn reduce(
        &self,
        case: &Case<'_>,
        allowance: &mut Allowance,
        observer: &mut dyn Observer,
    ) -> Result<MinimizedTest, Error> {
        // A reduction that ends before its first search can be resumed too.
        fs::create_dir_all(&self.journals)?;
        let scratch = Scratch::new("reduce")?;
        let began = Instant::now();
        let deadline = allowance.deadline(&self.interrupt)?;
        let workers = self.workers(case, scratch.path());
        let confines = Confines::of(&workers);
        let test_class_path: Vec<PathBuf> = case.program.class_path().map(Path::to_owned).collect();
        let paths = test_class_path.iter();
        let mut class_path: Vec<String> = paths.map(|path| path.display().to_string()).collect();
        let detected = self
            .junit
            .or_else(|| junit_of(case.program, case.signature.thrown()));
        let junit = detected.unwrap_or(Junit::Five);
        let kotlin = self.kotlin.as_ref();
        let kotlin =
            kotlin.map(|all| all.for_program(test_class_path.iter().map(PathBuf::as_path)));
        let check = scratch.path().join("check");
        let compiled = scratch.path().join("condition");
        let predicate = match case.condition {
            Some(condition) => {
                let compiler = PredicateCompiler {
                    program: case.program,
                    jdk: case.jdk,
                    confines: &confines,
                    deadline: &deadline,
                    folder: &compiled,
                };
                Predicate::compile(condition, case.script, &compiler)?
            }
            None => None,
        };
        if predicate.is_some() {
            class_path.push(compiled.display().to_string());
        }
        let ongoing = observer.begin(Activity::Minimising);
        let directory = working_folder(case.recording.start());
        let jobs = self.limits.jobs;
        let is_interrupted = {
            let deadline = deadline.clone();
            move || deadline.is_interrupted()
        };
        let settings = Settings {
            jobs,
            budget: Budget {
                tests: allowance.tests(),
                time: Some(allowance.left(began).saturating_sub(AHEAD)),
            },
            cancel: Cancel::when(is_interrupted),
            ..Settings::default()
        };
        let hear = |event: &ReductionEvent| ongoing.progress(event);
        let driver = Driver::new(settings, &hear);
        let driver = driver.journals(Some(Journals::ByProblem(self.journals.clone())));
        let run = |trial: &Trial<'_>, wanted: Grade| -> Result<Attempt, Error> {
            let folder = trial.folder.clone();
            let pool = workers.pool(case.recording, class_path.clone(), folder, jobs)?;
            let stage = Stage::new(pool, LIMIT, deadline.clone());
            // Each check begins with an empty folder.
            remove_folder(&check)?;
            fs::create_dir_all(&check)?;
            let maker = TestMaker {
                program: case.program,
                failure: TargetFailure {
                    signature: case.signature,
                    wanted,
                    condition: case.condition,
                    predicate: predicate.as_ref(),
                },
                stage: &stage,
                driver: &driver,
                surroundings: TestEnvironment {
                    jdk: case.jdk,
                    class_path: &test_class_path,
                    junit,
                    kotlin,
                    runner: Runner::of(case.program, junit),
                    folder: &check,
                    works_in: match trial.resources {
                        Some(_) => &WorkingFolder::Empty,
                        None => stage.folder(),
                    },
                    resources: trial.resources.as_deref(),
                    directory: directory.as_deref(),
                    confines: &confines,
                    deadline: stage.deadline(),
                },
                taken: case.taken,
                concrete: case.concrete,
            };
            Ok(maker.make(trial.script))
        };
        let input = |name: &str| self.files.input(directory.as_deref(), name);
        let with_defaults = with_default_arguments(case.script, case.program);
        let scripts: Vec<&Script> = with_defaults.iter().chain([case.script]).collect();
        let scripts = scripts.into_iter();
        let contained = |name: &str| {
            let file = input(name);
            file.filter(|file| !matches!(file, InputFile::Resource(_)))
        };
        let scripts = scripts.map(|script| {
            let contained = with_input_files(script, &contained);
            // What looks like the name of a file or folder need not be one.
            let found = with_input_files(script, &input).filter(|files| files.has_resources);
            (script, contained.into_iter().chain(found).collect())
        });
        let scripts: Vec<(&Script, Vec<WithFiles>)> = scripts.collect();
        let folders = self.files.working_folders(directory.as_deref());
        let resources = self.files.resources();
        let all = scripts
            .iter()
            .flat_map(|(script, files)| trials(&folders, &resources, script, files));
        let all: Vec<Trial<'_>> = all.collect();
        let found = in_best_folder(&all, &deadline, run);
        allowance.spend(began.elapsed(), driver.tally().tests);
        Ok(found??)
    }

    /// Finds where the failure of a test comes from, in the time that is left. `None` if that cannot be told.
    pub fn locate(
        &self,
        case: &Case<'_>,
        found: &MinimizedTest,
        allowance: &mut Allowance,
        observer: &mut dyn Observer,
    ) -> Result<Option<Located>, Error> {
        if !found.fails_the_same_way() {
            return Ok(None);
        }
        observer.notice(SessionEvent::Sliceable(&KeptScript {
            recording: case.recording.path().to_owned(),
            folder: match found.resources.is_empty() {
                true => KeptFolder::of(&found.works_in),
                false => KeptFolder::Resources,
            },
            thrown: case.signature.thrown().class.clone(),
            script: found.minimised.script.clone(),
        }))?;
        if self.interrupt.is_wanted() {
            return Ok(None);
        }
        if allowance.is_spent() {
            let why = "the limit of time or of candidates was reached".to_owned();
            observer.notice(SessionEvent::NotLocated(why))?;
            return Ok(None);
        }
        let began = Instant::now();
        let scratch = Scratch::new("locate")?;
        let paths = case.program.class_path();
        let class_path: Vec<String> = paths.map(|path| path.display().to_string()).collect();
        let ongoing = observer.begin(Activity::Locating);
        let signature = case.signature.clone().of_woven();
        let is_same = |trace: &str| {
            let thrown = Thrown::parse(trace);
            thrown.is_some_and(|thrown| signature.is_same(&thrown))
        };
        let failing = FailingScript {
            script: &found.minimised.script,
            program: case.program,
            recording: case.recording,
            workers: &self.workers(case, scratch.path()),
            class_path: &class_path,
            folder: found.works_in.clone(),
            jobs: self.limits.jobs,
            most_experiments: allowance.tests(),
            deadline: &Deadline::after(LOCATING.min(allowance.left(began))).unless(&self.interrupt),
            is_same: &is_same,
        };
        let located = failing.locate();
        drop(ongoing);
        let experiments = located.as_ref().map_or(0, |located| located.experiments);
        allowance.spend(began.elapsed(), experiments as u64);
        match located {
            Ok(located) => Ok(Some(located)),
            Err(_) if self.interrupt.is_wanted() => Ok(None),
            // Without an answer the test is as good as before.
            Err(error) => {
                observer.notice(SessionEvent::NotLocated(error.to_string()))?;
                Ok(None)
            }
        }
    }

    fn workers(&self, case: &Case<'_>, scratch: &Path) -> PlainWorkers {
        let settings = WorkerSettings {
            agent: &self.agent,
            sandbox: self.sandbox.as_ref(),
            environment: &self.environment,
            interrupt: &self.interrupt,
        };
        let thrown = &case.signature.thrown().class;
        plain_workers(settings, case.jdk, case.recording, thrown, scratch)
    }
}

/// The settings of workers that are the same for all scripts of a command.
pub(crate) struct WorkerSettings<'a> {
    pub(crate) agent: &'a Path,
    pub(crate) sandbox: Option<&'a Sandbox>,
    pub(crate) environment: &'a Environment,
    pub(crate) interrupt: &'a Interrupt,
}

/// The workers for a script that ends with an exception of a class.
pub(crate) fn plain_workers(
    settings: WorkerSettings<'_>,
    jdk: &Jdk,
    recording: &Recording,
    thrown: &str,
    scratch: &Path,
) -> PlainWorkers {
    PlainWorkers {
        jvm: WorkerJvm {
            jdk: jdk.clone(),
            agent: settings.agent.to_owned(),
            scratch: scratch.to_owned(),
            heap: HEAP,
            sandbox: settings.sandbox.cloned(),
            output: Output::Kept,
            interrupt: Some(settings.interrupt.clone()),
        },
        environment: settings.environment.clone(),
        memory: memory_options(recording, thrown),
    }
}

/// The options of the command that limit the memory which a failure exhausts.
fn memory_options(recording: &Recording, thrown: &str) -> Vec<String> {
    let kind = match thrown {
        "java.lang.OutOfMemoryError" => "-Xmx",
        "java.lang.StackOverflowError" => "-Xss",
        _ => return Vec::new(),
    };
    let option = memory_option(recording.start(), kind);
    option.into_iter().collect()
}

/// The result of a reduction in one working folder.
type Attempt = Result<MinimizedTest, ReductionError>;

/// A script, and the working folder that it is tried in.
#[derive(Clone)]
struct Trial<'a> {
    folder: WorkingFolder,
    /// The resources of the test, which candidates have in their working folder: it is on the class path of their JVM.
    resources: Option<Arc<Template>>,
    script: &'a Script,
}

/// The trials, in their order. A test that has the files which it needs is better than one that finds them in a folder.
/// A script that names a file by an absolute path finds it in any folder, but only on this machine.
fn trials<'a>(
    folders: &[WorkingFolder],
    resources: &Option<Arc<Template>>,
    script: &'a Script,
    with_files: &'a [WithFiles],
) -> Vec<Trial<'a>> {
    let folders = folders.iter().cloned();
    let plain = folders.map(|folder| Trial {
        folder,
        resources: None,
        script,
    });
    let mut trials: Vec<Trial<'a>> = plain.collect();
    // The last one comes first.
    for WithFiles {
        script,
        with_folders,
        is_absolute,
        has_resources,
    } in with_files.iter().rev()
    {
        let at = if *is_absolute { 0 } else { 1 };
        let resources = resources.clone().filter(|_| *has_resources);
        let copied = resources.clone().map(WorkingFolder::Copy);
        let folder = copied.unwrap_or(WorkingFolder::Empty);
        for script in with_folders.iter().chain([script]) {
            let trial = Trial {
                folder: folder.clone(),
                resources: resources.clone(),
                script,
            };
            trials.insert(at.min(trials.len()), trial);
        }
    }
    trials
}

/// The result from the first working folder in which the calls fail with exactly the message and the test is seen
/// to fail; or else from the first in which they fail in the same way.
fn in_best_folder(
    trials: &[Trial<'_>],
    deadline: &Deadline,
    run: impl Fn(&Trial<'_>, Grade) -> Result<Attempt, Error>,
) -> Result<Attempt, Error> {
    let mut best: Option<Attempt> = None;
    let mut next = trials.to_vec();
    for wanted in [Grade::L3, Signature::ENOUGH] {
        for trial in std::mem::take(&mut next) {
            if best.is_some() && deadline.is_over() {
                break;
            }
            let found = run(&trial, wanted)?;
            match &found {
                Ok(it) if it.grade >= Some(Signature::ENOUGH) || it.is_misprinted => {
                    return Ok(found);
                }
                Ok(_) | Err(ReductionError::OtherFailure(_)) => {}
                Err(ReductionError::OtherMessage(_)) => next.push(trial),
                Err(_) => return Ok(best.filter(Result::is_ok).unwrap_or(found)),
            }
            // The last of those that fail is the one most like what the program had.
            if !matches!(best, Some(Ok(_))) {
                best = Some(found);
            }
        }
    }
    // There is always an empty folder to try.
    best.ok_or(Error::OutOfTime)
}
