//! Hoisting: a node gives way to one below it, `f(g(x))` to `g(x)`, to a literal, or to all that is in its brackets,
//! `mod a { b c }` to `b c`.

use std::ops::Range;
use std::sync::Arc;

use tree_sitter::{Node, Tree};

use super::edits::Edits;
use crate::Language;

/// How many children and grandchildren of a node are tried.
const CHILDREN: usize = 3;
const GRANDCHILDREN: usize = 4;

/// What may stand for an expression or a value in most languages.
const LITERAL: &[u8] = b"0";

/// How far below a node one of its kind is looked for.
const REACH: usize = 200;

/// What may stand for the nodes at a depth of the tree, one choice of all of them at a time. `None`
/// if the tree is not so deep.
pub(crate) fn at_depth(
    text: &Arc<Vec<u8>>,
    language: Language,
    depth: usize,
) -> Option<Vec<Edits>> {
    let tree = language.parse(text)?;
    let nodes = level(&tree, depth)?;
    let none = || Edits::new(Arc::clone(text));
    let (mut choices, mut unwrapped) = (vec![none()], none());
    for node in nodes {
        let whole = node.byte_range();
        if whole.len() > LITERAL.len() {
            choices[0].add(whole.clone(), LITERAL);
        }
        for (number, part) in stand_ins(node).into_iter().enumerate() {
            if choices.len() <= number + 1 {
                choices.push(none());
            }
            choices[number + 1].add(whole.clone(), &text[part]);
        }
        if let Some(inside) = inside(node) {
            unwrapped.add(whole, &text[inside]);
        }
    }
    choices.push(unwrapped);
    Some(choices.into_iter().map(Edits::sorted).collect())
}

/// The nodes at a depth.
fn level(tree: &Tree, depth: usize) -> Option<Vec<Node<'_>>> {
    let mut nodes = vec![tree.root_node()];
    let mut cursor = tree.walk();
    for _ in 0..depth {
        let mut below = Vec::new();
        for node in nodes {
            below.extend(node.named_children(&mut cursor));
        }
        nodes = below;
    }
    (!nodes.is_empty()).then_some(nodes)
}

/// The range of several nodes that brackets or tags of a node enclose: the longest such range.
fn inside(node: Node<'_>) -> Option<Range<usize>> {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
    let own = std::iter::once(node).chain(children.iter().copied());
    let within = own.filter_map(enclosed);
    // Tags are nodes themselves.
    let tags = match children.as_slice() {
        [open, first, .., last, close] if is_tag(*open) && is_tag(*close) => {
            Some(first.start_byte()..last.end_byte())
        }
        _ => None,
    };
    within.chain(tags).max_by_key(Range::len)
}

/// The range of the children of a node, if there are several and the node has the brackets.
fn enclosed(node: Node<'_>) -> Option<Range<usize>> {
    let count = node.child_count();
    let bracket = |at: usize| node.child(at as u32).map(|it| it.kind());
    let is_enclosed = matches!(
        (bracket(0)?, bracket(count.checked_sub(1)?)?),
        ("(", ")") | ("[", "]") | ("{", "}")
    );
    let last = node.named_child_count().checked_sub(1)?;
    let (first, last) = (node.named_child(0)?, node.named_child(last as u32)?);
    (is_enclosed && first != last).then(|| first.start_byte()..last.end_byte())
}

fn is_tag(node: Node<'_>) -> bool {
    node.kind().to_ascii_lowercase().ends_with("tag")
}

/// Where those are that may stand for a node, the likeliest first.
fn stand_ins(node: Node<'_>) -> Vec<Range<usize>> {
    let whole = node.byte_range();
    let mut cursor = node.walk();
    let mut found: Vec<Range<usize>> = Vec::new();
    // Of the same kind, the nearest.
    let mut row = vec![node];
    let mut looked_at = 0;
    'down: while !row.is_empty() && looked_at < REACH {
        let mut below = Vec::new();
        for above in row {
            for child in above.named_children(&mut cursor) {
                looked_at += 1;
                if child.kind_id() == node.kind_id() && child.byte_range() != whole {
                    found.push(child.byte_range());
                    break 'down;
                }
                below.push(child);
            }
        }
        row = below;
    }
    let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
    found.extend(children.iter().take(CHILDREN).map(Node::byte_range));
    let mut below = Vec::new();
    for child in &children {
        below.extend(child.named_children(&mut cursor).map(|it| it.byte_range()));
    }
    found.extend(below.into_iter().take(GRANDCHILDREN));
    let mut seen: Vec<Range<usize>> = Vec::new();
    for place in found {
        if place.len() < whole.len() && !place.is_empty() && !seen.contains(&place) {
            seen.push(place);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use culprit_reduce::DeltaSet;

    use super::*;

    #[test]
    fn brackets_and_tags_give_way_to_all_that_is_in_them() {
        let check = |language: Language, text: &str, expect: &str| {
            let text = Arc::new(text.as_bytes().to_vec());
            let mut depth = 0;
            let mut found = Vec::new();
            while let Some(choices) = at_depth(&text, language, depth) {
                let unwrapped = choices.last().unwrap().render(&DeltaSet::empty());
                found.push(String::from_utf8(unwrapped).unwrap());
                depth += 1;
            }
            assert!(found.contains(&expect.to_owned()), "{found:?}");
        };
        check(
            Language::Rust,
            "mod a { fn b() {} fn c() {} }",
            "fn b() {} fn c() {}",
        );
        check(Language::Python, "f(a, b)\n", "a, b\n");
        check(
            Language::Json,
            "{\"a\": {\"b\": 1, \"c\": 2}}",
            "{\"b\": 1, \"c\": 2}",
        );
        check(Language::Html, "<p><b></b><i></i></p>", "<b></b><i></i>");
        check(
            Language::C,
            "int f() { if (x) { a(); b(); } }",
            "int f() { a(); b(); }",
        );
    }

    #[test]
    fn a_node_gives_way_to_one_below_it() {
        let text = Arc::new(b"{\"a\": {\"b\": 1}}".to_vec());
        let mut found = Vec::new();
        let mut depth = 0;
        while let Some(choices) = at_depth(&text, Language::Json, depth) {
            for edits in choices {
                found.push(String::from_utf8(edits.render(&DeltaSet::empty())).unwrap());
            }
            depth += 1;
        }
        assert!(found.contains(&"{\"b\": 1}".to_owned()), "{found:?}");
        assert!(found.contains(&"{\"a\": 1}".to_owned()), "{found:?}");
    }
}
