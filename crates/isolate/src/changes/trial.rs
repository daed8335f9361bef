//! A trial: a version is put into a build folder, built, and tested.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use culprit_reduce::Verdict;

use super::Error;
use super::build_folder::{BuildFolder, BuildFolders};
use super::complaints::Lack;
use super::tree::FileTree;
use crate::judge::patience;
use crate::{Ending, Judge, RunAnswer, RunSetup, TestCommand, Unfit, Witness};

/// What precedes what was heard in what is told of a version that has no verdict.
const HEARD: &str = "\nheard: ";

/// What is kept of a message, at most: a compiler may have much to say.
const KEPT: usize = 1000;

/// A build may take so long at least: how much is left to build differs.
const BUILD_PATIENCE: Duration = Duration::from_secs(60);

/// How long runs may take: the user's limit until one ended well, then some times as long as that.
pub(crate) struct Patience {
    least: Duration,
    longest: Mutex<Option<Duration>>,
}

impl Patience {
    pub(crate) fn new(least: Duration) -> Patience {
        Patience {
            least,
            longest: Mutex::default(),
        }
    }

    fn learn(&self, took: Duration) {
        let mut longest = self.longest.lock().unwrap_or_else(PoisonError::into_inner);
        *longest = longest.max(Some(took));
    }

    fn limited(&self, test: &TestCommand) -> TestCommand {
        let longest = *self.longest.lock().unwrap_or_else(PoisonError::into_inner);
        let mut test = test.clone();
        if let Some(took) = longest {
            test.limit = test.limit.min(patience(took, self.least));
        }
        test
    }
}

/// What is run before the test. It must end with 0.
pub(crate) struct Build<'a> {
    command: &'a TestCommand,
    patience: Patience,
}

impl<'a> Build<'a> {
    pub(crate) fn new(command: &'a TestCommand) -> Build<'a> {
        Build {
            command,
            patience: Patience::new(BUILD_PATIENCE),
        }
    }
}

/// How versions are tried.
#[derive(Clone, Copy)]
pub(crate) struct Trial<'a> {
    pub(crate) judge: &'a Judge,
    pub(crate) patience: &'a Patience,
    pub(crate) build: Option<&'a Build<'a>>,
    pub(crate) folders: &'a BuildFolders,
    /// How often a version must pass at least.
    pub(crate) passes: u32,
}

impl Trial<'_> {
    /// The verdict on a version. What is heard in its messages is kept with it if it has none.
    pub(crate) fn judge(
        &self,
        tree: &FileTree,
        heard: Option<&dyn Fn(&str) -> Lesson>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Verdict<String>, Error> {
        self.folders.at(|build_folder| {
            build_folder.hold(tree)?;
            if let Some(ending) = built(self.build, self.folders, build_folder, wanted)? {
                return Ok(Verdict::Unresolved(told(
                    &not_built(&ending),
                    &ending,
                    heard,
                )));
            }
            let mut verdict = Verdict::Pass;
            for run in 0..self.judge.runs().max(self.passes) {
                if run > 0 {
                    build_folder.restore(tree)?;
                }
                let test = self.patience.limited(self.judge.test());
                let ending = self.folders.run(&test, build_folder, wanted)?;
                match self.judge.answer(&ending) {
                    failed @ Verdict::Fail(_) => return Ok(failed),
                    Verdict::Unresolved(why) => {
                        verdict = Verdict::Unresolved(told(&why, &ending, heard));
                    }
                    Verdict::Pass => self.patience.learn(ending.took),
                }
            }
            Ok(verdict)
        })
    }
}

/// How the bad version fails, and how often.
pub(crate) fn witness(
    folders: &BuildFolders,
    build: Option<&Build<'_>>,
    tree: &FileTree,
    begin: impl FnOnce(&mut dyn FnMut() -> Result<RunSetup, crate::Error>) -> Result<Witness, Unfit>,
    wanted: &dyn Fn() -> bool,
) -> Result<Result<Witness, Unfit>, Error> {
    folders.at(|build_folder| {
        build_folder.hold(tree)?;
        if let Some(ending) = built(build, folders, build_folder, wanted)? {
            return Err(Error::NotBuilt {
                how: ending.how,
                why: not_built(&ending),
                printed: ending.last_lines(),
            });
        }
        let mut trouble = None;
        let witness = begin(&mut || {
            if let Err(error) = build_folder.restore(tree) {
                trouble = Some(error);
                return Err(crate::Error::Unwanted);
            }
            Ok(build_folder.setup())
        });
        match trouble {
            Some(error) => Err(error),
            None => Ok(witness),
        }
    })
}

/// Builds what is in a build folder; `Some` if that does not work.
fn built(
    build: Option<&Build<'_>>,
    folders: &BuildFolders,
    build_folder: &BuildFolder,
    wanted: &dyn Fn() -> bool,
) -> Result<Option<Ending>, Error> {
    let Some(build) = build else {
        return Ok(None);
    };
    let ending = folders.run(&build.patience.limited(build.command), build_folder, wanted)?;
    if build.command.rule.answer(&ending) != RunAnswer::Pass {
        return Ok(Some(ending));
    }
    build.patience.learn(ending.took);
    Ok(None)
}

fn not_built(ending: &Ending) -> String {
    let mut lines = ending.err.lines().chain(ending.out.lines());
    let error = lines.find(|line| line.to_ascii_lowercase().contains("error"));
    match error {
        Some(line) => format!("does not build: {}", line.trim()),
        None => format!("does not build: {}", ending.how),
    }
}

/// What is heard in the messages of a version without a verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lesson {
    /// Changes that were made, and what they lacked.
    pub(crate) lacks: Vec<Lack>,
    /// The same, by nothing but the places that messages have.
    pub(crate) near: Vec<Lack>,
    /// Names that messages have in common with the changes, where that was not to be found out.
    pub(crate) names: Vec<String>,
}

impl Lesson {
    /// Reads it back.
    pub(crate) fn of(told: &str) -> Lesson {
        let (_, heard) = told.split_once(HEARD).unwrap_or_default();
        let mut found = Lesson::default();
        for word in heard.split(' ').filter(|word| !word.is_empty()) {
            let lack = |sign: char| -> Option<Lack> {
                let (one, other) = word.split_once(sign)?;
                Some((one.parse().ok()?, other.parse().ok()?))
            };
            match (lack('>'), lack('~')) {
                (Some(lack), _) => found.lacks.push(lack),
                (_, Some(lack)) => found.near.push(lack),
                _ => found.names.push(word.to_owned()),
            }
        }
        found
    }

    /// As words.
    fn words(&self) -> String {
        let lacks = self
            .lacks
            .iter()
            .map(|(one, other)| format!("{one}>{other}"));
        let near = self
            .near
            .iter()
            .map(|(one, other)| format!("{one}~{other}"));
        let all = lacks.chain(near).chain(self.names.iter().cloned());
        let words: Vec<String> = all.take(KEPT).collect();
        words.join(" ")
    }
}

/// What is told of a version without a verdict, with what was heard.
fn told(why: &str, ending: &Ending, heard: Option<&dyn Fn(&str) -> Lesson>) -> String {
    let heard = heard.map(|hear| hear(&format!("{}\n{}", ending.err, ending.out)));
    with_lesson(
        why.lines().next().unwrap_or_default(),
        &heard.unwrap_or_default(),
    )
}

/// A reason, with what was heard behind it.
pub(crate) fn with_lesson(why: &str, lesson: &Lesson) -> String {
    match lesson.words() {
        words if words.is_empty() => why.to_owned(),
        words => format!("{why}{HEARD}{words}"),
    }
}

/// The reason in the detail of a verdict, without what was heard in messages.
pub fn reason_in(told: &str) -> &str {
    told.split_once(HEARD).map_or(told, |(reason, _)| reason)
}

#[cfg(test)]
mod tests {
    use super::super::build_folder::Leftovers;
    use super::super::difference::tests::tree;
    use super::*;
    use crate::test::tests::shell;
    use crate::{Likeness, LineComparison};

    #[test]
    fn what_takes_much_longer_than_what_passed_is_not_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let folders = BuildFolders::new(root.path().to_owned(), Leftovers::Stay);
        let test = TestCommand {
            limit: Duration::from_secs(3600),
            ..shell("case $(cat a) in fails) exit 1;; hangs) sleep 1000;; esac")
        };
        let begin = |setup: &mut dyn FnMut() -> Result<RunSetup, crate::Error>| {
            let likeness = (Likeness::Place, LineComparison::Ignored);
            Judge::witness(test.clone(), likeness, None, setup, &|| true)
        };
        let fails = tree(&[("a", "fails")]);
        let seen = witness(&folders, None, &fails, begin, &|| true)
            .unwrap()
            .unwrap();
        let trial = Trial {
            judge: &seen.judge,
            patience: &Patience::new(Duration::ZERO),
            build: None,
            folders: &folders,
            passes: 1,
        };
        let limit = || trial.patience.limited(&test).limit;
        assert_eq!(limit(), test.limit);
        let judge = |said: &str| trial.judge(&tree(&[("a", said)]), None, &|| true).unwrap();
        assert_eq!(judge("passes"), Verdict::Pass);
        assert!(limit() < test.limit);
        assert!(matches!(judge("hangs"), Verdict::Unresolved(_)));
        trial.patience.learn(Duration::from_secs(60));
        trial.patience.learn(Duration::from_secs(6));
        assert_eq!(limit(), Duration::from_secs(1200));
    }

    #[test]
    fn what_was_heard_is_read_back() {
        let heard = Lesson {
            lacks: vec![(1, 20), (3, 4)],
            near: vec![(5, 6)],
            names: vec!["count".to_owned()],
        };
        let told = format!("does not build: no{HEARD}{}", heard.words());
        assert_eq!(Lesson::of(&told), heard);
        assert_eq!(reason_in(&told), "does not build: no");
        assert_eq!(Lesson::of("does not build"), Lesson::default());
    }
}
