//! Where candidates are put: each run has a folder of its own, which is gone after it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::material::Material;
use crate::java::shadow;
use crate::{Error, Reads, RunSetup};
use culprit_jvm::remove_folder;

/// How a test gets its candidate.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Handing {
    /// Its path, as an argument.
    #[default]
    Argument,
    /// On the standard input.
    Input,
    /// Where a test of JUnit reads it.
    Java(Reads),
}

/// Makes folders for runs.
pub(crate) struct RunFolders {
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
        let _ = remove_folder(&self.0);
    }
}

impl RunFolders {
    pub(crate) fn new(top: &Path, handing: Handing, directory: Option<PathBuf>) -> RunFolders {
        RunFolders {
            top: top.to_owned(),
            handing,
            directory,
            number: AtomicU64::new(0),
        }
    }

    /// Puts a candidate somewhere for each of its runs; the folder of the one before goes first.
    pub(crate) fn each<'p>(
        &'p self,
        material: &'p Material,
    ) -> impl FnMut() -> Result<RunSetup, Error> + 'p {
        let mut held = None;
        move || {
            held.take();
            let (setup, folder) = self.put(material)?;
            held = Some(folder);
            Ok(setup)
        }
    }

    /// Puts a candidate somewhere.
    fn put(&self, material: &Material) -> Result<(RunSetup, Held), Error> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let folder = self.top.join(number.to_string());
        let scratch = folder.join("tmp");
        // A candidate may have any name.
        let own = folder.join("at");
        fs::create_dir_all(&scratch).map_err(Error::at(&scratch))?;
        let held = Held(folder.clone());
        let directory = self.directory.as_ref().unwrap_or(&scratch);
        let mut setup = RunSetup {
            own: folder.clone(),
            directory: directory.clone(),
            scratch: scratch.clone(),
            candidate: None,
            input: None,
        };
        match &self.handing {
            Handing::Argument => setup.candidate = Some(material.write(&own)?),
            Handing::Input => setup.input = Some(material.write(&own)?),
            Handing::Java(Reads::Resource(name)) => {
                let classes = folder.join("classes");
                material.write_as(&classes.join(name))?;
                setup.candidate = Some(classes);
            }
            Handing::Java(Reads::File(path)) => {
                let work = folder.join("work");
                let place = shadow(directory, path, &work).map_err(Error::at(&work))?;
                material.write_as(&place)?;
                setup.directory = work;
            }
        }
        Ok((setup, held))
    }
}
