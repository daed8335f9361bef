//! The lines of the steps, both ways. A line that says nothing of thread and depth goes on where
//! the line before it left off; who writes and who reads keep the same account of that.

use std::collections::BTreeMap;

use super::cursor::{Cursor, Wrong};
use super::names::{CONSTRUCTOR, Lookup, ScenarioNames, label};
use super::word;
use crate::scenario::{Step, Tables};
use crate::{EventIndex, EventKind, SiteId, ThreadId};

/// Deeper steps are not indented further.
const DEEPEST: u32 = 24;

/// Signs of the kinds; of two that start alike, the longer one first.
const SIGNS: [(EventKind, &str); 19] = [
    (EventKind::IncomingRead, "=> get"),
    (EventKind::IncomingWrite, "=> set"),
    (EventKind::IncomingCall, "=>"),
    (EventKind::IncomingThrow, "<=!"),
    (EventKind::IncomingReturn, "<="),
    (EventKind::ArrayRead, "-> get[]"),
    (EventKind::ArrayWrite, "-> set[]"),
    (EventKind::OutgoingRead, "-> get"),
    (EventKind::OutgoingWrite, "-> set"),
    (EventKind::OutgoingCall, "->"),
    (EventKind::OutgoingThrow, "<-!"),
    (EventKind::OutgoingReturn, "<-"),
    (EventKind::ArrayContents, "== array"),
    (EventKind::Constructed, "== this"),
    (EventKind::IdentityHash, "== hash"),
    (EventKind::ObjectState, "== state"),
    (EventKind::Held, "== held"),
    (EventKind::Born, "== born"),
    (EventKind::Apart, "== apart"),
];

fn sign(kind: EventKind) -> &'static str {
    let known = SIGNS.iter().find(|(other, _)| *other == kind);
    known.map_or("", |(_, sign)| *sign)
}

/// What a line need not say.
#[derive(Debug, Default)]
pub(crate) struct Account {
    thread: ThreadId,
    /// Open calls of each thread.
    depths: BTreeMap<ThreadId, u32>,
}

impl Account {
    pub(crate) fn of(tables: &Tables) -> Account {
        Account {
            thread: tables
                .threads
                .first()
                .map(|(id, _)| *id)
                .unwrap_or_default(),
            depths: BTreeMap::new(),
        }
    }

    fn depth(&self, thread: ThreadId) -> u32 {
        self.depths.get(&thread).copied().unwrap_or_default()
    }

    /// Takes note of a step; whether its thread and its depth went without saying.
    fn note(&mut self, step: &Step) -> (bool, bool) {
        let as_before = (
            self.thread == step.thread,
            self.depth(step.thread) == step.depth,
        );
        self.thread = step.thread;
        let depth = match step.kind {
            kind if kind.opens() => step.depth.saturating_add(1),
            kind if kind.closes() => step.depth.saturating_sub(1),
            _ => step.depth,
        };
        self.depths.insert(step.thread, depth);
        as_before
    }
}

/// How wide the columns in front of the steps are; 0 leaves one out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Columns {
    pub(crate) origin: usize,
    pub(crate) thread: usize,
}

impl ScenarioNames {
    /// Appends the line of a step.
    pub(crate) fn write_step(
        &self,
        step: &Step,
        columns: Columns,
        account: &mut Account,
        out: &mut String,
    ) {
        match step.origin {
            Some(EventIndex(origin)) => out.push_str(&format!("{origin:>0$} ", columns.origin)),
            None if columns.origin > 0 => out.push_str(&format!("{:1$} ", "", columns.origin)),
            None => {}
        }
        let (thread_as_before, depth_as_before) = account.note(step);
        if columns.thread > 0 || !thread_as_before {
            let thread = step.thread.to_string();
            out.push_str(&format!("{thread:<0$} ", columns.thread));
        }
        if !depth_as_before {
            out.push_str(&format!("depth {} ", step.depth));
        }
        // The end of a call stands below its beginning.
        let ends = u32::from(step.kind.closes());
        let indent = 2 * step.depth.saturating_sub(ends).min(DEEPEST) as usize;
        out.push_str(&format!("{:indent$}{} ", "", sign(step.kind)));
        if !sign(step.kind).starts_with("==")
            && let Some(label) = self.labels(step.site).first()
        {
            out.push_str(label);
        }
        out.push_str(&format!("@{}", step.site.0));
        self.write_values(step, out);
    }

    fn write_values(&self, step: &Step, out: &mut String) {
        let values = step.values.as_slice();
        let has_receiver = match step.kind {
            kind if kind.opens() => {
                let site = self.site(step.site);
                !values.is_empty() && site.is_some_and(|site| site.has_receiver())
            }
            _ => values.len() > 1,
        };
        let (receiver, rest) = values.split_at(usize::from(has_receiver));
        let has_result = !step.kind.opens() && !rest.is_empty();
        let (arguments, result) = rest.split_at(rest.len() - usize::from(has_result));
        if step.kind.opens() || !arguments.is_empty() {
            out.push('(');
            self.write_all(arguments, out);
            out.push(')');
        }
        for (word, value) in [(" on ", receiver), (" = ", result)] {
            if !value.is_empty() {
                out.push_str(word);
                self.write_all(value, out);
            }
        }
    }

    /// Reads the line of a step.
    pub(crate) fn read_step(
        &self,
        cursor: &mut Cursor<'_>,
        account: &mut Account,
    ) -> Result<Step, Wrong> {
        cursor.space();
        let mut origin = None;
        if cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
            origin = Some(EventIndex(cursor.number("the number of an event")?));
            cursor.space();
        }
        let mut thread = account.thread;
        let mut ahead = cursor.rest().chars();
        if ahead.next() == Some('t') && ahead.next().is_some_and(|c| c.is_ascii_digit()) {
            cursor.eat("t");
            thread = ThreadId(cursor.number("the number of a thread")?);
        }
        let mut depth = account.depth(thread);
        if cursor.eat_word("depth") {
            depth = cursor.number("a number of calls")?;
        }
        let kind = read_sign(cursor)?;
        let site = self.read_site(cursor, kind)?;
        let arguments = match cursor.eat_next("(") {
            true => self.read_all(cursor, ")")?,
            false => Vec::new(),
        };
        let mut values = Vec::new();
        if cursor.eat_word("on") {
            values.push(self.read(cursor)?);
        }
        values.extend(arguments);
        if cursor.eat_next("=") {
            values.push(self.read(cursor)?);
        }
        cursor.expect_end("arguments in brackets, `on`, `=` or the end of the line")?;
        let step = Step {
            thread,
            kind,
            site,
            values,
            depth,
            origin,
        };
        account.note(&step);
        Ok(step)
    }

    /// A site: its number, a name that only one site has, or both.
    fn read_site(&self, cursor: &mut Cursor<'_>, kind: EventKind) -> Result<SiteId, Wrong> {
        cursor.space();
        let start = cursor.at;
        let name = match cursor.peek() {
            Some('@') => None,
            _ => Some(read_label(cursor)?),
        };
        if !cursor.eat("@") {
            let name = name.unwrap_or_default();
            return match self.find_site(&name, kind) {
                Lookup::One(id) => Ok(id),
                Lookup::None => cursor.wrong_at(start, "a site of the table above"),
                Lookup::Several => {
                    cursor.wrong(format!("`@` and a number: several sites are {name}"))
                }
            };
        }
        let id = SiteId(cursor.number("the number of a site")?);
        match name {
            Some(name) if !self.labels(id).contains(&name) => {
                let known = self.labels(id).first().map_or("nothing", String::as_str);
                cursor.wrong_at(start, format!("the name of {id}, which is {known}"))
            }
            _ => Ok(id),
        }
    }
}

/// A kind by its sign. A sign of two words is one only if room follows it: a class may be called
/// `get`.
fn read_sign(cursor: &mut Cursor<'_>) -> Result<EventKind, Wrong> {
    let found = SIGNS.iter().find(|(_, sign)| match sign.contains(' ') {
        true => cursor.eat_word(sign),
        false => cursor.eat_next(sign),
    });
    match found {
        Some((kind, _)) => Ok(*kind),
        None => {
            cursor.space();
            cursor.wrong("a step, which starts with one of => <= <=! -> <- <-! ==")
        }
    }
}

fn read_label(cursor: &mut Cursor<'_>) -> Result<String, Wrong> {
    if cursor.eat_word("new") {
        return Ok(label(&word::class(&word::read_class(cursor)?), CONSTRUCTOR));
    }
    let owner = match word::read_class(cursor) {
        Ok(owner) => word::class(&owner),
        Err(wrong) => return cursor.wrong_at(wrong.at, "a site: Name.member, `new` Name, or @1"),
    };
    if !cursor.eat(".") {
        return cursor.wrong("`.` and the name of a member");
    }
    let name = word::read_word(cursor, "the name of a member")?;
    Ok(label(&owner, &name))
}
