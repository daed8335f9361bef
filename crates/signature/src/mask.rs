//! Parts of messages that do not tell one failure from another, replaced by placeholders.
//!
//! There are three levels, each with the shapes of the one before: [`normalise`] replaces the parts that depend on how
//! a program is run, [`mask`] those that differ from run to run, and [`mask_literals`] all numbers and quoted texts.
//!
//! Shapes start where no word goes on and end where none does, and look at the original text only;
//! the brackets of placeholders count as parts of words on their outer side, so that text beside a
//! placeholder is not masked later on. That makes masking idempotent.

mod clock;
mod number;
mod place;
mod run;

use place::{Match, Place, digits, goes_on};

/// Replaces what depends on how a program is run, and not on what it does: class loaders, modules and identity hashes
/// in messages of the JVM, addresses, the names that the JVM and mocking libraries make up, numbers of threads,
/// lines of stacks, and folders for temporary files. Two messages that are equal afterwards say the same.
pub fn normalise(text: &str) -> String {
    replace(text, run::shape)
}

/// Replaces all that [`normalise`] does, and what differs from run to run: UUIDs, digests, dates, times, durations, temporary
/// paths, ports and processes, very long numbers. Other numbers stay: they are what a message tells.
pub fn mask(text: &str) -> String {
    replace(text, |place| {
        let volatile = number::temporary(place).or_else(|| run::shape(place));
        let volatile = volatile.or_else(|| clock::shape(place));
        volatile.or_else(|| number::shape(place))
    })
}

/// Replaces all that [`mask`] does, every other number, and what is in quotes: what remains is
/// the text that the author of the message wrote.
pub fn mask_literals(text: &str) -> String {
    replace(&mask(text), literal)
}

/// The longest text that is masked, in bytes. Looking for shapes may take the square of the length, and a program may make
/// messages of any length; a longer one stays as it is.
const LONGEST: usize = 32 << 10;

fn replace(text: &str, shape: impl Fn(&Place<'_>) -> Match) -> String {
    if text.len() > LONGEST {
        return text.to_owned();
    }
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let (before, rest) = text.split_at(at);
        match shape(&Place { before, rest }) {
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

fn literal(place: &Place<'_>) -> Match {
    let (rest, inside) = (place.rest, place.is_inside_word());
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
        let length = digits(signed.unwrap_or(rest));
        (length > 0).then(|| (rest.len() - signed.unwrap_or(rest).len() + length, "<n>"))
    };
    quoted('"').or_else(|| quoted('\'')).or_else(number)
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
        check("at 0x7f100414", "at <address>");
        check("no 123e4567-e89b-12d3-a456-426614174000!", "no <uuid>!");
        check("sha d41d8cd98f00b204e9800998ecf8427e", "sha <hex>");
        check("epoch 1700000000123", "epoch <number>");
    }

    #[test]
    fn a_message_of_any_length_takes_bounded_time() {
        for part in ["0", ":", "(", "'", "a\n"] {
            let text = part.repeat(4 << 20);
            assert!(mask(&text) == text && normalise(&text) == text, "{part:?}");
        }
    }

    #[test]
    fn times_are_masked() {
        check("on 2024-03-31 at", "on <time> at");
        check("2024-03-31T02:30:15.123+01:00[Europe/Berlin]", "<time>");
        check("\"2024-03-31T02:30Z\"", "\"<time>\"");
        let number = "6".repeat(20);
        for text in [
            format!("10:00:00Z[{number}]{number}"),
            format!("10:00:00.{number}c"),
        ] {
            check(&mask(&text), &mask(&text));
        }
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
        check(
            "in /tmp/a. Then /tmp/b.",
            "in <temporary>. Then <temporary>.",
        );
        let joined = "/tmp/x.1s\u{1}<b>";
        check(&mask(joined), &mask(joined));
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
