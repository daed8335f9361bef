//! A pass: one cut of the difference, decided by the engine.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use culprit_reduce::{
    Budget, DeltaSet, End, Engine, Error as ReduceError, Journal, Kind, Oracle, Origin, Problem,
    Settings, Step, Units, Verdict, Wanted,
};

use super::bench::Bench;
use super::course::Trouble;
use super::ledger::{Heard, Ledger};
use super::material::Material;
use crate::{Digest, Error, Goal, Language};

/// Bytes of the name of a pass that names a file, at most.
const LONGEST: usize = 100;

/// Of a candidate that no run was spent on.
const ILL_FORMED: &str = "is not well-formed";

/// What is cut, and how candidates are put together again.
pub(crate) struct Pass<'a> {
    pub(crate) name: String,
    pub(crate) problem: Problem,
    pub(crate) render: &'a (dyn Fn(&DeltaSet) -> Material + Sync),
    /// The file that must stay well-formed.
    pub(crate) well_formed: Option<(usize, Language)>,
}

/// What a pass found: the failing side, and the passing one of `dd`.
pub(crate) struct Narrowed {
    pub(crate) failing: Material,
    pub(crate) passing: Material,
}

/// What all passes share.
pub(crate) struct Means<'a> {
    pub(crate) bench: &'a Bench,
    pub(crate) goal: Goal,
    pub(crate) jobs: usize,
    /// The folder for journals.
    pub(crate) journals: Option<PathBuf>,
    pub(crate) key: String,
}

struct Candidates<'a> {
    bench: &'a Bench,
    pass: &'a Pass<'a>,
    /// Digest and size of candidates.
    known: Mutex<HashMap<Digest, (Digest, u64)>>,
}

impl Candidates<'_> {
    fn material(&self, candidate: &DeltaSet) -> (Material, Digest) {
        let material = (self.pass.render)(candidate);
        let digest = material.digest();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(candidate.digest(), (digest, material.len()));
        (material, digest)
    }

    /// Digest and size.
    fn told(&self, candidate: &DeltaSet) -> (Digest, u64) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let told = known.get(&candidate.digest()).copied();
        drop(known);
        told.unwrap_or_else(|| {
            let (material, digest) = self.material(candidate);
            (digest, material.len())
        })
    }
}

impl Oracle for Candidates<'_> {
    type Detail = String;
    type Error = Error;

    fn judge(&self, candidate: &DeltaSet, wanted: &Wanted<'_>) -> Result<Verdict<String>, Error> {
        let (material, digest) = self.material(candidate);
        if let Some(known) = self.bench.memo.get(digest) {
            return Ok(known);
        }
        if let Some((index, language)) = self.pass.well_formed
            && !language.reads(material.items[index].bytes())
        {
            return Ok(Verdict::Unresolved(ILL_FORMED.to_owned()));
        }
        match self.bench.judge(&material, digest, &|| wanted.still()) {
            // Nobody hears it.
            Err(Error::Unwanted) => Ok(Verdict::Unresolved(String::new())),
            judged => judged,
        }
    }
}

/// A problem of independent deltas. Of `ddmin` each is tried at least once, and no more: what is
/// minimal in the end is seen by passes that change nothing.
pub(crate) fn independent(count: u64) -> Problem {
    Problem::new(count)
        .levels([Units::singles()])
        .atoms(Units::within(DeltaSet::empty()))
}

/// The name of a pass as that of a file. Paths of files in it may be longer than names may be.
fn file_name(pass: &str) -> String {
    match pass.len() > LONGEST {
        true => Digest::of(pass.as_bytes()).to_string(),
        false => pass.replace([' ', '/'], "-"),
    }
}

/// Decides a pass. `None` if it found nothing, or could not begin.
pub(crate) fn decide(
    pass: &Pass<'_>,
    means: &Means<'_>,
    ledger: &mut Ledger<'_>,
    number: usize,
) -> Result<Option<Narrowed>, Trouble> {
    let bench = means.bench;
    let candidates = Candidates {
        bench,
        pass,
        known: Mutex::default(),
    };
    let settings = Settings {
        jobs: means.jobs,
        budget: Budget {
            tests: None,
            time: ledger.time_left(),
        },
        cancel: bench.cancel.clone(),
        ..Settings::default()
    };
    let whole = (pass.render)(&pass_end(&pass.problem));
    let problem =
        pass.problem
            .clone()
            .key(format!("{} {} {}", means.key, pass.name, whole.digest()));
    let mut journal = match &means.journals {
        Some(folder) => {
            let path = folder.join(format!("{number:03}-{}", file_name(&pass.name)));
            Some(Journal::open(&path, &problem)?)
        }
        None => None,
    };
    let least = (pass.render)(&DeltaSet::empty()).len();
    let mut sizes = Sizes {
        best: whole.len(),
        whole: whole.len(),
        least,
    };
    let mut engine = Engine::new(&problem, &candidates).settings(settings);
    if let Some(journal) = &mut journal {
        engine = engine.journal(journal);
    }
    let engine = engine.watch(|step| {
        note(step, pass, &candidates, ledger, &mut sizes);
        if ledger.is_used_up() {
            ledger.end = Some(End::Tests);
            bench.cancel.cancel();
        }
    });
    let reduction = match means.goal {
        Goal::Isolate => engine.dd(),
        Goal::Simplify => engine.ddmin(),
    };
    let reduction = match reduction {
        Ok(reduction) => reduction,
        // The cut itself is not what it should be: others will do.
        Err(ReduceError::NotPassing { .. } | ReduceError::NotFailing { .. }) => return Ok(None),
        Err(ReduceError::Nothing) => {
            let why = match ledger.time_left() {
                Some(Duration::ZERO) => End::Time,
                _ => End::Cancelled,
            };
            ledger.end = Some(ledger.end.unwrap_or(why));
            return Ok(None);
        }
        Err(ReduceError::Oracle { source, .. }) => return Err(source.into()),
        Err(ReduceError::Problem(why)) => return Err(Trouble::Problem(why)),
    };
    if let Some(why) = reduction.journal_trouble {
        return Err(Trouble::Write(why));
    }
    match reduction.end {
        End::Minimal => {}
        End::Cancelled => ledger.end = Some(ledger.end.unwrap_or(End::Cancelled)),
        end => ledger.end = Some(end),
    }
    let failing = (pass.render)(&reduction.failing);
    let passing = (pass.render)(&reduction.passing);
    Ok(Some(Narrowed { failing, passing }))
}

/// Bytes of candidates.
struct Sizes {
    /// Of the smallest that fails.
    best: u64,
    /// With all deltas, and with none.
    whole: u64,
    least: u64,
}

impl Sizes {
    /// How many bytes so many deltas are worth, of so many.
    fn open(&self, deltas: u64, all: u64) -> u64 {
        let differ = self.whole.abs_diff(self.least).max(1);
        (u128::from(differ) * u128::from(deltas) / u128::from(all.max(1))) as u64
    }
}

/// All deltas of a problem made here.
fn pass_end(problem: &Problem) -> DeltaSet {
    problem.all().clone()
}

/// Counts and tells a verdict, unless the same artefact had one before.
fn note(
    step: &Step<'_, String>,
    pass: &Pass<'_>,
    candidates: &Candidates<'_>,
    ledger: &mut Ledger<'_>,
    sizes: &mut Sizes,
) {
    if matches!(step.origin, Origin::Cache | Origin::Inference) {
        return;
    }
    let detail = step.verdict.detail().map_or("", String::as_str);
    if detail == ILL_FORMED {
        ledger.counts.ill_formed += 1;
        return;
    }
    let (artefact, size) = candidates.told(step.candidate);
    if step.verdict.kind() == Kind::Fail {
        sizes.best = sizes.best.min(size);
    }
    let is_replayed = step.origin == Origin::Journal;
    if is_replayed {
        candidates.bench.memo.learn(artefact, step.verdict.clone());
    }
    if !ledger.is_new(artefact) {
        return;
    }
    let standing = &step.standing;
    let open = standing.failing.saturating_sub(standing.passing);
    let heard = Heard {
        number: 0,
        pass: pass.name.clone(),
        kind: step.verdict.kind(),
        detail: detail.to_owned(),
        size,
        failing: standing.failing,
        passing: standing.passing,
        best: sizes.best,
        open: sizes.open(open, candidates.pass.problem.all().len()),
        at: Duration::ZERO,
        left: u64::from(u64::BITS - open.leading_zeros()).max(standing.granularity.min(open)),
        mean: candidates.bench.mean(),
        artefact,
    };
    ledger.add(heard, is_replayed);
}
