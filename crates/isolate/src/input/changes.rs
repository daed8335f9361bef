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

/// The same where small pieces of two texts are compared. There are so few different ones that the time for it
/// grows with the square of their number.
const COMPARED: usize = 1 << 14;

/// Pieces in a block are at most so many times those that it must have.
const LONGEST: usize = 8;

/// Spreads bytes over the hash that borders of blocks are told by.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c16;

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
    let join = match (old_part.is_empty(), new_part.is_empty()) {
        (true, _) => {
            let (pieces, join) = joined(&new[new_part], grain);
            pieces.for_each(|piece| edits.add(start + piece.start..start + piece.end, b""));
            join
        }
        (false, true) => {
            let old = &old[old_part];
            let (pieces, join) = joined(old, grain);
            pieces.for_each(|piece| edits.add(start..start, &old[piece]));
            join
        }
        (false, false) => compare(Sides { old, new, grain }, (old_part, new_part), &mut edits),
    };
    Changes {
        edits: edits.sorted(),
        is_joined: join > 1,
    }
}

/// How many pieces are taken at a time where there are so many.
fn joint(pieces: usize, most: usize) -> usize {
    pieces.div_ceil(most).max(1)
}

/// The pieces of a text, as many at a time as they have to be, and how many that is.
fn joined(text: &[u8], grain: Grain) -> (impl Iterator<Item = Range<usize>>, usize) {
    let join = joint(cut(text, grain).count(), MOST);
    let mut pieces = cut(text, grain);
    let groups = std::iter::from_fn(move || {
        let first = pieces.next()?;
        let last = pieces.by_ref().take(join - 1).last();
        Some(first.start..last.map_or(first.end, |last| last.end))
    });
    (groups, join)
}

/// Two texts that are compared.
#[derive(Clone, Copy)]
struct Sides<'a> {
    old: &'a [u8],
    new: &'a [u8],
    grain: Grain,
}

/// A part of the old text and what stands for it in the new one.
type AlignedRange = (Range<usize>, Range<usize>);

/// Pieces of both that stand for each other.
struct Hunk {
    olds: Vec<Range<usize>>,
    news: Vec<Range<usize>>,
    part: AlignedRange,
}

/// Adds the differences of two parts; how many pieces were taken at a time.
fn compare(sides: Sides<'_>, whole: AlignedRange, edits: &mut Edits) -> usize {
    let most = match sides.grain {
        Grain::Sections | Grain::Lines => MOST,
        Grain::Tokens | Grain::Characters | Grain::Bytes => COMPARED,
    };
    let mut join = joint(sides.count([&whole]), most);
    let mut parts = vec![whole];
    let hunks = loop {
        let hunks: Vec<Hunk> = parts
            .iter()
            .flat_map(|part| sides.differing(part, join))
            .collect();
        // What is left where most is the same can be cut finer at once.
        let finer = joint(sides.count(hunks.iter().map(|hunk| &hunk.part)), most);
        if join == 1 || finer > join / 2 {
            break hunks;
        }
        join = finer;
        parts = hunks.into_iter().map(|hunk| hunk.part).collect();
    };
    for Hunk { olds, news, part } in hunks {
        let end = part.1.end;
        let pairs = olds.len().min(news.len());
        for (this, that) in olds.iter().zip(&news) {
            edits.add(that.clone(), &sides.old[this.clone()]);
        }
        for that in &news[pairs..] {
            edits.add(that.clone(), b"");
        }
        for this in &olds[pairs..] {
            edits.add(end..end, &sides.old[this.clone()]);
        }
    }
    join
}

impl Sides<'_> {
    /// How many pieces the parts have, on the side that has more.
    fn count<'p>(&self, parts: impl IntoIterator<Item = &'p AlignedRange>) -> usize {
        let (mut olds, mut news) = (0, 0);
        for (old, new) in parts {
            olds += cut(&self.old[old.clone()], self.grain).count();
            news += cut(&self.new[new.clone()], self.grain).count();
        }
        olds.max(news)
    }

    /// Where parts differ, with so many pieces at a time.
    fn differing(&self, (old_part, new_part): &AlignedRange, join: usize) -> Vec<Hunk> {
        let olds = blocks(self.old, old_part, self.grain, join);
        let news = blocks(self.new, new_part, self.grain, join);
        let mut input = InternedInput::default();
        input.update_before(olds.iter().map(|piece| &self.old[piece.clone()]));
        input.update_after(news.iter().map(|piece| &self.new[piece.clone()]));
        let diff = Diff::compute(Algorithm::Histogram, &input);
        let hunks = diff.hunks().map(|hunk| {
            let (olds, old) = some(&olds, hunk.before, old_part.end);
            let (news, new) = some(&news, hunk.after, new_part.end);
            Hunk {
                olds,
                news,
                part: (old, new),
            }
        });
        hunks.collect()
    }
}

/// Some pieces, and the part that they take up; of none the place where they would be.
fn some(
    pieces: &[Range<usize>],
    which: Range<u32>,
    end: usize,
) -> (Vec<Range<usize>>, Range<usize>) {
    let which = which.start as usize..which.end as usize;
    let start = pieces.get(which.start).map_or(end, |piece| piece.start);
    let some = pieces[which].to_vec();
    let end = some.last().map_or(start, |piece| piece.end);
    (some, start..end)
}

/// The pieces of a part, so many at a time or more. Where a block of them ends is told by the bytes
/// before it, so that texts which are the same but for what comes earlier have the same blocks.
fn blocks(text: &[u8], part: &Range<usize>, grain: Grain, join: usize) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let (mut start, mut count) = (part.start, 0);
    let mut hash = 0u64;
    for piece in cut(&text[part.clone()], grain) {
        count += 1;
        let end = part.start + piece.end;
        if join > 1 {
            for byte in &text[part.start + piece.start..end] {
                // The factor is even: what is 64 bytes back has no say.
                hash = hash.wrapping_mul(FACTOR).wrapping_add(u64::from(*byte) + 1);
            }
        }
        let is_border = join == 1 || (hash >> 32) % join as u64 == 0;
        if count >= join && is_border || count >= LONGEST * join || end == part.end {
            blocks.push(start..end);
            (start, count) = (end, 0);
        }
    }
    blocks
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

    /// Bytes of which no two places look alike.
    fn noise(count: usize, mut seed: u64) -> Vec<u8> {
        let mut next = || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (seed >> 56) as u8
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn few_places_in_much_that_is_the_same_are_cut_at_once() {
        let old = noise(3 * MOST, 1);
        let mut new = old.clone();
        new[2 * MOST] ^= 1;
        new.splice(100..100, *b"put in");
        new.remove(3 * MOST - 9);
        let changes = changes(&old, &Arc::new(new), Grain::Bytes);
        assert!(!changes.is_joined);
        assert_eq!(changes.edits.len(), 8);
        assert_eq!(changes.edits.render(&DeltaSet::empty()), old);
    }

    #[test]
    fn many_places_are_joined_on_either_side() {
        let (old, new) = (noise(2 * MOST + 9, 1), Arc::new(noise(3 * MOST, 2)));
        for new in [new, Arc::default()] {
            let changes = changes(&old, &new, Grain::Bytes);
            assert!(changes.is_joined);
            let count = changes.edits.len();
            assert!((1_000..=MOST as u64).contains(&count), "{count}");
            assert_eq!(changes.edits.render(&DeltaSet::empty()), old);
            assert_eq!(changes.edits.render(&DeltaSet::all(count)), *new);
        }
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
