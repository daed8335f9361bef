//! The runner: runs the test on inputs and counts the runs. Threads share it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use culprit_reduce::{Cancel, Memo, Verdict, VerdictKind};

use super::material::Material;
use super::place::RunFolders;
use super::session::Trouble;
use crate::{Error, How, Judge, Judged, RunSetup, Warm};

pub(crate) struct Runner {
    pub(crate) judge: Judge,
    pub(crate) places: RunFolders,
    /// Ends the session.
    cancel: Cancel,
    /// The time of all runs together, and their number.
    micros: AtomicU64,
    runs: AtomicU64,
    strays: AtomicU64,
    /// JVMs that take candidates.
    warm: Option<Arc<Warm>>,
    /// Candidates without a verdict in warm JVMs, and whether one has another verdict in a new one.
    unresolved: AtomicU64,
    is_disturbed: AtomicBool,
}

impl Runner {
    pub(crate) fn new(judge: Judge, places: RunFolders, cancel: Cancel) -> Runner {
        Runner {
            judge,
            places,
            cancel,
            micros: AtomicU64::new(0),
            runs: AtomicU64::new(0),
            strays: AtomicU64::new(0),
            warm: None,
            unresolved: AtomicU64::new(0),
            is_disturbed: AtomicBool::new(false),
        }
    }

    /// The same with warm JVMs, if they say of the ends what a new one says.
    pub(crate) fn warmed(
        mut self,
        warm: Arc<Warm>,
        memo: &Memo,
        ends: &[&Material],
        wanted: &dyn Fn() -> bool,
    ) -> Result<Runner, Trouble> {
        let plain = self.judge.clone();
        self.judge = self.judge.warmed(Some(Arc::clone(&warm)));
        match self.agrees(&self.judge, memo, ends, wanted)? {
            true => self.warm = Some(warm),
            false => {
                warm.end();
                self.judge = plain;
            }
        }
        Ok(self)
    }

    pub(crate) fn is_warm(&self) -> bool {
        self.warm.is_some()
    }

    /// Ends the warm JVMs, and checks their verdicts on both ends in new ones, as far as there is time.
    pub(crate) fn confirm(
        &self,
        memo: &Memo,
        ends: &[&Material],
        wanted: &dyn Fn() -> bool,
    ) -> Result<(), Trouble> {
        let Some(warm) = &self.warm else {
            return Ok(());
        };
        let strays = warm.end() as u64;
        self.strays.fetch_add(strays, Ordering::Relaxed);
        if self.is_disturbed.load(Ordering::Relaxed) {
            return Err(Trouble::WarmDiffers);
        }
        let fresh = self.judge.clone().warmed(None);
        match self.agrees(&fresh, memo, ends, wanted) {
            Ok(false) => Err(Trouble::WarmDiffers),
            Ok(true) | Err(Trouble::Interrupted) => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }

    /// Asks a new JVM about a candidate that has no verdict in a warm one, ever more seldom: runs that
    /// disturb each other mostly end like this. If it is told otherwise, all is over.
    fn doubt(
        &self,
        judged: Judged,
        setup: &mut dyn FnMut() -> Result<RunSetup, Error>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Judged, Error> {
        let is_unresolved = judged.verdict.kind() == VerdictKind::Unresolved;
        if self.warm.is_none() || !is_unresolved {
            return Ok(judged);
        }
        let number = self.unresolved.fetch_add(1, Ordering::Relaxed) + 1;
        if !number.is_power_of_two() {
            return Ok(judged);
        }
        let fresh = self.judge.clone().warmed(None).judge(setup, wanted)?;
        if fresh.verdict.kind() != VerdictKind::Unresolved {
            self.is_disturbed.store(true, Ordering::Relaxed);
            self.cancel.cancel();
        }
        Ok(fresh)
    }

    /// Whether a judge says what is known. What nothing is known of agrees.
    fn agrees(
        &self,
        judge: &Judge,
        memo: &Memo,
        ends: &[&Material],
        wanted: &dyn Fn() -> bool,
    ) -> Result<bool, Trouble> {
        for material in ends {
            let Some(known) = memo.get(material.digest()) else {
                continue;
            };
            let mut setup = self.places.each(material);
            let judged = match judge.judge(&mut setup, wanted) {
                Err(Error::Unwanted) => return Err(Trouble::Interrupted),
                judged => judged?,
            };
            if judged.verdict.kind() != known.kind() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The end of a run of material.
    pub(crate) fn end(&self, material: &Material, wanted: &dyn Fn() -> bool) -> Result<How, Error> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let ending = self.judge.run(&self.places.each(material)()?, wanted)?;
        Ok(ending.how)
    }

    /// Judges material.
    pub(crate) fn judge(
        &self,
        material: &Material,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Verdict<String>, Error> {
        if let Some(path) = material.conflict() {
            let why = format!("cannot be: {} is no folder", path.display());
            return Ok(Verdict::Unresolved(why));
        }
        let mut setup = self.places.each(material);
        let judged = self.judge.judge(&mut setup, wanted)?;
        let judged = self.doubt(judged, &mut setup, wanted)?;
        self.count(&judged);
        Ok(judged.verdict)
    }

    /// Judges material once more.
    pub(crate) fn again(
        &self,
        material: &Material,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Verdict<String>, Error> {
        let judged = self.judge.judge(&mut self.places.each(material), wanted)?;
        self.count(&judged);
        Ok(judged.verdict)
    }

    /// How many of so many runs have a verdict of this kind.
    pub(crate) fn count_of(
        &self,
        material: &Material,
        runs: u32,
        kind: VerdictKind,
        wanted: &dyn Fn() -> bool,
    ) -> Result<u32, Error> {
        let mut setup = self.places.each(material);
        let count = self.judge.count(runs, kind, &mut setup, wanted)?;
        self.runs.fetch_add(u64::from(runs), Ordering::Relaxed);
        Ok(count)
    }

    fn count(&self, judged: &Judged) {
        let micros = u64::try_from(judged.took.as_micros()).unwrap_or(u64::MAX);
        let runs = u64::from(judged.rate.of);
        self.micros
            .fetch_add(micros.saturating_mul(runs), Ordering::Relaxed);
        self.runs.fetch_add(runs, Ordering::Relaxed);
        self.strays
            .fetch_add(judged.strays as u64, Ordering::Relaxed);
    }

    /// How often the command was run.
    pub(crate) fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// Processes that were left behind.
    pub(crate) fn strays(&self) -> u64 {
        self.strays.load(Ordering::Relaxed)
    }

    /// What a run takes in the mean.
    pub(crate) fn mean(&self) -> Duration {
        let runs = self.runs().max(1);
        Duration::from_micros(self.micros.load(Ordering::Relaxed) / runs)
    }
}
