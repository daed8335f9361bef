//! Backtraces of programs that are no JVM. Only what tells one failure from another is kept.
//!
//! What looks like a backtrace must be one: text that a program prints in any case, with numbers
//! of the input in it, would make another failure of each candidate.

mod language;
mod native;
mod runner;

use culprit_signature::{mask, mask_literals};
use regex_lite::Regex;

use crate::{Likeness, LineComparison};

/// Frames that are there in every failure of a kind, and tell nothing.
const MACHINERY: &[&str] = &[
    "__asan",
    "__assert",
    "__cxa_",
    "__GI_",
    "__interceptor_",
    "__libc_",
    "__pthread_kill",
    "__rust",
    "__sanitizer",
    "__ubsan",
    "_start",
    "abort",
    "crash_signal",
    "core::panicking::",
    "core::result::unwrap_failed",
    "gsignal",
    "llvm::sys::",
    "panic",
    "pthread_kill",
    "raise",
    "runtime.",
    "rust_begin_unwind",
    "rust_panic",
    "std::__throw_",
    "std::panicking::",
    "std::sys::",
    "std::terminate",
];

/// What looks for a backtrace of one kind.
type Look = fn(&[&str]) -> Option<Backtrace>;

/// In this order: what runs a program comes before the program, and what is told apart least comes last.
const LOOKS: &[Look] = &[
    native::rust,
    native::assertion,
    native::go,
    native::compiler,
    native::valgrind,
    native::thrown,
    language::javascript,
    language::php,
    language::ruby,
    language::dotnet,
    language::ocaml,
    language::haskell,
    language::elixir,
    language::lua,
    language::perl,
];

/// What a program said of its failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Backtrace {
    /// `AddressSanitizer: heap-buffer-overflow`, `ValueError`, `panic`.
    pub(crate) kind: String,
    /// What it said besides, where that is known.
    message: String,
    /// The innermost first.
    pub(crate) frames: Vec<BacktraceFrame>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BacktraceFrame {
    function: String,
    file: String,
    at: Option<At>,
}

/// Where in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Line(u32),
    /// In a program of which neither lines nor functions are known.
    Offset(u64),
}

impl At {
    fn parse(text: &str) -> Option<At> {
        match text.strip_prefix("0x") {
            Some(offset) => u64::from_str_radix(offset, 16).ok().map(At::Offset),
            None => text.parse().ok().map(At::Line),
        }
    }
}

/// The parts of a line of a backtrace.
#[derive(Clone, Copy, Default)]
struct BacktraceLine<'t> {
    function: &'t str,
    file: &'t str,
    line: &'t str,
}

impl BacktraceFrame {
    pub(crate) fn is_same(&self, other: &BacktraceFrame, lines: &LineComparison) -> bool {
        let same_line = self.at == other.at || !lines.count_in(&self.file);
        self.function == other.function && self.file == other.file && same_line
    }
}

impl std::fmt::Display for BacktraceFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = match (self.file.as_str(), self.at) {
            ("", _) => String::new(),
            (file, Some(At::Line(line))) => format!("{file}:{line}"),
            (file, Some(At::Offset(offset))) => format!("{file}+{offset:#x}"),
            (file, None) => file.to_owned(),
        };
        match (self.function.as_str(), place.as_str()) {
            ("", place) => f.write_str(place),
            (function, "") => f.write_str(function),
            (function, place) => write!(f, "{function} ({place})"),
        }
    }
}

impl Backtrace {
    /// What a program said of its failure where it prints. What a runner of tests reports comes before
    /// what its tests print.
    pub(crate) fn find_all<const N: usize>(texts: [&str; N]) -> Vec<Backtrace> {
        let texts = texts.map(|text| text.lines().collect::<Vec<&str>>());
        let all = |lines: &Vec<&str>| match language::pythons(lines) {
            none if none.is_empty() => Vec::from_iter(Backtrace::single(lines)),
            found => found,
        };
        let mut found = runner::failed(&texts);
        let mut traces = texts.iter().map(all);
        found.extend(traces.find(|traces| !traces.is_empty()).unwrap_or_default());
        found
    }

    /// Of a program that ends with its first failure.
    fn single(lines: &[&str]) -> Option<Backtrace> {
        let mut trace = LOOKS.iter().find_map(|look| look(lines));
        let numbered = native::numbered(lines);
        match (&mut trace, numbered) {
            // It says at most where it was: a sanitizer or a debugger tells how it came there.
            (Some(trace), Some(more)) if trace.frames.iter().all(|it| it.function.is_empty()) => {
                trace.frames.extend(more.frames);
            }
            (None, more) => trace = more,
            _ => {}
        }
        trace
    }

    /// Where it happened.
    pub(crate) fn top(&self) -> Option<&BacktraceFrame> {
        self.frames.first()
    }

    /// Whether another one tells of the same failure.
    pub(crate) fn is_same(
        &self,
        other: &Backtrace,
        likeness: Likeness,
        lines: &LineComparison,
    ) -> bool {
        let same_frames = |own: &[BacktraceFrame], other: &[BacktraceFrame]| {
            let mut pairs = own.iter().zip(other);
            own.len() == other.len() && pairs.all(|(own, other)| own.is_same(other, lines))
        };
        let first = |frames: &[BacktraceFrame]| frames.len().min(1);
        let (own, its) = (&self.frames[..], &other.frames[..]);
        let same_place = || same_frames(&own[..first(own)], &its[..first(its)]);
        self.kind == other.kind
            && match likeness {
                Likeness::Any => true,
                Likeness::Place => same_place(),
                Likeness::Message => same_place() && self.said() == other.said(),
                Likeness::Trace => same_frames(own, its),
            }
    }

    /// What it said, but for what differs from run to run. Values are what an assertion tells; what others
    /// quote is not.
    fn said(&self) -> String {
        let told = [&self.kind, &self.message];
        match told.iter().any(|it| it.to_lowercase().contains("assert")) {
            true => mask(&self.message),
            false => mask_literals(&self.message),
        }
    }
}

impl BacktraceFrame {
    fn of(parts: BacktraceLine<'_>) -> BacktraceFrame {
        // Folders differ from build to build, and from candidate to candidate.
        let file = parts.file.rsplit(['/', '\\']).next().unwrap_or_default();
        BacktraceFrame {
            function: parts.function.trim().to_owned(),
            file: file.to_owned(),
            at: At::parse(parts.line),
        }
    }
}

/// The parts of a line that a pattern names `function`, `file` and `line`.
fn parts<'t>(pattern: &Regex, line: &'t str) -> Option<BacktraceLine<'t>> {
    let found = pattern.captures(line)?;
    let part = |name| found.name(name).map_or("", |it| it.as_str());
    Some(BacktraceLine {
        function: part("function"),
        file: part("file"),
        line: part("line"),
    })
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of ours")
}

fn without_machinery(mut frames: Vec<BacktraceFrame>) -> Vec<BacktraceFrame> {
    let tells = |frame: &BacktraceFrame| {
        let name = frame.function.as_str();
        !MACHINERY.iter().any(|it| name.starts_with(it))
    };
    match frames.iter().position(tells) {
        Some(first) => frames.drain(..first),
        None => return frames,
    };
    frames.retain(tells);
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    pub(super) fn check(text: &str, kind: &str, frames: &[&str]) {
        let found = Backtrace::find_all([text]);
        let found = found.first().expect("a backtrace");
        let told: Vec<String> = found.frames.iter().map(ToString::to_string).collect();
        assert_eq!(
            (found.kind.as_str(), told),
            (kind, frames.iter().map(|it| (*it).to_owned()).collect())
        );
    }

    #[test]
    fn ordinary_text_is_no_backtrace() {
        let texts = [
            "nothing\nat all: 3\n",
            "#1 look at main.c:12\n#2 (see b) main.c:13\n",
            "# 1 \"a.c\"\n#12 closed\n",
            "a.c:3:5: error: expected ';'\na.c:4: warning: (unused)\n",
            "unexpected token at config.json line 3.\n",
            "  File \"a.py\", line 3\nis fine\n",
            "Fatal error: no such file\nerror in line 3\n",
            "0x1 main\n\tsaid so\n",
            "    at noon (a:1:2)\n",
            "notes.txt:3: remark (Mine)\n",
        ];
        for text in texts {
            assert_eq!(Backtrace::find_all([text]), [], "{text}");
        }
    }
}
