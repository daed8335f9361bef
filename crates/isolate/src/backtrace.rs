//! Backtraces of programs that are no JVM: sanitizers, debuggers, Rust, Python, Go, JavaScript, failed
//! assertions of C. Only what tells one failure from another is kept.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::Lines;

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
    "core::panicking::",
    "core::result::unwrap_failed",
    "gsignal",
    "panic",
    "pthread_kill",
    "raise",
    "runtime.",
    "rust_begin_unwind",
    "rust_panic",
    "std::panicking::",
    "std::sys::",
];

/// What a program said of its failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Backtrace {
    /// `AddressSanitizer: heap-buffer-overflow`, `ValueError`, `panic`.
    pub(crate) kind: String,
    /// The innermost first.
    pub(crate) frames: Vec<Frame>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    function: String,
    file: String,
    line: Option<u32>,
}

impl Frame {
    pub(crate) fn is_same(&self, other: &Frame, lines: &Lines) -> bool {
        let same_line = self.line == other.line || !lines.count_in(&self.file);
        self.function == other.function && self.file == other.file && same_line
    }
}

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = match (self.file.as_str(), self.line) {
            ("", _) => String::new(),
            (file, Some(line)) => format!("{file}:{line}"),
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
    /// The first one in a text.
    pub(crate) fn find(text: &str) -> Option<Backtrace> {
        let lines: Vec<&str> = text.lines().collect();
        let known = [python, rust, assertion, go, script];
        let mut trace = known.iter().find_map(|look| look(&lines));
        let numbered = numbered(&lines);
        match (&mut trace, numbered) {
            (Some(trace), Some(more)) if trace.kind == "panic" => {
                trace.frames.extend(more.frames);
            }
            (None, more) => trace = more,
            _ => {}
        }
        trace
    }

    /// Where it happened.
    pub(crate) fn top(&self) -> Option<&Frame> {
        self.frames.first()
    }
}

fn frame(function: &str, file: &str, line: Option<&str>) -> Frame {
    // Folders differ from build to build, and from candidate to candidate.
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    // Hashes of Rust's symbols, and arguments.
    let function = function.split("::h0").next().unwrap_or(function);
    let function = function.split('(').next().unwrap_or(function);
    Frame {
        function: function.trim().to_owned(),
        file: name.to_owned(),
        line: line.and_then(|line| line.parse().ok()),
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of ours")
}

/// `#0 0x4f in parse /src/a.c:12:3`, as sanitizers and debuggers print it.
fn numbered(lines: &[&str]) -> Option<Backtrace> {
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^\s*#\d+:?\s+(?:0x[0-9a-fA-F]+\s+(?:in|-)?\s*)?([^\s(]+)(?:\s*\([^)]*\))?(?:\s+(?:at\s+)?([^\s:()]+):(\d+))?",
        )
    });
    static HEADER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(AddressSanitizer|MemorySanitizer|LeakSanitizer|ThreadSanitizer|runtime error): ?([A-Za-z-]+)?",
        )
    });
    let mut kind = String::new();
    let mut frames: Vec<Frame> = Vec::new();
    for line in lines {
        if let (true, Some(found)) = (kind.is_empty(), HEADER.captures(line)) {
            let what = found.get(2).map_or("", |it| it.as_str());
            kind = format!("{}: {what}", &found[1]);
        }
        match FRAME.captures(line) {
            // A second stack tells where memory came from.
            Some(_) if line.trim_start().starts_with("#0") && !frames.is_empty() => break,
            Some(found) => {
                let place = |number| found.get(number).map_or("", |it| it.as_str());
                let line = found.get(3).map(|it| it.as_str());
                frames.push(frame(place(1), place(2), line));
            }
            None => {}
        }
    }
    let said = !frames.is_empty() || !kind.is_empty();
    said.then(|| Backtrace {
        kind,
        frames: without_machinery(frames),
    })
}

fn without_machinery(mut frames: Vec<Frame>) -> Vec<Frame> {
    let tells = |frame: &Frame| {
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

/// The last traceback of Python: those before it are causes.
fn python(lines: &[&str]) -> Option<Backtrace> {
    static FRAME: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"^\s+File "([^"]*)", line (\d+)(?:, in (.*))?$"#));
    let start = lines
        .iter()
        .rposition(|line| line.contains("Traceback (most recent call last)"))?;
    let mut frames = Vec::new();
    for line in &lines[start + 1..] {
        if let Some(found) = FRAME.captures(line) {
            let function = found.get(3).map_or("", |it| it.as_str());
            frames.push(frame(function, &found[1], Some(&found[2])));
        } else if !line.starts_with(' ') {
            frames.reverse();
            let kind = line.split([':', ' ']).next().unwrap_or_default().to_owned();
            return Some(Backtrace { kind, frames });
        }
    }
    None
}

/// `thread 'main' panicked at src/main.rs:2:5:`.
fn rust(lines: &[&str]) -> Option<Backtrace> {
    static PANIC: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^thread '.*' (?:\(\d+\) )?panicked at (?:.*, )?([^\s:]+):(\d+):\d+")
    });
    let found = lines.iter().find_map(|line| PANIC.captures(line))?;
    Some(Backtrace {
        kind: "panic".to_owned(),
        frames: vec![frame("", &found[1], Some(&found[2]))],
    })
}

/// ``a.out: a.c:12: main: Assertion `x > 0' failed.``
fn assertion(lines: &[&str]) -> Option<Backtrace> {
    static FAILED: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?:^|\s)([^\s:]+):(\d+): (.*): Assertion [`'](.*)' failed"));
    let found = lines.iter().find_map(|line| FAILED.captures(line))?;
    Some(Backtrace {
        kind: format!("assertion {}", &found[4]),
        frames: vec![frame(&found[3], &found[1], Some(&found[2]))],
    })
}

/// `panic: ...` and the functions of the first goroutine.
fn go(lines: &[&str]) -> Option<Backtrace> {
    let start = lines.iter().position(|line| {
        let said = ["panic: ", "fatal error: ", "runtime: "];
        said.iter().any(|it| line.starts_with(it))
    })?;
    let below = lines[start..].iter();
    let mut below = below.skip_while(|line| !line.starts_with("goroutine "));
    below.next()?;
    let functions = below.take_while(|line| !line.is_empty());
    let functions = functions.filter(|line| !line.starts_with('\t'));
    let frames = functions.map(|line| {
        let name = line.rfind('(').map_or(*line, |at| &line[..at]);
        frame(name, "", None)
    });
    Some(Backtrace {
        kind: "go".to_owned(),
        frames: without_machinery(frames.collect()),
    })
}

/// `TypeError: ...` and `    at name (file.js:1:2)`.
fn script(lines: &[&str]) -> Option<Backtrace> {
    static FRAME: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\s+at (?:(.*) \()?([^()\s]+):(\d+):\d+\)?$"));
    let first = lines.iter().position(|line| FRAME.is_match(line))?;
    let above = lines[..first].iter().rev();
    let header = above.map(|line| line.trim()).find(|line| {
        let name = line.split(':').next().unwrap_or_default();
        name.ends_with("Error") && !name.contains(' ')
    })?;
    let frames = lines[first..].iter().map_while(|line| FRAME.captures(line));
    let frames = frames.map(|found| {
        let function = found.get(1).map_or("", |it| it.as_str());
        frame(function, &found[2], Some(&found[3]))
    });
    Some(Backtrace {
        kind: header.split(':').next().unwrap_or_default().to_owned(),
        frames: frames.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kind: &str, frames: &[&str]) {
        let found = Backtrace::find(text).expect("a backtrace");
        let told: Vec<String> = found.frames.iter().map(ToString::to_string).collect();
        assert_eq!(
            (found.kind.as_str(), told),
            (kind, frames.iter().map(|it| (*it).to_owned()).collect())
        );
    }

    #[test]
    fn sanitizers_and_debuggers() {
        check(
            "=1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602\n\
             READ of size 1\n    #0 0x4a in __interceptor_strlen (/x/a.out+0x4a)\n    \
             #1 0x4f in parse_tag /src/a.c:12:3\n    #2 0x50 in main /src/a.c:30\n\n\
             0x602 is located\nallocated by thread T0 here:\n    #0 0x49 in malloc\n",
            "AddressSanitizer: heap-buffer-overflow",
            &["parse_tag (a.c:12)", "main (a.c:30)"],
        );
        check(
            "#0  0x00007f in raise () from /lib/libc.so.6\n#1  0x00005 in foo (x=1) at src/f.c:3\n\
             #2  main () at src/f.c:9\n",
            "",
            &["foo (f.c:3)", "main (f.c:9)"],
        );
    }

    #[test]
    fn languages() {
        check(
            "Traceback (most recent call last):\n  File \"/a/x.py\", line 9, in <module>\n    go()\n  \
             File \"/a/x.py\", line 3, in go\n    raise ValueError(1)\nValueError: 1\n",
            "ValueError",
            &["go (x.py:3)", "<module> (x.py:9)"],
        );
        check(
            "\nthread 'main' (7) panicked at src/main.rs:2:5:\nindex out of bounds\nnote: run with\n",
            "panic",
            &["main.rs:2"],
        );
        check(
            "a.out: a.c:12: check: Assertion `n > 0' failed.\nAborted\n",
            "assertion n > 0",
            &["check (a.c:12)"],
        );
        check(
            "panic: oh\n\ngoroutine 1 [running]:\nmain.f(...)\n\t/x/a.go:4\nmain.main()\n\t/x/a.go:8 +0x1d\n",
            "go",
            &["main.f", "main.main"],
        );
        check(
            "/x/a.js:1\nthrow it\n^\n\nTypeError: no\n    at go (/x/a.js:1:7)\n    at /x/a.js:9:2\n",
            "TypeError",
            &["go (a.js:1)", "a.js:9"],
        );
        assert_eq!(Backtrace::find("nothing\nat all: 3\n"), None);
    }
}
