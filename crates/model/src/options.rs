//! The options of the agent, by mode: one value that the launcher prints and the agent parses, so
//! that the two cannot disagree. Owns which option belongs to which mode; `text` owns the text.

mod text;

use crate::observe::{Pattern, Selection};

pub use text::OptionsError;

/// The extension of the files with the scripts of followed classes.
pub const FOLLOWED_EXTENSION: &str = "script";

/// Everything the agent needs to know.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AgentOptions {
    /// Folder of the run; each JVM writes files of its own there.
    pub out: String,
    pub mode: Mode,
}

/// The task of the agent in a JVM, with the options of that task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Weave classes and record events.
    Record(RecordOptions),
    /// Weave nothing, and record how the program fails: exceptions that leave a thread or a test, and those whose
    /// stack trace is printed.
    Witness,
    /// The same with exceptions that are caught in silence. Throwing is several times slower in such a JVM.
    Sentinel,
    /// Only count calls between classes, to propose borders (`--suggest`).
    Suggest(SuggestOptions),
    /// Run scenarios, whose calls out of observed code are answered, and scripts.
    Worker(WorkerOptions),
    /// Only interpret the selected classes, and write down what they do.
    Follow(FollowOptions),
}

impl Default for Mode {
    fn default() -> Mode {
        Mode::Record(RecordOptions::default())
    }
}

/// The options that a replay must share with the recording: the classes that are woven, and how.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WeaveOptions {
    /// The order of immutable sets and maps, which each JVM chooses at random, as a JVM chose it.
    pub salt: Option<i64>,
    pub selection: Selection,
    pub arrays: Arrays,
}

/// The events that are recorded of arrays shared with external code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Arrays {
    /// Contents when an array comes in, and after an outgoing call that received it.
    #[default]
    Contents,
    /// Besides, every element access of observed code to an array that crossed the border.
    Accesses,
}

/// The options of [`Mode::Record`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordOptions {
    /// Another agent of ours replays in this JVM, and this one records the replay.
    pub beside: bool,
    pub weave: WeaveOptions,
    /// Keep only the last N events.
    pub last: Option<u64>,
    /// Discard the recording of a JVM that ends well.
    pub keep_failing: bool,
    /// Record the contents of library objects that observed code is given.
    pub contents: bool,
    /// Record one in K outermost incoming calls (1 = all).
    pub sample: Option<u32>,
    pub limits: CaptureLimits,
    /// Regular expressions; a string value that matches one is masked.
    pub redact: Vec<String>,
}

/// The limits beyond which capture stops and the program goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CaptureLimits {
    pub events: Option<u64>,
    pub bytes: Option<u64>,
    /// Events per second, over a second.
    pub rate: Option<u64>,
}

/// The options of [`Mode::Suggest`]. The agent counts calls between all classes; the launcher reads
/// these options when it reports.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SuggestOptions {
    pub selection: Selection,
    /// Regular expressions; a word of the command that matches one is masked.
    pub redact: Vec<String>,
}

/// The options of [`Mode::Worker`]. The host sends the [`WeaveOptions`] with the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerOptions {
    /// Number of the open file that leads to the host.
    pub socket: u32,
    /// Forbid the process to start programs, once it is up.
    pub seal: bool,
    /// Count the lines of observed classes that are run.
    pub coverage: bool,
    /// Trace the instructions of scripts.
    pub trace: Option<TraceOptions>,
}

/// What a worker traces of the scripts that it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceOptions {
    /// The most bytes of events for each run.
    pub bytes: u64,
    pub scope: TraceScope,
}

/// Code that is traced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceScope {
    /// The program, and collections, strings and others of the JDK.
    Whole,
    /// The same without static initialisers.
    NoInitialisers,
    /// The program alone, without static initialisers.
    ProgramAlone,
}

/// The options of [`Mode::Follow`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FollowOptions {
    /// Patterns of the classes that are interpreted.
    pub classes: Vec<Pattern>,
    /// End the JVM after so long.
    pub seconds: Option<u64>,
    /// The test methods of these classes that are interpreted; all of them if none is named.
    pub tests: Vec<String>,
    /// The methods that alone are interpreted, with the lambdas in them; all of them if none is named. Calls of the
    /// others are calls into the program.
    pub methods: Vec<String>,
}

impl Mode {
    /// The name of the mode in the text form.
    pub fn name(&self) -> &'static str {
        match self {
            Mode::Record(_) => "record",
            Mode::Witness => "witness",
            Mode::Sentinel => "sentinel",
            Mode::Suggest(_) => "suggest",
            Mode::Worker(_) => "worker",
            Mode::Follow(_) => "follow",
        }
    }

    /// The regular expressions of values that are masked.
    pub fn redact(&self) -> &[String] {
        match self {
            Mode::Record(RecordOptions { redact, .. })
            | Mode::Suggest(SuggestOptions { redact, .. }) => redact,
            Mode::Witness | Mode::Sentinel | Mode::Worker(_) | Mode::Follow(_) => &[],
        }
    }
}

impl AgentOptions {
    /// The same options without the regular expressions of secrets, which may be secrets themselves.
    pub fn without_patterns(&self) -> AgentOptions {
        let mut options = self.clone();
        if let Mode::Record(RecordOptions { redact, .. })
        | Mode::Suggest(SuggestOptions { redact, .. }) = &mut options.mode
        {
            redact.clear();
        }
        options
    }
}

impl RecordOptions {
    /// The options that a recording was made with, from their text. A witness has the defaults.
    pub fn of_recording(text: &str) -> Result<RecordOptions, OptionsError> {
        let options: AgentOptions = text.parse()?;
        match options.mode {
            Mode::Record(record) => Ok(record),
            Mode::Witness | Mode::Sentinel => Ok(RecordOptions::default()),
            mode => Err(text::no_recording(&mode)),
        }
    }
}

/// Whether an option makes a JVM write an archive of its classes. Such a JVM refuses agents, or
/// (JDK 25) crashes over classes that one has changed.
pub fn writes_archive(option: &str) -> bool {
    [
        "-Xshare:dump",
        "-XX:ArchiveClassesAtExit",
        "-XX:AOTMode=record",
        "-XX:AOTMode=create",
        "-XX:AOTCacheOutput",
    ]
    .iter()
    .any(|start| option.starts_with(start))
}
