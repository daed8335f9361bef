//! Where in a followed run a condition first or last holds, and the script that ends there.
//!
//! The run says what was done, not what was printed or what results were. So parts of it are run and
//! looked at; whether the condition holds changes once with the length of the part, and halving finds
//! where. What comes of it is a script that ends with a failure, like that of a program that throws.

use std::sync::Arc;

use culprit_model::script::{Action, Builder, MemberName, Operator};
use culprit_model::value::Shape;
use culprit_model::{Member, ObjectId, Reference, Value};

use crate::{Condition, Error, RunScript, Script, ScriptRun, Statement};

const BYTES: &str = "java/io/ByteArrayOutputStream";
const STREAM: &str = "java/io/PrintStream";
const SYSTEM: &str = "java/lang/System";
pub const TEXT: &str = "java/lang/String";
const LIST: &str = "java/util/ArrayList";

/// Statements that keep what is printed from then on, to either stream.
pub(crate) fn capture(builder: &mut Builder) -> Vec<Statement> {
    let (bytes, stream) = (builder.variable(BYTES), builder.variable(STREAM));
    let of = "(Ljava/io/OutputStream;)V";
    let set = "(Ljava/io/PrintStream;)V";
    vec![
        builder.construct(BYTES, "()V", Vec::new(), bytes.clone()),
        builder.construct(STREAM, of, vec![bytes], stream.clone()),
        builder.call_static(
            MemberName::of(SYSTEM, "setOut", set),
            vec![stream.clone()],
            None,
        ),
        builder.call_static(MemberName::of(SYSTEM, "setErr", set), vec![stream], None),
    ]
}

/// Throws the failure of a condition, by its message.
pub(crate) fn fail(builder: &mut Builder, message: &str) -> [Statement; 2] {
    let class = "java/lang/AssertionError";
    let thrown = builder.variable(class);
    let given = vec![Value::text(message)];
    [
        builder.construct(class, "(Ljava/lang/Object;)V", given, thrown.clone()),
        builder.raise(thrown),
    ]
}

/// The script that a reduction starts from, given what a driver did and the condition that makes it a
/// failure: it ends as soon as the condition holds. Conditions further back, on what the objects behind
/// this one were earlier, would be other starts.
pub fn seek(script: &Script, condition: &Condition, runs: &RunScript<'_>) -> Result<Script, Error> {
    match condition {
        Condition::Contains(_) | Condition::Matches(_) => seek_output(script, condition, runs),
        Condition::Returns { .. } => seek_result(script, condition, runs),
        // The driver says where that is; objects are looked at by what was compiled for it.
        Condition::Exit(_) | Condition::Holds { .. } => Ok(script.clone()),
    }
}

/// Ends a script right behind the statement that printed what a condition is about.
fn seek_output(
    script: &Script,
    condition: &Condition,
    runs: &RunScript<'_>,
) -> Result<Script, Error> {
    let last = script.statements.len().saturating_sub(1);
    if last < script.prelude {
        return Err(Error::NoFailure);
    }
    holds(&looking_behind(script, last, condition), condition, runs)?;
    let mut error = None;
    let first = first_that(script.prelude..last, &mut |number| {
        is_held(
            &looking_behind(script, number, condition),
            condition,
            runs,
            &mut error,
        )
    });
    error.map_or(Ok(()), Err)?;
    let mut found = looking_behind(script, first, condition);
    for setter in ["setErr", "setOut"] {
        let without = without_setter(&found, setter);
        if holds(&without, condition, runs).is_ok() {
            found = without;
            break;
        }
    }
    Ok(found)
}

/// The smallest of some numbers for which something is so, or the end. It is so for all larger ones.
fn first_that(range: std::ops::Range<usize>, is_so: &mut dyn FnMut(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        match is_so(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

/// That a script ends with the failure of a condition.
fn holds(script: &Script, condition: &Condition, runs: &RunScript<'_>) -> Result<(), Error> {
    let run = runs(script)?;
    let is_so = match &run {
        ScriptRun::Threw { trace, .. } => condition.is_told_by(trace),
        _ => false,
    };
    is_so.then_some(()).ok_or(Error::OtherFailure(run))
}

/// Whether it does; what else went wrong is kept.
fn is_held(
    script: &Script,
    condition: &Condition,
    runs: &RunScript<'_>,
    error: &mut Option<Error>,
) -> bool {
    match holds(script, condition, runs) {
        Ok(()) => true,
        Err(Error::OtherFailure(_)) => false,
        Err(other) => {
            error.get_or_insert(other);
            false
        }
    }
}

/// The script up to a statement, and then what looks at the output.
fn looking_behind(script: &Script, number: usize, condition: &Condition) -> Script {
    let kept: Vec<usize> = (0..=number).collect();
    let mut found = script.keep(&kept);
    let is = |statement: &Statement, owner: &str, name: &str| {
        let target = script.target(statement);
        target.is_some_and(|target| target.owner == owner && target.name == name)
    };
    let prelude = script.statements[..script.prelude].iter();
    let bytes = prelude
        .clone()
        .find(|statement| is(statement, BYTES, "<init>"));
    let Some(bytes) = bytes.and_then(Statement::result).cloned() else {
        return found;
    };
    let setters = prelude.enumerate().filter(|(_, statement)| {
        is(statement, SYSTEM, "setOut") || is(statement, SYSTEM, "setErr")
    });
    let setters: Vec<usize> = setters.map(|(at, _)| at).collect();
    let printed = found.statements.len();
    // The output needs what prints it, and that it is kept.
    found.wait(printed, number);
    setters
        .into_iter()
        .for_each(|setter| found.wait(printed, setter));
    append(
        &mut found,
        |builder| {
            let (output, holds) = (builder.variable(TEXT), builder.variable("boolean"));
            let to_string = MemberName::of(BYTES, "toString", "()Ljava/lang/String;");
            let mut added = vec![builder.call(to_string, bytes, Vec::new(), Some(output.clone()))];
            match condition {
                Condition::Matches(pattern) => {
                    let (pattern_class, matcher_class) =
                        ("java/util/regex/Pattern", "java/util/regex/Matcher");
                    let (compiled, matcher) = (
                        builder.variable(pattern_class),
                        builder.variable(matcher_class),
                    );
                    let compile = "(Ljava/lang/String;)Ljava/util/regex/Pattern;";
                    let given = vec![Value::text(pattern)];
                    let target = MemberName::of(pattern_class, "compile", compile);
                    added.push(builder.call_static(target, given, Some(compiled.clone())));
                    let of = "(Ljava/lang/CharSequence;)Ljava/util/regex/Matcher;";
                    let target = MemberName::of(pattern_class, "matcher", of);
                    let made = Some(matcher.clone());
                    added.push(builder.call(target, compiled, vec![output], made));
                    let target = MemberName::of(matcher_class, "find", "()Z");
                    added.push(builder.call(target, matcher, Vec::new(), Some(holds.clone())));
                }
                Condition::Contains(wanted) => {
                    let contains = MemberName::of(TEXT, "contains", "(Ljava/lang/CharSequence;)Z");
                    let given = vec![Value::text(wanted)];
                    added.push(builder.call(contains, output, given, Some(holds.clone())));
                }
                Condition::Exit(_) | Condition::Returns { .. } | Condition::Holds { .. } => {}
            }
            (added, holds)
        },
        &condition.message(),
    );
    found
}

/// Adds statements that find out whether a condition holds, and its failure, by its message.
pub(crate) fn append(
    script: &mut Script,
    finding: impl FnOnce(&mut Builder) -> (Vec<Statement>, Value),
    message: &str,
) {
    let mut builder = Builder::of(script);
    let (added, holds) = finding(&mut builder);
    script.statements.extend(added);
    let guard = script.statements.len();
    script.statements.push(builder.guard(holds));
    script.statements.extend(fail(&mut builder, message));
    script.wait(script.statements.len() - 1, guard);
    script.tables = Arc::new(builder.finish());
}

/// A script that leaves one of the streams as it is.
fn without_setter(script: &Script, name: &str) -> Script {
    let others = (0..script.statements.len()).filter(|number| {
        let target = script.target(&script.statements[*number]);
        let is_setter = |target: &Member| target.owner == SYSTEM && target.name == name;
        *number >= script.prelude || !target.is_some_and(is_setter)
    });
    script.keep(&others.collect::<Vec<_>>())
}

/// Ends a script with the last call of the method whose result prints as it should not.
fn seek_result(
    script: &Script,
    condition: &Condition,
    runs: &RunScript<'_>,
) -> Result<Script, Error> {
    let calls: Vec<usize> = (0..script.statements.len())
        .filter(|number| is_call_of(script, *number, condition))
        .collect();
    let none = || Error::NotCalled(condition.to_string());
    if calls.is_empty() {
        return Err(none());
    }
    match holds(&collecting(script, &calls, condition), condition, runs) {
        Err(Error::OtherFailure(ScriptRun::Done)) => return Err(none()),
        held => held?,
    }
    let mut error = None;
    // The first one such that none of the later ones has the value.
    let next = first_that(1..calls.len(), &mut |from| {
        !is_held(
            &collecting(script, &calls[from..], condition),
            condition,
            runs,
            &mut error,
        )
    });
    error.map_or(Ok(()), Err)?;
    Ok(comparing(script, calls[next - 1], condition))
}

/// Whether a statement calls the method of a condition, and something came of it.
fn is_call_of(script: &Script, number: usize, condition: &Condition) -> bool {
    let statement = &script.statements[number];
    let Some(site) = script.site(statement) else {
        return false;
    };
    let Member { owner, name, .. } = &site.target;
    let of = match statement.given.first() {
        Some(Value::Reference(Reference::Object { class, .. })) if site.has_receiver() => {
            script.class_name(*class)
        }
        _ => owner,
    };
    matches!(statement.action, Action::Call(_))
        && statement.defines().is_some()
        && (condition.is_of(owner, name) || condition.is_of(of, name))
}

/// The script, which keeps the results of some calls and then looks among them.
fn collecting(script: &Script, calls: &[usize], condition: &Condition) -> Script {
    let Some(last) = calls.last() else {
        return script.clone();
    };
    let found = script.keep(&(0..=*last).collect::<Vec<_>>());
    let mut builder = Builder::of(&found);
    let list = builder.variable(LIST);
    let mut statements = vec![builder.construct(LIST, "()V", Vec::new(), list.clone())];
    for (number, statement) in found.statements.into_iter().enumerate() {
        let result = statement.result().cloned();
        let descriptor = descriptor(script, &statement);
        statements.push(statement);
        if let Some(result) = result.filter(|_| calls.binary_search(&number).is_ok()) {
            let printed = builder.variable(TEXT);
            statements.push(printing(&mut builder, &descriptor, result, &printed));
            let add = MemberName::of(LIST, "add", "(Ljava/lang/Object;)Z");
            statements.push(builder.call(add, list.clone(), vec![printed], None));
        }
    }
    let mut found = builder.script(statements);
    append(
        &mut found,
        |builder| {
            let holds = builder.variable("boolean");
            let contains = MemberName::of(LIST, "contains", "(Ljava/lang/Object;)Z");
            let given = vec![value_of(condition)];
            (
                vec![builder.call(contains, list, given, Some(holds.clone()))],
                holds,
            )
        },
        &condition.message(),
    );
    found
}

/// The script up to a call, and then what compares its result.
fn comparing(script: &Script, call: usize, condition: &Condition) -> Script {
    let mut found = script.keep(&(0..=call).collect::<Vec<_>>());
    let statement = &script.statements[call];
    let descriptor = descriptor(script, statement);
    let Some(result) = statement.result().cloned() else {
        return found;
    };
    append(
        &mut found,
        |builder| {
            let holds = builder.variable("boolean");
            let Condition::Returns { value, .. } = condition else {
                return (Vec::new(), holds);
            };
            let added = prints_as(builder, &descriptor, result, value, &holds);
            (added, holds)
        },
        &condition.message(),
    );
    found
}

/// Statements that find out whether a result of some type prints as a text.
pub(crate) fn prints_as(
    builder: &mut Builder,
    descriptor: &str,
    result: Value,
    text: &str,
    holds: &Value,
) -> Vec<Statement> {
    let made = Some(holds.clone());
    let number = text.parse::<i64>().ok().filter(|n| n.to_string() == text);
    let small = number.and_then(|number| i32::try_from(number).ok());
    match (descriptor.as_bytes().first(), number, text) {
        (Some(b'I' | b'S' | b'B'), ..) if small.is_some() => {
            let is_equal = Operator::IsEqual.of(Shape::Int);
            let number = Value::Int(small.unwrap_or_default());
            vec![builder.operate_to(is_equal, vec![result, number], made)]
        }
        (Some(b'J'), Some(number), _) => {
            let is_equal = Operator::IsEqual.of(Shape::Long);
            vec![builder.operate_to(is_equal, vec![result, Value::Long(number)], made)]
        }
        (Some(b'Z'), _, "true") => {
            let is_true = Operator::IsTrue.of(Shape::Boolean);
            vec![builder.operate_to(is_true, vec![result], made)]
        }
        (Some(b'Z'), _, "false") => {
            let is_false = Operator::IsFalse.of(Shape::Boolean);
            vec![builder.operate_to(is_false, vec![result], made)]
        }
        _ => {
            let printed = builder.variable(TEXT);
            let equals = MemberName::of(TEXT, "equals", "(Ljava/lang/Object;)Z");
            vec![
                printing(builder, descriptor, result, &printed),
                builder.call(equals, printed, vec![Value::text(text)], made),
            ]
        }
    }
}

/// `String.valueOf(result)`
pub fn printing(
    builder: &mut Builder,
    descriptor: &str,
    result: Value,
    printed: &Value,
) -> Statement {
    let of = match descriptor.as_bytes().first() {
        Some(b'L' | b'[') | None => "Ljava/lang/Object;",
        Some(b'B' | b'S') => "I",
        Some(_) => descriptor,
    };
    let descriptor = format!("({of})Ljava/lang/String;");
    let target = MemberName::of(TEXT, "valueOf", &descriptor);
    builder.call_static(target, vec![result], Some(printed.clone()))
}

/// The type of what a statement returns.
pub(crate) fn descriptor(script: &Script, statement: &Statement) -> String {
    let target = script.target(statement);
    let result = target.and_then(|target| target.descriptor.rsplit(')').next());
    result.unwrap_or_default().to_owned()
}

fn value_of(condition: &Condition) -> Value {
    match condition {
        Condition::Returns { value, .. } => Value::text(value),
        _ => Value::Reference(Reference::Null),
    }
}

/// The stream that a statement fetches, if programs print to it: what is printed to it changes nothing that
/// they see.
pub fn standard_stream(script: &Script, statement: &Statement) -> Option<ObjectId> {
    let Member { owner, name, .. } = script.target(statement)?;
    match (owner.as_str(), name.as_str()) {
        (SYSTEM, "out" | "err") => statement.defines(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use culprit_model::Tables;

    use super::*;

    /// Calls `Cart.m0()`, `Cart.m1()` and so on, each of which returns a number, behind what keeps
    /// the output.
    fn script(calls: usize) -> Script {
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let mut statements = capture(&mut builder);
        let prelude = statements.len();
        for number in 0..calls {
            let name = format!("m{number}");
            let made = builder.variable("int");
            let target = MemberName::of("shop/Cart", name.as_str(), "()I");
            statements.push(builder.call_static(target, Vec::new(), Some(made)));
        }
        Script {
            prelude,
            ..builder.script(statements)
        }
    }

    fn has(script: &Script, owner: &str, name: &str) -> bool {
        let mut statements = script.statements.iter();
        statements.any(|statement| {
            let target = script.target(statement);
            target.is_some_and(|target| target.owner == owner && target.name == name)
        })
    }

    fn threw(condition: &Condition) -> ScriptRun {
        let message = condition.message();
        ScriptRun::Threw {
            at: 0,
            trace: format!("java.lang.AssertionError: {message}\n\tat X.x(X.java:1)\n"),
        }
    }

    /// The calls of a script, in order.
    fn printed(script: &Script) -> String {
        script.pruned().to_string()
    }

    #[test]
    fn a_script_ends_behind_what_prints_the_text() {
        let condition: Condition = "output contains -4".parse().unwrap();
        let runs = Cell::new(0);
        let run = |script: &Script| {
            runs.set(runs.get() + 1);
            let is_kept = has(script, SYSTEM, "setErr");
            Ok(match is_kept && has(script, "shop/Cart", "m37") {
                true => threw(&condition),
                false => ScriptRun::Done,
            })
        };
        let mut found = seek(&script(100), &condition, &run).unwrap();
        assert!(runs.get() < 12, "{} runs", runs.get());
        assert!(has(&found, "shop/Cart", "m36"));
        assert!(!has(&found, "shop/Cart", "m38"));
        found = seek(&script(38), &condition, &run).unwrap();
        let kept: Vec<usize> = (0..3).chain(38..found.statements.len()).collect();
        insta::assert_snapshot!(printed(&found.keep(&kept)));
    }

    #[test]
    fn a_regular_expression_is_what_java_says_it_is() {
        let condition: Condition = "output matches to pay: -\\d".parse().unwrap();
        let found = seek(&script(1), &condition, &|_| Ok(threw(&condition))).unwrap();
        insta::assert_snapshot!(printed(&found));
    }

    #[test]
    fn what_is_not_printed_again_has_no_script() {
        let condition: Condition = "output contains x".parse().unwrap();
        let found = seek(&script(3), &condition, &|_| Ok(ScriptRun::Done));
        assert!(matches!(found, Err(Error::OtherFailure(ScriptRun::Done))));
        let found = seek(&script(0), &condition, &|_| Ok(threw(&condition)));
        assert!(matches!(found, Err(Error::NoFailure)));
    }

    /// The script of calls of one method, the last of which that is compared is told by a run.
    fn results(descriptor: &str, value: &str, wrong: usize) -> Result<Script, Error> {
        let condition: Condition = format!("Cart.total returns {value}").parse().unwrap();
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let mut statements = Vec::new();
        let mut made = Vec::new();
        for _ in 0..9 {
            made.push(builder.variable("int"));
            let target = MemberName::of("shop/Cart", "total", descriptor);
            let made = made.last().cloned();
            statements.push(builder.call_static(target, Vec::new(), made));
        }
        let script = builder.script(statements);
        let collects = |script: &Script| {
            let mut statements = script.statements.iter();
            statements.any(|statement| {
                let target = script.target(statement);
                target.is_some_and(|target| target.name == "valueOf")
                    && statement.given == made[wrong..=wrong]
            })
        };
        seek(&script, &condition, &|script| {
            Ok(match collects(script) {
                true => threw(&condition),
                false => ScriptRun::Done,
            })
        })
    }

    #[test]
    fn a_script_ends_with_the_last_call_of_such_a_result() {
        for wrong in 0..9 {
            let found = results("()I", "-4", wrong).unwrap();
            // What compares are four statements.
            assert_eq!(found.statements.len(), wrong + 1 + 4);
        }
        insta::assert_snapshot!(printed(&results("()I", "-4", 0).unwrap()));
    }

    #[test]
    fn results_are_compared_as_what_they_are_or_by_how_they_print() {
        let compared = |descriptor: &str, value: &str| {
            let found = results(descriptor, value, 0).unwrap();
            let added = found.statements[1..].iter();
            let before = added.take_while(|statement| !statement.is_guard());
            let names = before.map(|statement| match statement.operator() {
                Some(operator) => operator.name(),
                None => found.target(statement).map_or("?", |target| &target.name),
            });
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(compared("()S", "-4"), "isEqual");
        assert_eq!(compared("()I", "four"), "valueOf equals");
        assert_eq!(compared("()I", "+4"), "valueOf equals");
        assert_eq!(compared("()Z", "true"), "isTrue");
        assert_eq!(compared("()Z", "false"), "isFalse");
        assert_eq!(compared("()J", "4"), "isEqual");
        assert_eq!(compared("()Ljava/lang/String;", "a"), "valueOf equals");
    }

    #[test]
    fn a_method_that_is_not_called_or_returns_other_things_has_no_script() {
        let condition: Condition = "Cart.m1 returns 1".parse().unwrap();
        let found = seek(&script(3), &condition, &|_| Ok(ScriptRun::Done));
        assert!(matches!(found, Err(Error::NotCalled(_))));
        let condition: Condition = "Cart.price returns 1".parse().unwrap();
        let found = seek(&script(3), &condition, &|_| Ok(threw(&condition)));
        assert!(matches!(found, Err(Error::NotCalled(_))));
    }
}
