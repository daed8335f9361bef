//! Collections that cannot change, those that show others, entries of maps, and iterators.

use culprit_model::Value;

use super::Recipe::{By, Of, On};
use super::Table;
use super::collections::{ADD, KEY_SET};
use super::items::{self, Item};
use super::object_maker::ObjectMaker;
use super::state_piece::StatePiece;

pub(super) const RECIPES: Table = &[
    // Those that cannot change.
    (
        "java/util/Arrays$ArrayList",
        Of(
            "java/util/Arrays.asList([Ljava/lang/Object;)Ljava/util/List;",
            &["a"],
        ),
    ),
    ("java/util/ImmutableCollections$List12", By(list_12)),
    ("java/util/ImmutableCollections$ListN", By(list_n)),
    ("java/util/ImmutableCollections$Set12", By(set_12)),
    ("java/util/ImmutableCollections$SetN", By(set_n)),
    (
        "java/util/ImmutableCollections$Map1",
        Of(
            "java/util/Map.of(Ljava/lang/Object;Ljava/lang/Object;)Ljava/util/Map;",
            &["k0", "v0"],
        ),
    ),
    ("java/util/ImmutableCollections$MapN", By(map_n)),
    (
        "java/util/Collections$SingletonSet",
        Of(
            "java/util/Collections.singleton(Ljava/lang/Object;)Ljava/util/Set;",
            &["element"],
        ),
    ),
    (
        "java/util/Collections$SingletonList",
        Of(
            "java/util/Collections.singletonList(Ljava/lang/Object;)Ljava/util/List;",
            &["element"],
        ),
    ),
    (
        "java/util/Collections$SingletonMap",
        Of(
            "java/util/Collections.singletonMap(Ljava/lang/Object;Ljava/lang/Object;)Ljava/util/Map;",
            &["k", "v"],
        ),
    ),
    (
        "java/util/Collections$CopiesList",
        Of(
            "java/util/Collections.nCopies(ILjava/lang/Object;)Ljava/util/List;",
            &["n", "element"],
        ),
    ),
    // Those that show another one.
    (
        "java/util/Collections$UnmodifiableCollection",
        Of(
            "java/util/Collections.unmodifiableCollection(Ljava/util/Collection;)Ljava/util/Collection;",
            &["c"],
        ),
    ),
    (
        "java/util/Collections$UnmodifiableList",
        Of(UNMODIFIABLE_LIST, &["list"]),
    ),
    (
        "java/util/Collections$UnmodifiableRandomAccessList",
        Of(UNMODIFIABLE_LIST, &["list"]),
    ),
    (
        "java/util/Collections$UnmodifiableSet",
        Of(
            "java/util/Collections.unmodifiableSet(Ljava/util/Set;)Ljava/util/Set;",
            &["c"],
        ),
    ),
    (
        "java/util/Collections$UnmodifiableSortedSet",
        Of(
            "java/util/Collections.unmodifiableSortedSet(Ljava/util/SortedSet;)Ljava/util/SortedSet;",
            &["ss"],
        ),
    ),
    (
        "java/util/Collections$UnmodifiableNavigableSet",
        Of(
            "java/util/Collections.unmodifiableNavigableSet(Ljava/util/NavigableSet;)Ljava/util/NavigableSet;",
            &["ns"],
        ),
    ),
    (
        "java/util/Collections$UnmodifiableMap",
        Of(
            "java/util/Collections.unmodifiableMap(Ljava/util/Map;)Ljava/util/Map;",
            &["m"],
        ),
    ),
    (
        "java/util/Collections$UnmodifiableSortedMap",
        Of(
            "java/util/Collections.unmodifiableSortedMap(Ljava/util/SortedMap;)Ljava/util/SortedMap;",
            &["sm"],
        ),
    ),
    (
        "java/util/Collections$UnmodifiableNavigableMap",
        Of(
            "java/util/Collections.unmodifiableNavigableMap(Ljava/util/NavigableMap;)Ljava/util/NavigableMap;",
            &["nm"],
        ),
    ),
    (
        "java/util/Collections$SynchronizedCollection",
        Of(
            "java/util/Collections.synchronizedCollection(Ljava/util/Collection;)Ljava/util/Collection;",
            &["c"],
        ),
    ),
    (
        "java/util/Collections$SynchronizedList",
        Of(SYNCHRONIZED_LIST, &["list"]),
    ),
    (
        "java/util/Collections$SynchronizedRandomAccessList",
        Of(SYNCHRONIZED_LIST, &["list"]),
    ),
    (
        "java/util/Collections$SynchronizedSet",
        Of(
            "java/util/Collections.synchronizedSet(Ljava/util/Set;)Ljava/util/Set;",
            &["c"],
        ),
    ),
    (
        "java/util/Collections$SynchronizedSortedSet",
        Of(
            "java/util/Collections.synchronizedSortedSet(Ljava/util/SortedSet;)Ljava/util/SortedSet;",
            &["ss"],
        ),
    ),
    (
        "java/util/Collections$SynchronizedMap",
        Of(
            "java/util/Collections.synchronizedMap(Ljava/util/Map;)Ljava/util/Map;",
            &["m"],
        ),
    ),
    (
        "java/util/Collections$SynchronizedSortedMap",
        Of(
            "java/util/Collections.synchronizedSortedMap(Ljava/util/SortedMap;)Ljava/util/SortedMap;",
            &["sm"],
        ),
    ),
    (
        "java/util/Collections$ReverseComparator2",
        Of(
            "java/util/Collections.reverseOrder(Ljava/util/Comparator;)Ljava/util/Comparator;",
            &["cmp"],
        ),
    ),
    ("java/util/HashMap$KeySet", On(KEY_SET, &["this$0"])),
    ("java/util/HashMap$Values", On(VALUES, &["this$0"])),
    ("java/util/HashMap$EntrySet", On(ENTRY_SET, &["this$0"])),
    (
        "java/util/LinkedHashMap$LinkedKeySet",
        On(KEY_SET, &["this$0"]),
    ),
    (
        "java/util/LinkedHashMap$LinkedValues",
        On(VALUES, &["this$0"]),
    ),
    (
        "java/util/LinkedHashMap$LinkedEntrySet",
        On(ENTRY_SET, &["this$0"]),
    ),
    ("java/util/TreeMap$KeySet", On(KEY_SET, &["m"])),
    ("java/util/TreeMap$Values", On(VALUES, &["this$0"])),
    ("java/util/TreeMap$EntrySet", On(ENTRY_SET, &["this$0"])),
    (
        "java/util/concurrent/ConcurrentHashMap$ValuesView",
        On(VALUES, &["map"]),
    ),
    (
        "java/util/concurrent/ConcurrentHashMap$EntrySetView",
        On(ENTRY_SET, &["map"]),
    ),
    ("java/util/ArrayList$SubList", By(sub_list)),
    // Entries; those of a map are made without it.
    (
        "java/util/AbstractMap$SimpleEntry",
        Of(ENTRY, &["key", "value"]),
    ),
    (
        "java/util/AbstractMap$SimpleImmutableEntry",
        Of(
            "java/util/AbstractMap$SimpleImmutableEntry.<init>(Ljava/lang/Object;Ljava/lang/Object;)V",
            &["key", "value"],
        ),
    ),
    (
        "java/util/KeyValueHolder",
        Of(
            "java/util/Map.entry(Ljava/lang/Object;Ljava/lang/Object;)Ljava/util/Map$Entry;",
            &["key", "value"],
        ),
    ),
    ("java/util/HashMap$Node", Of(ENTRY, &["key", "value"])),
    ("java/util/HashMap$TreeNode", Of(ENTRY, &["key", "value"])),
    (
        "java/util/LinkedHashMap$Entry",
        Of(ENTRY, &["key", "value"]),
    ),
    ("java/util/TreeMap$Entry", Of(ENTRY, &["key", "value"])),
    ("java/util/Hashtable$Entry", Of(ENTRY, &["key", "value"])),
    (
        "java/util/concurrent/ConcurrentHashMap$MapEntry",
        Of(ENTRY, &["key", "val"]),
    ),
    // Iterators.
    ("java/util/ArrayList$Itr", By(list_iterator)),
    (
        "java/util/ArrayList$ListItr",
        On(LIST_ITERATOR, &["this$0", "cursor"]),
    ),
    (
        "java/util/LinkedList$ListItr",
        On(LIST_ITERATOR, &["this$0", "nextIndex"]),
    ),
    ("java/util/Arrays$ArrayItr", By(array_iterator)),
    ("java/util/HashMap$KeyIterator", By(key_iterator)),
    (
        "java/util/LinkedHashMap$LinkedKeyIterator",
        By(key_iterator),
    ),
];

const ENTRY: &str =
    "java/util/AbstractMap$SimpleEntry.<init>(Ljava/lang/Object;Ljava/lang/Object;)V";
const UNMODIFIABLE_LIST: &str =
    "java/util/Collections.unmodifiableList(Ljava/util/List;)Ljava/util/List;";
const SYNCHRONIZED_LIST: &str =
    "java/util/Collections.synchronizedList(Ljava/util/List;)Ljava/util/List;";
const VALUES: &str = "java/util/Map.values()Ljava/util/Collection;";
const ENTRY_SET: &str = "java/util/Map.entrySet()Ljava/util/Set;";
const LIST_ITERATOR: &str = "java/util/List.listIterator(I)Ljava/util/ListIterator;";
const ITERATOR: &str = "java/util/Iterator";

/// `List.of`, `Set.of` or `Map.of`, which have parameters for ten elements or pairs.
fn fixed(
    maker: &mut ObjectMaker<'_, '_>,
    owner: &str,
    given: Vec<Value>,
    made: &Value,
) -> Option<()> {
    let most = if owner == "java/util/Map" { 20 } else { 10 };
    if given.len() <= most {
        let parameters = "Ljava/lang/Object;".repeat(given.len());
        return maker.make(&format!("{owner}.of({parameters})L{owner};"), given, made);
    }
    if owner != "java/util/Map" {
        let all = maker.array("[Ljava/lang/Object;", given);
        let of = format!("{owner}.of([Ljava/lang/Object;)L{owner};");
        return maker.make(&of, vec![all], made);
    }
    let entry = "java/util/Map.entry(Ljava/lang/Object;Ljava/lang/Object;)Ljava/util/Map$Entry;";
    let class = "java/util/KeyValueHolder";
    let pairs = given.chunks_exact(2);
    let entries = pairs.map(|pair| maker.fresh(class, entry, pair.to_vec()));
    let entries = entries.collect::<Option<Vec<Value>>>()?;
    let all = maker.array("[Ljava/util/Map$Entry;", entries);
    let of = "java/util/Map.ofEntries([Ljava/util/Map$Entry;)Ljava/util/Map;";
    maker.make(of, vec![all], made)
}

/// One element or two; where there is one, the other is a stand-in, or null.
fn one_or_two<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>) -> Option<Vec<Value>> {
    let mut given = vec![maker.field(held, "e0")?];
    if !held.is_null("e1") && held.constant("e1") != Some("EMPTY") {
        given.push(maker.field(held, "e1")?);
    }
    Some(given)
}

fn list_12<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let given = one_or_two(maker, held)?;
    fixed(maker, "java/util/List", given, made)
}

fn set_12<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let given = one_or_two(maker, held)?;
    fixed(maker, "java/util/Set", given, made)
}

fn list_n<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let given = maker.items(&items::fixed_list(held)?)?;
    fixed(maker, "java/util/List", given, made)
}

fn set_n<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let given = maker.items(&items::fixed_set(held)?)?;
    fixed(maker, "java/util/Set", given, made)
}

fn map_n<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let given = maker.items(&items::open_table(held)?)?;
    fixed(maker, "java/util/Map", given, made)
}

fn sub_list<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let (from, size) = (held.int("offset")?, held.int("size")?);
    // JDK 11 counts from the list that it is a part of, as we do where that is the whole.
    let whole = maker.give(held, held.any(&["root", "this$0"])?)?;
    let bounds = [from, from + size].map(|n| Some(Value::Int(i32::try_from(n).ok()?)));
    let given = bounds.into_iter().collect::<Option<Vec<Value>>>()?;
    let target = "java/util/List.subList(II)Ljava/util/List;";
    maker.send(target, &whole, given, Some(made))
}

/// An iterator that has gone a few steps.
fn gone(maker: &mut ObjectMaker<'_, '_>, of: &Value, made: &Value, steps: i64) -> Option<()> {
    let iterator = format!("java/util/Collection.iterator()L{ITERATOR};");
    maker.send(&iterator, of, vec![], Some(made))?;
    for _ in 0..steps {
        let next = format!("{ITERATOR}.next()Ljava/lang/Object;");
        maker.send(&next, made, vec![], None)?;
    }
    Some(())
}

fn list_iterator<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let list = maker.field(held, "this$0")?;
    gone(maker, &list, made, held.int("cursor")?)
}

fn array_iterator<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let array = maker.field(held, "a")?;
    let as_list = "java/util/Arrays.asList([Ljava/lang/Object;)Ljava/util/List;";
    let list = maker.fresh("java/util/Arrays$ArrayList", as_list, vec![array])?;
    gone(maker, &list, made, held.int("cursor")?)
}

/// Over the keys of a map, or the elements of the set that has it: those that are left.
fn key_iterator<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let map = held.open("this$0")?;
    let keys: Vec<Item<'a>> = items::any_hash_map(map)?.into_iter().step_by(2).collect();
    let left = match held.is_null("next") {
        true => keys.len(),
        false => {
            let next = held.open("next")?;
            let next = next.get("key")?;
            keys.iter().position(|(_, key)| *key == next)?
        }
    };
    let class = "java/util/LinkedHashSet";
    let set = maker.fresh(class, &format!("{class}.<init>()V"), vec![])?;
    let left = keys.get(left..)?.to_vec();
    maker.fill(&format!("{class}.{ADD}"), &set, left)?;
    gone(maker, &set, made, 0)
}
