//! Where candidates are put: each run has a folder of its own, which is gone after it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::material::Material;
use crate::{Error, Spot};

/// How a test gets its candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Handing {
    /// Its path, as an argument.
    #[default]
    Argument,
    /// On the standard input.
    Input,
}

/// Makes folders for runs.
pub(crate) struct Places {
    top: PathBuf,
    handing: Handing,
    /// Where tests work; in the folder of their run if there is none.
    directory: Option<PathBuf>,
    number: AtomicU64,
}

/// The folder of a run, as long as it is there.
pub(crate) struct Held(PathBuf);

impl Drop for Held {
    fn drop(&mut self) {
        // A test may have made it hard to remove; the folder above goes at the end.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Places {
    pub(crate) fn new(top: &Path, handing: Handing, directory: Option<PathBuf>) -> Places {
        Places {
            top: top.to_owned(),
            handing,
            directory,
            number: AtomicU64::new(0),
        }
    }

    /// Puts a candidate somewhere.
    pub(crate) fn put(&self, material: &Material) -> Result<(Spot, Held), Error> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let folder = self.top.join(number.to_string());
        let scratch = folder.join("tmp");
        fs::create_dir_all(&scratch).map_err(Error::at(&scratch))?;
        let held = Held(folder.clone());
        let path = material.write(&folder)?;
        let (candidate, input) = match self.handing {
            Handing::Argument => (Some(path), None),
            Handing::Input => (None, Some(path)),
        };
        let spot = Spot {
            directory: self.directory.clone().unwrap_or_else(|| scratch.clone()),
            scratch,
            candidate,
            input,
        };
        Ok((spot, held))
    }
}
