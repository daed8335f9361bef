//! Outcomes of runs.

use culprit_model::{Divergence, Got, Outcome, ThreadId};

use crate::WireError;
use crate::codec::{Cursor, Put, Result};
use crate::step::{kind, put_step, step};
use crate::tables::{put_site, site};

const IN_SYNC: u8 = 1;
const DIVERGED: u8 = 2;
const UNSUPPORTED: u8 = 3;
const STOPPED: u8 = 4;
const DIFFERED: u8 = 5;
const THREW: u8 = 6;

pub(crate) fn put_outcome(out: &mut Vec<u8>, outcome: &Outcome) {
    match outcome {
        Outcome::InSync { steps, open_calls } => {
            out.put_u8(IN_SYNC);
            out.put_varint(*steps);
            out.put_varint(u64::from(*open_calls));
        }
        Outcome::Diverged(divergence) => {
            out.put_u8(DIVERGED);
            put_divergence(out, divergence);
        }
        Outcome::Differed {
            steps,
            differences,
            complete,
        } => {
            out.put_u8(DIFFERED);
            out.put_varint(*steps);
            out.put_list(differences, put_divergence);
            out.put_bool(*complete);
        }
        Outcome::Threw { at, trace } => {
            out.put_u8(THREW);
            out.put_varint(*at);
            out.put_str(trace);
        }
        Outcome::Unsupported(why) => {
            out.put_u8(UNSUPPORTED);
            out.put_str(why);
        }
        Outcome::Stopped => out.put_u8(STOPPED),
    }
}

pub(crate) fn outcome(cursor: &mut Cursor<'_>) -> Result<Outcome> {
    Ok(match cursor.u8()? {
        IN_SYNC => Outcome::InSync {
            steps: cursor.varint()?,
            open_calls: cursor.varint_u32()?,
        },
        DIVERGED => Outcome::Diverged(Box::new(divergence(cursor)?)),
        DIFFERED => Outcome::Differed {
            steps: cursor.varint()?,
            differences: cursor.list(divergence)?,
            complete: cursor.bool()?,
        },
        THREW => Outcome::Threw {
            at: cursor.varint()?,
            trace: cursor.string()?,
        },
        UNSUPPORTED => Outcome::Unsupported(cursor.string()?),
        STOPPED => Outcome::Stopped,
        _ => return Err(WireError::Malformed("a known outcome")),
    })
}

fn put_divergence(out: &mut Vec<u8>, divergence: &Divergence) {
    out.put_varint(divergence.at);
    out.put_option(divergence.expected.as_ref(), put_step);
    out.put_option(divergence.got.as_ref(), put_got);
    out.put_varint(u64::from(divergence.thread.0));
    out.put_str(&divergence.why);
    out.put_list(&divergence.path, |out, call| out.put_str(call));
}

fn divergence(cursor: &mut Cursor<'_>) -> Result<Divergence> {
    Ok(Divergence {
        at: cursor.varint()?,
        expected: cursor.option(step)?,
        got: cursor.option(got)?,
        thread: ThreadId(cursor.varint_u32()?),
        why: cursor.string()?,
        path: cursor.list(Cursor::string)?,
    })
}

fn put_got(out: &mut Vec<u8>, got: &Got) {
    out.put_u8(got.kind as u8);
    put_site(out, &got.site);
    out.put_list(&got.values, |out, value| out.put_str(value));
}

fn got(cursor: &mut Cursor<'_>) -> Result<Got> {
    Ok(Got {
        kind: kind(cursor)?,
        site: site(cursor)?,
        values: cursor.list(Cursor::string)?,
    })
}
