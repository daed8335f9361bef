//! The limits of a confined process that hold from outside: its control group, and whoever watches it.

use crate::cgroup::{Cgroup, Entrance};
use crate::watcher::{Excess, Watched, Watcher};
use crate::{Launch, Limits};

/// The limits of one process. The guard ends before the process is forgotten.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    watcher: Option<Watcher>,
    group: Option<Cgroup>,
    limits: Option<Limits>,
}

impl Guard {
    /// The guard of a program that is about to start, and the way into its group. Programs that are not
    /// confined have none.
    pub(crate) fn prepare(launch: &Launch) -> (Guard, Option<Entrance>) {
        if launch.sandbox.is_none() {
            return (Guard::default(), None);
        }
        let (group, entrance) = Cgroup::prepare(&launch.limits).unzip();
        let guard = Guard {
            watcher: None,
            group,
            limits: Some(launch.limits),
        };
        (guard, entrance)
    }

    /// Watches the program, which was started.
    pub(crate) fn watch(&mut self, watched: Watched) {
        self.watcher = Watcher::start(watched);
    }

    /// The resource that it used too much of, if it was ended for that.
    pub(crate) fn excess(&self) -> Option<Excess> {
        let seen = self.watcher.as_ref().and_then(Watcher::excess);
        let has_run_out = || self.group.as_ref().is_some_and(Cgroup::has_run_out);
        seen.or_else(|| {
            let memory = self.limits.and_then(|limits| limits.memory)?;
            has_run_out().then_some(Excess::Memory(memory))
        })
    }
}
