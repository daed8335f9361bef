//! One recording and what came of its replay: as data, as text, as an exit code.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_jvm::{Excess, JobResult, Unresolved};
use culprit_model::{Outcome, clean};
use culprit_replay::{Coverage, Severity};
use culprit_trace::Recording;

use super::explain::Difference;
use super::versions::Versions;
use crate::console::Console;
use crate::exit::ExitCode;
use culprit_report::figure::{counted, duration, wrap};

const WIDTH: usize = 80;
/// How many differences to explain.
const DIFFERENCES: usize = 10;
/// How many warnings to say.
const WARNINGS: usize = 5;
/// Length of `culprit: error: `.
const LEAD: usize = 16;

/// A recording that was to be replayed.
pub(crate) struct Case {
    pub(crate) path: PathBuf,
    pub(crate) facts: Facts,
    pub(crate) findings: Vec<(Severity, String)>,
    /// What another version of the program changes.
    pub(crate) against: Option<Versions>,
    pub(crate) verdict: Verdict,
    /// The lines it ran, if they were counted.
    pub(crate) coverage: Option<Coverage>,
    /// The report of the JVM that crashed.
    pub(crate) crash: Option<PathBuf>,
    /// How long the replay took.
    pub(crate) took: Duration,
}

/// What is known of a recording without a replay.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) events: u64,
    pub(crate) classes: u64,
    pub(crate) threads: u64,
    pub(crate) recorded_ms: Option<u64>,
}

impl Facts {
    pub(crate) fn of(recording: &Recording) -> Facts {
        let observed = recording.classes().iter().filter(|class| class.observed);
        Facts {
            events: recording.event_count(),
            classes: observed.count() as u64,
            threads: recording.thread_event_counts().len() as u64,
            recorded_ms: recording.end().map(|end| end.duration_ms),
        }
    }
}

/// What came of a replay.
pub(crate) enum Verdict {
    InSync {
        steps: u64,
        open_calls: u32,
    },
    OutOfSync {
        /// In order; never empty.
        differences: Vec<Difference>,
        went: Went,
    },
    /// The recording has something that cannot be replayed yet.
    Unsupported(String),
    /// The JVM did not come to the end.
    Lost(Unresolved),
    /// Nothing was observed, and nobody asked for this recording by name.
    Nothing,
    /// It was not tried.
    Refused {
        why: Vec<String>,
        next: String,
    },
    Unreadable {
        why: String,
        next: Option<String>,
    },
    /// There is no JVM to replay it in.
    NotStarted {
        why: String,
        next: String,
    },
    /// The classes to replay with make no sense.
    BadClasses {
        why: String,
        next: &'static str,
        /// They are not those of the recording.
        is_given: bool,
    },
    /// A mistake of ours.
    Fault(String),
}

/// How far a replay went that is out of sync.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Went {
    /// To the first difference, where it was to stop.
    First,
    /// To the end of the recording.
    End,
    /// To the last difference: no recorded event fits it.
    Last,
}

impl Verdict {
    pub(crate) fn of(answer: JobResult, recording: &Recording) -> Verdict {
        match answer {
            JobResult::Unresolved(unresolved) => Verdict::Lost(unresolved),
            JobResult::Ran { outcome, .. } => match outcome {
                Outcome::InSync { steps, open_calls } => Verdict::InSync { steps, open_calls },
                Outcome::Diverged(divergence) => Verdict::OutOfSync {
                    differences: vec![Difference::of(&divergence, recording)],
                    went: Went::First,
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
                        true => Went::End,
                        false => Went::Last,
                    },
                },
                Outcome::Unsupported(why) => Verdict::Unsupported(why),
                Outcome::Stopped => Verdict::Fault("the worker stopped by itself".to_owned()),
                Outcome::Threw { .. } => Verdict::Fault("the worker ran it plainly".to_owned()),
            },
        }
    }

    /// In a word or two.
    pub(crate) fn name(&self) -> &'static str {
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

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Verdict::InSync { .. } | Verdict::Nothing => ExitCode::Answered,
            Verdict::OutOfSync { .. } | Verdict::Unsupported(_) => ExitCode::No,
            Verdict::Lost(_) | Verdict::NotStarted { .. } => ExitCode::Target,
            Verdict::BadClasses { is_given: true, .. } => ExitCode::Usage,
            Verdict::Refused { .. } | Verdict::Unreadable { .. } | Verdict::BadClasses { .. } => {
                ExitCode::Recording
            }
            Verdict::Fault(_) => ExitCode::Bug,
        }
    }

    /// Whether it is said as an error, on standard error.
    fn is_error(&self) -> bool {
        matches!(
            self,
            Verdict::Refused { .. }
                | Verdict::Unreadable { .. }
                | Verdict::NotStarted { .. }
                | Verdict::BadClasses { .. }
                | Verdict::Fault(_)
        )
    }

    /// The next step, where there is one.
    pub(crate) fn next_step(&self) -> Option<String> {
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

/// The code for all of them: what a replay found counts before what kept it from being made.
pub(crate) fn exit_code(cases: &[Case]) -> ExitCode {
    let codes: Vec<ExitCode> = cases.iter().map(|case| case.verdict.exit_code()).collect();
    let order = [
        ExitCode::Bug,
        ExitCode::No,
        ExitCode::Target,
        ExitCode::Recording,
        ExitCode::Usage,
    ];
    let worst = order.into_iter().find(|code| codes.contains(code));
    worst.unwrap_or(ExitCode::Answered)
}

/// The account of one difference, or of several.
fn out_of_sync(differences: &[Difference], went: Went, path: &Path) -> Vec<String> {
    if let ([only], Went::First) = (differences, went) {
        return only.lines(path);
    }
    let count = counted(differences.len() as u64, "difference");
    let went = match went {
        Went::End => "replayed to the end",
        Went::First | Went::Last => "no recorded event matches the last one",
    };
    let mut lines = vec![format!("Out of sync: {count}, {went}")];
    for difference in differences.iter().take(DIFFERENCES) {
        lines.push(String::new());
        lines.extend(difference.lines(path));
    }
    if differences.len() > DIFFERENCES {
        lines.push(String::new());
        let more = differences.len() - DIFFERENCES;
        lines.push(format!("and {more} more, which --json lists"));
    }
    lines
}

impl Case {
    pub(crate) fn new(path: &Path, facts: Facts, verdict: Verdict) -> Case {
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
    pub(crate) fn is_of_interest(&self) -> bool {
        !matches!(self.verdict, Verdict::Nothing)
    }

    /// The report of a crash was at a place and is kept at another, or lost.
    pub(crate) fn report(&mut self, was: &Path, kept: Option<PathBuf>) {
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

    pub(crate) fn took_ms(&self) -> u64 {
        u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX)
    }

    /// What came of it, for a person: the first line says it, the others why.
    pub(crate) fn lines(&self) -> Vec<String> {
        let path = clean::path(&self.path);
        let said = match &self.verdict {
            Verdict::InSync { steps, open_calls } => {
                return vec![self.in_sync(*steps, *open_calls)];
            }
            Verdict::OutOfSync { differences, went } => {
                return out_of_sync(differences, *went, &self.path);
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
            lines.extend(wrap(&clean::line(paragraph), WIDTH - lead));
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

    /// Says what a replay may go astray for.
    pub(crate) fn warn(&self, console: &mut Console) -> io::Result<()> {
        let warnings = self.findings.iter().filter(|(s, _)| *s == Severity::Warn);
        for (_, warning) in warnings.clone().take(WARNINGS) {
            super::warn(console, &format!("{}: {warning}", clean::path(&self.path)))?;
        }
        match warnings.count().saturating_sub(WARNINGS) {
            0 => Ok(()),
            more => writeln!(console.err(), "  and {more} more, which --json lists"),
        }
    }

    /// Results go to standard output, and refusals to standard error.
    pub(crate) fn print(&self, console: &mut Console) -> io::Result<()> {
        let lines = self.lines();
        let (first, rest) = match lines.split_first() {
            Some((first, rest)) => (first.as_str(), rest),
            None => ("", &[][..]),
        };
        match self.verdict {
            _ if self.verdict.is_error() => {
                let bad = console.err_styles().bad;
                writeln!(console.err(), "{bad}culprit: error:{bad:#} {first}")?;
                rest.iter().try_for_each(|line| {
                    writeln!(console.err(), "{}", line.replace("  next: ", "  "))
                })
            }
            Verdict::InSync { .. } | Verdict::Nothing => lines
                .iter()
                .try_for_each(|line| writeln!(console.out(), "{line}")),
            _ => {
                let bad = console.styles().bad;
                writeln!(console.out(), "{bad}{first}{bad:#}")?;
                rest.iter()
                    .try_for_each(|line| writeln!(console.out(), "{line}"))
            }
        }
    }
}
