//! The selection of the events to print.

use std::io;

use culprit_model::{Event, EventKind, Pattern, Site};
use culprit_trace::{Error, EventHead, Gap, Recording, ScanStep};

use crate::place;

/// Conditions on events, all of which must be true. An empty list is true for every event.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The class of the site or of its target matches one of these.
    pub classes: Vec<Pattern>,
    /// The thread is one of these.
    pub threads: Vec<u32>,
    /// The number of the event is in this range.
    pub range: EventRange,
    /// The kind is one of these.
    pub kinds: Vec<EventKind>,
    /// The finished line contains this text.
    pub text: Option<String>,
}

/// Numbers of events, from the first to the one before the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventRange {
    /// The first number.
    pub start: u64,
    /// The number after the last.
    pub end: u64,
}

impl Default for EventRange {
    fn default() -> EventRange {
        EventRange {
            start: 0,
            end: u64::MAX,
        }
    }
}

impl Filter {
    /// For each site, in the order of the recording's table, whether its class passes.
    fn sites(&self, recording: &Recording) -> Vec<bool> {
        let passes = |class: &str| self.classes.iter().any(|p| p.matches(class));
        recording
            .sites()
            .iter()
            .map(|site| {
                self.classes.is_empty() || passes(&site.class) || passes(&site.target.owner)
            })
            .collect()
    }

    /// Whether an event passes, apart from the end of the range, its class and its text.
    fn passes(&self, head: &EventHead) -> bool {
        head.index.0 >= self.range.start
            && (self.threads.is_empty() || self.threads.contains(&head.thread.0))
            && (self.kinds.is_empty() || self.kinds.contains(&head.kind))
    }

    /// Whether a finished line passes.
    pub(super) fn passes_text(&self, line: &str) -> bool {
        self.text.as_ref().is_none_or(|text| line.contains(text))
    }

    /// Whether it is about whole threads or kinds, so that gaps belong in between.
    fn shows_gap(&self, before: u64, thread: u32) -> bool {
        before >= self.range.start
            && before < self.range.end
            && self.classes.is_empty()
            && self.kinds.is_empty()
            && self.text.is_none()
            && (self.threads.is_empty() || self.threads.contains(&thread))
    }
}

/// An event or a gap that passes a filter.
pub(super) enum Found<'s> {
    Event(Event, &'s Site),
    Gap(Gap),
}

/// The result of reading the events; the outer error is that of the output.
pub type Printed = io::Result<Result<(), Error>>;

/// Prints the events that pass the filter, in global order.
pub(super) fn each(
    recording: &Recording,
    filter: &Filter,
    mut print: impl FnMut(Found<'_>) -> io::Result<()>,
) -> Printed {
    let sites = filter.sites(recording);
    let unknown = place::unknown();
    let mut scan = recording.scan();
    while let Some(step) = scan.step() {
        let head = match step {
            Ok(ScanStep::Event(head)) => head,
            Ok(ScanStep::Gap(gap)) => {
                if filter.shows_gap(gap.before.0, gap.thread.0) {
                    print(Found::Gap(gap))?;
                }
                continue;
            }
            Err(error) => return Ok(Err(error)),
        };
        if head.index.0 >= filter.range.end {
            break;
        }
        let place = recording.sites().place(head.site.0);
        let passes = place.map_or(filter.classes.is_empty(), |place| sites[place]);
        if !passes || !filter.passes(&head) {
            continue;
        }
        let event = match scan.event(&head) {
            Ok(event) => event,
            Err(error) => return Ok(Err(error)),
        };
        let site = recording.sites().get(head.site.0);
        print(Found::Event(event, site.unwrap_or(&unknown)))?;
    }
    Ok(Ok(()))
}
