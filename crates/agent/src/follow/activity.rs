//! The activity of a thread in the driver: the calls out of it that are open, and the call that is about to be
//! made. The interpreter is entered anew for each followed method, by a native method that knows nothing of
//! its caller. Here it finds whether the driver itself made the call, and the origins of the arguments.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use culprit_jvmti::Global;
use culprit_model::Member;

use super::value::{Held, Variable};

/// A call that the driver makes, until a followed method is entered or the call returns.
pub(super) struct PendingCall {
    pub(super) serial: u64,
    pub(super) name: String,
    pub(super) descriptor: String,
    /// The receiver, where it may be an object of the driver.
    pub(super) on: Option<Arc<Global>>,
    /// The origins of the receiver and the arguments.
    pub(super) origins: Vec<Option<Variable>>,
    /// The depth that the call was made at.
    pub(super) depth: u32,
    /// The class of the exceptions that the driver notes where it makes the call.
    pub(super) noted: Option<String>,
}

/// The activity of one thread.
#[derive(Default)]
pub(super) struct Activity {
    /// The number of open calls out of the driver: nothing that the driver does within them is a statement.
    pub(super) depth: u32,
    pub(super) pending: Option<PendingCall>,
    last_serial: u64,
    /// The serial numbers of calls that led to a followed method.
    pub(super) own: HashSet<u64>,
    /// The origin of the result of the last such call.
    pub(super) result: Option<Variable>,
    /// A test that is not followed runs, and everything that it calls runs as it is.
    pub(super) passes_by: bool,
}

thread_local! {
    pub(super) static ACTIVITY: RefCell<Activity> = RefCell::new(Activity::default());
}

/// The activity of a thread before it entered a method. It is restored if the interpreter fails.
pub(super) struct SavedActivity {
    depth: u32,
    passes_by: bool,
}

impl SavedActivity {
    pub(super) fn now() -> SavedActivity {
        ACTIVITY.with_borrow(|activity| SavedActivity {
            depth: activity.depth,
            passes_by: activity.passes_by,
        })
    }

    /// Whether nothing of the driver was running.
    pub(super) fn is_outside(&self) -> bool {
        self.depth == 0
    }

    pub(super) fn restore(self) {
        ACTIVITY.with_borrow_mut(|activity| {
            activity.depth = self.depth;
            activity.passes_by = self.passes_by;
            activity.pending = None;
            activity.result = None;
        });
    }
}

/// A call that is being made, and the activity before it.
pub(super) struct OpenCall {
    serial: u64,
    depth: u32,
    pending: Option<PendingCall>,
}

/// The way that a call took.
pub(super) struct ClosedCall {
    /// It led to a followed method.
    pub(super) is_own: bool,
    /// The origin of its result, if it did.
    pub(super) origin: Option<Variable>,
}

impl OpenCall {
    /// Opens a call. A runner calls methods of the driver as the driver itself would: what they do becomes
    /// statements.
    pub(super) fn open(
        target: &Member,
        can_enter: bool,
        given: &[Held<'_>],
        on: Option<Arc<Global>>,
        is_runner: bool,
        noted: Option<String>,
    ) -> OpenCall {
        ACTIVITY.with_borrow_mut(|activity| {
            activity.last_serial += 1;
            let (serial, depth) = (activity.last_serial, activity.depth);
            let pending = activity.pending.replace(PendingCall {
                serial,
                name: match can_enter {
                    true => target.name.clone(),
                    false => String::new(),
                },
                descriptor: target.descriptor.clone(),
                on,
                origins: given.iter().map(|held| held.origin).collect(),
                depth,
                noted,
            });
            activity.result = None;
            activity.depth += u32::from(!is_runner);
            OpenCall {
                serial,
                depth,
                pending,
            }
        })
    }

    pub(super) fn close(self) -> ClosedCall {
        ACTIVITY.with_borrow_mut(|activity| {
            activity.depth = self.depth;
            activity.pending = self.pending;
            let is_own = activity.own.remove(&self.serial);
            ClosedCall {
                is_own,
                origin: activity.result.take().filter(|_| is_own),
            }
        })
    }
}
