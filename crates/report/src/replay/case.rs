//! A recording and the result of its replay: as data and as text.

use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_jvm::{Excess, JobResult, Unresolved};
use culprit_model::{Outcome, clean};
use culprit_replay::{Coverage, Severity};
use culprit_trace::Recording;

use super::comparison::Comparison;
use super::{Difference, Went};
use crate::figure::{COLUMNS, counted, duration, wrap};

/// The number of differences that are explained.
const DIFFERENCES: usize = 10;
/// Length of `culprit: error: `.
const LEAD: usize = 16;

/// A recording that was to be replayed.
pub struct Case {
    /// The path of the recording.
    pub path: PathBuf,
    /// The facts that are known without a replay.
    pub facts: Facts,
    /// Properties of the recording that matter to a replay.
    pub findings: Vec<(Severity, String)>,
    /// The comparison with another version of the program.
    pub against: Option<Comparison>,
    /// The result.
    pub verdict: Verdict,
    /// The lines that the replay ran, if they were counted.
    pub coverage: Option<Coverage>,
    /// The report of the JVM that crashed.
    pub crash: Option<PathBuf>,
    /// The duration of the replay.
    pub took: Duration,
}

/// Facts about a recording.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    pub(super) events: u64,
    pub(super) classes: u64,
    pub(super) threads: u64,
    pub(super) recorded_ms: Option<u64>,
}

impl Facts {
    /// The facts about a recording.
    pub fn of(recording: &Recording) -> Facts {
        let observed = recording.classes().iter().filter(|class| class.observed);
        Facts {
            events: recording.event_count(),
            classes: observed.count() as u64,
            threads: recording.thread_event_counts().len() as u64,
            recorded_ms: recording.end().map(|end| end.duration_ms),
        }
    }
}

/// The result of a replay.
pub enum Verdict {
    /// The observed code did the same.
    InSync {
        /// Events that were replayed.
        steps: u64,
        /// Calls that were open at the end, as in the recording.
        open_calls: u32,
    },
    /// The observed code did something else.
    OutOfSync {
        /// The differences in order; never empty.
        differences: Vec<Difference>,
        /// The point that the replay reached.
        went: Went,
    },
    /// The recording has something that cannot be replayed yet.
    Unsupported(String),
    /// The JVM did not come to the end.
    Lost(Unresolved),
    /// Nothing was observed, and nobody asked for this recording by name.
    Nothing,
    /// The replay was not tried.
    Refused {
        /// The reasons.
        why: Vec<String>,
        /// The next step.
        next: String,
    },
    /// The recording cannot be read.
    Unreadable {
        /// The reason.
        why: String,
        /// The next step, if there is one.
        next: Option<String>,
    },
    /// No JVM could be started.
    NotStarted {
        /// The reason.
        why: String,
        /// The next step.
        next: String,
    },
    /// The classes to replay with cannot be used.
    BadClasses {
        /// The reason.
        why: String,
        /// The next step.
        next: &'static str,
        /// Whether the user named them, instead of those of the recording.
        is_given: bool,
    },
    /// A defect of Culprit.
    Fault(String),
}

impl Verdict {
    /// The verdict on the answer of a worker.
    pub fn of(answer: JobResult, recording: &Recording) -> Verdict {
        match answer {
            JobResult::Unresolved(unresolved) => Verdict::Lost(unresolved),
            JobResult::Ran { outcome, .. } => match outcome {
                Outcome::InSync { steps, open_calls } => Verdict::InSync { steps, open_calls },
                Outcome::Diverged(divergence) => Verdict::OutOfSync {
                    differences: vec![Difference::of(&divergence, recording)],
                    went: Went::ToFirst,
                },
                Outcome::Differed {
                    differences,
                    complete,
                    ..
                } => Verdict::OutOfSync {
                    differences: differences
                        .iter()
                        .map(|it| Difference::of(it, recording))
                        .collect(),
                    went: match complete {
                        true => Went::ToEnd,
                        false => Went::ToLast,
                    },
                },
                Outcome::Unsupported(why) => Verdict::Unsupported(why),
                Outcome::Stopped => Verdict::Fault("the worker stopped by itself".to_owned()),
                Outcome::Threw { .. } => Verdict::Fault("the worker ran it plainly".to_owned()),
            },
        }
    }

    /// The verdict in a word or two.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Verdict::InSync { .. } => "in sync",
            Verdict::OutOfSync { .. } => "out of sync",
            Verdict::Unsupported(_) => "unsupported",
            Verdict::Lost(Unresolved::TimeLimit(_)) => "time limit",
            Verdict::Lost(Unresolved::OutOfMemory { .. }) => "out of memory",
            Verdict::Lost(Unresolved::Exceeded(_)) => "limit exceeded",
            Verdict::Lost(_) => "JVM died",
            Verdict::Nothing => "nothing observed",
            Verdict::Refused { .. } => "refused",
            Verdict::Unreadable { .. } => "unreadable",
            Verdict::NotStarted { .. } => "no JVM",
            Verdict::BadClasses { .. } => "bad classes",
            Verdict::Fault(_) => "defect",
        }
    }

    /// Whether it is printed as an error.
    pub fn is_error(&self) -> bool {
        matches!(
            self,
            Verdict::Refused { .. }
                | Verdict::Unreadable { .. }
                | Verdict::NotStarted { .. }
                | Verdict::BadClasses { .. }
                | Verdict::Fault(_)
        )
    }

    /// The next step, if there is one.
    pub(super) fn next_step(&self) -> Option<String> {
        match self {
            Verdict::InSync { .. } | Verdict::Nothing | Verdict::OutOfSync { .. } => None,
            Verdict::Unsupported(_) => {
                Some("observe other classes, so that this is not at their border".to_owned())
            }
            Verdict::Lost(Unresolved::TimeLimit(_)) => {
                Some("give it more time (--time-limit SECONDS)".to_owned())
            }
            Verdict::Lost(Unresolved::Died { output, .. })
                if output.contains("OutOfMemoryError") =>
            {
                Some("give it more memory (--memory MB)".to_owned())
            }
            Verdict::Lost(
                Unresolved::OutOfMemory { .. } | Unresolved::Exceeded(Excess::Memory(_)),
            ) => Some("give it more memory (--memory MB)".to_owned()),
            Verdict::Lost(Unresolved::Exceeded(Excess::Disk(_) | Excess::Files(_))) => {
                Some("give options of a JVM (after --), which lifts the limit of files".to_owned())
            }
            Verdict::Lost(_) => Some("see what the JVM says above".to_owned()),
            Verdict::Refused { next, .. } | Verdict::NotStarted { next, .. } => Some(next.clone()),
            Verdict::BadClasses { next, .. } => Some((*next).to_owned()),
            Verdict::Unreadable { next, .. } => next.clone(),
            Verdict::Fault(_) => Some("please report this".to_owned()),
        }
    }
}

/// The account of one difference, or of several.
fn out_of_sync(differences: &[Difference], went: Went, case: &Case) -> Vec<String> {
    if let ([only], Went::ToFirst) = (differences, went) {
        return only.lines(case);
    }
    let count = counted(differences.len() as u64, "difference");
    let went = match went {
        Went::ToEnd => "replayed to the end",
        Went::ToFirst | Went::ToLast => "no recorded event matches the last one",
    };
    let mut lines = vec![format!("Out of sync: {count}, {went}")];
    for difference in differences.iter().take(DIFFERENCES) {
        lines.push(String::new());
        lines.extend(difference.lines(case));
    }
    if differences.len() > DIFFERENCES {
        lines.push(String::new());
        let more = differences.len() - DIFFERENCES;
        lines.push(format!("and {more} more, which --json lists"));
    }
    lines
}

impl Case {
    /// A recording with its verdict, and nothing else known about the replay.
    pub fn new(path: &Path, facts: Facts, verdict: Verdict) -> Case {
        Case {
            path: path.to_owned(),
            facts,
            findings: Vec::new(),
            against: None,
            verdict,
            coverage: None,
            crash: None,
            took: Duration::ZERO,
        }
    }

    /// Whether there was anything to replay.
    pub fn is_of_interest(&self) -> bool {
        !matches!(self.verdict, Verdict::Nothing)
    }

    /// Notes that the report of a crash was moved from one place to another, or lost.
    pub fn report(&mut self, was: &Path, kept: Option<PathBuf>) {
        let (was, is) = (was.display().to_string(), kept.as_ref());
        let is = is.map_or_else(|| "(not kept)".to_owned(), |it| it.display().to_string());
        let said = match &mut self.verdict {
            Verdict::Lost(unresolved) => unresolved.output_mut(),
            Verdict::NotStarted { why: said, .. } | Verdict::Fault(said) => Some(said),
            _ => None,
        };
        if let Some(said) = said {
            *said = said.replace(&was, &is);
        }
        self.crash = kept;
    }

    pub(super) fn took_ms(&self) -> u64 {
        u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX)
    }

    /// The result as text: the verdict on the first line, then the reasons.
    pub fn lines(&self) -> Vec<String> {
        let path = clean::path(&self.path);
        let said = match &self.verdict {
            Verdict::InSync { steps, open_calls } => {
                return vec![self.in_sync(*steps, *open_calls)];
            }
            Verdict::OutOfSync { differences, went } => {
                return out_of_sync(differences, *went, self);
            }
            Verdict::Unsupported(why) => format!("Not supported yet: {}", clean::line(why)),
            Verdict::Lost(unresolved) => format!("Not replayed: {unresolved}"),
            Verdict::Nothing => "Nothing was observed".to_owned(),
            Verdict::Refused { why, .. } => {
                format!(
                    "{path} cannot be replayed: {}",
                    clean::line(&why.join("; "))
                )
            }
            Verdict::Unreadable { why, .. } | Verdict::BadClasses { why, .. } => {
                clean::line(why).into_owned()
            }
            // With what the JVM printed, line by line.
            Verdict::NotStarted { why, .. } => why.clone(),
            Verdict::Fault(what) => format!("A defect of culprit: {what}"),
        };
        let mut lines = Vec::new();
        for (number, paragraph) in said.lines().enumerate() {
            // The word before an error takes room too.
            let lead = match self.verdict {
                _ if number == 0 && self.verdict.is_error() => LEAD,
                _ => 0,
            };
            lines.extend(wrap(&clean::line(paragraph), COLUMNS - lead));
        }
        if let Verdict::Lost(unresolved) = &self.verdict
            && let Some(output) = unresolved.output()
        {
            lines.extend(
                output
                    .lines()
                    .map(|line| format!("  {}", clean::line(line))),
            );
        }
        if let Some(report) = &self.crash {
            lines.push(format!("  report of the crash: {}", clean::path(report)));
        }
        if let Some(next) = self.verdict.next_step() {
            lines.push(format!("  next: {}", clean::line(&next)));
        }
        lines
    }

    fn in_sync(&self, steps: u64, open_calls: u32) -> String {
        let facts = &self.facts;
        let recorded = match facts.recorded_ms {
            Some(ms) => format!(" (recorded in {})", duration(ms)),
            None => String::new(),
        };
        let open = match open_calls {
            0 => String::new(),
            count => format!(
                "; {} open at the end, as in the recording",
                counted(count.into(), "call")
            ),
        };
        format!(
            "In sync: {} of {}, {}, replayed in {}{recorded}{open}",
            counted(steps, "event"),
            counted(facts.classes, "class"),
            counted(facts.threads, "thread"),
            duration(self.took_ms()),
        )
    }
}
