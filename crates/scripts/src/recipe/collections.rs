//! Collections and maps: made empty, and filled.

use culprit_model::{Reference, Value};

use super::Recipe::{By, Fill};
use super::Table;
use super::items::{self, Item};
use super::object_maker::{ObjectMaker, null};
use super::state_piece::StatePiece;

pub(super) const ADD: &str = "add(Ljava/lang/Object;)Z";
const PUT: &str = "put(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;";
pub(super) const KEY_SET: &str = "java/util/Map.keySet()Ljava/util/Set;";

pub(super) const RECIPES: Table = &[
    ("java/util/ArrayList", Fill(items::array_list, ADD)),
    ("java/util/LinkedList", Fill(items::linked_list, ADD)),
    ("java/util/ArrayDeque", Fill(items::array_deque, ADD)),
    ("java/util/Vector", Fill(items::vector, ADD)),
    ("java/util/Stack", Fill(items::vector, ADD)),
    ("java/util/PriorityQueue", By(priority_queue)),
    ("java/util/HashMap", By(hash_map)),
    ("java/util/LinkedHashMap", By(linked_hash_map)),
    ("java/util/TreeMap", By(tree_map)),
    ("java/util/HashSet", By(hash_set)),
    ("java/util/LinkedHashSet", Fill(items::hash_set, ADD)),
    ("java/util/TreeSet", By(tree_set)),
    ("java/util/Hashtable", By(hashtable)),
    ("java/util/Properties", By(properties)),
    ("java/util/IdentityHashMap", Fill(items::open_table, PUT)),
    ("java/util/WeakHashMap", Fill(items::hashtable, PUT)),
    ("java/util/EnumMap", By(enum_map)),
    ("java/util/RegularEnumSet", By(enum_set)),
    ("java/util/JumboEnumSet", By(enum_set)),
    ("java/util/BitSet", By(bit_set)),
    (
        "java/util/concurrent/ConcurrentHashMap",
        By(concurrent_hash_map),
    ),
    (
        "java/util/concurrent/ConcurrentHashMap$KeySetView",
        By(key_view),
    ),
    (
        "java/util/concurrent/ConcurrentSkipListMap",
        By(skip_list_map),
    ),
    (
        "java/util/concurrent/ConcurrentSkipListSet",
        By(skip_list_set),
    ),
    (
        "java/util/concurrent/CopyOnWriteArrayList",
        Fill(items::copied_list, ADD),
    ),
    (
        "java/util/concurrent/CopyOnWriteArraySet",
        Fill(items::copied_set, ADD),
    ),
    (
        "java/util/concurrent/ConcurrentLinkedQueue",
        Fill(items::linked_queue, ADD),
    ),
    (
        "java/util/concurrent/ConcurrentLinkedDeque",
        Fill(items::linked_queue, ADD),
    ),
    (
        "java/util/concurrent/LinkedBlockingQueue",
        By(bounded_queue),
    ),
    (
        "java/util/concurrent/LinkedBlockingDeque",
        By(bounded_queue),
    ),
    ("java/util/concurrent/ArrayBlockingQueue", By(array_queue)),
    (
        "java/util/concurrent/PriorityBlockingQueue",
        By(priority_queue),
    ),
];

/// Makes a collection by a constructor of its class, and fills it.
fn filled<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
    (descriptor, given): (&str, Vec<Value>),
    (by, items): (&str, Option<Vec<Item<'a>>>),
) -> Option<()> {
    let class = held.class();
    maker.make(&format!("{class}.<init>{descriptor}"), given, made)?;
    maker.fill(&format!("{class}.{by}"), made, items?)
}

/// The constructor for a table of hashes: one that is larger than it would be of itself says so, since
/// that decides the order of what is in it.
fn sized(size: usize, length: usize) -> (&'static str, Vec<Value>) {
    let mut expected = 16;
    while size > expected / 4 * 3 {
        expected *= 2;
    }
    match size == 0 || length == expected {
        true => ("()V", vec![]),
        false => ("(I)V", vec![Value::Int(length as i32)]),
    }
}

fn table_length(held: StatePiece<'_>) -> usize {
    held.references("table").map_or(0, <[Value]>::len)
}

fn hash_map<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let pairs = items::hash_map(held)?;
    let constructor = sized(pairs.len() / 2, table_length(held));
    filled(maker, held, made, constructor, (PUT, Some(pairs)))
}

fn hash_set<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let keys = items::hash_set(held)?;
    let constructor = sized(keys.len(), table_length(held.open("map")?));
    filled(maker, held, made, constructor, (ADD, Some(keys)))
}

fn linked_hash_map<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let constructor = match held.int("accessOrder")? {
        0 => ("()V", vec![]),
        _ => {
            let load = Value::Float(0.75);
            ("(IFZ)V", vec![Value::Int(16), load, Value::Boolean(true)])
        }
    };
    let pairs = items::linked_hash_map(held);
    filled(maker, held, made, constructor, (PUT, pairs))
}

/// The constructor for something that is sorted.
fn sorted<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
) -> Option<(&'static str, Vec<Value>)> {
    let comparator = maker.field(held, "comparator")?;
    Some(match comparator == null() {
        true => ("()V", vec![]),
        false => ("(Ljava/util/Comparator;)V", vec![comparator]),
    })
}

fn tree_map<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let constructor = sorted(maker, held)?;
    filled(maker, held, made, constructor, (PUT, items::tree_map(held)))
}

fn tree_set<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let constructor = sorted(maker, held.open("m")?)?;
    filled(maker, held, made, constructor, (ADD, items::tree_set(held)))
}

fn skip_list_map<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let constructor = sorted(maker, held)?;
    filled(
        maker,
        held,
        made,
        constructor,
        (PUT, items::skip_list(held)),
    )
}

fn skip_list_set<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    tree_set(maker, held, made)
}

/// What is added in the order of a heap stays in it.
fn priority_queue<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let (descriptor, mut given) = sorted(maker, held)?;
    let is_blocking = held.class() == "java/util/concurrent/PriorityBlockingQueue";
    let constructor = match given.is_empty() || !is_blocking {
        true => (descriptor, given),
        false => {
            given.insert(0, Value::Int(11));
            ("(ILjava/util/Comparator;)V", given)
        }
    };
    let elements = items::priority_queue(held);
    filled(maker, held, made, constructor, (ADD, elements))
}

fn hashtable<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let length = table_length(held);
    // One that grows turns the order of its buckets round.
    let constructor = match length {
        11 => ("()V", vec![]),
        _ => ("(I)V", vec![Value::Int(length as i32)]),
    };
    let pairs = items::hashtable(held);
    filled(maker, held, made, constructor, (PUT, pairs))
}

fn properties<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let defaults = maker.field(held, "defaults")?;
    let constructor = match defaults == null() {
        true => ("()V", vec![]),
        false => ("(Ljava/util/Properties;)V", vec![defaults]),
    };
    let pairs = items::properties(held)?;
    let is_text = |(_, item): &Item<'_>| {
        matches!(
            item,
            Value::Reference(Reference::String(_) | Reference::StringBlob(_))
        )
    };
    let by = match pairs.iter().all(is_text) {
        true => "setProperty(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/Object;",
        false => PUT,
    };
    filled(maker, held, made, constructor, (by, Some(pairs)))
}

fn concurrent_hash_map<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let pairs = items::hash_map(held)?;
    // Where it grows it changes the order in its buckets. The table is larger than asked for, by a
    // third or a half, and then up to a power of two.
    let constructor = match table_length(held) {
        0 | 16 => ("()V", vec![]),
        length => ("(I)V", vec![Value::Int(length as i32 / 2)]),
    };
    filled(maker, held, made, constructor, (PUT, Some(pairs)))
}

fn key_view<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    if held.is_null("value") {
        let map = maker.field(held, "map")?;
        return maker.send(KEY_SET, &map, vec![], Some(made));
    }
    let class = "java/util/concurrent/ConcurrentHashMap";
    maker.make(
        &format!("{class}.newKeySet()L{class}$KeySetView;"),
        vec![],
        made,
    )?;
    let keys = items::key_view(held)?;
    maker.fill(&format!("{class}$KeySetView.{ADD}"), made, keys)
}

fn bounded_queue<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let capacity = i32::try_from(held.int("capacity")?).ok()?;
    let constructor = match capacity {
        i32::MAX => ("()V", vec![]),
        _ => ("(I)V", vec![Value::Int(capacity)]),
    };
    let elements = items::linked_queue(held);
    filled(maker, held, made, constructor, (ADD, elements))
}

fn array_queue<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let capacity = Value::Int(held.references("items")?.len() as i32);
    let elements = items::array_queue(held);
    filled(maker, held, made, ("(I)V", vec![capacity]), (ADD, elements))
}

fn enum_map<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let constructor = ("(Ljava/lang/Class;)V", vec![maker.field(held, "keyType")?]);
    let by = "put(Ljava/lang/Enum;Ljava/lang/Object;)Ljava/lang/Object;";
    filled(maker, held, made, constructor, (by, items::enum_map(held)))
}

fn enum_set<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let none = "java/util/EnumSet.noneOf(Ljava/lang/Class;)Ljava/util/EnumSet;";
    maker.of(none, held, &["elementType"], made)?;
    let add = format!("java/util/EnumSet.{ADD}");
    maker.fill(&add, made, items::enum_set(held)?)
}

fn bit_set<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    maker.make("java/util/BitSet.<init>()V", vec![], made)?;
    let bits: Vec<usize> = items::set_bits(&held.integers("words")?).collect();
    for run in bits.chunk_by(|a, b| a + 1 == *b) {
        let (first, last) = (run[0] as i32, run[run.len() - 1] as i32);
        let (descriptor, given) = match first == last {
            true => ("(I)V", vec![Value::Int(first)]),
            false => ("(II)V", vec![Value::Int(first), Value::Int(last + 1)]),
        };
        maker.send(
            &format!("java/util/BitSet.set{descriptor}"),
            made,
            given,
            None,
        )?;
    }
    Some(())
}
