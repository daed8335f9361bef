//! Spies of followed tests. A mocking library makes a spy as a copy of an object of the program. As long as the test tells the
//! library nothing about it, the spy does what the object does, and takes its place in no test.

use culprit_model::owner::is_spying;
use culprit_model::value::Contents;
use culprit_model::{Member, ObjectId, Owner, Reference, Tables, TypeId, Value};

use crate::Statement;

/// An object of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Original {
    id: ObjectId,
    class: TypeId,
}

/// The statements with the objects themselves in place of their spies, if nothing else of a mocking library is called: it may
/// give a spy other answers, or take calls on it for something else than calls.
pub(crate) fn without_spies(tables: &Tables, statements: &[Statement]) -> Option<Vec<Statement>> {
    let target = |statement: &Statement| Some(&tables.site(statement.site()?)?.target);
    let is_of_library = |member: &Member| Owner::of(&member.owner) == Owner::Mock;
    let mut kept: Vec<Statement> = Vec::new();
    let mut spied: Vec<(ObjectId, Original)> = Vec::new();
    for statement in statements {
        let called = target(statement).filter(|member| is_of_library(member));
        if let Some(member) = called {
            if !is_spying(&member.owner, &member.name, &member.descriptor) {
                return None;
            }
            let [Value::Reference(Reference::Object { id, class })] = statement.given.as_slice()
            else {
                return None;
            };
            let (id, class) = (*id, *class);
            spied.push((statement.defines()?, Original { id, class }));
            continue;
        }
        // The copy does not change with the object.
        let objects = statement.objects();
        if spied
            .iter()
            .any(|(_, original)| objects.contains(&original.id))
        {
            return None;
        }
        kept.push(statement.clone());
    }
    for value in kept.iter_mut().flat_map(Statement::values_mut) {
        let spies = spied.iter();
        spies.for_each(|(spy, original)| replace(value, *spy, *original));
    }
    (!spied.is_empty()).then_some(kept)
}

/// Puts an object in place of its spy.
fn replace(value: &mut Value, spy: ObjectId, original: Original) {
    match value {
        Value::Reference(Reference::Object { id, class }) if *id == spy => {
            (*id, *class) = (original.id, original.class);
        }
        Value::Reference(Reference::Array {
            contents: Contents::Elements(elements),
            ..
        }) => {
            let elements = elements.iter_mut();
            elements.for_each(|element| replace(element, spy, original));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::Script;

    use super::*;

    const TABLES: &str = "\
script 1
type 1 a/Cart
type 2 a/Cart$MockitoMock$1
site 1 entry a/Cart.<init>()V
site 2 entry static org/mockito/Mockito.spy(Ljava/lang/Object;)Ljava/lang/Object;
site 3 entry a/Cart.total()I
site 4 entry static org/mockito/Mockito.verify(Ljava/lang/Object;)Ljava/lang/Object;
=> @1()
<= @1 = #1:@1
=> @2(#1:@1)
<= @2 = #2:@2
";

    fn check(steps: &str, expect: Option<&str>) {
        let script: Script = format!("{TABLES}{steps}").parse().unwrap();
        let statements = without_spies(&script.tables, &script.statements);
        let text = statements.map(|statements| {
            let script = Script {
                statements,
                ..script.clone()
            };
            let text = script.to_string();
            let steps = text.lines().filter(|line| line.starts_with(['=', '<']));
            steps.collect::<Vec<_>>().join(" ")
        });
        assert_eq!(text.as_deref(), expect);
    }

    #[test]
    fn a_spy_that_nothing_is_told_about_is_the_object() {
        let total = "=> @3() on #2:@2\n<= @3 = 0\n";
        let made = "=> new Cart@1() <= new Cart@1 = #1:Cart";
        let called = "=> Cart.total@3() on #1:Cart <= Cart.total@3 = 0";
        check(total, Some(&format!("{made} {called}")));
    }

    #[test]
    fn a_spy_is_no_object_where_the_library_or_the_object_has_more_to_do() {
        check("=> @4(#2:@2)\n<= @4 = #2:@2\n", None);
        check("=> @3() on #1:@1\n<= @3 = 0\n", None);
    }
}
