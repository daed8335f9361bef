//! Tests of wrong results whose assertion cannot be repeated: the conditions of Spock, what a matcher finds in the
//! answer of a web server, the assertions of a library that is not known.
//!
//! The wrong value left the program by the result of a call, and the message of the failure tells the value. Calls whose
//! results the message mentions are candidates, the likeliest first; a test of one fails as long as the call
//! returns what it returned.

use std::sync::Arc;

use culprit_model::observe::is_jdk_name;
use culprit_model::script::{Builder, MemberName, Operator};
use culprit_model::value::Shape;
use culprit_model::{EventKind, Failure, Member, Reference, Step, Value};
use culprit_signature::Signature;
use culprit_trace::Recording;

use crate::assertions::{class_of, is_for_assertions, passes_on};
use crate::condition::raised;
use crate::extraction::OutermostCalls;
use crate::failure_point::{append, descriptor, prints_as};
use crate::{Error, Extracted, Script};

/// The most calls that are tried.
const MOST_CANDIDATES: usize = 4;

/// A call that returned what the message of a failure mentions.
#[derive(Debug)]
pub struct WrongResult {
    /// The script fails if the call returns it.
    pub extracted: Extracted,
    /// The result in words: `Toll.charge returns 11`.
    pub told: String,
}

impl WrongResult {
    /// The failure of the script.
    pub fn signature(&self) -> Signature {
        raised(self.told.clone())
    }
}

/// A property of a result that a message mentions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Mentioned {
    /// It is a collection of this size.
    Size(i32),
    /// It prints as this text.
    Text(String),
}

/// The likelihood that a call returned the wrong value, least first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Likelihood {
    /// The message has the name of the method, too.
    is_named: bool,
    mentioned: Mentioned,
}

/// The calls whose results the message of a failure mentions, the likeliest first.
pub fn wrong_results(recording: &Recording, failure: &Failure) -> Result<Vec<WrongResult>, Error> {
    let message = failure.message.as_deref().unwrap_or_default();
    let calls = OutermostCalls::of(recording)?;
    let mut candidates = Vec::new();
    let is_failure = |step: &Step| match step.values.first() {
        Some(Value::Reference(Reference::Object { id, .. })) => {
            step.kind == EventKind::IncomingThrow && failure.exceptions.contains(id)
        }
        _ => false,
    };
    // If no observed code threw it, calls of other tests may follow.
    let failed = calls.steps.iter().position(is_failure);
    let before = &calls.steps[..failed.unwrap_or(calls.steps.len())];
    for (at, step) in before.iter().enumerate() {
        let site = calls.lifted.tables.site(step.site);
        if let (Some(site), Some(result)) = (site, returned(step))
            && let Some(likelihood) = likelihood(message, &site.target, result)
        {
            candidates.push((likelihood.is_named, at, likelihood.mentioned));
        }
    }
    candidates.sort();
    let mut found = Vec::new();
    for (_, at, mentioned) in candidates.into_iter().rev().take(MOST_CANDIDATES) {
        match calls.script_until(at) {
            Ok(extracted) => found.extend(wrong_result(extracted, mentioned)),
            // What the call was given cannot be made.
            Err(Error::Missing(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// The result of an outermost call.
fn returned(step: &Step) -> Option<&Value> {
    let is_return = step.kind == EventKind::IncomingReturn && step.depth == 1;
    step.values.first().filter(|_| is_return)
}

fn likelihood(message: &str, method: &Member, result: &Value) -> Option<Likelihood> {
    if method.name.starts_with('<') || is_for_assertions(&method.owner) {
        return None;
    }
    let is_named = property_names(&method.name).any(|name| mentions(message, &name));
    // Messages have the texts of objects for many reasons, unless they tell what was from what was expected.
    if method.name == "toString" && !is_named && actual(message) == message {
        return None;
    }
    let message = actual(message);
    let mentioned = match result {
        Value::Reference(Reference::Object { .. } | Reference::Constant { .. }) => {
            let returned = method.descriptor.rsplit(")L").next()?.strip_suffix(';')?;
            let is_collection = returned.starts_with("java/util/") && !returned.contains('$');
            let mut sizes = numbers(message).rev();
            // A size is a small number, which messages have for many reasons.
            Mentioned::Size(sizes.next().filter(|_| is_collection && is_named)?)
        }
        value => {
            let text = printed(value)?;
            let is_telling =
                text.chars().count() > 1 && !["true", "false", "null"].contains(&&*text);
            (mentions(message, &text) && (is_telling || is_named)).then_some(())?;
            Mentioned::Text(text)
        }
    };
    Some(Likelihood {
        is_named,
        mentioned,
    })
}

/// The part of a message that tells what was, and not what was expected, if it tells them apart.
fn actual(message: &str) -> &str {
    const STARTS: [&str; 4] = ["but was", "but:", "but is", "ctual:"];
    let starts = STARTS.iter().filter_map(|start| message.rfind(start));
    starts.max().map_or(message, |at| &message[at..])
}

/// The text that Java prints for a value that is no object with contents of its own.
fn printed(value: &Value) -> Option<String> {
    Some(match value {
        Value::Boolean(value) => value.to_string(),
        Value::Byte(value) => value.to_string(),
        Value::Short(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Long(value) => value.to_string(),
        Value::Char(unit) => char::from_u32(u32::from(*unit))?.to_string(),
        // Both print a number that has a point.
        Value::Double(value) => format!("{value:?}"),
        Value::Float(value) => format!("{value:?}"),
        Value::Reference(Reference::Null) => "null".to_owned(),
        Value::Reference(Reference::Boxed(value)) => printed(value)?,
        Value::Reference(Reference::String(units)) => String::from_utf16(units).ok()?,
        _ => return None,
    })
}

/// Whether a message has a text that is no part of a longer word or number.
fn mentions(message: &str, text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let found = message.match_indices(text).any(|(at, _)| {
        let before = message[..at].chars().next_back();
        let after = message[at + text.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    });
    !text.is_empty() && found
}

/// The numbers in a message.
fn numbers(message: &str) -> impl DoubleEndedIterator<Item = i32> {
    let words = message.split(|c: char| !c.is_alphanumeric());
    words.filter_map(|word| word.parse::<i32>().ok())
}

/// The name of a method, and that of the property that it is the getter of.
fn property_names(method: &str) -> impl Iterator<Item = String> {
    let getter = ["get", "is"]
        .iter()
        .find_map(|start| method.strip_prefix(start));
    let getter = getter.filter(|rest| rest.starts_with(char::is_uppercase));
    let property = getter.map(|rest| {
        let mut letters = rest.chars();
        let first = letters.next().into_iter().flat_map(char::to_lowercase);
        first.chain(letters).collect()
    });
    [method.to_owned()].into_iter().chain(property)
}

/// The script that fails if its last call returns what it returned.
fn wrong_result(extracted: Extracted, mentioned: Mentioned) -> Option<WrongResult> {
    let mut script = extracted.script.clone();
    let last = script.statements.last();
    if last.is_some_and(|last| passes_on(&script, last)) {
        return None;
    }
    let (told, result) = with_result(&mut script)?;
    let descriptor = descriptor(&script, script.statements.last()?);
    let told = match &mentioned {
        Mentioned::Text(text) => format!("{told} returns {text}"),
        Mentioned::Size(size) => format!("{told} returns {size} elements"),
    };
    let class = descriptor
        .strip_prefix('L')
        .and_then(|it| it.strip_suffix(';'));
    let class = class.unwrap_or_default().to_owned();
    append(
        &mut script,
        |builder| {
            let holds = builder.variable("boolean");
            let added = match &mentioned {
                Mentioned::Text(text) => prints_as(builder, &descriptor, result, text, &holds),
                Mentioned::Size(size) => {
                    let count = builder.variable("int");
                    let target = MemberName::of(&class, "size", "()I");
                    let is_equal = Operator::IsEqual.of(Shape::Int);
                    let given = vec![count.clone(), Value::Int(*size)];
                    vec![
                        builder.call(target, result, Vec::new(), Some(count)),
                        builder.operate_to(is_equal, given, Some(holds.clone())),
                    ]
                }
            };
            (added, holds)
        },
        &told,
    );
    let extracted = Extracted {
        script,
        ..extracted
    };
    Some(WrongResult { extracted, told })
}

/// The method that the last statement calls, in words, and its result as a variable.
fn with_result(script: &mut Script) -> Option<(String, Value)> {
    let last = script.statements.last()?;
    let target = script.target(last).filter(|it| !is_jdk_name(&it.owner))?;
    let class = target.owner.rsplit(['/', '$']).next().unwrap_or_default();
    let told = format!("{class}.{}", target.name);
    let result = last.result()?.clone();
    if let Value::Reference(Reference::Object { .. }) = result {
        return Some((told, result));
    }
    let class = match result {
        Value::Reference(Reference::Constant { class, .. }) => script.class_name(class).to_owned(),
        _ => class_of(&result, &script.tables),
    };
    let mut builder = Builder::of(script);
    let variable = builder.variable(&class);
    script.tables = Arc::new(builder.finish());
    *script.statements.last_mut()?.end.value_mut()? = variable.clone();
    Some((told, variable))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(name: &str, descriptor: &str) -> Member {
        MemberName::of("tolls/Toll", name, descriptor).into()
    }

    #[track_caller]
    fn check(message: &str, method: &Member, result: Value, expect: Option<(bool, Mentioned)>) {
        let found = likelihood(message, method, &result);
        let found = found.map(|it| (it.is_named, it.mentioned));
        assert_eq!(found, expect, "{message}");
    }

    const CONDITION: &str = "Condition not satisfied:\n\ntoll.charge(vehicle, metres) == cents\n\
                             |    |      |        |       |  |\n\
                             |    11     VAN      1250    |  22\n";

    #[test]
    fn a_result_in_the_message_is_likely_wrong() {
        let text = |text: &str| Mentioned::Text(text.to_owned());
        let charge = method("charge", "()J");
        check(
            CONDITION,
            &charge,
            Value::Long(11),
            Some((true, text("11"))),
        );
        check(CONDITION, &charge, Value::Long(21), None);
        check(CONDITION, &charge, Value::Long(1), None);
        let other = method("other", "()J");
        check(
            CONDITION,
            &other,
            Value::Long(11),
            Some((false, text("11"))),
        );
        // It was expected, and so is right.
        check("expected:<22> but was:<11>", &other, Value::Long(22), None);
        // A number that messages have for many reasons.
        check("expected 3 but was 2", &other, Value::Long(2), None);
        check(
            "its other is 2",
            &other,
            Value::Long(2),
            Some((true, text("2"))),
        );
    }

    #[test]
    fn a_text_of_an_object_may_be_in_any_message() {
        let printed = method("toString", "()Ljava/lang/String;");
        let half = || Value::Reference(Reference::String("1/2".encode_utf16().collect()));
        check("-2/3 < 1/2", &printed, half(), None);
        let wrong = Some((false, Mentioned::Text("1/2".to_owned())));
        check("expected:<2/1> but was:<1/2>", &printed, half(), wrong);
        let named = Some((true, Mentioned::Text("1/2".to_owned())));
        check("f.toString() == 2/1\n|\n1/2", &printed, half(), named);
    }

    #[test]
    fn a_collection_has_the_last_size_in_the_message_if_that_names_it() {
        let message = "JSON path \"$.items\"\nExpected: a collection with size <2>\n\
                       but: collection size was <0>";
        let list = || {
            let mut builder = Builder::with(Default::default(), culprit_model::ObjectId(0));
            builder.variable("java/util/ArrayList")
        };
        let size = Some((true, Mentioned::Size(0)));
        check(
            message,
            &method("items", "()Ljava/util/List;"),
            list(),
            size.clone(),
        );
        check(
            message,
            &method("getItems", "()Ljava/util/List;"),
            list(),
            size,
        );
        check(
            message,
            &method("other", "()Ljava/util/List;"),
            list(),
            None,
        );
        check(message, &method("items", "()Lshop/Items;"), list(), None);
    }
}
