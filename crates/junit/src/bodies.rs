//! The code of a stand-in's methods: the answers in recorded order, the last one from then on.

use culprit_model::ObjectId;
use culprit_model::script::StatementEnd;
use culprit_model::{Reference, Value};

use crate::answers::Method;
use crate::code::{Answers, Code, Line, StandInField};
use crate::error::Error;
use crate::expr::Expr;
use crate::graph::Question;
use crate::names::NameGenerator;
use crate::scope::Scope;
use crate::types::{Type, default_value};

/// Rows of answers from which on they are listed in an array.
const LISTED: usize = 3;

/// Equal answers to questions that follow each other.
pub(crate) struct Row {
    /// Questions up to the last one of the row.
    pub(crate) until: usize,
    pub(crate) body: Vec<Line>,
}

/// The answer that only a class can give.
pub(crate) fn is_itself(line: &Line) -> bool {
    matches!(line, Line::Return(Some(value)) if value.code == Code::This)
}

impl Scope<'_> {
    /// The answers of a method, in rows.
    pub(crate) fn bodies(
        &self,
        id: ObjectId,
        method: &Method<'_>,
        names: &[String],
    ) -> Result<Vec<Row>, Error> {
        let mut rows: Vec<Row> = Vec::new();
        for (place, asked) in method.asked.iter().enumerate() {
            let body = self.body(id, method, asked, names)?;
            match rows.last_mut() {
                Some(last) if last.body == body => last.until = place + 1,
                _ => rows.push(Row {
                    until: place + 1,
                    body,
                }),
            }
        }
        if rows.is_empty() {
            let value = method
                .profile
                .result
                .as_ref()
                .map(|of| self.value(&default_value(of), 0))
                .transpose()?;
            let body = value.map(|value| Line::Return(Some(value)));
            rows.push(Row {
                until: 0,
                body: body.into_iter().collect(),
            });
        }
        Ok(rows)
    }

    fn body(
        &self,
        id: ObjectId,
        method: &Method<'_>,
        asked: &Question<'_>,
        names: &[String],
    ) -> Result<Vec<Line>, Error> {
        let mut lines = Vec::new();
        for (place, id) in &asked.captured {
            let (Some(variable), Some(name)) = (self.variables.get(id), names.get(*place)) else {
                continue;
            };
            let of = method.profile.parameters.get(*place);
            let value = Expr::name(name, of.cloned().unwrap_or_else(Type::object));
            let value = self.fit(value, &variable.of);
            let value = value.ok_or(Error::Unknown {
                statement: asked.place.statement,
            })?;
            lines.push(Line::Assign {
                name: variable.name.clone(),
                of: variable.of.clone(),
                value,
            });
        }
        for (place, array) in &asked.filled {
            let Value::Reference(Reference::Array { length, .. }) = array else {
                continue;
            };
            let from = self.array(array, asked.place.statement)?;
            let name = names.get(*place).ok_or(Error::Values {
                statement: asked.place.statement,
            })?;
            lines.push(Line::Fill {
                system: self.named_class("java/lang/System"),
                from,
                into: name.clone(),
                length: *length,
            });
        }
        match asked.answer {
            StatementEnd::Returned(None) | StatementEnd::Open => {}
            StatementEnd::Returned(Some(value)) if value.identity() == Some(id) => {
                let of = method.profile.result.clone().unwrap_or_else(Type::object);
                lines.push(Line::Return(Some(Expr::new(Code::This, of))));
            }
            StatementEnd::Returned(Some(value)) => {
                let of = method.profile.result.clone().unwrap_or_else(Type::object);
                let value = self.value(value, asked.place.statement)?;
                let value = self.fit(value, &of).ok_or(Error::Unknown {
                    statement: asked.place.statement,
                })?;
                lines.push(Line::Return(Some(value)));
            }
            StatementEnd::Threw(value) => {
                lines.push(self.throw(value, method, asked.place.statement)?)
            }
        }
        Ok(lines)
    }

    fn throw(&self, value: &Value, method: &Method<'_>, statement: usize) -> Result<Line, Error> {
        let exception = self.value(value, statement)?;
        let hierarchy = self.access.hierarchy;
        let class = exception.of.name().unwrap_or("java/lang/Throwable");
        let line = hierarchy.lineage(class);
        let declared = !hierarchy.is_checked(class)
            || method
                .facts
                .exceptions
                .iter()
                .any(|exception| line.contains(exception));
        let code = match declared {
            true => Code::Throw(Box::new(exception)),
            false => self.sneak(exception),
        };
        Ok(Line::Do(Expr::new(code, Type::Null)))
    }

    /// The exceptions that the method declares and its answers throw.
    pub(crate) fn thrown(&self, method: &Method<'_>) -> Vec<String> {
        let hierarchy = self.access.hierarchy;
        let classes = method.asked.iter().filter_map(|asked| match asked.answer {
            StatementEnd::Threw(value) => {
                let variable = value.identity().and_then(|id| self.variables.get(&id));
                variable.and_then(|variable| variable.of.name())
            }
            StatementEnd::Returned(_) | StatementEnd::Open => None,
        });
        let checked: Vec<&str> = classes
            .filter(|class| hierarchy.is_checked(class))
            .collect();
        method
            .facts
            .exceptions
            .iter()
            .filter(|exception| {
                checked
                    .iter()
                    .any(|class| hierarchy.lineage(class).contains(exception))
            })
            .map(|exception| self.imports.class(exception))
            .collect()
    }

    /// The code of a method; what it needs to count goes to the fields.
    pub(crate) fn sequence(
        &self,
        rows: &[Row],
        method: &Method<'_>,
        members: &mut NameGenerator,
        fields: &mut Vec<StandInField>,
    ) -> Answers {
        let Some((last, earlier)) = rows.split_last() else {
            return Answers::Same(Vec::new());
        };
        if earlier.is_empty() {
            return Answers::Same(last.body.clone());
        }
        let name = &method.facts.name;
        let calls = members.give(&format!("{name}Calls"));
        if let Some(values) = listed(rows) {
            let of = method.profile.result.clone().unwrap_or_else(Type::object);
            let answers = members.give(&format!("{name}Answers"));
            fields.push(StandInField::Answers(
                self.named(&of),
                answers.clone(),
                values,
            ));
            fields.push(StandInField::Calls(calls.clone()));
            return Answers::Listed {
                calls,
                answers,
                math: self.named_class("java/lang/Math"),
            };
        }
        fields.push(StandInField::Calls(calls.clone()));
        let earlier = earlier.iter().map(|row| (row.until, row.body.clone()));
        Answers::Counted {
            calls,
            earlier: earlier.collect(),
            last: last.body.clone(),
        }
    }
}

/// The values of answers that are nothing but values, where there are many.
fn listed(rows: &[Row]) -> Option<Vec<Expr>> {
    if rows.len() < LISTED {
        return None;
    }
    let mut values = Vec::new();
    let mut from = 0;
    for row in rows {
        let [Line::Return(Some(value))] = row.body.as_slice() else {
            return None;
        };
        if value.code == Code::This {
            return None;
        }
        values.extend(std::iter::repeat_n(value.clone(), row.until - from));
        from = row.until;
    }
    Some(values)
}
