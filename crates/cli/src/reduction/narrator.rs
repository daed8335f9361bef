//! Tells the user what a session does, and keeps its results.

use std::io;
use std::path::PathBuf;

use culprit_debug::{Activity, CallLevel, Observer, Ongoing, SessionEvent};
use culprit_jvm::Interrupt;
use culprit_minimize::CALLS;
use culprit_reduce::ReductionEvent;

use super::{Results, explained, told};
use crate::console::Console;
use crate::origin;
use crate::progress::Progress;

/// The observer of a session on a console.
pub(crate) struct Narrator<'c> {
    pub(crate) console: &'c mut Console,
    pub(crate) results: &'c mut Results,
    pub(crate) interrupt: Interrupt,
    /// The private folders in which recordings are noted as made here.
    pub(crate) folders: Vec<PathBuf>,
}

/// The line of an activity on a terminal.
struct Line {
    progress: Progress<'static>,
    interrupt: Interrupt,
}

impl Observer for Narrator<'_> {
    fn notice(&mut self, event: SessionEvent<'_>) -> io::Result<()> {
        let err = self.console.err();
        match event {
            SessionEvent::Witnesses => writeln!(err, "Running the command to see how it fails"),
            SessionEvent::Flaky { left_out } => {
                writeln!(
                    err,
                    "The runs end differently; the most frequent failures are reduced"
                )?;
                for (signature, rate) in left_out {
                    told(err, "  ", &format!("left out: {signature}, {rate}"))?;
                }
                Ok(())
            }
            SessionEvent::Ran { recordings } => {
                // Without it, `culprit minimize` asks for the class path of what this command left.
                let _ = origin::note(recordings, &self.folders);
                Ok(())
            }
            SessionEvent::Failure { failure, rate } => {
                told(err, "", &failure)?;
                match rate {
                    Some(rate) => writeln!(err, "  {rate}"),
                    None => Ok(()),
                }
            }
            SessionEvent::Follows { driver } => told(err, "  ", &format!("following {driver}")),
            SessionEvent::Records { observed } => {
                told(err, "  ", &format!("recording {}", listed(&observed)))
            }
            SessionEvent::Test(test) => {
                let level = match &test.level {
                    CallLevel::Outermost | CallLevel::Result { .. } => None,
                    CallLevel::Between { class, .. } => Some(("a level in between", class)),
                    CallLevel::Innermost { class, .. } => Some(("the innermost level", class)),
                };
                if let Some((level, class)) = level {
                    told(err, "  ", &format!("{level}: calls to {class}"))?;
                }
                self.results.add(test, self.console)
            }
            SessionEvent::Sliceable(kept) => self.results.keep(kept, &self.folders),
            SessionEvent::Located(located) => self.results.locate(located, self.console),
            SessionEvent::NotLocated(why) => self.results.not_located(&why, self.console),
            SessionEvent::LeftOut(levels) => {
                self.results.leave_out(levels);
                Ok(())
            }
            SessionEvent::OnlyInside(missed) => {
                let text = format!("no test of the calls around it: {}", missed.error);
                told(err, "  ", &text)
            }
            SessionEvent::Missed(missed) => {
                let error = explained(missed.error);
                self.results.miss(&missed.signature, missed.rate, &error);
                crate::report(&error, self.console);
                Ok(())
            }
            SessionEvent::Skipped(missed) => {
                let error = explained(missed.error);
                self.results.miss(&missed.signature, missed.rate, &error);
                Ok(())
            }
        }
    }

    fn begin(&mut self, activity: Activity) -> Box<dyn Ongoing> {
        let text = match activity {
            Activity::Witnessing => "running the command",
            Activity::Following => "following",
            Activity::Recording => "recording",
            Activity::Minimising => "minimising",
            Activity::Locating => "tracing the failure",
        };
        Box::new(Line {
            progress: Progress::detached(self.console, text),
            interrupt: self.interrupt.clone(),
        })
    }
}

impl Ongoing for Line {
    fn progress(&self, event: &ReductionEvent) {
        self.progress.say(said(event, &self.interrupt));
    }
}

/// Characters of a list of names.
const LISTED: usize = 120;

/// Names in a list of which the end is left out if it is long.
fn listed(names: &[String]) -> String {
    let mut length = 0;
    let fits = |name: &&String| {
        length += name.len() + 2;
        length <= LISTED
    };
    let shown = names.iter().take_while(fits).count().max(1);
    let list = names[..shown.min(names.len())].join(", ");
    match names.len().saturating_sub(shown) {
        0 => list,
        more => format!("{list} and {more} more"),
    }
}

/// The text of a line of progress.
fn said(event: &ReductionEvent, interrupt: &Interrupt) -> String {
    match event {
        ReductionEvent::Tested(it) if it.search == CALLS => {
            let (left, of, tests) = (it.best, it.whole, it.number);
            format!("minimising: {left} of {of} calls left, {tests} candidates")
        }
        ReductionEvent::Tested(it) => {
            format!("simplifying {}: {} candidates", it.search, it.number)
        }
        ReductionEvent::Checking if interrupt.is_wanted() => {
            "checking the smallest so far (Ctrl-C again to end)".to_owned()
        }
        ReductionEvent::Checking => "checking".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_names_has_an_end() {
        let names = |count: usize| vec!["org.example.shop.**".to_owned(); count];
        assert_eq!(
            listed(&names(2)),
            "org.example.shop.**, org.example.shop.**"
        );
        let long = listed(&names(40));
        assert!(long.ends_with("shop.** and 35 more"), "{long}");
        assert_eq!(listed(&["x".repeat(500)]), "x".repeat(500));
    }
}
