//! Everything that a scenario can be is printed and read back; what is no scenario is refused.
//! `INSTA_UPDATE=always cargo test` takes new snapshots.

use proptest::prelude::*;

use super::*;
use crate::site::TypeDef;
use crate::value::Contents;
use crate::{
    EventKind, Member, ObjectId, Reference, Site, SiteId, SiteKind, ThreadId, TypeId, Value,
};

/// A shop, as a person writes it: sites by name, little room, comments.
const SHOP: &str = r#"
scenario 1
// What is sold.
type 1 com/acme/Order loader 1
type 2 com/acme/Color loader 1 {RED, GREEN}
type 3 java/util/HashMap
type 4 int[]
type 5 java/lang/String[][]
type 6 com/acme/Point loader 1
type 7 java/lang/IllegalStateException
type 8 old/Point loader 2
thread 1 main
thread 2 "pool-1 thread"
site 1 entry com/acme/Order.total(ILjava/lang/String;)J at Order.java:14
site 2 call java/util/Map.get(Ljava/lang/Object;)Ljava/lang/Object; in com/acme/Order.total(ILjava/lang/String;)J at Order.java:15
site 3 callee com/acme/Key.hashCode()I at Key.java
site 4 entry com/acme/Order.<init>(C)V at :40
site 5 field com/acme/Point.x:D in com/acme/Order.total(ILjava/lang/String;)J
site 6 field static com/acme/Order.open:Z in com/acme/Shop.main([Ljava/lang/String;)V at Shop.java:9
site 7 array :I in com/acme/Order.total(ILjava/lang/String;)J at Order.java:17
site 8 call static com/acme/Log."all of it"(Ljava/lang/Object;)V in com/acme/Order.total(ILjava/lang/String;)J
site 9 call java/util/Map.get(Ljava/lang/Object;)Ljava/lang/Object; in com/acme/Order.total(ILjava/lang/String;)J at Order.java:19
blob 1 "a text that is longer than others"
blob 2 hex 00000000 

=> new Order('é')
== this @4=#3:Order
<= new Order = #3:Order
 5 => Order.total(2, "EUR \"\n\ud800") on #3:Order
-> Map.get@2(#9:com/acme/Point)on #4:HashMap
<- Map.get@2 = box 0.5
8 -> Key.hashCode() on #9:com/acme/Point
<- Key.hashCode = -31
-> get Point.x on #9:com/acme/Point = -0.0
t2 => set Order.open = true
t1 -> set[] @7(2) on #7:int[]{3 unknown} = 5
-> Log."all of it"(#7:int[]{1, 2, 3})
== array @8 = #7:int[]{3 from 1: 4, 4}
<- @8
-> @8(#8:String[][]{#10:@5{1 unknown}, null})
<-! @8 = #11:IllegalStateException
== hash @2 on #9:old/Point = 1234
-> com/acme/Log."all of it"@8(Color.GREEN)
<- @8
-> @8(Order.class)
<- @8
-> @8(blob 1)
<- @8
-> @8(#12:int[]{1 in blob 2})
<- @8
-> @8(redacted)
<- @8
-> @8(unknown)
<- @8
depth 1 <=! Order.total = #11:IllegalStateException
"#;

#[test]
fn a_scenario_is_written_for_people() {
    let scenario: Scenario = SHOP.parse().unwrap();
    let printed = scenario.to_string();
    assert_eq!(printed.parse::<Scenario>().unwrap(), scenario);
    insta::assert_snapshot!(printed);
}

#[test]
fn the_example_of_the_specification_is_a_scenario() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario-text.md");
    let document = std::fs::read_to_string(path).unwrap();
    let example = document.split("```scenario\n").nth(1).unwrap();
    let example = example.split("```").next().unwrap();
    let scenario: Scenario = example.parse().unwrap();
    assert_eq!(scenario.to_string(), example);
}

#[test]
fn what_is_no_scenario_is_refused_with_its_place() {
    let tables = "scenario 1\ntype 1 a/A {X}\ntype 2 b/A\nsite 1 entry a/A.f(I)V\nsite 2 call a/A.f(I)V\nsite 3 call a/A.f(I)V\n";
    for (text, expect) in [
        (
            "",
            "line 1, column 1: expected `scenario 1`, found the end of the line",
        ),
        (
            "\n\n",
            "line 3, column 1: expected `scenario 1`, found the end of the line",
        ),
        (
            "=> A.f()",
            "line 1, column 1: expected `scenario 1`, found `=> A.f()`",
        ),
        (
            "scenario 2",
            "line 1, column 10: expected version 1, the one that is known here, found `2`",
        ),
        (
            "scenario 1 x",
            "line 1, column 12: expected the end of the line, found `x`",
        ),
        (
            "scenario 1\ntype A",
            "line 2, column 6: expected the number of a type, found `A`",
        ),
        (
            "scenario 1\ntype 1 [I",
            "line 2, column 8: expected the name of a class, found `[I`",
        ),
        (
            "scenario 1\ntype 1 A {B",
            "line 2, column 12: expected `,`, found the end of the line",
        ),
        (
            "scenario 1\ntype 1 A B",
            "line 2, column 10: expected `loader`, constants in braces, `fields`, or the end of the line, found `B`",
        ),
        (
            "scenario 1\nthread 1",
            "line 2, column 9: expected the name of a thread, found the end of the line",
        ),
        (
            "scenario 1\nsite 1 method",
            "line 2, column 8: expected `entry`, `call`, `callee`, `field` or `array`, found `method`",
        ),
        (
            "scenario 1\nsite 1 entry A.f",
            "line 2, column 17: expected a descriptor: (I)V of a method, :I of a field, found the end of the line",
        ),
        (
            "scenario 1\nsite 1 entry A.f()V at :x",
            "line 2, column 25: expected the number of a line, found `x`",
        ),
        (
            "scenario 1\nsite 1 entry A.f()V at :70000",
            "line 2, column 25: expected the number of a line, found `70000`",
        ),
        (
            "scenario 1\nblob 1 x",
            "line 2, column 8: expected a text in quotes, or `hex` and digits, found `x`",
        ),
        (
            "scenario 1\nblob 1 hex 123",
            "line 2, column 12: expected two hexadecimal digits for each byte, found `123`",
        ),
        (
            "scenario 1\nblob 1 \"\"\nblob 1 \"\"",
            "line 3, column 6: expected a blob with a number of its own, found `1 \"\"`",
        ),
        (
            "scenario 1\n=> @1()\ntype 1 A",
            "line 3, column 1: expected a step: the tables come before the first one, found `type 1 A`",
        ),
        (
            "scenario 1\nhello",
            "line 2, column 1: expected a step, which starts with one of => <= <=! -> <- <-! ==, found `hello`",
        ),
        (
            "scenario 1\n=> 5",
            "line 2, column 4: expected a site: Name.member, `new` Name, or @1, found `5`",
        ),
        (
            "scenario 1\n=> A.f()",
            "line 2, column 4: expected a site of the table above, found `A.f()`",
        ),
        (
            "scenario 1\n=> A.f@7()",
            "line 2, column 4: expected the name of site 7, which is nothing, found `A.f@7()`",
        ),
        (
            "-> A.f()",
            "line 7, column 7: expected `@` and a number: several sites are A.f, found `()`",
        ),
        (
            "=> A.g@1()",
            "line 7, column 4: expected the name of site 1, which is A.f, found `A.g@1()`",
        ),
        (
            "=> A.f(5",
            "line 7, column 9: expected `,` or `)`, found the end of the line",
        ),
        (
            "=> A.f(5, x)",
            "line 7, column 11: expected a value, found `x)`",
        ),
        (
            "=> A.f(5) of",
            "line 7, column 11: expected arguments in brackets, `on`, `=` or the end of the line, found `of`",
        ),
        (
            "=> A.f(#1:A)",
            "line 7, column 11: expected a whole name or a number such as @1: A is the name of several types, found `A)`",
        ),
        (
            "=> A.f(#1:B)",
            "line 7, column 11: expected a type of the table above, found `B)`",
        ),
        (
            "=> A.f(#1)",
            "line 7, column 10: expected `:` and the type of the object, found `)`",
        ),
        (
            "=> A.f(a/A.Y)",
            "line 7, column 12: expected a constant of a/A, found `Y)`",
        ),
        (
            "=> A.f(@1)",
            "line 7, column 10: expected `.class`, or `.` and a constant, found `)`",
        ),
        (
            "=> A.f(5x)",
            "line 7, column 8: expected a number such as 5, 5L, 5s, 5b, 0.5 or 0.5f, found `5x)`",
        ),
        (
            "=> A.f(2147483648)",
            "line 7, column 8: expected a number such as 5, 5L, 5s, 5b, 0.5 or 0.5f, found `2147483648)`",
        ),
        (
            "=> A.f(1e999)",
            "line 7, column 8: expected a number such as 5, 5L, 5s, 5b, 0.5 or 0.5f, found `1e999)`",
        ),
        (
            "=> A.f(NaN(0x0))",
            "line 7, column 14: expected the bits of a value that is not a number, found `0))`",
        ),
        (
            "=> A.f('xy')",
            "line 7, column 8: expected one UTF-16 unit between the quotes, found `'xy')`",
        ),
        (
            "=> A.f(\"x)",
            "line 7, column 11: expected a closing \", found the end of the line",
        ),
        (
            "=> A.f(\"\\x\")",
            r#"line 7, column 9: expected one of \n, \r, \t, \\, \", \' and \u0000, found `\x")`"#,
        ),
        (
            "=> A.f(\"\\u00é0\")",
            r#"line 7, column 9: expected four hexadecimal digits after \u, found `\u00é0")`"#,
        ),
        (
            "=> A.f(#1:a/A{3 of 5})",
            "line 7, column 17: expected `:` and elements, `unknown`, `in blob` or `from`, found `of 5})`",
        ),
        (
            "=> A.f(#1:a/A{99999999999: })",
            "line 7, column 15: expected the length of an array, found `99999999999: })`",
        ),
    ] {
        let text = match text {
            "" | "\n\n" => text.to_owned(),
            _ if text.contains("scenario") || expect.starts_with("line 1,") => text.to_owned(),
            step => format!("{tables}{step}"),
        };
        let error = text.parse::<Scenario>().unwrap_err();
        assert_eq!(error.to_string(), expect);
    }
}

#[test]
fn no_depth_of_nesting_exhausts_the_stack() {
    for (open, close) in [("box ", ""), ("#1:@1{", "}"), ("#1:@1{9 from 1: ", "}")] {
        let text = format!(
            "scenario 1\n=> @1({}null{})",
            open.repeat(100_000),
            close.repeat(100_000)
        );
        let error = text.parse::<Scenario>().unwrap_err().to_string();
        assert!(error.contains("nested at most 300 deep"), "{error}");
        let text = format!(
            "scenario 1\n=> @1({}null{})",
            open.repeat(300),
            close.repeat(300)
        );
        let scenario: Scenario = text.parse().unwrap();
        assert_eq!(scenario.to_string().parse::<Scenario>().unwrap(), scenario);
    }
}

#[test]
fn deep_steps_are_indented_no_further() {
    let mut text = "scenario 1\n".to_owned();
    text.push_str(&"=> @1()\n".repeat(100));
    let printed = text.parse::<Scenario>().unwrap().to_string();
    let last = printed.lines().last().unwrap();
    assert_eq!(last, format!("{}=> @1()", " ".repeat(48)));
}

fn name() -> BoxedStrategy<String> {
    let odd = [
        "", "a.b", "[I", "[Lint;", "[[", "new", "class", "1", "-", "<init>", "x/", "int", "t1",
    ];
    prop_oneof![
        4 => "[a-z]{1,2}(/[A-Z]){0,2}",
        1 => "\\[{0,2}L[a-z]/[A-Z];",
        1 => prop::sample::select(odd.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,4}",
        1 => any::<String>(),
    ]
    .boxed()
}

fn double() -> BoxedStrategy<f64> {
    prop_oneof![any::<f64>(), any::<u64>().prop_map(f64::from_bits)].boxed()
}

fn float() -> BoxedStrategy<f32> {
    prop_oneof![any::<f32>(), any::<u32>().prop_map(f32::from_bits)].boxed()
}

/// Small numbers, which tables are likely to have, and any others.
fn number() -> BoxedStrategy<u32> {
    prop_oneof![8 => 0..5u32, 1 => any::<u32>()].boxed()
}

pub(crate) fn value(depth: u32) -> BoxedStrategy<Value> {
    prop_oneof![
        1 => any::<bool>().prop_map(Value::Boolean),
        1 => any::<i8>().prop_map(Value::Byte),
        1 => any::<i16>().prop_map(Value::Short),
        1 => any::<u16>().prop_map(Value::Char),
        1 => any::<i32>().prop_map(Value::Int),
        1 => any::<i64>().prop_map(Value::Long),
        1 => float().prop_map(Value::Float),
        1 => double().prop_map(Value::Double),
        8 => reference(depth).prop_map(Value::Reference),
    ]
    .boxed()
}

fn reference(depth: u32) -> BoxedStrategy<Reference> {
    let (class, blob) = (number().prop_map(TypeId), number().prop_map(BlobId));
    let id = any::<u64>().prop_map(ObjectId);
    let leaf = prop_oneof![
        Just(Reference::Null),
        Just(Reference::Redacted),
        Just(Reference::Unknown),
        (id.clone(), class.clone()).prop_map(|(id, class)| Reference::Object { id, class }),
        any::<String>().prop_map(|text| Reference::String(text.encode_utf16().collect())),
        prop::collection::vec(any::<u16>(), 0..6).prop_map(Reference::String),
        blob.prop_map(Reference::StringBlob),
        class.clone().prop_map(Reference::Class),
        (class.clone(), number()).prop_map(|(class, ordinal)| Reference::Enum { class, ordinal }),
        number().prop_map(Reference::Piece),
        (class.clone(), name()).prop_map(|(class, name)| Reference::Constant { class, name }),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let fields = prop::collection::vec(value(depth - 1), 0..4);
    let structure = (class.clone(), fields);
    let array = (id, class, number(), contents(depth));
    prop_oneof![
        4 => leaf,
        1 => value(depth - 1).prop_map(|value| Reference::Boxed(Box::new(value))),
        1 => structure.prop_map(|(class, fields)| Reference::Structure { class, fields }),
        2 => array.prop_map(|(id, class, length, contents)| Reference::Array { id, class, length, contents }),
    ]
    .boxed()
}

fn contents(depth: u32) -> BoxedStrategy<Contents> {
    let elements = prop::collection::vec(value(depth - 1), 0..4).prop_map(Contents::Elements);
    let leaf = prop_oneof![
        1 => Just(Contents::Unknown),
        4 => elements,
        1 => number().prop_map(|id| Contents::Blob(BlobId(id))),
    ];
    let part = |(from, known): (u32, Contents)| Contents::Part {
        from,
        known: Box::new(known),
    };
    leaf.prop_recursive(2, 4, 1, move |known| (any::<u32>(), known).prop_map(part))
        .boxed()
}

pub(crate) fn class() -> impl Strategy<Value = TypeDef> {
    (
        number(),
        name(),
        number(),
        prop::collection::vec(name(), 0..4),
        prop::collection::vec(member(), 0..3),
    )
        .prop_map(|(id, name, loader, constants, fields)| TypeDef {
            id: TypeId(id),
            name,
            loader,
            constants,
            fields,
        })
}

fn member() -> impl Strategy<Value = Member> {
    let descriptor = prop_oneof![Just("(I)V".to_owned()), Just("I".to_owned()), name()];
    (name(), name(), descriptor).prop_map(|(owner, name, descriptor)| Member {
        owner,
        name,
        descriptor,
    })
}

pub(crate) fn site() -> impl Strategy<Value = Site> {
    let kinds = [
        SiteKind::Entry,
        SiteKind::Call,
        SiteKind::Callee,
        SiteKind::Field,
        SiteKind::Array,
    ];
    let place = (any::<Option<u16>>(), prop::option::of(name()));
    let code = prop::option::of(member());
    (
        number(),
        prop::sample::select(kinds.to_vec()),
        member(),
        code,
        place,
        any::<bool>(),
    )
        .prop_map(|(id, kind, target, code, (line, source), is_static)| {
            let code = code.unwrap_or_else(|| target.clone());
            Site {
                id: SiteId(id),
                kind,
                class: code.owner,
                method: code.name,
                descriptor: code.descriptor,
                line,
                source,
                target,
                is_static,
            }
        })
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop::sample::select(&EventKind::ALL[..]);
    let values = prop::collection::vec(value(2), 0..4);
    let origin = prop::option::of(any::<u64>().prop_map(EventIndex));
    (number(), kind, number(), values, number(), origin).prop_map(
        |(thread, kind, site, values, depth, origin)| Step {
            thread: ThreadId(thread),
            kind,
            site: SiteId(site),
            values,
            depth,
            origin,
        },
    )
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let thread = (number().prop_map(ThreadId), any::<String>());
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..9),
        any::<String>().prop_map(|text| text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
    ];
    let blobs = prop::collection::btree_map(number().prop_map(BlobId), bytes, 0..3);
    let tables = (
        prop::collection::vec(class(), 0..5),
        prop::collection::vec(site(), 0..5),
        prop::collection::vec(thread, 0..3),
        blobs,
    );
    (tables, prop::collection::vec(step(), 0..8)).prop_map(
        |((types, sites, threads, blobs), steps)| Scenario {
            tables: Tables {
                types: types.into_iter().collect(),
                sites: sites.into_iter().collect(),
                threads,
                blobs,
            },
            steps,
        },
    )
}

/// The same scenario with the bits of its floating-point numbers in their place, since a NaN is
/// not equal to itself, and -0.0 is equal to 0.0.
fn bits(mut scenario: Scenario) -> Scenario {
    let steps = scenario.steps.iter_mut();
    steps.flat_map(|step| &mut step.values).for_each(bits_of);
    scenario
}

pub(crate) fn bits_of(value: &mut Value) {
    fn within(contents: &mut Contents) {
        match contents {
            Contents::Elements(elements) => elements.iter_mut().for_each(bits_of),
            Contents::Part { known, .. } => within(known),
            Contents::Unknown | Contents::Blob(_) => {}
        }
    }
    match value {
        Value::Float(v) => *value = Value::Int(v.to_bits() as i32),
        Value::Double(v) => *value = Value::Long(v.to_bits() as i64),
        Value::Reference(Reference::Boxed(value)) => bits_of(value),
        Value::Reference(Reference::Array { contents, .. }) => within(contents),
        Value::Reference(Reference::Structure { fields, .. }) => {
            fields.iter_mut().for_each(bits_of);
        }
        _ => {}
    }
}

/// A printed scenario that is damaged: some of its characters are gone, moved or replaced.
fn damaged() -> impl Strategy<Value = String> {
    let pieces = [
        "@", "#", "\"", "{", "}", "(", ")", " ", "0", "-", "=>", "\\u", "é", "\n", ":", ".",
    ];
    let change = (
        any::<prop::sample::Index>(),
        0..4usize,
        prop::sample::select(pieces.to_vec()),
    );
    (scenario(), prop::collection::vec(change, 1..6)).prop_map(|(scenario, changes)| {
        let mut text: Vec<char> = scenario.to_string().chars().collect();
        for (place, gone, piece) in changes {
            let start = place.index(text.len());
            let end = (start + gone).min(text.len());
            text.splice(start..end, piece.chars());
        }
        text.into_iter().collect()
    })
}

proptest! {
    #[test]
    fn every_scenario_is_read_back_as_it_was(scenario in scenario()) {
        let text = scenario.to_string();
        let read = text.parse::<Scenario>();
        prop_assert!(read.is_ok(), "{}\n{text}", read.unwrap_err());
        let read = read.unwrap();
        prop_assert_eq!(read.to_string(), text);
        prop_assert_eq!(bits(read), bits(scenario));
    }

    #[test]
    fn any_scenario_can_be_pruned(mut scenario in scenario()) {
        scenario.tables.keep(&scenario.uses());
        let pruned = scenario.to_string().parse::<Scenario>();
        prop_assert_eq!(pruned.map(bits), Ok(bits(scenario)));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>(), lines in "(scenario 1\n)?\\PC{0,80}") {
        let _ = text.parse::<Scenario>();
        let _ = lines.parse::<Scenario>();
    }

    #[test]
    fn what_is_left_of_a_damaged_text_is_refused_or_whole(text in damaged()) {
        if let Ok(scenario) = text.parse::<Scenario>() {
            let again = scenario.to_string().parse::<Scenario>();
            prop_assert_eq!(again.map(bits), Ok(bits(scenario)));
        }
    }
}
