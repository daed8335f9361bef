//! Steps of a scenario.

use culprit_model::{EventIndex, EventKind, SiteId, Step, ThreadId};

use crate::WireError;
use crate::codec::{Cursor, Put, Result};
use crate::value::{put_value, value};

pub(crate) fn put_step(out: &mut Vec<u8>, step: &Step) {
    out.put_u8(step.kind as u8);
    out.put_varint(u64::from(step.thread.0));
    out.put_varint(u64::from(step.site.0));
    out.put_varint(u64::from(step.depth));
    out.put_option(step.origin, |out, origin| out.put_varint(origin.0));
    out.put_list(&step.values, put_value);
}

pub(crate) fn step(cursor: &mut Cursor<'_>) -> Result<Step> {
    let kind = kind(cursor)?;
    Ok(Step {
        thread: ThreadId(cursor.varint_u32()?),
        kind,
        site: SiteId(cursor.varint_u32()?),
        depth: cursor.varint_u32()?,
        origin: cursor.option(|cursor| cursor.varint().map(EventIndex))?,
        values: cursor.list(value)?,
    })
}

pub(crate) fn kind(cursor: &mut Cursor<'_>) -> Result<EventKind> {
    EventKind::from_code(cursor.u8()?).ok_or(WireError::Malformed("a known kind of step"))
}
