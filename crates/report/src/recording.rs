//! The output of `culprit show`: the summary of a recording, the recordings of a run folder, and events, one a line,
//! as text and JSON.

mod caught;
mod documents;
pub(crate) mod event;
mod filter;
mod folder;
mod scenario;
mod summary;
mod throws;
mod value;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::document::{Content, Version};
pub use caught::caught_line;
pub(crate) use documents::event as event_document;
pub use event::EventPrinter;
pub use filter::{EventRange, Filter, Printed};
pub use folder::FolderTable;
pub use scenario::print_scenario;
pub use summary::Summary;
pub use value::Detail;

/// The version of a line with an event. Every line has it, since lines are often taken apart.
pub const EVENT_VERSION: Version = Version(1);

/// The summary of a recording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SummaryDocument {
    /// The path of the recording.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// The version of the Culprit that recorded it.
    pub culprit: String,
    /// The program.
    pub program: Program,
    /// The JVM that ran it.
    pub jvm: Jvm,
    /// Notes of the recorder, by name.
    pub notes: BTreeMap<String, String>,
    /// The end of the JVM; null if it was killed or is still running.
    pub end: Option<End>,
    /// The place where the file is cut off or damaged, if it is.
    pub truncated: Option<Truncation>,
    /// The reason why not all events can be read, if there is one.
    pub damaged: Option<String>,
    /// The observed classes.
    pub observed: Observed,
    /// Counts of events.
    pub events: EventCounts,
    /// Threads that have events.
    pub threads: Vec<Thread>,
    /// Exceptions that ended threads or tests.
    pub failures: Vec<Failure>,
    /// Exceptions that were caught, by the program or by code around it.
    #[serde(default)]
    pub caught: Vec<CaughtException>,
    /// Parts of the run that the recording lacks.
    pub losses: Losses,
}

/// The recorded program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Program {
    /// The number of its process.
    pub pid: u32,
    /// The words of its command.
    pub command: Vec<String>,
    /// Its working directory.
    pub directory: String,
    /// The time of its start, in milliseconds since 1970.
    pub started_ms: u64,
    /// System properties.
    pub properties: BTreeMap<String, String>,
    /// The options of the agent.
    pub options: String,
}

/// The JVM of a recording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Jvm {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its vendor.
    pub vendor: String,
    /// Its flags.
    pub flags: Vec<String>,
}

/// The end of a JVM.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct End {
    /// The reason why the recording ended.
    pub reason: EndReason,
    /// The exit status, if it is known.
    pub exit_status: Option<i32>,
    /// The duration of the run.
    pub duration_ms: u64,
}

/// The reason why a recording ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// The JVM ended.
    JvmEnded,
    /// Capture stopped earlier.
    Stopped,
}

/// The place where a recording is cut off.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Truncation {
    /// The first byte that cannot be read.
    pub offset: u64,
    /// Bytes from there on.
    pub bytes_left: u64,
}

/// The observed classes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Observed {
    /// The options that selected them, as they would be typed; null if they are unknown.
    pub selection: Option<Vec<String>>,
    /// Their names.
    pub classes: Vec<String>,
}

/// Counts of events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EventCounts {
    /// All events.
    pub count: u64,
    /// By kind.
    pub by_kind: BTreeMap<String, u64>,
    /// By class, most first.
    pub by_class: Vec<ClassCount>,
}

/// Events of one class, by direction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClassCount {
    /// Its name.
    pub class: String,
    /// Events from outside.
    pub incoming: u64,
    /// Events to the outside.
    pub outgoing: u64,
}

/// A thread with its events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Thread {
    /// Its number in the recording.
    pub thread: u32,
    /// Its name, if it is known.
    pub name: Option<String>,
    /// Its number in the JVM, if it is known.
    pub java_id: Option<u64>,
    /// Whether it is a virtual thread, if that is known.
    #[serde(rename = "virtual")]
    pub is_virtual: Option<bool>,
    /// Its events.
    pub events: u64,
}

/// An exception that ended a thread or a test.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The thread.
    pub thread: u32,
    /// The name of the thread, or of the test.
    pub place: String,
    /// The class of the exception.
    pub class: String,
    /// Its message.
    pub message: Option<String>,
    /// Its stack trace.
    pub stack: String,
    /// The event at which it left observed code, if that was seen.
    pub left_observed_code_at: Option<u64>,
}

/// The kind of a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// No handler caught the exception.
    Uncaught,
    /// A test failed.
    Test,
    /// The exception was caught.
    Caught,
}

/// An exception that was caught, or several that were thrown and caught at the same places.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CaughtException {
    /// The number for `culprit minimize --failure`.
    pub failure: u64,
    /// The thread of the first one.
    pub thread: u32,
    /// The class of the exception.
    pub class: String,
    /// The message of the first one.
    pub message: Option<String>,
    /// The frame that threw the first one, if it is known: `shop.Cart.total(Cart.java:12)`.
    pub thrown_at: Option<String>,
    /// The method that caught it, if that was seen: `shop.Main.main`.
    pub caught_by: Option<String>,
    /// Whose code that method is.
    pub catcher: Catcher,
    /// Whether the stack trace was printed or logged.
    pub printed: bool,
    /// How often such an exception was caught.
    pub count: u64,
    /// The stack trace of the first one.
    pub stack: String,
}

/// The code that caught an exception.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Catcher {
    /// The program itself.
    Program,
    /// A framework, a library or the JDK around it.
    Outside,
    /// A test or its framework.
    Test,
    /// It is not known.
    Unknown,
}

/// Parts of the run that a recording lacks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Losses {
    /// Counters of losses, by name.
    pub counts: BTreeMap<String, u64>,
    /// Events lost at marked places.
    pub at_gaps: u64,
    /// Classes and methods without probes.
    pub not_woven: Vec<NotWoven>,
    /// The reason why capture stopped early, if it did.
    pub stopped: Option<String>,
}

/// A class or method without probes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NotWoven {
    /// Its name.
    pub name: String,
    /// The reason.
    pub reason: String,
}

impl Content for SummaryDocument {
    const NAME: &'static str = "recording-summary";
}

/// The recordings of a run folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FolderDocument {
    /// The path of the folder.
    pub path: String,
    /// Facts of the run, by name.
    pub facts: BTreeMap<String, String>,
    /// Its recordings.
    pub recordings: Vec<FolderEntry>,
}

/// A recording of a run folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FolderEntry {
    /// The path of the recording.
    pub path: String,
    /// Its content, or the error.
    #[serde(flatten)]
    pub content: FolderContent,
}

/// The content of a recording, or the reason why it cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FolderContent {
    /// The recording can be read.
    Readable {
        /// The number of the process.
        pid: u32,
        /// The words of its command.
        command: Vec<String>,
        /// Its events.
        events: u64,
        /// Its failures.
        failures: u64,
    },
    /// The recording cannot be read.
    Unreadable {
        /// The reason.
        error: String,
    },
}

impl Content for FolderDocument {
    const NAME: &'static str = "run-folder";
}

/// An event: a line of `culprit show --events --json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Event {
    /// The version of the form of this line.
    pub version: Version,
    /// Its number.
    pub index: u64,
    /// The number of its thread.
    pub thread: u32,
    /// The turn of the thread.
    pub turn: u64,
    /// Its number in the turn.
    pub ordinal: u64,
    /// Open crossings of the thread.
    pub depth: u32,
    /// The kind of event: `incoming-call` and so on.
    pub kind: String,
    /// The class of its code, if it is known.
    pub class: Option<String>,
    /// The method of its code, if it is known.
    pub method: Option<String>,
    /// The line of its code, if it is known.
    pub line: Option<u16>,
    /// The place in the source, if it is known.
    pub place: Option<String>,
    /// The method or field that it is about, if it is known.
    pub target: Option<Target>,
    /// Its values.
    pub values: Vec<Option<Value>>,
    /// The message of the exception that it ended a call with, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The frame that threw this exception, if it is known: `shop.Cart.total(Cart.java:12)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thrown_at: Option<String>,
}

/// A method or a field.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Target {
    /// Its class.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Whether it is static.
    #[serde(rename = "static")]
    pub is_static: bool,
}

/// Lost events: a line in the place of events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gap {
    /// The version of the form of this line.
    pub version: Version,
    /// `gap`.
    pub kind: GapKind,
    /// The number of the next event.
    pub before: u64,
    /// The number of the thread.
    pub thread: u32,
    /// The reason.
    pub reason: String,
    /// The number of lost events.
    pub count: u64,
}

/// The kind of a line without an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GapKind {
    /// Events were lost.
    Gap,
}

/// A value of the program other than null, by the fields that it has.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// An array.
    Array {
        /// Its type, as in source code.
        #[serde(rename = "type")]
        type_name: String,
        /// The number of its elements.
        length: u32,
        /// Its identity, if it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        /// The part of the recording with its elements, if that is missing.
        #[serde(skip_serializing_if = "Option::is_none")]
        missing: Option<u32>,
        /// The index of the first known element, if it is not the first of all.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<u32>,
        /// Its elements, as far as they are known.
        #[serde(skip_serializing_if = "Option::is_none")]
        elements: Option<Vec<Option<Value>>>,
    },
    /// A constant of an enum.
    Enum {
        /// Its class.
        #[serde(rename = "type")]
        type_name: String,
        /// Its name.
        constant: String,
        /// Its number.
        ordinal: u32,
    },
    /// A value that consists of its fields.
    Structure {
        /// Its class.
        #[serde(rename = "type")]
        type_name: String,
        /// Its fields.
        fields: Vec<Field>,
    },
    /// The value of a static field.
    Static {
        /// The class of the field.
        #[serde(rename = "type")]
        type_name: String,
        /// The name of the field.
        #[serde(rename = "static")]
        field: String,
    },
    /// A string whose text is missing from the recording.
    Missing {
        /// Its class.
        #[serde(rename = "type")]
        type_name: String,
        /// The part of the recording with its text.
        missing: u32,
    },
    /// A string that was not recorded, since it may be a secret.
    Redacted {
        /// Its class.
        #[serde(rename = "type")]
        type_name: String,
        /// True.
        redacted: bool,
    },
    /// An object with an identity.
    Object {
        /// Its class.
        #[serde(rename = "type")]
        type_name: String,
        /// Its identity.
        id: u64,
    },
    /// A primitive or boxed value, a string, or a class.
    Scalar {
        /// Its type.
        #[serde(rename = "type")]
        type_name: String,
        /// The value.
        value: Scalar,
        /// The code units of a string that is not valid UTF-16.
        #[serde(skip_serializing_if = "Option::is_none")]
        utf16: Option<Vec<u16>>,
    },
    /// A piece of the state of the same object, by its number.
    Piece {
        /// The number.
        piece: u32,
    },
    /// A value that nobody knows.
    Unknown {
        /// True.
        unknown: bool,
    },
}

/// A field of a value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Field {
    /// The class that declares it.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Option<Value>,
}

/// A number, a truth value or a text. Infinities and NaN are texts, and a `char` is its number.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Scalar {
    /// A truth value.
    Boolean(bool),
    /// A whole number, or a `char`.
    Integer(i64),
    /// A number with a fraction.
    Number(f64),
    /// A text.
    Text(String),
}
