//! The text form of the options: a comma list of `key=value`. It travels in `JAVA_TOOL_OPTIONS`,
//! which the JVM splits at white space and unquotes, so every byte outside a small safe set is
//! percent-encoded.

use std::fmt;
use std::str::FromStr;

use super::{
    AgentOptions, Arrays, CaptureLimits, FollowOptions, Mode, RecordOptions, SuggestOptions,
    TraceOptions, TraceScope, WeaveOptions, WorkerOptions,
};
use crate::observe::{Pattern, Selection};

/// Options the agent cannot understand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionsError(String);

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent options: {}", self.0)
    }
}

impl std::error::Error for OptionsError {}

/// The error for a recording whose options are of a mode that makes none.
pub(super) fn no_recording(mode: &Mode) -> OptionsError {
    OptionsError(format!("mode {} makes no recording", mode.name()))
}

impl fmt::Display for AgentOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pairs = Pairs::default();
        pairs.add("out", Some(&self.out));
        if !matches!(self.mode, Mode::Record(_)) {
            pairs.add("mode", Some(self.mode.name()));
        }
        self.mode.print(&mut pairs);
        f.write_str(&pairs.0)
    }
}

impl FromStr for AgentOptions {
    type Err = OptionsError;

    fn from_str(text: &str) -> Result<AgentOptions, OptionsError> {
        let pairs = split(text)?;
        let last = |wanted: &str| {
            let mut found = pairs.iter().rev().filter(|(key, _)| *key == wanted);
            found.next().map(|(_, value)| value.as_str())
        };
        let out = last("out").filter(|out| !out.is_empty());
        let out = out.ok_or_else(|| OptionsError("no folder to record to (out=DIR)".to_owned()))?;
        let mut mode = match last("mode") {
            None => Mode::default(),
            Some("worker") => {
                let socket = last("socket");
                let missing = || OptionsError("a worker needs socket=NUMBER".to_owned());
                let socket = socket.ok_or_else(missing)?;
                Mode::Worker(WorkerOptions {
                    socket: read("socket", socket)?,
                    seal: false,
                    coverage: false,
                    trace: None,
                })
            }
            Some(name) => {
                let mut modes = modes_without_worker().into_iter();
                let found = modes.find(|mode| mode.name() == name);
                found.ok_or_else(|| bad("mode", name))?
            }
        };
        for (key, value) in &pairs {
            let is_known = matches!(*key, "out" | "mode") || mode.set(key, value)?;
            if !is_known {
                return Err(stray(key, value, &mode));
            }
        }
        Ok(AgentOptions {
            out: out.to_owned(),
            mode,
        })
    }
}

impl fmt::Display for WeaveOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pairs = Pairs::default();
        self.print(&mut pairs);
        f.write_str(&pairs.0)
    }
}

impl FromStr for WeaveOptions {
    type Err = OptionsError;

    fn from_str(text: &str) -> Result<WeaveOptions, OptionsError> {
        let mut options = WeaveOptions::default();
        for (key, value) in split(text)? {
            if !options.set(key, &value)? {
                return Err(unknown(key));
            }
        }
        Ok(options)
    }
}

/// The error for an option that the mode does not have.
fn stray(key: &str, value: &str, mode: &Mode) -> OptionsError {
    let worker = Mode::Worker(WorkerOptions {
        socket: 0,
        seal: false,
        coverage: false,
        trace: None,
    });
    let mut others = modes_without_worker().into_iter().chain([worker]);
    match others.any(|mut other| other.set(key, value) != Ok(false)) {
        true => OptionsError(format!("mode {} has no option `{key}`", mode.name())),
        false => unknown(key),
    }
}

/// The modes that need no option, with the defaults.
fn modes_without_worker() -> [Mode; 5] {
    [
        Mode::Record(RecordOptions::default()),
        Mode::Witness,
        Mode::Sentinel,
        Mode::Suggest(SuggestOptions::default()),
        Mode::Follow(FollowOptions::default()),
    ]
}

fn unknown(key: &str) -> OptionsError {
    OptionsError(format!("unknown option `{key}`"))
}

fn bad(key: &str, value: &str) -> OptionsError {
    OptionsError(format!("{key}: `{value}` is not a value of it"))
}

fn read<T: FromStr>(key: &str, value: &str) -> Result<T, OptionsError> {
    value.parse().map_err(|_| bad(key, value))
}

fn pattern(value: &str) -> Result<Pattern, OptionsError> {
    let parsed = value.parse::<Pattern>();
    parsed.map_err(|error| OptionsError(error.to_string()))
}

/// The value of an option that is one of two words.
fn one_of(key: &str, value: &str, [no, yes]: [&str; 2]) -> Result<bool, OptionsError> {
    match value {
        value if value == yes => Ok(true),
        value if value == no => Ok(false),
        _ => Err(bad(key, value)),
    }
}

const NO_YES: [&str; 2] = ["no", "yes"];

/// The keys and values of a text.
fn split(text: &str) -> Result<Vec<(&str, String)>, OptionsError> {
    let parts = text.split(',').filter(|part| !part.is_empty());
    let split = parts.map(|part| {
        let pair = part.split_once('=');
        let (key, value) = pair.ok_or_else(|| OptionsError(format!("`{part}` has no value")))?;
        let value = decode(value)
            .ok_or_else(|| OptionsError(format!("`{part}` is not percent-encoded text")))?;
        Ok((key, value))
    });
    split.collect()
}

/// The text of options as it is written.
#[derive(Default)]
struct Pairs(String);

impl Pairs {
    fn add(&mut self, key: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            if !self.0.is_empty() {
                self.0.push(',');
            }
            self.0.push_str(key);
            self.0.push('=');
            self.0.push_str(&encode(&value.to_string()));
        }
    }

    fn add_all(&mut self, key: &str, values: &[impl ToString]) {
        for value in values {
            self.add(key, Some(value.to_string()));
        }
    }
}

/// A group of options that has its own keys.
trait Group {
    fn print(&self, pairs: &mut Pairs);
    /// Sets an option; `false` if the group has no such key.
    fn set(&mut self, key: &str, value: &str) -> Result<bool, OptionsError>;
}

impl Group for Mode {
    fn print(&self, pairs: &mut Pairs) {
        match self {
            Mode::Record(options) => options.print(pairs),
            Mode::Witness | Mode::Sentinel => {}
            Mode::Suggest(options) => options.print(pairs),
            Mode::Worker(options) => options.print(pairs),
            Mode::Follow(options) => options.print(pairs),
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<bool, OptionsError> {
        match self {
            Mode::Record(options) => options.set(key, value),
            Mode::Witness | Mode::Sentinel => Ok(false),
            Mode::Suggest(options) => options.set(key, value),
            Mode::Worker(options) => options.set(key, value),
            Mode::Follow(options) => options.set(key, value),
        }
    }
}

impl Group for RecordOptions {
    fn print(&self, pairs: &mut Pairs) {
        pairs.add("beside", self.beside.then_some("yes"));
        self.weave.print(pairs);
        pairs.add("last", self.last);
        pairs.add("keep", self.keep_failing.then_some("failing"));
        pairs.add("contents", self.contents.then_some("yes"));
        pairs.add("sample", self.sample);
        self.limits.print(pairs);
        pairs.add_all("redact", &self.redact);
    }

    fn set(&mut self, key: &str, value: &str) -> Result<bool, OptionsError> {
        match key {
            "beside" => self.beside = one_of(key, value, NO_YES)?,
            "last" => self.last = Some(read(key, value)?),
            "keep" => self.keep_failing = one_of(key, value, ["all", "failing"])?,
            "contents" => self.contents = one_of(key, value, NO_YES)?,
            "sample" => {
                let one_in = Some(read(key, value)?).filter(|k| *k > 0);
                self.sample = Some(one_in.ok_or_else(|| bad(key, value))?);
            }
            "redact" => self.redact.push(value.to_owned()),
            _ => return Ok(self.weave.set(key, value)? || self.limits.set(key, value)?),
        }
        Ok(true)
    }
}

impl Group for WeaveOptions {
    fn print(&self, pairs: &mut Pairs) {
        pairs.add("salt", self.salt);
        self.selection.print(pairs);
        let accesses = self.arrays == Arrays::Accesses;
        pairs.add("arrays", accesses.then_some("accesses"));
    }

    fn set(&mut self, key: &str, value: &str) -> Result<bool, OptionsError> {
        match key {
            "salt" => self.salt = Some(read(key, value)?),
            "arrays" => {
                self.arrays = match one_of(key, value, ["contents", "accesses"])? {
                    true => Arrays::Accesses,
                    false => Arrays::Contents,
                }
            }
            _ => return self.selection.set(key, value),
        }
        Ok(true)
    }
}

impl Group for Selection {
    fn print(&self, pairs: &mut Pairs) {
        pairs.add_all("observe", &self.observe);
        pairs.add("observe", self.app.then_some("app"));
        pairs.add_all("exclude", &self.exclude);
    }

    fn set(&mut self, key: &str, value: &str) -> Result<bool, OptionsError> {
        match key {
            "observe" if value == "app" => self.app = true,
            "observe" => self.observe.push(pattern(value)?),
            "exclude" => self.exclude.push(pattern(value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Group for CaptureLimits {
    fn print(&self, pairs: &mut Pairs) {
        pairs.add("max-events", self.events);
        pairs.add("max-bytes", self.bytes);
        pairs.add("max-rate", self.rate);
    }

    fn set(&mut self, key: &str, value: &str) -> Result<bool, OptionsError> {
        match key {
            "max-events" => self.events = Some(read(key, value)?),
            "max-bytes" => self.bytes = Some(read(key, value)?),
            "max-rate" => self.rate = Some(read(key, value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Group for SuggestOptions {
    fn print(&self, pairs: &mut Pairs) {
        self.selection.print(pairs);
        pairs.add_all("redact", &self.redact);
    }

    fn set(&mut self, key: &str, value: &str) -> Result<bool, OptionsError> {
        match key {
            "redact" => self.redact.push(value.to_owned()),
            _ => return self.selection.set(key, value),
        }
        Ok(true)
    }
}

impl Group for WorkerOptions {
    fn print(&self, pairs: &mut Pairs) {
        pairs.add("socket", Some(self.socket));
        pairs.add("seal", self.seal.then_some("yes"));
        pairs.add("coverage", self.coverage.then_some("yes"));
        if let Some(TraceOptions { bytes, scope }) = self.trace {
            let key = match scope {
                TraceScope::Whole => "trace",
                TraceScope::NoInitialisers => "trace-later",
                TraceScope::ProgramAlone => "trace-program",
            };
            pairs.add(key, Some(bytes));
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<bool, OptionsError> {
        match key {
            "socket" => self.socket = read(key, value)?,
            "seal" => self.seal = one_of(key, value, NO_YES)?,
            "coverage" => self.coverage = one_of(key, value, NO_YES)?,
            "trace" | "trace-later" | "trace-program" => {
                self.trace = Some(TraceOptions {
                    bytes: read(key, value)?,
                    scope: match key {
                        "trace" => TraceScope::Whole,
                        "trace-later" => TraceScope::NoInitialisers,
                        _ => TraceScope::ProgramAlone,
                    },
                });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Group for FollowOptions {
    fn print(&self, pairs: &mut Pairs) {
        pairs.add_all("observe", &self.classes);
        pairs.add("seconds", self.seconds);
        pairs.add_all("test", &self.tests);
        pairs.add_all("method", &self.methods);
    }

    fn set(&mut self, key: &str, value: &str) -> Result<bool, OptionsError> {
        match key {
            "observe" => self.classes.push(pattern(value)?),
            "seconds" => self.seconds = Some(read(key, value)?),
            "test" => self.tests.push(value.to_owned()),
            "method" => self.methods.push(value.to_owned()),
            _ => return Ok(false),
        }
        Ok(true)
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
mod tests;
