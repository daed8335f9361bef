//! The code of a stand-in's methods: the answers in recorded order, the last one from then on.

use culprit_model::ObjectId;
use culprit_model::script::StatementEnd;
use culprit_model::{Reference, Value};

use crate::answers::Method;
use crate::error::Error;
use crate::expr::Expr;
use crate::graph::Question;
use crate::names::NameGenerator;
use crate::scope::Scope;
use crate::types::{Type, default_value};

/// The answer that only a class can give.
pub(crate) const ITSELF: &str = "return this;";

/// Rows of answers from which on they are listed in an array.
const LISTED: usize = 3;

/// Equal answers to questions that follow each other.
pub(crate) struct Row {
    /// Questions up to the last one of the row.
    pub(crate) until: usize,
    /// Statements, without indentation.
    pub(crate) body: Vec<String>,
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
            let body = value.map(|value| format!("return {};", value.text));
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
    ) -> Result<Vec<String>, Error> {
        let mut lines = Vec::new();
        for (place, id) in &asked.captured {
            let (Some(variable), Some(name)) = (self.variables.get(id), names.get(*place)) else {
                continue;
            };
            let of = method.profile.parameters.get(*place);
            let value = Expr::new(name.clone(), of.cloned().unwrap_or_else(Type::object));
            let value = self.fit(value, &variable.of);
            let value = value.ok_or(Error::Unknown {
                statement: asked.place.statement,
            })?;
            lines.push(format!("{} = {};", variable.name, value.text));
        }
        for (place, array) in &asked.filled {
            let Value::Reference(Reference::Array { length, .. }) = array else {
                continue;
            };
            let (of, text) = self.array(array, asked.place.statement)?;
            let text = if text.starts_with('{') {
                format!("new {} {text}", self.imports.name(&of))
            } else {
                text
            };
            let name = names.get(*place).ok_or(Error::Values {
                statement: asked.place.statement,
            })?;
            let system = self.imports.class("java/lang/System");
            lines.push(format!(
                "{system}.arraycopy({text}, 0, {name}, 0, {length});"
            ));
        }
        match asked.answer {
            StatementEnd::Returned(None) | StatementEnd::Open => {}
            StatementEnd::Returned(Some(value)) if value.identity() == Some(id) => {
                lines.push(ITSELF.to_owned());
            }
            StatementEnd::Returned(Some(value)) => {
                let of = method.profile.result.clone().unwrap_or_else(Type::object);
                let value = self.value(value, asked.place.statement)?;
                let value = self.fit(value, &of).ok_or(Error::Unknown {
                    statement: asked.place.statement,
                })?;
                lines.push(format!("return {};", value.text));
            }
            StatementEnd::Threw(value) => {
                lines.push(self.throw(value, method, asked.place.statement)?)
            }
        }
        Ok(lines)
    }

    fn throw(&self, value: &Value, method: &Method<'_>, statement: usize) -> Result<String, Error> {
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
        Ok(if declared {
            format!("throw {};", exception.text)
        } else {
            format!("{};", self.sneak(&exception.text))
        })
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
        fields: &mut Vec<String>,
    ) -> Vec<String> {
        let Some((last, earlier)) = rows.split_last() else {
            return Vec::new();
        };
        if earlier.is_empty() {
            return last.body.clone();
        }
        let name = &method.facts.name;
        let calls = members.give(&format!("{name}Calls"));
        if let Some(values) = listed(rows) {
            let of = method.profile.result.clone().unwrap_or_else(Type::object);
            let answers = members.give(&format!("{name}Answers"));
            let of = self.imports.name(&of);
            fields.push(format!(
                "    private final {of}[] {answers} = {{{}}};",
                values.join(", ")
            ));
            fields.push(format!("    private int {calls};"));
            let math = self.imports.class("java/lang/Math");
            return vec![format!(
                "return {answers}[{math}.min({calls}++, {answers}.length - 1)];"
            )];
        }
        fields.push(format!("    private int {calls};"));
        let mut lines = vec![format!("{calls}++;")];
        for row in earlier {
            let condition = if row.until == 1 {
                format!("{calls} == 1")
            } else {
                format!("{calls} <= {}", row.until)
            };
            lines.push(format!("if ({condition}) {{"));
            lines.extend(row.body.iter().map(|line| format!("    {line}")));
            // A method that returns nothing goes on otherwise.
            let ends = row
                .body
                .last()
                .is_some_and(|line| line.starts_with("return") || line.starts_with("throw"));
            if !ends {
                lines.push("    return;".to_owned());
            }
            lines.push("}".to_owned());
        }
        lines.extend(last.body.iter().cloned());
        lines
    }
}

/// The values of answers that are nothing but values, where there are many.
fn listed(rows: &[Row]) -> Option<Vec<&str>> {
    if rows.len() < LISTED {
        return None;
    }
    let mut values = Vec::new();
    let mut from = 0;
    for row in rows {
        let [line] = row.body.as_slice() else {
            return None;
        };
        let value = line.strip_prefix("return ")?.strip_suffix(';')?;
        if line == ITSELF {
            return None;
        }
        values.extend(std::iter::repeat_n(value, row.until - from));
        from = row.until;
    }
    Some(values)
}
