//! The course of an isolation: the ends are seen to be what they should, then pass follows pass.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use culprit_reduce::{End, JournalError, Kind, ProblemError, Verdict};

use super::bench::{Bench, Wish};
use super::ledger::{Counts, Heard, Ledger};
use super::material::Material;
use super::pass::{Means, Pass, decide};
use super::place::{Handing, Places};
use super::tree::Syntax as Tree;
use crate::judge::{PATIENCE, patience};
use crate::{
    Digester, Error, Failure, Goal, Judge, Language, Like, Likeness, Lines, Rate, Reads, Test,
    Unfit, Warm,
};

/// What a run that must be made has, however little time is left.
const AT_LEAST: Duration = Duration::from_secs(2);

/// Levels of a text that are kept, at most, to find something that passes.
const SKELETONS: usize = 3;

/// The file that tells what journals are of.
const OF: &str = "of";

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
    fn language(self, path: &Path, bytes: &[u8]) -> Option<Language> {
        match self {
            Syntax::None => None,
            Syntax::Of(language) => Some(language),
            Syntax::ByFile => Language::of(path, bytes),
        }
    }
}

/// What to isolate, and how.
pub struct Plan {
    pub test: Test,
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
    pub jobs: usize,
    pub most_tests: Option<u64>,
    pub most_time: Option<Duration>,
    /// A folder for verdicts.
    pub journals: Option<PathBuf>,
    /// Whether the user wants it to end.
    pub is_over: Wish,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Isolated {
    pub failing: Material,
    /// The other side of the pair.
    pub passing: Option<Material>,
    /// How it fails.
    pub failure: String,
    /// How often the failing side failed before.
    pub rate: Rate,
    /// How often a candidate was run until it counted as passing.
    pub runs: u32,
    /// Whether warm JVMs took candidates.
    pub is_warm: bool,
    pub counts: Counts,
    /// What was seen of both sides when they were run again.
    pub again: Again,
    /// Whether there are so many pieces that some were only tried together.
    pub is_coarse: bool,
    pub end: End,
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
    #[error("the test fails on the passing side too: {0}")]
    PassingFails(String),
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
    #[error("the verdicts there belong to another input, test or set of options")]
    OtherVerdicts,
    /// What journals led to is not so now.
    #[error("the verdicts of the earlier run no longer hold: its result {0}")]
    OldVerdicts(String),
    #[error("the journal cannot be written: {0}")]
    Write(io::Error),
    #[error(transparent)]
    Problem(ProblemError),
}

/// An isolation under way.
pub(crate) struct Course<'a> {
    means: Means<'a>,
    pub(crate) ledger: Ledger<'a>,
    pub(crate) old: Material,
    pub(crate) new: Material,
    pub(crate) has_passing: bool,
    pub(crate) is_verbatim: bool,
    syntax: Syntax,
    passes: usize,
}

/// Isolates an input. `hear` is told each verdict that counts.
pub fn isolate(mut plan: Plan, hear: &mut dyn FnMut(&Heard)) -> Result<Isolated, Trouble> {
    if let Some(passing) = &mut plan.passing {
        passing.take_name_of(&plan.failing);
    }
    check(&plan)?;
    let key = key(&plan);
    let claim = plan.journals.as_ref().map(|folder| folder.join(OF));
    if let Some(of) = claim
        .as_ref()
        .and_then(|path| fs::read_to_string(path).ok())
        && of != key
    {
        return Err(Trouble::OtherVerdicts);
    }
    let places = Places::new(&plan.scratch, plan.handing.clone(), plan.directory.clone());
    let ledger = Ledger::new((plan.most_tests, plan.most_time), hear);
    let began = ledger.began;
    let is_over = plan.is_over.clone();
    let wanted = || !is_over();
    let mut spot = places.each(&plan.failing);
    let compare = (plan.likeness, Lines::CountBut(names(&plan)));
    let like = plan.like.as_ref();
    let take = |failure: &mut Failure| like.is_none_or(|like| failure.take(like));
    let witness = Judge::witness_like(plan.test, compare, &take, plan.runs, &mut spot, &wanted);
    drop(spot);
    let witness = witness.map_err(|why| match why {
        Unfit::Error(Error::Unwanted) => Trouble::Interrupted,
        why => why.into(),
    })?;
    let has_passing = plan.passing.is_some();
    let old = plan.passing.unwrap_or_else(|| plan.failing.emptied());
    let left = ledger.time_left().unwrap_or(Duration::MAX).max(AT_LEAST);
    let limit = patience(witness.ending.took, PATIENCE).min(left);
    // What the user says passes may take its time, as far as there is some.
    let judge = match has_passing {
        true => witness.judge.within(left),
        false => witness.judge.within(limit),
    };
    let mut bench = Bench::new(judge, places, plan.is_over);
    let failure = bench.judge.failure().to_string();
    let fails = Verdict::Fail(failure.clone());
    bench.memo.learn(plan.failing.digest(), fails);
    let old = match passes(&bench, &old, plan.goal, &wanted) {
        Err(Trouble::PassingUnresolved(why)) if !has_passing => {
            let instead = skeletons(&plan.failing, plan.syntax);
            let mut instead = instead.into_iter();
            let found = instead.find(|it| passes(&bench, it, plan.goal, &wanted).is_ok());
            found.ok_or(Trouble::PassingUnresolved(why))?
        }
        passed => passed.map(|()| old)?,
    };
    let limit = limit.max(patience(bench.mean(), PATIENCE));
    bench.judge = bench.judge.within(limit);
    let bench = match plan.warm {
        Some(warm) => bench.warmed(warm, &[&plan.failing, &old], &wanted)?,
        None => bench,
    };
    if let Some(path) = claim {
        fs::write(&path, &key).map_err(|source| JournalError::Io { path, source })?;
    }
    let mut course = Course {
        means: Means {
            bench: &bench,
            goal: plan.goal,
            jobs: plan.jobs,
            journals: plan.journals,
            key,
        },
        ledger,
        old,
        new: plan.failing,
        has_passing,
        is_verbatim: plan.is_verbatim,
        syntax: plan.syntax,
        passes: 0,
    };
    course.ledger.is_new(course.old.digest());
    course.ledger.is_new(course.new.digest());
    match plan.goal {
        Goal::Isolate => course.narrow()?,
        Goal::Simplify => course.simplify()?,
    }
    let again = course.run_again(&wanted)?;
    let is_warm = bench.is_warm();
    let bench = &bench;
    bench.confirm(&[&course.new, &course.old])?;
    let mut counts = course.ledger.counts;
    counts.runs = bench.runs() + u64::from(witness.rate.of);
    counts.strays = bench.strays() + witness.strays as u64;
    let runs = bench.judge.runs();
    Ok(Isolated {
        failure: match bench.memo.get(course.new.digest()) {
            Some(Verdict::Fail(how)) => how,
            _ => failure,
        },
        passing: (plan.goal == Goal::Isolate).then_some(course.old),
        failing: course.new,
        rate: witness.rate,
        runs,
        is_warm,
        counts,
        again,
        is_coarse: course.ledger.is_coarse,
        end: course.ledger.end.unwrap_or(End::Minimal),
        took: began.elapsed(),
    })
}

/// What can be refused before anything runs.
fn check(plan: &Plan) -> Result<(), Trouble> {
    match &plan.passing {
        _ if plan.failing.is_empty() => Err(Trouble::Empty),
        Some(passing) if passing.is_folder != plan.failing.is_folder => Err(Trouble::Unlike),
        Some(passing) if passing.items == plan.failing.items => Err(Trouble::Same),
        _ => Ok(()),
    }
}

/// What frames call the files of the input, where it is the program that fails.
fn names(plan: &Plan) -> BTreeSet<String> {
    let sides = [Some(&plan.failing), plan.passing.as_ref()];
    let items = sides.into_iter().flatten().flat_map(|side| &side.items);
    let mut paths: Vec<&Path> = items.map(|item| item.path.as_path()).collect();
    if let Handing::Java(Reads::Resource(path) | Reads::File(path)) = &plan.handing {
        paths.push(path);
    }
    let names = paths.into_iter().filter_map(Path::file_name);
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.chain(STDIN.map(str::to_owned)).collect()
}

/// Sees that the passing side passes. Where only the failing one is reduced, it must not fail.
fn passes(
    bench: &Bench,
    old: &Material,
    goal: Goal,
    wanted: &dyn Fn() -> bool,
) -> Result<(), Trouble> {
    let told = |why| match why {
        Error::Unwanted => Trouble::Interrupted,
        why => why.into(),
    };
    let digest = old.digest();
    match (bench.judge(old, digest, wanted).map_err(told)?, goal) {
        (Verdict::Fail(how), _) => return Err(Trouble::PassingFails(how)),
        (Verdict::Unresolved(why), Goal::Isolate) => return Err(Trouble::PassingUnresolved(why)),
        (_, Goal::Simplify) => return Ok(()),
        (Verdict::Pass, Goal::Isolate) => {}
    }
    // Once more, since everything rests on it.
    match bench.count_of(old, (1, Kind::Pass), wanted).map_err(told)? {
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
fn key(plan: &Plan) -> String {
    let mut digester = Digester::default();
    digester.field(plan.test.command.as_encoded_bytes());
    digester.field(format!("{:?}", plan.test.rule).as_bytes());
    digester.field(format!("{:?} {:?}", plan.test.limit, plan.likeness).as_bytes());
    digester.field(format!("{:?} {:?} {:?}", plan.goal, plan.handing, plan.runs).as_bytes());
    digester.field(format!("{:?} {}", plan.syntax, plan.is_verbatim).as_bytes());
    digester.field(plan.failing.digest().to_string().as_bytes());
    digester.field(format!("{:?} {}", plan.like, plan.warm.is_some()).as_bytes());
    let passing = plan
        .passing
        .as_ref()
        .map(|passing| passing.digest().to_string());
    digester.field(format!("{passing:?} {:?}", plan.directory).as_bytes());
    digester.finish().to_string()
}

impl Course<'_> {
    /// Runs both sides again: a test that is not steady may have misled.
    fn run_again(&mut self, wanted: &dyn Fn() -> bool) -> Result<Again, Trouble> {
        let mut again = Again::default();
        let seen = self.see_again(wanted, &mut again);
        match seen {
            Err(Trouble::Error(Error::Unwanted)) => self.ledger.end = Some(End::Cancelled),
            seen => seen?,
        }
        Ok(again)
    }

    fn see_again(&self, wanted: &dyn Fn() -> bool, again: &mut Again) -> Result<(), Trouble> {
        let bench = self.means.bench;
        if !wanted() {
            return Ok(());
        }
        again.failing = Some(match bench.again(&self.new, wanted)? {
            Verdict::Fail(_) => Rate { failed: 1, of: 1 },
            // What others found before is not so now.
            verdict if self.ledger.counts.replayed > 0 => {
                let how = verdict.detail().map_or("passes", String::as_str);
                return Err(Trouble::OldVerdicts(how.to_owned()));
            }
            _ => Rate {
                failed: bench.count_of(&self.new, (OFTEN, Kind::Fail), wanted)?,
                of: OFTEN + 1,
            },
        });
        if self.means.goal == Goal::Isolate {
            let passed = bench.count_of(&self.old, (AGAIN, Kind::Pass), wanted)?;
            again.passing = Some(Rate {
                failed: AGAIN - passed,
                of: AGAIN,
            });
        }
        Ok(())
    }

    /// Decides a pass and takes what it found. Whether it found something.
    pub(crate) fn take(&mut self, pass: &Pass<'_>) -> Result<bool, Trouble> {
        self.passes += 1;
        let found = decide(pass, &self.means, &mut self.ledger, self.passes)?;
        let Some(found) = found else {
            return Ok(false);
        };
        let mut changed = found.failing != self.new;
        self.new = found.failing;
        if self.means.goal == Goal::Isolate {
            changed |= found.passing != self.old;
            self.old = found.passing;
        }
        Ok(changed)
    }

    /// The verdict on something that is no candidate of a pass. `None` if it is over.
    pub(crate) fn ask(
        &mut self,
        material: &Material,
        name: &str,
    ) -> Result<Option<Verdict<String>>, Trouble> {
        if self.ledger.is_over() {
            return Ok(None);
        }
        let digest = material.digest();
        let (began, left) = (Instant::now(), self.ledger.time_left());
        let is_wanted = || left.is_none_or(|left| began.elapsed() < left);
        let verdict = match self.means.bench.judge(material, digest, &is_wanted) {
            Ok(verdict) => verdict,
            Err(Error::Unwanted) => {
                if !self.ledger.is_over() {
                    self.ledger.end = Some(End::Cancelled);
                }
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        if self.ledger.is_new(digest) {
            let heard = Heard {
                number: 0,
                pass: name.to_owned(),
                kind: verdict.kind(),
                detail: verdict.detail().cloned().unwrap_or_default(),
                size: material.len(),
                failing: 1,
                passing: 0,
                best: self.new.len(),
                open: self.new.len().saturating_sub(self.old.len()),
                at: Duration::ZERO,
                left: 1,
                mean: self.means.bench.mean(),
                artefact: digest,
            };
            self.ledger.add(heard, false);
        }
        Ok(Some(verdict))
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
