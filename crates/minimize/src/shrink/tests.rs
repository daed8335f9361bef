//! Shrinking with a judge that is a closure.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use culprit_model::script::{Action, Answer, Builder, Call, MemberName, StatementEnd};
use culprit_model::value::Contents;
use culprit_model::{BlobId, ObjectId, Reference, Tables, TypeId, Value};
use culprit_reduce::{Cancel, Settings};

use super::*;
use crate::Script;

fn text(text: &str) -> Value {
    Value::Reference(Reference::String(text.encode_utf16().collect()))
}

fn array(id: u64, elements: Vec<Value>) -> Value {
    Value::Reference(Reference::Array {
        id: ObjectId(id),
        class: TypeId(1),
        length: elements.len() as u32,
        contents: Contents::Elements(elements),
    })
}

/// Calls of one method, each with its arguments.
fn script(calls: &[&[Value]]) -> Script {
    let mut builder = Builder::with(Tables::default(), ObjectId(100));
    let target = MemberName::of("Code", "run", "()V");
    let statements = calls
        .iter()
        .map(|given| builder.call_static(target, given.to_vec(), None));
    let statements = statements.collect();
    builder.script(statements)
}

/// What the calls are given that are left, if a failure needs what a closure tells.
fn left(script: &Script, fails: impl Fn(&[Statement]) -> bool + Sync) -> Vec<Vec<Value>> {
    let fails: &Fails<'_> = &|statements| Ok(fails(statements));
    assert!(fails(&script.statements).unwrap(), "it does not fail");
    let (left, tests) = shrunk(script, fails, &Settings::default()).unwrap();
    assert!(fails(&left).unwrap(), "what is left does not fail");
    assert!(Some(tests) <= BUDGET.tests, "{tests}");
    let given = left.iter().map(|statement| statement.given.to_vec());
    given.collect()
}

/// What is left of the statements, and how many candidates were tried.
fn shrunk(
    script: &Script,
    fails: &Fails<'_>,
    settings: &Settings,
) -> Result<(Vec<Statement>, u64), Error> {
    let oracle = Oracle {
        fails,
        key: String::new(),
    };
    let settings = Settings {
        budget: Budget {
            time: None,
            tests: settings.budget.tests.or(BUDGET.tests),
        },
        ..settings.clone()
    };
    let driver = Driver::new(settings, &|_| {});
    let mut shrinker = Shrinker::new(script, &oracle, &driver);
    shrinker.run()?;
    Ok((shrinker.found(), driver.tally().tests))
}

/// Whether some argument is a text that has another in it.
fn has(statements: &[Statement], part: &str) -> bool {
    let mut given = statements.iter().flat_map(|it| &it.given);
    given.any(|value| match value {
        Value::Reference(Reference::String(units)) => {
            String::from_utf16_lossy(units).contains(part)
        }
        _ => false,
    })
}

#[test]
fn of_a_text_the_part_is_left_that_matters() {
    let long = "some lines\nof a text\nwith one { brace and a } somewhere\n".repeat(40);
    let script = script(&[&[text(&(long + "?"))]]);
    assert_eq!(left(&script, |it| has(it, "?")), [[text("?")]]);
    // Its partner stays: the text was well-formed.
    assert_eq!(left(&script, |it| has(it, "{")), [[text("{}")]]);
    assert_eq!(left(&script, |_| true), [[text("")]]);
}

#[test]
fn a_long_text_is_held_in_the_script_once_it_is_short() {
    let mut script = script(&[&[Value::Reference(Reference::StringBlob(BlobId(1)))]]);
    let long: Vec<u16> = "x".repeat(5_000).encode_utf16().chain([0xFC]).collect();
    let bytes = long.iter().flat_map(|unit| unit.to_le_bytes());
    let tables = Arc::make_mut(&mut script.tables);
    tables.blobs.insert(BlobId(1), bytes.collect());
    let fails = |statements: &[Statement]| match &statements[0].given[0] {
        Value::Reference(Reference::String(units)) => units.contains(&0xFC),
        _ => true,
    };
    assert_eq!(left(&script, fails), [[text("ü")]]);
}

#[test]
fn a_character_that_is_hard_to_read_becomes_a_letter_where_it_can() {
    let script = script(&[&[text("ü\u{1F600}ü")]]);
    let three = |statements: &[Statement]| match &statements[0].given[0] {
        Value::Reference(Reference::String(units)) => {
            String::from_utf16_lossy(units).chars().count() >= 3 && units.contains(&0xFC)
        }
        _ => false,
    };
    assert_eq!(left(&script, three), [[text("aaü")]]);
}

#[test]
fn a_key_is_made_simpler_everywhere_at_once() {
    let script = script(&[&[text("price"), Value::Int(70)], &[text("price")]]);
    let same = |statements: &[Statement]| {
        let keys: Vec<&Value> = statements.iter().map(|it| &it.given[0]).collect();
        keys.len() == 2 && keys[0] == keys[1] && has(statements, "r")
    };
    let (key, zero) = (text("r"), Value::Int(0));
    assert_eq!(left(&script, same), [vec![key.clone(), zero], vec![key]]);
}

#[test]
fn elements_go_and_those_that_stay_become_simpler() {
    let inner = |id| array(id, vec![Value::Int(5), Value::Int(900), Value::Int(5)]);
    let script = script(&[&[array(1, vec![inner(2), text("no"), inner(3)])]]);
    let fails = |statements: &[Statement]| {
        let mut found = false;
        for value in &statements[0].given {
            value.each_reference(&mut |reference| {
                if let Reference::Array { id, contents, .. } = reference {
                    let large = |value: &Value| matches!(value, Value::Int(v) if *v > 100);
                    found |= id.0 == 3 && contents.elements().iter().any(large);
                }
            });
        }
        found
    };
    let one = array(1, vec![array(3, vec![Value::Int(101)])]);
    assert_eq!(left(&script, fails), [[one]]);
}

/// The lengths of arrays that the calls are given, and whether their contents are told.
fn lengths(given: &[Vec<Value>]) -> Vec<(u32, bool)> {
    let arrays = given.iter().flatten().map(|value| match value {
        Value::Reference(Reference::Array {
            length, contents, ..
        }) => (*length, *contents != Contents::Unknown),
        _ => panic!("no array"),
    });
    arrays.collect()
}

#[test]
fn an_array_that_is_given_again_has_its_contents_told_once() {
    let shared = |it| array(1, vec![Value::Int(it), Value::Int(6)]);
    let script = script(&[&[shared(4)], &[shared(5)], &[shared(5)]]);
    let three = |statements: &[Statement]| statements.len() == 3;
    let left = left(&script, three);
    assert_eq!(lengths(&left), [(0, true), (0, false), (0, false)]);
}

#[test]
fn an_array_whose_first_call_goes_has_its_contents_told_in_the_next() {
    let shared = |it| array(1, vec![Value::Int(it), Value::Int(6)]);
    let script = script(&[&[shared(4)], &[shared(5)]]);
    let last = |it: &[Statement]| lengths(&[it[it.len() - 1].given.to_vec()])[0].0 == 2;
    assert_eq!(left(&script, last), [[array(1, vec![Value::Int(0); 2])]]);
}

#[test]
fn an_array_that_the_program_must_change_stays_as_it_is() {
    let shared = |it| array(1, vec![Value::Int(it), Value::Int(6)]);
    let script = script(&[&[shared(4)], &[shared(5)]]);
    let second = script.statements[1].clone();
    let fails = |it: &[Statement]| it.len() == 2 && it[1].given == second.given;
    assert_eq!(left(&script, fails), [[shared(4)], [shared(5)]]);
}

#[test]
fn a_buffer_becomes_shorter_once_less_is_asked_for() {
    let script = script(&[&[array(1, vec![Value::Int(0); 3_000]), Value::Int(3_000)]]);
    let fits = |it: &[Statement]| match it[0].given.as_slice() {
        [buffer, Value::Int(asked)] => {
            *asked > 0 && *asked as u32 <= lengths(&[vec![buffer.clone()]])[0].0
        }
        _ => false,
    };
    let one = vec![array(1, vec![Value::Int(0)]), Value::Int(1)];
    assert_eq!(left(&script, fits), [one]);
}

#[test]
fn elements_that_cannot_go_become_simple() {
    let script = script(&[&[array(1, vec![Value::Int(70); 900])]]);
    let long = |it: &[Statement]| it.len() == 1 && lengths(&[it[0].given.to_vec()])[0].0 == 900;
    assert_eq!(left(&script, long), [[array(1, vec![Value::Int(0); 900])]]);
}

#[test]
fn objects_are_not_replaced_and_those_needed_no_more_go() {
    let mut script = script(&[]);
    let mut builder = Builder::with(Tables::default(), ObjectId(100));
    let (one, two) = (builder.variable("One"), builder.variable("Two"));
    let elements = array(7, vec![one.clone(), two.clone()]);
    script.statements = vec![
        builder.construct("One", "()V", Vec::new(), one),
        builder.construct("Two", "()V", Vec::new(), two.clone()),
        builder.call_static(
            MemberName::of("Code", "run", "()V"),
            vec![two, elements],
            None,
        ),
    ];
    let calls_last = |statements: &[Statement]| {
        let last = statements.last().unwrap();
        last.given.len() == 2 && last.given[0] == script.statements[2].given[0]
    };
    let left = left(&script, calls_last);
    let two = script.statements[2].given[0].clone();
    assert_eq!(left, [vec![], vec![two, array(7, Vec::new())]]);
}

#[test]
fn answers_of_stand_ins_go() {
    let mut script = script(&[&[Value::Int(0)]]);
    let site = script.statements[0].site().unwrap();
    let answer = |answer| Answer {
        site,
        asked: vec![Value::Int(answer)],
        end: StatementEnd::Returned(Some(Value::Int(answer))),
        filled: Vec::new(),
    };
    let answers = (0..6).map(answer).collect();
    script.statements[0].action = Action::Call(Call { site, answers });
    let answers = |statements: &[Statement]| -> Vec<Value> {
        let answers = statements[0].answers().iter();
        answers.filter_map(|it| it.end.value().cloned()).collect()
    };
    let fails: &Fails<'_> = &|statements| {
        let answers = answers(statements);
        Ok(answers.len() > 1 && answers.contains(&Value::Int(4)))
    };
    let (left, _) = shrunk(&script, fails, &Settings::default()).unwrap();
    assert_eq!(answers(&left), [Value::Int(0), Value::Int(4)]);
}

#[test]
fn surroundings_stay_as_they_are() {
    let mut script = script(&[&[text("user.language")], &[text("en")]]);
    script.prelude = 1;
    let two = |statements: &[Statement]| statements.len() == 2;
    assert_eq!(left(&script, two), [[text("user.language")], [text("")]]);
}

#[test]
fn it_ends_when_it_is_told_to_and_after_so_many_candidates() {
    let texts: Vec<Value> = (0..6)
        .map(|number| text(&format!("{number}").repeat(1_000)))
        .collect();
    let script = script(&[&texts]);
    let fails: &Fails<'_> = &|statements| {
        let most = |number| has(statements, &format!("{number}").repeat(900));
        Ok((0..6).all(most))
    };
    for most in [7, 100] {
        let runs = AtomicU64::new(0);
        let counted: &Fails<'_> = &|statements| {
            runs.fetch_add(1, Ordering::Relaxed);
            fails(statements)
        };
        let settings = Settings {
            budget: Budget {
                tests: Some(most),
                time: None,
            },
            ..Settings::default()
        };
        let (_, tests) = shrunk(&script, counted, &settings).unwrap();
        assert_eq!((tests, runs.into_inner()), (most, most));
    }
    let cancel = Cancel::new();
    cancel.cancel();
    let settings = Settings {
        cancel,
        ..Settings::default()
    };
    let (left, tests) = shrunk(&script, fails, &settings).unwrap();
    assert_eq!((left, tests), (script.statements.clone(), 0));
}

#[test]
fn what_the_program_throws_itself_is_raised_and_what_the_jvm_or_the_jdk_stumbles_over_is_not() {
    let raised = |trace: &str| is_raised(&Thrown::parse(trace).unwrap());
    assert!(raised(
        "java.lang.IllegalStateException: no\n\tat shop.Cart.add(Cart.java:3)\n"
    ));
    assert!(!raised(
        "java.lang.NullPointerException\n\tat shop.Cart.add(Cart.java:3)\n"
    ));
    assert!(!raised(
        "java.lang.StringIndexOutOfBoundsException: index 3, length 3\n\
         \tat java.base/java.lang.String.checkIndex(String.java:4563)\n\
         \tat shop.Cart.add(Cart.java:3)\n"
    ));
    // Some of the text may be missing since somebody took it out.
    assert!(raised(
        "java.util.regex.PatternSyntaxException: Unclosed character class near index 3\n\
         \tat java.base/java.util.regex.Pattern.error(Pattern.java:2028)\n\
         \tat shop.Cart.find(Cart.java:3)\n"
    ));
    assert!(!raised(
        "shop.Trouble: no\n\tat shop.Cart.add(Cart.java:3)\n\
         Caused by: java.lang.ArithmeticException: / by zero\n\tat shop.Cart.sum(Cart.java:9)\n"
    ));
}
