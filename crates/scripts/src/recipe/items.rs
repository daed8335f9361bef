//! What collections hold, in the order in which it must be put in to come out in the order told.

use culprit_model::{Reference, Value};

use super::state_piece::StatePiece;

/// A value, and the piece that holds it.
pub(super) type Item<'a> = (StatePiece<'a>, &'a Value);

/// Lists what a collection holds; of a map, keys and values by turns.
pub(super) type Items = for<'a> fn(StatePiece<'a>) -> Option<Vec<Item<'a>>>;

/// More than any state has.
const MOST_NODES: usize = 1 << 20;

static NULL: Value = Value::Reference(Reference::Null);

fn is_null(value: &Value) -> bool {
    *value == NULL
}

fn all<'a>(held: StatePiece<'a>, elements: &'a [Value]) -> Vec<Item<'a>> {
    elements.iter().map(|element| (held, element)).collect()
}

/// The first elements of an array, as many as a field says.
fn first<'a>(held: StatePiece<'a>, array: &str, count: &str) -> Option<Vec<Item<'a>>> {
    let count = usize::try_from(held.int(count)?).ok()?;
    Some(all(held, held.references(array)?.get(..count)?))
}

/// Elements of an array from one on, as many as that, around its end.
fn ring<'a>(held: StatePiece<'a>, array: &str, from: i64, count: i64) -> Option<Vec<Item<'a>>> {
    let elements = held.references(array)?;
    let (from, count) = (usize::try_from(from).ok()?, usize::try_from(count).ok()?);
    (count <= elements.len()).then_some(())?;
    let around = elements.iter().cycle().skip(from).take(count);
    Some(around.map(|element| (held, element)).collect())
}

/// Nodes, each of which has the next one in a field.
fn chain<'a>(holder: StatePiece<'a>, first: &'a Value, next: &str) -> Option<Vec<StatePiece<'a>>> {
    let mut nodes = Vec::new();
    let mut at = (holder, first);
    while !is_null(at.1) {
        let node = at.0.look(at.1)?;
        nodes.push(node);
        at = (node, node.get(next)?);
        (nodes.len() < MOST_NODES).then_some(())?;
    }
    Some(nodes)
}

/// What nodes hold, without those that hold nothing.
fn items<'a>(nodes: &[StatePiece<'a>]) -> Option<Vec<Item<'a>>> {
    let held = nodes.iter().map(|node| Some((*node, node.get("item")?)));
    let mut held: Vec<Item<'a>> = held.collect::<Option<_>>()?;
    held.retain(|(_, item)| !is_null(item));
    Some(held)
}

fn pairs<'a>(nodes: &[StatePiece<'a>]) -> Option<Vec<Item<'a>>> {
    let mut pairs = Vec::with_capacity(2 * nodes.len());
    for node in nodes {
        pairs.push((*node, node.any(&["key", "referent"])?));
        pairs.push((*node, node.any(&["value", "val"])?));
    }
    Some(pairs)
}

/// The keys of keys and values.
fn keys(pairs: Vec<Item<'_>>) -> Vec<Item<'_>> {
    pairs.into_iter().step_by(2).collect()
}

pub(super) fn array_list(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    first(held, "elementData", "size")
}

pub(super) fn vector(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    first(held, "elementData", "elementCount")
}

pub(super) fn priority_queue(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    first(held, "queue", "size")
}

pub(super) fn joiner(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    match held.is_null("elts") {
        true => Some(Vec::new()),
        false => first(held, "elts", "size"),
    }
}

pub(super) fn linked_list(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    let nodes = chain(held, held.get("first")?, "next")?;
    let item = |node: &StatePiece<'_>| node.get("item").is_some();
    nodes.iter().all(item).then_some(())?;
    Some(
        nodes
            .iter()
            .filter_map(|node| Some((*node, node.get("item")?)))
            .collect(),
    )
}

/// A queue of nodes that may hold nothing: the first one, and those that were taken.
pub(super) fn linked_queue(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    items(&chain(held, held.any(&["head", "first"])?, "next")?)
}

pub(super) fn array_deque(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    let length = i64::try_from(held.references("elements")?.len()).ok()?;
    let (head, tail) = (held.int("head")?, held.int("tail")?);
    let count = if tail < head {
        tail - head + length
    } else {
        tail - head
    };
    ring(held, "elements", head, count)
}

pub(super) fn array_queue(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    ring(held, "items", held.int("takeIndex")?, held.int("count")?)
}

pub(super) fn copied_list(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    Some(all(held, held.references("array")?))
}

pub(super) fn copied_set(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    copied_list(held.open("al")?)
}

/// The elements of a list that cannot change, which are none of them null.
pub(super) fn fixed_list(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    let elements = held.references("elements")?;
    let is_some = elements.iter().all(|element| !is_null(element));
    is_some.then(|| all(held, elements))
}

/// Those of a set, with gaps between them.
pub(super) fn fixed_set(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    let elements = held.references("elements")?.iter();
    let there = elements.filter(|element| !is_null(element));
    Some(there.map(|element| (held, element)).collect())
}

/// Those of a map or a map by identity, whose array has keys and values by turns, and gaps.
pub(super) fn open_table(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    let mut pairs = held.references("table")?.chunks_exact(2);
    let there = pairs.by_ref().filter(|pair| !is_null(&pair[0]));
    Some(there.flatten().map(|item| (held, item)).collect())
}

/// The nodes of a hash table, in the order of iteration.
fn buckets(held: StatePiece<'_>) -> Option<Vec<Vec<StatePiece<'_>>>> {
    if held.is_null("table") {
        return Some(Vec::new());
    }
    let buckets = held.references("table")?.iter();
    let nodes = buckets.map(|bucket| {
        let first = held.look(bucket);
        match first {
            // Where many keys fall together, `ConcurrentHashMap` has a tree, which is a chain too.
            Some(bin) if bin.class().ends_with("$TreeBin") => chain(bin, bin.get("first")?, "next"),
            _ => chain(held, bucket, "next"),
        }
    });
    nodes.collect()
}

/// New nodes come last in their bucket, and stay in order when the table grows.
pub(super) fn hash_map(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    pairs(&buckets(held)?.concat())
}

/// New nodes come first in their bucket, and the last bucket comes first.
pub(super) fn hashtable(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    let nodes = buckets(held)?.into_iter();
    pairs(
        &nodes
            .flat_map(|bucket| bucket.into_iter().rev())
            .collect::<Vec<_>>(),
    )
}

pub(super) fn linked_hash_map(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    pairs(&chain(held, held.get("head")?, "after")?)
}

/// Of either kind.
pub(super) fn any_hash_map(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    match held.class() {
        "java/util/HashMap" => hash_map(held),
        "java/util/LinkedHashMap" => linked_hash_map(held),
        _ => None,
    }
}

pub(super) fn hash_set(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    Some(keys(any_hash_map(held.open("map")?)?))
}

pub(super) fn key_view(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    Some(keys(hash_map(held.open("map")?)?))
}

pub(super) fn properties(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    hash_map(held.open("map")?)
}

pub(super) fn tree_map(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    let mut nodes = Vec::new();
    let mut open = Vec::new();
    let mut at = (held, held.get("root")?);
    while !is_null(at.1) || !open.is_empty() {
        if is_null(at.1) {
            let node: StatePiece<'_> = open.pop()?;
            nodes.push(node);
            at = (node, node.get("right")?);
        } else {
            let node = at.0.look(at.1)?;
            open.push(node);
            at = (node, node.get("left")?);
        }
        (nodes.len() + open.len() < MOST_NODES).then_some(())?;
    }
    pairs(&nodes)
}

pub(super) fn tree_set(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    let map = held.open("m")?;
    match map.class() {
        "java/util/TreeMap" => Some(keys(tree_map(map)?)),
        "java/util/concurrent/ConcurrentSkipListMap" => Some(keys(skip_list(map)?)),
        _ => None,
    }
}

pub(super) fn skip_list(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    if held.is_null("head") {
        return Some(Vec::new());
    }
    let head = held.open("head")?;
    let mut nodes = chain(head, head.get("node")?, "next")?;
    nodes.retain(|node| !node.is_null("key"));
    pairs(&nodes)
}

pub(super) fn enum_map(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    let constants = held.references("keyUniverse")?.iter();
    let pairs = constants.zip(held.references("vals")?);
    let there = pairs.filter(|(_, value)| !is_null(value));
    let there = there.flat_map(|(key, value)| [(held, key), (held, value)]);
    Some(there.collect())
}

/// The constants whose bits are set.
pub(super) fn enum_set(held: StatePiece<'_>) -> Option<Vec<Item<'_>>> {
    let bits = match held.int("elements") {
        Some(bits) => vec![bits],
        None => held.integers("elements")?,
    };
    let constants = held.references("universe")?;
    let there = set_bits(&bits).map(|bit| Some((held, constants.get(bit)?)));
    there.collect()
}

/// The numbers of the bits that are set.
pub(super) fn set_bits(words: &[i64]) -> impl Iterator<Item = usize> {
    let is_set = |bit: &usize| words[bit / 64] >> (bit % 64) & 1 == 1;
    (0..64 * words.len()).filter(is_set)
}
