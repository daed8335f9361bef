//! The script of a run whose driver was followed: what the test or the main class did, call by call.

use std::collections::{BTreeMap, BTreeSet};

use culprit_classfile::ClassFile;
use culprit_model::observe::is_jdk_name;
use culprit_model::script::{Action, Builder, Expectation, Mark, Operator, StatementEnd, Wait};
use culprit_model::value::Shape;
use culprit_model::{ObjectId, Pattern, Reference, Selection, Tables, TypeId, Value};
use culprit_program::{Program, main_class};
use culprit_signature::{Frame, Signature};

use crate::alias::settle;
use crate::assertions::{finds_fault, is_assertion, is_for_assertions};
use crate::decision::{DriverPath, decide};
use crate::failure_point::{capture, fail};
use crate::loop_ends::loop_ends;
use crate::own_code::OwnCode;
use crate::quiet::{QuietCall, tolerate};
use crate::selection::{driver_of, frames_of, internal, is_framework, outermost};
use crate::spies::without_spies;
use crate::surroundings::{self, Surroundings};
use crate::{Condition, Failed, Script, Statement};

/// Scripts that are tried for a failure.
const MOST_SCRIPTS: usize = 8;

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
    let methods = stack.filter(is_driver).map(written_in);
    methods.map(str::to_owned).collect()
}

/// The method of a frame; of a lambda, the one it is written in.
fn written_in(frame: &Frame) -> &str {
    let lambda = frame.method.strip_prefix("lambda$");
    let within = lambda.and_then(|rest| Some(rest.rsplit_once('$')?.0));
    within.unwrap_or(&frame.method)
}

/// The methods to follow of a driver that is the program too, so that calls of its other methods are the script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnCalls {
    /// For the innermost level, at which the method that threw is called, for those around it, and for the outermost one, at
    /// which the methods that `main` or the test calls are called.
    levels: Vec<OwnLevel>,
    /// `main` itself threw, and so does a test.
    pub is_inlined: bool,
}

/// A method of the driver that is called, and the methods around it, which are followed.
#[derive(Clone, PartialEq, Eq, Debug)]
struct OwnLevel {
    called: String,
    followed: Vec<String>,
}

impl OwnCalls {
    /// The methods to follow so that those which `main` or the test calls are called.
    pub fn outermost(self) -> Vec<String> {
        let outermost = self.levels.into_iter().next_back();
        outermost.map(|level| level.followed).unwrap_or_default()
    }
}

/// The methods to follow where the driver itself threw, in a method that it calls, or in an instruction of `main`.
/// `None` where another class did, an assertion failed, or a test threw itself.
pub fn own_calls(failed: &Failed<'_>, program: &Program) -> Option<OwnCalls> {
    let driver = driver_of(failed);
    let frames = frames_of(failed);
    let thrower = frames.first()?;
    if failed.signature.is_assertion() || internal(&thrower.class) != driver {
        return None;
    }
    let own = frames
        .iter()
        .filter(|frame| internal(&frame.class) == driver);
    let mut on_stack: Vec<&str> = Vec::new();
    for frame in own {
        let name = written_in(frame);
        if !on_stack.contains(&name) {
            on_stack.push(name);
        }
    }
    let entry = *on_stack.last()?;
    if on_stack.len() == 1 {
        let main = OwnLevel {
            called: entry.to_owned(),
            followed: vec![entry.to_owned()],
        };
        // What main throws itself may rest on what its other methods did.
        let is_own = failed.signature.thrown().is_of_instruction();
        return (failed.test.is_none() && entry == "main" && is_own).then(|| OwnCalls {
            levels: vec![main],
            is_inlined: true,
        });
    }
    // A test is set up by methods of its own; a program is called as it is.
    let others = match failed.test {
        Some(_) => method_names(program, &driver),
        None => Vec::new(),
    };
    let around = |called: usize| {
        let others = others.iter().map(String::as_str);
        let others = others.filter(|name| !on_stack.contains(name));
        let followed = on_stack[called..].iter().copied();
        OwnLevel {
            called: on_stack[called - 1].to_owned(),
            followed: followed.chain(others).map(str::to_owned).collect(),
        }
    };
    Some(OwnCalls {
        levels: (1..on_stack.len()).map(around).collect(),
        is_inlined: false,
    })
}

/// The code to follow so that the method that threw is called, where other methods of the program caught its exception.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallOfThrower {
    /// The class that threw.
    pub class: String,
    pub selection: Selection,
    /// `main`, and the program's own methods on the stack but for the one that threw.
    pub methods: Vec<String>,
}

/// The code around the method that threw, from `main` on. `None` if that method is alone on the stack.
pub fn call_of_thrower(failed: &Failed<'_>, program: &Program) -> Option<CallOfThrower> {
    let own = OwnCode::of(program, failed.start, failed.test);
    let frames = frames_of(failed);
    let mut frames = frames
        .iter()
        .filter(|frame| own.has(&internal(&frame.class)));
    let thrower = frames.next()?;
    let around: Vec<&&Frame> = frames.collect();
    let is_thrower = |name: &str| name == written_in(thrower);
    let mut methods = vec!["main".to_owned()];
    let names = around.iter().map(|frame| written_in(frame).to_owned());
    methods.extend(names.filter(|name| !is_thrower(name)));
    let main = main_class(failed.start);
    let classes = around.iter().map(|frame| frame.class.clone());
    let classes = classes.chain([thrower.class.clone()]).chain(main);
    let classes: BTreeSet<String> = classes
        .map(|class| outermost(&internal(&class)).replace('/', "."))
        .collect();
    let patterns = classes.iter().map(|class| class.parse::<Pattern>().ok());
    (methods.len() > 1).then_some(CallOfThrower {
        class: thrower.class.clone(),
        selection: Selection {
            observe: patterns.collect::<Option<_>>()?,
            ..Selection::default()
        },
        methods,
    })
}

/// True if the driver has methods that others may call, besides `main`.
pub fn has_own_methods(failed: &Failed<'_>, program: &Program) -> bool {
    let names = method_names(program, &driver_of(failed));
    let is_own = |name: &String| {
        let is_made_up = name.contains(['$', '<']);
        name != "main" && !is_made_up
    };
    names.iter().any(is_own)
}

fn method_names(program: &Program, class: &str) -> Vec<String> {
    let bytes = program.bytes(class);
    let class = bytes.and_then(|bytes| ClassFile::parse(&bytes).ok());
    let Some(class) = class else {
        return Vec::new();
    };
    let methods = class.methods.iter();
    let names = methods.filter_map(|method| class.pool.utf8(method.name).ok());
    names.map(|name| name.into_owned()).collect()
}

/// What to follow for a level of abstraction inside a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InnerLevel {
    /// The class whose calls are the script.
    pub class: String,
    /// The class, or its method if it is the driver.
    pub called: String,
    pub selection: Selection,
    /// The methods that alone are followed, or all.
    pub methods: Vec<String>,
}

/// The levels of abstraction within the outermost one, the innermost first: that of the class that threw, and those of the
/// classes around it on the stack. Where the driver is the program too, its methods take the place of classes. None if an assertion
/// failed.
pub fn inner_levels(failed: &Failed<'_>, program: &Program) -> Vec<InnerLevel> {
    let Some(selection) = drivers(failed, program) else {
        return Vec::new();
    };
    let Some(mut own) = own_calls(failed, program) else {
        return levels_of_classes(failed, &selection);
    };
    own.levels.pop();
    let class = driver_of(failed).replace('/', ".");
    let level = |own: OwnLevel| InnerLevel {
        class: class.clone(),
        called: format!("{class}.{}", own.called),
        selection: selection.clone(),
        methods: own.followed,
    };
    own.levels.into_iter().map(level).collect()
}

/// The levels of the classes on the stack, the innermost first. A class with those nested in it is one level, as far out
/// as its innermost frame.
fn levels_of_classes(failed: &Failed<'_>, drivers: &Selection) -> Vec<InnerLevel> {
    let frames = frames_of(failed);
    let driver = driver_of(failed);
    let mut groups: Vec<Vec<String>> = Vec::new();
    for frame in frames {
        let name = internal(&frame.class);
        let is_driver = outermost(&name) == outermost(&driver);
        if is_driver && groups.is_empty() {
            return Vec::new();
        }
        let mut known = groups.iter_mut();
        match known.find(|group| outermost(&group[0]) == outermost(&name)) {
            _ if is_driver => {}
            Some(group) if group.contains(&name) => {}
            Some(group) => group.push(name),
            None => groups.push(vec![name]),
        }
    }
    let level = |called: usize| {
        let around = groups[called..].iter().flatten();
        let patterns = around.map(|name| name.replace('/', ".").parse::<Pattern>());
        let mut selection = drivers.clone();
        selection.observe.extend(patterns.filter_map(Result::ok));
        let class = groups[called - 1][0].replace('/', ".");
        InnerLevel {
            called: class.clone(),
            class,
            selection,
            methods: Vec::new(),
        }
    };
    (1..groups.len()).map(level).collect()
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

/// A failure of a followed run.
#[derive(Clone, Copy, Debug)]
pub struct FollowedFailure<'a> {
    pub signature: &'a Signature,
    /// Its number among failures of the same driver that are alike, in their order, if there are several.
    pub among_alike: Option<usize>,
}

/// The scripts of a followed run that may end with a failure, the likeliest first.
pub fn followed(
    run: Script,
    failure: FollowedFailure<'_>,
    surroundings: Surroundings<'_>,
) -> Vec<Script> {
    let class = failure.signature.thrown().class.replace('.', "/");
    let frames = &failure.signature.thrown().frames;
    let in_initialiser = frames.iter().any(|frame| frame.method == "<clinit>");
    let tables = run.tables;
    let statements = settle(run.statements);
    let is_left = |statement: &&Statement| statement.action == Action::Mark(Mark::Left);
    let left = statements.iter().filter(is_left);
    let left: BTreeSet<ObjectId> = left.flat_map(Statement::uses).collect();
    let failing = |statement: &Statement| {
        let thrown = thrown(statement).map(|class| tables.class_name(class));
        // An exception may print itself without its class. That of an initialiser arrives within another, and so may one
        // of another thread.
        thrown.is_some_and(|name| {
            let is_of_initialiser =
                in_initialiser && name == "java/lang/ExceptionInInitializerError";
            let leaves = statement.catches().is_some_and(|id| left.contains(&id));
            let carries = Signature::is_carrier(&name.replace('/', "."))
                || failure.signature.was_wrapped() && leaves;
            name == class || class.is_empty() || is_of_initialiser || carries
        })
    };
    let ends = (0..statements.len()).rev();
    let mut ends: Vec<usize> = ends.filter(|at| failing(&statements[*at])).collect();
    // What the driver caught is not what failed.
    let leaves = |at: &usize| {
        let before = at.checked_sub(1).map(|before| &statements[before]);
        let id = statements[*at].catches();
        id.is_some_and(|id| left.contains(&id)) || before.is_some_and(Statement::is_expectation)
    };
    if ends.iter().any(leaves) {
        ends.retain(leaves);
    }
    // They are in reverse order.
    let wanted = failure.among_alike.map(|number| number + 1);
    if let Some(at) = wanted.and_then(|number| ends.len().checked_sub(number)) {
        ends[..=at].rotate_right(1);
    }
    ends.truncate(MOST_SCRIPTS);
    let scripts = ends
        .into_iter()
        .filter_map(|end| script(&tables, &statements[..=end], surroundings));
    scripts.collect()
}

/// The class of what a statement threw.
pub(crate) fn thrown(statement: &Statement) -> Option<TypeId> {
    match statement.thrown()? {
        Value::Reference(Reference::Object { class, .. }) => Some(*class),
        _ => None,
    }
}

/// The script that ends with the last of some statements.
fn script(
    tables: &Tables,
    statements: &[Statement],
    surroundings: Surroundings<'_>,
) -> Option<Script> {
    let plain = without_spies(tables, statements);
    let statements = plain.as_deref().unwrap_or(statements);
    let (last, earlier) = statements.split_last()?;
    let mut draft = Draft::of(tables, statements, surroundings);
    draft.add(earlier);
    if !draft.can_do(last) {
        return None;
    }
    let before = earlier.last();
    let tolerated = before.filter(|before| before.is_tolerance());
    let expected = before.filter(|before| before.is_expectation());
    draft.kept.extend(tolerated.or(expected).cloned());
    draft.kept.push(last.clone());
    let path = std::mem::take(&mut draft.path);
    let mut script = draft.script();
    match expect(&mut script) {
        Some(about) if path.lost_calls.range(about + 1..).next().is_some() => return None,
        Some(_) => {}
        None => decide(&mut script, &path).ok()?,
    }
    if let Some(call) = readiness(&script, &path) {
        tolerate(&mut script, &call);
    }
    script.waits.extend(checks(&script));
    // A call that crashes does so whatever the driver did with the results of a loop.
    if finds_fault(&script) {
        script.waits.extend(loop_ends(&script));
    }
    if let (Some(_), Some(last)) = (tolerated, script.statements.len().checked_sub(1)) {
        script.wait(last, last - 1);
    }
    tolerate_throughout(&mut script);
    Some(script)
}

/// The most calls that may throw in place of a failing assertion.
const MOST_TOLERATED: usize = 100;

/// What is tolerated in place of a failing assertion, any call before it may throw.
fn tolerate_throughout(script: &mut Script) {
    let [.., before, last] = script.statements.as_slice() else {
        return;
    };
    let Action::Expect(Expectation::Next(exception)) = before.action else {
        return;
    };
    if !is_assertion(script, last) {
        return;
    }
    let is_of_program = |statement: &Statement| {
        let target = script.target(statement);
        target
            .is_some_and(|target| !is_jdk_name(&target.owner) && !is_for_assertions(&target.owner))
    };
    let earlier = script.statements.iter().enumerate().skip(script.prelude);
    let calls = earlier.filter(|(_, statement)| is_of_program(statement));
    let calls = calls.map(|(statement, _)| QuietCall {
        statement,
        exception,
    });
    let calls: Vec<QuietCall> = calls.collect();
    let stated = script.statements.len() - 2;
    let others: Vec<usize> = (0..stated + 2).filter(|number| *number != stated).collect();
    *script = script.keep(&others);
    // From the end, since each adds a statement.
    for call in calls.iter().rev().take(MOST_TOLERATED) {
        tolerate(script, call);
    }
}

/// The call before an operator that fails, if the driver is ready for an exception of it.
fn readiness(script: &Script, path: &DriverPath) -> Option<QuietCall> {
    let (last, earlier) = script.statements.split_last()?;
    let is_operator = last.operation().is_some() && !last.is_raise();
    let call = path.quiet.last().filter(|_| is_operator)?;
    let mut between = earlier.get(call.statement + 1..)?.iter();
    let is_last_call = between.all(|statement| script.target(statement).is_none());
    is_last_call.then_some(*call)
}

/// A script that is to throw, and does not, is about its last call that does something: not one that was
/// asked whether to go on. The number of that call, or 0 if there is none; `None` if the script is no such script.
fn expect(script: &mut Script) -> Option<usize> {
    let said = script.statements.len().checked_sub(2)?;
    if !script.statements[said].is_expectation() {
        return None;
    }
    let mut answers: BTreeSet<ObjectId> = BTreeSet::new();
    let mut about = None;
    for (number, statement) in script.statements[..said].iter().enumerate().rev() {
        match script.target(statement) {
            None => answers.extend(statement.uses()),
            Some(target) if target.owner.starts_with("java/io/Print") => {}
            _ if is_assertion(script, statement) => {}
            _ if statement.defines().is_some_and(|id| answers.contains(&id)) => {}
            _ => {
                about = Some(number);
                break;
            }
        }
    }
    script.wait(said + 1, said);
    about
        .into_iter()
        .for_each(|about| script.wait(said + 1, about));
    Some(about.unwrap_or_default())
}

/// The script of a followed run in which a condition held, without what looks whether it does. Where it
/// is about the end of the JVM, the script goes as far and ends with its failure: none if the driver did
/// not end it so.
pub fn followed_until(
    run: Script,
    condition: &Condition,
    surroundings: Surroundings<'_>,
) -> Option<Script> {
    let tables = run.tables;
    let statements = settle(run.statements);
    let mut draft = Draft::of(&tables, &statements, surroundings);
    let Condition::Exit(status) = condition else {
        if let Condition::Contains(_) | Condition::Matches(_) = condition {
            draft.kept.extend(capture(&mut draft.builder));
            draft.prelude = draft.kept.len();
        }
        draft.add(&statements);
        let mut script = draft.script();
        script.waits = checks(&script).into_iter().collect();
        return Some(script);
    };
    let with_status = |statement: &Statement| {
        let given = statement.given.last();
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
        let is_equal = Operator::IsEqual.of(Shape::Int);
        let given = vec![given, Value::Int(i32::from(*status))];
        let holds = draft.builder.operate(is_equal, given);
        draft.kept.push(holds.statement);
        draft.kept.push(draft.builder.guard(holds.made));
    }
    draft
        .kept
        .extend(fail(&mut draft.builder, &condition.message()));
    let path = std::mem::take(&mut draft.path);
    let mut script = draft.script();
    decide(&mut script, &path).ok()?;
    script.waits.extend(checks(&script));
    script.waits.extend(loop_ends(&script));
    Some(script)
}

/// Whether a statement ends the JVM.
fn is_exit(tables: &Tables, statement: &Statement) -> bool {
    let site = statement.site().and_then(|site| tables.site(site));
    site.is_some_and(|site| {
        matches!(
            (site.target.owner.as_str(), site.target.name.as_str()),
            ("java/lang/System", "exit") | ("java/lang/Runtime", "exit" | "halt")
        )
    })
}

/// A script that is being written.
struct Draft {
    builder: Builder,
    kept: Vec<Statement>,
    prelude: usize,
    made: BTreeSet<ObjectId>,
    path: DriverPath,
}

impl Draft {
    /// The surroundings of some statements.
    fn of(tables: &Tables, statements: &[Statement], surroundings: Surroundings<'_>) -> Draft {
        let objects = statements.iter().flat_map(Statement::objects);
        let largest = objects.max().unwrap_or_default();
        let mut builder = Builder::with(tables.clone(), largest);
        let kept = surroundings::statements(&mut builder, surroundings);
        Draft {
            builder,
            prelude: kept.len(),
            kept,
            made: BTreeSet::new(),
            path: DriverPath::default(),
        }
    }

    fn can_do(&self, statement: &Statement) -> bool {
        statement.uses().iter().all(|id| self.made.contains(id))
    }

    /// Adds statements. Those go that are given what nothing makes, those that end the JVM, and what calls
    /// may throw that threw nothing of the kind.
    fn add(&mut self, statements: &[Statement]) {
        let mut tolerated = None;
        for statement in statements {
            let ready_for = tolerated.take();
            let (can_do, next) = (self.can_do(statement), self.kept.len());
            match &statement.action {
                Action::Mark(Mark::OwnBranch) => {
                    self.path.own_branches.insert(next);
                }
                Action::Expect(Expectation::Next(class)) => tolerated = Some(*class),
                Action::Guard if !can_do => {
                    self.path.lost.insert(next);
                }
                Action::Call(call) if !can_do => {
                    let site = self.builder.tables().site(call.site);
                    let owner = site.map(|site| site.target.owner.as_str());
                    if owner.is_some_and(|of| !is_jdk_name(of) && !is_for_assertions(of)) {
                        self.path.lost_calls.insert(next);
                    }
                    self.path.lost.extend(ready_for.map(|_| next));
                }
                Action::Call(_) if matches!(statement.end, StatementEnd::Returned(_)) => {
                    let quiet = ready_for.map(|exception| QuietCall {
                        statement: next,
                        exception,
                    });
                    self.path.quiet.extend(quiet);
                }
                _ => {}
            }
            if can_do
                && !is_known_constant(statement, &self.made)
                && !is_exit(self.builder.tables(), statement)
                && !matches!(statement.action, Action::Expect(_) | Action::Mark(_))
            {
                self.made.extend(statement.defines());
                self.made.extend(statement.catches());
                self.kept.push(statement.clone());
            }
        }
    }

    fn script(self) -> Script {
        Script {
            prelude: self.prelude,
            ..self.builder.script(self.kept)
        }
    }
}

/// Whether a statement reads a static field that was read before.
fn is_known_constant(statement: &Statement, made: &BTreeSet<ObjectId>) -> bool {
    let is_static_read = matches!(statement.action, Action::Read(_)) && statement.given.is_empty();
    is_static_read && statement.defines().is_some_and(|id| made.contains(&id))
}

/// By call, the question that the driver asked the same object just before, and went on for its answer:
/// `if (cursor.hasNext()) cursor.next();`. On another version of the program the answer may differ.
fn checks(script: &Script) -> Vec<Wait> {
    let mut asked: BTreeMap<ObjectId, ObjectId> = BTreeMap::new();
    let mut guard: Option<(usize, ObjectId)> = None;
    let mut found = Vec::new();
    for (number, statement) in script.statements.iter().enumerate() {
        match (&statement.action, script.target(statement)) {
            (Action::Guard, _) => {
                let about = statement.uses().first().and_then(|id| asked.get(id));
                guard = about.map(|about| (number, *about));
            }
            (_, None) => {
                let about = statement
                    .uses()
                    .iter()
                    .find_map(|id| asked.get(id))
                    .copied();
                if let (Some(made), Some(about)) = (statement.defines(), about) {
                    asked.insert(made, about);
                }
            }
            (_, Some(called)) => {
                let on = script.receiver(statement);
                let questions = ["has", "is", "size", "length", "contains"];
                let asks = questions.iter().any(|start| called.name.starts_with(start));
                if let (Some(on), Some((guard, about))) = (on, guard)
                    && on == about
                    && !asks
                {
                    found.push(Wait {
                        statement: number,
                        on: guard,
                    });
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
pub fn without_idle_guards(script: &Script) -> Script {
    let last = script.statements.len().saturating_sub(1);
    let decides = |on: usize| {
        let statement = last;
        script.waits.contains(&Wait { statement, on })
    };
    let busy: BTreeSet<usize> = checks(script).into_iter().map(|wait| wait.on).collect();
    let is_idle = |number: &usize| {
        let is_guard = script.statements[*number].is_guard();
        is_guard && !busy.contains(number) && !decides(*number)
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
    without_idle_guards(&script.keep(&kept))
}

#[cfg(test)]
mod tests {
    use culprit_model::script::MemberName;
    use culprit_trace::Start;

    use super::*;

    /// Writes a script of calls on two objects of the program, which are there already.
    struct Pen {
        builder: Builder,
        statements: Vec<Statement>,
    }

    impl Pen {
        fn new() -> Pen {
            Pen {
                builder: Builder::with(Tables::default(), ObjectId(100)),
                statements: Vec::new(),
            }
        }

        fn object(&mut self, id: u64, class: &str) -> Value {
            let class = self.builder.class(class);
            let id = ObjectId(id);
            Value::Reference(Reference::Object { id, class })
        }

        /// A call on an object of the program, and what it gives.
        fn ask(&mut self, name: &str, on: u64, answer: u64) {
            let on = self.object(on, "Cursor");
            let answer = self.object(answer, "boolean");
            let target = MemberName::of("Cursor", name, "()Z");
            let call = self.builder.call(target, on, Vec::new(), Some(answer));
            self.statements.push(call);
        }

        /// Goes on only if an answer is true; `holds` is the number of the condition.
        fn require(&mut self, answer: u64, holds: u64) {
            let answer = self.object(answer, "boolean");
            let holds = self.object(holds, "boolean");
            let is_true = Operator::IsTrue.of(Shape::Boolean);
            let made = Some(holds.clone());
            let asked = self.builder.operate_to(is_true, vec![answer], made);
            let guard = self.builder.guard(holds);
            self.statements.extend([asked, guard]);
        }

        fn assertion(&mut self, name: &str, given: Vec<Value>) {
            let target = MemberName::of("org/junit/Assert", name, "(Z)V");
            let call = self.builder.call_static(target, given, None);
            self.statements.push(call);
        }

        fn script(self) -> Script {
            self.builder.script(self.statements)
        }
    }

    fn names(script: &Script) -> Vec<&str> {
        let name = |statement: &Statement| match (&statement.action, script.target(statement)) {
            (Action::Guard, _) => "guard",
            (Action::Operate(operation), _) => operation.operator.name(),
            (_, target) => target.map_or("?", |target| target.name.as_str()),
        };
        script.statements.iter().map(name).collect()
    }

    fn waits(waits: &[(usize, usize)]) -> Vec<Wait> {
        let wait = |(statement, on): &(usize, usize)| Wait {
            statement: *statement,
            on: *on,
        };
        waits.iter().map(wait).collect()
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
        assert_eq!(checks(&pen.script()), waits(&[(3, 2)]));
    }

    #[test]
    fn a_question_waits_for_no_answer() {
        let mut pen = Pen::new();
        pen.ask("hasNext", 1, 11);
        pen.require(11, 21);
        pen.ask("isEmpty", 1, 12);
        assert_eq!(checks(&pen.script()), waits(&[]));
    }

    #[test]
    fn what_was_to_be_thrown_was_so_by_the_last_call_that_does_something() {
        let mut pen = Pen::new();
        pen.ask("next", 1, 11);
        pen.ask("hasNext", 1, 12);
        pen.require(12, 21);
        let class = pen.builder.class("java/lang/Exception");
        let expected = pen.builder.expect(Expectation::Whole(class));
        pen.statements.push(expected);
        pen.assertion("fail", Vec::new());
        let mut script = pen.script();
        assert_eq!(expect(&mut script), Some(0));
        assert_eq!(
            script.waits.iter().copied().collect::<Vec<_>>(),
            waits(&[(5, 0), (5, 4)])
        );
        let mut pen = Pen::new();
        pen.ask("next", 1, 11);
        pen.assertion("fail", Vec::new());
        assert_eq!(expect(&mut pen.script()), None);
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
        let script = without_idle_guards(&pen.script());
        assert_eq!(
            names(&script),
            ["hasNext", "isTrue", "guard", "next", "last"]
        );
    }

    const TABLES: &str = "\
script 1
type 1 int
type 2 boolean
type 3 shop/Cart
site 1 entry shop/Cart.<init>()V
site 2 entry shop/Cart.total()I
site 5 entry static java/lang/System.exit(I)V
=> @1()
<= @1 = #1:@3
=> @2() on #1:@3
<= @2 = #2:@1
do isLess int (#2:@1, 0) = #3:@2
guard (#3:@2)
";

    /// The calls of the script for a status, and its guards.
    fn until(end: &str, status: u8) -> Option<String> {
        let run: Script = format!("{TABLES}{end}").parse().unwrap();
        let condition = Condition::Exit(status);
        let surroundings = Surroundings {
            start: &Start::default(),
            input: None,
        };
        let script = followed_until(run, &condition, surroundings)?;
        Some(script.pruned().to_string())
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
