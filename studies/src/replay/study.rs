//! Runs the cases: several tests at a time, each with all its sets one after the other.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::Context;
use culprit_jvm::Jdk;

use super::case::{Ended, Place, Verdict};
use super::program::Program;
use super::ready::Ready;
use super::results::Results;
use super::set::{self, Set};
use crate::maven::Maven;
use crate::process::remove;

/// The number of recordings that are kept for one cause, and in all.
const KEPT_OF_CAUSE: usize = 3;
const KEPT: usize = 200;

/// Characters of the name of a folder.
const NAME: usize = 120;

/// Cases between two lines of progress.
const PROGRESS: usize = 250;

/// The parts that all programs share.
#[derive(Clone, Debug)]
pub struct Study {
    /// The executable under study.
    pub culprit: PathBuf,
    /// The folder for results and everything made on the way.
    pub place: PathBuf,
    /// The folder of the Java sources.
    pub java: PathBuf,
    pub maven: Maven,
}

/// Which cases to run; by default all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// Only tests whose names hold one of these.
    pub tests: Vec<String>,
    /// Only sets with one of these classes, by simple or full name.
    pub classes: Vec<String>,
    /// So many tests of each program, at even distances.
    pub limit: Option<usize>,
    /// So many random sets, instead of those of the program.
    pub random: Option<usize>,
}

impl Filter {
    pub fn is_all(&self) -> bool {
        *self == Filter::default()
    }

    fn tests<'t>(&self, all: &'t [String]) -> Vec<&'t str> {
        let fits = |test: &&String| {
            self.tests.is_empty() || self.tests.iter().any(|part| test.contains(part))
        };
        let fit: Vec<&str> = all.iter().filter(fits).map(String::as_str).collect();
        let count = self.limit.unwrap_or(fit.len()).min(fit.len());
        (0..count).map(|n| fit[n * fit.len() / count]).collect()
    }

    fn takes(&self, set: &Set) -> bool {
        let is_named = |class: &String| {
            let ends = |name: &String| class == name || class.ends_with(&format!(".{name}"));
            self.classes.iter().any(ends)
        };
        self.classes.is_empty() || set.classes().iter().any(is_named)
    }
}

impl Study {
    /// Runs all cases of a program that have no result yet, so many tests at a time, and returns
    /// all results.
    pub fn run(
        &self,
        program: &Program,
        jdk: &Jdk,
        filter: &Filter,
        jobs: usize,
    ) -> anyhow::Result<Results> {
        let mut program = *program;
        program.extent.random = filter.random.unwrap_or(program.extent.random);
        let ready = Ready::new(self, &program, jdk)?;
        let file = ready.folder.join(format!("results-{}.tsv", ready.key));
        let bench = Bench {
            ready: &ready,
            filter,
            results: Mutex::new(Results::open(&file)?),
            ran: AtomicUsize::new(0),
            began: Instant::now(),
        };
        bench.run(jobs.max(1))?;
        let results = bench.results.into_inner();
        Ok(results.unwrap_or_else(PoisonError::into_inner))
    }
}

/// A program at work.
struct Bench<'r> {
    ready: &'r Ready<'r>,
    filter: &'r Filter,
    results: Mutex<Results>,
    ran: AtomicUsize,
    began: Instant,
}

impl Bench<'_> {
    fn run(&self, jobs: usize) -> anyhow::Result<()> {
        let tests = self.filter.tests(&self.ready.tests);
        let next = AtomicUsize::new(0);
        let work = |job: usize| -> anyhow::Result<()> {
            let place = Place {
                ready: self.ready,
                folder: self.ready.folder.join(format!("job-{job}")),
            };
            fs::create_dir_all(&place.folder)?;
            while let Some(test) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
                let about = || format!("{} {test}", self.ready.program.name);
                self.test(&place, test).with_context(about)?;
            }
            remove(&place.folder)
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs)
                .map(|job| scope.spawn(move || work(job)))
                .collect();
            let ended = workers.into_iter().map(|worker| match worker.join() {
                Ok(ended) => ended,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            ended.collect::<anyhow::Result<Vec<()>>>()
        })?;
        Ok(())
    }

    /// All sets of a test. The one of all classes comes first: it tells which are loaded.
    fn test(&self, place: &Place<'_>, test: &str) -> anyhow::Result<()> {
        let mut plain = None;
        if !self.lock().has(test, &Set::ALL) {
            let ended = self.case(place, test, &Set::ALL, &mut plain)?;
            let mut results = self.lock();
            if ended.verdict != Verdict::TooLarge {
                results.add_loaded(test, &ended.loaded)?;
            }
            results.add_case(test, &Set::ALL, &ended)?;
        }
        // Without them, all classes have too many events, and so would have most sets.
        let Some(loaded) = self.lock().loaded(test).cloned() else {
            return Ok(());
        };
        let (extent, classes) = (&self.ready.program.extent, &self.ready.classes);
        for set in set::of_test(test, extent, classes, &loaded) {
            if self.filter.takes(&set) && !self.lock().has(test, &set) {
                let ended = self.case(place, test, &set, &mut plain)?;
                self.lock().add_case(test, &set, &ended)?;
            }
        }
        Ok(())
    }

    fn case(
        &self,
        place: &Place<'_>,
        test: &str,
        set: &Set,
        plain: &mut Option<Option<String>>,
    ) -> anyhow::Result<Ended> {
        let plain = match plain {
            Some(plain) => plain,
            None => plain.insert(place.plain(test)?),
        };
        let ended = place.case(test, set, plain.as_deref())?;
        if !ended.verdict.is_good() {
            self.keep(place, test, set, &ended)?;
        }
        let ran = self.ran.fetch_add(1, Ordering::Relaxed) + 1;
        if ran % PROGRESS == 0 {
            let rate = ran as f64 / self.began.elapsed().as_secs_f64();
            let name = self.ready.program.name;
            writeln!(
                io::stderr(),
                "replay: {name}: {ran} cases, {rate:.1} a second"
            )?;
        }
        Ok(ended)
    }

    /// Keeps the recording and what was said of it, unless there are enough like it.
    fn keep(&self, place: &Place<'_>, test: &str, set: &Set, ended: &Ended) -> anyhow::Result<()> {
        let folder = self.ready.folder.join(format!("kept-{}", self.ready.key));
        let known = self.lock().of_cause(&ended.cause);
        if known >= KEPT_OF_CAUSE || count(&folder) >= KEPT {
            return Ok(());
        }
        let name = format!("{test}-{set}").replace('*', "all");
        let kept = folder.join(name.chars().take(NAME).collect::<String>());
        remove(&kept)?;
        fs::create_dir_all(&kept)?;
        let about = format!(
            "{test}\n{set}\n{}\n{}\n{}\n",
            ended.verdict, ended.cause, ended.told
        );
        fs::write(kept.join("about.txt"), about)?;
        for name in [
            "recording",
            "recorded.out",
            "recorded.err",
            "replay.json",
            "replay.err",
        ] {
            let from = place.folder.join(name);
            if from.exists() {
                fs::rename(from, kept.join(name))?;
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Results> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_takes_what_it_names() {
        let tests: Vec<String> = ["A.one", "A.two", "B.one", "B.two"]
            .map(str::to_owned)
            .to_vec();
        let all = Filter::default();
        assert_eq!(all.tests(&tests).len(), 4);
        assert!(all.takes(&Set::ALL));
        let some = Filter {
            tests: vec!["B.".to_owned()],
            classes: vec!["Reader".to_owned()],
            ..Filter::default()
        };
        assert_eq!(some.tests(&tests), ["B.one", "B.two"]);
        assert!(some.takes(&"p.A+p.Reader".parse().unwrap()));
        assert!(!some.takes(&"p.PIReader".parse().unwrap()));
        let few = Filter {
            limit: Some(2),
            ..Filter::default()
        };
        assert_eq!(few.tests(&tests), ["A.one", "B.one"]);
        assert_eq!(few.tests(&[]), Vec::<&str>::new());
    }
}
