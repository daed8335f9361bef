//! Who answers: the oracle, its three verdicts, and how it learns that nobody waits any more.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::set::DeltaSet;

/// Judges candidates. The same candidate must get the same verdict whenever it is asked for and
/// by whichever thread: an oracle of a flaky subject repeats its runs and says unresolved where
/// they disagree.
pub trait Oracle: Sync {
    /// What a failure or an unresolved run tells beyond that.
    type Detail: Detail;
    /// Why a candidate could not be judged at all. It ends the reduction.
    type Error: Send;

    /// Judges one candidate. Candidates are closed and between the ends of the problem. When
    /// `wanted.still()` turns false nobody waits for the verdict: the oracle may give up and return
    /// any.
    fn judge(
        &self,
        candidate: &DeltaSet,
        wanted: &Wanted<'_>,
    ) -> Result<Verdict<Self::Detail>, Self::Error>;
}

/// A closure as an oracle that always has a verdict.
pub struct Judge<F>(pub F);

impl<F, D> Oracle for Judge<F>
where
    F: Fn(&DeltaSet) -> Verdict<D> + Sync,
    D: Detail,
{
    type Detail = D;
    type Error = Infallible;

    fn judge(&self, candidate: &DeltaSet, _: &Wanted<'_>) -> Result<Verdict<D>, Infallible> {
        Ok(self.0(candidate))
    }
}

/// What a run of a candidate showed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict<D> {
    /// The failure is gone and nothing else went wrong.
    Pass,
    /// The failure is there: the same one.
    Fail(D),
    /// Anything else. Another failure is unresolved too.
    Unresolved(D),
}

/// A verdict without its detail.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum VerdictKind {
    /// The failure is gone.
    Pass,
    /// The failure is there.
    Fail,
    /// Neither.
    Unresolved,
}

impl<D> Verdict<D> {
    /// The verdict without its detail.
    pub fn kind(&self) -> VerdictKind {
        match self {
            Verdict::Pass => VerdictKind::Pass,
            Verdict::Fail(_) => VerdictKind::Fail,
            Verdict::Unresolved(_) => VerdictKind::Unresolved,
        }
    }

    /// The detail, which a pass has not.
    pub fn detail(&self) -> Option<&D> {
        match self {
            Verdict::Pass => None,
            Verdict::Fail(detail) | Verdict::Unresolved(detail) => Some(detail),
        }
    }
}

/// What a verdict tells beyond its kind, in a form that a journal can hold.
pub trait Detail: Clone + Send {
    /// The detail as text, of any characters.
    fn to_text(&self) -> String;

    /// The detail of a text; `None` if it is not the text of one.
    fn from_text(text: &str) -> Option<Self>;
}

impl Detail for () {
    fn to_text(&self) -> String {
        String::new()
    }

    fn from_text(text: &str) -> Option<()> {
        text.is_empty().then_some(())
    }
}

impl Detail for String {
    fn to_text(&self) -> String {
        self.clone()
    }

    fn from_text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }
}

/// Ends a reduction from elsewhere. Clones are the same switch.
#[derive(Clone, Default)]
pub struct Cancel {
    is_set: Arc<AtomicBool>,
    wish: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Cancel {
    /// A switch that is not set.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// A switch that also sets itself as soon as it is asked while the wish is true. The wish must be
    /// cheap to ask for.
    pub fn when(wish: impl Fn() -> bool + Send + Sync + 'static) -> Cancel {
        Cancel {
            is_set: Arc::default(),
            wish: Some(Arc::new(wish)),
        }
    }

    /// A switch for a part of the work, which the part can set alone.
    pub(crate) fn child(&self) -> Cancel {
        let whole = self.clone();
        Cancel::when(move || whole.is_cancelled())
    }

    /// Ends the reduction: no further candidate is judged. This is one atomic store, so signal handlers
    /// may call it.
    pub fn cancel(&self) {
        self.is_set.store(true, Ordering::Release);
    }

    /// Whether the reduction was ended.
    pub fn is_cancelled(&self) -> bool {
        if !self.is_set.load(Ordering::Acquire) && self.wish.as_ref().is_some_and(|wish| wish()) {
            self.cancel();
        }
        self.is_set.load(Ordering::Acquire)
    }

    /// Opens the switch again. It sets itself once more if the wish is still true.
    pub(crate) fn renew(&self) {
        self.is_set.store(false, Ordering::Release);
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_set).finish()
    }
}

/// Tells time. The default is the monotonic clock of the system.
pub trait Clock: Sync {
    /// The time since some moment in the past, never less than before.
    fn now(&self) -> Duration;
}

/// The monotonic clock of the system.
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// When a whole reduction ends early.
pub(crate) struct SearchLimits<'a> {
    pub(crate) cancel: &'a Cancel,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) deadline: Option<Duration>,
}

impl SearchLimits<'_> {
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|end| self.clock.now() >= end)
    }
}

/// Tells an oracle whether its verdict is still wanted.
pub struct Wanted<'a> {
    pub(crate) limits: &'a SearchLimits<'a>,
    pub(crate) moot: &'a AtomicBool,
}

impl Wanted<'_> {
    /// Whether someone waits for the verdict. Cheap enough to ask often.
    pub fn still(&self) -> bool {
        !self.moot.load(Ordering::Acquire)
            && !self.limits.cancel.is_cancelled()
            && !self.limits.is_late()
    }
}
