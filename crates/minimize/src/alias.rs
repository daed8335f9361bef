//! Objects with several names. A call that returns an object which was there before (a builder itself, the
//! element of a list, a value that needed no change) may return another one on another version of the
//! program. What a driver did with the result, a test does with the result too.
//!
//! While a script is reduced an object has one name, whoever returned it: a call whose result nobody needs can go
//! though others were made on that result. The names come back when the script is printed.

use std::collections::{HashMap, HashSet};

use culprit_model::value::split_descriptor;
use culprit_model::{ObjectId, Reference, Tables, Value};

use crate::merge::rename;
use crate::script::OPERATORS;
use crate::{Script, Statement};

/// Takes out what says that a name is another one of some object, and gives the object its first name.
pub(crate) fn settle(tables: &Tables, statements: Vec<Statement>) -> Vec<Statement> {
    let mut first: HashMap<ObjectId, ObjectId> = HashMap::new();
    for statement in &statements {
        if let (
            true,
            [
                Value::Reference(Reference::Object { id: alias, .. }),
                Value::Reference(Reference::Object { id, .. }),
            ],
        ) = (is_same(tables, statement), statement.given())
        {
            let id = first.get(id).copied().unwrap_or(*id);
            first.insert(*alias, id);
        }
    }
    let kept = statements
        .into_iter()
        .filter(|statement| !is_same(tables, statement));
    kept.map(|statement| settled(statement, &first)).collect()
}

fn is_same(tables: &Tables, statement: &Statement) -> bool {
    statement.target(tables) == Some((OPERATORS, "same"))
}

fn settled(mut statement: Statement, first: &HashMap<ObjectId, ObjectId>) -> Statement {
    let given = statement.given().iter().enumerate();
    let by_alias = given.filter_map(|(place, value)| {
        let id = identity(value)?;
        first.contains_key(&id).then_some((place, id))
    });
    statement.by_alias = by_alias.collect();
    statement.alias = statement.defines().filter(|id| first.contains_key(id));
    let mut named = statement.objects();
    named.retain(|id| first.contains_key(id));
    for alias in named {
        for value in statement.steps.iter_mut().flat_map(|step| &mut step.values) {
            rename(value, alias, first[&alias]);
        }
    }
    statement
}

fn identity(value: &Value) -> Option<ObjectId> {
    match value {
        Value::Reference(Reference::Object { id, .. }) => Some(*id),
        _ => None,
    }
}

impl Script {
    /// The script with the names that the driver used, where a statement still gives them and what it declares
    /// to give is what is wanted. `is_a` tells whether one class is, or extends, another.
    pub(crate) fn with_aliases(&self, is_a: &dyn Fn(&str, &str) -> bool) -> Script {
        let mut declared: HashMap<ObjectId, &str> = HashMap::new();
        let mut used: HashSet<ObjectId> = HashSet::new();
        let mut script = self.clone();
        for (number, statement) in self.statements.iter().enumerate() {
            for (place, alias) in &statement.by_alias {
                let wanted = self.wanted(statement, *place);
                let fits = declared
                    .get(alias)
                    .zip(wanted)
                    .is_some_and(|(of, wanted)| is_a(of, wanted));
                let to = &mut script.statements[number];
                let mut given = to.given().to_vec();
                if let (true, Some(value)) = (fits, given.get_mut(*place)) {
                    if let Value::Reference(Reference::Object { id, .. }) = value {
                        *id = *alias;
                    }
                    to.give(given);
                    used.insert(*alias);
                }
            }
            if let (Some(alias), Some(of)) = (statement.alias, self.returned(statement)) {
                declared.insert(alias, of);
            }
        }
        for statement in &mut script.statements {
            let Some(alias) = statement.alias.filter(|alias| used.contains(alias)) else {
                continue;
            };
            let end = statement.steps.last_mut();
            if let Some(Value::Reference(Reference::Object { id, .. })) =
                end.and_then(|end| end.values.last_mut())
            {
                *id = alias;
            }
        }
        script
    }

    /// The class that a statement wants at a place.
    fn wanted(&self, statement: &Statement, place: usize) -> Option<&str> {
        let site = self.site(statement.steps.first()?.site)?;
        let (parameters, _) = split_descriptor(&site.target.descriptor)?;
        match place.checked_sub(usize::from(site.has_receiver())) {
            None => Some(&site.target.owner),
            Some(at) => class(parameters.get(at)?),
        }
    }

    /// The class that a statement declares to return.
    fn returned(&self, statement: &Statement) -> Option<&str> {
        let site = self.site(statement.steps.first()?.site)?;
        let (_, result) = split_descriptor(&site.target.descriptor)?;
        class(result)
    }
}

fn class(descriptor: &str) -> Option<&str> {
    descriptor.strip_prefix('L')?.strip_suffix(';')
}

#[cfg(test)]
mod tests {
    use culprit_model::Scenario;

    use super::*;

    const TABLES: &str = "\
scenario 1
type 1 a/Fraction
thread 1 main
site 1 entry static a/Fraction.of(II)La/Fraction;
site 2 entry a/Fraction.reduce()La/Fraction;
site 3 entry a/Fraction.bottom()I
site 4 entry a/Fraction.self()Ljava/lang/Object;
site 5 entry static culprit/runtime/Operators.same(Ljava/lang/Object;Ljava/lang/Object;)V
=> @1(0, 100)
<= @1 = #1:@1
";

    fn script(steps: &str) -> Script {
        let scenario: Scenario = format!("{TABLES}{steps}").parse().unwrap();
        let statements = crate::follow::statements(scenario.steps);
        Script {
            statements: settle(&scenario.tables, statements),
            tables: scenario.tables,
            ..Script::default()
        }
    }

    fn steps(script: &Script) -> String {
        let text = script.scenario().to_string();
        let steps = text.lines().filter(|line| line.starts_with(['=', '<']));
        steps.collect::<Vec<_>>().join("\n")
    }

    fn is_a(class: &str, wanted: &str) -> bool {
        class == wanted || wanted == "java/lang/Object"
    }

    const REDUCED: &str = "\
=> @2() on #1:@1
<= @2 = #2:@1
=> @5(#2:@1, #1:@1)
<= @5
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
        assert_eq!(steps(&script.with_aliases(&is_a)), two);
    }

    #[test]
    fn without_the_call_that_gave_the_name_there_is_none() {
        let left = script(REDUCED).keep(&[0, 2]);
        assert_eq!(steps(&left), steps(&left.with_aliases(&is_a)));
    }

    #[test]
    fn what_declares_less_than_is_wanted_gives_no_name() {
        let script = script(&REDUCED.replace("@2", "@4"));
        assert_eq!(steps(&script), steps(&script.with_aliases(&is_a)));
    }
}
