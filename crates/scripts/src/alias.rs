//! Objects with several names. A call that returns an object which was there before (a builder itself, the
//! element of a list, a value that needed no change) may return another one on another version of the
//! program. What a driver did with the result, a test does with the result too.
//!
//! While a script is reduced an object has one name, whoever returned it: a call whose result nobody needs can go
//! though others were made on that result. The names come back when the script is printed.

use std::collections::{HashMap, HashSet};

use culprit_model::script::{Action, ByAlias, Form, Mark};
use culprit_model::value::{Contents, split_descriptor};
use culprit_model::{ObjectId, Reference, Value};

use crate::{Script, Statement};

/// Removes the marks of names that are others of some object, and gives the object its first name.
pub(crate) fn settle(statements: Vec<Statement>) -> Vec<Statement> {
    let mut first: HashMap<ObjectId, ObjectId> = HashMap::new();
    for statement in &statements {
        if let (
            true,
            [
                Value::Reference(Reference::Object { id: alias, .. }),
                Value::Reference(Reference::Object { id, .. }),
            ],
        ) = (is_same(statement), statement.given.as_slice())
        {
            let id = first.get(id).copied().unwrap_or(*id);
            first.insert(*alias, id);
        }
    }
    let kept = statements
        .into_iter()
        .filter(|statement| !is_same(statement));
    kept.map(|statement| settled(statement, &first)).collect()
}

fn is_same(statement: &Statement) -> bool {
    statement.action == Action::Mark(Mark::Same)
}

fn settled(mut statement: Statement, first: &HashMap<ObjectId, ObjectId>) -> Statement {
    let given = statement.given.iter().enumerate();
    let by_alias = given.filter_map(|(place, value)| {
        let alias = value.identity()?;
        first
            .contains_key(&alias)
            .then_some(ByAlias { place, alias })
    });
    statement.by_alias = by_alias.collect();
    statement.alias = statement.defines().filter(|id| first.contains_key(id));
    let mut named = statement.objects();
    named.retain(|id| first.contains_key(id));
    for alias in named {
        let values = statement.values_mut();
        values.for_each(|value| rename(value, alias, first[&alias]));
    }
    statement
}

/// The script with the names that the driver used, where a statement still gives them and what it declares
/// to give is what is wanted. `is_a` tells whether one class is, or extends, another.
pub fn with_aliases(script: &Script, is_a: &dyn Fn(&str, &str) -> bool) -> Script {
    let mut declared: HashMap<ObjectId, &str> = HashMap::new();
    let mut used: HashSet<ObjectId> = HashSet::new();
    let mut named = script.clone();
    for (number, statement) in script.statements.iter().enumerate() {
        for ByAlias { place, alias } in &statement.by_alias {
            let wanted = wanted(script, statement, *place);
            let fits = declared.get(alias).is_some_and(|of| match wanted {
                Some(wanted) => is_a(of, wanted),
                None => is_null_check(statement),
            });
            let given = named.statements[number].given.get_mut(*place);
            if let (true, Some(value)) = (fits, given) {
                if let Value::Reference(Reference::Object { id, .. }) = value {
                    *id = *alias;
                }
                used.insert(*alias);
            }
        }
        if let (Some(alias), Some(of)) = (statement.alias, returned(script, statement)) {
            declared.insert(alias, of);
        }
    }
    for statement in &mut named.statements {
        let Some(alias) = statement.alias.filter(|alias| used.contains(alias)) else {
            continue;
        };
        if let Some(Value::Reference(Reference::Object { id, .. })) = statement.end.value_mut() {
            *id = alias;
        }
    }
    named
}

/// The script without reads of fields that a printed test does not use: the object has an earlier name, or no use at all.
pub fn without_idle_reads(script: &Script) -> Script {
    let statements = script.statements.iter().enumerate();
    let mut used: HashSet<ObjectId> = HashSet::new();
    let mut first: HashMap<ObjectId, usize> = HashMap::new();
    for (number, statement) in statements.clone() {
        used.extend(statement.uses());
        used.extend(statement.by_alias.iter().map(|by| by.alias));
        let answers = statement.answers().iter();
        used.extend(answers.filter_map(|answer| answer.end.value()?.identity()));
        let made = statement.defines().or(statement.catches());
        made.map(|id| first.entry(id).or_insert(number));
    }
    let is_needed =
        |number: usize, statement: &Statement| match (statement.alias, statement.defines()) {
            (Some(alias), _) => used.contains(&alias),
            (None, Some(id)) => used.contains(&id) && first.get(&id) == Some(&number),
            (None, None) => false,
        };
    let last = script.statements.len().saturating_sub(1);
    let is_kept = |(number, statement): &(usize, &Statement)| {
        let is_read = matches!(statement.action, Action::Read(_)) && !statement.given.is_empty();
        let is_free = (script.prelude..last).contains(number);
        !is_read || !is_free || is_needed(*number, statement)
    };
    let kept: Vec<usize> = statements
        .filter(is_kept)
        .map(|(number, _)| number)
        .collect();
    script.keep(&kept)
}

/// True if a statement compares an object with nothing.
fn is_null_check(statement: &Statement) -> bool {
    let form = statement.operator().map(|operator| operator.form());
    let is_null = |value: &Value| matches!(value, Value::Reference(Reference::Null));
    match form {
        Some(Form::Test) => true,
        Some(Form::Compare) => statement.given.iter().any(is_null),
        _ => false,
    }
}

/// The class that a statement wants at a place.
fn wanted<'s>(script: &'s Script, statement: &Statement, place: usize) -> Option<&'s str> {
    let site = script.site(statement)?;
    let (parameters, _) = split_descriptor(&site.target.descriptor)?;
    match place.checked_sub(usize::from(site.has_receiver())) {
        None => Some(&site.target.owner),
        Some(at) => class(parameters.get(at)?),
    }
}

/// The class that a statement declares to return.
fn returned<'s>(script: &'s Script, statement: &Statement) -> Option<&'s str> {
    let (_, result) = split_descriptor(&script.target(statement)?.descriptor)?;
    class(result)
}

fn class(descriptor: &str) -> Option<&str> {
    descriptor.strip_prefix('L')?.strip_suffix(';')
}

/// Replaces the id of an object in a value.
pub fn rename(value: &mut Value, from: ObjectId, to: ObjectId) {
    match value {
        Value::Reference(Reference::Object { id, .. }) if *id == from => *id = to,
        Value::Reference(Reference::Array {
            contents: Contents::Elements(elements),
            ..
        }) => {
            let elements = elements.iter_mut();
            elements.for_each(|element| rename(element, from, to));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &str = "\
script 1
type 1 a/Fraction
site 1 entry static a/Fraction.of(II)La/Fraction;
site 2 entry a/Fraction.reduce()La/Fraction;
site 3 entry a/Fraction.bottom()I
site 4 entry a/Fraction.self()Ljava/lang/Object;
=> @1(0, 100)
<= @1 = #1:@1
";

    fn script(steps: &str) -> Script {
        let script: Script = format!("{TABLES}{steps}").parse().unwrap();
        Script {
            statements: settle(script.statements),
            ..script
        }
    }

    fn steps(script: &Script) -> String {
        let text = script.to_string();
        let steps = text.lines().filter(|line| line.starts_with(['=', '<']));
        steps.collect::<Vec<_>>().join("\n")
    }

    fn is_a(class: &str, wanted: &str) -> bool {
        class == wanted || wanted == "java/lang/Object"
    }

    const REDUCED: &str = "\
=> @2() on #1:@1
<= @2 = #2:@1
same (#2:@1, #1:@1)
=> @3() on #2:@1
<= @3 = 100
";

    #[test]
    fn an_object_has_one_name_until_it_is_printed() {
        let script = script(REDUCED);
        let one = "\
=> Fraction.of@1(0, 100)
<= Fraction.of@1 = #1:Fraction
=> Fraction.reduce@2() on #1:Fraction
<= Fraction.reduce@2 = #1:Fraction
=> Fraction.bottom@3() on #1:Fraction
<= Fraction.bottom@3 = 100";
        assert_eq!(steps(&script), one);
        let two = one.replace("reduce@2 = #1", "reduce@2 = #2");
        let two = two.replace("bottom@3() on #1", "bottom@3() on #2");
        assert_eq!(steps(&with_aliases(&script, &is_a)), two);
    }

    #[test]
    fn reads_that_give_nothing_new_are_left_out() {
        let script: Script = "\
script 1
type 1 a/Tree
type 2 a/Node
site 1 entry a/Tree.<init>()V
site 2 entry a/Tree.grow()La/Node;
site 3 field a/Tree.root:La/Node;
site 4 entry a/Node.check()V
=> @1()
<= @1 = #1:@1
=> @2() on #1:@1
<= @2 = #2:@2
=> get @3 on #1:@1 = #2:@2
=> get @3 on #1:@1 = #3:@2
=> get @3 on #1:@1 = #4:@2
=> @4() on #2:@2
<= @4
=> @4() on #4:@2
<= @4
"
        .parse()
        .unwrap();
        let left = without_idle_reads(&script);
        assert_eq!(left, script.keep(&[0, 1, 4, 5, 6]));
    }

    #[test]
    fn without_the_call_that_gave_the_name_there_is_none() {
        let left = script(REDUCED).keep(&[0, 2]);
        assert_eq!(steps(&left), steps(&with_aliases(&left, &is_a)));
    }

    #[test]
    fn what_declares_less_than_is_wanted_gives_no_name() {
        let script = script(&REDUCED.replace("@2", "@4"));
        assert_eq!(steps(&script), steps(&with_aliases(&script, &is_a)));
    }
}
