//! The configuration of the objects behind a rejection.
//!
//! A parser throws `Unexpected -42` if no option takes a number, and a parser with a fault throws it if one does. Without the
//! calls that configure the option, the test fails for every version. So where the program throws on purpose, they
//! are added to a reduced script again.
//!
//! A failing call may name things that it did not come to, since it failed before: `bank.close("ann", "bob")` fails as it divides the
//! balance of `ann`, and would fail without `bank.open("bob")` too. Another version comes to them. So the calls that tell an object
//! of such a name are added again, whatever was thrown.

use std::collections::BTreeSet;

use culprit_model::observe::is_jdk_name;
use culprit_model::{ObjectId, Reference, Site, SiteId, Value};
use culprit_scripts::{closure, is_for_assertions, needs};

use crate::merge::is_question;
use crate::{Script, Statement};

/// The most calls that configure objects; more of them are data.
const MOST_CONFIGURATION: usize = 16;

/// Beginnings of the names of methods that set a property of their object, if they return nothing.
const SETTERS: [&str; 6] = ["set", "configure", "enable", "disable", "allow", "register"];

/// True if a method is named like a setter: `setLenient`, but not `settle`.
fn is_setter(name: &str) -> bool {
    let ends_word = |rest: &str| !rest.starts_with(|c: char| c.is_lowercase());
    let mut starts = SETTERS.iter();
    starts.any(|start| name.strip_prefix(start).is_some_and(ends_word))
}

/// The calls that configure the objects behind some statements, with what these need: calls of the program that return
/// their receiver, as those of builders do, and setters. None if there are many.
pub(super) fn configuration(
    script: &Script,
    kept: &BTreeSet<usize>,
    last: usize,
) -> BTreeSet<usize> {
    let needs = needs(script);
    let configures = |number: &usize| {
        let statement = &script.statements[*number];
        let receiver = script.receiver(statement);
        let is_own = |site: &Site| {
            let owner = &site.target.owner;
            let is_fluent = statement.defines() == receiver;
            let is_setter = statement.result().is_none() && is_setter(&site.target.name);
            !is_jdk_name(owner) && !is_for_assertions(owner) && (is_fluent || is_setter)
        };
        receiver.is_some()
            && statement.thrown().is_none()
            && script.site(statement).is_some_and(is_own)
    };
    let calls: Vec<usize> = (script.prelude..last).filter(configures).collect();
    let mut found: BTreeSet<usize> = BTreeSet::new();
    let mut taken = 0;
    loop {
        let numbers = kept.iter().chain(&found);
        let objects = numbers.flat_map(|number| script.statements[*number].objects());
        let objects: BTreeSet<ObjectId> = objects.collect();
        let is_of_these = |number: &&usize| {
            let receiver = script.receiver(&script.statements[**number]);
            receiver.is_some_and(|id| objects.contains(&id))
        };
        let of_these: Vec<usize> = calls.iter().filter(is_of_these).copied().collect();
        match of_these.len() {
            count if count > MOST_CONFIGURATION => return BTreeSet::new(),
            count if count == taken => return found,
            count => taken = count,
        }
        found.extend(of_these.iter().flat_map(|number| closure(&needs, *number)));
    }
}

/// The calls that tell the objects behind the failing statement of the names and objects that it is given, with what these need: of each method
/// and name the first, unless one is kept already. None if there are many.
pub(super) fn introductions(
    script: &Script,
    kept: &BTreeSet<usize>,
    last: usize,
) -> BTreeSet<usize> {
    let needs = needs(script);
    let failing = &script.statements[last];
    let receiver = script.receiver(failing);
    let makes = |number: &usize| {
        let made = script.statements[*number].defines();
        made.is_none() || made != receiver
    };
    // The failing statement, and those that make what it is given.
    let given = needs[last].iter().filter(|number| makes(number));
    let given = given.flat_map(|number| closure(&needs, *number));
    let given: BTreeSet<usize> = given.chain([last]).collect();
    let given = given.iter().map(|number| &script.statements[*number]);
    let mut given: Vec<&Value> = given.flat_map(names).collect();
    // An object that the failing call is given is a name too: `table.sign(red)` tells the table of the key of `table.of(red)`.
    let arguments = failing.given.iter().skip(usize::from(receiver.is_some()));
    let is_object = |value: &&Value| matches!(value, Value::Reference(Reference::Object { .. }));
    given.extend(arguments.filter(is_object));
    let objects = kept.iter();
    let objects = objects.flat_map(|number| script.statements[*number].objects());
    let objects: BTreeSet<ObjectId> = objects.collect();
    let told = kept.iter().filter_map(|number| {
        let statement = &script.statements[*number];
        Some((statement.site(), statement.given.get(1)?))
    });
    let mut met: Vec<(Option<SiteId>, &Value)> = told.collect();
    let told_before = met.len();
    let mut found = BTreeSet::new();
    for number in script.prelude..last {
        let statement = &script.statements[number];
        let is_own = |site: &Site| {
            let owner = &site.target.owner;
            !is_jdk_name(owner) && !is_for_assertions(owner) && !is_question(&site.target.name)
        };
        let receiver = script.receiver(statement);
        let tells = receiver.is_some_and(|id| objects.contains(&id))
            && statement.site() != failing.site()
            && statement.thrown().is_none()
            && script.site(statement).is_some_and(is_own);
        let Some(name) = statement.given.get(1).filter(|_| tells) else {
            continue;
        };
        let told = (statement.site(), name);
        if given.contains(&name) && !met.contains(&told) {
            met.push(told);
            found.extend(closure(&needs, number));
        }
    }
    match met.len() - told_before > MOST_CONFIGURATION {
        true => BTreeSet::new(),
        false => found,
    }
}

/// The texts that a statement is given, elements of arrays among them.
fn names(statement: &Statement) -> Vec<&Value> {
    fn add<'v>(value: &'v Value, to: &mut Vec<&'v Value>) {
        match value {
            Value::Reference(Reference::String(_)) => to.push(value),
            Value::Reference(Reference::Array { contents, .. }) => {
                let elements = contents.elements().iter();
                elements.for_each(|element| add(element, to));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    statement
        .given
        .iter()
        .for_each(|value| add(value, &mut found));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "\
script 1
type 1 cli/Builder
type 2 cli/Option
type 3 java/lang/StringBuilder
type 4 cli/Parser
site 1 entry cli/Builder.<init>()V
site 2 entry cli/Builder.with(Ljava/lang/Object;)Lcli/Builder;
site 3 entry cli/Builder.create()Lcli/Option;
site 4 entry java/lang/StringBuilder.append(Ljava/lang/String;)Ljava/lang/StringBuilder;
site 5 entry static cli/Parser.parse(Lcli/Option;)V
site 6 entry cli/Option.setNumeric(Z)V
site 7 entry cli/Option.settle(Z)V
";

    fn new(id: u32) -> String {
        format!("=> @1()\n<= @1 = #{id}:@1\n")
    }

    fn with(id: u32, given: &str) -> String {
        format!("=> @2({given}) on #{id}:@1\n<= @2 = #{id}:@1\n")
    }

    fn create(id: u32, made: u32) -> String {
        format!("=> @3() on #{id}:@1\n<= @3 = #{made}:@2\n")
    }

    /// The configuration of what the last of some statements needs.
    fn configured(statements: &[String]) -> Vec<usize> {
        let text = statements.concat();
        let script: Script = format!("{HEAD}{text}").parse().unwrap();
        let last = script.statements.len() - 1;
        let kept = closure(&needs(&script), last).into_iter().collect();
        configuration(&script, &kept, last).into_iter().collect()
    }

    fn parse(id: u32) -> String {
        format!("=> @5(#{id}:@2)\n<= @5\n")
    }

    #[test]
    fn what_configures_an_object_stays_with_what_it_is_given() {
        let statements = [
            new(1),
            with(1, "\"number\""),
            create(1, 2),
            new(3),
            with(3, "#2:@2"),
            create(3, 4),
            new(5),
            with(5, "null"),
            parse(4),
        ];
        assert_eq!(configured(&statements), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_setter_configures_an_object() {
        let call = |site: u32, id: u32| format!("=> @{site}(true) on #{id}:@2\n<= @{site}\n");
        let made = [new(1), create(1, 2), create(1, 3)];
        let statements = [&made[..], &[call(6, 2), call(7, 2), call(6, 3), parse(2)]].concat();
        assert_eq!(configured(&statements), [0, 1, 3]);
    }

    #[test]
    fn calls_of_the_library_configure_nothing() {
        let append = "=> @4(\"a\") on #9:@3\n<= @4 = #9:@3\n".to_owned();
        assert_eq!(configured(&[append, new(1), create(1, 2), parse(2)]), []);
    }

    #[test]
    fn a_name_that_the_failing_call_did_not_come_to_is_introduced() {
        let head = "script 1\n\
                    type 1 bank/Bank\n\
                    site 1 entry bank/Bank.<init>()V\n\
                    site 2 entry bank/Bank.open(Ljava/lang/String;)V\n\
                    site 3 entry bank/Bank.close(Ljava/lang/String;Ljava/lang/String;)V\n\
                    site 4 entry bank/Bank.getBalance(Ljava/lang/String;)V\n";
        let open = |name: &str| format!("=> @2(\"{name}\") on #1:@1\n<= @2\n");
        let close =
            |one: &str, other: &str| format!("=> @3(\"{one}\", \"{other}\") on #1:@1\n<= @3\n");
        let statements = [
            "=> @1()\n<= @1 = #1:@1\n".to_owned(),
            open("ann"),
            open("bob"),
            open("bob"),
            open("eve"),
            "=> @4(\"bob\") on #1:@1\n<= @4\n".to_owned(),
            close("bob", "eve"),
            close("ann", "bob"),
        ];
        let script: Script = format!("{head}{}", statements.concat()).parse().unwrap();
        let kept = BTreeSet::from([0, 1, 7]);
        let found = introductions(&script, &kept, 7);
        assert_eq!(found, BTreeSet::from([0, 2]));
    }

    #[test]
    fn an_object_that_the_failing_call_is_given_is_introduced() {
        let head = "script 1\n\
                    type 1 league/Table\n\
                    type 2 league/Team\n\
                    site 1 entry league/Table.<init>()V\n\
                    site 2 entry league/Team.<init>()V\n\
                    site 3 entry league/Table.sign(Lleague/Team;Ljava/lang/String;)V\n\
                    site 4 entry league/Table.of(Lleague/Team;)V\n";
        let team = |id: u32| format!("=> @2()\n<= @2 = #{id}:@2\n");
        let sign = |id: u32| format!("=> @3(#{id}:@2, \"Ann\") on #1:@1\n<= @3\n");
        let statements = [
            "=> @1()\n<= @1 = #1:@1\n".to_owned(),
            team(2),
            team(3),
            sign(2),
            sign(3),
            sign(2),
            "=> @4(#2:@2) on #1:@1\n<= @4\n".to_owned(),
        ];
        let script: Script = format!("{head}{}", statements.concat()).parse().unwrap();
        let kept = BTreeSet::from([0, 1, 6]);
        let found = introductions(&script, &kept, 6);
        assert_eq!(found, BTreeSet::from([0, 1, 3]));
    }

    #[test]
    fn many_calls_are_data() {
        let mut statements = vec![new(1)];
        statements.extend(vec![with(1, "null"); MOST_CONFIGURATION]);
        let end = [create(1, 2), parse(2)];
        let few = [statements.clone(), end.to_vec()].concat();
        assert_eq!(configured(&few).len(), MOST_CONFIGURATION + 1);
        statements.push(with(1, "null"));
        assert_eq!(configured(&[statements, end.to_vec()].concat()), []);
    }
}
