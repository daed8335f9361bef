//! The agent's options: one value that the launcher prints and the agent parses, so that the
//! two cannot disagree.
//!
//! The text form is a comma list of `key=value`. It travels in `JAVA_TOOL_OPTIONS`, which the
//! JVM splits at white space and unquotes, so every byte outside a small safe set is
//! percent-encoded.

use std::fmt;
use std::str::FromStr;

use crate::observe::{Pattern, Selection};

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

/// The extension of the files with the scripts of followed classes.
pub const FOLLOWED_EXTENSION: &str = "script";

/// What the agent does in a JVM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Weave and record.
    #[default]
    Record,
    /// Weave nothing, and record how the program fails.
    Witness,
    /// Only count calls between classes, to propose borders (`--suggest`).
    Suggest,
    /// Run scenarios: what leaves observed code is answered.
    Worker,
    /// Only interpret the selected classes, and note what they do.
    Follow,
}

/// How arrays shared with external code are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Arrays {
    /// Contents when an array comes in, and after an outgoing call that received it.
    #[default]
    Contents,
    /// Besides, every element access of observed code to an array that crossed the border.
    Accesses,
}

/// Everything the agent needs to know.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AgentOptions {
    /// Folder of the run; each JVM writes its own recording there.
    pub out: String,
    pub mode: Mode,
    /// Number of the open file that leads to the host of a worker.
    pub socket: Option<u32>,
    /// A worker is to forbid itself to start programs, once it is up.
    pub seal: bool,
    /// Another agent of ours replays in this JVM, and this one records what that runs.
    pub beside: bool,
    /// A worker counts which lines of the observed classes are run.
    pub coverage: bool,
    /// What the recorded JVM made up for the order of immutable sets and maps.
    pub salt: Option<i64>,
    pub selection: Selection,
    pub arrays: Arrays,
    /// Tell what library objects hold when observed code is given them.
    pub contents: bool,
    /// Keep only the last N events.
    pub last: Option<u64>,
    /// Discard the recording of a JVM that ends well.
    pub keep_failing: bool,
    /// Record one in K outermost incoming calls (1 = all).
    pub sample: Option<u32>,
    pub max_events: Option<u64>,
    pub max_bytes: Option<u64>,
    /// Events per second, over a second, beyond which capture stops.
    pub max_rate: Option<u64>,
    /// A JVM whose classes are followed is ended after so long.
    pub seconds: Option<u64>,
    /// Of a followed class with tests: the methods that are followed. All are if none is named.
    pub tests: Vec<String>,
    /// Regular expressions; a string value that matches one is masked.
    pub redact: Vec<String>,
}

/// Options the agent cannot understand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionsError(String);

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent options: {}", self.0)
    }
}

impl std::error::Error for OptionsError {}

impl fmt::Display for AgentOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "out={}", encode(&self.out))?;
        match self.mode {
            Mode::Record => {}
            Mode::Witness => write!(f, ",mode=witness")?,
            Mode::Suggest => write!(f, ",mode=suggest")?,
            Mode::Worker => write!(f, ",mode=worker")?,
            Mode::Follow => write!(f, ",mode=follow")?,
        }
        if let Some(socket) = self.socket {
            write!(f, ",socket={socket}")?;
        }
        if self.seal {
            write!(f, ",seal=yes")?;
        }
        if self.beside {
            write!(f, ",beside=yes")?;
        }
        if self.coverage {
            write!(f, ",coverage=yes")?;
        }
        if let Some(salt) = self.salt {
            write!(f, ",salt={salt}")?;
        }
        for pattern in &self.selection.observe {
            write!(f, ",observe={}", encode(&pattern.to_string()))?;
        }
        if self.selection.app {
            write!(f, ",observe=app")?;
        }
        for pattern in &self.selection.exclude {
            write!(f, ",exclude={}", encode(&pattern.to_string()))?;
        }
        if self.arrays == Arrays::Accesses {
            write!(f, ",arrays=accesses")?;
        }
        if let Some(last) = self.last {
            write!(f, ",last={last}")?;
        }
        if self.keep_failing {
            write!(f, ",keep=failing")?;
        }
        if self.contents {
            write!(f, ",contents=yes")?;
        }
        if let Some(sample) = self.sample {
            write!(f, ",sample={sample}")?;
        }
        if let Some(n) = self.max_events {
            write!(f, ",max-events={n}")?;
        }
        if let Some(n) = self.max_bytes {
            write!(f, ",max-bytes={n}")?;
        }
        if let Some(n) = self.max_rate {
            write!(f, ",max-rate={n}")?;
        }
        if let Some(n) = self.seconds {
            write!(f, ",seconds={n}")?;
        }
        for name in &self.tests {
            write!(f, ",test={}", encode(name))?;
        }
        for pattern in &self.redact {
            write!(f, ",redact={}", encode(pattern))?;
        }
        Ok(())
    }
}

impl FromStr for AgentOptions {
    type Err = OptionsError;

    fn from_str(text: &str) -> Result<AgentOptions, OptionsError> {
        let mut options = AgentOptions::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| OptionsError(format!("`{part}` has no value")))?;
            let value = decode(value)
                .ok_or_else(|| OptionsError(format!("`{part}` is not percent-encoded text")))?;
            options.set(key, value)?;
        }
        if options.out.is_empty() {
            return Err(OptionsError("no folder to record to (out=DIR)".to_owned()));
        }
        Ok(options)
    }
}

impl AgentOptions {
    /// The same options without the patterns of what is secret, which may be secrets themselves.
    pub fn without_patterns(&self) -> AgentOptions {
        AgentOptions {
            redact: Vec::new(),
            ..self.clone()
        }
    }

    fn set(&mut self, key: &str, value: String) -> Result<(), OptionsError> {
        let bad = |value: &str| OptionsError(format!("{key}: `{value}` is not a value of it"));
        let number = |value: &str| value.parse::<u64>().map_err(|_| bad(value));
        let pattern = |value: &str| {
            value
                .parse::<Pattern>()
                .map_err(|e| OptionsError(e.to_string()))
        };
        match key {
            "out" => self.out = value,
            "mode" => match value.as_str() {
                "record" => self.mode = Mode::Record,
                "suggest" => self.mode = Mode::Suggest,
                "worker" => self.mode = Mode::Worker,
                "witness" => self.mode = Mode::Witness,
                "follow" => self.mode = Mode::Follow,
                _ => return Err(bad(&value)),
            },
            "socket" => self.socket = Some(value.parse().map_err(|_| bad(&value))?),
            "seal" => self.seal = value == "yes",
            "beside" => self.beside = value == "yes",
            "coverage" => self.coverage = value == "yes",
            "salt" => self.salt = Some(value.parse().map_err(|_| bad(&value))?),
            "observe" if value == "app" => self.selection.app = true,
            "observe" => self.selection.observe.push(pattern(&value)?),
            "exclude" => self.selection.exclude.push(pattern(&value)?),
            "arrays" => match value.as_str() {
                "contents" => self.arrays = Arrays::Contents,
                "accesses" => self.arrays = Arrays::Accesses,
                _ => return Err(bad(&value)),
            },
            "last" => self.last = Some(number(&value)?),
            "contents" => self.contents = value == "yes",
            "keep" => match value.as_str() {
                "failing" => self.keep_failing = true,
                "all" => self.keep_failing = false,
                _ => return Err(bad(&value)),
            },
            "sample" => {
                self.sample = Some(
                    value
                        .parse()
                        .ok()
                        .filter(|k| *k > 0)
                        .ok_or_else(|| bad(&value))?,
                );
            }
            "max-events" => self.max_events = Some(number(&value)?),
            "max-bytes" => self.max_bytes = Some(number(&value)?),
            "max-rate" => self.max_rate = Some(number(&value)?),
            "seconds" => self.seconds = Some(number(&value)?),
            "test" => self.tests.push(value),
            "redact" => self.redact.push(value),
            _ => return Err(OptionsError(format!("unknown option `{key}`"))),
        }
        Ok(())
    }
}

fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-*$:+@".contains(&byte) {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02x}"));
        }
    }
    out
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        if byte == b'%' {
            let hex = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(byte);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn full() -> AgentOptions {
        AgentOptions {
            out: "/tmp/a run, with=odd \"names\"/é".to_owned(),
            mode: Mode::Suggest,
            socket: Some(3),
            seal: true,
            beside: true,
            coverage: true,
            salt: Some(-4),
            selection: Selection {
                observe: vec!["com.acme.**".parse().unwrap(), "a.B$C".parse().unwrap()],
                exclude: vec!["com.acme.Noisy*".parse().unwrap()],
                app: true,
            },
            arrays: Arrays::Accesses,
            contents: true,
            last: Some(1000),
            keep_failing: true,
            sample: Some(10),
            max_events: Some(5),
            max_bytes: Some(6),
            max_rate: Some(7),
            seconds: Some(8),
            tests: vec!["parses".to_owned(), "größer".to_owned()],
            redact: vec!["[0-9]{16}".to_owned(), "a,b c".to_owned()],
        }
    }

    #[test]
    fn options_print_without_white_space_or_quotes_and_parse_back() {
        let text = full().to_string();
        assert!(!text.contains([' ', '"', '\'', '\\', '\t']), "{text}");
        assert_eq!(text.parse::<AgentOptions>().unwrap(), full());
    }

    #[test]
    fn bad_options_say_what_is_wrong() {
        for (text, expect) in [
            ("", "no folder to record to"),
            ("out", "`out` has no value"),
            ("out=x,colour=red", "unknown option `colour`"),
            ("out=x,sample=0", "sample: `0` is not a value of it"),
            ("out=%zz", "not percent-encoded"),
            ("out=x,observe=a..b", "is not a class pattern"),
        ] {
            let message = text.parse::<AgentOptions>().unwrap_err().to_string();
            assert!(message.contains(expect), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn any_folder_and_mask_survive_the_round_trip(out in "\\PC{1,40}", redact in "\\PC{0,40}") {
            let options = AgentOptions { out, redact: vec![redact], ..AgentOptions::default() };
            prop_assert_eq!(options.to_string().parse::<AgentOptions>().unwrap(), options);
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC{0,80}") {
            let _ = text.parse::<AgentOptions>();
        }
    }
}
