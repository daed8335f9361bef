//! From two versions and a test to the changes that decide.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use culprit_reduce::{DeltaSet, End, Kind, Verdict};

use super::Error;
use super::bench::{Benches, Leftovers};
use super::blame::{self, Change, Source};
use super::commits::Checkouts;
use super::course::{Course, Limits, Tried};
use super::difference::Difference;
use super::git::{Commit, Repository};
use super::history::History;
use super::sides::Side;
use super::submodules::Submodule;
use super::tree::Tree;
use super::trial::{self, Build, Patience, Trial};
use crate::judge::{PATIENCE, patience};
use crate::{Digest, Failure, Goal, Judge, Likeness, Lines, Memo, Rate, Test, Unfit};

/// How often what passes must do so in the end: a failure that comes and goes may have been missed.
const CONFIRMED: u32 = 3;

/// Where the bad version is copied to.
const BAD: &str = "bad";

/// What is to be isolated, and how.
pub struct Plan<'a> {
    /// The version that passes.
    pub good: Side,
    /// The version that fails.
    pub bad: Side,
    /// Where commits and the work tree are.
    pub repository: Option<&'a Repository>,
    /// The test.
    pub test: Test,
    /// What is run before it; a candidate for which it fails has no verdict.
    pub build: Option<Test>,
    /// What other failures must have in common with the first.
    pub likeness: Likeness,
    /// How often each candidate is run; by default as often as the failure needs.
    pub runs: Option<u32>,
    /// What stays on the benches.
    pub leftovers: Leftovers,
    /// What is looked for.
    pub goal: Goal,
    /// How far it may go.
    pub limits: Limits<'a>,
    /// The folder for results: what is there is no part of a version.
    pub results: &'a Path,
    /// The folder for verdicts.
    pub journals: &'a Path,
    /// An empty folder for versions and benches.
    pub work: &'a Path,
    /// What verdicts depend on besides, for journals.
    pub key: String,
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
    pub end: End,
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

/// The result seen again, each time in a new folder; `None` where there was no time for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checks {
    /// The passing version.
    pub passing: Option<Kind>,
    /// The failing version.
    pub failing: Option<Kind>,
    /// The changes alone, made to the version that the difference begins with.
    pub alone: Option<Kind>,
    /// The version that the difference ends with, without them.
    pub without: Option<Kind>,
    /// The bad version without them; there is no verdict where later changes are in the way.
    pub reverted: Option<Kind>,
}

impl Isolation {
    /// The deltas that decide.
    pub fn deltas(&self) -> DeltaSet {
        self.failing.minus(&self.passing)
    }
}

impl Plan<'_> {
    /// Finds the changes that decide.
    pub fn run(self, watch: &mut dyn FnMut(&Tried)) -> Result<Isolation, Error> {
        let began = self.limits.clock.now();
        self.compare_absent()?;
        let copy = |side: &Side, name: &str| {
            side.copy(self.repository, self.results, &self.work.join(name))
        };
        let good = copy(&self.good, "good")?;
        let bad = copy(&self.bad, BAD)?;
        let difference = Difference::new(good.clone(), &bad)?;
        if difference.size() == 0 {
            return Err(Error::NoDifference);
        }
        let benches = Benches::new(self.work.join("benches"), self.leftovers);
        let wanted = || !(self.limits.stop)();
        let begin = |spot: &mut dyn FnMut() -> Result<crate::Spot, crate::Error>| {
            let likeness = (self.likeness, Lines::Ignored);
            Judge::witness(self.test.clone(), likeness, self.runs, spot, &wanted)
        };
        let build = self.build.as_ref().map(Build::new);
        let witness = trial::witness(&benches, build.as_ref(), &bad, begin, &wanted);
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
        let mut course = Course {
            goal: self.goal,
            limits: &self.limits,
            trial: Trial {
                judge: of_commits.as_ref().unwrap_or(&witness.judge),
                patience: &test_patience,
                build: build.as_ref(),
                benches: &benches,
                passes: 1,
            },
            journals: self.journals,
            key: format!(
                "{} {} {} {}",
                self.key,
                good.digest()?,
                bad.digest()?,
                witness.judge.runs()
            ),
            began,
            memo: Memo::default(),
            tested: HashSet::new(),
            tests: 0,
            searches: 0,
            watch,
            end: End::Minimal,
            has_passed: false,
        };
        let seen = Verdict::Fail(failure.clone());
        let mut sides = (difference, None);
        if let (Goal::Isolate, Some(history)) = (self.goal, self.history()?) {
            sides = self.narrow_commits(&mut course, &history, (&bad, &seen), sides)?;
        }
        let (difference, commits) = sides;
        if commits.is_none() {
            let (_, digest) = whole(&difference)?;
            course.memo.learn(digest, seen);
        }
        let is_up_to_bad = commits.as_ref().is_none_or(|commits| commits.is_up_to_bad);
        let judge = match &of_commits {
            Some(judge) if !is_up_to_bad => match course.is_over() {
                true => judge.clone(),
                false => self.judge_of_parts(&difference, judge, &benches, build.as_ref())?,
            },
            _ => witness.judge.clone(),
        };
        course.key = format!("{} {}", course.key, judge.key());
        let runs = witness.judge.runs().max(judge.runs());
        course.trial.judge = of_parts.get_or_init(|| judge);
        let (passing, failing) = course.take_apart(&difference)?;
        if !course.has_passed {
            return Err(course.ended_early());
        }
        let (end, tests) = (course.end, course.tests);
        let ends = (&passing, &failing);
        let (checks, strays) = self.check(&difference, ends, is_up_to_bad, &course.trial)?;
        let mut found = Isolation {
            changes: Vec::new(),
            commits,
            difference,
            passing,
            failing,
            failure,
            end,
            tests,
            rate: witness.rate,
            runs,
            strays: witness.strays + benches.strays() + strays,
            checks,
            took: course.elapsed(),
        };
        found.changes = blame::changes(&found, &self.source(&found), self.repository, &wanted);
        Ok(found)
    }

    /// Who judges parts of the deciding commits, which break in ways of their own: there it counts what
    /// the failure said at first. Where it cannot be seen once more, its place has to do.
    fn judge_of_parts(
        &self,
        difference: &Difference,
        of_commits: &Judge,
        benches: &Benches,
        build: Option<&Build<'_>>,
    ) -> Result<Judge, Error> {
        let wanted = || !(self.limits.stop)();
        let begin = |spot: &mut dyn FnMut() -> Result<crate::Spot, crate::Error>| {
            let compare = (self.likeness, Lines::Ignored);
            let take = |failure: &mut Failure| failure.take_same(of_commits.failure());
            Judge::witness_like(self.test.clone(), compare, &take, self.runs, spot, &wanted)
        };
        let (end, _) = whole(difference)?;
        match trial::witness(benches, build, &end, begin, &wanted) {
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
                Side::Folder(folder) => is_empty(&folder.join(&submodule.path)),
                Side::Commit { .. } | Side::WorkTree => others.contains(submodule),
            };
            let absent = side.absent_submodules(repository)?;
            if let Some(submodule) = absent.into_iter().find(|it| !is_alike(it)) {
                return Err(Error::NoSubmodule(submodule));
            }
        }
        Ok(())
    }

    /// Where the difference that was taken apart is from.
    fn source<'s>(&'s self, found: &'s Isolation) -> Source<'s> {
        match (&found.commits, &self.good, &self.bad) {
            (Some(commits), _, _) => match (&commits.left[..], commits.has_work_tree) {
                ([one], false) => Source::One(one),
                ([], true) => Source::Uncommitted,
                // Where branches are merged, lines are elsewhere than in any commit.
                (_, false) => match (&commits.passing[..], &commits.failing[..]) {
                    ([since], [at]) => Source::Between {
                        since: &since.id,
                        at: &at.id,
                    },
                    _ => Source::Unknown,
                },
                _ => Source::Unknown,
            },
            (None, Side::Commit { id: since, .. }, Side::Commit { id: at, .. }) => {
                Source::Between { since, at }
            }
            (None, Side::Commit { id, .. }, Side::WorkTree)
                if self.repository.is_some_and(|it| it.is_head(id)) =>
            {
                Source::Uncommitted
            }
            _ => Source::Unknown,
        }
    }

    /// The commits between the versions, where both are of one history. Where
    /// the good version is on another branch, the history begins where the branches parted.
    fn history(&self) -> Result<Option<(History, Begins)>, Error> {
        let (Some(repository), Side::Commit { id: good, .. }) = (self.repository, &self.good)
        else {
            return Ok(None);
        };
        let (bad, has_work_tree) = match &self.bad {
            Side::Commit { id, .. } => (id.clone(), false),
            Side::WorkTree => (repository.resolve("HEAD")?, true),
            Side::Folder(_) => return Ok(None),
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
        course: &mut Course<'_>,
        (history, begins): &(History, Begins),
        (bad, seen): (&Tree, &Verdict<String>),
        whole_difference: (Difference, Option<Commits>),
    ) -> Result<(Difference, Option<Commits>), Error> {
        let repository = self.repository.ok_or(Error::NoGit)?;
        let versions = Checkouts {
            repository,
            history,
            folder: &self.work.join("versions"),
            work_tree: (self.bad == Side::WorkTree).then_some(bad),
            number: AtomicU64::new(0),
        };
        let all = DeltaSet::all(history.size());
        if let Ok(digest) = super::course::Versions::digest(&versions, &all)? {
            course.memo.learn(digest, seen.clone());
        }
        let only = (DeltaSet::empty(), all.clone());
        let (passing, failing) = match (history.size(), *begins) {
            (1, Begins::Good) => only,
            _ => match course.narrow_history(&versions) {
                // What fails since before the branches parted was mended on the good one.
                Err(Error::GoodFails(_) | Error::GoodUnresolved(_)) if *begins == Begins::Fork => {
                    return Ok(whole_difference);
                }
                narrowed => narrowed?,
            },
        };
        let left = failing.minus(&passing);
        let ids = history.ids(&left);
        let is_up_to_work_tree = self.bad == Side::WorkTree;
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
            let why = "the deciding commits change no file: the test is not steady";
            return Err(Error::Search(why.to_owned()));
        }
        let (_, digest) = whole(&difference)?;
        course.memo.learn(digest, seen.clone());
        if course.searches > 0 {
            course.tested.insert(digest);
        }
        // The good version is seen to pass by whoever comes first.
        if let (true, Ok((_, digest))) = (course.searches > 0, difference.tree(&DeltaSet::empty())?)
        {
            course.memo.learn(digest, Verdict::Pass);
            course.tested.insert(digest);
        }
        Ok((difference, Some(commits)))
    }

    /// Sees the result again in new folders, where what is there from earlier candidates has no say;
    /// and how many processes were left behind there.
    fn check(
        &self,
        difference: &Difference,
        (passing, failing): (&DeltaSet, &DeltaSet),
        is_up_to_bad: bool,
        tried: &Trial<'_>,
    ) -> Result<(Checks, usize), Error> {
        let benches = Benches::new(self.work.join("checks"), Leftovers::Go);
        let trial = Trial {
            benches: &benches,
            passes: CONFIRMED,
            ..*tried
        };
        let wanted = || !(self.limits.stop)();
        let judged = |tree: &Tree| match trial.judge(tree, None, &wanted) {
            Ok(verdict) => Ok(Some(verdict.kind())),
            Err(Error::Test(crate::Error::Unwanted)) => Ok(None),
            Err(error) => Err(error),
        };
        let kind = |set: &DeltaSet| match difference.tree(set)? {
            Ok((tree, _)) => judged(&tree),
            Err(_) => Ok(Some(Kind::Unresolved)),
        };
        let deltas = failing.minus(passing);
        let all = DeltaSet::all(difference.size());
        let kept = all.minus(&deltas);
        let mut checks = Checks {
            passing: kind(passing)?,
            failing: kind(failing)?,
            ..Checks::default()
        };
        checks.alone = match passing.is_empty() {
            true => checks.failing,
            false => kind(&deltas)?,
        };
        checks.without = match *failing == all {
            true => checks.passing,
            false => kind(&kept)?,
        };
        checks.reverted = match is_up_to_bad {
            true => checks.without,
            false if !wanted() => None,
            false => match self.taken_back(difference, &kept) {
                Ok(Some(tree)) => judged(&tree)?,
                Ok(None) => Some(Kind::Unresolved),
                // What Git cannot do takes nothing away from what was found.
                Err(Error::Git { .. } | Error::OldGit) => None,
                Err(error) => return Err(error),
            },
        };
        Ok((checks, benches.strays()))
    }

    /// The bad version without what the end of a difference has and the kept deltas have not; `None`
    /// where later changes are in the way.
    fn taken_back(&self, difference: &Difference, kept: &DeltaSet) -> Result<Option<Tree>, Error> {
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
        Tree::read(&merged).map(Some)
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
fn whole(difference: &Difference) -> Result<(Tree, Digest), Error> {
    let all = DeltaSet::all(difference.size());
    let made = difference.tree(&all)?;
    made.map_err(|path: PathBuf| Error::Search(format!("two files at {}", path.display())))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use culprit_reduce::{Clock, SystemClock};

    use super::super::blame::Origin;
    use super::super::git::tests::{Made, env};
    use super::*;
    use crate::Rule;

    fn test(command: &str) -> Test {
        Test {
            command: command.into(),
            rule: Rule::default(),
            limit: Duration::from_secs(20),
            env: env(),
        }
    }

    fn unlimited(jobs: usize) -> Limits<'static> {
        Limits {
            jobs,
            tests: None,
            time: None,
            stop: &|| false,
            clock: Arc::new(SystemClock::default()),
        }
    }

    fn isolate(
        made: &Made,
        (good, bad): (&str, &str),
        goal: Goal,
        build: Option<&str>,
        command: &str,
    ) -> Result<Isolation, Error> {
        isolate_within(
            made,
            (good, bad),
            (goal, unlimited(2)),
            build,
            command,
            &env(),
            &mut |_| {},
        )
    }

    fn isolate_within(
        made: &Made,
        (good, bad): (&str, &str),
        (goal, limits): (Goal, Limits<'_>),
        build: Option<&str>,
        command: &str,
        env: &[(OsString, OsString)],
        watch: &mut dyn FnMut(&Tried),
    ) -> Result<Isolation, Error> {
        let mut repository = None;
        let folder = made.folder.path();
        let find = |word: &str, known: &mut Option<Repository>| {
            Side::find(word.as_ref(), folder, env, known)
        };
        let good = find(good, &mut repository)?;
        let bad = find(bad, &mut repository)?;
        let work = tempfile::tempdir().unwrap();
        let plan = Plan {
            good,
            bad,
            repository: repository.as_ref(),
            test: test(command),
            build: build.map(test),
            likeness: Likeness::Message,
            runs: None,
            leftovers: Leftovers::Stay,
            goal,
            limits,
            results: work.path(),
            journals: &work.path().join("journals"),
            work: work.path(),
            key: String::new(),
        };
        plan.run(watch)
    }

    /// The lines that decide, as `path: -old +new`.
    fn lines(found: &Isolation) -> Vec<String> {
        let deltas = found.deltas();
        let described = deltas.iter().map(|delta| found.difference.describe(delta));
        described.collect()
    }

    #[test]
    fn the_commit_and_in_it_the_line_that_decide_are_found() {
        let made = Made::by(
            "seq 30 >a; seq 30 >b; commit base; git tag good
             for i in 1 2 3 4 5 6; do sed -i \"s/^$i$/x$i/\" a; commit c$i; done
             sed -i 's/^7$/seven/; s/^9$/nine/; s/^20$/twenty/' a b; commit culprit
             for i in 11 12 13; do sed -i \"s/^$i$/x$i/\" b; commit d$i; done; git tag bad",
        );
        let found = isolate(
            &made,
            ("good", "bad"),
            Goal::Isolate,
            None,
            "! grep -q nine b",
        )
        .unwrap();
        assert_eq!(lines(&found), ["b: -9 +nine"]);
        let commits = found.commits.as_ref().unwrap();
        assert_eq!((commits.of, commits.left.len()), (10, 1));
        assert_eq!(commits.left[0].subject, "culprit");
        assert_eq!(found.end, End::Minimal);
        let expect = Checks {
            passing: Some(Kind::Pass),
            failing: Some(Kind::Fail),
            alone: Some(Kind::Fail),
            without: Some(Kind::Pass),
            reverted: Some(Kind::Pass),
        };
        assert_eq!(found.checks, expect);
        assert!(found.tests < 15, "{}", found.tests);
    }

    #[test]
    fn what_a_failure_says_at_the_commit_that_brought_it_tells_it_from_others() {
        let made = Made::by(
            "seq 30 >a; commit base; git tag good; sed -i 's/^3$/three/' a; commit before
             sed -i 's/^7$/seven/; s/^9$/nine/; s/^20$/twenty/' a; commit culprit
             sed -i 's/^25$/later/' a; commit later; sed -i 's/^27$/x/' a; commit last",
        );
        // Half of the culprit fails at the same place for another reason, and the reason has another
        // number since.
        let command = "say() {
                 echo 'Traceback (most recent call last):'; echo '  File \"t.py\", line 1, in f'
                 echo AssertionError: $1; exit 1
             } >&2
             grep -q nine a && { grep -q later a && say 3; say 2; }; ! grep -q seven a || say 1";
        let found = isolate(&made, ("good", "HEAD"), Goal::Isolate, None, command).unwrap();
        assert_eq!(found.commits.as_ref().unwrap().left[0].subject, "culprit");
        assert_eq!(lines(&found), ["a: -9 +nine"]);
    }

    #[test]
    fn of_several_failures_of_a_commit_that_of_the_bad_version_counts() {
        let made = Made::by(
            "seq 30 >a; commit base; git tag good; sed -i 's/^3$/three/' a; commit before
             sed -i 's/^7$/seven/; s/^9$/nine/; s/^20$/twenty/' a; commit culprit
             sed -i 's/^25$/mended/' a; commit later; sed -i 's/^27$/x/' a; commit last",
        );
        // A later commit has mended the first of the two tests that the culprit broke.
        let command = "exec >out; echo '=== short test summary info ==='
             grep -q mended a || { grep -q nine a && echo 'FAILED t.py::one'; }
             grep -q twenty a && echo 'FAILED t.py::two'
             cat out >&2; ! grep -q FAILED out";
        let found = isolate(&made, ("good", "HEAD"), Goal::Isolate, None, command).unwrap();
        assert_eq!(lines(&found), ["a: -20 +twenty"]);
    }

    #[test]
    fn what_is_not_well_formed_is_neither_run_nor_counted() {
        let unresolved = |name: &str| {
            let made = Made::by(&format!(
                "for i in 1 2 3 4 5 6 7; do echo f$i'()'; done >{name}; commit base; git tag good
                 sed -i 's/^f\\(.*\\)()/x = \"\"\"\\nt\\1\\n\"\"\"/' {name}; commit culprit",
            ));
            // As an interpreter would see it.
            let command = format!(
                "awk '/\"\"\"/ {{ open = !open; next }} /t/ && !open || /f/ && open {{ bad = 1 }}
                      END {{ exit bad || open }}' {name} || exit 125
                 ! grep -q t5 {name}"
            );
            let mut count = 0;
            let found = isolate_within(
                &made,
                ("good", "HEAD"),
                (Goal::Isolate, unlimited(1)),
                None,
                &command,
                &env(),
                &mut |tried| count += u64::from(tried.kind == Kind::Unresolved),
            );
            assert!(found.unwrap().checks.failing == Some(Kind::Fail));
            count
        };
        assert!(unresolved("a.py") < unresolved("a.txt"));
    }

    /// A clock that goes when it is told to.
    #[derive(Default)]
    struct Hand(AtomicU64);

    impl Clock for Hand {
        fn now(&self) -> Duration {
            Duration::from_secs(self.0.load(Ordering::Relaxed))
        }
    }

    #[test]
    fn what_is_used_up_between_two_searches_leaves_what_the_first_found() {
        let made = Made::by(
            "seq 30 >a; commit base; git tag good
             for i in 1 2 3; do sed -i \"s/^$i$/x$i/\" a; commit c$i; done
             sed -i 's/^7$/seven/; s/^9$/nine/; s/^20$/twenty/' a; commit culprit",
        );
        let ended = |tests: Option<u64>, late: bool| {
            let clock = Arc::new(Hand::default());
            let limits = Limits {
                jobs: 1,
                tests,
                time: Some(Duration::from_secs(5)),
                stop: &|| false,
                clock: clock.clone(),
            };
            let mut seen = 0;
            let found = isolate_within(
                &made,
                ("good", "HEAD"),
                (Goal::Isolate, limits),
                None,
                "! grep -q nine a",
                &env(),
                &mut |tried| {
                    seen = tried.tests;
                    // The last of the first search.
                    if late && tried.left == 1 {
                        clock.0.store(9, Ordering::Relaxed);
                    }
                },
            );
            let found = found.unwrap();
            assert_eq!(found.commits.as_ref().unwrap().left[0].subject, "culprit");
            (found.end, lines(&found).len(), seen)
        };
        let (end, left, tests) = ended(None, true);
        assert_eq!((end, left), (End::Time, 3));
        assert_eq!(ended(Some(tests), false), (End::Tests, 3, tests));
        let (end, left, _) = ended(None, false);
        assert_eq!((end, left), (End::Minimal, 1));
    }

    #[test]
    fn lines_of_branches_that_no_commit_merges_are_of_no_commit() {
        let made = Made::by(
            "seq 20 >a; commit base; git tag good
             git checkout -qb side; { echo one; echo two; seq 20; } >a; commit side
             git checkout -q main; sed -i s/^15$/fifteen/ a; commit main
             git merge -q --no-edit side; echo b >b; commit last",
        );
        let command = "grep -q fifteen a && main=1; grep -q two a && side=1
             case $main$side in 11) exit 1;; 1) exit 125; esac";
        let found = isolate(&made, ("good", "HEAD"), Goal::Isolate, None, command).unwrap();
        let commits = found.commits.as_ref().unwrap();
        assert_eq!((commits.left.len(), commits.failing.len()), (2, 2));
        let is_unknown = |change: &Change| change.origin == Origin::Unknown;
        assert!(found.changes.iter().all(is_unknown), "{:?}", found.changes);
    }

    #[test]
    fn commits_of_lines_are_looked_up_where_lines_are_few_and_somebody_waits() {
        let made = Made::by(
            "seq 10 >a; seq 250 >b; commit base; git tag good; sed -i s/^/x/ a; commit few
             git tag few; echo c >c; commit between; sed -i s/^/x/ b; commit many",
        );
        let origins = |bad: &str, tests: u64, last: u64| {
            let is_over = AtomicBool::new(false);
            let limits = Limits {
                jobs: 1,
                tests: Some(tests),
                time: None,
                stop: &|| is_over.load(Ordering::Relaxed),
                clock: Arc::new(SystemClock::default()),
            };
            let found = isolate_within(
                &made,
                ("good", bad),
                (Goal::Simplify, limits),
                None,
                "test $(cat a b | grep -c x) -lt 10",
                &env(),
                &mut |tried| is_over.store(tried.tests == last, Ordering::Relaxed),
            );
            let changes = found.unwrap().changes;
            let mut found: Vec<String> = changes
                .iter()
                .map(|it| match &it.origin {
                    Origin::Commit(commit) => commit.subject.clone(),
                    origin => format!("{origin:?}"),
                })
                .collect();
            found.dedup();
            found
        };
        assert_eq!(origins("few", 3, 0), ["few"]);
        assert_eq!(origins("few", 9, 3), ["NotLookedUp"]);
        assert_eq!(origins("HEAD", 2, 0), ["NotLookedUp"]);
    }

    #[test]
    fn git_that_cannot_merge_takes_nothing_away() {
        // As Git before 2.38 is.
        let made = Made::by(
            "seq 30 >a; commit base; git tag good; git checkout -qb side; echo s >s; commit side; git checkout -q main
             sed -i 's/^7$/seven/; s/^9$/nine/' a; commit culprit; git merge -q --no-edit side; echo t >t; commit last
             mkdir .git/old; real=$(command -v git)
             printf '#!/bin/sh\ncase $1 in merge-tree) echo usage: >&2; exit 129; esac\nexec %s \"$@\"\n' $real >.git/old/git
             chmod +x .git/old/git",
        );
        let mut env = env();
        let old = made.folder.path().join(".git/old");
        let path = env.iter_mut().find(|(name, _)| name == "PATH").unwrap();
        path.1 = format!("{}:{}", old.display(), path.1.display()).into();
        let found = isolate_within(
            &made,
            ("good", "HEAD"),
            (Goal::Isolate, unlimited(1)),
            None,
            "! grep -q nine a",
            &env,
            &mut |_| {},
        );
        let found = found.unwrap();
        assert_eq!(lines(&found), ["a: -9 +nine"]);
        assert_eq!(found.checks.reverted, None);
        assert_eq!(found.checks.failing, Some(Kind::Fail));
    }

    #[test]
    fn changes_of_the_work_tree_count() {
        let made = Made::by(
            "seq 9 >a; commit one; echo b >b; commit two; sed -i s/5/five/ a; echo new >c",
        );
        let found = isolate(
            &made,
            ("HEAD~1", "WORKTREE"),
            Goal::Isolate,
            None,
            "! grep -q five a",
        )
        .unwrap();
        assert_eq!(lines(&found), ["a: -5 +five"]);
        let commits = found.commits.as_ref().unwrap();
        assert!(commits.has_work_tree && commits.left.is_empty());
    }

    #[test]
    fn two_changes_that_only_fail_together_are_both_there() {
        let made = Made::by(
            "mkdir old new; seq 40 >old/a; sed 's/^3$/three/; s/^20$/twenty/; s/^33$/x/; s/^36$/y/' old/a >new/a",
        );
        let command = "! { grep -q three a && grep -q x a; }";
        let found = isolate(&made, ("old", "new"), Goal::Simplify, None, command).unwrap();
        assert_eq!(lines(&found), ["a: -3 +three", "a: -33 +x"]);
        assert!(found.passing.is_empty());
        let pair = isolate(&made, ("old", "new"), Goal::Isolate, None, command).unwrap();
        assert_eq!(lines(&pair).len(), 1);
    }

    #[test]
    fn candidates_that_do_not_build_have_no_verdict_and_teach_what_belongs_together() {
        // Every new function is called by new lines elsewhere; one constant decides.
        let made = Made::by(
            r#"mkdir old; cd old
             echo 'int limit(void);' >limit.h
             printf '#include "limit.h"\nint limit(void) {\n  return 5;\n}\n' >limit.c
             printf '#include "limit.h"\nint main(void) {\n  int sum = 0;\n  sum += 1;\n  return limit() > 7;\n}\n' >main.c
             cd ..; cp -r old new; cd new
             for i in 1 2 3 4 5 6 7 8; do
               echo "int extra$i(int value$i);" >>limit.h
               printf "int extra$i(int value$i) {\n  return value$i;\n}\n" >>limit.c
               sed -i "s/^  sum += 1;/  sum += extra$i(sum);\n&/" main.c
             done
             sed -i 's/return 5/return 9/' limit.c"#,
        );
        let build = "cc -Werror -o program main.c limit.c";
        let found = isolate(
            &made,
            ("old", "new"),
            Goal::Isolate,
            Some(build),
            "./program",
        )
        .unwrap();
        assert_eq!(lines(&found), ["limit.c: -  return 5; +  return 9;"]);
        assert!(found.tests < 12, "{}", found.tests);
    }

    #[test]
    fn comments_are_whole_where_there_are_some_and_nowhere_else() {
        let made = Made::by(
            "mkdir old new; printf 'a\\nb\\n' >old/run.sh; printf 'f();\\ng();\\n' >old/f.c
             printf 'a\\ncp src/* out\\nx\\nfor d in */; do\\nb\\n' >new/run.sh
             printf 'f();\\n/* one\\n  two */\\ng();\\n' >new/f.c",
        );
        let found = |command: &str| {
            let found = isolate(&made, ("old", "new"), Goal::Isolate, None, command).unwrap();
            lines(&found)
        };
        assert_eq!(
            found("! grep -q 'in \\*/' run.sh"),
            ["run.sh: +for d in */; do"]
        );
        assert_eq!(
            found("! grep -q one f.c"),
            ["f.c: +/* one", "f.c: +  two */"]
        );
    }

    #[test]
    fn versions_that_do_not_fit_are_refused() {
        let made = Made::by("mkdir old new same; seq 9 >old/a; seq 8 >new/a; seq 9 >same/a");
        let refused = |sides, command| {
            isolate(&made, sides, Goal::Isolate, None, command)
                .err()
                .unwrap()
        };
        let same = refused(("old", "same"), "false");
        assert!(matches!(same, Error::NoDifference), "{same}");
        let passes = refused(("old", "new"), "true");
        assert!(
            matches!(passes, Error::Bad(crate::Unfit::Passes(_))),
            "{passes}"
        );
        let fails = refused(("old", "new"), "false");
        assert_eq!(fails.to_string(), "the good version fails too: ends with 1");
        let odd = refused(("old", "new"), "grep -q 9 a && exit 125; false");
        assert_eq!(
            odd.to_string(),
            "the good version has no verdict: it ends with 125"
        );
        assert!(Path::new(made.folder.path()).exists());
    }
}
