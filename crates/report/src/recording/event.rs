//! Events as lines of text, in the notation that `culprit show --help` explains, or as JSON.

use std::io::Write;

use culprit_model::{Event, EventKind, Failure, Site, Value, clean};
use culprit_trace::{Gap, GapReason, Recording};

use super::documents;
use super::filter::{Filter, Found, Printed, each};
use super::throws::{Throws, line_of};
use super::value::{self, Detail};
use crate::markup::json_line;
use crate::style::Styles;
use crate::{figure, place};

/// Deeper events are not indented further.
const DEEPEST: u32 = 24;

/// Prints events of one recording.
pub struct EventPrinter<'r> {
    /// The recording.
    pub recording: &'r Recording,
    /// The length of values.
    pub detail: Detail,
    /// The styles of the output.
    pub styles: Styles,
}

impl EventPrinter<'_> {
    /// Prints a line for each event that passes the filter.
    pub fn lines(&self, filter: &Filter, out: &mut dyn Write) -> Printed {
        let width = self.recording.event_count().max(1).ilog10() as usize + 1;
        let threads = self.recording.thread_event_counts();
        let last = threads.keys().next_back().map_or(0, |thread| thread.0);
        let names = last.max(1).ilog10() as usize + 2;
        let throws = Throws::of(self.recording);
        each(self.recording, filter, |found| {
            let dim = self.styles.dim;
            match found {
                Found::Event(event, site) => {
                    let exception = throws.exception(&event);
                    let what = self.describe(&event, site);
                    let message = exception.and_then(|thrown| thrown.message.as_deref());
                    let what = match message {
                        Some(message) => format!("{what} \"{message}\""),
                        None => what,
                    };
                    let at = source(&event, site, exception);
                    let (what, at) = (clean::line(&what), clean::line(&at));
                    let line = format!("{what}   {at}");
                    if !filter.passes_text(&line) {
                        return Ok(());
                    }
                    let indent = 2 * shown_depth(&event).min(DEEPEST) as usize;
                    let (index, thread) = (event.index.0, event.thread.to_string());
                    writeln!(
                        out,
                        "{index:>width$} {thread:<names$} {:indent$}{what}   {dim}{at}{dim:#}",
                        ""
                    )
                }
                Found::Gap(gap) => writeln!(
                    out,
                    "{:>width$} {:<names$} {warn}... {} {}{warn:#}",
                    "",
                    gap.thread.to_string(),
                    figure::counted(gap.count, "event"),
                    missing(&gap),
                    warn = self.styles.warn
                ),
            }
        })
    }

    /// Prints a JSON object on one line for each event that passes the filter.
    pub fn json_lines(&self, filter: &Filter, out: &mut dyn Write) -> Printed {
        let throws = Throws::of(self.recording);
        each(self.recording, filter, |found| {
            let line = match found {
                Found::Event(event, site) => {
                    if filter.text.is_some() && !filter.passes_text(&self.describe(&event, site)) {
                        return Ok(());
                    }
                    let exception = throws.exception(&event);
                    let document = documents::event(&event, site, self.recording);
                    json_line(&documents::with_exception(document, exception))
                }
                Found::Gap(gap) => json_line(&documents::gap(&gap)),
            };
            writeln!(out, "{line}")
        })
    }

    /// The event without its number, its thread and its place.
    pub(crate) fn describe(&self, event: &Event, site: &Site) -> String {
        let values: Vec<String> = event.values.iter().map(|v| self.text(v)).collect();
        describe(event.kind, site, &values)
    }

    /// A value as text.
    pub(crate) fn text(&self, value: &Value) -> String {
        value::text(value, self.recording, self.detail)
    }
}

/// The place of an event in the source. A call that an exception ends has the line that threw it: where its code
/// begins says nothing.
fn source(event: &Event, site: &Site, exception: Option<&Failure>) -> String {
    let frame = exception.and_then(Failure::throw_site);
    match (frame.and_then(line_of), event.kind) {
        (Some(line), _) => line.to_owned(),
        (None, EventKind::IncomingThrow) => place::source(&Site {
            line: None,
            ..site.clone()
        }),
        _ => place::source(site),
    }
}

/// An event whose values are texts already, without its number, its thread and its place.
pub(crate) fn describe(kind: EventKind, site: &Site, values: &[String]) -> String {
    let target = &site.target;
    let full = || member(site, &place::dotted(&target.owner));
    let short = || member(site, place::simple(&target.owner));
    let last = values.last().cloned().unwrap_or_default();
    let access = |verb: &str| match values {
        [owner, value] => format!("{verb} {} of {owner} = {value}", full()),
        _ => format!("{verb} {} = {last}", full()),
    };
    let element = |verb: &str| match values {
        [array, index, value] => format!("{verb} {array} [{index}] = {value}"),
        _ => verb.to_owned(),
    };
    let returned = || match values {
        [] => short(),
        _ => format!("{} = {last}", short()),
    };
    match kind {
        EventKind::IncomingCall => format!("=> {}", call(&full(), site, values)),
        EventKind::OutgoingCall => format!("-> {}", call(&full(), site, values)),
        EventKind::IncomingReturn => format!("<= {}", returned()),
        EventKind::OutgoingReturn => format!("<- {}", returned()),
        EventKind::IncomingThrow => format!("<=! {} threw {last}", short()),
        EventKind::OutgoingThrow => format!("<-! {} threw {last}", short()),
        EventKind::OutgoingRead => access("-> get"),
        EventKind::OutgoingWrite => access("-> set"),
        EventKind::IncomingRead => access("=> get"),
        EventKind::IncomingWrite => access("=> set"),
        EventKind::ArrayRead => element("-> get"),
        EventKind::ArrayWrite => element("-> set"),
        EventKind::ArrayContents => format!("== {last}"),
        EventKind::Constructed => format!("== new {last}"),
        EventKind::IdentityHash => match values {
            [object, hash] => format!("== hash of {object} is {hash}"),
            _ => "== hash".to_owned(),
        },
        EventKind::ObjectState => match values.split_first() {
            Some((object, pieces)) => format!("== state of {object} is {}", value::state(pieces)),
            None => "== state".to_owned(),
        },
        EventKind::Held => format!("== goes out with it: {}", values.join(", ")),
        EventKind::Apart => match values {
            [string, _] => format!("== {string} is compared with another that is equal"),
            _ => "== apart".to_owned(),
        },
        EventKind::Born => match values {
            [object, thread, number] => {
                format!("== {object} is what thread {thread} made as number {number}")
            }
            _ => "== born".to_owned(),
        },
    }
}

fn call(name: &str, site: &Site, values: &[String]) -> String {
    let (receiver, arguments) = match values.split_first() {
        Some((receiver, arguments)) if site.has_receiver() => (Some(receiver), arguments),
        _ => (None, values),
    };
    let arguments = arguments.join(", ");
    match receiver {
        Some(receiver) => format!("{name}({arguments}) on {receiver}"),
        None => format!("{name}({arguments})"),
    }
}

fn member(site: &Site, owner: &str) -> String {
    if owner.is_empty() {
        site.target.name.clone()
    } else if site.is_constructor() {
        format!("new {owner}")
    } else {
        format!("{owner}.{}", site.target.name)
    }
}

/// The reason why events are missing.
pub(super) fn missing(gap: &Gap) -> &'static str {
    match gap.reason {
        GapReason::Forgotten => "forgotten here (--last)",
        GapReason::Unknown(_) => "lost here",
    }
}

/// The end of a call stands below its beginning.
fn shown_depth(event: &Event) -> u32 {
    event.depth.saturating_sub(event.kind.closes().into())
}
