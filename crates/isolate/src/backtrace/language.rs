//! Backtraces that interpreters and runtimes of languages print.

use std::sync::LazyLock;

use regex_lite::{Captures, Regex};

use super::{Backtrace, BacktraceFrame, BacktraceLine, parts, pattern};

/// The tracebacks of Python, the last one first. Those of causes are left out; what is no program has one
/// without a header.
pub(super) fn pythons(lines: &[&str]) -> Vec<Backtrace> {
    static UNREAD: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^(?:SyntaxError|IndentationError|TabError): "));
    let starts = lines.iter().enumerate().rev();
    let starts = starts.filter(|(_, line)| line.contains("Traceback (most recent call last)"));
    let mut found: Vec<Backtrace> = Vec::new();
    for (start, _) in starts {
        let Some((trace, end)) = python(lines, start + 1) else {
            continue;
        };
        // It is the cause of the next one, which was found before.
        let below = lines[end + 1..].iter().find(|line| !line.trim().is_empty());
        let is_cause = below.is_some_and(|line| {
            line.starts_with("During handling of the above exception")
                || line.starts_with("The above exception was the direct cause")
        });
        if !is_cause {
            found.push(trace);
        }
    }
    if found.is_empty() {
        let end = lines.iter().position(|line| UNREAD.is_match(line));
        let above = end.and_then(|end| {
            lines[..end]
                .iter()
                .rposition(|line| PYTHON_FRAME.is_match(line))
        });
        found.extend(above.and_then(|start| python(lines, start)).map(|it| it.0));
    }
    found
}

static PYTHON_FRAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"^\s+File "(?P<file>[^"]*)", line (?P<line>\d+)(?:, in (?P<function>.*))?$"#)
});

/// The traceback whose frames begin at a line, and the line that it ends with.
fn python(lines: &[&str], start: usize) -> Option<(Backtrace, usize)> {
    let mut frames = Vec::new();
    for (at, line) in lines.iter().enumerate().skip(start) {
        if let Some(told) = parts(&PYTHON_FRAME, line) {
            frames.push(BacktraceFrame::of(told));
        } else if !line.starts_with(' ') {
            frames.reverse();
            let (kind, message) = line.split_once([':', ' ']).unwrap_or((line, ""));
            let trace = Backtrace {
                kind: kind.to_owned(),
                message: message.trim().to_owned(),
                frames,
            };
            return Some((trace, at));
        }
    }
    None
}

/// `TypeError [ERR_X]: ...` and `    at name (file.js:1:2)`.
pub(super) fn javascript(lines: &[&str]) -> Option<Backtrace> {
    static HEADER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?:Uncaught )?((?:[\w.$]*(?:Error|Exception))(?: \[\w+\])?)(?::(?P<message>.*)|$)",
        )
    });
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^\s+at (?:(?P<function>.*) \()?(?P<file>[^()\s]+):(?P<line>\d+):\d+\)?$")
    });
    let first = lines.iter().position(|line| FRAME.is_match(line))?;
    let mut above = lines[..first].iter().rev();
    let header = above.find_map(|line| HEADER.captures(line.trim()))?;
    // Some are of no file.
    let stack = lines[first..].iter();
    let stack = stack.take_while(|line| line.trim_start().starts_with("at "));
    Some(Backtrace {
        kind: header[1].to_owned(),
        message: message_of(&header),
        frames: stack
            .filter_map(|line| parts(&FRAME, line))
            .map(BacktraceFrame::of)
            .collect(),
    })
}

/// `PHP Fatal error:  Uncaught TypeError: ... in /x/a.php:3`; below it `#0 /x/a.php(7): f()`, the place of
/// a call and what was called there.
pub(super) fn php(lines: &[&str]) -> Option<Backtrace> {
    static HEADER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?:PHP )?(Fatal error|Parse error): +(?:Uncaught ([\w\\]+))?(?P<message>.*) in (?P<file>.+?)(?: on line |:)(?P<line>\d+)$",
        )
    });
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^#\d+ (?:(?P<file>.+)\((?P<line>\d+)\): |\[internal function\]: )?(?P<function>[^(]+)",
        )
    });
    let start = lines.iter().position(|line| HEADER.is_match(line))?;
    let header = HEADER.captures(lines[start])?;
    let kind = header.get(2).or(header.get(1)).map_or("", |it| it.as_str());
    let mut place = parts(&HEADER, lines[start])?;
    let below = lines[start + 1..].iter();
    let stack = below.skip_while(|line| **line == "Stack trace:");
    let mut frames = Vec::new();
    for called in stack.map_while(|line| parts(&FRAME, line)) {
        let function = called.function;
        frames.push(BacktraceFrame::of(BacktraceLine { function, ..place }));
        place = called;
    }
    if frames.is_empty() {
        frames.push(BacktraceFrame::of(place));
    }
    Some(Backtrace {
        kind: kind.to_owned(),
        message: message_of(&header),
        frames,
    })
}

/// `a.rb:3:in 'f': msg (NameError)` and `from a.rb:7:in '<main>'`.
pub(super) fn ruby(lines: &[&str]) -> Option<Backtrace> {
    static HEADER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:in [`'](?P<function>[^']+)': (?P<message>.*)\(([A-Z][\w:]*)\)| .*\((SyntaxError)\))$",
        )
    });
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^\s+from (?P<file>[^:]+):(?P<line>\d+):in [`'](?P<function>[^']+)'$")
    });
    let start = lines.iter().position(|line| HEADER.is_match(line))?;
    let header = HEADER.captures(lines[start])?;
    let class = header.get(5).or(header.get(6))?;
    let below = lines[start + 1..].iter();
    let below = below.filter_map(|line| parts(&FRAME, line));
    let frames = parts(&HEADER, lines[start]).into_iter().chain(below);
    Some(Backtrace {
        kind: class.as_str().to_owned(),
        message: message_of(&header),
        frames: frames.map(BacktraceFrame::of).collect(),
    })
}

/// `Unhandled exception. System.FormatException: ...` and `   at A.B(String s) in /x/a.cs:line 3`.
pub(super) fn dotnet(lines: &[&str]) -> Option<Backtrace> {
    static HEADER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^Unhandled [eE]xception[.:] ([\w.`+]+)(?P<message>.*)"));
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^\s+at (?P<function>[^(]+)\(.*\)(?: in (?P<file>.+):line (?P<line>\d+))?$")
    });
    framed(lines, &HEADER, &FRAME)
}

/// `Fatal error: exception Failure("hd")` and `Raised at Stdlib.failwith in file "stdlib.ml", line 29, ...`.
pub(super) fn ocaml(lines: &[&str]) -> Option<Backtrace> {
    static HEADER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^Fatal error: exception ([\w.]+)(?P<message>.*)"));
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"^(?:Raised at|Raised by primitive operation at|Re-raised at|Called from) (?P<function>.+?) in file "(?P<file>[^"]+)".*?, lines? (?P<line>\d+)"#,
        )
    });
    framed(lines, &HEADER, &FRAME)
}

/// `CallStack (from HasCallStack):` and `  head, called at a.hs:3:8 in main:Main`.
pub(super) fn haskell(lines: &[&str]) -> Option<Backtrace> {
    static HEADER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(CallStack) \(from "));
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^\s+(?P<function>\S+), called at (?P<file>.+):(?P<line>\d+):\d+ in ")
    });
    framed(lines, &HEADER, &FRAME)
}

/// `** (ArithmeticError) ...` and `    a.exs:3: Foo.bar/1`.
pub(super) fn elixir(lines: &[&str]) -> Option<Backtrace> {
    static HEADER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\*\* \(([A-Z][\w.]*)\) (?P<message>.*)"));
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^    (?:\([^()]+\) )?(?P<file>[^\s:]+):(?P<line>\d+): (?P<function>.+)$")
    });
    framed(lines, &HEADER, &FRAME)
}

/// `stack traceback:` and `a.lua:3: in function 'f'`.
pub(super) fn lua(lines: &[&str]) -> Option<Backtrace> {
    static HEADER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(stack traceback):$"));
    static FRAME: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\t(?P<file>[^\t\[:]+):(?P<line>\d+): in (?P<function>.+)$"));
    framed(lines, &HEADER, &FRAME)
}

/// The kind that a header names, and frames below it.
fn framed(lines: &[&str], header: &Regex, frame: &Regex) -> Option<Backtrace> {
    let start = lines.iter().position(|line| header.is_match(line))?;
    let header = header.captures(lines[start])?;
    let below = lines[start + 1..].iter();
    let frames = below
        .filter_map(|line| parts(frame, line))
        .map(BacktraceFrame::of);
    Some(Backtrace {
        kind: header[1].to_owned(),
        message: message_of(&header),
        frames: frames.collect(),
    })
}

/// What a header says besides the kind.
fn message_of(header: &Captures<'_>) -> String {
    let message = header.name("message");
    message.map_or("", |it| it.as_str().trim()).to_owned()
}

/// `no such thing at x.pl line 3.`, which is the last that a program of Perl says. Others tell of a line
/// of their input in this way: the file must be one of Perl.
pub(super) fn perl(lines: &[&str]) -> Option<Backtrace> {
    static DIED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?P<message>.*) at (?P<file>\S+\.(?:pl|pm|t)|-e?) line (?P<line>\d+)(?:, <\w*> (?:line|chunk) \d+)?\.$",
        )
    });
    let said = |line: &&&str| !line.trim().is_empty() && !line.starts_with('\t');
    let last = lines.iter().rev().find(said)?;
    Some(Backtrace {
        kind: "died".to_owned(),
        message: DIED.captures(last).map(|it| message_of(&it))?,
        frames: vec![BacktraceFrame::of(parts(&DIED, last)?)],
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn python_and_javascript() {
        check(
            "Traceback (most recent call last):\n  File \"/a/x.py\", line 9, in <module>\n    go()\n  \
             File \"/a/x.py\", line 3, in go\n    raise ValueError(1)\nValueError: 1\n",
            "ValueError",
            &["go (x.py:3)", "<module> (x.py:9)"],
        );
        check(
            "  File \"/a/x.py\", line 9\n    print(\n         ^\nSyntaxError: '(' was never closed\n",
            "SyntaxError",
            &["x.py:9"],
        );
        check(
            "/x/a.js:1\nthrow it\n^\n\nTypeError: no\n    at go (/x/a.js:1:7)\n    \
             at Array.forEach (<anonymous>)\n    at /x/a.js:9:2\n\nNode.js v20\n",
            "TypeError",
            &["go (a.js:1)", "a.js:9"],
        );
        let coded =
            "node:internal/x:1\n\nTypeError [ERR_X]: no\nmore\n    at f (file:///x/a.mjs:1:7)\n";
        check(coded, "TypeError [ERR_X]", &["f (a.mjs:1)"]);
        for (header, kind) in [
            ("Error: no", "Error"),
            ("Uncaught Error: no", "Error"),
            (
                "DOMException [DataCloneError]: no",
                "DOMException [DataCloneError]",
            ),
        ] {
            let told = format!("{header}\n    at f (/x/a.js:1:7)\n");
            check(&told, kind, &["f (a.js:1)"]);
        }
    }

    #[test]
    fn scripts() {
        check(
            "PHP Fatal error:  Uncaught TypeError: no in /x/a.php:3\nStack trace:\n#0 /x/a.php(7): A->f('x')\n\
             #1 {main}\n  thrown in /x/a.php on line 3\n",
            "TypeError",
            &["A->f (a.php:3)", "{main} (a.php:7)"],
        );
        let unread =
            "PHP Parse error:  syntax error, unexpected end of file in /x/a.php on line 3\n";
        check(unread, "Parse error", &["a.php:3"]);
        check(
            "/x/a.rb:3:in 'Foo#f': undefined local variable 'x' (NameError)\n\n  x\n  ^\n\
             \tfrom a.rb:7:in `<main>'\n",
            "NameError",
            &["Foo#f (a.rb:3)", "<main> (a.rb:7)"],
        );
        let unread = "a.rb:3: syntax errors found (SyntaxError)\n";
        check(unread, "SyntaxError", &["a.rb:3"]);
        check(
            "odd value at x.pl line 1.\nno such thing at /x/Lib.pm line 3, <STDIN> line 7.\n\
             \tLib::f(1) called at x.pl line 9\n",
            "died",
            &["Lib.pm:3"],
        );
        check(
            "lua: a.lua:3: no\nstack traceback:\n\t[C]: in function 'error'\n\ta.lua:3: in function 'f'\n",
            "stack traceback",
            &["function 'f' (a.lua:3)"],
        );
    }

    #[test]
    fn other_runtimes() {
        check(
            "Unhandled exception. System.FormatException: no\n   at System.Int32.Parse(String s)\n   \
             at App.Reader.Read(String s) in /x/Reader.cs:line 12\n",
            "System.FormatException",
            &["System.Int32.Parse", "App.Reader.Read (Reader.cs:12)"],
        );
        check(
            "Fatal error: exception Failure(\"hd\")\nRaised at Stdlib.failwith in file \"stdlib.ml\", line 29, characters 17-33\n\
             Called from Dune__exe__A.f in file \"bin/a.ml\" (inlined), line 3, characters 5-9\n",
            "Failure",
            &["Stdlib.failwith (stdlib.ml:29)", "Dune__exe__A.f (a.ml:3)"],
        );
        check(
            "a: Prelude.head: empty list\nCallStack (from HasCallStack):\n  error, called at libraries/List.hs:1646:3 in base:GHC.List\n  \
             head, called at a.hs:3:8 in main:Main\n",
            "CallStack",
            &["error (List.hs:1646)", "head (a.hs:3)"],
        );
        check(
            "** (ArithmeticError) bad argument in arithmetic expression\n    a.exs:3: Foo.bar/1\n    \
             (elixir 1.14.0) lib/code.ex:1245: Code.eval/2\n",
            "ArithmeticError",
            &["Foo.bar/1 (a.exs:3)", "Code.eval/2 (code.ex:1245)"],
        );
    }
}
