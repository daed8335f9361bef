//! From two versions and a test to the changes that decide.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use culprit_reduce::{
    DeltaSet, Driver, Goal, JournalError, Journals, ReductionEvent, SearchEnd, Settings, Verdict,
};

use super::Error;
use super::blame::{self, Change, DifferenceSource};
use super::build_folder::{BuildFolders, Leftovers};
use super::commits::Checkouts;
use super::difference::Difference;
use super::git::Repository;
use super::git_output::Commit;
use super::git_output::Submodule;
use super::history::History;
use super::session::Session;
use super::sides::VersionSource;
use super::tree::FileTree;
use super::trial::{self, Build, Patience, Trial};
use crate::basis::Basis;
use crate::judge::{PATIENCE, patience};
use crate::{Digest, Judge, Likeness, LineComparison, Rate, RunFailure, TestCommand, Unfit};

/// How often what passes must do so in the end: a failure that comes and goes may have been missed.
const CONFIRMED: u32 = 3;

/// Where the bad version is copied to.
const BAD: &str = "bad";

/// Two versions and a test, and how to isolate the changes that decide.
pub struct Request<'a> {
    /// The version that passes.
    pub good: VersionSource,
    /// The version that fails.
    pub bad: VersionSource,
    /// Where commits and the work tree are.
    pub repository: Option<&'a Repository>,
    /// The test.
    pub test: TestCommand,
    /// What is run before it; a candidate for which it fails has no verdict.
    pub build: Option<TestCommand>,
    /// What other failures must have in common with the first.
    pub likeness: Likeness,
    /// How often each candidate is run; by default as often as the failure needs.
    pub runs: Option<u32>,
    /// What stays in the build folders.
    pub leftovers: Leftovers,
    /// What is looked for.
    pub goal: Goal,
    /// Jobs, the budget of everything together, and what ends it early.
    pub settings: Settings,
    /// The folder for results: what is there is no part of a version.
    pub results: &'a Path,
    /// The folder for verdicts.
    pub journals: &'a Path,
    /// An empty folder for versions and build folders.
    pub work: &'a Path,
}

/// What was found.
pub struct Isolation {
    /// The changes that decide, one by one.
    pub changes: Vec<Change>,
    /// The commits that decide, if there were any to choose from.
    pub commits: Option<Commits>,
    /// The difference that was taken apart.
    pub difference: Difference,
    /// Deltas of the version that passes.
    pub passing: DeltaSet,
    /// Deltas of the version that fails.
    pub failing: DeltaSet,
    /// How the failing version fails.
    pub failure: String,
    /// How it ended.
    pub end: SearchEnd,
    /// Versions that were tested.
    pub tests: u64,
    /// How often the bad version failed.
    pub rate: Rate,
    /// How often each candidate was run at most.
    pub runs: u32,
    /// Processes that runs left behind; they were ended.
    pub strays: usize,
    /// What was seen of the result afterwards.
    pub checks: Checks,
    /// The time it took.
    pub took: Duration,
}

/// Commits that decide.
pub struct Commits {
    /// So many there were.
    pub of: u64,
    /// Whether the work tree came after them.
    pub is_up_to_work_tree: bool,
    /// Those that are in the failing version only.
    pub left: Vec<Commit>,
    /// Whether changes that no commit has are among them.
    pub has_work_tree: bool,
    /// The commit, or the merged commits, that pass: the difference begins there.
    pub passing: Vec<Commit>,
    /// Those that fail: the difference ends there. None for the work tree.
    pub failing: Vec<Commit>,
    /// Whether those that pass are the good version.
    pub is_from_good: bool,
    /// Whether those that fail are the bad version.
    pub is_up_to_bad: bool,
}

impl Commits {
    /// Commits of other branches that those left fail together with.
    pub fn met(&self) -> impl Iterator<Item = &Commit> {
        self.failing.iter().filter(|it| !self.left.contains(it))
    }
}

/// Verdicts on the result, each in a new folder; `None` where there was no time. A verdict that is no pass
/// has its reason.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checks {
    /// The passing version.
    pub passing: Option<Verdict<String>>,
    /// The failing version.
    pub failing: Option<Verdict<String>>,
    /// The changes alone, made to the version that the difference begins with.
    pub alone: Option<Verdict<String>>,
    /// The version that the difference ends with, without them.
    pub without: Option<Verdict<String>>,
    /// The bad version without them; there is no verdict where later changes are in the way.
    pub reverted: Option<Verdict<String>>,
}

impl Isolation {
    /// The deltas that decide.
    pub fn deltas(&self) -> DeltaSet {
        self.failing.minus(&self.passing)
    }
}

impl Request<'_> {
    /// Finds the changes that decide.
    pub fn run(self, observer: &dyn Fn(&ReductionEvent)) -> Result<Isolation, Error> {
        let journals = Journals::InOrder(self.journals.to_owned());
        let driver = Driver::new(self.settings.clone(), observer).journals(Some(journals));
        self.compare_absent()?;
        let copy = |side: &VersionSource, name: &str| {
            side.copy(self.repository, self.results, &self.work.join(name))
        };
        let good = copy(&self.good, "good")?;
        let bad = copy(&self.bad, BAD)?;
        let difference = Difference::new(good.clone(), &bad)?;
        if difference.size() == 0 {
            return Err(Error::NoDifference);
        }
        let folders = BuildFolders::new(self.work.join("builds"), self.leftovers);
        let wanted = || !self.settings.cancel.is_cancelled();
        let basis = self.basis(&good, &bad)?;
        let differences = basis.differences(self.journals);
        if !differences.is_empty() {
            return Err(Error::OtherVerdicts(differences));
        }
        let test = self.test.within(&self.settings.budget);
        let begin = |setup: &mut dyn FnMut() -> Result<crate::RunSetup, crate::Error>| {
            let likeness = (self.likeness, LineComparison::Ignored);
            Judge::witness(test.clone(), likeness, self.runs, setup, &wanted)
        };
        let build = self.build.as_ref();
        let build = build.map(|build| build.within(&self.settings.budget));
        let build = build.as_ref().map(Build::new);
        let witness = trial::witness(&folders, build.as_ref(), &bad, begin, &wanted);
        if let Ok(Err(Unfit::Passes(_))) = &witness
            && let Ok(Ok(fails)) = trial::witness(&folders, build.as_ref(), &good, begin, &wanted)
        {
            return Err(Error::Swapped(fails.judge.failure().to_string()));
        }
        let witness = witness.and_then(|it| it.map_err(Error::Bad));
        let witness = witness.map_err(|error| match error {
            Error::Test(crate::Error::Unwanted)
            | Error::Bad(Unfit::Error(crate::Error::Unwanted)) => Error::Interrupted,
            error => error,
        })?;
        let failure = witness.judge.failure().to_string();
        // Commits are whole programs: the place of a failure tells it from others, and later commits may
        // have changed what it says.
        let of_commits = witness.judge.without_messages();
        let of_parts = OnceCell::new();
        let test_patience = Patience::new(patience(witness.ending.took, PATIENCE));
        let mut session = Session {
            goal: self.goal,
            driver: &driver,
            trial: Trial {
                judge: of_commits.as_ref().unwrap_or(&witness.judge),
                patience: &test_patience,
                build: build.as_ref(),
                folders: &folders,
                passes: 1,
            },
            key: format!("{} {}", basis.key(), witness.judge.runs()),
            printed: witness.ending.last_lines(),
            has_passed: false,
        };
        let written = basis.write(self.journals);
        written.map_err(|(path, source)| JournalError::Io { path, source })?;
        let seen = Verdict::Fail(failure.clone());
        let mut sides = (difference, None);
        if let (Goal::Isolate, Some(history)) = (self.goal, self.history()?) {
            sides = self.narrow_commits(&mut session, &history, (&bad, &seen), sides)?;
        }
        let (difference, commits) = sides;
        if commits.is_none() {
            let (_, digest) = whole(&difference)?;
            driver.memo().learn(digest, seen);
        }
        let is_up_to_bad = commits.as_ref().is_none_or(|commits| commits.is_up_to_bad);
        let judge = match &of_commits {
            Some(judge) if !is_up_to_bad => match driver.is_over() {
                true => judge.clone(),
                false => self.judge_of_parts(&difference, judge, &folders, build.as_ref())?,
            },
            _ => witness.judge.clone(),
        };
        session.key = format!("{} {}", session.key, judge.key());
        let runs = witness.judge.runs().max(judge.runs());
        session.trial.judge = of_parts.get_or_init(|| judge);
        let (passing, failing) = session.take_apart(&difference)?;
        if !session.has_passed {
            return Err(session.ended_early());
        }
        let end = driver.close();
        let (checks, strays) =
            self.check(&difference, &passing, &failing, is_up_to_bad, &session)?;
        let mut found = Isolation {
            changes: Vec::new(),
            commits,
            difference,
            passing,
            failing,
            failure,
            end,
            tests: driver.tally().tests,
            rate: witness.rate,
            runs,
            strays: witness.strays + folders.strays() + strays,
            checks,
            took: driver.elapsed(),
        };
        let wanted = || driver.is_wanted();
        found.changes = blame::changes(&found, &self.source(&found), self.repository, &wanted);
        Ok(found)
    }

    /// What verdicts depend on besides the candidate.
    fn basis(&self, good: &FileTree, bad: &FileTree) -> Result<Basis, Error> {
        let mut basis = Basis::new();
        basis.part("--good", self.good.name());
        basis.part("--bad", self.bad.name());
        basis.content("the good version", good.digest()?);
        basis.content("the bad version", bad.digest()?);
        basis.test(&self.test);
        let build = self
            .build
            .as_ref()
            .map(|build| build.command.to_string_lossy());
        basis.option("--build", build);
        basis.part("--same", format!("{:?}", self.likeness).to_lowercase());
        basis.option("--repeat", self.runs);
        basis.flag("--fresh", self.leftovers == Leftovers::Go);
        basis.flag("--simplify", self.goal == Goal::Simplify);
        Ok(basis)
    }

    /// Who judges parts of the deciding commits, which break in ways of their own: there it counts what
    /// the failure said at first. Where it cannot be seen once more, its place has to do.
    fn judge_of_parts(
        &self,
        difference: &Difference,
        of_commits: &Judge,
        folders: &BuildFolders,
        build: Option<&Build<'_>>,
    ) -> Result<Judge, Error> {
        let wanted = || !self.settings.cancel.is_cancelled();
        let begin = |setup: &mut dyn FnMut() -> Result<crate::RunSetup, crate::Error>| {
            let compare = (self.likeness, LineComparison::Ignored);
            let take = |failure: &mut RunFailure| failure.take_same(of_commits.failure());
            let test = self.test.within(&self.settings.budget);
            Judge::witness_like(test, compare, &take, self.runs, setup, &wanted)
        };
        let (end, _) = whole(difference)?;
        match trial::witness(folders, build, &end, begin, &wanted) {
            Ok(Ok(first)) => Ok(first.judge),
            Ok(Err(Unfit::Error(error))) if !matches!(error, crate::Error::Unwanted) => {
                Err(Error::Test(error))
            }
            Ok(Err(_)) | Err(Error::NotBuilt { .. } | Error::Test(crate::Error::Unwanted)) => {
                Ok(of_commits.clone())
            }
            Err(error) => Err(error),
        }
    }

    /// Sees to it that a submodule which is not there cannot be what decides.
    fn compare_absent(&self) -> Result<(), Error> {
        let Some(repository) = self.repository else {
            return Ok(());
        };
        let sides = [(&self.good, &self.bad), (&self.bad, &self.good)];
        for (side, other) in sides {
            let others = other.absent_submodules(repository)?;
            let is_alike = |submodule: &Submodule| match other {
                VersionSource::Folder(folder) => is_empty(&folder.join(&submodule.path)),
                VersionSource::Commit { .. } | VersionSource::WorkTree => {
                    others.contains(submodule)
                }
            };
            let absent = side.absent_submodules(repository)?;
            if let Some(submodule) = absent.into_iter().find(|it| !is_alike(it)) {
                return Err(Error::NoSubmodule(submodule));
            }
        }
        Ok(())
    }

    /// Where the difference that was taken apart is from.
    fn source<'s>(&'s self, found: &'s Isolation) -> DifferenceSource<'s> {
        match (&found.commits, &self.good, &self.bad) {
            (Some(commits), _, _) => match (&commits.left[..], commits.has_work_tree) {
                ([one], false) => DifferenceSource::One(one),
                ([], true) => DifferenceSource::Uncommitted,
                // Where branches are merged, lines are elsewhere than in any commit.
                (_, false) => match (&commits.passing[..], &commits.failing[..]) {
                    ([since], [at]) => DifferenceSource::Between {
                        since: &since.id,
                        at: &at.id,
                    },
                    _ => DifferenceSource::Unknown,
                },
                _ => DifferenceSource::Unknown,
            },
            (
                None,
                VersionSource::Commit { id: since, .. },
                VersionSource::Commit { id: at, .. },
            ) => DifferenceSource::Between { since, at },
            (None, VersionSource::Commit { id, .. }, VersionSource::WorkTree)
                if self.repository.is_some_and(|it| it.is_head(id)) =>
            {
                DifferenceSource::Uncommitted
            }
            _ => DifferenceSource::Unknown,
        }
    }

    /// The commits between the versions, where both are of one history. Where
    /// the good version is on another branch, the history begins where the branches parted.
    fn history(&self) -> Result<Option<(History, Begins)>, Error> {
        let (Some(repository), VersionSource::Commit { id: good, .. }) =
            (self.repository, &self.good)
        else {
            return Ok(None);
        };
        let (bad, has_work_tree) = match &self.bad {
            VersionSource::Commit { id, .. } => (id.clone(), false),
            VersionSource::WorkTree => (repository.resolve("HEAD")?, true),
            VersionSource::Folder(_) => return Ok(None),
        };
        let (good, begins) = match repository.is_ancestor(good, &bad)? {
            true => (good.clone(), Begins::Good),
            false => match repository.merge_base(good, &bad)? {
                Some(base) => (base, Begins::Fork),
                None => return Ok(None),
            },
        };
        let history = History::between(repository, &good, &bad, has_work_tree)?;
        Ok((history.size() > 0).then_some((history, begins)))
    }

    /// Narrows the versions down to the commits that decide.
    fn narrow_commits(
        &self,
        session: &mut Session<'_>,
        (history, begins): &(History, Begins),
        (bad, seen): (&FileTree, &Verdict<String>),
        whole_difference: (Difference, Option<Commits>),
    ) -> Result<(Difference, Option<Commits>), Error> {
        let repository = self.repository.ok_or(Error::NoGit)?;
        let versions = Checkouts {
            repository,
            history,
            folder: &self.work.join("versions"),
            work_tree: (self.bad == VersionSource::WorkTree).then_some(bad),
            number: AtomicU64::new(0),
        };
        let all = DeltaSet::all(history.size());
        let driver = session.driver;
        let end = versions.artefact(&all)?;
        if end.content.is_ok() {
            driver.memo().learn(end.digest, seen.clone());
        }
        let only = (DeltaSet::empty(), all.clone());
        let (passing, failing) = match (history.size(), *begins) {
            (1, Begins::Good) => only,
            _ => match session.narrow_history(&versions) {
                // What fails since before the branches parted was mended on the good one.
                Err(Error::GoodFails { .. } | Error::GoodUnresolved(_))
                    if *begins == Begins::Fork =>
                {
                    return Ok(whole_difference);
                }
                narrowed => narrowed?,
            },
        };
        let left = failing.minus(&passing);
        let ids = history.ids(&left);
        let is_up_to_work_tree = self.bad == VersionSource::WorkTree;
        let commits = Commits {
            of: history.size() - u64::from(is_up_to_work_tree),
            is_up_to_work_tree,
            has_work_tree: (ids.len() as u64) < left.len(),
            left: repository.describe(&ids)?,
            passing: repository.describe(&history.heads(&passing))?,
            failing: repository.describe(&history.heads(&failing))?,
            is_from_good: passing.is_empty() && *begins == Begins::Good,
            is_up_to_bad: failing == all,
        };
        let difference = match commits.is_from_good && commits.is_up_to_bad {
            true => whole_difference.0,
            false => {
                let good = versions.copy(&passing, &self.work.join("passing"))?;
                let bad = versions.copy(&failing, &self.work.join("failing"))?;
                Difference::new(good, &bad)?
            }
        };
        // Commits that change nothing cannot decide: the test saw something else.
        if difference.size() == 0 {
            let why = "the deciding commits change no file: the test is flaky";
            return Err(Error::Search(why.to_owned()));
        }
        let (_, digest) = whole(&difference)?;
        driver.memo().learn(digest, seen.clone());
        // Both ends were tested if there was a search; otherwise the first search tests them.
        if driver.searches() > 0 {
            driver.expect(digest);
            if let Ok((_, digest)) = difference.tree(&DeltaSet::empty())? {
                driver.memo().learn(digest, Verdict::Pass);
                driver.expect(digest);
            }
        }
        Ok((difference, Some(commits)))
    }

    /// Sees the result again in new folders, where what is there from earlier candidates has no say;
    /// and how many processes were left behind there.
    fn check(
        &self,
        difference: &Difference,
        passing: &DeltaSet,
        failing: &DeltaSet,
        is_up_to_bad: bool,
        session: &Session<'_>,
    ) -> Result<(Checks, usize), Error> {
        let folders = BuildFolders::new(self.work.join("checks"), Leftovers::Go);
        let trial = Trial {
            folders: &folders,
            passes: CONFIRMED,
            ..session.trial
        };
        let wanted = || session.driver.is_wanted();
        let judged = |tree: &FileTree| match trial.judge(tree, None, &wanted) {
            Ok(verdict) => Ok(Some(verdict)),
            Err(Error::Test(crate::Error::Unwanted)) => Ok(None),
            Err(error) => Err(error),
        };
        let judged = |tree: &FileTree| match wanted() {
            true => judged(tree),
            false => Ok(None),
        };
        let verdict = |set: &DeltaSet| match difference.tree(set)? {
            Ok((tree, _)) => judged(&tree),
            Err(path) => {
                let why = format!("would have two files at {}", path.display());
                Ok(Some(Verdict::Unresolved(why)))
            }
        };
        let deltas = failing.minus(passing);
        let all = DeltaSet::all(difference.size());
        let kept = all.minus(&deltas);
        let mut checks = Checks {
            passing: verdict(passing)?,
            failing: verdict(failing)?,
            ..Checks::default()
        };
        checks.alone = match passing.is_empty() {
            true => checks.failing.clone(),
            false => verdict(&deltas)?,
        };
        checks.without = match *failing == all {
            true => checks.passing.clone(),
            false => verdict(&kept)?,
        };
        checks.reverted = match is_up_to_bad {
            true => checks.without.clone(),
            false if !wanted() => None,
            false => match self.taken_back(difference, &kept) {
                Ok(Some(tree)) => judged(&tree)?,
                Ok(None) => {
                    let why = "cannot be made: later changes are in the way";
                    Some(Verdict::Unresolved(why.to_owned()))
                }
                // What Git cannot do takes nothing away from what was found.
                Err(Error::Git { .. } | Error::GitLate { .. } | Error::OldGit) => None,
                Err(error) => return Err(error),
            },
        };
        Ok((checks, folders.strays()))
    }

    /// The bad version without what the end of a difference has and the kept deltas have not; `None`
    /// where later changes are in the way.
    fn taken_back(
        &self,
        difference: &Difference,
        kept: &DeltaSet,
    ) -> Result<Option<FileTree>, Error> {
        let repository = self.repository.ok_or(Error::NoGit)?;
        let folder = |name: &str| self.work.join("taken-back").join(name);
        let (end, without) = (folder("end"), folder("without"));
        difference.write(&DeltaSet::all(difference.size()), &end)?;
        if difference.tree(kept)?.is_err() {
            return Ok(None);
        }
        difference.write(kept, &without)?;
        let bad = self.work.join(BAD);
        let aside = repository.aside(&folder("repository"))?;
        let Some(tree) = aside.carried_over((&end, &without), &bad)? else {
            return Ok(None);
        };
        let merged = folder("merged");
        aside.check_out(&tree, &merged)?;
        FileTree::read(&merged).map(Some)
    }
}

/// Where a history begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Begins {
    /// At the good version.
    Good,
    /// Where its branch and that of the bad one parted.
    Fork,
}

/// Whether nothing is in a folder.
fn is_empty(folder: &Path) -> bool {
    !std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// The bad tree, and what stands for it.
fn whole(difference: &Difference) -> Result<(FileTree, Digest), Error> {
    let all = DeltaSet::all(difference.size());
    let made = difference.tree(&all)?;
    made.map_err(|path: PathBuf| Error::Search(format!("two files at {}", path.display())))
}

#[cfg(test)]
mod tests;
