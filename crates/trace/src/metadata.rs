//! The metadata of a recording: everything but the events themselves, and how each entry is laid
//! out. Entries may grow at their end in later minor versions, so decoding ignores what is left.

use culprit_model::site::TypeDef;
use culprit_model::{
    BlobId, Catcher, Caught, Failure, FailureKind, Losses, Member, ObjectId, Site, SiteId,
    SiteKind, ThreadId, TypeId,
};

use sha2::{Digest, Sha256};

use crate::Numbered;
use crate::codec::{Cursor, Malformed, Put};

/// The name of the note in [`Start`] that has the salt of immutable collections.
pub const SALT_NOTE: &str = "salt of immutable collections";

/// The facts known when a recording starts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Start {
    /// Version of Culprit that wrote the recording.
    pub culprit: String,
    /// Process id of the JVM.
    pub pid: u32,
    /// Start of the recording, in milliseconds since 1970 (UTC).
    pub started_ms: u64,
    /// The exact command of the JVM.
    pub command: Vec<String>,
    /// Folder it was started in.
    pub directory: String,
    /// Name of the JVM (`java.vm.name`).
    pub jvm_name: String,
    /// Version of the JVM (`java.vm.version`).
    pub jvm_version: String,
    /// Vendor of the JVM (`java.vm.vendor`).
    pub jvm_vendor: String,
    /// Flags given to the JVM.
    pub jvm_flags: Vec<String>,
    /// System properties.
    pub properties: Vec<(String, String)>,
    /// The agent's options, as `AgentOptions` prints them.
    pub options: String,
    /// Anything else worth keeping, by name.
    pub notes: Vec<(String, String)>,
}

impl Start {
    /// The note of the time zone that the JVM found in its surroundings, as `TZ` has it.
    pub const TIME_ZONE: &str = "time zone";

    /// The note of the class path in the manifest of the jar that is all of the class path. Build tools
    /// remove such jars.
    pub const CLASS_PATH: &str = "class path of the jar";

    /// The SHA-256 of all that is said here, whether the recording is in one piece or not.
    pub fn digest(&self) -> [u8; 32] {
        let mut bytes = Vec::new();
        self.whole().encode(&mut bytes);
        Sha256::digest(bytes).into()
    }
}

/// A class loader of the subject. Loader 0 is the boot loader and needs no definition.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LoaderDef {
    /// Number of the loader in this recording.
    pub id: u32,
    /// Its class, as an internal name.
    pub class: String,
    /// Its name, if it has one.
    pub name: Option<String>,
}

/// A thread of the subject.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadDef {
    /// Number of the thread in this recording.
    pub id: ThreadId,
    /// Name when the thread had its first event.
    pub name: String,
    /// `Thread.getId()`.
    pub java_id: u64,
    /// True if it is a virtual thread.
    pub is_virtual: bool,
}

/// A class of the subject with its original bytes, as given to the writer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClassDef<'a> {
    /// Internal name.
    pub name: &'a str,
    /// Number of its defining loader.
    pub loader: u32,
    /// Its origin: the URL of its code source, if it has one.
    pub origin: Option<&'a str>,
    /// True if it belongs to the observed set.
    pub observed: bool,
    /// True if it was woven ahead of time, by `culprit instrument`.
    pub ahead: bool,
    /// True if `bytes` are an outline: the class file without code.
    pub outline: bool,
    /// The class file as it was before weaving.
    pub bytes: &'a [u8],
}

/// The kind of the bytes of a blob.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum BlobKind {
    /// A string, as UTF-16 code units, little endian.
    Text = 1,
    /// Elements of a primitive array, little endian.
    Elements = 2,
}

impl BlobKind {
    pub(crate) fn from_code(code: u8) -> Result<BlobKind, Malformed> {
        match code {
            1 => Ok(BlobKind::Text),
            2 => Ok(BlobKind::Elements),
            _ => Err(Malformed("a known kind of blob")),
        }
    }
}

/// Why a recording ended in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum EndReason {
    /// The JVM ended.
    JvmEnded = 1,
    /// Capture stopped while the program went on; the losses say why.
    Stopped = 2,
}

/// The end of a recording, as given to the writer, which adds the totals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ending {
    /// Why.
    pub reason: EndReason,
    /// Exit status of the JVM, where known.
    pub exit_status: Option<i32>,
    /// Milliseconds since the start.
    pub duration_ms: u64,
}

/// The end of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    /// Why.
    pub reason: EndReason,
    /// Exit status of the JVM, where known.
    pub exit_status: Option<i32>,
    /// Milliseconds since the start.
    pub duration_ms: u64,
    /// Events written.
    pub events: u64,
    /// Bytes of the file before the end block.
    pub bytes: u64,
}

/// The layout of one metadata entry.
pub(crate) trait MetadataEntry: Sized {
    fn encode(&self, out: &mut Vec<u8>);
    fn decode(cursor: &mut Cursor<'_>) -> Result<Self, Malformed>;
}

fn put_list<T>(out: &mut Vec<u8>, items: &[T], mut put: impl FnMut(&mut Vec<u8>, &T)) {
    out.put_varint(items.len() as u64);
    for item in items {
        put(out, item);
    }
}

fn put_pairs(out: &mut Vec<u8>, pairs: &[(String, String)]) {
    put_list(out, pairs, |out, (key, value)| {
        out.put_str(key);
        out.put_str(value);
    });
}

fn pairs(cursor: &mut Cursor<'_>) -> Result<Vec<(String, String)>, Malformed> {
    cursor.list(|c| Ok((c.string()?, c.string()?)))
}

impl MetadataEntry for Start {
    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16(crate::FormatVersion::MINOR);
        out.put_str(&self.culprit);
        out.put_varint(self.pid.into());
        out.put_varint(self.started_ms);
        put_list(out, &self.command, |out, s| out.put_str(s));
        out.put_str(&self.directory);
        out.put_str(&self.jvm_name);
        out.put_str(&self.jvm_version);
        out.put_str(&self.jvm_vendor);
        put_list(out, &self.jvm_flags, |out, s| out.put_str(s));
        put_pairs(out, &self.properties);
        out.put_str(&self.options);
        put_pairs(out, &self.notes);
    }

    fn decode(cursor: &mut Cursor<'_>) -> Result<Start, Malformed> {
        let _minor = cursor.u16()?;
        Ok(Start {
            culprit: cursor.string()?,
            pid: cursor.varint_u32()?,
            started_ms: cursor.varint()?,
            command: cursor.list(Cursor::string)?,
            directory: cursor.string()?,
            jvm_name: cursor.string()?,
            jvm_version: cursor.string()?,
            jvm_vendor: cursor.string()?,
            jvm_flags: cursor.list(Cursor::string)?,
            properties: pairs(cursor)?,
            options: cursor.string()?,
            notes: pairs(cursor)?,
        })
    }
}

impl MetadataEntry for LoaderDef {
    fn encode(&self, out: &mut Vec<u8>) {
        out.put_varint(self.id.into());
        out.put_str(&self.class);
        out.put_optional_str(self.name.as_deref());
    }

    fn decode(cursor: &mut Cursor<'_>) -> Result<LoaderDef, Malformed> {
        Ok(LoaderDef {
            id: cursor.varint_u32()?,
            class: cursor.string()?,
            name: cursor.optional_string()?,
        })
    }
}

impl MetadataEntry for TypeDef {
    fn encode(&self, out: &mut Vec<u8>) {
        out.put_varint(self.id.0.into());
        out.put_str(&self.name);
        out.put_varint(self.loader.into());
        put_list(out, &self.constants, |out, s| out.put_str(s));
        // Most types have none.
        if !self.fields.is_empty() {
            put_list(out, &self.fields, |out, field| {
                out.put_str(&field.owner);
                out.put_str(&field.name);
                out.put_str(&field.descriptor);
            });
        }
    }

    fn decode(cursor: &mut Cursor<'_>) -> Result<TypeDef, Malformed> {
        Ok(TypeDef {
            id: TypeId(cursor.varint_u32()?),
            name: cursor.string()?,
            loader: cursor.varint_u32()?,
            constants: cursor.list(Cursor::string)?,
            fields: match cursor.is_empty() {
                true => Vec::new(),
                false => cursor.list(|c| {
                    Ok(Member {
                        owner: c.string()?,
                        name: c.string()?,
                        descriptor: c.string()?,
                    })
                })?,
            },
        })
    }
}

fn site_kind_code(kind: SiteKind) -> u8 {
    match kind {
        SiteKind::Entry => 1,
        SiteKind::Call => 2,
        SiteKind::Callee => 3,
        SiteKind::Field => 4,
        SiteKind::Array => 5,
    }
}

fn site_kind(code: u8) -> Result<SiteKind, Malformed> {
    Ok(match code {
        1 => SiteKind::Entry,
        2 => SiteKind::Call,
        3 => SiteKind::Callee,
        4 => SiteKind::Field,
        5 => SiteKind::Array,
        _ => return Err(Malformed("a known kind of site")),
    })
}

const SITE_STATIC: u8 = 1;
const SITE_HAS_LINE: u8 = 2;
const SITE_HAS_SOURCE: u8 = 4;

impl MetadataEntry for Site {
    fn encode(&self, out: &mut Vec<u8>) {
        out.put_varint(self.id.0.into());
        out.put_u8(site_kind_code(self.kind));
        let is_static = if self.is_static { SITE_STATIC } else { 0 };
        let has_line = self.line.map_or(0, |_| SITE_HAS_LINE);
        let has_source = self.source.as_ref().map_or(0, |_| SITE_HAS_SOURCE);
        out.put_u8(is_static | has_line | has_source);
        out.put_varint(self.line.unwrap_or(0).into());
        for text in [
            &self.class,
            &self.method,
            &self.descriptor,
            &self.target.owner,
            &self.target.name,
            &self.target.descriptor,
        ] {
            out.put_str(text);
        }
        if let Some(source) = &self.source {
            out.put_str(source);
        }
    }

    fn decode(cursor: &mut Cursor<'_>) -> Result<Site, Malformed> {
        let id = SiteId(cursor.varint_u32()?);
        let kind = site_kind(cursor.u8()?)?;
        let flags = cursor.u8()?;
        let line = u16::try_from(cursor.varint()?).map_err(|_| Malformed("a 16-bit line"))?;
        Ok(Site {
            id,
            kind,
            class: cursor.string()?,
            method: cursor.string()?,
            descriptor: cursor.string()?,
            line: (flags & SITE_HAS_LINE != 0).then_some(line),
            target: Member {
                owner: cursor.string()?,
                name: cursor.string()?,
                descriptor: cursor.string()?,
            },
            is_static: flags & SITE_STATIC != 0,
            source: match flags & SITE_HAS_SOURCE {
                0 => None,
                _ => Some(cursor.string()?),
            },
        })
    }
}

impl MetadataEntry for ThreadDef {
    fn encode(&self, out: &mut Vec<u8>) {
        out.put_varint(self.id.0.into());
        out.put_str(&self.name);
        out.put_varint(self.java_id);
        out.put_u8(u8::from(self.is_virtual));
    }

    fn decode(cursor: &mut Cursor<'_>) -> Result<ThreadDef, Malformed> {
        Ok(ThreadDef {
            id: ThreadId(cursor.varint_u32()?),
            name: cursor.string()?,
            java_id: cursor.varint()?,
            is_virtual: cursor.u8()? != 0,
        })
    }
}

/// A class block up to its bytes, which the reader leaves in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ClassHead {
    pub(crate) name: String,
    pub(crate) loader: u32,
    pub(crate) origin: Option<String>,
    pub(crate) observed: bool,
    pub(crate) ahead: bool,
    pub(crate) outline: bool,
    pub(crate) sha256: [u8; 32],
    pub(crate) length: u32,
}

const CLASS_OBSERVED: u8 = 1;
const CLASS_AHEAD: u8 = 2;
const CLASS_OUTLINE: u8 = 4;

pub(crate) fn encode_class(class: &ClassDef<'_>, sha256: &[u8], out: &mut Vec<u8>) {
    out.put_str(class.name);
    out.put_varint(class.loader.into());
    out.put_optional_str(class.origin);
    let flags = [
        (class.observed, CLASS_OBSERVED),
        (class.ahead, CLASS_AHEAD),
        (class.outline, CLASS_OUTLINE),
    ];
    let set = flags.iter().filter(|(set, _)| *set);
    out.put_u8(set.fold(0, |flags, (_, flag)| flags | flag));
    out.put(sha256);
    out.put_bytes(class.bytes);
}

/// Decodes a class block; the second value is its class file.
pub(crate) fn decode_class<'a>(
    cursor: &mut Cursor<'a>,
) -> Result<(ClassHead, &'a [u8]), Malformed> {
    let name = cursor.string()?;
    let loader = cursor.varint_u32()?;
    let origin = cursor.optional_string()?;
    let flags = cursor.u8()?;
    let mut sha256 = [0; 32];
    sha256.copy_from_slice(cursor.take(32)?);
    let bytes = cursor.bytes()?;
    let head = ClassHead {
        name,
        loader,
        origin,
        observed: flags & CLASS_OBSERVED != 0,
        ahead: flags & CLASS_AHEAD != 0,
        outline: flags & CLASS_OUTLINE != 0,
        sha256,
        length: bytes.len() as u32,
    };
    Ok((head, bytes))
}

pub(crate) fn encode_blob(id: BlobId, kind: BlobKind, bytes: &[u8], out: &mut Vec<u8>) {
    out.put_varint(id.0.into());
    out.put_u8(kind as u8);
    out.put_bytes(bytes);
}

pub(crate) fn decode_blob<'a>(
    cursor: &mut Cursor<'a>,
) -> Result<(BlobId, BlobKind, &'a [u8]), Malformed> {
    let id = BlobId(cursor.varint_u32()?);
    let kind = BlobKind::from_code(cursor.u8()?)?;
    Ok((id, kind, cursor.bytes()?))
}

impl MetadataEntry for Failure {
    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.kind as u8);
        out.put_varint(self.thread.0.into());
        out.put_str(&self.place);
        out.put_str(&self.class);
        out.put_optional_str(self.message.as_deref());
        out.put_str(&self.stack);
        put_list(out, &self.exceptions, |out, id| out.put_varint(id.0));
    }

    fn decode(cursor: &mut Cursor<'_>) -> Result<Failure, Malformed> {
        Ok(Failure {
            kind: match cursor.u8()? {
                1 => FailureKind::Uncaught,
                2 => FailureKind::Test,
                3 => FailureKind::Caught,
                _ => return Err(Malformed("a known kind of failure")),
            },
            thread: ThreadId(cursor.varint_u32()?),
            place: cursor.string()?,
            class: cursor.string()?,
            message: cursor.optional_string()?,
            stack: cursor.string()?,
            exceptions: cursor.list(|c| c.varint().map(ObjectId))?,
        })
    }
}

impl MetadataEntry for Caught {
    fn encode(&self, out: &mut Vec<u8>) {
        out.put_varint(self.number.into());
        out.put_u8(self.catcher as u8);
        out.put_varint(self.printed);
        out.put_varint(self.count);
        out.put_varint(self.ordinal);
        self.failure.encode(out);
    }

    fn decode(cursor: &mut Cursor<'_>) -> Result<Caught, Malformed> {
        Ok(Caught {
            number: cursor.varint_u32()?,
            catcher: match cursor.u8()? {
                1 => Catcher::Program,
                2 => Catcher::Outside,
                3 => Catcher::Test,
                4 => Catcher::Unknown,
                _ => return Err(Malformed("a known catcher")),
            },
            printed: cursor.varint()?,
            count: cursor.varint()?,
            ordinal: cursor.varint()?,
            failure: Failure::decode(cursor)?,
        })
    }
}

impl MetadataEntry for Losses {
    fn encode(&self, out: &mut Vec<u8>) {
        put_list(out, &self.counts, |out, (name, count)| {
            out.put_str(name);
            out.put_varint(*count);
        });
        put_pairs(out, &self.not_woven);
        out.put_optional_str(self.stopped.as_deref());
    }

    fn decode(cursor: &mut Cursor<'_>) -> Result<Losses, Malformed> {
        Ok(Losses {
            counts: cursor.list(|c| Ok((c.string()?, c.varint()?)))?,
            not_woven: pairs(cursor)?,
            stopped: cursor.optional_string()?,
        })
    }
}

impl MetadataEntry for End {
    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.reason as u8);
        out.put_u8(u8::from(self.exit_status.is_some()));
        out.put_u32(self.exit_status.unwrap_or(0) as u32);
        out.put_varint(self.duration_ms);
        out.put_varint(self.events);
        out.put_varint(self.bytes);
    }

    fn decode(cursor: &mut Cursor<'_>) -> Result<End, Malformed> {
        let reason = match cursor.u8()? {
            1 => EndReason::JvmEnded,
            2 => EndReason::Stopped,
            _ => return Err(Malformed("a known reason for the end")),
        };
        let known = cursor.u8()? != 0;
        let status = cursor.u32()? as i32;
        Ok(End {
            reason,
            exit_status: known.then_some(status),
            duration_ms: cursor.varint()?,
            events: cursor.varint()?,
            bytes: cursor.varint()?,
        })
    }
}
impl Numbered for ThreadDef {
    fn number(&self) -> u32 {
        self.id.0
    }
}

impl Numbered for LoaderDef {
    fn number(&self) -> u32 {
        self.id
    }
}
