//! The difference of two texts as deltas.
//!
//! Without an old text each piece of the new one is a delta. Otherwise the two are compared piece by
//! piece; where pieces stand for others, pairs of them are one delta each, and finer cuts look into the
//! pairs later.

use std::ops::Range;
use std::sync::Arc;

use imara_diff::{Algorithm, Diff, InternedInput};

use super::cut::{Grain, cut};
use super::edits::Edits;

/// More pieces than this are taken several at a time, until some are gone.
pub(crate) const MOST: usize = 1 << 17;

/// The difference, and whether pieces were joined because there are so many.
pub(crate) struct Changes {
    pub(crate) edits: Edits,
    pub(crate) is_joined: bool,
}

/// What the new text has and the old one has not, and the other way round.
pub(crate) fn changes(old: &[u8], new: &Arc<Vec<u8>>, grain: Grain) -> Changes {
    let start = common_start(old, new, grain);
    let end = common_end(&old[start..], &new[start..], grain);
    let (old_part, new_part) = (start..old.len() - end, start..new.len() - end);
    let mut edits = Edits::new(Arc::clone(new));
    let mut is_joined = false;
    if old_part.is_empty() {
        let pieces = cut(&new[new_part.clone()], grain).count();
        let join = pieces.div_ceil(MOST).max(1);
        is_joined = join > 1;
        let mut pieces = cut(&new[new_part.clone()], grain);
        while let Some(first) = pieces.next() {
            let last = pieces.by_ref().take(join - 1).last();
            let end = last.map_or(first.end, |last| last.end);
            edits.add(start + first.start..start + end, b"");
        }
    } else if new_part.is_empty() {
        for piece in cut(&old[old_part.clone()], grain) {
            let text = &old[start + piece.start..start + piece.end];
            edits.add(start..start, text);
        }
    } else {
        compare((old, old_part), (new, new_part), grain, &mut edits);
    }
    Changes {
        edits: edits.sorted(),
        is_joined,
    }
}

/// Adds the differences of two parts.
fn compare(
    (old, old_part): (&[u8], Range<usize>),
    (new, new_part): (&[u8], Range<usize>),
    grain: Grain,
    edits: &mut Edits,
) {
    let ranges = |text: &[u8], part: &Range<usize>| -> Vec<Range<usize>> {
        let pieces = cut(&text[part.clone()], grain);
        let moved = pieces.map(|piece| part.start + piece.start..part.start + piece.end);
        moved.collect()
    };
    let (olds, news) = (ranges(old, &old_part), ranges(new, &new_part));
    let mut input = InternedInput::default();
    input.update_before(olds.iter().map(|piece| &old[piece.clone()]));
    input.update_after(news.iter().map(|piece| &new[piece.clone()]));
    for hunk in Diff::compute(Algorithm::Histogram, &input).hunks() {
        let these = hunk.before.start as usize..hunk.before.end as usize;
        let those = hunk.after.start as usize..hunk.after.end as usize;
        let here = news
            .get(those.start)
            .map_or(new_part.end, |piece| piece.start);
        let end = match those.is_empty() {
            true => here,
            false => news[those.end - 1].end,
        };
        let pairs = these.len().min(those.len());
        for (this, that) in these.clone().zip(those.clone()) {
            edits.add(news[that].clone(), &old[olds[this].clone()]);
        }
        for that in those.skip(pairs) {
            edits.add(news[that].clone(), b"");
        }
        for this in these.skip(pairs) {
            edits.add(end..end, &old[olds[this].clone()]);
        }
    }
}

/// How many bytes at the start are the same, up to where both are cut.
fn common_start(old: &[u8], new: &[u8], grain: Grain) -> usize {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    if same == old.len() && same == new.len() {
        return same;
    }
    // No piece but a section goes over the end of a line.
    let line = match grain {
        Grain::Sections => 0,
        Grain::Bytes => return same,
        _ => line_start(&new[..same]),
    };
    let mut last = line;
    for piece in cut(&new[line..same], grain) {
        if line + piece.end < same {
            last = line + piece.end;
        }
    }
    // A piece that ends where they differ may go on in one of them.
    let ends = |text: &[u8]| {
        let next = cut(&text[last..], grain).next();
        next.map_or(last, |piece| last + piece.end)
    };
    match ends(old) == same && ends(new) == same {
        true => same,
        false => last,
    }
}

/// Where the last line of a text begins that has something in it.
fn line_start(text: &[u8]) -> usize {
    let before = text.len().saturating_sub(1);
    let end = text[..before].iter().rposition(|byte| *byte == b'\n');
    end.map_or(0, |end| end + 1)
}

/// The same at the end, of what comes after the start.
fn common_end(old: &[u8], new: &[u8], grain: Grain) -> usize {
    let pairs = old.iter().rev().zip(new.iter().rev());
    let same = pairs.take_while(|(a, b)| a == b).count();
    if same == 0 {
        return 0;
    }
    // The end of the first piece that ends within the common part, in both.
    let cut_in = |text: &[u8]| -> Option<usize> {
        let border = text.len() - same;
        let mut ends = cut(text, grain).map(|piece| piece.end);
        ends.find(|end| *end >= border).map(|end| text.len() - end)
    };
    match (cut_in(old), cut_in(new)) {
        _ if old.len() == same || new.len() == same => {
            // One of them has nothing else: pieces of the other may begin anywhere.
            let other = if old.len() == same { new } else { old };
            cut_in(other).filter(|end| *end <= same).unwrap_or(0)
        }
        (Some(a), Some(b)) => a.min(b),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use culprit_reduce::DeltaSet;
    use proptest::prelude::*;

    use super::*;

    fn text(edits: &Edits, kept: &[u64]) -> String {
        let kept: DeltaSet = kept.iter().copied().collect();
        String::from_utf8(edits.render(&kept)).unwrap()
    }

    fn of(old: &str, new: &str, grain: Grain) -> Edits {
        changes(old.as_bytes(), &Arc::new(new.as_bytes().to_vec()), grain).edits
    }

    #[test]
    fn without_an_old_text_each_piece_is_a_delta() {
        let edits = of("", "a\nb\nc\n", Grain::Lines);
        assert_eq!(edits.len(), 3);
        assert_eq!(text(&edits, &[0, 2]), "a\nc\n");
    }

    #[test]
    fn what_stands_for_something_else_is_one_delta() {
        let edits = of("a\nb\nc\nd\n", "a\nX\nc\nd\ne\n", Grain::Lines);
        assert_eq!(edits.len(), 2);
        assert_eq!(text(&edits, &[0]), "a\nX\nc\nd\n");
        assert_eq!(text(&edits, &[1]), "a\nb\nc\nd\ne\n");
        let edits = of("size=17 px", "size=23 px", Grain::Tokens);
        assert_eq!(
            (edits.len(), text(&edits, &[])),
            (1, "size=17 px".to_owned())
        );
        let edits = of("size=17 px", "size=23 px", Grain::Characters);
        assert_eq!(
            (edits.len(), text(&edits, &[1])),
            (2, "size=13 px".to_owned())
        );
    }

    #[test]
    fn what_only_the_old_text_has_is_a_delta_too() {
        let edits = of("abc", "c", Grain::Characters);
        assert_eq!(edits.len(), 2);
        assert_eq!(
            (text(&edits, &[0]), text(&edits, &[1])),
            ("bc".to_owned(), "ac".to_owned())
        );
    }

    #[test]
    fn many_pieces_are_joined() {
        let new = Arc::new(vec![b'x'; MOST + 5]);
        let changes = changes(b"", &new, Grain::Bytes);
        assert!(changes.is_joined);
        assert_eq!(changes.edits.len(), (MOST as u64 + 5).div_ceil(2));
        assert_eq!(changes.edits.render(&DeltaSet::all(1)).len(), 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn all_deltas_are_the_new_text_and_none_the_old(old in "[ab \n\r]{0,20}", new in "[ab \n\ré]{0,20}") {
            for grain in [Grain::Sections, Grain::Lines, Grain::Tokens, Grain::Characters, Grain::Bytes] {
                let new = Arc::new(new.clone().into_bytes());
                let edits = changes(old.as_bytes(), &new, grain).edits;
                prop_assert_eq!(edits.render(&DeltaSet::all(edits.len())), new.to_vec());
                prop_assert_eq!(String::from_utf8(edits.render(&DeltaSet::empty())), Ok(old.clone()));
            }
        }
    }
}
