//! Backtraces of programs of machine code: sanitizers, debuggers, compilers, failed assertions, C++, Rust
//! and Go.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::{Backtrace, BacktraceFrame, BacktraceLine, parts, pattern, without_machinery};

/// `#0 0x4f in parse /src/a.c:12:3`, as sanitizers and debuggers print it.
pub(super) fn numbered(lines: &[&str]) -> Option<Backtrace> {
    static HEADER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?:ERROR|WARNING): (\w+Sanitizer|libFuzzer): ([A-Za-z-]+(?: [a-z-]+)*?)(?: on | in | at | after | \(| 0x|:|$)",
        )
    });
    let mut kind = String::new();
    let mut frames: Vec<BacktraceFrame> = Vec::new();
    for line in lines {
        if let (true, Some(found)) = (kind.is_empty(), HEADER.captures(line)) {
            kind = format!("{}: {}", &found[1], &found[2]);
        }
        match stacked(line) {
            // A second stack tells where memory came from.
            Some(_) if line.trim_start().starts_with("#0") && !frames.is_empty() => break,
            Some(parts) => frames.push(BacktraceFrame::of(parts)),
            None => {}
        }
    }
    let undefined = lines.iter().find_map(|line| undefined(line));
    match undefined {
        Some(undefined) if kind.is_empty() => {
            kind = undefined.kind;
            if frames.is_empty() {
                frames = undefined.frames;
            }
        }
        _ => {}
    }
    // Somewhere in a library is nowhere.
    frames.retain(|frame| !frame.function.is_empty() || frame.at.is_some());
    let said = !frames.is_empty() || !kind.is_empty();
    said.then(|| Backtrace {
        kind,
        message: String::new(),
        frames: without_machinery(frames),
    })
}

/// One line of a stack. It has an address, or what a debugger prints behind arguments.
fn stacked(line: &str) -> Option<BacktraceLine<'_>> {
    static FRAME: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\s*#\d+:?\s+(0x[0-9a-fA-F]+(?: in| -)?(?:\s|$))?(.*)$"));
    /// Paths that begin at the root may have blanks.
    static PLACE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"\s(?:at )?(?P<file>/.*?|[^\s()]+?):(?P<line>\d+)(?::\d+)?(?: \(discriminator \d+\))?$",
        )
    });
    static MODULE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?:^|\s)(?:\((?P<file>[^()]+)\+(?P<line>0x[0-9a-fA-F]+)\)(?: \(BuildId: \w+\))?|\(<unknown module>\))$",
        )
    });
    static LIBRARY: LazyLock<Regex> = LazyLock::new(|| pattern(r"\) from (?P<file>.+)$"));
    let found = FRAME.captures(line.trim_end())?;
    let has_address = found.get(1).is_some();
    let rest = found.get(2).map_or("", |it| it.as_str());
    let begin = |pattern: &Regex| pattern.find(rest).map(|it| it.start());
    let (end, mut told) = if let Some(told) = parts(&MODULE, rest) {
        (begin(&MODULE)?, told)
    } else if let Some(told) = parts(&LIBRARY, rest) {
        (begin(&LIBRARY)? + 1, told)
    } else if let Some(told) = parts(&PLACE, rest) {
        (begin(&PLACE)?, told)
    } else {
        (rest.len(), BacktraceLine::default())
    };
    let (name, place) = rest.split_at(end);
    let is_called = name.trim_end().ends_with(')');
    let of_debugger = is_called && [" at ", " from "].iter().any(|it| place.starts_with(it));
    if !has_address && !of_debugger {
        return None;
    }
    told.function = match without_arguments(name) {
        "??" | "<null>" => "",
        name => name,
    };
    // Offsets are of the build; a function tells enough.
    if told.line.starts_with("0x") && !told.function.is_empty() {
        told.line = "";
    }
    Some(told)
}

/// A function without the lists of its arguments, and what follows them: those of its types, and those of
/// the values that a debugger adds.
fn without_arguments(function: &str) -> &str {
    const AFTER: [&str; 5] = ["const", "volatile", "noexcept", "&&", "&"];
    let mut name = function.trim();
    if let Some((hashed, hash)) = name.rsplit_once("::h")
        && hash.len() == 16
        && hash.bytes().all(|it| it.is_ascii_hexdigit())
    {
        name = hashed;
    }
    loop {
        let mut shorter = name.trim_end();
        for word in AFTER {
            let told = shorter.strip_suffix(word);
            shorter = told
                .filter(|it| it.ends_with([' ', ')']))
                .unwrap_or(shorter);
        }
        if let Some(begin) = shorter
            .strip_suffix(']')
            .and_then(|it| it.rfind(" [clone "))
        {
            shorter = &shorter[..begin];
        }
        if let Some(begin) = begin_of_list(shorter)
            && !shorter[..begin].ends_with("operator")
            && begin > 0
        {
            shorter = &shorter[..begin];
        }
        if shorter == name {
            return name;
        }
        name = shorter;
    }
}

/// Where the list in brackets begins that a text ends with.
fn begin_of_list(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, sign) in text.char_indices().rev() {
        match sign {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (sign == '(').then_some(at);
        }
    }
    None
}

/// `a.c:3:5: runtime error: signed integer overflow: 9 + 9 cannot be represented in type 'int'`. Numbers
/// in it are of the input.
fn undefined(line: &str) -> Option<Backtrace> {
    static ERROR: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^(?P<file>.+?):(?P<line>\d+):\d+: (runtime error: .+)$"));
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"-?(?:\b0x[0-9a-f]+|\b\d+(?:\.\d+)?(?:e[+-]?\d+)?|\b(?:inf|nan)\b)")
    });
    let kind = &ERROR.captures(line)?[3];
    Some(Backtrace {
        kind: NUMBER.replace_all(kind, "N").into_owned(),
        message: String::new(),
        frames: vec![BacktraceFrame::of(parts(&ERROR, line)?)],
    })
}

/// `thread 'main' panicked at src/main.rs:2:5:`.
pub(super) fn rust(lines: &[&str]) -> Option<Backtrace> {
    static PANIC: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^thread '.*' (?:\(\d+\) )?panicked at (?:.*, )?(?P<file>[^\s:]+):(?P<line>\d+):\d+",
        )
    });
    let at = lines.iter().position(|line| PANIC.is_match(line))?;
    // Assertions say what differs on the lines below.
    let below = lines[at + 1..].iter();
    let said = below.take_while(|line| !line.is_empty() && !line.starts_with("note: "));
    let said: Vec<&str> = said.take(3).map(|line| line.trim()).collect();
    Some(Backtrace {
        kind: "panic".to_owned(),
        message: said.join(" "),
        frames: vec![BacktraceFrame::of(parts(&PANIC, lines[at])?)],
    })
}

/// ``a.out: a.c:12: main: Assertion `x > 0' failed.``, and the same of other libraries.
pub(super) fn assertion(lines: &[&str]) -> Option<Backtrace> {
    static FAILED: LazyLock<[Regex; 5]> = LazyLock::new(|| {
        [
            r"(?:^|\s)(?P<file>[^\s:]+):(?P<line>\d+): (?P<function>.*): Assertion [`'](?P<what>.*)' failed",
            r"^Assertion failed: \((?P<what>.*)\), function (?P<function>.*), file (?P<file>.*), line (?P<line>\d+)\.$",
            r"^Assertion failed: (?P<what>.*) \((?P<file>[^\s:]+): (?P<function>.*): (?P<line>\d+)\)$",
            r"^ERROR:(?P<file>[^\s:]+):(?P<line>\d+):(?P<function>[^:]*): assertion failed:? \(?(?P<what>.*?)\)?(?:: \(.*\))?$",
            r"^(?P<what>UNREACHABLE) executed at (?P<file>.+):(?P<line>\d+)!$",
        ]
        .map(pattern)
    });
    let failed = |line: &&str| -> Option<Backtrace> {
        let failed = FAILED.iter().find(|failed| failed.is_match(line))?;
        let told = parts(failed, line)?;
        let function = without_arguments(told.function);
        Some(Backtrace {
            kind: format!("assertion {}", &failed.captures(line)?["what"]),
            message: String::new(),
            frames: vec![BacktraceFrame::of(BacktraceLine { function, ..told })],
        })
    };
    lines.iter().find_map(failed)
}

/// `panic: ...` and the functions of the first goroutine, each with its place below it.
pub(super) fn go(lines: &[&str]) -> Option<Backtrace> {
    static PLACE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\t(?P<file>.+):(?P<line>\d+)(?: \+0x[0-9a-f]+)?$"));
    let start = lines.iter().position(|line| {
        let said = ["panic: ", "fatal error: ", "runtime: "];
        said.iter().any(|it| line.starts_with(it))
    })?;
    let below = &lines[start..];
    let first = below.iter().position(|it| it.starts_with("goroutine "))?;
    let stack = below[first + 1..].iter().take_while(|line| {
        // Who started it has a number that is chance.
        !line.is_empty() && !line.starts_with("created by ")
    });
    let stack: Vec<&str> = stack.copied().collect();
    let frames = paired(&stack, &PLACE, |line| {
        (!line.starts_with('\t')).then(|| without_arguments(line))
    });
    Some(Backtrace {
        kind: "go".to_owned(),
        message: lines[start].to_owned(),
        frames: without_machinery(frames),
    })
}

/// Functions on lines of their own, with their places on the line below.
fn paired<'t>(
    lines: &[&'t str],
    place: &Regex,
    function: impl Fn(&'t str) -> Option<&'t str>,
) -> Vec<BacktraceFrame> {
    let named = lines.iter().enumerate().filter_map(|(number, line)| {
        let below = lines.get(number + 1).and_then(|below| parts(place, below));
        let function = function(line)?;
        Some(BacktraceFrame::of(BacktraceLine {
            function,
            ..below.unwrap_or_default()
        }))
    });
    named.collect()
}

/// `a.c:3:5: internal compiler error: in expand_expr, at expr.cc:123`, as GCC says it.
pub(super) fn compiler(lines: &[&str]) -> Option<Backtrace> {
    static HEADER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"internal compiler error:(.*?)(?:,? in (?P<function>\S+), at (?P<file>\S+):(?P<line>\d+))?$",
        )
    });
    static FRAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^0x[0-9a-f]+ (?P<function>.+)$"));
    static PLACE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\t(?P<file>.+):(?P<line>\d+)$"));
    let start = lines.iter().position(|line| HEADER.is_match(line))?;
    let told = parts(&HEADER, lines[start])?;
    let header = HEADER.captures(lines[start])?;
    let what = header[1].split([':', ',']).next().unwrap_or_default();
    let mut frames = paired(&lines[start..], &PLACE, |line| {
        parts(&FRAME, line).map(|it| without_arguments(it.function))
    });
    if !told.file.is_empty() {
        frames.insert(0, BacktraceFrame::of(told));
    }
    Some(Backtrace {
        kind: match told.file {
            "" => format!("internal compiler error:{what}"),
            _ => "internal compiler error".to_owned(),
        },
        message: String::new(),
        frames: without_machinery(frames),
    })
}

/// `==7== Invalid read of size 4` and `==7==    at 0x1091: parse (a.c:5)`.
pub(super) fn valgrind(lines: &[&str]) -> Option<Backtrace> {
    static HEADER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^==\d+==\s+(.+)$"));
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^==\d+==\s+(?:at|by) 0x[0-9A-F]+: (?P<function>.+) \((?:in )?(?P<file>[^():]+)(?::(?P<line>\d+))?\)$",
        )
    });
    let first = lines.iter().position(|line| FRAME.is_match(line))?;
    let above = first.checked_sub(1).map(|above| lines[above])?;
    let header = HEADER.captures(above)?;
    let frames = lines[first..].iter().map_while(|line| parts(&FRAME, line));
    let frames = frames.map(|told| {
        let function = without_arguments(told.function);
        BacktraceFrame::of(BacktraceLine { function, ..told })
    });
    Some(Backtrace {
        kind: header[1].to_owned(),
        message: String::new(),
        frames: without_machinery(frames.collect()),
    })
}

/// `terminate called after throwing an instance of 'std::out_of_range'`.
pub(super) fn thrown(lines: &[&str]) -> Option<Backtrace> {
    static TERMINATED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^terminate called after throwing an instance of '(.+)'$|^libc\+\+abi: terminating.* exception of type ([^\s:]+)",
        )
    });
    let at = lines.iter().position(|line| TERMINATED.is_match(line))?;
    let found = TERMINATED.captures(lines[at])?;
    let class = found.get(1).or(found.get(2))?;
    let said = lines
        .get(at + 1)
        .and_then(|it| it.trim().strip_prefix("what():"));
    Some(Backtrace {
        kind: class.as_str().to_owned(),
        message: said.unwrap_or_default().trim().to_owned(),
        frames: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

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
            "#0  0x00007f in raise () from /lib/libc.so.6\n#1  0x01 in ?? () from /lib/libx.so.1\n#1  0x00005 in foo (x=1) at src/f.c:3\n\
             #2  main () at src/f.c:9\n#3  0x01 in ?? () from /lib/libx.so.1\n#4  0x02 in ?? ()\n",
            "",
            &["foo (f.c:3)", "main (f.c:9)"],
        );
        check(
            "AddressSanitizer:DEADLYSIGNAL\n==7==ERROR: AddressSanitizer: SEGV on unknown address\n    \
             #0 0x4f  (/x/a.out+0x4a)\n    #1 0x4f in f (/x/a.out+0x4b) (BuildId: 1f)\n    \
             #2 0x5  (<unknown module>)\n",
            "AddressSanitizer: SEGV",
            &["a.out+0x4a", "f (a.out)"],
        );
        let attempt =
            "==7==ERROR: AddressSanitizer: attempting double-free on 0x602 in thread T0:\n";
        check(attempt, "AddressSanitizer: attempting double-free", &[]);
    }

    #[test]
    fn functions_of_cpp_are_whole_without_their_arguments() {
        let check = |told: &str, expect: &str| check(told, "", &[expect]);
        check(
            "#1 0x4f in (anonymous namespace)::f(int) /a.cc:12",
            "(anonymous namespace)::f (a.cc:12)",
        );
        check(
            "#1 0x4f in void ns::f<int>(int) /my files/a.cc:12:7",
            "void ns::f<int> (a.cc:12)",
        );
        check(
            "#1 0x4f in std::vector<int, std::allocator<int> >::at(unsigned long) const /usr/include/v.h:9:1",
            "std::vector<int, std::allocator<int> >::at (v.h:9)",
        );
        check(
            "#1 0x4f in main::{lambda(int)#1}::operator()(int) const a.cc:3",
            "main::{lambda(int)#1}::operator() (a.cc:3)",
        );
        check(
            "#1  ns::(anonymous namespace)::g<char>(char) [clone .cold] (x=1 'a') at ../a.cc:3",
            "ns::(anonymous namespace)::g<char> (a.cc:3)",
        );
        check(
            "#1 0x4f in a::b::h1234567890abcdef /src/a.rs:3:5",
            "a::b (a.rs:3)",
        );
        check(
            " #0 0x07 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/l/libLLVM.so+0x1)\n \
             #1 0x08 clang::Sema::f(clang::Decl*) (/l/libLLVM.so+0x2)\n",
            "clang::Sema::f (libLLVM.so)",
        );
    }

    #[test]
    fn undefined_behaviour_has_a_place_and_a_kind_without_numbers() {
        let kind =
            "runtime error: signed integer overflow: N + N cannot be represented in type 'int'";
        for numbers in ["2147483647 + 1", "-2147483648 + -7"] {
            let what =
                format!("signed integer overflow: {numbers} cannot be represented in type 'int'");
            check(
                &format!("src/a.c:3:5: runtime error: {what}\n"),
                kind,
                &["a.c:3"],
            );
        }
        check(
            "a.c:3:5: runtime error: index -1 out of bounds for type 'int [4]'\n    #0 0x1 in f a.c:3:5\n",
            "runtime error: index N out of bounds for type 'int [N]'",
            &["f (a.c:3)"],
        );
    }

    #[test]
    fn panics_and_failed_assertions() {
        check(
            "\nthread 'main' (7) panicked at src/main.rs:2:5:\nindex out of bounds\nnote: run with\n",
            "panic",
            &["main.rs:2"],
        );
        let assertions = [
            "a.out: a.c:12: int check(int): Assertion `n > 0' failed.\nAborted\n",
            "Assertion failed: (n > 0), function int check, file /x/a.c, line 12.\n",
            "Assertion failed: n > 0 (a.c: int check: 12)\n",
            "**\nERROR:/x/a.c:12:int check: assertion failed: (n > 0)\n",
        ];
        for told in assertions {
            check(told, "assertion n > 0", &["int check (a.c:12)"]);
        }
        let unreachable = "bad case\nUNREACHABLE executed at /llvm/lib/a.cpp:7!\n";
        check(unreachable, "assertion UNREACHABLE", &["a.cpp:7"]);
        check(
            "panic: oh\n\ngoroutine 1 [running]:\nmain.(*Parser).parse(0xc0001, {0x1, 0x2})\n\
             \t/x/a.go:4 +0x1d\nmain.Map[...](...)\n\t/x/b.go:7\nmain.main()\n\t/x/a.go:8 +0x1d\n\
             created by main.start in goroutine 7\n\t/x/a.go:9 +0x2\n",
            "go",
            &[
                "main.(*Parser).parse (a.go:4)",
                "main.Map[...] (b.go:7)",
                "main.main (a.go:8)",
            ],
        );
        let terminated =
            "terminate called after throwing an instance of 'std::out_of_range'\n  what():  x\n";
        check(terminated, "std::out_of_range", &[]);
        let debugged = format!("{terminated}#0  0x1 in f (x=1) at a.cc:3\n");
        check(&debugged, "std::out_of_range", &["f (a.cc:3)"]);
    }

    #[test]
    fn compilers_and_valgrind() {
        check(
            "a.c:3:5: internal compiler error: in expand_expr, at expr.cc:123\n    3 | f();\n      | ^\n\
             0x12 expand_call(tree_node*)\n\t../../gcc/calls.cc:9\nPlease submit\n",
            "internal compiler error",
            &["expand_expr (expr.cc:123)", "expand_call (calls.cc:9)"],
        );
        check(
            "during GIMPLE pass: vrp\na.c: In function 'f':\na.c:3:5: internal compiler error: Segmentation fault\n\
             0x11 crash_signal\n\t../../gcc/toplev.cc:314\n0x12 fold\n\t../../gcc/fold.cc:9\n",
            "internal compiler error: Segmentation fault",
            &["fold (fold.cc:9)"],
        );
        check(
            "==7== Invalid read of size 4\n==7==    at 0x10915E: ns::parse(int) (a.c:5)\n\
             ==7==    by 0x10915F: main (in /x/a.out)\n==7==  Address 0x0 is\n",
            "Invalid read of size 4",
            &["ns::parse (a.c:5)", "main (a.out)"],
        );
    }
}
