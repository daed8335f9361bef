//! Output compared with a page: volatile parts are masked, and `...` stands for any lines.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex_lite::Regex;

/// The line that stands for any lines.
const ELLIPSIS: &str = "...";

/// Parts of the output that differ from run to run.
const VOLATILE: [(&str, &str); 8] = [
    (r"\b[0-9]+(\.[0-9]+)? (ms|s|min)\b", "<time>"),
    (r"\bin [0-9]+(\.[0-9]+)? (s|ms)\b", "in <time>"),
    (r"\bafter [0-9]+ runs\b", "after <n> runs"),
    // The time for them is limited.
    (r"\b[0-9]+ experiments?\b", "<n> experiments"),
    (r"\bjvm-[0-9]+\b", "jvm-<pid>"),
    (r"\bpid [0-9]+\b", "pid <pid>"),
    (r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9:]{8} UTC)?\b", "<date>"),
    (r"\b[0-9]+(\.[0-9]+)? [KMG]B\b", "<size>"),
];

fn volatile() -> &'static [(Regex, &'static str)] {
    static FOUND: OnceLock<Vec<(Regex, &str)>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let compiled = VOLATILE.map(|(pattern, mask)| (Regex::new(pattern).unwrap(), mask));
        compiled.into()
    })
}

/// What is ignored in a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Masks {
    /// All numbers are ignored.
    pub(crate) numbers_vary: bool,
}

impl Masks {
    /// Whether output is as expected.
    pub(crate) fn matches(self, expected: &[String], printed: &[String]) -> bool {
        let expected: Vec<String> = expected.iter().map(|line| self.masked(line)).collect();
        let printed: Vec<String> = printed.iter().map(|line| self.masked(line)).collect();
        lines_match(&expected, &printed)
    }

    fn masked(self, line: &str) -> String {
        let mut line = Cow::Borrowed(line.trim_end());
        for (pattern, mask) in volatile() {
            line = Cow::Owned(pattern.replace_all(&line, *mask).into_owned());
        }
        if !self.numbers_vary {
            return line.into_owned();
        }
        let mut masked = String::new();
        for letter in line.chars() {
            match letter.is_ascii_digit() {
                true if masked.ends_with('0') => {}
                true => masked.push('0'),
                false => masked.push(letter),
            }
        }
        masked
    }
}

fn lines_match(expected: &[String], printed: &[String]) -> bool {
    match (expected.split_first(), printed.split_first()) {
        (None, printed) => printed.is_none(),
        (Some((first, rest)), _) if first == ELLIPSIS => {
            (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..]))
        }
        (Some((first, rest)), Some((line, lines))) => first == line && lines_match(rest, lines),
        (Some(_), None) => false,
    }
}

/// The output for a page: as many lines before and after `...` as the page had there.
pub(crate) fn shortened(printed: &[String], old: &[String]) -> Vec<String> {
    let is_left_out = |line: &String| line == ELLIPSIS;
    let before = old.iter().position(is_left_out);
    let after = old.iter().rev().position(is_left_out);
    match before.zip(after) {
        Some((before, after)) if before + after < printed.len() => {
            let head = printed[..before].iter().cloned();
            let tail = printed[printed.len() - after..].iter().cloned();
            head.chain([ELLIPSIS.to_owned()]).chain(tail).collect()
        }
        _ => printed.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    fn matches(expected: &str, printed: &str, numbers_vary: bool) -> bool {
        Masks { numbers_vary }.matches(&lines(expected), &lines(printed))
    }

    #[test]
    fn times_sizes_and_process_ids_are_ignored() {
        let expected = "replayed in 199 ms, 8.1 KB, run/jvm-17.culprit";
        let printed = "replayed in 2.3 s, 12 KB, run/jvm-4.culprit";
        assert!(matches(expected, printed, false));
    }

    #[test]
    fn other_numbers_count_unless_they_vary() {
        assert!(!matches("55 events", "54 events", false));
        assert!(matches("55 events", "154 events", true));
        assert!(!matches("55 events", "154 calls", true));
    }

    #[test]
    fn an_ellipsis_stands_for_any_lines() {
        assert!(matches("a\n...\nd", "a\nb\nc\nd", false));
        assert!(matches("a\n...", "a", false));
        assert!(!matches("a\n...\nd", "a\nb", false));
        assert!(!matches("a", "a\nb", false));
    }

    #[test]
    fn new_output_is_as_short_as_the_old_one() {
        let printed = lines("1\n2\n3\n4\n5");
        assert_eq!(
            shortened(&printed, &lines("a\n...\nb\nc")),
            lines("1\n...\n4\n5")
        );
        assert_eq!(shortened(&printed, &lines("a\nb")), printed);
    }
}
