//! The difference of two texts of one language, node by node.
//!
//! Both are read. Nodes of one kind are compared child by child, and so on down to what differs: a
//! value that stands for another, or nodes that only one side has, which go with the comma beside
//! them. So most sets of differences are well-formed, unlike those of lines. What lies between
//! nodes counts as a child, so that no difference is lost.

use std::ops::Range;
use std::sync::Arc;

use imara_diff::{Algorithm, Diff, InternedInput};
use tree_sitter::Node;

use super::edits::Edits;
use crate::{Digest, Language};

/// Of what lies between nodes.
const GAP: u16 = u16::MAX;

/// How far below a node its name may be.
const NAMED_WITHIN: usize = 4;

/// What the new text has and the old one has not, and the other way round. `None` if one of them is
/// not of the language.
pub(crate) fn node_changes(old: &[u8], new: &Arc<Vec<u8>>, language: Language) -> Option<Edits> {
    if !language.reads(old) || !language.reads(new) {
        return None;
    }
    let (before, after) = (language.parse(old)?, language.parse(new)?);
    let mut finder = Finder {
        old,
        new,
        found: Vec::new(),
        pairs: Vec::new(),
    };
    finder.roots(before.root_node(), after.root_node());
    while let Some((before, after)) = finder.pairs.pop() {
        finder.compare(before, after);
    }
    // What is put in at one place comes in the order of the old text.
    finder
        .found
        .sort_by_key(|(here, there)| (here.start, there.start));
    let mut edits = Edits::new(Arc::clone(new));
    for (here, there) in finder.found {
        edits.add(here, &old[there]);
    }
    Some(edits.sorted())
}

/// A child of a node, or what lies between two.
#[derive(Clone)]
struct NodePart<'t> {
    range: Range<usize>,
    kind: u16,
    node: Option<Node<'t>>,
}

impl NodePart<'_> {
    /// Whether it is something to leave out by itself.
    fn is_element(&self) -> bool {
        self.node.is_some_and(|node| node.is_named())
    }

    fn is_comma(&self) -> bool {
        self.node.is_some_and(|node| node.kind() == ",")
    }
}

struct Finder<'t> {
    old: &'t [u8],
    new: &'t [u8],
    /// A part of the new text, and of the old one that stands for it.
    found: Vec<(Range<usize>, Range<usize>)>,
    /// Nodes of one kind that differ.
    pairs: Vec<(Node<'t>, Node<'t>)>,
}

impl<'t> Finder<'t> {
    /// The roots, with what lies around them.
    fn roots(&mut self, old: Node<'t>, new: Node<'t>) {
        let whole = |node: Node<'t>, text: &[u8]| {
            let range = node.byte_range();
            let gap = |range: Range<usize>| NodePart {
                range,
                kind: GAP,
                node: None,
            };
            let end = text.len();
            [gap(0..range.start), part(node), gap(range.end..end)]
        };
        let (olds, news) = (whole(old, self.old), whole(new, self.new));
        for (old, new) in olds.iter().zip(&news) {
            self.pair(old, new);
        }
    }

    /// Compares the children of two nodes.
    fn compare(&mut self, old: Node<'t>, new: Node<'t>) {
        let (olds, news) = (parts(old), parts(new));
        let text = |whole: &[u8], part: &NodePart<'_>| Digest::of(&whole[part.range.clone()]);
        let same: Vec<(u16, Digest)> = olds
            .iter()
            .map(|it| (it.kind, text(self.old, it)))
            .collect();
        let other: Vec<(u16, Digest)> = news
            .iter()
            .map(|it| (it.kind, text(self.new, it)))
            .collect();
        for (these, those) in hunks(&same, &other) {
            self.named_alike((&olds, these), (&news, those), new.end_byte());
        }
    }

    /// Pairs nodes of one name within a stretch that differs.
    fn named_alike(
        &mut self,
        (olds, these): (&[NodePart<'t>], Range<usize>),
        (news, those): (&[NodePart<'t>], Range<usize>),
        end: usize,
    ) {
        let name =
            |text: &[u8], part: &NodePart<'_>| (part.kind, part.node.map(|it| label(it, text)));
        let before: Vec<_> = olds[these.clone()]
            .iter()
            .map(|it| name(self.old, it))
            .collect();
        let after: Vec<_> = news[those.clone()]
            .iter()
            .map(|it| name(self.new, it))
            .collect();
        let (mut this, mut that) = (these.start, those.start);
        let mut rest = Vec::new();
        for (gone, come) in hunks(&before, &after) {
            let (gone, come) = (
                these.start + gone.start..these.start + gone.end,
                those.start + come.start..those.start + come.end,
            );
            for (old, new) in olds[this..gone.start].iter().zip(&news[that..come.start]) {
                self.pair(old, new);
            }
            (this, that) = (gone.end, come.end);
            rest.push((gone, come));
        }
        for (old, new) in olds[this..these.end].iter().zip(&news[that..those.end]) {
            self.pair(old, new);
        }
        for (gone, come) in rest {
            let next = news.get(come.end).map_or(end, |part| part.range.start);
            self.unlike(&olds[gone], &news[come], next);
        }
    }

    /// Two that stand for each other.
    fn pair(&mut self, old: &NodePart<'t>, new: &NodePart<'t>) {
        let text = &self.old[old.range.clone()];
        if *text == self.new[new.range.clone()] {
            return;
        }
        match (old.node, new.node) {
            (Some(before), Some(after))
                if before.child_count() > 0
                    && after.child_count() > 0
                    && before.kind_id() == after.kind_id() =>
            {
                self.pairs.push((before, after));
            }
            _ => self.found.push((new.range.clone(), old.range.clone())),
        }
    }

    /// A stretch in which nothing has a counterpart by name.
    fn unlike(&mut self, olds: &[NodePart<'t>], news: &[NodePart<'t>], next: usize) {
        let kinds =
            |parts: &[NodePart<'_>]| -> Vec<u16> { parts.iter().map(|it| it.kind).collect() };
        let elements = |parts: &[NodePart<'_>]| parts.iter().filter(|it| it.is_element()).count();
        let is_one = || elements(olds) == 1 && elements(news) == 1;
        let has_comma = || olds.iter().chain(news).any(NodePart::is_comma);
        if kinds(olds) == kinds(news) {
            for (old, new) in olds.iter().zip(news) {
                self.pair(old, new);
            }
        } else if !olds.is_empty() && !news.is_empty() && (is_one() || has_comma()) {
            // One in place of another; or commas of one side would lack elements of the other.
            self.found.push((whole(news), whole(olds)));
        } else {
            // Where nothing is in its place, the old text has no say.
            let nothing = whole(olds).start..whole(olds).start;
            for unit in units(news) {
                self.found.push((unit, nothing.clone()));
            }
            let end = match news {
                [] => next,
                _ => whole(news).end,
            };
            for unit in units(olds) {
                self.found.push((end..end, unit));
            }
        }
    }
}

/// Where two rows differ.
fn hunks<T: std::hash::Hash + Eq>(old: &[T], new: &[T]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut input: InternedInput<Option<&T>> = InternedInput::default();
    input.update_before(old.iter().map(Some));
    input.update_after(new.iter().map(Some));
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let index = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks()
        .map(|hunk| (index(hunk.before), index(hunk.after)))
        .collect()
}

fn part(node: Node<'_>) -> NodePart<'_> {
    NodePart {
        range: node.byte_range(),
        kind: node.kind_id(),
        node: Some(node),
    }
}

/// The children of a node and what lies between them.
fn parts(node: Node<'_>) -> Vec<NodePart<'_>> {
    let mut parts = Vec::new();
    let mut at = node.start_byte();
    let mut cursor = node.walk();
    let gap = |range: Range<usize>| NodePart {
        range,
        kind: GAP,
        node: None,
    };
    for child in node.children(&mut cursor) {
        let range = child.byte_range();
        if range.is_empty() {
            continue;
        }
        if range.start > at {
            parts.push(gap(at..range.start));
        }
        at = range.end;
        parts.push(part(child));
    }
    if node.end_byte() > at {
        parts.push(gap(at..node.end_byte()));
    }
    parts
}

/// What a node is known by among its like: its name or key, or how it begins.
fn label(node: Node<'_>, text: &[u8]) -> Digest {
    let mut at = node;
    for _ in 0..NAMED_WITHIN {
        let fields = ["name", "key", "declarator"];
        let named = fields.iter().find_map(|name| at.child_by_field_name(name));
        match named.or_else(|| at.named_child(0)) {
            Some(child) => at = child,
            None => break,
        }
    }
    // A value by itself has no name.
    match at.id() == node.id() {
        true => Digest::of(b""),
        false => Digest::of(&text[at.byte_range()]),
    }
}

fn whole(parts: &[NodePart<'_>]) -> Range<usize> {
    let start = parts.first().map_or(0, |part| part.range.start);
    let end = parts.last().map_or(0, |part| part.range.end);
    start..end
}

/// Elements with what goes with them: a comma before, if the stretch begins with one, else what is
/// behind.
fn units(parts: &[NodePart<'_>]) -> Vec<Range<usize>> {
    let all = whole(parts);
    if parts.is_empty() {
        return Vec::new();
    }
    let elements: Vec<&NodePart<'_>> = parts.iter().filter(|part| part.is_element()).collect();
    let is_first = parts[0].is_element();
    let cuts: Vec<usize> = match is_first {
        // Each begins where its element does.
        true => elements.iter().skip(1).map(|it| it.range.start).collect(),
        // Each ends where its element does.
        false => {
            let ends = elements.iter().map(|it| it.range.end);
            ends.take(elements.len().saturating_sub(1)).collect()
        }
    };
    let starts = std::iter::once(all.start).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([all.end]);
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

#[cfg(test)]
mod tests {
    use culprit_reduce::DeltaSet;
    use proptest::prelude::*;

    use super::*;

    fn edits(old: &str, new: &str, language: Language) -> Edits {
        node_changes(old.as_bytes(), &Arc::new(new.as_bytes().to_vec()), language).unwrap()
    }

    /// How many differences there are, and how many of their sets are well-formed.
    fn well_formed(old: &str, new: &str, language: Language) -> (u64, usize) {
        let edits = edits(old, new, language);
        let sets = (0u64..1 << edits.len()).filter(|bits| {
            let kept: DeltaSet = (0..edits.len()).filter(|it| bits >> it & 1 == 1).collect();
            language.reads(&edits.render(&kept))
        });
        (edits.len(), sets.count())
    }

    #[test]
    fn each_set_of_differences_is_well_formed() {
        let old = r#"{"a": 1, "b": [1, 3], "gone": {"x": 1}, "last": null}"#;
        let new = r#"{"a": 2, "b": [1, 2, 3], "last": null, "come": [], "more": 1}"#;
        assert_eq!(well_formed(old, new, Language::Json), (5, 32));
        let old = "<a><b k='1'>x</b><c/></a>";
        let new = "<a><b k='2' l='3'>y</b><d>z</d><c/></a>";
        assert_eq!(well_formed(old, new, Language::Xml), (4, 16));
        let old = "class A {\n  int f() { return 1; }\n  void g() { a(); b(); }\n}\n";
        let new = "class A {\n  int f() { return 2; }\n  void h() {}\n  void g() { a(); c(1); b(); }\n}\n";
        assert_eq!(well_formed(old, new, Language::Java), (3, 8));
    }

    #[test]
    fn what_is_of_another_language_is_not_compared() {
        let new = Arc::new(b"{]".to_vec());
        assert!(node_changes(b"{}", &new, Language::Json).is_none());
    }

    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "[1-9][0-9]?",
            Just("null".to_owned()),
            Just("\"x\"".to_owned())
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4)
                    .prop_map(|all| format!("[{}]", all.join(", "))),
                prop::collection::vec(("[a-d]", inner), 0..4).prop_map(|all| {
                    let pairs: Vec<String> = all
                        .iter()
                        .map(|(key, value)| format!("\"{key}\":{value}"))
                        .collect();
                    format!("{{\n{}}}", pairs.join(",\n"))
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn all_differences_give_one_side_and_none_the_other(old in json(), new in json()) {
            let edits = edits(&old, &new, Language::Json);
            let text = |kept: &DeltaSet| String::from_utf8(edits.render(kept)).unwrap();
            prop_assert_eq!(text(&DeltaSet::all(edits.len())), new);
            prop_assert_eq!(text(&DeltaSet::empty()), old);
        }
    }
}
