//! Pieces next to each other that can only be removed together, and lines and brackets that fail alone.

use std::ops::Range;

use super::brackets;
use super::cut::{Content, Grain, cut};

/// The largest number of pieces of a text whose neighbours are removed together: each is a test or several.
const PIECES: usize = 64;

/// Pieces that go together, at most.
const LONGEST: usize = 4;

/// What is left of a text, by what was done, the smallest first where that costs few tests. One is
/// made when it is asked for.
pub(crate) fn of(text: &[u8]) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let (lines, tokens) = match Content::of(text) {
        Content::Binary => (Vec::new(), pieces(text, Grain::Bytes)),
        _ => (pieces(text, Grain::Lines), pieces(text, Grain::Tokens)),
    };
    let mut alone = Vec::new();
    if lines.len() > 1 {
        alone.extend(lines.iter().map(|line| ("one line", line.clone())));
    }
    let groups = brackets::matching(text);
    if groups.len() <= PIECES {
        let groups = groups.into_iter().map(|(start, end)| start..end + 1);
        let groups = groups.filter(|group| group.len() < text.len());
        alone.extend(groups.map(|group| ("one group", group)));
    }
    let mut gone = Vec::new();
    for (name, pieces) in [("runs of lines", lines), ("runs of tokens", tokens)] {
        for length in 2..=LONGEST.min(pieces.len().saturating_sub(1)) {
            let runs = pieces.windows(length);
            gone.extend(runs.map(|run| (name, run[0].start..run[length - 1].end)));
        }
    }
    let alone = alone
        .into_iter()
        .map(|(name, left)| (name, text[left].to_vec()));
    let without = gone.into_iter().map(|(name, gone)| {
        let left = [&text[..gone.start], &text[gone.end..]].concat();
        (name, left)
    });
    alone.chain(without)
}

/// The pieces, if they are few.
fn pieces(text: &[u8], grain: Grain) -> Vec<Range<usize>> {
    let some: Vec<_> = cut(text, grain).take(PIECES + 1).collect();
    match some.len() <= PIECES {
        true => some,
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_go_together_and_a_line_stays_alone() {
        let of = |text: &str| -> Vec<String> {
            let all = of(text.as_bytes());
            all.map(|(_, left)| String::from_utf8(left).unwrap())
                .collect()
        };
        assert_eq!(of("a+b"), ["b", "a"]);
        assert_eq!(of("x"), [""; 0]);
        let lines = of("if\nls\nfi\n");
        assert_eq!(lines[..3], ["if\n", "ls\n", "fi\n"]);
        assert!(lines.contains(&"fi\n".to_owned()) && lines.contains(&"if\nls\n".to_owned()));
        assert!(of(&"a ".repeat(100)).is_empty());
        assert!(of("if x;then(ls|g)fi").contains(&"(ls|g)".to_owned()));
    }
}
