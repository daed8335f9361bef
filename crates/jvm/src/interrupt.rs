//! Ctrl-C and its kin, as something that a wait can end by: whoever waits for workers then ends
//! them and leaves, instead of leaving them behind.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The status that a shell reports for an interrupted program.
const INTERRUPTED: i32 = 130;

/// A request to end, shared by all clones.
#[derive(Clone, Debug)]
pub struct Interrupt {
    wanted: Arc<AtomicBool>,
    /// Somebody knows of it: waits do not end by it any more.
    heeded: Arc<AtomicBool>,
    /// Readable as soon as it is wanted, and from then on.
    bell: Arc<UnixStream>,
}

impl Interrupt {
    /// From now on those signals are noticed here, and end this process only when they come a
    /// second time.
    pub fn by_signals() -> io::Result<Interrupt> {
        let (bell, rope) = UnixStream::pair()?;
        let wanted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the first signal finds it unset.
            let (second, first) = (Arc::clone(&wanted), Arc::clone(&wanted));
            signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED, second)?;
            signal_hook::flag::register(signal, first)?;
            signal_hook::low_level::pipe::register(signal, rope.try_clone()?)?;
        }
        Ok(Interrupt {
            wanted,
            heeded: Arc::default(),
            bell: Arc::new(bell),
        })
    }

    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// From now on waits do not end by it: whoever knows of it may use workers for what is left to do.
    /// A second signal still ends this process.
    pub fn heed(&self) {
        self.heeded.store(true, Ordering::Relaxed);
    }

    /// True if waits are to end.
    pub(crate) fn ends_waits(&self) -> bool {
        self.is_wanted() && !self.heeded.load(Ordering::Relaxed)
    }

    /// Readable when waits are to end.
    pub(crate) fn bell(&self) -> Option<BorrowedFd<'_>> {
        (!self.heeded.load(Ordering::Relaxed)).then(|| self.bell.as_fd())
    }
}
