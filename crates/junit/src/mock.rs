//! The source of stand-ins for objects of final classes: mocks of the library with which the program's own tests mock them.

use culprit_classfile::access as flags;
use culprit_model::ObjectId;
use culprit_model::owner::MOCKS;
use culprit_model::value::Shape;

use crate::answers::{Method, parameter_names};
use crate::bodies::{ITSELF, Row};
use crate::error::Error;
use crate::scope::{Scope, Variable};
use crate::stand_in::Base;
use crate::types::{Type, parameters};

/// The most answers of one method that are written one after the other.
const MOST_ANSWERS: usize = 50;

impl Scope<'_> {
    /// Lines that give the variable a mock with the recorded answers; the first one starts with `start`.
    pub(crate) fn mock(
        &self,
        id: ObjectId,
        variable: &Variable,
        start: &str,
        base: &Base,
        methods: &[Method<'_>],
    ) -> Result<Vec<String>, Error> {
        let refused = || Error::NoStandIn {
            class: base.class.replace('/', "."),
        };
        let class = self.imports.class(&base.class);
        let library = self.imports.class(MOCKS);
        let mut lines = vec![format!("{start}{library}.mock({class}.class);")];
        for method in methods.iter().filter(|method| !method.asked.is_empty()) {
            let name = &method.facts.name;
            let found = self
                .access
                .hierarchy
                .method(&base.class, name, &method.facts.descriptor);
            let found = found.ok_or_else(refused)?;
            if !self.access.calls(&found.class, &found.method) {
                return Err(refused());
            }
            let mut names = self.names.borrow().clone();
            let rows = self.bodies(id, method, &parameter_names(method, &mut names))?;
            let count = rows.last().map_or(0, |row| row.until);
            // A mock does nothing of its own accord.
            if rows.iter().all(|row| row.body.is_empty()) {
                continue;
            }
            if count > MOST_ANSWERS {
                return Err(refused());
            }
            let mut answers = Vec::new();
            for row in &rows {
                let answer = self.mocked_answer(row, method, variable);
                let answer = answer.ok_or_else(refused)?;
                answers.extend(std::iter::repeat_n(answer, row.until - answers.len()));
            }
            // The last answer is repeated.
            while answers.len() > 1 && answers[answers.len() - 1] == answers[answers.len() - 2] {
                answers.pop();
            }
            self.calls(Some(&found));
            let is_alone = self.is_only_one(&base.class, method);
            let wanted = parameters(&method.facts.descriptor);
            let arguments: Vec<String> = wanted
                .iter()
                .map(|of| self.any(of, is_alone, method.facts.is(flags::VARARGS)))
                .collect();
            lines.push(format!(
                "{library}.{}.when({}).{name}({});",
                answers.join("."),
                variable.name,
                arguments.join(", ")
            ));
        }
        Ok(lines)
    }

    /// The call that has a mock give an answer, if it is one that the library can give.
    fn mocked_answer(&self, row: &Row, method: &Method<'_>, variable: &Variable) -> Option<String> {
        let line = match row.body.as_slice() {
            [] => return Some("doNothing()".to_owned()),
            [line] => line.strip_suffix(';')?,
            _ => return None,
        };
        if format!("{line};") == ITSELF {
            return Some(format!("doReturn({})", variable.name));
        }
        if let Some(thrown) = line.strip_prefix("throw ") {
            return Some(format!("doThrow({thrown})"));
        }
        let value = line.strip_prefix("return ")?;
        // The answer is boxed as it is: the type of a literal must be that of the method.
        let cast = match &method.profile.result {
            Some(Type::Primitive(Shape::Int | Shape::Boolean)) => String::new(),
            Some(Type::Primitive(shape)) => format!("({}) ", shape.class_name()),
            _ => String::new(),
        };
        Some(format!("doReturn({cast}{value})"))
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
    fn any(&self, of: &Type, is_alone: bool, is_variable: bool) -> String {
        let library = self.imports.class(MOCKS);
        let name = || self.imports.name(of);
        match of {
            Type::Primitive(shape) => {
                let name = shape.class_name();
                let (first, rest) = name.split_at(1);
                format!("{library}.any{}{rest}()", first.to_uppercase())
            }
            Type::Array(_) if is_variable => format!("{library}.any({}.class)", name()),
            _ if is_alone => format!("{library}.any()"),
            _ => format!("({}) {library}.any()", name()),
        }
    }
}
