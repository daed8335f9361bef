//! What an assertion looks at. A recording has values, not where they came from: a test that asserts
//! something of a result must compute it, or it asserts something of a literal. The result that an
//! assertion was given is taken to be the last one with that value.

use std::sync::Arc;

use culprit_model::owner::{ASSERTING, Actual, asserting};
use culprit_model::script::Builder;
use culprit_model::{Member, Owner, Reference, Tables, Value};

use crate::{Script, Statement};

/// How many results are tried.
const MOST_SOURCES: usize = 16;

/// Classes to observe for what tests assert.
pub(crate) fn assertion_classes() -> impl Iterator<Item = &'static str> {
    ASSERTING.iter().map(|known| known.class)
}

/// The class that `assert` of Scala 3 tells that something is wrong; what it asserts, it compiles to a branch.
const FAILS_IN_SCALA: (&str, &str) = ("scala/runtime/Scala3RunTime$", "assertFailed");

/// Whether a class belongs to what runs tests or asserts in them.
pub fn is_for_assertions(class: &str) -> bool {
    Owner::of(class).runs_or_asserts() || class == FAILS_IN_SCALA.0
}

/// Whether a method does nothing but say that something is wrong.
pub(crate) fn tells_fault(method: &Member) -> bool {
    let is_fail = method.name == "fail" && asserting(&method.owner).is_some();
    is_fail || (method.owner.as_str(), method.name.as_str()) == FAILS_IN_SCALA
}

/// Whether a statement asserts something, or says that something is wrong, which may need no argument.
pub(crate) fn is_assertion(script: &Script, statement: &Statement) -> bool {
    let site = script.site(statement);
    let is_fail = site.is_some_and(|site| tells_fault(&site.target));
    // Libraries like AssertJ assert step by step, each call on the result of the one before:
    // `assertThat(cart.total()).isEqualTo(5)`.
    let is_step =
        site.is_some_and(|site| site.has_receiver() && is_for_assertions(&site.target.owner));
    is_fail || is_step || actual(script, statement).is_some()
}

/// Whether what fails is an assertion, or whatever a driver does that has found something wrong.
pub fn finds_fault(script: &Script) -> bool {
    let last = script.statements.last();
    last.is_some_and(|last| is_assertion(script, last) || last.is_raise())
}

/// The place of the argument that an assertion looks at.
pub fn actual(script: &Script, statement: &Statement) -> Option<usize> {
    let site = script.site(statement)?;
    let known = asserting(&site.target.owner)?;
    let count = statement.given.len();
    let looks_at_two = ["Equals", "Same", "NotEquals"]
        .iter()
        .any(|end| site.target.name.ends_with(end));
    let has_message = site.target.descriptor.starts_with("(Ljava/lang/String;") && count > 1;
    let place = match (known.actual, looks_at_two) {
        (Actual::Second, true) => 1,
        (Actual::Second, false) => 0,
        (Actual::SecondAfterMessage, true) => 1 + usize::from(has_message && count > 2),
        (Actual::SecondAfterMessage, false) => usize::from(has_message),
        (Actual::First, _) => 0,
        (Actual::FirstAfterReason, _) => usize::from(has_message && count > 2),
    };
    (place < count).then_some(place)
}

/// An argument of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct LookedAt {
    statement: usize,
    /// Among the given values.
    place: usize,
}

/// The argument that the last statement looks at, if that asserts something.
fn looked_at(script: &Script) -> Option<LookedAt> {
    let (last, earlier) = script.statements.split_last()?;
    if let Some(place) = actual(script, last) {
        return Some(LookedAt {
            statement: earlier.len(),
            place,
        });
    }
    // An assertion that is made step by step looks at what its first step was given.
    let is_step = |statement: &Statement| {
        let site = script.site(statement);
        site.is_some_and(|site| is_for_assertions(&site.target.owner))
    };
    let mut step = Some(last).filter(|last| is_step(last))?;
    let mut until = earlier.len();
    while let Some(receiver) = script.receiver(step) {
        let makes = |statement: &Statement| statement.defines() == Some(receiver);
        until = earlier[..until].iter().position(makes)?;
        step = Some(&earlier[until]).filter(|step| is_step(step))?;
    }
    let begins = until < earlier.len() && !step.given.is_empty();
    begins.then_some(LookedAt {
        statement: until,
        place: 0,
    })
}

/// The ways to give the last statement, if that asserts something, the result that it looks at: the
/// latest result of that value first. None if no call of the script has such a result.
pub fn links(script: &Script) -> Vec<Script> {
    if script.statements.is_empty() {
        return Vec::new();
    }
    let Some(at) = looked_at(script) else {
        return vec![script.clone()];
    };
    let earlier = &script.statements[..at.statement];
    let looked_at = &script.statements[at.statement].given[at.place];
    if let Value::Reference(Reference::Object { .. }) = looked_at {
        return vec![script.clone()];
    }
    let is_source = |statement: &Statement| {
        let result = statement.result();
        result.is_some_and(|result| is_same(result, looked_at)) && !passes_on(script, statement)
    };
    let sources = (0..earlier.len())
        .rev()
        .filter(|source| is_source(&earlier[*source]));
    sources
        .take(MOST_SOURCES)
        .map(|source| linked(script, source, at))
        .collect()
}

/// True if the result of a statement is most likely the answer of a stand-in, which gives that answer on every version, whatever it
/// is asked: a test of the result would fail on a fixed version too.
pub(crate) fn passes_on(script: &Script, statement: &Statement) -> bool {
    // Small numbers are equal by chance.
    let is_telling = |value: &Value| match value {
        Value::Reference(Reference::String(units)) => units.len() > 1,
        Value::Short(_) | Value::Int(_) | Value::Long(_) => {
            !(-1..10).any(|small| is_same(&Value::Long(small), value))
        }
        Value::Double(number) => number.fract() != 0.0 || number.abs() >= 10.0,
        _ => false,
    };
    let plain = |value: &Value| match value {
        Value::Reference(Reference::Boxed(value)) => (**value).clone(),
        value => value.clone(),
    };
    let Some(result) = statement.result().map(plain).filter(is_telling) else {
        return false;
    };
    let answers = statement.answers().iter();
    let alike = answers.filter(|answer| {
        let value = answer.end.value();
        value.is_some_and(|value| is_same(value, &result))
    });
    let mut asked = alike.filter_map(|answer| answer.asked.first()?.identity());
    let mut stand_ins = None;
    asked.any(|id| {
        let stand_ins = stand_ins.get_or_insert_with(|| script.stand_ins());
        stand_ins.contains_key(&id)
    })
}

/// A script in which a statement is given the result of another.
fn linked(script: &Script, source: usize, at: LookedAt) -> Script {
    let mut script = script.clone();
    let mut builder = Builder::of(&script);
    let result = script.statements[source].result();
    let class = result.map(|value| class_of(value, &script.tables));
    let variable = builder.variable(&class.unwrap_or_default());
    script.tables = Arc::new(builder.finish());
    if let Some(value) = script.statements[source].end.value_mut() {
        *value = variable.clone();
    }
    script.statements[at.statement].given[at.place] = variable;
    script
}

/// Whether a result is what an assertion was given, which may be boxed or of a wider type.
fn is_same(result: &Value, given: &Value) -> bool {
    let plain = |value: &Value| match value {
        Value::Reference(Reference::Boxed(value)) => (**value).clone(),
        value => value.clone(),
    };
    let (result, given) = (plain(result), plain(given));
    if let (
        Value::Reference(Reference::Array { id: a, .. }),
        Value::Reference(Reference::Array { id: b, .. }),
    ) = (&result, &given)
    {
        return a == b;
    }
    if matches!(
        result,
        Value::Reference(Reference::Null | Reference::Unknown)
    ) {
        return matches!(
            (&result, &given),
            (
                Value::Reference(Reference::Null),
                Value::Reference(Reference::Null)
            )
        );
    }
    let integer = |value: &Value| match value {
        Value::Byte(v) => Some(i64::from(*v)),
        Value::Short(v) => Some(i64::from(*v)),
        Value::Char(v) => Some(i64::from(*v)),
        Value::Int(v) => Some(i64::from(*v)),
        Value::Long(v) => Some(*v),
        _ => None,
    };
    match (integer(&result), integer(&given)) {
        (Some(a), Some(b)) => a == b,
        (Some(a), None) => match given {
            Value::Double(v) => v == a as f64,
            Value::Float(v) => v == a as f32,
            _ => false,
        },
        _ => match (&result, &given) {
            (Value::Float(a), Value::Double(b)) => f64::from(*a) == *b,
            (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            _ => result == given,
        },
    }
}

/// The class of a variable that holds a value.
pub(crate) fn class_of(value: &Value, tables: &Tables) -> String {
    let name = match value {
        Value::Reference(Reference::Boxed(value)) => value.shape().box_name(),
        Value::Reference(Reference::String(_) | Reference::StringBlob(_)) => "java/lang/String",
        Value::Reference(Reference::Class(_)) => "java/lang/Class",
        Value::Reference(Reference::Array { class, .. } | Reference::Enum { class, .. }) => {
            tables.class_name(*class)
        }
        Value::Reference(_) => "java/lang/Object",
        scalar => scalar.shape().class_name(),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use culprit_model::ObjectId;
    use culprit_model::script::MemberName;

    use super::*;

    /// A script of calls with these results that ends with an assertion.
    fn script(results: &[Value], assertion: MemberName<'_>, given: &[Value]) -> Script {
        let mut builder = Builder::with(Tables::default(), ObjectId(100));
        let mut statements = Vec::new();
        for (number, result) in results.iter().enumerate() {
            let name = format!("m{number}");
            let target = MemberName::of("Code", name.as_str(), "()V");
            statements.push(builder.call_static(target, Vec::new(), Some(result.clone())));
        }
        statements.push(builder.call_static(assertion, given.to_vec(), None));
        builder.script(statements)
    }

    /// By way to link it, the place of the argument of the assertion that became a variable, and the
    /// statement whose result that is.
    fn ways(script: &Script) -> Vec<(usize, usize)> {
        let way = |linked: Script| {
            let (last, earlier) = linked.statements.split_last().unwrap();
            let is_variable =
                |value: &&Value| matches!(value, Value::Reference(Reference::Object { .. }));
            let given = &last.given;
            let place = given.iter().position(|value| is_variable(&value)).unwrap();
            let variable = Some(&given[place]);
            let source = earlier.iter().position(|s| s.result() == variable);
            (place, source.unwrap())
        };
        links(script).into_iter().map(way).collect()
    }

    const EQUALS: MemberName<'_> =
        MemberName::of("org/junit/jupiter/api/Assertions", "assertEquals", "(II)V");

    fn boxed(value: Value) -> Value {
        Value::Reference(Reference::Boxed(Box::new(value)))
    }

    fn text(text: &str) -> Value {
        Value::Reference(Reference::String(text.encode_utf16().collect()))
    }

    #[track_caller]
    fn check(result: Value, given: Value, expected: bool) {
        let script = script(
            std::slice::from_ref(&result),
            EQUALS,
            &[Value::Int(0), given.clone()],
        );
        let found = !links(&script).is_empty();
        assert_eq!(found, expected, "{result:?} given as {given:?}");
    }

    #[test]
    fn an_assertion_looks_at_the_latest_equal_result_then_at_earlier_ones() {
        let results = [3, 4, 3, 5].map(Value::Int);
        let script = script(&results, EQUALS, &[Value::Int(7), Value::Int(3)]);
        assert_eq!(ways(&script), [(1, 2), (1, 0)]);
    }

    #[test]
    fn no_more_than_a_few_results_are_tried() {
        let results = vec![Value::Int(3); 40];
        let script = script(&results, EQUALS, &[Value::Int(7), Value::Int(3)]);
        let latest: Vec<_> = (40 - MOST_SOURCES..40)
            .rev()
            .map(|source| (1, source))
            .collect();
        assert_eq!(ways(&script), latest);
    }

    #[test]
    fn an_answer_from_outside_is_no_result() {
        let script = |answer: &str| -> Script {
            let text = format!(
                "script 1
type 1 bank/Accounts
type 2 db/Template
site 1 entry bank/Accounts.<init>(Ldb/Template;)V
site 2 entry bank/Accounts.balance()J
site 3 call db/Template.query()J in bank/Accounts.balance()J
site 4 entry static org/junit/jupiter/api/Assertions.assertEquals(JJ)V
=> @1(#2:@2)
<= @1 = #1:@1
=> @2() on #1:@1
-> @3() on #2:@2
<- @3 = {answer}
<= @2 = 700L
=> @4(300L, 700L)
<= @4
"
            );
            text.parse().unwrap_or_else(|error| panic!("{error}"))
        };
        assert_eq!(links(&script("700L")).len(), 0);
        assert_eq!(links(&script("500L")).len(), 1);
    }

    #[test]
    fn an_assertion_of_several_steps_looks_at_what_the_first_is_given() {
        let script: Script = "\
script 1
type 1 org/assertj/core/api/StringAssert
site 1 entry static Code.name()Ljava/lang/String;
site 2 entry static org/assertj/core/api/Assertions.assertThat(Ljava/lang/String;)Lorg/assertj/core/api/StringAssert;
site 3 entry org/assertj/core/api/AbstractAssert.as(Ljava/lang/String;)Lorg/assertj/core/api/AbstractAssert;
site 4 entry org/assertj/core/api/AbstractAssert.isEqualTo(Ljava/lang/Object;)Lorg/assertj/core/api/AbstractAssert;
=> @1()
<= @1 = \"ann\"
=> @2(\"ann\")
<= @2 = #1:@1
=> @3(\"why\") on #1:@1
<= @3 = #1:@1
=> @4(\"bob\") on #1:@1
<= @4
"
        .parse()
        .unwrap();
        let linked = links(&script);
        assert_eq!(linked.len(), 1);
        let [source, first, ..] = linked[0].statements.as_slice() else {
            panic!("{linked:?}")
        };
        assert_eq!(source.result(), first.given.first());
        assert_ne!(source.result(), script.statements[0].result());
    }

    #[test]
    fn a_result_is_a_variable_of_its_type() {
        let script = script(&[Value::Int(3)], EQUALS, &[Value::Int(7), Value::Int(3)]);
        let linked = links(&script).remove(0);
        let Value::Reference(Reference::Object { class, .. }) = linked.statements[1].given[1]
        else {
            panic!("{linked:?}")
        };
        assert_eq!(linked.class_name(class), "int");
    }

    #[test]
    fn results_may_have_been_boxed_or_widened() {
        check(Value::Int(3), boxed(Value::Int(3)), true);
        check(boxed(Value::Int(3)), Value::Int(3), true);
        check(Value::Int(3), Value::Long(3), true);
        check(Value::Char(97), Value::Int(97), true);
        check(Value::Int(3), Value::Double(3.0), true);
        check(Value::Float(0.5), Value::Double(0.5), true);
        check(Value::Double(f64::NAN), Value::Double(f64::NAN), true);
        check(text("a"), text("a"), true);
    }

    #[test]
    fn results_are_not_narrowed_or_made_up() {
        check(Value::Int(3), Value::Int(4), false);
        check(Value::Int(1), Value::Boolean(true), false);
        check(Value::Double(3.0), Value::Int(3), false);
        check(Value::Double(0.0), Value::Double(-0.0), false);
        check(text("a"), text("b"), false);
        check(Value::Int(0), Value::Reference(Reference::Null), false);
        let unknown = Value::Reference(Reference::Unknown);
        check(unknown.clone(), unknown, false);
    }

    #[test]
    fn what_is_looked_at_stands_where_the_framework_has_it() {
        let (right, wrong, message) = (Value::Int(7), Value::Int(3), text("why"));
        let place = |assertion, given: &[Value]| {
            let script = script(std::slice::from_ref(&wrong), assertion, given);
            ways(&script).into_iter().map(|(place, _)| place).next()
        };
        let two = [right.clone(), wrong.clone()];
        let after = [message, right.clone(), wrong.clone()];
        let junit4 = MemberName::of("org/junit/Assert", "assertEquals", "(JJ)V");
        assert_eq!(place(junit4, &two), Some(1));
        let described = MemberName::of(
            "org/junit/Assert",
            "assertEquals",
            "(Ljava/lang/String;JJ)V",
        );
        assert_eq!(place(described, &after), Some(2));
        let testng = MemberName::of("org/testng/Assert", "assertEquals", "(II)V");
        assert_eq!(place(testng, &[wrong.clone(), right]), Some(0));
        let other = MemberName::of("org/junit/jupiter/api/Assertions", "assertTrue", "(Z)V");
        assert_eq!(place(other, std::slice::from_ref(&wrong)), Some(0));
        let of_objects = "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/String;)V";
        let kotlin = MemberName::of("kotlin/test/AssertionsKt", "assertEquals", of_objects);
        let [right, wrong] = two;
        assert_eq!(place(kotlin, &[right, wrong, text("why")]), Some(1));
        let old = "(Ljava/lang/String;II)V";
        let testng = MemberName::of("org/testng/AssertJUnit", "assertEquals", old);
        assert_eq!(place(testng, &after), Some(2));
    }

    #[test]
    fn test_libraries_assert_and_mocks_do_not() {
        for (class, expect) in [
            ("org/junit/Assert", true),
            ("org/junit/rules/ExpectedException", true),
            ("org/assertj/core/api/AbstractAssert", true),
            ("com/google/common/truth/Subject", true),
            ("org/hamcrest/Matcher", true),
            ("shop/Cart", false),
            // Not recognised before the lists of prefixes became one table.
            ("org/testng/asserts/SoftAssert", true),
            ("scala/runtime/Scala3RunTime$", true),
            ("scala/runtime/BoxesRunTime", false),
            ("kotlin/test/AssertionsKt", true),
            ("io/kotest/matchers/ShouldKt", true),
            ("org/spockframework/runtime/SpockRuntime", true),
            (
                "org/springframework/test/web/servlet/result/StatusResultMatchers",
                true,
            ),
            // They do a part of the work under test.
            ("org/springframework/test/web/servlet/MockMvc", false),
            ("org/springframework/test/util/ReflectionTestUtils", false),
            ("org/mockito/Mockito", false),
        ] {
            assert_eq!(is_for_assertions(class), expect, "{class}");
        }
    }

    #[test]
    fn an_object_is_linked_by_itself_and_so_is_what_is_no_assertion() {
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let class = builder.class("T");
        let object = Value::Reference(Reference::Object {
            id: ObjectId(1),
            class,
        });
        for (target, given) in [
            (EQUALS, vec![Value::Int(1), object]),
            (MemberName::of("Code", "fail", "(I)V"), vec![Value::Int(1)]),
        ] {
            let script = script(&[Value::Int(1)], target, &given);
            let found = links(&script);
            assert_eq!(found.len(), 1, "{target:?}");
            assert_eq!(found[0].statements, script.statements, "{target:?}");
        }
    }

    #[test]
    fn an_assertion_of_what_nothing_returned_has_no_link() {
        let script = script(&[Value::Int(1)], EQUALS, &[Value::Int(2), Value::Int(3)]);
        assert!(links(&script).is_empty());
    }
}
