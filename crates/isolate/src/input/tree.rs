//! A text as the tree of its syntax: what can be left out such that the rest is well-formed.
//!
//! A delta is a node that its parent need not have. It goes with all below it, and with a comma that
//! would be left over. Whether the rest is well-formed is a question of more than the grammar's
//! table, so candidates are read again before they are tested.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use culprit_reduce::{DeltaSet, Needs, Problem, Units};
use tree_sitter::{Node, Tree, TreeCursor};

use super::vocabulary::is_import;
use crate::Language;

/// More nodes than this are not looked at one by one.
const MOST: usize = 1 << 20;

/// Removable nodes of a text.
pub(crate) struct Syntax {
    text: Arc<Vec<u8>>,
    nodes: Vec<Removable>,
    lists: Vec<List>,
}

struct Removable {
    range: Range<usize>,
    parent: Option<u32>,
    /// True if it brings names from elsewhere.
    is_import: bool,
}

/// Children of a node with commas between them.
struct List {
    /// Where each is and which delta it is, if it is one.
    elements: Vec<(Range<usize>, Option<u32>)>,
    /// The comma behind each element but the last.
    commas: Vec<Range<usize>>,
}

impl Syntax {
    /// Reads a text. `None` if it is not of the language.
    pub(crate) fn read(text: &Arc<Vec<u8>>, language: Language) -> Option<Syntax> {
        let tree = language.parse(text)?;
        let mut syntax = Syntax {
            text: Arc::clone(text),
            nodes: Vec::new(),
            lists: Vec::new(),
        };
        syntax.walk(&tree, language);
        (!syntax.nodes.is_empty()).then_some(syntax)
    }

    /// Goes through all nodes, without recursion: texts may be nested deeply.
    fn walk(&mut self, tree: &Tree, language: Language) {
        let mut stack: Vec<(Node<'_>, Option<u32>)> = vec![(tree.root_node(), None)];
        let mut cursor = tree.walk();
        while let Some((node, above)) = stack.pop() {
            let first = stack.len();
            let mut list = List {
                elements: Vec::new(),
                commas: Vec::new(),
            };
            cursor.reset(node);
            let mut more = cursor.goto_first_child();
            while more {
                let child = cursor.node();
                let own = self.removable(&cursor, node, above, language);
                match (child.kind(), list.elements.is_empty()) {
                    (",", false) => list.commas.push(child.byte_range()),
                    _ if child.is_named() => {
                        // Only elements with a comma behind the one before belong to the list.
                        if list.commas.len() < list.elements.len() {
                            self.keep(&mut list);
                        }
                        list.elements.push((child.byte_range(), own));
                    }
                    _ => self.keep(&mut list),
                }
                stack.push((child, own.or(above)));
                more = cursor.goto_next_sibling();
            }
            self.keep(&mut list);
            // Parents before children, and those in order.
            stack[first..].reverse();
            if self.nodes.len() > MOST {
                return;
            }
        }
    }

    /// Ends a list.
    fn keep(&mut self, list: &mut List) {
        let whole = std::mem::replace(
            list,
            List {
                elements: Vec::new(),
                commas: Vec::new(),
            },
        );
        if !whole.commas.is_empty() && !whole.elements.is_empty() {
            self.lists.push(whole);
        }
    }

    /// Makes the child at the cursor a delta, if it can be one.
    fn removable(
        &mut self,
        cursor: &TreeCursor<'_>,
        parent: Node<'_>,
        above: Option<u32>,
        language: Language,
    ) -> Option<u32> {
        let child = cursor.node();
        let range = child.byte_range();
        let may_go = child.is_named()
            && !range.is_empty()
            && language
                .optional()
                .may_miss(parent.kind(), cursor.field_name());
        if !may_go {
            return None;
        }
        let range = self.whole_lines(range);
        if let Some(above) = above
            && self.nodes[above as usize].range == range
        {
            // Nothing but this child: the two are one.
            return None;
        }
        self.nodes.push(Removable {
            range,
            parent: above,
            is_import: is_import(child.kind()),
        });
        u32::try_from(self.nodes.len() - 1).ok()
    }

    /// With its indentation and the end of the line, if nothing else but a comma is there.
    fn whole_lines(&self, range: Range<usize>) -> Range<usize> {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let before = &self.text[..range.start];
        let indent = before.iter().rev().take_while(|it| is_blank(it)).count();
        let start = range.start - indent;
        let is_first = start == 0 || self.text[start - 1] == b'\n';
        let after = &self.text[range.end..];
        let comma = usize::from(after.first() == Some(&b','));
        let blanks = comma
            + after[comma..]
                .iter()
                .take_while(|it| is_blank(it) || **it == b'\r')
                .count();
        match after.get(blanks) {
            Some(b'\n') if is_first => start..range.end + blanks + 1,
            None if is_first => start..range.end + blanks,
            _ => range,
        }
    }

    /// The deltas as a problem: nodes near the root first.
    pub(crate) fn problem(&self) -> Problem {
        let parents: Vec<Option<u32>> = self.nodes.iter().map(|node| node.parent).collect();
        let mut depths: Vec<usize> = Vec::with_capacity(parents.len());
        let mut levels: Vec<Vec<u64>> = Vec::new();
        for (node, parent) in parents.iter().enumerate() {
            // Parents come first.
            let depth = parent.map_or(0, |parent| depths[parent as usize] + 1);
            depths.push(depth);
            if levels.len() <= depth {
                levels.push(Vec::new());
            }
            levels[depth].push(node as u64);
        }
        let levels = levels.into_iter().map(|nodes| nodes.into_iter().collect());
        Problem::new(parents.len() as u64)
            .needs(Needs::tree(&parents))
            .levels(levels.map(Units::within))
    }

    /// What was put in may be seen further left as well: `<b><b>` has one of two. Where it is a node, if
    /// there is such a place.
    pub(crate) fn settled(&self, part: Range<usize>) -> Range<usize> {
        let own = self
            .nodes
            .iter()
            .map(|node| trimmed(&self.text, &node.range));
        let own: HashSet<Range<usize>> = own.collect();
        let mut slid = part.clone();
        loop {
            if own.contains(&trimmed(&self.text, &slid)) {
                return slid;
            }
            let can_slide = slid.start > 0 && self.text[slid.start - 1] == self.text[slid.end - 1];
            if !can_slide {
                return part;
            }
            slid = slid.start - 1..slid.end - 1;
        }
    }

    /// The same with only what lies in one part of the text.
    #[must_use]
    pub(crate) fn within(self, part: &Range<usize>) -> Syntax {
        let text = Arc::clone(&self.text);
        self.only(|node| {
            let own = trimmed(&text, &node.range);
            part.start <= own.start && own.end <= part.end
        })
    }

    /// The same where imports stay, as they are.
    #[must_use]
    pub(crate) fn with_imports(self) -> Syntax {
        // The end of the last import so far: what begins before it is part of it.
        let mut end = 0;
        self.only(|node| {
            if node.is_import {
                end = end.max(node.range.end);
            }
            node.range.start >= end
        })
    }

    /// The same with only some of the nodes.
    fn only(mut self, mut is_meant: impl FnMut(&Removable) -> bool) -> Syntax {
        let mut places: Vec<Option<u32>> = Vec::with_capacity(self.nodes.len());
        let mut kept: Vec<Removable> = Vec::new();
        for mut node in self.nodes {
            let is_kept = is_meant(&node);
            places.push(is_kept.then_some(kept.len() as u32));
            if is_kept {
                node.parent = node.parent.and_then(|parent| places[parent as usize]);
                kept.push(node);
            }
        }
        self.nodes = kept;
        for list in &mut self.lists {
            for (_, delta) in &mut list.elements {
                *delta = delta.and_then(|delta| places[delta as usize]);
            }
        }
        self
    }

    /// How many nodes can go.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// What is left if all goes that may, but for so many levels of it.
    pub(crate) fn skeleton(&self, levels: usize) -> Vec<u8> {
        let mut depths: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            // Parents come before their children.
            let depth = node.parent.map_or(0, |parent| depths[parent as usize] + 1);
            depths.push(depth);
        }
        let kept = (0u64..).zip(&depths).filter(|(_, depth)| **depth < levels);
        self.render(&kept.map(|(delta, _)| delta).collect())
    }

    /// The text with these nodes.
    pub(crate) fn render(&self, kept: &DeltaSet) -> Vec<u8> {
        let is_kept = |delta: u32| kept.contains(u64::from(delta));
        let gone = (0u32..)
            .zip(&self.nodes)
            .filter(|(delta, node)| !is_kept(*delta) && node.parent.is_none_or(is_kept));
        let mut holes: Vec<Range<usize>> = gone.map(|(_, node)| node.range.clone()).collect();
        for list in &self.lists {
            list.left_over(&is_kept, &mut holes);
        }
        holes.sort_by_key(|hole| hole.start);
        let mut result = Vec::with_capacity(self.text.len());
        let mut at = 0;
        for hole in holes {
            if hole.start > at {
                result.extend_from_slice(&self.text[at..hole.start]);
            }
            at = at.max(hole.end);
        }
        result.extend_from_slice(&self.text[at..]);
        result
    }
}

/// Without blanks and commas around it.
fn trimmed(text: &[u8], range: &Range<usize>) -> Range<usize> {
    let is_edge = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
    let own = &text[range.clone()];
    let first = own.iter().position(|byte| !is_edge(byte));
    let last = own.iter().rposition(|byte| !is_edge(byte));
    match (first, last) {
        (Some(first), Some(last)) => range.start + first..range.start + last + 1,
        _ => range.clone(),
    }
}

impl List {
    /// Adds the commas that go with elements: the one behind, and the one before if nothing that stays
    /// follows.
    fn left_over(&self, is_kept: &impl Fn(u32) -> bool, holes: &mut Vec<Range<usize>>) {
        let mut has_after = false;
        for (index, (_, delta)) in self.elements.iter().enumerate().rev() {
            if delta.is_none_or(is_kept) {
                has_after = true;
                continue;
            }
            holes.extend(self.commas.get(index).cloned());
            if let (false, Some(before)) = (has_after, index.checked_sub(1)) {
                holes.extend(self.commas.get(before).cloned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn syntax(text: &str, language: Language) -> Syntax {
        Syntax::read(&Arc::new(text.as_bytes().to_vec()), language).unwrap()
    }

    #[test]
    fn a_skeleton_has_nothing_that_may_go_below_some_levels() {
        let json = syntax("{\"a\": [1, {\"b\": 2}], \"c\": 3}", Language::Json);
        let texts = (0..4).map(|levels| String::from_utf8(json.skeleton(levels)).unwrap());
        let texts: Vec<String> = texts.collect();
        assert_eq!(texts[0], "");
        assert_eq!(texts[1].replace(' ', ""), "{}");
        assert_eq!(texts[2].replace(' ', ""), "{\"\":[],\"\":3}");
    }

    fn text(syntax: &Syntax, gone: &[&str]) -> String {
        let all = DeltaSet::all(syntax.nodes.len() as u64);
        let named: DeltaSet = (0u64..)
            .zip(&syntax.nodes)
            .filter(|(_, node)| {
                let own = String::from_utf8_lossy(&syntax.text[node.range.clone()]);
                gone.contains(&own.trim())
            })
            .map(|(number, _)| number)
            .collect();
        assert!(!named.is_empty(), "{gone:?}");
        String::from_utf8(syntax.render(&all.minus(&named))).unwrap()
    }

    #[test]
    fn commas_go_with_elements() {
        let list = syntax("[1, 22, [3]]", Language::Json);
        assert_eq!(text(&list, &["1"]), "[ 22, [3]]");
        assert_eq!(text(&list, &["22"]), "[1,  [3]]");
        assert_eq!(text(&list, &["[3]"]), "[1, 22 ]");
        assert_eq!(text(&list, &["1", "22"]), "[  [3]]");
        assert_eq!(text(&list, &["22", "[3]"]), "[1  ]");
        assert_eq!(text(&list, &["1", "[3]"]), "[ 22 ]");
        let list = syntax("[\n  1,\n  22,\n  3\n]\n", Language::Json);
        assert_eq!(text(&list, &["22,"]), "[\n  1,\n  3\n]\n");
        assert_eq!(text(&list, &["1,", "3"]), "[\n  22\n]\n");
    }

    #[test]
    fn any_set_of_nodes_is_well_formed_where_all_are_optional() {
        let list = syntax("{\"a\": 1, \"b\": [2, 3], \"c\": {}}", Language::Json);
        for bits in 0..1u64 << list.len() {
            let is_in = |delta: u64| bits >> delta & 1 == 1;
            let closed = (0..list.len() as u64).all(|delta| {
                let parent = list.nodes[delta as usize].parent;
                !is_in(delta) || parent.is_none_or(|parent| is_in(u64::from(parent)))
            });
            if closed {
                let kept: DeltaSet = (0..list.len() as u64).filter(|it| is_in(*it)).collect();
                let text = list.render(&kept);
                let told = String::from_utf8_lossy(&text);
                assert!(Language::Json.reads(&text) || text.is_empty(), "{told}");
            }
        }
    }

    #[test]
    fn one_part_can_be_looked_at() {
        let list = syntax("[[1, 2], [3, [4]]]", Language::Json);
        let part = list.within(&(9..17));
        assert_eq!(part.len(), 4);
        let gone = |syntax: &Syntax| String::from_utf8(syntax.render(&DeltaSet::empty())).unwrap();
        assert_eq!(gone(&part), "[[1, 2] ]");
    }

    #[test]
    fn what_was_put_in_is_seen_where_nodes_are() {
        let text = "<a><b>1</b><b>2</b></a>";
        let list = syntax(text, Language::Xml);
        // After `<a><b>`, before `2</b></a>`: what is put in between two of `<b>`.
        assert_eq!(list.settled(6..14), 3..11);
        assert_eq!(&text[3..11], "<b>1</b>");
        assert_eq!(list.settled(7..9), 7..9);
    }

    #[test]
    fn statements_go_with_their_lines() {
        let code = syntax("void f() {\n  a();\n  b();\n}\n", Language::C);
        assert_eq!(text(&code, &["a();"]), "void f() {\n  b();\n}\n");
    }

    #[test]
    fn deep_nesting_is_no_trouble() {
        let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        let syntax = syntax(&deep, Language::Json);
        assert!(syntax.len() > 4_000);
        assert!(syntax.render(&DeltaSet::empty()).len() < 10);
    }
}
