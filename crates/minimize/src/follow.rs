//! The script of a run whose driver was followed: what the test or the main class did, call by call.

use std::collections::{BTreeMap, BTreeSet};

use culprit_classfile::ClassFile;
use culprit_model::observe::is_jdk_name;
use culprit_model::{
    EventKind, ObjectId, Pattern, Reference, Scenario, Selection, Step, Tables, TypeId, Value,
};
use culprit_signature::{Frame, Signature};
use culprit_trace::Start;

use crate::alias::settle;
use crate::choose::{driver_of, frames_of, internal, is_framework, outermost};
use crate::link::{actual, is_assertion};
use crate::script::{Author, OPERATORS};
use crate::seek::{capture, fail, require};
use crate::surroundings;
use crate::{Condition, Failed, Program, Script, Statement};

/// Scripts that are tried for a failure.
const MOST: usize = 8;

/// Superclasses of a driver that are followed with it.
const DEEPEST: usize = 16;

/// What to follow: the class that drives the failing run, those of the program that it extends, and
/// those beside it that extend it, of which it may be the inherited part.
pub fn drivers(failed: &Failed<'_>, program: &Program) -> Option<Selection> {
    let driver = driver_of(failed);
    let mut names = vec![driver.clone()];
    let mut above = superclass(program, &driver);
    while let Some(name) = above.filter(|_| names.len() < DEEPEST) {
        above = superclass(program, &name);
        names.push(name);
    }
    names.retain(|name| !is_jdk_name(name) && !is_framework(name));
    if names.first() != Some(&driver) {
        return None;
    }
    names.extend(heirs(program, &driver));
    let pattern = |name: &String| name.replace('/', ".").parse::<Pattern>().ok();
    Some(Selection {
        observe: names.iter().map(pattern).collect::<Option<_>>()?,
        ..Selection::default()
    })
}

/// The methods of a failed test on the stack; of a lambda, the one it is written in. None where no test failed.
pub fn driver_methods(failed: &Failed<'_>) -> Vec<String> {
    if failed.test.is_none() {
        return Vec::new();
    }
    let driver = driver_of(failed);
    let is_driver = |frame: &&Frame| outermost(&internal(&frame.class)) == outermost(&driver);
    let stack = failed
        .signature
        .thrown()
        .chain()
        .flat_map(|thrown| &thrown.frames);
    let methods = stack.filter(is_driver).map(|frame| {
        let lambda = frame.method.strip_prefix("lambda$");
        let within = lambda.and_then(|rest| Some(rest.rsplit_once('$')?.0));
        within.unwrap_or(&frame.method).to_owned()
    });
    methods.collect()
}

/// What to follow for the innermost level of abstraction: everything on the stack but the class that threw,
/// whose name comes with it. `None` where that is the outermost level already, or an assertion failed.
pub fn innermost(failed: &Failed<'_>, program: &Program) -> Option<(String, Selection)> {
    let mut selection = drivers(failed, program)?;
    let frames = frames_of(failed);
    let driver = driver_of(failed);
    let is_driver = |frame: &&Frame| outermost(&internal(&frame.class)) == driver;
    let thrower = internal(&frames.first()?.class);
    let is_thrower = |name: &str| outermost(name) == outermost(&thrower);
    let mut between: Vec<String> = Vec::new();
    for frame in frames.iter().copied().filter(|frame| !is_driver(frame)) {
        let name = internal(&frame.class);
        if !is_thrower(&name) && !between.contains(&name) {
            between.push(name);
        }
    }
    if between.is_empty() || is_thrower(&driver) {
        return None;
    }
    let names = between;
    let patterns = names
        .iter()
        .map(|name| name.replace('/', ".").parse::<Pattern>());
    selection.observe.extend(patterns.filter_map(Result::ok));
    Some((thrower.replace('/', "."), selection))
}

fn superclass(program: &Program, name: &str) -> Option<String> {
    let class = ClassFile::parse(&program.bytes(name)?).ok()?;
    class.super_name().ok()?.map(|name| name.into_owned())
}

/// The classes that extend one, in the same archive or folder.
fn heirs(program: &Program, name: &str) -> Vec<String> {
    let entry = program.entry_of(name);
    let names = entry.and_then(|entry| program.names(entry).ok());
    let names = names.unwrap_or_default();
    let extends = names.iter().map(|of| (of, superclass(program, of)));
    let extends: Vec<(&String, Option<String>)> = extends.collect();
    let mut found = vec![name.to_owned()];
    let mut at = 0;
    while let Some(of) = found.get(at).cloned() {
        at += 1;
        let own = extends
            .iter()
            .filter(|(_, above)| above.as_ref() == Some(&of));
        found.extend(own.map(|(heir, _)| (*heir).clone()));
    }
    found.split_off(1)
}

/// The scripts of a followed run that may end with a failure, the likeliest first.
pub fn followed(scenario: Scenario, signature: &Signature, start: &Start) -> Vec<Script> {
    let class = signature.thrown().class.replace('.', "/");
    let Scenario { tables, steps } = scenario;
    let statements = settle(&tables, statements(steps));
    let failing = |statement: &Statement| {
        let thrown = thrown(statement).map(|class| name_of(&tables, class));
        // An exception may print itself without its class.
        thrown.is_some_and(|name| name == class || class.is_empty())
    };
    let left = statements.iter().filter(|s| s.is_left(&tables));
    let left: BTreeSet<ObjectId> = left.flat_map(Statement::uses).collect();
    let ends = (0..statements.len()).rev();
    let mut ends: Vec<usize> = ends.filter(|at| failing(&statements[*at])).collect();
    // What the driver caught is not what failed.
    let leaves = |at: &usize| {
        let before = at.checked_sub(1).map(|before| &statements[before]);
        let id = statements[*at].catches();
        id.is_some_and(|id| left.contains(&id)) || before.is_some_and(|s| s.expects(&tables))
    };
    if ends.iter().any(leaves) {
        ends.retain(leaves);
    }
    ends.truncate(MOST);
    let scripts = ends
        .into_iter()
        .filter_map(|end| script(&tables, &statements[..=end], start));
    scripts.collect()
}

pub(crate) fn statements(steps: Vec<Step>) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut steps = steps.into_iter().peekable();
    while let Some(step) = steps.next() {
        let mut of_this = vec![step];
        if of_this[0].kind == EventKind::IncomingCall {
            of_this.extend(steps.next_if(|next| next.depth > 0));
        }
        statements.push(Statement::new(of_this));
    }
    statements
}

/// The class of what a statement threw.
fn thrown(statement: &Statement) -> Option<TypeId> {
    let last = statement.steps.last()?;
    match (last.kind, last.values.first()) {
        (EventKind::IncomingThrow, Some(Value::Reference(Reference::Object { class, .. }))) => {
            Some(*class)
        }
        _ => None,
    }
}

fn name_of(tables: &Tables, class: TypeId) -> &str {
    tables.class(class).map_or("", |found| &found.name)
}

/// The script that ends with the last of some statements.
fn script(tables: &Tables, statements: &[Statement], start: &Start) -> Option<Script> {
    let (last, earlier) = statements.split_last()?;
    let mut draft = Draft::of(tables, statements, start);
    draft.add(earlier);
    if !draft.can_do(last) {
        return None;
    }
    let before = earlier.last();
    let tolerated = before.filter(|before| before.tolerates(tables));
    let expected = before.filter(|before| before.expects(tables));
    draft.kept.extend(tolerated.or(expected).cloned());
    draft.kept.push(last.clone());
    let mut script = draft.script();
    if !expect(&mut script) {
        decide(&mut script);
    }
    script.guards.extend(checks(&script));
    if let (Some(_), Some(last)) = (tolerated, script.statements.len().checked_sub(1)) {
        script.guards.insert((last, last - 1));
    }
    Some(script)
}

/// A script that is to throw, and does not, is about its last call that does something: not one that was
/// asked whether to go on. Whether it is such.
fn expect(script: &mut Script) -> bool {
    let said = script.statements.len().checked_sub(2);
    let said = said.filter(|said| script.statements[*said].expects(&script.tables));
    let Some(said) = said else {
        return false;
    };
    let mut answers: BTreeSet<ObjectId> = BTreeSet::new();
    let mut about = None;
    for (number, statement) in script.statements[..said].iter().enumerate().rev() {
        match target(script, statement) {
            Some((OPERATORS, _)) => answers.extend(statement.uses()),
            Some((owner, _)) if is_jdk_name(owner) && owner.starts_with("java/io/Print") => {}
            _ if is_assertion(script, statement) => {}
            _ if statement.defines().is_some_and(|id| answers.contains(&id)) => {}
            _ => {
                about = Some(number);
                break;
            }
        }
    }
    script.guards.insert((said + 1, said));
    script.guards.extend(about.map(|about| (said + 1, about)));
    true
}

/// The script of a followed run in which a condition held, without what looks whether it does. Where it
/// is about the end of the JVM, the script goes as far and ends with its failure: none if the driver did
/// not end it so.
pub fn followed_until(scenario: Scenario, condition: &Condition, start: &Start) -> Option<Script> {
    let Scenario { tables, steps } = scenario;
    let statements = settle(&tables, statements(steps));
    let mut draft = Draft::of(&tables, &statements, start);
    let Condition::Exit(status) = condition else {
        if let Condition::Contains(_) | Condition::Matches(_) = condition {
            draft.kept.extend(capture(&mut draft.author));
            draft.prelude = draft.kept.len();
        }
        draft.add(&statements);
        let mut script = draft.script();
        script.guards = checks(&script).into_iter().collect();
        return Some(script);
    };
    let with_status = |statement: &Statement| {
        let given = statement.given().last();
        let given = given.filter(|_| is_exit(&tables, statement))?;
        let may_be = match given {
            Value::Int(given) => given & 0xff == i32::from(*status),
            given => matches!(given, Value::Reference(_)),
        };
        may_be.then(|| given.clone())
    };
    let exits = statements.iter().enumerate().rev();
    let mut exits = exits.filter_map(|(at, statement)| Some((at, with_status(statement)?)));
    let (at, given) = exits.next()?;
    draft.add(&statements[..at]);
    if let Value::Reference(_) = given {
        let of = (OPERATORS, "isEqual", "(II)Z");
        let holds = draft.author.object("boolean");
        let given = vec![given, Value::Int(i32::from(*status))];
        draft
            .kept
            .push(draft.author.call_static(of, given, Some(holds.clone())));
        draft.kept.push(require(&mut draft.author, holds));
    }
    draft.kept.extend(fail(&mut draft.author, condition));
    let mut script = draft.script();
    decide(&mut script);
    script.guards.extend(checks(&script));
    Some(script)
}

/// Whether a statement ends the JVM.
fn is_exit(tables: &Tables, statement: &Statement) -> bool {
    matches!(
        statement.target(tables),
        Some(("java/lang/System", "exit") | ("java/lang/Runtime", "exit" | "halt"))
    )
}

/// A script that is being written.
struct Draft {
    author: Author,
    kept: Vec<Statement>,
    prelude: usize,
    made: BTreeSet<ObjectId>,
}

impl Draft {
    /// The surroundings of some statements.
    fn of(tables: &Tables, statements: &[Statement], start: &Start) -> Draft {
        let mut author = Author::new(tables.clone(), Statement::largest(statements));
        let kept = surroundings::statements(&mut author, start);
        Draft {
            author,
            prelude: kept.len(),
            kept,
            made: BTreeSet::new(),
        }
    }

    fn can_do(&self, statement: &Statement) -> bool {
        statement.uses().iter().all(|id| self.made.contains(id))
    }

    /// Adds statements. Those go that are given what nothing makes, those that end the JVM, and what calls
    /// may throw that threw nothing of the kind.
    fn add(&mut self, statements: &[Statement]) {
        for statement in statements {
            if self.can_do(statement)
                && !is_known_constant(statement, &self.made)
                && !is_exit(&self.author.tables, statement)
                && !statement.tolerates(&self.author.tables)
                && !statement.is_left(&self.author.tables)
                && !statement.expects(&self.author.tables)
            {
                self.made.extend(statement.defines());
                self.made.extend(statement.catches());
                self.kept.push(statement.clone());
            }
        }
    }

    fn script(self) -> Script {
        Script {
            tables: self.author.tables,
            statements: self.kept,
            prelude: self.prelude,
            missing: BTreeSet::new(),
            guards: BTreeSet::new(),
        }
    }
}

/// Whether a statement reads a static field that was read before.
fn is_known_constant(statement: &Statement, made: &BTreeSet<ObjectId>) -> bool {
    let is_static_read = match statement.steps.as_slice() {
        [step] => step.kind == EventKind::IncomingRead && step.values.len() == 1,
        _ => false,
    };
    is_static_read && statement.defines().is_some_and(|id| made.contains(&id))
}

/// Finds the condition that decides the failure, where what fails is not given it: a driver that says
/// `if (wrong) fail();`, or `assertTrue(a < b)`, which is compiled to a branch.
fn decide(script: &mut Script) {
    let Some((last, earlier)) = script.statements.split_last() else {
        return;
    };
    let guard = earlier
        .iter()
        .rposition(|statement| target(script, statement) == Some((OPERATORS, "require")));
    let (Some(guard), Some((owner, name))) = (guard, target(script, last)) else {
        return;
    };
    let asserts = is_assertion(script, last);
    if owner == OPERATORS && name == "raise" || asserts && name == "fail" {
        let last = script.statements.len() - 1;
        script.guards.insert((last, guard));
        return;
    }
    let place = actual(script, last).filter(|_| asserts);
    let Some(place) = place else {
        return;
    };
    if let Value::Boolean(was) = last.steps[0].values[place] {
        assert_condition(script, guard, place, was);
    }
}

/// By call, the question that the driver asked the same object just before, and went on for its answer:
/// `if (cursor.hasNext()) cursor.next();`. On another version of the program the answer may differ.
fn checks(script: &Script) -> Vec<(usize, usize)> {
    let on = |number: usize| {
        let statement = &script.statements[number];
        statement.receiver(script.site(statement.steps.first()?.site)?)
    };
    let mut asked: BTreeMap<ObjectId, ObjectId> = BTreeMap::new();
    let mut guard: Option<(usize, ObjectId)> = None;
    let mut found = Vec::new();
    for (number, statement) in script.statements.iter().enumerate() {
        match target(script, statement) {
            Some((OPERATORS, "require")) => {
                let about = statement.uses().first().and_then(|id| asked.get(id));
                guard = about.map(|about| (number, *about));
            }
            Some((OPERATORS, _)) => {
                let about = statement
                    .uses()
                    .iter()
                    .find_map(|id| asked.get(id))
                    .copied();
                if let (Some(made), Some(about)) = (statement.defines(), about) {
                    asked.insert(made, about);
                }
            }
            called => {
                let on = on(number);
                let asks = called.is_some_and(|(_, name)| {
                    let asked = ["has", "is", "size", "length", "contains"];
                    asked.iter().any(|start| name.starts_with(start))
                });
                if let (Some(on), Some((guard, about))) = (on, guard)
                    && on == about
                    && !asks
                {
                    found.push((number, guard));
                }
                if on.is_some() {
                    guard = guard.filter(|(_, about)| Some(*about) != on);
                }
                if let (Some(made), Some(on)) = (statement.defines(), on) {
                    asked.insert(made, on);
                }
            }
        }
    }
    found
}

/// Takes out conditions that no call waits for any more, and what was asked for them.
pub(crate) fn without_idle_conditions(script: &Script) -> Script {
    let last = script.statements.len().saturating_sub(1);
    let decides = |guard: usize| script.guards.contains(&(last, guard));
    let busy: BTreeSet<usize> = checks(script).into_iter().map(|(_, guard)| guard).collect();
    let is_idle = |number: &usize| {
        let statement = &script.statements[*number];
        target(script, statement) == Some((OPERATORS, "require"))
            && !busy.contains(number)
            && !decides(*number)
    };
    let Some(idle) = (0..last).find(is_idle) else {
        return script.clone();
    };
    let mut gone = vec![idle];
    loop {
        let is_left = |number: &usize| !gone.contains(number);
        let unused = (0..last).rev().filter(is_left).find(|number| {
            let made = script.statements[*number].defines();
            let users = |id: ObjectId| {
                let of = |n: &usize| script.statements[*n].uses().contains(&id);
                (0..=last).filter(of).collect::<Vec<usize>>()
            };
            // What was asked for a condition alone.
            made.is_some_and(|id| {
                let users = users(id);
                !users.is_empty() && users.iter().all(|user| gone.contains(user))
            })
        });
        match unused {
            Some(number) => gone.push(number),
            None => break,
        }
    }
    let kept: Vec<usize> = (0..=last).filter(|number| !gone.contains(number)).collect();
    without_idle_conditions(&script.keep(&kept))
}

/// The class and the method that a statement calls.
fn target<'s>(script: &'s Script, statement: &Statement) -> Option<(&'s str, &'s str)> {
    statement.target(&script.tables)
}

/// Gives an assertion the condition that it was compiled from, which was true or not.
fn assert_condition(script: &mut Script, guard: usize, place: usize, was: bool) {
    let Some(condition) = guard.checked_sub(1) else {
        return;
    };
    let Some((OPERATORS, name)) = target(script, &script.statements[condition]) else {
        return;
    };
    let Some(name) = (if was { Some(name) } else { opposite(name) }) else {
        return;
    };
    let name = name.to_owned();
    let statement = &script.statements[condition];
    let (given, Some(site)) = (
        statement.given().to_vec(),
        script.site(statement.steps[0].site),
    ) else {
        return;
    };
    let descriptor = site.target.descriptor.clone();
    let tables = std::mem::take(&mut script.tables);
    let mut author = Author::new(tables, Statement::largest(&script.statements));
    let variable = author.object("boolean");
    let target = (OPERATORS, name.as_str(), descriptor.as_str());
    let holds = author.call_static(target, given, Some(variable.clone()));
    script.tables = author.tables;
    let last = script.statements.len() - 1;
    script.statements[last].steps[0].values[place] = variable;
    script.statements.insert(last, holds);
}

fn opposite(relation: &str) -> Option<&'static str> {
    let pairs = [
        ("isEqual", "isDifferent"),
        ("isLess", "isAtLeast"),
        ("isGreater", "isAtMost"),
        ("isSame", "isOther"),
        ("isNull", "isNotNull"),
        ("isTrue", "isFalse"),
    ];
    pairs.iter().find_map(|(one, other)| match relation {
        _ if relation == *one => Some(*other),
        _ if relation == *other => Some(*one),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use culprit_model::Tables;

    use super::*;

    /// Writes a script of calls on two objects of the program, which are there already.
    struct Pen {
        author: Author,
        statements: Vec<Statement>,
    }

    impl Pen {
        fn new() -> Pen {
            Pen {
                author: Author::new(Tables::default(), 100),
                statements: Vec::new(),
            }
        }

        fn object(&mut self, id: u64, class: &str) -> Value {
            let class = self.author.class(class);
            let id = ObjectId(id);
            Value::Reference(Reference::Object { id, class })
        }

        /// A call on an object of the program, and what it gives.
        fn ask(&mut self, name: &str, on: u64, answer: u64) {
            let on = self.object(on, "Cursor");
            let answer = self.object(answer, "boolean");
            let target = ("Cursor", name, "()Z");
            let call = self.author.call(target, on, Vec::new(), Some(answer));
            self.statements.push(call);
        }

        fn operator(&mut self, name: &str, given: Vec<Value>, made: Option<u64>) {
            let made = made.map(|id| self.object(id, "boolean"));
            let target = (OPERATORS, name, "(Z)Z");
            let call = self.author.call_static(target, given, made);
            self.statements.push(call);
        }

        /// Goes on only if an answer is true; `holds` is the number of the condition.
        fn require(&mut self, answer: u64, holds: u64) {
            let answer = self.object(answer, "boolean");
            self.operator("isTrue", vec![answer], Some(holds));
            let holds = self.object(holds, "boolean");
            self.operator("require", vec![holds], None);
        }

        fn assertion(&mut self, name: &str, given: Vec<Value>) {
            let target = ("org/junit/Assert", name, "(Z)V");
            let call = self.author.call_static(target, given, None);
            self.statements.push(call);
        }

        fn script(self) -> Script {
            Script {
                tables: self.author.tables,
                statements: self.statements,
                ..Script::default()
            }
        }
    }

    fn names(script: &Script) -> Vec<&str> {
        let target = |statement| target(script, statement).map(|(_, name)| name);
        script.statements.iter().filter_map(target).collect()
    }

    #[test]
    fn a_call_waits_for_the_answer_that_its_object_gave_before() {
        let mut pen = Pen::new();
        pen.ask("hasNext", 1, 11);
        pen.require(11, 21);
        pen.ask("next", 1, 12);
        // The answer was for one call, and for one object.
        pen.ask("next", 1, 13);
        pen.ask("hasNext", 1, 14);
        pen.require(14, 22);
        pen.ask("next", 2, 15);
        assert_eq!(checks(&pen.script()), [(3, 2)]);
    }

    #[test]
    fn a_question_waits_for_no_answer() {
        let mut pen = Pen::new();
        pen.ask("hasNext", 1, 11);
        pen.require(11, 21);
        pen.ask("isEmpty", 1, 12);
        assert_eq!(checks(&pen.script()), []);
    }

    #[test]
    fn what_the_driver_says_is_wrong_depends_on_its_last_condition() {
        let mut pen = Pen::new();
        pen.ask("first", 1, 11);
        pen.require(11, 21);
        pen.ask("second", 1, 12);
        pen.require(12, 22);
        pen.assertion("fail", Vec::new());
        let mut script = pen.script();
        decide(&mut script);
        assert_eq!(script.guards, BTreeSet::from([(6, 5)]));
    }

    #[test]
    fn an_assertion_that_was_compiled_to_a_branch_is_given_its_condition() {
        for (given, operator) in [(true, "isTrue"), (false, "isFalse")] {
            let mut pen = Pen::new();
            pen.ask("isRight", 1, 11);
            pen.require(11, 21);
            pen.assertion("assertTrue", vec![Value::Boolean(given)]);
            let mut script = pen.script();
            decide(&mut script);
            let expected = ["isRight", "isTrue", "require", operator, "assertTrue"];
            assert_eq!(names(&script), expected);
            let [.., condition, assertion] = script.statements.as_slice() else {
                panic!("{script:?}");
            };
            assert_eq!(assertion.uses(), [condition.defines().unwrap()]);
            assert_eq!(script.guards, BTreeSet::new());
        }
    }

    #[test]
    fn what_was_to_be_thrown_was_so_by_the_last_call_that_does_something() {
        let mut pen = Pen::new();
        pen.ask("next", 1, 11);
        pen.ask("hasNext", 1, 12);
        pen.require(12, 21);
        pen.operator("expect", Vec::new(), None);
        pen.assertion("fail", Vec::new());
        let mut script = pen.script();
        assert!(expect(&mut script));
        assert_eq!(script.guards, BTreeSet::from([(5, 0), (5, 4)]));
        let mut pen = Pen::new();
        pen.ask("next", 1, 11);
        pen.assertion("fail", Vec::new());
        assert!(!expect(&mut pen.script()));
    }

    #[test]
    fn without_a_condition_nothing_is_decided() {
        let mut pen = Pen::new();
        pen.ask("isRight", 1, 11);
        pen.assertion("assertTrue", vec![Value::Boolean(false)]);
        let mut script = pen.script();
        decide(&mut script);
        assert_eq!(names(&script), ["isRight", "assertTrue"]);
        assert_eq!(script.guards, BTreeSet::new());
    }

    #[test]
    fn conditions_that_nothing_waits_for_go_with_what_they_asked() {
        let mut pen = Pen::new();
        pen.ask("hasNext", 1, 11);
        pen.require(11, 21);
        pen.ask("next", 1, 12);
        pen.ask("isRight", 2, 13);
        pen.require(13, 22);
        pen.ask("last", 1, 14);
        let script = without_idle_conditions(&pen.script());
        assert_eq!(
            names(&script),
            ["hasNext", "isTrue", "require", "next", "last"]
        );
    }

    const TABLES: &str = "\
scenario 1
type 1 int
type 2 boolean
type 3 shop/Cart
thread 1 main
site 1 entry shop/Cart.<init>()V
site 2 entry shop/Cart.total()I
site 3 entry static culprit/runtime/Operators.isLess(II)Z
site 4 entry static culprit/runtime/Operators.require(Z)V
site 5 entry static java/lang/System.exit(I)V
=> @1()
<= @1 = #1:@3
=> @2() on #1:@3
<= @2 = #2:@1
=> @3(#2:@1, 0)
<= @3 = #3:@2
=> @4(#3:@2)
<= @4
";

    /// The calls of the script for a status, and its guards.
    fn until(end: &str, status: u8) -> Option<String> {
        let scenario: Scenario = format!("{TABLES}{end}").parse().unwrap();
        let condition = Condition::Exit(status);
        let start = Start::default();
        let script = followed_until(scenario, &condition, &start)?;
        let scenario = script.scenario().to_string();
        let steps = scenario.lines().filter(|line| line.contains("=> "));
        let steps: Vec<&str> = steps.map(str::trim).collect();
        Some(format!("{}\n{:?}", steps.join("\n"), script.guards))
    }

    #[test]
    fn where_the_driver_ends_the_jvm_is_its_failure() {
        let end = "=> @5(3)\n<= @5\n";
        insta::assert_snapshot!(until(end, 3).unwrap());
        assert_eq!(until(end, 4), None);
        assert_eq!(until("", 3), None);
        assert!(until("=> @5(-1)\n<= @5\n", 255).is_some());
    }

    #[test]
    fn a_status_of_the_program_is_compared() {
        insta::assert_snapshot!(until("=> @5(#2:@1)\n<= @5\n", 3).unwrap());
    }
}
