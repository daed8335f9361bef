//! Which events to print.

use std::io;
use std::str::FromStr;

use culprit_model::{Event, EventKind, Pattern, Site};
use culprit_trace::{Error, EventHead, Gap, Recording, ScanStep};

use culprit_report::place;

/// Everything must hold; an empty list holds for every event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) classes: Vec<Pattern>,
    pub(crate) threads: Vec<u32>,
    pub(crate) places: Places,
    pub(crate) kinds: Vec<EventKind>,
    /// Looked for in the finished line.
    pub(crate) text: Option<String>,
}

/// Numbers of events, from the first to the one before the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Places {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Default for Places {
    fn default() -> Places {
        Places {
            start: 0,
            end: u64::MAX,
        }
    }
}

impl FromStr for Places {
    type Err = String;

    fn from_str(text: &str) -> Result<Places, String> {
        let number = |text: &str, default: u64| match text {
            "" => Some(default),
            text => text.trim_start_matches('@').parse().ok(),
        };
        let places = match text.split_once("..") {
            Some((start, end)) => number(start, 0).zip(number(end, u64::MAX)),
            None if text.is_empty() => None,
            None => number(text, 0).map(|n| (n, n.saturating_add(1))),
        };
        match places {
            Some((start, end)) if start <= end => Ok(Places { start, end }),
            _ => Err("write numbers of events, such as 10..20, 10.., ..20 or 10".to_owned()),
        }
    }
}

/// A thread as `show` prints it, or its bare number.
pub(crate) fn thread(text: &str) -> Result<u32, String> {
    text.trim_start_matches('t')
        .parse()
        .map_err(|_| "write the number of a thread, such as 1 or t1".to_owned())
}

/// A kind of event by its name.
pub(crate) fn kind(text: &str) -> Result<EventKind, String> {
    EventKind::ALL
        .into_iter()
        .find(|kind| kind.name() == text)
        .ok_or_else(|| {
            let names = EventKind::ALL.map(EventKind::name);
            format!("the kinds are {}", names.join(", "))
        })
}

impl Filter {
    /// For each site, in the order of the recording's table, whether its class passes.
    pub(crate) fn sites(&self, recording: &Recording) -> Vec<bool> {
        let passes = |class: &str| self.classes.iter().any(|p| p.matches(class));
        recording
            .sites()
            .iter()
            .map(|site| {
                self.classes.is_empty() || passes(&site.class) || passes(&site.target.owner)
            })
            .collect()
    }

    /// Whether an event passes, but for its place, its class and its text.
    pub(crate) fn passes(&self, head: &EventHead) -> bool {
        head.index.0 >= self.places.start
            && (self.threads.is_empty() || self.threads.contains(&head.thread.0))
            && (self.kinds.is_empty() || self.kinds.contains(&head.kind))
    }

    /// Whether a finished line passes.
    pub(crate) fn passes_text(&self, line: &str) -> bool {
        self.text.as_ref().is_none_or(|text| line.contains(text))
    }

    /// Whether it is about whole threads or kinds, so that gaps belong in between.
    pub(crate) fn shows_gap(&self, before: u64, thread: u32) -> bool {
        before >= self.places.start
            && before < self.places.end
            && self.classes.is_empty()
            && self.kinds.is_empty()
            && self.text.is_none()
            && (self.threads.is_empty() || self.threads.contains(&thread))
    }
}

/// What passes a filter.
pub(crate) enum Found<'s> {
    Event(Event, &'s Site),
    Gap(Gap),
}

/// What the reader said in the end; the outer error is that of the output.
pub(crate) type Printed = io::Result<Result<(), Error>>;

/// Prints what passes the filter, in global order.
pub(crate) fn each(
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
        if head.index.0 >= filter.places.end {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_in_four_forms() {
        for (text, start, end) in [
            ("10..20", 10, 20),
            ("10..", 10, u64::MAX),
            ("..20", 0, 20),
            ("10", 10, 11),
            ("@10..@20", 10, 20),
        ] {
            assert_eq!(text.parse(), Ok(Places { start, end }), "{text}");
        }
        for text in ["", "a", "3..1", "1-2", "-1"] {
            assert!(text.parse::<Places>().is_err(), "{text}");
        }
    }

    #[test]
    fn kinds_and_threads_are_named_as_they_are_printed() {
        for name in EventKind::ALL {
            assert_eq!(kind(name.name()), Ok(name));
        }
        assert!(
            kind("call")
                .unwrap_err()
                .contains("incoming-call, incoming-return")
        );
        assert_eq!((thread("t3"), thread("3")), (Ok(3), Ok(3)));
        assert!(thread("main").is_err());
    }
}
