//! The files of the working folder that the failure of a test depends on, found by delta debugging.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use culprit_jvm::{Template, WorkingFolder};
use culprit_reduce::{
    Artefact, ArtefactOracle, Budget, DeltaSet, Digester, Driver, Error as Refused, Goal, Problem,
    Scale, Schedule, Search, SearchEnd, Verdict, Wanted,
};

use super::{Compiled, Fails, LIMIT, RunSettings, Verified};
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
    let all: Vec<&Path> = template.files().collect();
    let is_compiled = |path: &&Path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| COMPILED.contains(&ending))
    };
    let files = Files {
        compiled,
        settings,
        template,
        candidates: all
            .iter()
            .copied()
            .filter(|path| !is_compiled(path))
            .collect(),
        fails,
    };
    let size = files.candidates.len() as u64;
    let search = Search {
        name: FILES,
        problem: Problem::new(size),
        goal: Goal::Simplify,
        schedule: Schedule::Classic,
        scale: Scale {
            whole: size,
            best: size,
            extent: 1.0,
        },
        is_sequential: true,
        learn: None,
    };
    match driver.within(BUDGET, || driver.search(search, &files)) {
        Ok(found) if found.end == SearchEnd::Minimal => {
            let chosen = found.failing.iter();
            let chosen = chosen.map(|number| files.candidates[number as usize].to_owned());
            Ok(Some(chosen.collect()))
        }
        Err(Refused::Oracle { source, .. }) if !source.is_end() => Err(source),
        Ok(_) | Err(_) => Ok(None),
    }
}

/// The oracle: runs of the test with some of the files.
struct Files<'a> {
    compiled: &'a Compiled<'a>,
    settings: RunSettings<'a>,
    template: &'a Template,
    /// The files, by delta.
    candidates: Vec<&'a Path>,
    fails: Fails<'a>,
}

impl ArtefactOracle for Files<'_> {
    type Content = WorkingFolder;
    type Error = Error;

    fn make(&self, candidate: &DeltaSet) -> Result<Artefact<WorkingFolder>, Error> {
        let chosen: Vec<&Path> = candidate
            .iter()
            .map(|number| self.candidates[number as usize])
            .collect();
        let part = self.template.clone().only(&|path| chosen.contains(&path));
        let mut digester = Digester::default();
        digester.field(FILES.as_bytes());
        digester.field(self.compiled.test.source.as_bytes());
        digester.digest(candidate.digest());
        Ok(Artefact {
            digest: digester.finish(),
            size: candidate.len(),
            content: Ok(WorkingFolder::Copy(Arc::new(part))),
        })
    }

    fn judge(&self, folder: &WorkingFolder, _: &Wanted<'_>) -> Result<Verdict<String>, Error> {
        let settings = RunSettings {
            folder,
            ..self.settings
        };
        let verified = self.compiled.run(settings, LIMIT)?;
        Ok(match verified {
            _ if (self.fails)(&verified) => Verdict::Fail(String::new()),
            Verified::Passed => Verdict::Pass,
            _ => Verdict::Unresolved(String::new()),
        })
    }
}
