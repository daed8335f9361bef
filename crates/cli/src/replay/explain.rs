//! The first difference between a recording and its replay, for a person: both sides as `culprit
//! show --events` prints events, where in the source, by which calls, and how to look around it.

use std::path::Path;

use culprit_model::{Divergence, Event, Step, Turn, clean, shell};
use culprit_report::{recording, replay as document};
use culprit_trace::Recording;

use crate::show::event::{Printer, describe};
use crate::show::json as show_json;
use crate::show::value::Detail;
use culprit_report::figure::{grouped, wrap};
use culprit_report::place;
use culprit_report::style::Styles;

const WIDTH: usize = 80;
/// Where texts start after a label.
const LABEL: usize = 12;
/// Calls of the path that are listed.
const CALLS: usize = 8;
/// Events around the difference that are worth a look.
const BEFORE: u64 = 10;
const AFTER: u64 = 5;

/// A difference, with everything that the recording had to say about it.
pub(crate) struct Difference {
    /// Number of the event, and how many there are.
    at: u64,
    events: u64,
    thread: String,
    recorded: Option<Side>,
    replayed: Option<Side>,
    why: String,
    /// Innermost first.
    path: Vec<String>,
    /// The event of the recording, as `culprit show --json` has it.
    event: Option<recording::Event>,
}

/// One side of it.
struct Side {
    what: String,
    place: String,
}

impl Difference {
    pub(crate) fn of(divergence: &Divergence, recording: &Recording) -> Difference {
        let event = divergence.expected.as_ref().map(event);
        let unknown = place::unknown();
        let site = |event: &Event| recording.sites().get(event.site.0);
        let printer = Printer {
            recording,
            detail: Detail::Short,
            styles: Styles::plain(),
        };
        let recorded = event.as_ref().map(|event| {
            let site = site(event).unwrap_or(&unknown);
            Side {
                what: printer.describe(event, site),
                place: place::source(site),
            }
        });
        let replayed = divergence.got.as_ref().map(|got| Side {
            what: describe(got.kind, &got.site, &got.values),
            place: place::source(&got.site),
        });
        let name = recording.threads().get(divergence.thread.0);
        let name = name.map_or(String::new(), |thread| format!(" \"{}\"", thread.name));
        Difference {
            at: event.as_ref().map_or(divergence.at, |event| event.index.0),
            events: recording.event_count(),
            thread: clean::line(&format!("{}{name}", divergence.thread)).into_owned(),
            recorded,
            replayed,
            why: divergence.why.clone(),
            path: divergence.path.iter().rev().cloned().collect(),
            event: event.map(|event| {
                let site = site(&event).unwrap_or(&unknown);
                show_json::event(&event, site, recording)
            }),
        }
    }

    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// The account of it, no line wider than 80 columns but for the command to look around.
    pub(crate) fn lines(&self, path: &Path) -> Vec<String> {
        let (at, events) = (grouped(self.at), grouped(self.events));
        let mut lines = vec![format!(
            "Out of sync at event {at} of {events}, in thread {}",
            self.thread
        )];
        match &self.recorded {
            Some(side) => label("recorded", &side.lines(), &mut lines),
            None => label("recorded", &["nothing more".to_owned()], &mut lines),
        }
        match &self.replayed {
            Some(side) => label("replayed", &side.lines(), &mut lines),
            None => label("replayed", std::slice::from_ref(&self.why), &mut lines),
        }
        if self.replayed.is_some() {
            label("difference", std::slice::from_ref(&self.why), &mut lines);
        }
        let mut calls: Vec<String> = self.path.iter().take(CALLS).cloned().collect();
        if let Some(more) = self.path.len().checked_sub(CALLS).filter(|more| *more > 0) {
            calls.push(format!("and {more} more"));
        }
        label("within", &calls, &mut lines);
        lines.push(format!("  {:<LABEL$}{}", "look at", self.command(path)));
        lines
    }

    /// The command that shows what is around it.
    fn command(&self, path: &Path) -> String {
        let range = format!(
            "{}..{}",
            self.at.saturating_sub(BEFORE),
            (self.at + AFTER).min(self.events)
        );
        let words = ["culprit".as_ref(), "show".as_ref(), path.as_os_str()];
        let last = ["--events".as_ref(), "--range".as_ref(), range.as_ref()];
        shell::line(words.into_iter().chain(last))
    }

    /// The difference for programs.
    pub(crate) fn document(&self) -> document::Difference {
        let side = |side: &Side| document::Side {
            text: side.what.clone(),
            place: side.place.clone(),
        };
        document::Difference {
            event: self.at,
            thread: self.thread.clone(),
            why: self.why.clone(),
            recorded: self.recorded.as_ref().map(side),
            recorded_event: self.event.clone(),
            replayed: self.replayed.as_ref().map(side),
            path: self.path.clone(),
        }
    }
}

impl Side {
    fn lines(&self) -> Vec<String> {
        vec![self.what.clone(), format!("at {}", self.place)]
    }
}

/// Appends texts behind a label, each wrapped.
fn label(label: &str, texts: &[String], lines: &mut Vec<String>) {
    let mut label = label;
    for text in texts {
        for line in wrap(&clean::line(text), WIDTH - LABEL - 2) {
            lines.push(format!("  {label:<LABEL$}{line}"));
            label = "";
        }
    }
}

/// A step as the event that it was made of.
fn event(step: &Step) -> Event {
    Event {
        index: step.origin.unwrap_or_default(),
        thread: step.thread,
        turn: Turn(0),
        ordinal: 0,
        kind: step.kind,
        site: step.site,
        values: step.values.clone(),
        depth: step.depth,
    }
}
