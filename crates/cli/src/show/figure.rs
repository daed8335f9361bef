//! Figures and texts as people read them: grouped digits, sizes, durations, wrapped lines.

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with its noun: `1 byte`, `2,000 classes`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let ending = match (number, noun.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{} {noun}{ending}", grouped(number))
}

/// A size with a unit.
pub(crate) fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["KB", "MB", "GB", "TB"] {
        value /= 1024.0;
        if value < 1000.0 {
            return match bytes {
                0..1024 => counted(bytes, "byte"),
                _ => format!("{value:.1} {unit}"),
            };
        }
    }
    format!("{} TB", grouped(value as u64))
}

/// A duration with a unit.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{:.1} s", ms as f64 / 1000.0),
        120_000..7_200_000 => format!("{} min {} s", ms / 60_000, ms / 1000 % 60),
        _ => format!("{} h {} min", ms / 3_600_000, ms / 60_000 % 60),
    }
}

/// A point in time, in UTC.
pub(crate) fn time(ms: u64) -> String {
    i64::try_from(ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        .map_or_else(
            || "at an unknown time".to_owned(),
            |at| at.strftime("%F %T UTC").to_string(),
        )
}

/// Breaks a text into lines of at most `width` characters, at spaces where possible.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let line = lines.last_mut().expect("there is always a line");
            let used = line.chars().count();
            let gap = usize::from(used > 0);
            if used + gap + word.len() <= width {
                line.extend(" ".chars().take(gap));
                line.extend(word);
                break;
            }
            if used == 0 {
                line.extend(word.drain(..width));
            }
            lines.push(String::new());
        }
    }
    lines
}

/// Words in lines of at most `width` characters, all but the first behind an indent. None is broken,
/// so that paths can be copied.
pub(crate) fn joined<'w>(
    words: impl IntoIterator<Item = &'w str>,
    indent: &str,
    width: usize,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{indent}{word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A text of at most `width` characters, with its middle left out where it is longer.
pub(crate) fn clipped(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(3);
    let head: String = text.chars().take(kept - kept / 2).collect();
    let tail: String = text.chars().skip(length - kept / 2).collect();
    format!("{head}...{tail}")
}

/// A text of at most `width` characters, with its end left out where it is longer.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let head: String = text.chars().take(width.saturating_sub(3)).collect();
    format!("{head}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_but_never_broken() {
        let joined = |indent| joined("aaaa bb cccccccccc d".split(' '), indent, 7);
        assert_eq!(joined(""), ["aaaa bb", "cccccccccc", "d"]);
        assert_eq!(joined("  "), ["aaaa bb", "  cccccccccc", "  d"]);
    }

    #[test]
    fn figures_are_short_and_have_units() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "class"), "1 class");
        assert_eq!(counted(2, "class"), "2 classes");
        assert_eq!(size(1), "1 byte");
        assert_eq!(size(1023), "1,023 bytes");
        assert_eq!(size(1024), "1.0 KB");
        assert_eq!(size(5 << 20), "5.0 MB");
        assert_eq!(size(u64::MAX), "16,777,216 TB");
        assert_eq!(duration(999), "999 ms");
        assert_eq!(duration(1_250), "1.2 s");
        assert_eq!(duration(3_723_000), "62 min 3 s");
        assert_eq!(time(1_700_000_000_000), "2023-11-14 22:13:20 UTC");
        assert_eq!(time(u64::MAX), "at an unknown time");
    }

    #[test]
    fn lines_are_never_wider_than_asked() {
        assert_eq!(
            wrap("java -cp a.jar Main", 9),
            ["java -cp", "a.jar", "Main"]
        );
        assert_eq!(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(clipped("abcdefghij", 7), "ab...ij");
        assert_eq!(clipped("abcd", 4), "abcd");
        assert_eq!(cut("abcdefghij", 7), "abcd...");
        assert_eq!(cut("abcd", 4), "abcd");
    }
}
