//! Names and numbers that a program draws at random or gets from the system: UUIDs, digests, temporary files, ports,
//! processes, very long numbers.

use super::place::{Match, Place, continues, digits, ends, is_word, run, temporary_path};

/// From so many digits on a number is a time, or drawn at random. The ends of the ranges of `int`
/// and `long` are neither.
const LONG: usize = 10;

pub(super) fn shape(place: &Place<'_>) -> Match {
    let (first, before, rest) = (place.first()?, place.before, place.rest);
    if !first.is_ascii_alphanumeric() {
        return None;
    }
    if place.is_inside_word() {
        return random_name(before, rest);
    }
    uuid(rest).or_else(|| hex(rest)).or_else(|| {
        let number = || announced(before, rest).or_else(|| long_number(before, rest));
        let address = || address(rest).or_else(number);
        let named = || random_name(before, rest).or_else(address);
        first.is_ascii_digit().then(named).flatten()
    })
}

/// A path in a folder for temporary files.
pub(super) fn temporary(place: &Place<'_>) -> Match {
    Some((temporary_path(place)?.len(), "<temporary>"))
}

/// The random part of a temporary name: `junit5512739817236451`.
fn random_name(before: &str, rest: &str) -> Match {
    let digits = digits(rest);
    let name = before.ends_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '-'));
    (name && digits >= LONG && ends(rest, digits)).then_some((digits, "<number>"))
}

/// Hexadecimal numbers as long as a word of the machine. Shorter ones are values.
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

/// Numbers that the text says to be a port or a process.
fn announced(before: &str, rest: &str) -> Match {
    let digits = digits(rest);
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

fn long_number(before: &str, rest: &str) -> Match {
    const ENDS: [&str; 6] = [
        "2147483647",
        "2147483648",
        "4294967295",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
    ];
    let digits = digits(rest);
    let decimal = before.ends_with('.') || continues(rest, digits);
    let long = digits >= LONG && !decimal && !ENDS.contains(&&rest[..digits]);
    (long && ends(rest, digits)).then_some((digits, "<number>"))
}
