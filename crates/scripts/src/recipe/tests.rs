//! Recipes on states as recordings have them. That they make what was recorded is a question for real
//! JVMs, which `crates/cli/tests/jvm/recipes.rs` asks.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::script::{Action, Call, StatementEnd};
use culprit_model::{EventKind, ObjectId, Scenario};

use super::*;
use crate::Script;

/// Makes what the call at the end of a scenario is given; the calls of the statements that do, and
/// what it is given then.
fn made(text: &str, there: &[u64]) -> Option<Vec<String>> {
    let scenario: Scenario = format!("scenario 1\n{text}").parse().unwrap();
    let told = scenario.steps.iter();
    let told = told.filter(|step| step.kind == EventKind::ObjectState);
    let states: BTreeMap<ObjectId, RecordedState> = told.filter_map(RecordedState::told).collect();
    let mut made: BTreeSet<ObjectId> = there.iter().copied().map(ObjectId).collect();
    let mut builder = Builder::with(scenario.tables.clone(), ObjectId(100));
    let mut statements = Vec::new();
    let mut call = scenario.steps.last().unwrap().clone();
    assert_eq!(call.kind, EventKind::IncomingCall);
    for value in &mut call.values {
        let sources = RecipeSources {
            tables: &scenario.tables,
            states: &states,
            made: &made,
            blobs: &scenario.tables,
        };
        let done = make(&mut builder, sources, value)?;
        made.extend(done.statements.iter().filter_map(Statement::defines));
        statements.extend(done.statements);
        *value = done.value;
    }
    let (site, answers) = (call.site, Vec::new());
    let action = Action::Call(Call { site, answers });
    statements.push(Statement::new(action, call.values, StatementEnd::Open));
    Some(lines(&builder.script(statements)))
}

/// The calls of a script, each with the object that it makes before it.
fn lines(script: &Script) -> Vec<String> {
    let steps = script.statements.iter().map(|statement| {
        let one = Script {
            tables: std::sync::Arc::clone(&script.tables),
            statements: vec![statement.clone()],
            ..Script::default()
        };
        let text = one.to_string();
        let (_, steps) = text.split_once("\n\n").unwrap();
        let mut lines = steps.lines();
        let call = lines.next().unwrap();
        let (_, call) = call.split_once("=> ").unwrap();
        let end = lines.next().and_then(|end| end.split_once(" = "));
        match end {
            Some((_, made)) if made.contains('#') => format!("{made} = {}", nameless(call)),
            _ => nameless(call),
        }
    });
    steps.collect()
}

/// A call without the number of its site.
fn nameless(call: &str) -> String {
    let (name, rest) = call.split_once('@').unwrap();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{name}{rest}")
}

#[track_caller]
fn check(text: &str, expect: &[&str]) {
    assert_eq!(made(text, &[]).unwrap(), expect);
}

const LIST: &str = "\
type 1 java/util/ArrayList fields {java/util/AbstractList.modCount:I, java/util/ArrayList.elementData:[Ljava/lang/Object;, java/util/ArrayList.size:I}
type 2 java/lang/Object[]
type 3 shop/Order loader 1
site 1 entry static shop/Order.take(Ljava/lang/Object;)V
";

#[test]
fn a_list_is_made_empty_and_filled() {
    check(
        &format!(
            "{LIST}\
== state @0(state ArrayList{{1, piece 1, 2}}) on #3:ArrayList = #0:Object[]{{\"a\", box 2, null, null}}
=> Order.take@1(#3:ArrayList)"
        ),
        &[
            "#3:ArrayList = new ArrayList()",
            "ArrayList.add(\"a\") on #3:ArrayList",
            "ArrayList.add(box 2) on #3:ArrayList",
            "Order.take(#3:ArrayList)",
        ],
    );
}

#[test]
fn what_is_held_is_made_first_and_once() {
    check(
        &format!(
            "{LIST}\
== state @0(state ArrayList{{1, piece 1, 3}}, #0:Object[]{{piece 2, piece 2, #3:ArrayList}}) on #3:ArrayList = state ArrayList{{0, piece 1, 0}}
=> Order.take@1(#3:ArrayList)"
        ),
        &[
            "#3:ArrayList = new ArrayList()",
            "#101:ArrayList = new ArrayList()",
            "ArrayList.add(#101:ArrayList) on #3:ArrayList",
            "ArrayList.add(#101:ArrayList) on #3:ArrayList",
            "ArrayList.add(#3:ArrayList) on #3:ArrayList",
            "Order.take(#3:ArrayList)",
        ],
    );
}

#[test]
fn objects_of_the_program_must_be_there() {
    let text = format!(
        "{LIST}\
== state @0(state ArrayList{{1, piece 1, 1}}) on #3:ArrayList = #0:Object[]{{#7:Order}}
=> Order.take@1(#3:ArrayList)"
    );
    assert_eq!(made(&text, &[]), None);
    let expect = [
        "#3:ArrayList = new ArrayList()",
        "ArrayList.add(#7:Order) on #3:ArrayList",
        "Order.take(#3:ArrayList)",
    ];
    assert_eq!(made(&text, &[7]).unwrap(), expect);
    assert_eq!(made(&text, &[3]).unwrap(), ["Order.take(#3:ArrayList)"]);
}

#[test]
fn a_state_that_is_not_as_expected_has_no_recipe() {
    for state in [
        "== state @0(state ArrayList{1, piece 1, 3}) on #3:ArrayList = #0:Object[]{\"a\"}",
        "== state @0 on #3:ArrayList = state ArrayList{1, null, 1}",
        "== state @0(state ArrayList{1, piece 1, 1}) on #3:ArrayList = #0:Object[]{1 unknown}",
        "== state @0(state ArrayList{1, piece 1, 1}) on #3:ArrayList = #0:Object[]{redacted}",
        "== state @0 on #3:ArrayList = state ArrayList{1, piece 9, 1}",
        "",
    ] {
        let text = format!("{LIST}{state}\n=> Order.take@1(#3:ArrayList)");
        assert_eq!(made(&text, &[]), None, "{state}");
    }
}

#[test]
fn fields_are_given_as_parameters_want_them() {
    check(
        "\
type 1 java/time/LocalDate fields {java/time/LocalDate.year:I, java/time/LocalDate.month:S, java/time/LocalDate.day:S}
type 2 java/util/concurrent/atomic/AtomicBoolean fields {java/util/concurrent/atomic/AtomicBoolean.value:I}
site 1 entry static shop/Order.take(Ljava/lang/Object;Ljava/lang/Object;)V
== state @0 on #1:LocalDate = state LocalDate{2020, 2s, 29s}
== state @0 on #2:AtomicBoolean = state AtomicBoolean{1}
=> Order.take@1(#1:LocalDate, #2:AtomicBoolean)",
        &[
            "#1:LocalDate = LocalDate.of(2020, 2, 29)",
            "#2:AtomicBoolean = new AtomicBoolean(true)",
            "Order.take(#1:LocalDate, #2:AtomicBoolean)",
        ],
    );
}

#[test]
fn a_latch_has_its_count_if_that_is_known() {
    check(
        "\
type 1 java/util/concurrent/CountDownLatch fields {java/util/concurrent/CountDownLatch.sync:Ljava/lang/Object;}
type 2 java/util/concurrent/CountDownLatch$Sync
site 1 entry static shop/Order.take(Ljava/lang/Object;)V
== state @0 on #1:CountDownLatch = state CountDownLatch{#2:CountDownLatch$Sync}
=> Order.take@1(#1:CountDownLatch)",
        &[
            "#1:CountDownLatch = new CountDownLatch(1)",
            "Order.take(#1:CountDownLatch)",
        ],
    );
}

#[test]
fn a_reader_is_one_of_what_is_left_on_every_jdk() {
    let before = "\
type 1 java/io/StringReader fields {java/io/StringReader.str:Ljava/lang/String;, java/io/StringReader.next:I}
site 1 entry static shop/Order.take(Ljava/lang/Object;)V
== state @0 on #1:StringReader = state StringReader{\"text\", 1}
=> Order.take@1(#1:StringReader)";
    let since_25 = "\
type 1 java/io/StringReader fields {java/io/StringReader.r:Ljava/io/Reader;}
type 2 java/io/Reader$2 fields {java/io/Reader$2.next:I, java/io/Reader$2.val$cs:Ljava/lang/CharSequence;}
site 1 entry static shop/Order.take(Ljava/lang/Object;)V
== state @0(state StringReader{piece 1}) on #1:StringReader = state Reader$2{1, \"text\"}
=> Order.take@1(#1:StringReader)";
    for text in [before, since_25] {
        check(
            text,
            &[
                "#1:StringReader = new StringReader(\"ext\")",
                "Order.take(#1:StringReader)",
            ],
        );
    }
}

#[test]
fn constants_that_a_test_cannot_name_are_asked_for() {
    check(
        "\
type 1 java/util/Optional
type 2 java/util/Locale
type 3 java/nio/charset/Charset
type 4 java/lang/Object[]
site 1 entry static shop/Order.take(Ljava/lang/Object;)V
=> Order.take@1(#9:Object[]{constant Optional \"EMPTY\", constant Locale \"ROOT\", constant Charset \"UTF-8\"})",
        &[
            "#101:Optional = Optional.empty()",
            "Order.take(#9:Object[]{#101:Optional, constant Locale \"ROOT\", constant StandardCharsets \"UTF_8\"})",
        ],
    );
    let private = "\
type 1 java/util/ArrayList
site 1 entry static shop/Order.take(Ljava/lang/Object;)V
=> Order.take@1(constant ArrayList \"EMPTY_ELEMENTDATA\")";
    assert_eq!(made(private, &[]), None);
}

#[test]
fn a_large_table_of_hashes_stays_large() {
    let map = "\
type 1 java/util/HashMap fields {java/util/HashMap.table:[Ljava/util/HashMap$Node;}
type 2 java/util/HashMap$Node[]
type 3 java/util/HashMap$Node fields {java/util/HashMap$Node.key:Ljava/lang/Object;, java/util/HashMap$Node.value:Ljava/lang/Object;, java/util/HashMap$Node.next:Ljava/util/HashMap$Node;}
site 1 entry static shop/Order.take(Ljava/lang/Object;)V
";
    let state = |gaps: usize| {
        let gaps = "null, ".repeat(gaps);
        format!(
            "{map}== state @0(state HashMap{{piece 1}}, #0:HashMap$Node[]{{{gaps}piece 2}}, state HashMap$Node{{\"a\", 1, piece 3}}) on #1:HashMap = state HashMap$Node{{\"b\", 2, null}}
=> Order.take@1(#1:HashMap)"
        )
    };
    let rest = [
        "HashMap.put(\"a\", 1) on #1:HashMap",
        "HashMap.put(\"b\", 2) on #1:HashMap",
        "Order.take(#1:HashMap)",
    ];
    for (gaps, first) in [
        (15, "#1:HashMap = new HashMap()"),
        (31, "#1:HashMap = new HashMap(32)"),
    ] {
        let expect: Vec<&str> = [first].into_iter().chain(rest).collect();
        check(&state(gaps), &expect);
    }
}

#[test]
fn every_recipe_has_targets_that_can_be_called() {
    let mut classes = BTreeSet::new();
    for (class, recipe) in TABLES.iter().flat_map(|table| table.iter()) {
        assert!(classes.insert(class), "two recipes for {class}");
        let (target, receiver, fields) = match recipe {
            Recipe::Of(target, fields) | Recipe::When(_, target, fields) => (*target, 0, *fields),
            Recipe::On(target, fields) => (*target, 1, *fields),
            _ => continue,
        };
        let open = target.find('(').expect(target);
        assert!(target[..open].contains('.'), "{target}");
        let parameters = culprit_model::value::split_descriptor(&target[open..]);
        let (parameters, _) = parameters.expect(target);
        assert_eq!(parameters.len() + receiver, fields.len(), "{class}");
    }
}
