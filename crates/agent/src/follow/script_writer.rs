//! Writes the script of what a followed driver does, statement by statement.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use culprit_model::script::{
    Action, Builder, Expectation, Lambda, Mark, MemberName, Operation, Operator, StatementEnd,
};
use culprit_model::value::{Contents, Shape};
use culprit_model::{Member, ObjectId, Reference, Script, Statement, TypeId, Value};

use super::naming::{is_assertion, is_program};
use super::scenes::Scenes;
use super::shared::concern_shared;
use super::value::Variable;

/// The number of statements beyond which nothing is noted any more: nobody reduces that many.
const MOST_STATEMENTS: usize = 500_000;

/// The number of statements beyond which scenes that are over are forgotten, and the number that is left
/// then: scripts of that length still run at once.
const MANY_STATEMENTS: usize = 50_000;
const FEWER_STATEMENTS: usize = 25_000;

/// The script is full. The interpreter then keeps no origins of values either: a run may continue for long.
static IS_FULL: AtomicBool = AtomicBool::new(false);

pub(super) fn is_full() -> bool {
    IS_FULL.load(Ordering::Relaxed)
}

pub(super) const FILE: &str = "java/io/File";

/// A place in the heap that the driver wrote, by the name of the object or class.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum HeapPlace {
    Field(ObjectId, String),
    Static(String, String),
    Element(ObjectId, i32),
}

#[derive(Default)]
pub(super) struct ScriptWriter {
    builder: Builder,
    statements: Vec<Statement>,
    /// There is a guard, and no branch of the driver's own since.
    is_since_guard: bool,
    scenes: Scenes,
    /// Arrays that some statement makes.
    pub(super) made: HashSet<ObjectId>,
    /// Which variables the driver's own fields and elements hold.
    pub(super) places: HashMap<HeapPlace, Variable>,
    /// Exceptions that calls ended with.
    pub(super) thrown: HashSet<ObjectId>,
    /// By exception, what else the driver was ready for where it came.
    tolerated: HashMap<ObjectId, TypeId>,
    /// By statement, the exception that a call which returned might have thrown.
    ready: BTreeMap<usize, TypeId>,
    /// Exceptions in place of which any call of the test may throw what else it was ready for.
    throughout: HashSet<ObjectId>,
}

/// What a scene is worth when it has ended.
pub(super) enum SceneEnd {
    /// A method of an object did what it did, and nothing was wrong.
    Over,
    /// It failed, or it set something up.
    Telling,
}

impl ScriptWriter {
    pub(super) fn id(&mut self) -> ObjectId {
        self.builder.fresh()
    }

    pub(super) fn class(&mut self, name: &str) -> TypeId {
        self.builder.class(name)
    }

    /// A new variable for a value of a class.
    pub(super) fn variable(&mut self, class: &str) -> Variable {
        Variable {
            id: self.builder.fresh(),
            class: self.builder.class(class),
        }
    }

    fn push(&mut self, statement: Statement) {
        match self.statements.len() < MOST_STATEMENTS {
            true => self.statements.push(statement),
            false => IS_FULL.store(true, Ordering::Relaxed),
        }
    }

    /// A call and its end; the number of its statement.
    pub(super) fn call(
        &mut self,
        target: Member,
        is_static: bool,
        given: Vec<Value>,
        end: StatementEnd,
    ) -> usize {
        let number = self.statements.len();
        let call = self.builder.called(target, is_static, given, end);
        self.push(call);
        number
    }

    /// An operator whose result is a new variable.
    pub(super) fn operate(&mut self, operation: Operation, operands: Vec<Value>) -> Variable {
        let made = self.variable(operation.result_class());
        self.operate_to(operation, operands, Some(made.into()));
        made
    }

    /// An operator whose result, if it has one, is `made`.
    pub(super) fn operate_to(
        &mut self,
        operation: Operation,
        operands: Vec<Value>,
        made: Option<Value>,
    ) {
        let statement = self.builder.operate_to(operation, operands, made);
        self.push(statement);
    }

    /// An operator that ended with an exception.
    pub(super) fn operate_throwing(
        &mut self,
        operation: Operation,
        operands: Vec<Value>,
        thrown: Value,
    ) {
        let statement = self.builder.operate_throwing(operation, operands, thrown);
        self.push(statement);
    }

    /// An array with these elements, which is the object `id` from now on.
    pub(super) fn array(&mut self, id: ObjectId, class: &str, elements: Vec<Value>) {
        let made = Variable {
            id,
            class: self.class(class),
        };
        let literal = Value::Reference(Reference::Array {
            id: self.id(),
            class: made.class,
            length: elements.len() as u32,
            contents: Contents::Elements(elements),
        });
        let array = Operator::Array.of(Shape::Reference);
        self.operate_to(array, vec![literal], Some(made.into()));
    }

    /// A path or file with this text, which is the object `id` from now on.
    pub(super) fn path(&mut self, id: ObjectId, class: &str, text: Vec<u16>) {
        let made = Variable {
            id,
            class: self.class(class),
        };
        let text = Value::Reference(Reference::String(text));
        let statement = match class {
            FILE => {
                let of = "(Ljava/lang/String;)V";
                self.builder.construct(FILE, of, vec![text], made.into())
            }
            _ => {
                let of = "(Ljava/lang/String;[Ljava/lang/String;)Ljava/nio/file/Path;";
                let get = MemberName::of("java/nio/file/Paths", "get", of);
                let more = self.builder.array("[Ljava/lang/String;", Vec::new());
                self.builder
                    .call_static(get, vec![text, more], Some(made.into()))
            }
        };
        self.push(statement);
    }

    /// A lambda or method reference, which is the object `made`.
    pub(super) fn lambda(&mut self, lambda: Lambda, captured: Vec<Value>, made: Value) {
        let statement = self.builder.lambda(lambda, captured, made);
        self.push(statement);
    }

    /// The script continues only if a condition holds.
    pub(super) fn guard(&mut self, condition: Operation, operands: Vec<Value>) {
        let holds = self.operate(condition, operands);
        let guard = self.builder.guard(holds.into());
        self.push(guard);
        self.is_since_guard = true;
    }

    /// A branch depended on no value of the program. It is marked once after a guard: what decided it may be the path
    /// that the guards describe, as with a counter.
    pub(super) fn own_branch(&mut self) {
        let is_since_guard = std::mem::replace(&mut self.is_since_guard, false);
        if is_since_guard {
            let mark = self.builder.mark(Mark::OwnBranch, Vec::new());
            self.push(mark);
        }
    }

    pub(super) fn read(&mut self, target: Member, on: Option<Value>, found: Value) {
        let read = self.builder.read(target, on, found);
        self.push(read);
    }

    pub(super) fn write(&mut self, target: Member, on: Option<Value>, value: Value) {
        let write = self.builder.write(target, on, value);
        self.push(write);
    }

    /// The driver throws an exception by itself.
    pub(super) fn raise(&mut self, thrown: Value) {
        let raise = self.builder.raise(thrown);
        self.push(raise);
    }

    /// The test is to end with an exception of a class.
    pub(super) fn expect(&mut self, class: &str) {
        let class = self.class(class);
        let expect = self.builder.expect(Expectation::Whole(class));
        self.push(expect);
    }

    /// The next call returned, and the driver would have noted an exception of it.
    pub(super) fn ready_for(&mut self, class: &str) {
        let class = self.class(class);
        let expect = self.builder.expect(Expectation::Next(class));
        self.push(expect);
    }

    /// A call returned and should have thrown: from now on its end is an exception of the class, which is
    /// null where nothing is thrown.
    pub(super) fn expected(&mut self, call: usize, class: &str) -> Option<Variable> {
        let expected = self.variable(class);
        self.statements.get_mut(call)?.end = StatementEnd::Threw(expected.into());
        Some(expected)
    }

    /// A variable holds an object that has another name.
    pub(super) fn same(&mut self, alias: Variable, object: Value) {
        let same = self.builder.mark(Mark::Same, vec![alias.into(), object]);
        self.push(same);
    }

    /// An exception that a call ended with left the driver.
    pub(super) fn left(&mut self, thrown: Value) {
        let left = self.builder.mark(Mark::Left, vec![thrown]);
        self.push(left);
    }

    /// Something outside begins to run a method of the driver; the number of the next statement.
    pub(super) fn begin_scene(&mut self) -> usize {
        if self.scenes.is_quiet() && self.statements.len() > MANY_STATEMENTS {
            let (statements, scenes) = (&self.statements, &self.scenes);
            let initialises = |number: usize| scenes.initialises(number);
            let mut shared = concern_shared(statements, self.builder.tables(), &initialises);
            if shared.iter().filter(|is_shared| **is_shared).count() > FEWER_STATEMENTS {
                shared.fill(false);
            }
            let stays = |number: usize| shared[number];
            let kept = self.scenes.forget(shared.len(), FEWER_STATEMENTS, &stays);
            let mut kept = kept.into_iter();
            self.statements.retain(|_| kept.next() != Some(false));
            let is_full = self.statements.len() >= MOST_STATEMENTS;
            IS_FULL.store(is_full, Ordering::Relaxed);
        }
        self.scenes.begin();
        self.statements.len()
    }

    /// It ended: in a way that makes it worth nothing later, or not.
    pub(super) fn end_scene(&mut self, from: usize, end: SceneEnd) {
        let statements = from..self.statements.len();
        self.scenes.end(match end {
            SceneEnd::Over => Some(statements),
            SceneEnd::Telling => None,
        });
    }

    /// A class was initialised by the statements from one on.
    pub(super) fn initialised(&mut self, from: usize) {
        self.scenes.last(from..self.statements.len());
    }

    /// The number of statements.
    pub(super) fn length(&self) -> usize {
        self.statements.len()
    }

    /// Takes back the statements from one on.
    pub(super) fn forget_from(&mut self, statement: usize) {
        self.statements.truncate(statement);
    }

    /// Whether a method belongs to the program, or the object does that it is called on.
    pub(super) fn is_into_program(&self, target: &Member, on: Option<&Value>) -> bool {
        let class = match on {
            Some(Value::Reference(Reference::Object { class, .. })) => {
                self.builder.tables().class(*class)
            }
            _ => None,
        };
        may_be_expected_to_throw(target)
            && (is_program(&target.owner) || class.is_some_and(|class| is_program(&class.name)))
    }

    /// The calls into the program among the statements from one on.
    pub(super) fn calls_since(&self, from: usize) -> Vec<usize> {
        let statements = self.statements.iter().enumerate().skip(from);
        let calls = statements.filter(|(_, statement)| self.is_into(statement));
        calls.map(|(number, _)| number).collect()
    }

    fn is_into(&self, statement: &Statement) -> bool {
        let Action::Call(call) = &statement.action else {
            return false;
        };
        self.builder.tables().site(call.site).is_some_and(|site| {
            let on = statement.given.first().filter(|_| site.has_receiver());
            self.is_into_program(&site.target, on)
        })
    }

    /// The last call among the statements from one on that may throw what a test expects: one into the
    /// program, or else any.
    pub(super) fn last_call_since(&self, from: usize) -> Option<usize> {
        let any = |statement: &Statement| self.may_throw(statement);
        let statements = self.statements.get(from..)?;
        let last = statements.iter().rposition(|it| self.is_into(it));
        last.or_else(|| statements.iter().rposition(any))
            .map(|at| from + at)
    }

    /// Whether a test may state of a statement that it throws.
    fn may_throw(&self, statement: &Statement) -> bool {
        let Action::Call(call) = &statement.action else {
            return false;
        };
        let site = self.builder.tables().site(call.site);
        site.is_some_and(|site| may_be_expected_to_throw(&site.target))
    }

    /// Whether the driver took a branch behind a statement because of some answer.
    pub(super) fn has_condition_behind(&self, statement: usize) -> bool {
        let rest = self.statements.get(statement..).unwrap_or_default();
        rest.iter().any(Statement::is_guard)
    }

    /// The exception that a call ended with.
    pub(super) fn thrown_by(&self, call: usize) -> Option<ObjectId> {
        self.statements.get(call)?.catches()
    }

    /// The call that threw an exception may throw these as well: the driver is ready for them.
    pub(super) fn tolerate(&mut self, thrown: ObjectId, class: &str) {
        if self.thrown.contains(&thrown) {
            let class = self.class(class);
            self.tolerated.entry(thrown).or_insert(class);
        }
    }

    /// What is tolerated in place of an exception may come from any call of the test: it is stated before a failing assertion, too.
    pub(super) fn tolerate_throughout(&mut self, thrown: ObjectId) {
        self.throughout.insert(thrown);
    }

    /// Calls that returned may throw these as well, as far as the driver is concerned.
    pub(super) fn ready_at(&mut self, calls: impl IntoIterator<Item = usize>, class: &str) {
        let class = self.class(class);
        self.ready
            .extend(calls.into_iter().map(|call| (call, class)));
    }

    /// The script, with the tolerated exceptions stated before the calls. The writer is empty afterwards.
    pub(super) fn take(&mut self) -> Script {
        let mut statements = Vec::with_capacity(self.statements.len());
        let ready = std::mem::take(&mut self.ready);
        for (number, statement) in std::mem::take(&mut self.statements).into_iter().enumerate() {
            if let Some(class) = ready.get(&number) {
                statements.push(self.builder.expect(Expectation::Next(*class)));
            }
            let class = statement
                .catches()
                .and_then(|thrown| self.tolerated.get(&thrown).copied());
            let may_throw = self.may_throw(&statement);
            // The exception would not be that of an operator, but of the call before it.
            let is_operator = statement.operation().is_some() && !statement.is_raise();
            if let Some(class) = class.filter(|_| is_operator) {
                let Some(call) = statements.iter().rposition(|call| self.may_throw(call)) else {
                    continue;
                };
                statements.insert(call, self.builder.expect(Expectation::Next(class)));
            }
            let thrown = statement.catches();
            let is_throughout = thrown.is_some_and(|thrown| self.throughout.contains(&thrown));
            let is_stated = may_throw || is_throughout && !is_operator;
            if let Some(class) = class.filter(|_| is_stated) {
                statements.push(self.builder.expect(Expectation::Next(class)));
            }
            statements.push(statement);
        }
        std::mem::take(&mut self.builder).script(statements)
    }
}

/// Whether a test may state of a call that it throws: not of its own assertions and output.
pub(super) fn may_be_expected_to_throw(target: &Member) -> bool {
    let owner = target.owner.as_str();
    !is_assertion(owner) && owner != "java/io/PrintStream"
}

impl From<Variable> for Value {
    fn from(variable: Variable) -> Value {
        Value::Reference(Reference::Object {
            id: variable.id,
            class: variable.class,
        })
    }
}
