//! Parts of messages that differ from run to run, replaced by placeholders.
//!
//! Rules start where no word goes on and end where none does, and look at the original text only;
//! the brackets of placeholders count as parts of words on their outer side, so that text beside a
//! placeholder is not masked later on. That makes masking idempotent.

/// Replaces what differs from run to run: identity hashes, addresses, UUIDs, dates, times,
/// durations, temporary paths, ports and processes, very long numbers, stacks, and the numbers in names
/// that the JVM, mocking libraries and thread pools make up. Other numbers stay: they are what
/// a message tells.
pub fn mask(text: &str) -> String {
    replace(text, volatile)
}

/// Replaces all that [`mask`] does, every other number, and what is in quotes: what remains is
/// the text that the author of the message wrote.
pub fn mask_literals(text: &str) -> String {
    replace(&mask(text), literal)
}

/// A match: its length in bytes, and what stands for it.
type Match = Option<(usize, &'static str)>;

fn replace(text: &str, rule: fn(&str, usize) -> Match) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        match rule(text, at) {
            Some((length, placeholder)) => {
                masked.push_str(placeholder);
                at += length;
            }
            None => {
                masked.push(c);
                at += c.len_utf8();
            }
        }
    }
    masked
}

fn literal(text: &str, at: usize) -> Match {
    let (before, rest) = text.split_at(at);
    let inside = before.chars().next_back().is_some_and(is_word);
    let quoted = |quote: char| {
        let tail = rest.strip_prefix(quote)?;
        let line = tail.find('\n').unwrap_or(tail.len());
        // An apostrophe is a quote only where a word may start, and ends where one may end.
        let mut ends = tail[..line].match_indices(quote);
        let end = ends.find(|(end, _)| {
            let after = tail[end + 1..].chars().next();
            quote == '"' || !after.is_some_and(goes_on)
        });
        let (end, _) = end.filter(|_| quote == '"' || !inside)?;
        Some((end + 2, "<text>"))
    };
    let number = || {
        let signed = rest.strip_prefix('-').filter(|_| !inside);
        let length = run(signed.unwrap_or(rest), |byte| byte.is_ascii_digit());
        (length > 0).then(|| (rest.len() - signed.unwrap_or(rest).len() + length, "<n>"))
    };
    quoted('"').or_else(|| quoted('\'')).or_else(number)
}

fn volatile(text: &str, at: usize) -> Match {
    let (before, rest) = text.split_at(at);
    let first = *rest.as_bytes().first()?;
    let inside = before.chars().next_back().is_some_and(is_word);
    let matched = match first {
        b'@' => hash(rest),
        b'$' => made_up_class(rest),
        b'/' if !inside => temporary(rest),
        b'\n' => stack(rest),
        _ => None,
    };
    if matched.is_some() {
        return matched;
    }
    if first.is_ascii_digit() {
        return number_in_name(before, rest)
            .or_else(|| if inside { None } else { number(before, rest) });
    }
    if inside || !first.is_ascii_alphanumeric() {
        return None;
    }
    uuid(rest)
        .or_else(|| hex(rest))
        .or_else(|| written_date(rest))
        .or_else(|| iso_duration(rest))
        .or_else(|| temporary(rest))
}

/// A token that starts with a digit, where no word continues.
fn number(before: &str, rest: &str) -> Match {
    address(rest)
        .or_else(|| uuid(rest))
        .or_else(|| date(rest))
        .or_else(|| time(rest).map(|length| (length, "<time>")))
        .or_else(|| duration(rest))
        .or_else(|| hex(rest))
        .or_else(|| announced(before, rest))
        .or_else(|| long_number(before, rest))
}

/// Lines of a stack, as assertion libraries quote it: how deep it is depends on who runs the test.
fn stack(rest: &str) -> Match {
    let is_frame = |line: &str| {
        let frame = line.trim_start().strip_prefix("at ");
        frame.is_some_and(|frame| frame.contains('(') && frame.ends_with(')'))
    };
    let is_gap = |line: &str| {
        let gap = line.trim_start().strip_prefix("...");
        gap.is_some_and(|gap| gap.ends_with(" more") || gap.contains(" remaining lines"))
    };
    let mut lines = rest[1..].split('\n').peekable();
    lines.peek().filter(|line| is_frame(line))?;
    let lines = lines.take_while(|line| is_frame(line) || is_gap(line));
    let length = lines.map(|line| 1 + line.len()).sum();
    Some((length, "\n<stack>"))
}

/// `Foo@1b2c3d`, `loader 'app' @1b2c3d`. Shorter hashes are made by programs, with a meaning.
fn hash(rest: &str) -> Match {
    let length = run(&rest[1..], is_lower_hex);
    let fits = (5..=8).contains(&length) && ends(rest, 1 + length) && !continues(rest, 1 + length);
    fits.then_some((1 + length, "@<hash>"))
}

/// Names of classes that exist in memory only.
fn made_up_class(rest: &str) -> Match {
    if let Some(tail) = rest.strip_prefix("$$Lambda") {
        let numbered =
            tail.strip_prefix('$')
                .map_or(0, |it| match run(it, |b| b.is_ascii_digit()) {
                    0 => 0,
                    digits => 1 + digits,
                });
        let tail = &tail[numbered..];
        let hidden = tail.strip_prefix('/').map_or(0, |it| {
            let prefix = if it.starts_with("0x") { 2 } else { 0 };
            match run(&it[prefix..], is_lower_hex) {
                0 => 0,
                digits => 1 + prefix + digits,
            }
        });
        let length = "$$Lambda".len() + numbered + hidden;
        let some = numbered + hidden > 0;
        return (some && ends(rest, length)).then_some((length, "$$Lambda<id>"));
    }
    let numbered: [(&str, &'static str); 4] = [
        ("$Proxy", "$Proxy<id>"),
        ("$MockitoMock$", "$MockitoMock$<id>"),
        ("$$EnhancerByCGLIB$$", "$$EnhancerByCGLIB$$<id>"),
        ("$$FastClassByCGLIB$$", "$$FastClassByCGLIB$$<id>"),
    ];
    numbered.into_iter().find_map(|(name, placeholder)| {
        let digits = run(rest.strip_prefix(name)?, is_lower_hex);
        let length = name.len() + digits;
        (digits > 0 && ends(rest, length)).then_some((length, placeholder))
    })
}

/// Numbers of threads and of generated classes: `pool-1-thread-3`, `GeneratedMethodAccessor12`.
fn number_in_name(before: &str, rest: &str) -> Match {
    let names = [
        "Thread-",
        "-thread-",
        "-worker-",
        "ForkJoinPool-",
        "GeneratedMethodAccessor",
        "GeneratedConstructorAccessor",
    ];
    let digits = run(rest, |byte| byte.is_ascii_digit());
    let named = names.iter().any(|name| before.ends_with(name)) && ends(rest, digits);
    let pool = before.ends_with("pool-") && rest[digits..].starts_with("-thread-");
    (named || pool)
        .then_some((digits, "<id>"))
        // The random part of a temporary name: `junit5512739817236451`.
        .or_else(|| {
            let name = before.ends_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '-'));
            (name && digits >= LONG && ends(rest, digits)).then_some((digits, "<number>"))
        })
}

/// Paths in the folders that systems keep for temporary files.
fn temporary(rest: &str) -> Match {
    let folders = [
        "/tmp/",
        "/var/tmp/",
        "/var/folders/",
        "/private/var/folders/",
    ];
    let unix = folders.iter().any(|folder| rest.starts_with(folder));
    let path = &rest[..run(rest, is_of_path)];
    let drive = rest.as_bytes().get(1..3) == Some(b":\\".as_slice());
    let windows = drive && path.to_ascii_lowercase().contains("\\temp\\");
    let length = path.trim_end_matches(['.', ':']).len();
    ((unix || windows) && ends(rest, length)).then_some((length, "<temporary>"))
}

fn is_of_path(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !b"\"'`<>()[]{},;|".contains(&byte)
}

/// Addresses: hexadecimal numbers as long as a word of the machine. Shorter ones are values.
fn address(rest: &str) -> Match {
    let digits = run(rest.strip_prefix("0x")?, |byte| byte.is_ascii_hexdigit());
    (digits >= 8 && ends(rest, 2 + digits)).then_some((2 + digits, "<address>"))
}

fn uuid(rest: &str) -> Match {
    let mut at = 0;
    for (index, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            at += rest[at..].starts_with('-').then_some(1)?;
        }
        if run(&rest[at..], |byte| byte.is_ascii_hexdigit()) != length {
            return None;
        }
        at += length;
    }
    ends(rest, at).then_some((at, "<uuid>"))
}

/// Digests and the like: long, with digits and letters.
fn hex(rest: &str) -> Match {
    let length = run(rest, |byte| byte.is_ascii_hexdigit());
    let mixed = {
        let bytes = &rest.as_bytes()[..length];
        bytes.iter().any(u8::is_ascii_digit) && bytes.iter().any(u8::is_ascii_alphabetic)
    };
    (length >= 16 && mixed && ends(rest, length)).then_some((length, "<hex>"))
}

/// `2024-03-31`, with or without a time and a zone.
fn date(rest: &str) -> Match {
    let mut at = fixed(rest, 4)?;
    let separator = rest[at..]
        .chars()
        .next()
        .filter(|c| matches!(c, '-' | '/'))?;
    at += 1;
    at += fixed(&rest[at..], 2)?;
    at += rest[at..].starts_with(separator).then_some(1)?;
    at += fixed(&rest[at..], 2)?;
    if rest[at..].starts_with(['T', ' ']) {
        let clock = time(&rest[at + 1..]).or_else(|| minutes(&rest[at + 1..]));
        at += clock.map_or(0, |length| 1 + length);
    }
    ends(rest, at).then_some((at, "<time>"))
}

/// `02:30:15`, with or without fractions and a zone.
fn time(rest: &str) -> Option<usize> {
    let mut at = fixed(rest, 2)?;
    for _ in 0..2 {
        at += rest[at..].starts_with(':').then_some(1)?;
        at += fixed(&rest[at..], 2)?;
    }
    if rest[at..].starts_with(['.', ',']) {
        let digits = run(&rest[at + 1..], |byte| byte.is_ascii_digit());
        at += if digits > 0 { 1 + digits } else { 0 };
    }
    at += zone(&rest[at..]);
    ends(rest, at).then_some(at)
}

/// `02:30` behind a date.
fn minutes(rest: &str) -> Option<usize> {
    let mut at = fixed(rest, 2)?;
    at += rest[at..].starts_with(':').then_some(1)?;
    at += fixed(&rest[at..], 2)?;
    at += zone(&rest[at..]);
    ends(rest, at).then_some(at)
}

/// `Z`, `+01:00`, and the name in brackets that `ZonedDateTime` adds.
fn zone(rest: &str) -> usize {
    let offset = |rest: &str| {
        let hours = fixed(rest.strip_prefix(['+', '-'])?, 2)? + 1;
        let colon = usize::from(rest[hours..].starts_with(':'));
        Some(hours + colon + fixed(&rest[hours + colon..], 2)?)
    };
    let length = if rest.starts_with('Z') {
        1
    } else {
        offset(rest).unwrap_or(0)
    };
    let name = rest[length..].strip_prefix('[').and_then(|tail| {
        let end = run(tail, |byte| {
            byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte)
        });
        tail[end..].starts_with(']').then_some(end + 2)
    });
    length + name.filter(|_| length > 0).unwrap_or(0)
}

/// `Sun Mar 31 02:30:15 CET 2024`, as `Date.toString` has it.
fn written_date(rest: &str) -> Match {
    const DAYS: [&str; 7] = ["Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "];
    DAYS.iter().find(|day| rest.starts_with(**day))?;
    let mut at = 4;
    let month = run(&rest[at..], |byte| byte.is_ascii_alphabetic());
    at += (month == 3 && rest[at + 3..].starts_with(' ')).then_some(4)?;
    at += fixed(&rest[at..], 2)?;
    at += rest[at..].starts_with(' ').then_some(1)?;
    at += time(&rest[at..])?;
    at += rest[at..].starts_with(' ').then_some(1)?;
    let zone = run(&rest[at..], |byte| {
        byte.is_ascii_alphanumeric() || b"+-:".contains(&byte)
    });
    at += (zone > 0 && rest[at + zone..].starts_with(' ')).then_some(zone + 1)?;
    at += fixed(&rest[at..], 4)?;
    ends(rest, at).then_some((at, "<time>"))
}

/// `PT1.5S`, as `Duration.toString` has it.
fn iso_duration(rest: &str) -> Match {
    let length = run(rest, |byte| {
        byte.is_ascii_digit() || b"PTDHMS.-".contains(&byte)
    });
    let text = &rest[..length];
    let units = text.strip_prefix("PT")?;
    let fits = units.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && units.ends_with(['H', 'M', 'S'])
        && ends(rest, length);
    fits.then_some((length, "<duration>"))
}

/// `50 ms`, `0.25s`.
fn duration(rest: &str) -> Match {
    const UNITS: [&str; 20] = [
        "ns",
        "us",
        "µs",
        "ms",
        "s",
        "sec",
        "secs",
        "second",
        "seconds",
        "min",
        "mins",
        "minute",
        "minutes",
        "millis",
        "millisecond",
        "milliseconds",
        "nanos",
        "nanoseconds",
        "microseconds",
        "micros",
    ];
    let mut at = run(rest, |byte| byte.is_ascii_digit());
    if let Some(tail) = rest[at..].strip_prefix('.') {
        let digits = run(tail, |byte| byte.is_ascii_digit());
        at += if digits > 0 { 1 + digits } else { 0 };
    }
    at += usize::from(rest[at..].starts_with(' '));
    let letters = rest[at..].find(|c: char| !c.is_alphabetic());
    let unit = &rest[at..letters.map_or(rest.len(), |it| at + it)];
    let length = at + unit.len();
    (UNITS.contains(&unit) && ends(rest, length)).then_some((length, "<duration>"))
}

/// Numbers that the text says to be a port or a process.
fn announced(before: &str, rest: &str) -> Match {
    let digits = run(rest, |byte| byte.is_ascii_digit());
    if !(3..=9).contains(&digits) || !ends(rest, digits) {
        return None;
    }
    let words = ["pid", "process", "port", "tid"];
    let named = before.trim_end_matches([' ', '=', ':', '#']);
    let keyword = named
        .rsplit(|c: char| !is_word(c))
        .next()
        .unwrap_or_default();
    let told =
        named.len() < before.len() && words.iter().any(|word| keyword.eq_ignore_ascii_case(word));
    if told {
        return Some((digits, "<number>"));
    }
    let host = before.strip_suffix(':')?;
    let word = host
        .rsplit(|c: char| !is_word(c) && c != '.')
        .next()
        .unwrap_or_default();
    let numbers = word
        .split('.')
        .filter(|part| part.parse::<u8>().is_ok())
        .count();
    let local = word == "localhost" || (numbers == 4 && word.split('.').count() == 4);
    (local && (4..=5).contains(&digits)).then_some((digits, "<port>"))
}

/// From so many digits on a number is a time, or drawn at random. The ends of the ranges of `int`
/// and `long` are neither.
const LONG: usize = 10;

fn long_number(before: &str, rest: &str) -> Match {
    const ENDS: [&str; 6] = [
        "2147483647",
        "2147483648",
        "4294967295",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
    ];
    let digits = run(rest, |byte| byte.is_ascii_digit());
    let decimal = before.ends_with('.') || continues(rest, digits);
    let long = digits >= LONG && !decimal && !ENDS.contains(&&rest[..digits]);
    (long && ends(rest, digits)).then_some((digits, "<number>"))
}

/// The number of bytes at the start that satisfy a condition; it must hold for bytes of ASCII only, or for
/// all others.
fn run(text: &str, condition: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| condition(*byte)).count()
}

/// Exactly so many digits.
fn fixed(text: &str, count: usize) -> Option<usize> {
    (run(text, |byte| byte.is_ascii_digit()) == count).then_some(count)
}

fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '>')
}

/// True if no word goes on behind so many bytes.
fn ends(text: &str, length: usize) -> bool {
    !text[length..].chars().next().is_some_and(goes_on)
}

fn goes_on(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '<')
}

/// True if a dot or hyphen joins more to it: a number with fractions, a host, a version.
fn continues(text: &str, length: usize) -> bool {
    let mut rest = text[length..].chars();
    let joined = matches!(rest.next(), Some('.' | '-'));
    joined && rest.next().is_some_and(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(mask(text), expect, "{text}");
    }

    #[test]
    fn what_differs_from_run_to_run_is_masked() {
        check("was <shop.Cart@1b2c3d4>", "was <shop.Cart@<hash>>");
        check(
            "[I@6d06d69c and [La.B;@7852e92",
            "[I@<hash> and [La.B;@<hash>",
        );
        check("of loader 'app' @5e2de80c)", "of loader 'app' @<hash>)");
        check("at 0x00007f100414e908", "at <address>");
        check("no 123e4567-e89b-12d3-a456-426614174000!", "no <uuid>!");
        check("sha d41d8cd98f00b204e9800998ecf8427e", "sha <hex>");
        check(
            "a.B$$Lambda$14/0x00007f1004@1b2c3d",
            "a.B$$Lambda<id>@<hash>",
        );
        check("a.B$$Lambda/0x00007f1004.run", "a.B$$Lambda<id>.run");
        check("com.sun.proxy.$Proxy12.run", "com.sun.proxy.$Proxy<id>.run");
        check("Cart$MockitoMock$1820342", "Cart$MockitoMock$<id>");
        check(
            "in thread pool-1-thread-3",
            "in thread pool-<id>-thread-<id>",
        );
        check("junit-timeout-thread-1: x", "junit-timeout-thread-<id>: x");
        check("epoch 1700000000123", "epoch <number>");
        check(
            "was:\n  a.B: no\n\tat a.C.d(C.java:3)\n\t...(70 remaining lines not displayed)\nand",
            "was:\n  a.B: no\n<stack>\nand",
        );
        check("meet\n\tat noon", "meet\n\tat noon");
    }

    #[test]
    fn times_are_masked() {
        check("on 2024-03-31 at", "on <time> at");
        check("2024-03-31T02:30:15.123+01:00[Europe/Berlin]", "<time>");
        check("\"2024-03-31T02:30Z\"", "\"<time>\"");
        check("2024-03-31 02:30:15,123 x", "<time> x");
        check("Sun Mar 31 02:30:15 CET 2024.", "<time>.");
        check(
            "timed out after 50 ms (0.25s)",
            "timed out after <duration> (<duration>)",
        );
        check("took PT1.5S", "took <duration>");
    }

    #[test]
    fn temporary_files_ports_and_processes_are_masked() {
        check("/tmp/junit551273/a.txt: gone", "<temporary>: gone");
        check("file:/var/folders/x/T/a (no)", "file:<temporary> (no)");
        check("C:\\Users\\me\\AppData\\Local\\Temp\\a.txt", "<temporary>");
        check("data/junit5512739817236451.dat", "data/junit<number>.dat");
        check(
            "localhost:8080 and /127.0.0.1:54321",
            "localhost:<port> and /127.0.0.1:<port>",
        );
        check("port 54321, pid=1234", "port <number>, pid=<number>");
    }

    #[test]
    fn what_a_message_tells_stays() {
        for text in [
            "Index 5 out of bounds for length 3",
            "Value 2147483648 is out of range, 0.30000000000000004",
            "magic 0xCAFE at Cart.java:1234",
            "java.base@17.0.15, me@cafe.org, Foo@1f",
            "/home/tmp/a, process 3 of 5, ratio 12:30",
            "expected: <3> but was: <2>",
            "v1.2.3-beta, UTF-8, Foo$1",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn numbers_and_quotes_are_literals() {
        let check = |text: &str, expect: &str| assert_eq!(mask_literals(text), expect, "{text}");
        check(
            "Index -1 out of bounds for length 3",
            "Index <n> out of bounds for length <n>",
        );
        check(
            "For input string: \"x1\\\"2\"",
            "For input string: <text><n>\"",
        );
        check("can't find 'a b' in 'it's'", "can't find <text> in <text>");
        check("Cart@1b2c3d has 5", "Cart@<hash> has <n>");
    }
}
