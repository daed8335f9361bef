//! A session: the isolation of one input.
//!
//! Both sides are tested first. Then pass follows pass under one driver, each narrowing the sides, and
//! in the end both sides are run again.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use culprit_reduce::{
    Artefact, DeltaSet, Driver, Error as SearchError, Goal, JournalError, Journals, ProblemError,
    ReductionEvent, Scale, Schedule, Search, SearchEnd, Settings, Tally, Verdict, VerdictKind,
};

use super::evidence::{Evidence, PairForm, PassAnswer};
use super::material::Material;
use super::pass::{Candidates, Pass};
use super::place::{Handing, RunFolders};
use super::runner::Runner;
use super::tree::Syntax as Tree;
use crate::basis::Basis;
use crate::judge::{PATIENCE, patience};
use crate::{
    Error, Judge, Language, Like, Likeness, LineComparison, Rate, Reads, Rule, RunFailure,
    RunSetup, TestCommand, Unfit, Warm, Witness,
};

/// What a run that must be made has, however little time is left.
const AT_LEAST: Duration = Duration::from_secs(2);

/// Levels of a text that are kept, at most, to find something that passes.
const SKELETONS: usize = 3;

/// What programs call their standard input. Where it is not the candidate itself, a pipe brings it there.
const STDIN: [&str; 4] = ["<stdin>", "[stdin]", "stdin", "-"];

/// How often what passes at last is run again.
const AGAIN: u32 = 3;

/// How often what fails at last is run again, if it does not at once.
const OFTEN: u32 = 10;

/// Whether files are read as a language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// By their names or how they begin.
    ByFile,
    /// All as this one.
    Of(Language),
    /// As text.
    None,
}

impl Syntax {
    pub(crate) fn language(self, path: &Path, bytes: &[u8]) -> Option<Language> {
        match self {
            Syntax::None => None,
            Syntax::Of(language) => Some(language),
            Syntax::ByFile => Language::of(path, bytes),
        }
    }
}

/// An input to isolate, and how.
pub struct Request {
    pub test: TestCommand,
    pub likeness: Likeness,
    /// What the failure is like, where somebody saw it before.
    pub like: Option<Like>,
    /// JVMs that take candidates instead of the command, as long as they agree with it.
    pub warm: Option<Arc<Warm>>,
    /// How often each candidate is run; found out if it is not said.
    pub runs: Option<u32>,
    pub failing: Material,
    /// Nothing, if it is not said.
    pub passing: Option<Material>,
    pub goal: Goal,
    pub syntax: Syntax,
    /// Whether things are only left out, never written otherwise.
    pub is_verbatim: bool,
    pub handing: Handing,
    /// Where tests work; each in a folder of its own if it is not said.
    pub directory: Option<PathBuf>,
    /// A folder for candidates.
    pub scratch: PathBuf,
    /// Jobs, the budget of everything together, and what ends it early.
    pub settings: Settings,
    /// A folder for verdicts.
    pub journals: Option<PathBuf>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Isolated {
    pub failing: Material,
    /// The other side of the pair.
    pub passing: Option<Material>,
    /// The value of the pair as evidence, if there is one.
    pub evidence: Option<Evidence>,
    /// How it fails.
    pub failure: String,
    /// How the whole input failed.
    pub original_failure: String,
    /// How often the failing side failed before.
    pub rate: Rate,
    /// How often a candidate was run until it counted as passing.
    pub runs: u32,
    /// Whether warm JVMs took candidates.
    pub is_warm: bool,
    /// Different inputs that were tested, besides the two sides.
    pub tally: Tally,
    /// The number of runs of the command, for whatever reason.
    pub test_runs: u64,
    /// Processes that were left behind, and ended.
    pub strays: u64,
    /// What was seen of both sides when they were run again.
    pub again: Again,
    /// Whether there are so many pieces that some were only tried together.
    pub is_coarse: bool,
    pub end: SearchEnd,
    pub took: Duration,
}

/// How often either side failed when it was run again; `None` where there was no time for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Again {
    pub failing: Option<Rate>,
    /// Of a pair. All that is no pass counts.
    pub passing: Option<Rate>,
}

impl Again {
    /// Whether the sides did as before, as far as that is known.
    pub fn is_so(self) -> bool {
        let (failing, passing) = (self.failing, self.passing);
        failing.is_none_or(Rate::is_always) && passing.is_none_or(|rate| rate.failed == 0)
    }
}

/// Why there is nothing to tell.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error(transparent)]
    Failing(#[from] Unfit),
    #[error(transparent)]
    Error(#[from] Error),
    #[error("the test fails on the passing side too: {how}")]
    PassingFails {
        how: String,
        /// The last lines that the failing test printed.
        printed: String,
    },
    /// The failing side passes, and the passing one fails.
    #[error("the test passes on the failing side and fails on the passing one: {0}")]
    Swapped(String),
    #[error("the passing side does not always pass: it failed {} of {} times", .0.failed, .0.of)]
    PassingFailsSometimes(Rate),
    #[error("the test neither passes nor fails on the passing side: it {0}")]
    PassingUnresolved(String),
    #[error("both sides are the same")]
    Same,
    #[error("one side is a file and the other a folder")]
    Unlike,
    #[error("it is empty")]
    Empty,
    /// What warm JVMs found is not so in a new one.
    #[error("the result found in reused JVMs does not hold in a new one")]
    WarmDiffers,
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journals are of a search that differs in these parts.
    #[error("the verdicts there belong to another search: {}", .0.join("; "))]
    OtherVerdicts(Vec<String>),
    /// What journals led to is not so now.
    #[error("the verdicts of the earlier run no longer hold: its result {0}")]
    OldVerdicts(String),
    #[error("the journal cannot be written: {0}")]
    Write(io::Error),
    #[error(transparent)]
    Problem(ProblemError),
}

/// An isolation under way.
pub(crate) struct Session<'a> {
    runner: &'a Runner,
    pub(crate) driver: &'a Driver<'a>,
    goal: Goal,
    /// Everything that verdicts depend on besides the candidate.
    key: String,
    pub(crate) old: Material,
    pub(crate) new: Material,
    pub(crate) has_passing: bool,
    pub(crate) is_verbatim: bool,
    /// True if an input on which the test does not show the failure passes, and does not fail in another way.
    pub(crate) tells_pass: bool,
    /// Whether pieces that were joined, since there are so many, were not parted at last.
    pub(crate) is_coarse: bool,
    syntax: Syntax,
}

/// Isolates an input. The observer receives each test that counts.
pub fn isolate(
    mut request: Request,
    observer: &dyn Fn(&ReductionEvent),
) -> Result<Isolated, Trouble> {
    if let Some(passing) = &mut request.passing {
        passing.take_name_of(&request.failing);
    }
    check(&request)?;
    let basis = basis(&request);
    let journals = request.journals.clone();
    let differences = journals.as_ref().map(|folder| basis.differences(folder));
    if let Some(differences) = differences.filter(|them| !them.is_empty()) {
        return Err(Trouble::OtherVerdicts(differences));
    }
    let goal = request.goal;
    let handing = request.handing.clone();
    let places = RunFolders::new(&request.scratch, handing, request.directory.clone());
    let cancel = request.settings.cancel.clone();
    let driver = Driver::new(request.settings.clone(), observer)
        .journals(request.journals.clone().map(Journals::InOrder));
    let memo = driver.memo();
    let wanted = || !cancel.is_cancelled();
    let mut setup = places.each(&request.failing);
    let compare = (request.likeness, LineComparison::CountBut(names(&request)));
    let like = request.like.as_ref();
    let take = |failure: &mut RunFailure| like.is_none_or(|like| failure.take(like));
    let (test, runs) = (request.test.within(&request.settings.budget), request.runs);
    let witness = |setup: &mut dyn FnMut() -> Result<RunSetup, Error>| -> Result<Witness, Unfit> {
        let (test, compare) = (test.clone(), compare.clone());
        Judge::witness_like(test, compare, &take, runs, setup, &wanted)
    };
    let seen = witness(&mut setup);
    drop(setup);
    if let (Err(Unfit::Passes(_)), Some(passing)) = (&seen, &request.passing)
        && let Ok(fails) = witness(&mut places.each(passing))
    {
        return Err(Trouble::Swapped(fails.judge.failure().to_string()));
    }
    let witness = seen.map_err(|why| match why {
        Unfit::Error(Error::Unwanted) => Trouble::Interrupted,
        why => why.into(),
    })?;
    let has_passing = request.passing.is_some();
    let old = request.passing.unwrap_or_else(|| request.failing.emptied());
    let left = driver.time_left().unwrap_or(Duration::MAX).max(AT_LEAST);
    let limit = patience(witness.ending.took, PATIENCE).min(left);
    // What the user says passes may take its time, as far as there is some.
    let judge = match has_passing {
        true => witness.judge.within(left),
        false => witness.judge.within(limit),
    };
    let mut runner = Runner::new(judge, places, cancel.clone());
    let failure = runner.judge.failure().to_string();
    memo.learn(request.failing.digest(), Verdict::Fail(failure.clone()));
    let printed = witness.ending.last_lines();
    let passes = |material: &Material| {
        passes(&runner, &driver, material, goal, &wanted).map_err(|trouble| match trouble {
            Trouble::PassingFails { how, .. } => Trouble::PassingFails {
                how,
                printed: printed.clone(),
            },
            other => other,
        })
    };
    let old = match passes(&old) {
        Err(Trouble::PassingUnresolved(why)) if !has_passing => {
            let mut instead = skeletons(&request.failing, request.syntax).into_iter();
            let found = instead.find(|it| passes(it).is_ok());
            found.ok_or(Trouble::PassingUnresolved(why))?
        }
        passed => passed.map(|()| old)?,
    };
    let limit = limit.max(patience(runner.mean(), PATIENCE));
    runner.judge = runner.judge.within(limit);
    let runner = match request.warm {
        Some(warm) => runner.warmed(warm, memo, &[&request.failing, &old], &wanted)?,
        None => runner,
    };
    if let Some(folder) = journals {
        let written = basis.write(&folder);
        written.map_err(|(path, source)| JournalError::Io { path, source })?;
    }
    let mut session = Session {
        runner: &runner,
        driver: &driver,
        goal,
        key: basis.key(),
        old,
        new: request.failing,
        has_passing,
        is_verbatim: request.is_verbatim,
        tells_pass: request.test.rule.tells_pass(),
        is_coarse: false,
        syntax: request.syntax,
    };
    // Both sides were tested, and do not count any more.
    driver.expect(session.old.digest());
    driver.expect(session.new.digest());
    match goal {
        Goal::Isolate => session.narrow()?,
        Goal::Simplify => session.simplify()?,
    }
    let end = driver.close();
    let is_warm = runner.is_warm();
    let has_time = || driver.time_left() != Some(Duration::ZERO);
    runner.confirm(memo, &[&session.new, &session.old], &has_time)?;
    let again = session.run_again()?;
    let evidence = match goal {
        Goal::Isolate => Some(session.evidence(&request.test.rule)?),
        Goal::Simplify => None,
    };
    let is_interrupted = driver.is_over() && driver.end() == SearchEnd::Cancelled;
    Ok(Isolated {
        failure: match memo.get(session.new.digest()) {
            Some(Verdict::Fail(how)) => how,
            _ => failure.clone(),
        },
        original_failure: failure,
        evidence,
        passing: (goal == Goal::Isolate).then_some(session.old),
        failing: session.new,
        rate: witness.rate,
        runs: runner.judge.runs(),
        is_warm,
        tally: driver.tally(),
        test_runs: runner.runs() + u64::from(witness.rate.of),
        strays: runner.strays() + witness.strays as u64,
        again,
        is_coarse: session.is_coarse,
        end: match is_interrupted {
            true => SearchEnd::Cancelled,
            false => end,
        },
        took: driver.elapsed(),
    })
}

/// What can be refused before anything runs.
fn check(request: &Request) -> Result<(), Trouble> {
    match &request.passing {
        _ if request.failing.is_empty() => Err(Trouble::Empty),
        Some(passing) if passing.is_folder != request.failing.is_folder => Err(Trouble::Unlike),
        Some(passing) if passing.items == request.failing.items => Err(Trouble::Same),
        _ => Ok(()),
    }
}

/// What frames call the files of the input, where it is the program that fails.
fn names(request: &Request) -> BTreeSet<String> {
    let sides = [Some(&request.failing), request.passing.as_ref()];
    let items = sides.into_iter().flatten().flat_map(|side| &side.items);
    let mut paths: Vec<&Path> = items.map(|item| item.path.as_path()).collect();
    if let Handing::Java(Reads::Resource(path) | Reads::File(path)) = &request.handing {
        paths.push(path);
    }
    let names = paths.into_iter().filter_map(Path::file_name);
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.chain(STDIN.map(str::to_owned)).collect()
}

/// Checks that the passing side passes. Where only the failing one is reduced, it must not fail.
fn passes(
    runner: &Runner,
    driver: &Driver<'_>,
    old: &Material,
    goal: Goal,
    wanted: &dyn Fn() -> bool,
) -> Result<(), Trouble> {
    let told = |why| match why {
        Error::Unwanted => Trouble::Interrupted,
        why => why.into(),
    };
    let verdict = match driver.memo().get(old.digest()) {
        Some(known) => known,
        None => runner.judge(old, wanted).map_err(told)?,
    };
    driver.memo().learn(old.digest(), verdict.clone());
    match (verdict, goal) {
        (Verdict::Fail(how), _) => {
            let printed = String::new();
            return Err(Trouble::PassingFails { how, printed });
        }
        (Verdict::Unresolved(why), Goal::Isolate) => return Err(Trouble::PassingUnresolved(why)),
        (_, Goal::Simplify) => return Ok(()),
        (Verdict::Pass, Goal::Isolate) => {}
    }
    // Once more, since everything rests on it.
    match runner
        .count_of(old, 1, VerdictKind::Pass, wanted)
        .map_err(told)?
    {
        0 => Err(Trouble::PassingFailsSometimes(Rate { failed: 1, of: 2 })),
        _ => Ok(()),
    }
}

/// What may pass where nothing has no verdict: what is left of a file if all goes that its language does
/// not need.
fn skeletons(failing: &Material, syntax: Syntax) -> Vec<Material> {
    let [item] = failing.items.as_slice() else {
        return Vec::new();
    };
    let text = Arc::new(item.bytes().to_vec());
    let language = syntax.language(&item.path, &text);
    let tree = language.and_then(|language| Tree::read(&text, language));
    let Some(tree) = tree.filter(|_| !failing.is_folder) else {
        return Vec::new();
    };
    let texts = (1..=SKELETONS).map(|levels| tree.skeleton(levels));
    let mut found: Vec<Material> = Vec::new();
    for text in texts.filter(|text| *text != item.bytes()) {
        let skeleton = failing.with(0, text);
        if !found.contains(&skeleton) {
            found.push(skeleton);
        }
    }
    found
}

/// What verdicts depend on besides the candidate.
fn basis(request: &Request) -> Basis {
    let mut basis = Basis::new();
    basis.content("the input", request.failing.digest());
    match &request.passing {
        Some(passing) => basis.content("the passing input", passing.digest()),
        None => basis.content("the passing input", "none"),
    }
    basis.test(&request.test);
    basis.part("--same", format!("{:?}", request.likeness).to_lowercase());
    basis.option("--like", request.like.as_ref());
    basis.option("--repeat", request.runs);
    basis.flag("--simplify", request.goal == Goal::Simplify);
    basis.flag("--verbatim", request.is_verbatim);
    basis.part(
        "--language",
        match request.syntax {
            Syntax::ByFile => "not set",
            Syntax::Of(language) => language.name(),
            Syntax::None => "none",
        },
    );
    match &request.handing {
        Handing::Java(reads) => basis.part("--resource", format_args!("{reads:?}")),
        handing => basis.flag("--stdin", *handing == Handing::Input),
    }
    let folder = request.directory.as_ref().map(|path| path.display());
    basis.option("the working folder", folder);
    basis.flag("the reuse of JVMs", request.warm.is_some());
    basis
}

impl Session<'_> {
    /// Runs both sides again, as far as there is time: a test that is not steady may have misled.
    fn run_again(&self) -> Result<Again, Trouble> {
        let mut again = Again::default();
        match self.see_again(&mut again) {
            Err(Trouble::Error(Error::Unwanted)) => {}
            seen => seen?,
        }
        Ok(again)
    }

    fn see_again(&self, again: &mut Again) -> Result<(), Trouble> {
        let runner = self.runner;
        let wanted = &|| self.driver.is_wanted();
        if !wanted() {
            return Ok(());
        }
        again.failing = Some(match runner.again(&self.new, wanted)? {
            Verdict::Fail(_) => Rate { failed: 1, of: 1 },
            // What others found before is not so now.
            verdict if self.driver.tally().replayed > 0 => {
                let how = verdict.detail().map_or("passes", String::as_str);
                return Err(Trouble::OldVerdicts(how.to_owned()));
            }
            _ => Rate {
                failed: runner.count_of(&self.new, OFTEN, VerdictKind::Fail, wanted)?,
                of: OFTEN + 1,
            },
        });
        if self.goal == Goal::Isolate {
            let passed = runner.count_of(&self.old, AGAIN, VerdictKind::Pass, wanted)?;
            again.passing = Some(Rate {
                failed: AGAIN - passed,
                of: AGAIN,
            });
        }
        Ok(())
    }

    /// What the pair can tell. Where a pass is the lack of a sign, the passing side is run to see how it ends.
    fn evidence(&self, rule: &Rule) -> Result<Evidence, Trouble> {
        let is_run = matches!(rule.pass_answer(None), PassAnswer::NoSign(_));
        let how = match is_run && self.driver.is_wanted() {
            true => match self.runner.end(&self.old, &|| self.driver.is_wanted()) {
                Err(Error::Unwanted) => None,
                how => Some(how?),
            },
            false => None,
        };
        Ok(Evidence {
            answer: rule.pass_answer(how),
            form: PairForm::of(&self.old, &self.new, self.syntax),
        })
    }

    /// Runs a pass and takes the sides that it found. Returns whether it changed one.
    pub(crate) fn take(&mut self, pass: &Pass<'_>) -> Result<bool, Trouble> {
        let whole = (pass.render)(pass.problem.all());
        let least = (pass.render)(&DeltaSet::empty()).len();
        let key = format!("{} {} {}", self.key, pass.name, whole.digest());
        let search = Search {
            name: &pass.name,
            problem: pass.problem.clone().key(key),
            goal: self.goal,
            schedule: Schedule::default(),
            scale: Scale {
                whole: whole.len(),
                best: whole.len(),
                extent: whole.len().abs_diff(least).max(1) as f64,
            },
            is_sequential: false,
            learn: None,
        };
        let candidates = Candidates {
            pass,
            runner: self.runner,
        };
        let found = match self.driver.search(search, &candidates) {
            Ok(found) => found,
            // The cut itself is not what it should be: others will do.
            Err(SearchError::NotPassing { .. } | SearchError::NotFailing { .. }) => {
                return Ok(false);
            }
            Err(SearchError::Nothing) => return Ok(false),
            Err(SearchError::Oracle { source, .. }) => return Err(source.into()),
            Err(SearchError::Problem(why)) => return Err(Trouble::Problem(why)),
            Err(SearchError::Journal(why)) => return Err(why.into()),
        };
        if let Some(why) = self.driver.take_journal_trouble() {
            return Err(Trouble::Write(why));
        }
        let failing = (pass.render)(&found.failing);
        let mut changed = failing != self.new;
        self.new = failing;
        if self.goal == Goal::Isolate {
            let passing = (pass.render)(&found.passing);
            changed |= passing != self.old;
            self.old = passing;
        }
        Ok(changed)
    }

    /// The verdict on an input that is no candidate of a pass. `None` if the session is over.
    pub(crate) fn ask(
        &self,
        material: &Material,
        name: &str,
    ) -> Result<Option<Verdict<String>>, Trouble> {
        let artefact = Artefact {
            digest: material.digest(),
            size: material.len(),
            content: Ok(material),
        };
        let scale = Scale {
            whole: self.new.len(),
            best: self.new.len(),
            extent: self.new.len().saturating_sub(self.old.len()) as f64,
        };
        let verdict = self
            .driver
            .test(name, &artefact, scale, |material, wanted| {
                self.runner.judge(material, &|| wanted.still())
            });
        Ok(verdict?)
    }

    /// The side whose file a pass works on, and the place of the file in it. Of `dd` both sides are
    /// the same but for that file.
    pub(crate) fn base(&self, path: &Path) -> (Material, usize) {
        let index = self.new.find(path).expect("the file is there");
        (self.new.clone(), index)
    }

    /// The language of a file.
    pub(crate) fn language(&self, path: &Path, bytes: &[u8]) -> Option<Language> {
        self.syntax.language(path, bytes)
    }

    /// What a pass is called: with the file, where there are several.
    pub(crate) fn pass_name(&self, name: &str, path: &Path) -> String {
        match self.new.is_folder {
            true => format!("{name} of {}", path.display()),
            false => name.to_owned(),
        }
    }
}
