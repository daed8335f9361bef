//! Statements: calls, accesses of fields, operators, lambdas, guards and expectations.

use super::lambda::Lambda;
use super::operator::{Effect, Operation, Operator};
use crate::{ObjectId, Reference, SiteId, Tables, TypeId, Value};

/// One statement: its action, the values it is given, and how it ended.
#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    pub action: Action,
    /// For a call or access the receiver, if there is one, then the arguments or the written value; for an
    /// operator the operands; for a lambda the captured values, boxed; for a guard the condition.
    pub given: Vec<Value>,
    pub end: StatementEnd,
    /// A second name of the result, which is an object that had one before.
    pub alias: Option<ObjectId>,
    /// The given values that the driver used by such a name.
    pub by_alias: Vec<ByAlias>,
}

/// A place among the given values, and the name that the driver used there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ByAlias {
    pub place: usize,
    pub alias: ObjectId,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// A method or constructor is called.
    Call(Call),
    /// A field is read.
    Read(SiteId),
    /// A field is written.
    Write(SiteId),
    /// An operator of Java.
    Operate(Operation),
    /// A lambda or method reference.
    Lambda(Lambda),
    /// The script continues only if the given boolean is true; otherwise it has passed.
    Guard,
    /// An exception that is not a failure. Does nothing by itself.
    Expect(Expectation),
    /// A note of the follower for the makers of scripts. Does nothing, and no script that runs has one.
    Mark(Mark),
    /// A variable of a loop, in a script that is printed.
    Loop(LoopVariable),
}

/// A call, and what stand-ins were asked while it ran, in order.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    pub site: SiteId,
    pub answers: Vec<Answer>,
}

/// A question of the program to an object that no statement makes, and its answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    pub site: SiteId,
    /// The receiver, if there is one, then the arguments.
    pub asked: Vec<Value>,
    pub end: StatementEnd,
    /// Arrays among the arguments, as the answer left them.
    pub filled: Vec<Value>,
}

/// A value that a statement has from the script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// Among the given values.
    Given(usize),
    /// What a stand-in answers to this question.
    Answer(usize),
    /// An array, as the answer leaves it.
    Filled { answer: usize, array: usize },
}

/// How a call ended.
#[derive(Clone, PartialEq, Debug)]
pub enum StatementEnd {
    /// With a result, by name where a later statement is given it.
    Returned(Option<Value>),
    /// With an exception. Where a statement was expected to throw and does not, the name holds null.
    Threw(Value),
    /// Nobody saw it end; only recorded calls have this.
    Open,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expectation {
    /// The test ends with this exception (`@Test(expected = ...)`); the next statement fails otherwise.
    Whole(TypeId),
    /// The next call may throw this instead.
    Next(TypeId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The first given name is another one of the second.
    Same,
    /// The given exception left the driver.
    Left,
    /// After a guard, the driver branched on values that it computed without the program.
    OwnBranch,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopVariable {
    /// Declared before a loop, with the given value at first.
    Start(TypeId),
    /// Another value in each round.
    Each(TypeId),
}

impl Statement {
    pub fn new(action: Action, given: Vec<Value>, end: StatementEnd) -> Statement {
        Statement {
            action,
            given,
            end,
            alias: None,
            by_alias: Vec::new(),
        }
    }

    /// The site of a call or access.
    pub fn site(&self) -> Option<SiteId> {
        match &self.action {
            Action::Call(call) => Some(call.site),
            Action::Read(site) | Action::Write(site) => Some(*site),
            _ => None,
        }
    }

    pub fn operation(&self) -> Option<Operation> {
        match self.action {
            Action::Operate(operation) => Some(operation),
            _ => None,
        }
    }

    pub fn operator(&self) -> Option<Operator> {
        self.operation().map(|operation| operation.operator)
    }

    pub fn lambda(&self) -> Option<&Lambda> {
        match &self.action {
            Action::Lambda(lambda) => Some(lambda),
            _ => None,
        }
    }

    pub fn is_guard(&self) -> bool {
        self.action == Action::Guard
    }

    pub fn is_raise(&self) -> bool {
        self.operator() == Some(Operator::Raise)
    }

    /// It states the exception of the whole script.
    pub fn is_expectation(&self) -> bool {
        matches!(self.action, Action::Expect(Expectation::Whole(_)))
    }

    /// It states an exception that the next call may throw.
    pub fn is_tolerance(&self) -> bool {
        matches!(self.action, Action::Expect(Expectation::Next(_)))
    }

    /// It has no effect but its result.
    pub fn is_pure(&self) -> bool {
        match &self.action {
            Action::Operate(operation) => operation.operator.effect() == Effect::Pure,
            Action::Lambda(_) | Action::Loop(_) => true,
            _ => false,
        }
    }

    /// The answers of stand-ins within a call.
    pub fn answers(&self) -> &[Answer] {
        match &self.action {
            Action::Call(call) => &call.answers,
            _ => &[],
        }
    }

    /// The object it calls or accesses something of.
    pub fn receiver(&self, tables: &Tables) -> Option<ObjectId> {
        match self.given.first()? {
            Value::Reference(Reference::Object { id, .. })
                if tables.site(self.site()?)?.has_receiver() =>
            {
                Some(*id)
            }
            _ => None,
        }
    }

    /// The objects it is given.
    pub fn uses(&self) -> Vec<ObjectId> {
        let mut found = Vec::new();
        for value in &self.given {
            value.each_reference(&mut |reference| {
                if let Reference::Object { id, .. } = reference {
                    found.push(*id);
                }
            });
        }
        found
    }

    /// The value it returns.
    pub fn result(&self) -> Option<&Value> {
        match &self.end {
            StatementEnd::Returned(result) => result.as_ref(),
            StatementEnd::Threw(_) | StatementEnd::Open => None,
        }
    }

    /// The object it returns.
    pub fn defines(&self) -> Option<ObjectId> {
        self.result()?.identity()
    }

    /// The exception it ends with.
    pub fn thrown(&self) -> Option<&Value> {
        match &self.end {
            StatementEnd::Threw(thrown) => Some(thrown),
            StatementEnd::Returned(_) | StatementEnd::Open => None,
        }
    }

    /// The name of the exception it ends with, which later statements may use.
    pub fn catches(&self) -> Option<ObjectId> {
        match self.thrown()? {
            Value::Reference(Reference::Object { id, .. }) => Some(*id),
            _ => None,
        }
    }

    /// Every object it uses or makes.
    pub fn objects(&self) -> Vec<ObjectId> {
        let mut found = self.uses();
        found.extend(self.defines());
        found.extend(self.catches());
        for value in &self.given {
            value.each_reference(&mut |reference| {
                if let Reference::Array { id, .. } = reference {
                    found.push(*id);
                }
            });
        }
        found
    }

    /// Every value in it: given, asked, answered, filled, returned, thrown.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let answers = self.answers().iter().flat_map(|answer| {
            let asked = answer.asked.iter().chain(&answer.filled);
            asked.chain(answer.end.value())
        });
        self.given.iter().chain(answers).chain(self.end.value())
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let answers: &mut [Answer] = match &mut self.action {
            Action::Call(call) => &mut call.answers,
            _ => &mut [],
        };
        let answers = answers.iter_mut().flat_map(|answer| {
            let asked = answer.asked.iter_mut().chain(&mut answer.filled);
            asked.chain(answer.end.value_mut())
        });
        let given = self.given.iter_mut();
        given.chain(answers).chain(self.end.value_mut())
    }

    /// The values with the input that each is, if it comes from the script and not from the program.
    pub fn each_value(&self) -> impl Iterator<Item = (Option<Input>, &Value)> {
        let given = self.given.iter().enumerate();
        let given = given.map(|(place, value)| (Some(Input::Given(place)), value));
        let answers = self.answers().iter().enumerate();
        let answers = answers.flat_map(|(answer, it)| {
            let asked = it.asked.iter().map(|value| (None, value));
            let filled = it.filled.iter().enumerate();
            let filled =
                filled.map(move |(array, value)| (Some(Input::Filled { answer, array }), value));
            let end = it.end.value().into_iter();
            let end = end.map(move |value| (Some(Input::Answer(answer)), value));
            asked.chain(filled).chain(end)
        });
        let end = self.end.value().into_iter().map(|value| (None, value));
        given.chain(answers).chain(end)
    }

    /// The values that come from the script.
    pub fn inputs(&self) -> impl Iterator<Item = (Input, &Value)> {
        self.each_value()
            .filter_map(|(input, value)| Some((input?, value)))
    }

    pub fn input(&self, input: Input) -> Option<&Value> {
        match input {
            Input::Given(place) => self.given.get(place),
            Input::Answer(answer) => self.answers().get(answer)?.end.value(),
            Input::Filled { answer, array } => self.answers().get(answer)?.filled.get(array),
        }
    }

    pub fn input_mut(&mut self, input: Input) -> Option<&mut Value> {
        match (input, &mut self.action) {
            (Input::Given(place), _) => self.given.get_mut(place),
            (Input::Answer(answer), Action::Call(call)) => {
                call.answers.get_mut(answer)?.end.value_mut()
            }
            (Input::Filled { answer, array }, Action::Call(call)) => {
                call.answers.get_mut(answer)?.filled.get_mut(array)
            }
            _ => None,
        }
    }

    /// The classes it names besides those of its values.
    pub fn classes(&self) -> Vec<TypeId> {
        match &self.action {
            Action::Lambda(lambda) => {
                vec![lambda.body_class, lambda.written_in, lambda.interface]
            }
            Action::Expect(Expectation::Whole(class) | Expectation::Next(class))
            | Action::Loop(LoopVariable::Start(class) | LoopVariable::Each(class)) => vec![*class],
            _ => Vec::new(),
        }
    }
}

impl StatementEnd {
    /// The value that was returned or thrown.
    pub fn value(&self) -> Option<&Value> {
        match self {
            StatementEnd::Returned(value) => value.as_ref(),
            StatementEnd::Threw(value) => Some(value),
            StatementEnd::Open => None,
        }
    }

    pub fn value_mut(&mut self) -> Option<&mut Value> {
        match self {
            StatementEnd::Returned(value) => value.as_mut(),
            StatementEnd::Threw(value) => Some(value),
            StatementEnd::Open => None,
        }
    }
}
