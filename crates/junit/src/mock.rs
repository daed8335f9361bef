//! Stand-ins for objects of final classes: mocks of the library with which the program's own tests mock them.

use culprit_classfile::access as flags;
use culprit_model::owner::MOCKS;
use culprit_model::value::Shape;
use culprit_model::{Member, ObjectId};

use crate::answers::{Method, parameter_names};
use crate::bodies::Row;
use crate::code::{Code, Line, Target};
use crate::error::Error;
use crate::expr::Expr;
use crate::scope::{Scope, Variable};
use crate::stand_in::Base;
use crate::types::{Type, parameters};

/// The most answers of one method that are written one after the other.
const MOST_ANSWERS: usize = 50;

/// The class of the library that takes answers before it is told the method.
const STUBBER: &str = "org/mockito/stubbing/Stubber";

/// An answer that the library gives.
#[derive(Clone, PartialEq)]
enum MockAnswer {
    Nothing,
    Value(Expr),
    Exception(Expr),
}

impl Scope<'_> {
    /// Statements that give the variable a mock with the recorded answers.
    pub(crate) fn mock(
        &self,
        id: ObjectId,
        variable: &Variable,
        base: &Base,
        methods: &[Method<'_>],
    ) -> Result<Vec<Line>, Error> {
        let refused = || Error::NoStandIn {
            class: base.class.replace('/', "."),
        };
        let of = Type::class(&base.class);
        let class = self.class_value(&of);
        let made = self.of_library("mock", vec![class], of.clone());
        let mut lines = vec![self.started(variable, made, false)];
        let mock = Expr::name(variable.name.clone(), of);
        for method in methods.iter().filter(|method| !method.asked.is_empty()) {
            let name = &method.facts.name;
            let descriptor = &method.facts.descriptor;
            let found = self.access.hierarchy.method(&base.class, name, descriptor);
            let found = found.ok_or_else(refused)?;
            if !self.access.calls(&found.class, &found.method) {
                return Err(refused());
            }
            let mut names = self.names.borrow().clone();
            let rows = self.bodies(id, method, &parameter_names(method, &mut names))?;
            // A mock does nothing of its own accord.
            if rows.iter().all(|row| row.body.is_empty()) {
                continue;
            }
            let answers = self.mock_answers(&rows, method, &mock);
            let answers = answers.ok_or_else(refused)?;
            self.calls(Some(&found));
            let is_alone = self.is_only_one(&base.class, method);
            let is_variable = method.facts.is(flags::VARARGS);
            let wanted = parameters(descriptor);
            let arguments = wanted.iter().map(|of| self.any(of, is_alone, is_variable));
            let arguments: Vec<Expr> = arguments.collect();
            let stubbed = self.stubbed(answers, &mock);
            let member = Member {
                owner: base.class.clone(),
                name: name.clone(),
                descriptor: descriptor.clone(),
            };
            let target = Target::Object(Box::new(stubbed));
            lines.push(Line::Do(Expr::call(target, &member, arguments, Type::Null)));
        }
        Ok(lines)
    }

    /// The answers of a method one after the other; the library repeats the last one.
    fn mock_answers(
        &self,
        rows: &[Row],
        method: &Method<'_>,
        mock: &Expr,
    ) -> Option<Vec<MockAnswer>> {
        let count = rows.last().map_or(0, |row| row.until);
        if count > MOST_ANSWERS {
            return None;
        }
        let mut answers = Vec::new();
        for row in rows {
            let answer = self.mock_answer(row, method, mock)?;
            answers.extend(std::iter::repeat_n(answer, row.until - answers.len()));
        }
        while answers.len() > 1 && answers[answers.len() - 1] == answers[answers.len() - 2] {
            answers.pop();
        }
        Some(answers)
    }

    /// The answer of a row, if it is one that the library can give.
    fn mock_answer(&self, row: &Row, method: &Method<'_>, mock: &Expr) -> Option<MockAnswer> {
        let value = match row.body.as_slice() {
            [] => return Some(MockAnswer::Nothing),
            [Line::Return(Some(value))] => value,
            [Line::Do(done)] => match &done.code {
                Code::Throw(thrown) => return Some(MockAnswer::Exception((**thrown).clone())),
                _ => return None,
            },
            _ => return None,
        };
        if value.code == Code::This {
            return Some(MockAnswer::Value(mock.clone()));
        }
        // The answer is boxed as it is: the type of a literal must be that of the method.
        Some(MockAnswer::Value(match &method.profile.result {
            Some(of @ Type::Primitive(shape)) if !matches!(shape, Shape::Int | Shape::Boolean) => {
                self.cast(value, of)
            }
            _ => value.clone(),
        }))
    }

    /// The answers and the mock that gives them, to be followed by the method.
    fn stubbed(&self, answers: Vec<MockAnswer>, mock: &Expr) -> Expr {
        let of = Type::class(STUBBER);
        let mut stubbed = None;
        for answer in answers {
            let (name, given) = match answer {
                MockAnswer::Nothing => ("doNothing", Vec::new()),
                MockAnswer::Value(value) => ("doReturn", vec![value]),
                MockAnswer::Exception(thrown) => ("doThrow", vec![thrown]),
            };
            stubbed = Some(match stubbed {
                None => self.of_library(name, given, of.clone()),
                Some(earlier) => on_stubber(earlier, name, given, of.clone()),
            });
        }
        let stubbed = stubbed.unwrap_or_else(|| self.of_library("doNothing", Vec::new(), of));
        on_stubber(stubbed, "when", vec![mock.clone()], mock.of.clone())
    }

    /// True if no other method of the class has the same name and as many parameters.
    fn is_only_one(&self, class: &str, method: &Method<'_>) -> bool {
        let wanted = parameters(&method.facts.descriptor);
        let all = self.access.hierarchy.methods(class, &method.facts.name);
        all.iter().all(|found| {
            let other = parameters(&found.method.descriptor);
            other.len() != wanted.len() || other == wanted
        })
    }

    /// An argument that stands for any.
    fn any(&self, of: &Type, is_alone: bool, is_variable: bool) -> Expr {
        match of {
            Type::Primitive(shape) => {
                let name = shape.class_name();
                let (first, rest) = name.split_at(1);
                let name = format!("any{}{rest}", first.to_uppercase());
                self.of_library(&name, Vec::new(), of.clone())
            }
            Type::Array(_) if is_variable => {
                self.of_library("any", vec![self.class_value(of)], of.clone())
            }
            _ => {
                let any = self.of_library("any", Vec::new(), Type::object());
                if is_alone { any } else { self.cast(&any, of) }
            }
        }
    }

    /// A static method of the library.
    fn of_library(&self, name: &str, given: Vec<Expr>, of: Type) -> Expr {
        let member = member(MOCKS, name, given.len());
        let library = Target::Class(self.named_class(MOCKS));
        Expr::call(library, &member, given, of)
    }

    fn class_value(&self, of: &Type) -> Expr {
        Expr::new(Code::Class(self.named(of)), Type::class("java/lang/Class"))
    }
}

fn on_stubber(stubber: Expr, name: &str, given: Vec<Expr>, of: Type) -> Expr {
    let member = member(STUBBER, name, given.len());
    Expr::call(Target::Object(Box::new(stubber)), &member, given, of)
}

/// A method of the library that takes objects.
fn member(owner: &str, name: &str, given: usize) -> Member {
    let parameters = "Ljava/lang/Object;".repeat(given);
    Member {
        owner: owner.to_owned(),
        name: name.to_owned(),
        descriptor: format!("({parameters})Ljava/lang/Object;"),
    }
}
