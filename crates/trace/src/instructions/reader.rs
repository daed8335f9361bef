//! Reads instruction traces.

use super::{
    CHUNK, CLASS, END, InstructionTrace, MAGIC, OBJECTS, THREAD, TraceEnding, TracedClass,
    TracedMethod, TracedObject, TracedThread, VERSION,
};

/// Why bytes are no instruction trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InstructionTraceError {
    /// Other bytes come first.
    #[error("not an instruction trace")]
    Magic,
    /// The file has another version.
    #[error("the instruction trace has version {found}, and this culprit reads {VERSION}")]
    Version {
        /// The version of the file.
        found: u16,
    },
    /// A section is not as it must be.
    #[error("the instruction trace is malformed at byte {at}")]
    Malformed {
        /// Where the section begins.
        at: usize,
    },
}

pub(super) fn read(bytes: &[u8]) -> Result<InstructionTrace, InstructionTraceError> {
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or(InstructionTraceError::Magic)?;
    let (version, mut rest) = rest
        .split_first_chunk()
        .ok_or(InstructionTraceError::Magic)?;
    let found = u16::from_le_bytes(*version);
    if found != VERSION {
        return Err(InstructionTraceError::Version { found });
    }
    let mut trace = InstructionTrace::default();
    let mut ended = false;
    while let Some((tag, content, after)) = section(rest) {
        let at = bytes.len() - rest.len();
        let malformed = InstructionTraceError::Malformed { at };
        take_section(&mut trace, tag, content, &mut ended).ok_or(malformed)?;
        rest = after;
    }
    if !ended || !rest.is_empty() {
        trace.ending.partial = Some("the file ends early".to_owned());
    }
    Ok(trace)
}

/// The tag and the content of the first section, and the bytes after it.
fn section(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (content, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((*tag, content, rest))
}

fn take_section(
    trace: &mut InstructionTrace,
    tag: u8,
    content: &[u8],
    ended: &mut bool,
) -> Option<()> {
    let mut cursor = Cursor(content);
    match tag {
        CLASS => trace.classes.push(class(&mut cursor)?),
        THREAD => trace.threads.push(TracedThread {
            object: cursor.number()?,
            words: Vec::new(),
        }),
        CHUNK => {
            let thread = trace.threads.last_mut()?;
            let words = cursor.take_all().chunks_exact(4);
            let words = words.map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
            thread.words.extend(words);
        }
        OBJECTS => objects(&mut cursor, &mut trace.objects)?,
        END => {
            trace.ending = ending(&mut cursor)?;
            *ended = true;
        }
        _ => return None,
    }
    cursor.0.is_empty().then_some(())
}

fn class(cursor: &mut Cursor<'_>) -> Option<TracedClass> {
    let bytes = cursor.bytes()?.to_vec();
    let mut methods = Vec::new();
    for _ in 0..cursor.number()? {
        methods.push(TracedMethod {
            index: cursor.short()?,
            first_block: cursor.number()?,
            blocks: cursor.shorts()?,
            reporting: cursor.shorts()?,
        });
    }
    Some(TracedClass { bytes, methods })
}

fn objects(cursor: &mut Cursor<'_>, into: &mut Vec<TracedObject>) -> Option<()> {
    let mut names = Vec::new();
    for _ in 0..cursor.number()? {
        names.push(cursor.text()?);
    }
    for _ in 0..cursor.number()? {
        // A long name that many objects share would be out of proportion to the file.
        let class = names.get(cursor.number()? as usize)?;
        if class.len() > LONGEST_NAME {
            return None;
        }
        into.push(TracedObject {
            class: class.clone(),
            text: cursor.option()?,
        });
    }
    Some(())
}

/// The longest name of a class that objects may have.
const LONGEST_NAME: usize = 1024;

fn ending(cursor: &mut Cursor<'_>) -> Option<TraceEnding> {
    let partial = cursor.option()?;
    let mut not_woven = Vec::new();
    for _ in 0..cursor.number()? {
        not_woven.push((cursor.text()?, cursor.text()?));
    }
    Some(TraceEnding { partial, not_woven })
}

/// The bytes of a section that are not read yet.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn take_all(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    fn number(&mut self) -> Option<u32> {
        let bytes = self.take(4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        let bytes = self.take(2)?;
        Some(u16::from_le_bytes(bytes.try_into().ok()?))
    }

    fn shorts(&mut self) -> Option<Vec<u16>> {
        let count = self.number()? as usize;
        let bytes = self.take(count.checked_mul(2)?)?;
        let shorts = bytes.chunks_exact(2);
        Some(
            shorts
                .map(|it| u16::from_le_bytes([it[0], it[1]]))
                .collect(),
        )
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length as usize)
    }

    fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    fn option(&mut self) -> Option<Option<String>> {
        let [is_some] = self.take(1)? else {
            return None;
        };
        let text = self.text()?;
        Some((*is_some == 1).then_some(text))
    }
}
