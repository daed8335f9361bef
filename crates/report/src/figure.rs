//! Figures and texts as people read them: grouped digits, sizes, durations, wrapped lines.

use std::borrow::Cow;
use std::time::Duration;

pub use culprit_model::count::{counted, grouped};
use jiff::fmt::friendly::{Spacing, SpanPrinter};
use textwrap::core::Word;
use textwrap::wrap_algorithms::wrap_first_fit;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// The most columns of a line of text.
pub const COLUMNS: usize = 80;

/// A size with a unit.
pub fn size(bytes: u64) -> String {
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
pub fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{:.1} s", ms as f64 / 1000.0),
        120_000..7_200_000 => format!("{} min {} s", ms / 60_000, ms / 1000 % 60),
        _ => format!("{} h {} min", ms / 3_600_000, ms / 60_000 % 60),
    }
}

/// A duration as a user would type it for an option: `1m30s`.
pub fn typed_duration(time: Duration) -> String {
    let printer = SpanPrinter::new().spacing(Spacing::None);
    printer.unsigned_duration_to_string(&time)
}

/// A point in time, in UTC.
pub fn time(ms: u64) -> String {
    i64::try_from(ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        .map_or_else(
            || "at an unknown time".to_owned(),
            |at| at.strftime("%F %T UTC").to_string(),
        )
}

/// Breaks a text into lines of at most `width` columns, at spaces where possible. Spaces at the beginning are
/// left out.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    lines(text.trim_start_matches(' '), at_spaces(width))
}

/// Breaks a text into lines of at most `width` columns, all but the first behind an indent. Longer words
/// stay whole, so that paths can be copied.
pub fn wrap_words(text: &str, indent: &str, width: usize) -> Vec<String> {
    let options = at_spaces(width).break_words(false);
    lines(text, options.subsequent_indent(indent))
}

/// Puts words, which may contain spaces, into lines of at most `width` columns. Words stay whole.
pub fn fill(words: &[String], width: usize) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|word| format!("{word} ")).collect();
    let words: Vec<Word<'_>> = words.iter().map(|word| Word::from(word)).collect();
    let lines = wrap_first_fit(&words, &[width as f64]);
    let line = |words: &[Word<'_>]| words.iter().map(|it| it.word).collect::<Vec<_>>().join(" ");
    lines.into_iter().map(line).collect()
}

fn at_spaces<'a>(width: usize) -> Options<'a> {
    Options::new(width)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
}

fn lines(text: &str, options: Options<'_>) -> Vec<String> {
    let lines = textwrap::wrap(text, options);
    lines.into_iter().map(Cow::into_owned).collect()
}

/// A text of at most `width` characters, with its middle left out where it is longer.
pub fn clipped(text: &str, width: usize) -> String {
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
pub fn cut(text: &str, width: usize) -> String {
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
    fn words_stay_whole() {
        let wrapped = |indent| wrap_words("aaaa bb cccccccccc d", indent, 7);
        assert_eq!(wrapped(""), ["aaaa bb", "cccccccccc", "d"]);
        assert_eq!(wrapped("  "), ["aaaa bb", "  cccccccccc", "  d"]);
        let words = ["-a b", "-c", "-d eeeeee"].map(str::to_owned);
        assert_eq!(fill(&words, 7), ["-a b -c", "-d eeeeee"]);
    }

    #[test]
    fn figures_are_short_and_have_units() {
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
        assert_eq!(wrap("  a  b ", 9), ["a  b"]);
        assert_eq!(clipped("abcdefghij", 7), "ab...ij");
        assert_eq!(clipped("abcd", 4), "abcd");
        assert_eq!(cut("abcdefghij", 7), "abcd...");
        assert_eq!(cut("abcd", 4), "abcd");
    }
}
