//! A difference between a recording and its replay: both sides as `culprit show --events` prints events, with their
//! places in the source, the open calls, and the command that shows the events around it.

use culprit_model::{Divergence, Event, Step, Turn, clean, shell};
use culprit_trace::Recording;

use super::{Case, Difference, Side};
use crate::figure::{COLUMNS, grouped, wrap};
use crate::place;
use crate::recording::event::describe;
use crate::recording::{Detail, EventPrinter, event_document};
use crate::style::Styles;

/// Characters of a string of the replay that are shown, with its first quote.
const LONGEST: usize = 61;
/// Where texts start after a label.
const LABEL: usize = 12;
/// Calls of the path that are listed.
const CALLS: usize = 8;
/// Events around the difference that are worth a look.
const BEFORE: u64 = 10;
const AFTER: u64 = 5;

impl Difference {
    /// A divergence, with both sides as text.
    pub(super) fn of(divergence: &Divergence, recording: &Recording) -> Difference {
        let event = divergence.expected.as_ref().map(event);
        let unknown = place::unknown();
        let site = |event: &Event| recording.sites().get(event.site.0);
        let printer = EventPrinter {
            recording,
            detail: Detail::Short,
            styles: Styles::plain(),
        };
        let whole = EventPrinter {
            detail: Detail::Full,
            ..printer
        };
        let recorded = event.as_ref().map(|event| {
            let site = site(event).unwrap_or(&unknown);
            Side {
                text: printer.describe(event, site),
                place: place::source(site),
                values: event.values.iter().map(|it| whole.text(it)).collect(),
            }
        });
        let replayed = divergence.got.as_ref().map(|got| {
            let short: Vec<String> = got.values.iter().map(|value| shortened(value)).collect();
            Side {
                text: describe(got.kind, &got.site, &short),
                place: place::source(&got.site),
                values: got.values.clone(),
            }
        });
        let name = recording.threads().get(divergence.thread.0);
        let name = name.map_or(String::new(), |thread| format!(" \"{}\"", thread.name));
        Difference {
            event: event.as_ref().map_or(divergence.at, |event| event.index.0),
            thread: clean::line(&format!("{}{name}", divergence.thread)).into_owned(),
            recorded,
            replayed,
            why: divergence.why.clone(),
            path: divergence.path.iter().rev().cloned().collect(),
            recorded_event: event.map(|event| {
                let site = site(&event).unwrap_or(&unknown);
                event_document(&event, site, recording)
            }),
        }
    }

    /// The account of the difference, in lines of at most 80 columns except for the command.
    pub fn lines(&self, case: &Case) -> Vec<String> {
        let (at, events) = (grouped(self.event), grouped(case.facts.events));
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
        lines.push(format!("  {:<LABEL$}{}", "look at", self.command(case)));
        lines
    }

    /// The command that shows the events around it.
    fn command(&self, case: &Case) -> String {
        let range = format!(
            "{}..{}",
            self.event.saturating_sub(BEFORE),
            (self.event + AFTER).min(case.facts.events)
        );
        let words = ["culprit".as_ref(), "show".as_ref(), case.path.as_os_str()];
        let last = ["--events".as_ref(), "--range".as_ref(), range.as_ref()];
        shell::line(words.into_iter().chain(last))
    }
}

impl Side {
    fn lines(&self) -> Vec<String> {
        vec![self.text.clone(), format!("at {}", self.place)]
    }
}

/// Appends texts behind a label, each wrapped.
fn label(label: &str, texts: &[String], lines: &mut Vec<String>) {
    let mut label = label;
    for text in texts {
        for line in wrap(&clean::line(text), COLUMNS - LABEL - 2) {
            lines.push(format!("  {label:<LABEL$}{line}"));
            label = "";
        }
    }
}

/// A value with its string cut to a length that fits a terminal.
fn shortened(value: &str) -> String {
    let is_text = value.starts_with('"');
    if !is_text || value.chars().count() <= LONGEST {
        return value.to_owned();
    }
    let head: String = value.chars().take(LONGEST).collect();
    // No half of an escape.
    let head = head.trim_end_matches('\\');
    format!("{head}\"...")
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
