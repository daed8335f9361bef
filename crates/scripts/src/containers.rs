//! Containers of the driver: collections of the JDK that a script makes and fills, and that no code of the program sees.
//!
//! Such a collection gives back what was put into it, on every version of the program. A statement that is given
//! an element of it depends on the statement that made the element, not on the container:
//!
//! ```text
//! Node a = new Node();   nodes.put("a", a);   nodes.get("a").add(b);   // needs: new Node()
//! ```
//!
//! Methods that run code of the program (`equals` of a key, a comparator, a lambda) may have to do with the failure:
//! a container with such a call is none of the driver.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::observe::is_jdk_name;
use culprit_model::{ObjectId, Reference, Script, Statement, TypeId, Value};

/// The package of the collections.
const COLLECTIONS: &str = "java/util/";

/// Methods of collections, iterators and entries that run no code of their elements.
const PLAIN: [&str; 33] = [
    "<init>",
    "add",
    "addFirst",
    "addLast",
    "asList",
    "clear",
    "containsKey",
    "descendingIterator",
    "element",
    "entrySet",
    "get",
    "getFirst",
    "getKey",
    "getLast",
    "getOrDefault",
    "getValue",
    "hasNext",
    "isEmpty",
    "iterator",
    "keySet",
    "listIterator",
    "next",
    "of",
    "offer",
    "peek",
    "poll",
    "pop",
    "push",
    "put",
    "remove",
    "set",
    "size",
    "values",
];

/// Words in the names of classes that compare their elements, or their keys.
const KEYED: [&str; 5] = ["Map", "Priority", "Set", "Table", "Tree"];

/// The containers of the driver in a script, with their views: iterators, entries, sets of keys.
pub(crate) fn containers(script: &Script) -> BTreeSet<ObjectId> {
    let mut parents: BTreeMap<ObjectId, Option<ObjectId>> = BTreeMap::new();
    let mut seen: BTreeSet<ObjectId> = BTreeSet::new();
    let mut made: BTreeSet<ObjectId> = BTreeSet::new();
    for statement in &script.statements {
        let is_plain = is_plain(script, statement);
        if !is_plain {
            seen.extend(statement.uses());
            for answer in statement.answers() {
                seen.extend(answer.end.value().and_then(Value::identity));
            }
        }
        let Some(Value::Reference(Reference::Object { id, class })) = statement.result() else {
            continue;
        };
        if made.insert(*id) && is_plain && script.class_name(*class).starts_with(COLLECTIONS) {
            parents.insert(*id, script.receiver(statement));
        }
    }
    let root = |mut id: ObjectId| {
        while let Some(Some(parent)) = parents.get(&id) {
            id = *parent;
        }
        id
    };
    // Whoever sees a view sees its container.
    let of_others = |id: &ObjectId| seen.contains(id) || !parents.contains_key(&root(*id));
    let shown = parents.keys().filter(|id| of_others(id));
    let shown: BTreeSet<ObjectId> = shown.map(|id| root(*id)).collect();
    let all = parents.keys().copied();
    all.filter(|id| !shown.contains(&root(*id))).collect()
}

/// True if a statement is a call of a collection that runs no code of the program, or an operator without effect.
fn is_plain(script: &Script, statement: &Statement) -> bool {
    let Some(target) = script.target(statement) else {
        return statement.is_pure() && statement.lambda().is_none();
    };
    let (owner, name) = (target.owner.as_str(), target.name.as_str());
    if !owner.starts_with(COLLECTIONS) || !PLAIN.contains(&name) {
        return false;
    }
    let (class, arguments) = match statement.given.as_slice() {
        [
            Value::Reference(Reference::Object { class, .. }),
            arguments @ ..,
        ] if script.receiver(statement).is_some() => (script.class_name(*class), arguments),
        given => (owner, given),
    };
    let has_keys = KEYED.iter().any(|word| class.contains(word));
    let compared = match name {
        // The elements of another collection, or a comparator.
        "<init>" | "asList" => return !arguments.iter().any(|value| has(value, &|_| true)),
        "of" if has_keys => arguments,
        "remove" => arguments,
        _ if has_keys => &arguments[..arguments.len().min(1)],
        _ => &[],
    };
    let is_of_program = |class: TypeId| !is_jdk_name(script.class_name(class));
    !compared.iter().any(|value| has(value, &is_of_program))
}

/// True if a value is, or contains, an object of some class.
fn has(value: &Value, is_wanted: &dyn Fn(TypeId) -> bool) -> bool {
    let mut found = false;
    value.each_reference(&mut |reference| {
        if let Reference::Object { class, .. } = reference {
            found |= is_wanted(*class);
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use culprit_model::Tables;
    use culprit_model::script::{Builder, MemberName};

    use super::*;
    use crate::needs;

    /// Writes statements about a container.
    struct Pen {
        builder: Builder,
        statements: Vec<Statement>,
    }

    impl Pen {
        fn new() -> Pen {
            Pen {
                builder: Builder::with(Tables::default(), ObjectId(0)),
                statements: Vec::new(),
            }
        }

        fn make(&mut self, class: &str) -> Value {
            let made = self.builder.variable(class);
            let statement = self
                .builder
                .construct(class, "()V", Vec::new(), made.clone());
            self.statements.push(statement);
            made
        }

        fn call(&mut self, on: &Value, target: (&str, &str, &str), given: Vec<Value>) {
            self.call_for(on, target, given, None);
        }

        fn call_for(
            &mut self,
            on: &Value,
            (owner, name, descriptor): (&str, &str, &str),
            given: Vec<Value>,
            made: Option<&Value>,
        ) {
            let target = MemberName::of(owner, name, descriptor);
            let made = made.cloned();
            let statement = self.builder.call(target, on.clone(), given, made);
            self.statements.push(statement);
        }

        fn needs_of_last(self) -> Vec<usize> {
            let script = self.builder.script(self.statements);
            needs(&script).pop().unwrap_or_default()
        }
    }

    const ADD: (&str, &str, &str) = ("java/util/List", "add", "(Ljava/lang/Object;)Z");
    const GET: (&str, &str, &str) = ("java/util/List", "get", "(I)Ljava/lang/Object;");
    const USE: (&str, &str, &str) = ("shop/Cart", "pay", "()V");

    #[test]
    fn an_element_of_a_list_of_the_driver_does_not_depend_on_the_list() {
        let mut pen = Pen::new();
        let cart = pen.make("shop/Cart");
        let list = pen.make("java/util/ArrayList");
        pen.call(&list, ADD, vec![cart.clone()]);
        pen.call_for(&list, GET, vec![Value::Int(0)], Some(&cart));
        pen.call(&cart, USE, vec![]);
        assert_eq!(pen.needs_of_last(), [0]);
    }

    #[test]
    fn an_element_of_an_iterator_does_not_depend_on_the_iterator() {
        let mut pen = Pen::new();
        let cart = pen.make("shop/Cart");
        let list = pen.make("java/util/ArrayList");
        pen.call(&list, ADD, vec![cart.clone()]);
        let iterator = pen.builder.variable("java/util/ArrayList$Itr");
        let of = ("java/util/List", "iterator", "()Ljava/util/Iterator;");
        pen.call_for(&list, of, vec![], Some(&iterator));
        let next = ("java/util/Iterator", "next", "()Ljava/lang/Object;");
        pen.call_for(&iterator, next, vec![], Some(&cart));
        pen.call(&cart, USE, vec![]);
        assert_eq!(pen.needs_of_last(), [0]);
    }

    #[test]
    fn an_element_of_a_list_that_the_program_sees_depends_on_the_list() {
        let mut pen = Pen::new();
        let cart = pen.make("shop/Cart");
        let list = pen.make("java/util/ArrayList");
        pen.call(&list, ADD, vec![cart.clone()]);
        let sort = ("shop/Cart", "sort", "(Ljava/util/List;)V");
        pen.call(&cart, sort, vec![list.clone()]);
        pen.call_for(&list, GET, vec![Value::Int(0)], Some(&cart));
        pen.call(&cart, USE, vec![]);
        assert_eq!(pen.needs_of_last(), [4]);
    }

    #[test]
    fn a_map_whose_keys_are_objects_of_the_program_is_none_of_the_driver() {
        let mut pen = Pen::new();
        let cart = pen.make("shop/Cart");
        let map = pen.make("java/util/HashMap");
        let get = (
            "java/util/Map",
            "get",
            "(Ljava/lang/Object;)Ljava/lang/Object;",
        );
        pen.call_for(&map, get, vec![cart.clone()], Some(&cart));
        pen.call(&cart, USE, vec![]);
        assert_eq!(pen.needs_of_last(), [0]);
        let mut pen = Pen::new();
        let (cart, key) = (pen.make("shop/Cart"), pen.make("shop/Key"));
        let map = pen.make("java/util/HashMap");
        pen.call_for(&map, get, vec![key], Some(&cart));
        pen.call(&cart, USE, vec![]);
        assert_eq!(pen.needs_of_last(), [3]);
    }
}
