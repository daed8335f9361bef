//! A trial: a version is put on a bench, built, and tested.

use std::collections::BTreeSet;

use culprit_reduce::Verdict;

use super::Error;
use super::bench::{Bench, Benches};
use super::names::Names;
use super::tree::Tree;
use crate::{Answer, Ending, Judge, Spot, Test, Unfit, Witness};

/// What precedes the names in what is told of a version that has no verdict.
const NAMES: &str = "\nnames: ";

/// The names of a message that are kept, at most: a compiler may have much to say.
const KEPT: usize = 200;

/// How versions are tried.
pub(crate) struct Trial<'a> {
    pub(crate) judge: &'a Judge,
    /// What is run before the test. It must end with 0.
    pub(crate) build: Option<&'a Test>,
    pub(crate) benches: &'a Benches,
}

impl Trial<'_> {
    /// The verdict on a version. Names that messages have in common with the changes are kept with it.
    pub(crate) fn judge(
        &self,
        tree: &Tree,
        names: Option<&Names>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Verdict<String>, Error> {
        self.benches.at(|bench| {
            bench.hold(tree)?;
            if let Some(ending) = built(self.build, bench, wanted)? {
                return Ok(Verdict::Unresolved(told(
                    &not_built(&ending),
                    &ending,
                    names,
                )));
            }
            let mut verdict = Verdict::Pass;
            for run in 0..self.judge.runs() {
                if run > 0 {
                    bench.restore(tree)?;
                }
                let ending = self.judge.test().run(&spot(bench), wanted)?;
                match self.judge.answer(&ending) {
                    failed @ Verdict::Fail(_) => return Ok(failed),
                    Verdict::Unresolved(why) => {
                        verdict = Verdict::Unresolved(told(&why, &ending, names));
                    }
                    Verdict::Pass => {}
                }
            }
            Ok(verdict)
        })
    }
}

/// How the bad version fails, and how often.
pub(crate) fn witness(
    benches: &Benches,
    build: Option<&Test>,
    tree: &Tree,
    begin: impl FnOnce(&mut dyn FnMut() -> Result<Spot, crate::Error>) -> Result<Witness, Unfit>,
    wanted: &dyn Fn() -> bool,
) -> Result<Result<Witness, Unfit>, Error> {
    benches.at(|bench| {
        bench.hold(tree)?;
        if let Some(ending) = built(build, bench, wanted)? {
            let why = not_built(&ending);
            return Ok(Err(Unfit::Unresolved(Box::new(ending), why)));
        }
        let mut trouble = None;
        let witness = begin(&mut || {
            if let Err(error) = bench.restore(tree) {
                trouble = Some(error);
                return Err(crate::Error::Unwanted);
            }
            Ok(spot(bench))
        });
        match trouble {
            Some(error) => Err(error),
            None => Ok(witness),
        }
    })
}

/// Builds what is on a bench; `Some` if that does not work.
fn built(
    build: Option<&Test>,
    bench: &Bench,
    wanted: &dyn Fn() -> bool,
) -> Result<Option<Ending>, Error> {
    let Some(build) = build else {
        return Ok(None);
    };
    let ending = build.run(&spot(bench), wanted)?;
    Ok((build.rule.answer(&ending) != Answer::Pass).then_some(ending))
}

fn spot(bench: &Bench) -> Spot {
    Spot {
        directory: bench.folder().to_owned(),
        scratch: bench.scratch().to_owned(),
        candidate: None,
        input: None,
    }
}

fn not_built(ending: &Ending) -> String {
    let mut lines = ending.err.lines().chain(ending.out.lines());
    let error = lines.find(|line| line.to_ascii_lowercase().contains("error"));
    match error {
        Some(line) => format!("does not build: {}", line.trim()),
        None => format!("does not build: {}", ending.how),
    }
}

/// What is told of a version without a verdict, with the names that its messages have.
fn told(why: &str, ending: &Ending, names: Option<&Names>) -> String {
    let mut why = why.lines().next().unwrap_or_default().to_owned();
    if let Some(names) = names {
        let mut found = names.known(&ending.err);
        found.extend(names.known(&ending.out));
        if !found.is_empty() {
            let found: Vec<&str> = found.into_iter().take(KEPT).collect();
            why.push_str(NAMES);
            why.push_str(&found.join(" "));
        }
    }
    why
}

/// The names in what is told.
pub(crate) fn names_in(told: &str) -> BTreeSet<&str> {
    let names = told.split_once(NAMES).map_or("", |(_, names)| names);
    names.split(' ').filter(|name| !name.is_empty()).collect()
}

/// What is told without the names.
pub(crate) fn reason_in(told: &str) -> &str {
    told.split_once(NAMES).map_or(told, |(reason, _)| reason)
}
