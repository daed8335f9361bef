//! The time of replays of real recordings, compared with the recorded and the plain run.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use super::figures::median;
use super::measure::{Work, measure};
use super::results::fresh;
use super::subject::{SUBJECTS, Set, Subject};
use super::tools::Tools;
use super::variant::Variant;
use crate::process::{Outcome, Run, words};

/// A replay that takes longer is broken.
const LIMIT: Duration = Duration::from_secs(600);

/// A run to record and replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    pub subject: &'static str,
    /// The observed class; `None` is the whole library.
    pub class: Option<&'static str>,
    /// The iterations of the subject are divided by this.
    pub part: u32,
}

const fn case(subject: &'static str, class: Option<&'static str>, part: u32) -> Case {
    Case {
        subject,
        class,
        part,
    }
}

/// Of each subject, the whole library and one class. A tenth of the iterations where all of them
/// would be many millions of events.
pub const CASES: [Case; 10] = [
    case("parse", None, 1),
    case("parse", Some("org.jsoup.nodes.Document"), 1),
    case("compute", None, 10),
    case(
        "compute",
        Some("org.apache.commons.math3.linear.ArrayRealVector"),
        1,
    ),
    case("compress", None, 10),
    case(
        "compress",
        Some("org.apache.commons.compress.archivers.tar.TarUtils"),
        1,
    ),
    case("template", None, 10),
    case("template", Some("freemarker.core.IfBlock"), 1),
    case("graph", None, 10),
    case(
        "graph",
        Some("org.jgrapht.traverse.BreadthFirstIterator$SearchNodeData"),
        1,
    ),
];

impl Case {
    pub fn set(&self) -> Set {
        match self.class {
            None => Set::Whole,
            Some(name) => Set::Class(name.to_owned()),
        }
    }

    fn subject(&self) -> anyhow::Result<Subject> {
        let mut all = SUBJECTS.into_iter();
        all.find(|subject| subject.name == self.subject)
            .with_context(|| format!("no subject `{}`", self.subject))
    }
}

/// Times from start to end of the process, in seconds.
#[derive(Clone, PartialEq, Debug)]
pub struct Replays {
    pub case: Case,
    pub events: u64,
    pub plain: Vec<f64>,
    pub recorded: Vec<f64>,
    pub replayed: Vec<f64>,
    /// Why the case was given up.
    pub trouble: Option<String>,
}

impl Replays {
    fn new(case: Case) -> Replays {
        Replays {
            case,
            events: 0,
            plain: Vec::new(),
            recorded: Vec::new(),
            replayed: Vec::new(),
            trouble: None,
        }
    }

    /// The time of a replay against that of the recorded run; `None` if nothing was measured.
    pub fn of_recorded(&self) -> Option<f64> {
        self.against(&self.recorded)
    }

    /// The same against the run without an agent.
    pub fn of_plain(&self) -> Option<f64> {
        self.against(&self.plain)
    }

    fn against(&self, others: &[f64]) -> Option<f64> {
        let measured = self.trouble.is_none() && !self.replayed.is_empty();
        measured.then(|| median(self.replayed.clone()) / median(others.to_vec()))
    }
}

/// Runs every case so many times: plain, recorded, and the recording replayed, one after the
/// other. `progress` hears of each.
pub fn run(
    tools: &Tools,
    cases: &[Case],
    rounds: usize,
    place: &Path,
    progress: &mut dyn FnMut(&str),
) -> anyhow::Result<Vec<Replays>> {
    let mut all: Vec<Replays> = cases.iter().copied().map(Replays::new).collect();
    for round in 1..=rounds {
        for replays in all.iter_mut().filter(|it| it.trouble.is_none()) {
            let set = replays.case.set();
            let name = format!(
                "round {round} of {rounds}: replay, {}, {}",
                replays.case.subject,
                set.label()
            );
            match add_round(tools, replays, place) {
                Ok(took) => progress(&format!("{name} {took:.2} s")),
                Err(error) => {
                    progress(&format!("{name}: {error:#}"));
                    replays.trouble = Some(format!("{error:#}"));
                }
            }
        }
    }
    Ok(all)
}

fn add_round(tools: &Tools, replays: &mut Replays, place: &Path) -> anyhow::Result<f64> {
    let subject = replays.case.subject()?;
    let class_path = tools.class_path(&subject)?;
    let iterations = subject.iterations / replays.case.part;
    let arguments = [subject.name.to_owned(), iterations.to_string()];
    let timed = |variant: Variant| {
        let folder = fresh(place)?;
        let command = variant.command(tools, &subject, &class_path, &arguments, &folder)?;
        measure(&command, &folder, Work::Driver)
    };
    let plain = timed(Variant::Plain)?;
    let recorded = timed(Variant::Culprit(replays.case.set()))?;
    ensure!(plain.sum == recorded.sum, "the program's result differs");
    replays.events = recorded.events;
    replays.plain.push(plain.wall);
    replays.recorded.push(recorded.wall);
    // The folder of the last run, with its recording in it.
    let replayed = replay(tools, &place.join("work"))?;
    replays.replayed.push(replayed);
    Ok(replayed)
}

/// The time that `culprit replay` takes. It ends well only if all was in sync.
fn replay(tools: &Tools, folder: &Path) -> anyhow::Result<f64> {
    let (stdout, stderr) = (folder.join("replay.out"), folder.join("replay.err"));
    let outcome = Run {
        program: tools.culprit.clone(),
        args: words(["replay", "run"]),
        folder: folder.to_owned(),
        env: Vec::new(),
        stdout: stdout.clone(),
        stderr: stderr.clone(),
        limit: LIMIT,
    }
    .run()?;
    match outcome {
        Outcome::Ended { status, time, .. } if status.is_success() => Ok(time.as_secs_f64()),
        Outcome::Ended { status, .. } => {
            let said = [stdout, stderr].map(std::fs::read_to_string);
            let said: String = said.into_iter().flatten().collect();
            bail!("the replay ended with {status}: {}", said.trim())
        }
        Outcome::TimedOut => bail!("no end of the replay after {} s", LIMIT.as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_subject_and_a_class_of_its_library() {
        for case in CASES {
            let subject = case.subject().unwrap();
            assert!(case.class.is_none_or(|it| it.starts_with(subject.package)));
        }
    }

    #[test]
    fn ratios_are_those_of_medians_and_trouble_has_none() {
        let mut replays = Replays {
            events: 7,
            plain: vec![1.0, 2.0, 9.0],
            recorded: vec![4.0, 4.0, 1.0],
            replayed: vec![6.0, 8.0, 8.0],
            ..Replays::new(CASES[0])
        };
        assert_eq!(replays.of_plain(), Some(4.0));
        assert_eq!(replays.of_recorded(), Some(2.0));
        replays.trouble = Some("out of sync".to_owned());
        assert_eq!(replays.of_plain(), None);
        assert_eq!(Replays::new(CASES[0]).of_recorded(), None);
    }
}
