//! The methods that change the object they are called on, as far as their code shows it.
//!
//! A method that returns `true` when it has done something is a command, like one that returns nothing: its caller
//! asserts the result or ignores it, and later results depend on it. Its name need not say so, but its code does: it
//! writes a field, or calls a method that changes an object which a field holds. The name may even say otherwise: the
//! `get` of a cache decides which entry is evicted next.

use std::collections::BTreeSet;

use culprit_classfile::{ClassFile, Code, access, named_classes, op};
use culprit_model::observe::is_jdk_name;
use culprit_model::{Member, Script};
use culprit_program::Program;

use crate::default_arguments::{Body, body, member};

/// How methods of the library begin that change what they are called on, or given first.
const CHANGES: [&str; 21] = [
    "add", "put", "append", "set", "remove", "clear", "offer", "push", "pop", "poll", "insert",
    "delete", "replace", "write", "print", "sort", "fill", "reverse", "store", "read", "next",
];

/// The same of collections and atomic numbers, for names that mean something else elsewhere.
const CHANGES_OF_FIELDS: [&str; 6] = [
    "merge",
    "compute",
    "increment",
    "decrement",
    "accumulate",
    "getAnd",
];

/// The map that moves an entry when it is looked up, if its constructor is told so.
const ORDERED_MAP: &str = "java/util/LinkedHashMap";
const WITH_ORDER: &str = "(IFZ)V";

/// The most methods whose code is read for one call.
const MOST_METHODS: usize = 24;

/// Whether a method of the library, by its name, changes what it is called on.
pub fn changes_library(name: &str) -> bool {
    CHANGES.iter().any(|start| name.starts_with(start))
}

/// Whether a method of the program is named like those: `next` and `addAll`, but not `address`.
pub fn is_named_for_change(name: &str) -> bool {
    let ends_word = |rest: &str| !rest.starts_with(|c: char| c.is_lowercase());
    let mut starts = CHANGES.iter();
    starts.any(|start| name.strip_prefix(start).is_some_and(ends_word))
}

/// True if calls of the whole script change the object that its failing call is made on, and no call of the reduced one
/// does so.
///
/// A new object may fail like one that was changed and should not have been: a map without a key like one that lost it.
pub fn loses_changes(whole: &Script, reduced: &Script) -> bool {
    changes_receiver(whole) && !changes_receiver(reduced)
}

/// True if a call changes the object that the last one is made on, as far as names and results of methods tell.
fn changes_receiver(script: &Script) -> bool {
    let Some((last, earlier)) = script.statements.split_last() else {
        return false;
    };
    let (Some(on), Some(failing)) = (script.receiver(last), script.target(last)) else {
        return false;
    };
    earlier.iter().any(|statement| {
        let target = script.target(statement);
        script.receiver(statement) == Some(on)
            && target.is_some_and(|target| {
                let is_command = target.descriptor.ends_with(")V");
                let is_change = is_command || is_named_for_change(&target.name);
                is_change && target.name != "<init>" && target.name != failing.name
            })
    })
}

/// Whether a method returns a status, a truth value or a constant of an enum, and changes the object of a class that
/// it is called on.
pub fn is_command_with_status(method: &Member, class: &str, program: &Program) -> bool {
    let returned = method.descriptor.rsplit(')').next().unwrap_or_default();
    let is_enum = |class: &str| {
        let class = program.bytes(class);
        let class = class.and_then(|bytes| ClassFile::parse(&bytes).ok());
        class.is_some_and(|class| class.access & access::ENUM != 0)
    };
    let class_of = |returned: &str| Some(returned.strip_prefix('L')?.strip_suffix(';')?.to_owned());
    let is_status = returned == "Z" || class_of(returned).is_some_and(|class| is_enum(&class));
    is_status && changes_receiver_by_code(method, class, program)
}

/// Whether the code of a method changes the object of a class that it is called on.
pub fn changes_receiver_by_code(method: &Member, class: &str, program: &Program) -> bool {
    let called = Member {
        owner: class.to_owned(),
        ..method.clone()
    };
    let code = CodeOf {
        body: &|member| body(member, program),
        orders: &|class| orders_by_access(class, program),
    };
    changes(called, &code)
}

/// True if a class, one above it or one within it makes a map that moves entries when they are looked up.
fn orders_by_access(class: &str, program: &Program) -> bool {
    let class_file = |name: &str| ClassFile::parse(&program.bytes(name)?).ok();
    let makes = |class: &ClassFile| {
        let mut indices = (1..=u16::MAX).take(class.pool.count());
        indices.any(|index| {
            class.pool.member(index).is_ok_and(|made| {
                made.owner == ORDERED_MAP && made.name == "<init>" && made.descriptor == WITH_ORDER
            })
        })
    };
    program.above(class).iter().any(|name| {
        let Some(class) = class_file(name) else {
            return false;
        };
        let nested = format!("{name}$");
        let named = named_classes(&class).unwrap_or_default();
        let within = named.iter().filter(|name| name.starts_with(&nested));
        makes(&class)
            || within
                .filter_map(|name| class_file(name))
                .any(|it| makes(&it))
    })
}

/// The code of the program's methods, and the facts about its classes that no single method shows.
struct CodeOf<'a> {
    body: &'a dyn Fn(&Member) -> Option<Body>,
    /// A class has a map that moves entries when they are looked up.
    orders: &'a dyn Fn(&str) -> bool,
}

/// Whether a method, or one that it calls on its object or on one that a field of it holds, writes a field.
fn changes(method: Member, code_of: &CodeOf<'_>) -> bool {
    let mut met = BTreeSet::from([method.clone()]);
    let mut open = vec![method];
    while let Some(method) = open.pop() {
        let looks_up = |name: &str| name.starts_with("get") && (code_of.orders)(&method.owner);
        let Some((class, code)) = (code_of.body)(&method) else {
            // Inherited from the map.
            if looks_up(&method.name) {
                return true;
            }
            continue;
        };
        let Some(found) = Accesses::of(&class, &code) else {
            continue;
        };
        if found.writes {
            return true;
        }
        for called in found.calls {
            let is_held = found.held.contains(&called.owner);
            if is_jdk_name(&called.owner) {
                let mut more = CHANGES_OF_FIELDS.iter();
                let is_change = changes_library(&called.name)
                    || more.any(|start| called.name.starts_with(start));
                let is_map = is_held || called.owner == ORDERED_MAP;
                if is_held && is_change || is_map && looks_up(&called.name) {
                    return true;
                }
            } else if (is_held || called.owner == method.owner)
                && called.name != "<init>"
                && met.len() < MOST_METHODS
                && met.insert(called.clone())
            {
                open.push(called);
            }
        }
    }
    false
}

/// The accesses of a method to fields, and its calls.
#[derive(Default)]
struct Accesses {
    /// It writes a field, or an element of an array where it reads a field that holds one.
    writes: bool,
    /// The classes of the fields that it reads.
    held: BTreeSet<String>,
    calls: Vec<Member>,
}

impl Accesses {
    fn of(class: &ClassFile, code: &Code) -> Option<Accesses> {
        let mut found = Accesses::default();
        let (mut stores, mut holds_array) = (false, false);
        for instruction in code.instructions() {
            let instruction = instruction.ok()?;
            let named = || {
                let index = instruction.pool_index()?;
                Some(member(&class.pool.member(index).ok()?))
            };
            match instruction.opcode {
                op::PUTFIELD | op::PUTSTATIC => found.writes = true,
                op::IASTORE..=op::SASTORE => stores = true,
                op::GETFIELD | op::GETSTATIC => {
                    let descriptor = named()?.descriptor;
                    holds_array |= descriptor.starts_with('[');
                    let held = descriptor.strip_prefix('L');
                    let held = held.and_then(|name| name.strip_suffix(';'));
                    found.held.extend(held.map(str::to_owned));
                }
                op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => found.calls.push(named()?),
                _ => {}
            }
        }
        found.writes |= stores && holds_array;
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use culprit_classfile::Pool;
    use culprit_model::script::MemberName;

    use super::*;

    #[test]
    fn a_new_object_has_lost_the_changes_of_another() {
        let head = "\
script 1
type 1 shop/Cart
site 1 entry shop/Cart.<init>()V
site 2 entry shop/Cart.putAll()I
site 3 entry shop/Cart.total()I
site 4 entry shop/Cart.close()V
site 5 entry shop/Cart.size()I
=> @1()
<= @1 = #1:@1
";
        let script = |calls: &[&str]| -> Script {
            let calls = calls
                .iter()
                .map(|site| format!("=> @{site}() on #1:@1\n<= @{site}\n"));
            format!("{head}{}", calls.collect::<String>())
                .parse()
                .unwrap()
        };
        let new = script(&["3"]);
        assert!(loses_changes(&script(&["2", "3"]), &new));
        assert!(loses_changes(&script(&["4", "3"]), &new));
        assert!(!loses_changes(&script(&["5", "3", "3"]), &new));
        assert!(!loses_changes(
            &script(&["2", "4", "3"]),
            &script(&["4", "3"])
        ));
    }

    /// The body of a method that has these instructions with members.
    fn with(instructions: &[(u8, MemberName<'_>)]) -> Body {
        let mut pool = Pool::new();
        let mut bytes = Vec::new();
        for (opcode, of) in instructions {
            let Member {
                owner,
                name,
                descriptor,
            } = Member::from(*of);
            let index = match *opcode {
                op::GETFIELD | op::PUTFIELD => pool.add_field_ref(&owner, &name, &descriptor),
                _ => pool.add_method_ref(&owner, &name, &descriptor),
            };
            bytes.push(*opcode);
            bytes.extend(index.unwrap().to_be_bytes());
        }
        let class = ClassFile {
            minor: 0,
            major: 52,
            access: 0,
            this_class: pool.add_class("shop/Cart").unwrap(),
            super_class: 0,
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods: Vec::new(),
            attributes: Vec::new(),
            pool,
        };
        let code = Code {
            max_stack: 1,
            max_locals: 1,
            bytes,
            handlers: Vec::new(),
            attributes: Vec::new(),
        };
        (class, code)
    }

    const MOVE: MemberName<'_> = MemberName::of("shop/Cart", "move", "()Z");
    const CHECK: MemberName<'_> = MemberName::of("shop/Cart", "check", "()V");
    const COUNT: MemberName<'_> = MemberName::of("shop/Cart", "count", "I");
    const ITEMS: MemberName<'_> = MemberName::of("shop/Cart", "items", "Ljava/util/Map;");
    const PUT: MemberName<'_> = MemberName::of("java/util/Map", "put", "()V");
    const MERGE: MemberName<'_> = MemberName::of("java/util/Map", "merge", "()V");
    const GET: MemberName<'_> = MemberName::of("java/util/Map", "get", "()V");

    #[track_caller]
    fn check(of_move: &[(u8, MemberName<'_>)], of_check: &[(u8, MemberName<'_>)], expect: bool) {
        assert_eq!(
            changes_with(of_move, of_check, false),
            expect,
            "{of_move:?}"
        );
    }

    fn changes_with(
        of_move: &[(u8, MemberName<'_>)],
        of_check: &[(u8, MemberName<'_>)],
        orders: bool,
    ) -> bool {
        let body = |member: &Member| match member.name.as_str() {
            "move" => Some(with(of_move)),
            "check" => Some(with(of_check)),
            _ => None,
        };
        let code = CodeOf {
            body: &body,
            orders: &|_| orders,
        };
        changes(MOVE.into(), &code)
    }

    #[test]
    fn a_method_that_writes_a_field_changes_its_object() {
        check(&[(op::PUTFIELD, COUNT)], &[], true);
        check(&[(op::GETFIELD, COUNT)], &[], false);
    }

    #[test]
    fn so_does_one_that_changes_a_collection_of_a_field() {
        let (items, put) = ((op::GETFIELD, ITEMS), (op::INVOKEVIRTUAL, PUT));
        check(&[items, put], &[], true);
        check(&[items, (op::INVOKEVIRTUAL, MERGE)], &[], true);
        check(&[items, (op::INVOKEVIRTUAL, GET)], &[], false);
        // A collection of its own.
        check(&[put], &[], false);
    }

    #[test]
    fn so_does_one_that_calls_such_a_method_of_its_object() {
        let calls = [(op::INVOKEVIRTUAL, CHECK)];
        check(&calls, &[(op::PUTFIELD, COUNT)], true);
        check(&calls, &[(op::INVOKEVIRTUAL, CHECK)], false);
    }

    #[test]
    fn so_does_one_that_looks_up_what_a_map_moves() {
        let looks_up = [(op::GETFIELD, ITEMS), (op::INVOKEVIRTUAL, GET)];
        assert!(changes_with(&looks_up, &[], true));
        assert!(!changes_with(&looks_up, &[], false));
        // Another map than the one of the field.
        assert!(!changes_with(&looks_up[1..], &[], true));
    }
}
