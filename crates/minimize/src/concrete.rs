//! The innermost level of abstraction: what callers of a class computed is given to it as it was.
//!
//! A class is called with numbers and texts that others worked out. Seen from the class, only what they were matters:
//! `rebate.perPiece(0, 0)`, whatever the order looks like that this comes from. What made them can go then.

use std::sync::Arc;

use culprit_model::script::Builder;
use culprit_model::value::Shape;
use culprit_model::{Reference, Site, Value};
use culprit_scripts::{RunScript, ScriptRun, TEXT, actual, printing};
use culprit_signature::Thrown;

use crate::{Error, Script};

/// Values that are asked for at most: each is a run.
const MOST_VALUES: usize = 64;

/// The same for the calls of one package.
const MOST_VALUES_OF_CALLS: usize = 200;

const ERROR: &str = "java/lang/AssertionError";

/// The script with numbers and texts as they are in a run of it, wherever it fails with them all the same. What
/// kept statements from being run at other times goes, too.
pub(crate) fn concrete(
    script: &Script,
    runs: &RunScript<'_>,
    is_failing: &dyn Fn(&ScriptRun) -> bool,
) -> Result<Script, Error> {
    let places: Vec<(usize, usize)> = places(script).into_iter().take(MOST_VALUES).collect();
    given_as_they_were(
        script,
        &places,
        Runs {
            asks: runs,
            tries: runs,
        },
        is_failing,
    )
}

/// How scripts are run.
#[derive(Clone, Copy)]
pub(crate) struct Runs<'a> {
    /// Scripts that call more than the one at hand, in classes of their own.
    pub(crate) asks: &'a RunScript<'a>,
    pub(crate) tries: &'a RunScript<'a>,
}

/// The script with values as they are in a run of it in these places, wherever it fails with them.
fn given_as_they_were(
    script: &Script,
    places: &[(usize, usize)],
    runs: Runs<'_>,
    is_failing: &dyn Fn(&ScriptRun) -> bool,
) -> Result<Script, Error> {
    let mut best = script.clone();
    best.waits.clear();
    for (number, place) in places.iter().copied() {
        let Some(value) = value_of(script, number, place, runs.asks)? else {
            continue;
        };
        let mut candidate = best.clone();
        let statement = &mut candidate.statements[number];
        statement.given[place] = value;
        if is_failing(&(runs.tries)(&candidate)?) {
            best = candidate;
        }
    }
    Ok(best)
}

/// The script with numbers and texts as they are in a run of it, in the calls of the package that its last call is of. What
/// came from a loop of the driver over other objects needs neither the loop nor the objects then.
pub(crate) fn concrete_calls(
    script: &Script,
    runs: Runs<'_>,
    is_failing: &dyn Fn(&ScriptRun) -> bool,
) -> Result<Script, Error> {
    let package = |number: usize| {
        let target = script.target(&script.statements[number])?;
        Some(
            target
                .owner
                .rsplit_once('/')
                .map_or("", |(package, _)| package),
        )
    };
    let of = script.statements.len().checked_sub(1).and_then(package);
    let places = places(script).into_iter();
    let places = places.filter(|(number, _)| of.is_some() && package(*number) == of);
    let places: Vec<(usize, usize)> = places.take(MOST_VALUES_OF_CALLS).collect();
    given_as_they_were(script, &places, runs, is_failing)
}

/// The script whose last statement, an assertion, is given all values as they are in a run, except for the one that it
/// looks at. `None` if that makes no difference, or does not fail.
pub(crate) fn concrete_expectation(
    script: &Script,
    runs: &RunScript<'_>,
    is_failing: &dyn Fn(&ScriptRun) -> bool,
) -> Result<Option<Script>, Error> {
    let Some((last, actual)) = script
        .statements
        .last()
        .and_then(|last| Some((script.statements.len() - 1, actual(script, last)?)))
    else {
        return Ok(None);
    };
    let mut candidate = script.clone();
    // The ends of loops that gave what is expected.
    candidate.waits.retain(|wait| wait.statement != last);
    let mut is_changed = false;
    let of_last = places(script).into_iter();
    for (number, place) in of_last.filter(|place| place.0 == last && place.1 != actual) {
        if let Some(value) = value_of(script, number, place, runs)? {
            candidate.statements[number].given[place] = value;
            is_changed = true;
        }
    }
    let is_found = is_changed && is_failing(&runs(&candidate)?);
    Ok(is_found.then_some(candidate))
}

/// What statements are given that others made and that can be written as it is, by statement and place, from
/// the failing one backwards. What a call is made on is no such thing.
fn places(script: &Script) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (number, statement) in script.statements.iter().enumerate().rev() {
        let site = script.site(statement);
        let arguments = usize::from(site.is_some_and(Site::has_receiver));
        for (place, value) in statement.given.iter().enumerate().skip(arguments) {
            if type_of(script, value).is_some() {
                found.push((number, place));
            }
        }
    }
    found
}

/// The type of a number or text that another statement made.
fn type_of<'a>(script: &'a Script, value: &Value) -> Option<&'a str> {
    let Value::Reference(Reference::Object { class, .. }) = value else {
        return None;
    };
    let name = script.class_name(*class);
    descriptor(name).map(|_| name)
}

/// The parameter of `String.valueOf` that takes a value of a primitive type, or a text.
fn descriptor(name: &str) -> Option<String> {
    match Shape::of_class(name) {
        Shape::Reference => (name == TEXT).then(|| "Ljava/lang/Object;".to_owned()),
        shape => Some(shape.code().to_string()),
    }
}

/// What a statement is given, found out by a run that ends before it and says so.
fn value_of(
    script: &Script,
    number: usize,
    place: usize,
    runs: &RunScript<'_>,
) -> Result<Option<Value>, Error> {
    let given = &script.statements[number].given[place];
    let Some(name) = type_of(script, given) else {
        return Ok(None);
    };
    let mut asking = script.keep(&(0..number).collect::<Vec<_>>());
    let mut builder = Builder::of(script);
    let (printed, thrown) = (builder.variable(TEXT), builder.variable(ERROR));
    let descriptor = descriptor(name).unwrap_or_default();
    let of = "(Ljava/lang/Object;)V";
    asking.statements.extend([
        printing(&mut builder, &descriptor, given.clone(), &printed),
        builder.construct(ERROR, of, vec![printed], thrown.clone()),
        builder.raise(thrown),
    ]);
    asking.tables = Arc::new(builder.finish());
    let ScriptRun::Threw { trace, .. } = runs(&asking)? else {
        return Ok(None);
    };
    let said = Thrown::parse(&trace).and_then(|thrown| thrown.message);
    Ok(said.and_then(|said| read(name, &said)))
}

/// A value of a type, as Java prints it.
fn read(name: &str, said: &str) -> Option<Value> {
    Some(match name {
        "boolean" => Value::Boolean(said.parse().ok()?),
        "byte" => Value::Byte(said.parse().ok()?),
        "short" => Value::Short(said.parse().ok()?),
        "int" => Value::Int(said.parse().ok()?),
        "long" => Value::Long(said.parse().ok()?),
        "float" => Value::Float(said.parse().ok()?),
        "double" => Value::Double(said.parse().ok()?),
        "char" => {
            let mut units = said.encode_utf16();
            let first = units.next()?;
            units.next().is_none().then_some(Value::Char(first))?
        }
        _ => Value::Reference(Reference::String(said.encode_utf16().collect())),
    })
}

#[cfg(test)]
mod tests {
    use culprit_model::script::MemberName;
    use culprit_model::{ObjectId, Tables};

    use super::*;
    use culprit_scripts::needs;

    /// `Till.price()` is given to `Till.charge`, with a text and a till.
    fn script() -> Script {
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let (till, price, name) = (
            builder.variable("shop/Till"),
            builder.variable("int"),
            builder.variable(TEXT),
        );
        let statements = vec![
            builder.construct("shop/Till", "()V", Vec::new(), till.clone()),
            builder.call(
                MemberName::of("shop/Till", "price", "()I"),
                till.clone(),
                vec![],
                Some(price.clone()),
            ),
            builder.call_static(
                MemberName::of("shop/Till", "name", "()Ljava/lang/String;"),
                Vec::new(),
                Some(name.clone()),
            ),
            builder.call(
                MemberName::of("shop/Till", "charge", "(ILjava/lang/String;Lshop/Till;)V"),
                till.clone(),
                vec![price, name, till],
                None,
            ),
        ];
        let mut script = builder.script(statements);
        script.wait(3, 1);
        script
    }

    /// Answers a question for a value, and else whether a script is given what it fails with.
    fn run(script: &Script, needs_name: bool) -> ScriptRun {
        let last = &script.statements[script.statements.len() - 1];
        let threw = |message: &str| ScriptRun::Threw {
            at: 0,
            trace: format!("java.lang.AssertionError: {message}\n\tat X.x(X.java:1)\n"),
        };
        if script.statements.len() == 4 {
            let is_literal = !matches!(&last.given[2], Value::Reference(Reference::Object { .. }));
            return match is_literal && needs_name {
                true => ScriptRun::Done,
                false => threw("failed"),
            };
        }
        let asked = &script.statements[script.statements.len() - 3].given[0];
        threw(match type_of(script, asked) {
            Some("int") => "-7",
            _ => "Ada",
        })
    }

    fn given(needs_name: bool) -> Script {
        let runs = |script: &Script| Ok(run(script, needs_name));
        let fails = |run: &ScriptRun| matches!(run, ScriptRun::Threw { trace, .. } if trace.contains("failed"));
        concrete(&script(), &runs, &fails).unwrap()
    }

    #[test]
    fn what_was_computed_is_given_as_it_was() {
        let found = given(false);
        let values = &found.statements[3].given[1..];
        let name = Value::Reference(Reference::String("Ada".encode_utf16().collect()));
        assert_eq!(values[..2], [Value::Int(-7), name]);
        assert_eq!(values[2], script().statements[3].given[3]);
        assert_eq!(needs(&found)[3], [0]);
    }

    #[test]
    fn what_the_failure_needs_stays() {
        let found = given(true);
        assert_eq!(found.statements[3].given[1], Value::Int(-7));
        assert_eq!(needs(&found)[3], [0, 2]);
    }

    /// `assertEquals(Till.sum(), Till.price())`, after a loop that gave the sum.
    fn comparison() -> Script {
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let (sum, price) = (builder.variable("long"), builder.variable("long"));
        let mut ask = |name, made: &Value| {
            let target = MemberName::of("shop/Till", name, "()J");
            builder.call_static(target, Vec::new(), Some(made.clone()))
        };
        let mut statements = vec![ask("sum", &sum), ask("price", &price)];
        let assertion = MemberName::of("org/junit/Assert", "assertEquals", "(JJ)V");
        statements.push(builder.call_static(assertion, vec![sum, price], None));
        let mut script = builder.script(statements);
        script.wait(2, 0);
        script
    }

    #[test]
    fn an_assertion_is_given_what_it_expects_and_computes_what_it_looks_at() {
        let script = comparison();
        let trace = |message: &str| ScriptRun::Threw {
            at: 2,
            trace: format!("java.lang.AssertionError: {message}\n\tat X.x(X.java:1)\n"),
        };
        let runs = |script: &Script| {
            Ok(trace(
                ["7", "failed"][usize::from(script.statements.len() == 3)],
            ))
        };
        let found = concrete_expectation(&script, &runs, &|run| *run == trace("failed")).unwrap();
        let found = found.unwrap();
        assert_eq!(found.statements[2].given[0], Value::Long(7));
        assert_eq!(needs(&found)[2], [1]);
        let passes = concrete_expectation(&script, &runs, &|_| false).unwrap();
        assert_eq!(passes, None);
        // There is nothing left to give.
        assert_eq!(
            concrete_expectation(&found, &runs, &|_| true).unwrap(),
            None
        );
    }

    #[test]
    fn values_are_read_as_java_prints_them() {
        let text = |text: &str| Value::Reference(Reference::String(text.encode_utf16().collect()));
        assert_eq!(read("double", "1.0E10"), Some(Value::Double(1e10)));
        assert_eq!(
            read("float", "-Infinity"),
            Some(Value::Float(f32::NEG_INFINITY))
        );
        assert_eq!(read("char", "x"), Some(Value::Char(120)));
        assert_eq!(read("char", "xy"), None);
        assert_eq!(read("boolean", "true"), Some(Value::Boolean(true)));
        assert_eq!(read("int", "4294967296"), None);
        assert_eq!(read(TEXT, "a\nb"), Some(text("a\nb")));
    }
}
