//! The files of the working folder that the failure of a test depends on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use culprit_jvm::WorkingFolder;
use culprit_reduce::{Budget, Driver};

use super::parts::Parts;
use super::{Compiled, Fails, RunSettings};
use crate::Error;

/// The name of the search for files, in events.
pub const FILES: &str = "files";

/// Bounds of the search, besides those of the user.
const BUDGET: Budget = Budget {
    tests: Some(40),
    time: Some(Duration::from_secs(15)),
};

/// Endings of files that compilers write, which a program seldom reads.
const COMPILED: [&str; 5] = ["class", "jar", "java", "kt", "kotlin_module"];

/// The files that a test needs which fails in a copy of a folder, by their paths below it; `None` if they were not found in
/// time.
pub(super) fn needed_files(
    compiled: &Compiled<'_>,
    settings: RunSettings<'_>,
    driver: &Driver<'_>,
    fails: Fails<'_>,
) -> Result<Option<Vec<PathBuf>>, Error> {
    let WorkingFolder::Copy(template) = settings.folder else {
        return Ok(None);
    };
    let is_compiled = |path: &&Path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| COMPILED.contains(&ending))
    };
    let files: Vec<&Path> = template.files().filter(|path| !is_compiled(path)).collect();
    let parts = Parts {
        name: FILES,
        size: files.len(),
        budget: BUDGET,
        compiled,
        fails,
        only: &|chosen| {
            let chosen: Vec<&Path> = chosen.iter().map(|n| files[n as usize]).collect();
            let part = template.as_ref().clone();
            WorkingFolder::Copy(Arc::new(part.only(&|path| chosen.contains(&path))))
        },
        settings,
        within: |settings, folder| RunSettings { folder, ..settings },
    };
    let needed = parts.needed(driver)?;
    Ok(needed.map(|needed| {
        needed
            .iter()
            .map(|n| files[n as usize].to_owned())
            .collect()
    }))
}
