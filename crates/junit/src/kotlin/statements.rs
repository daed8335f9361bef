//! Statements in Kotlin.

use super::type_names::TypeArguments;
use super::{Level, Text, Writer, Written, word};
use crate::code::{Code, Head, Line};
use crate::expr::Expr;
use crate::graph::Role;
use crate::types::Type;

impl Writer<'_> {
    /// The lines of statements. Those of a lambda are one line with breaks.
    pub(super) fn statements(&self, all: &[Line]) -> Written<Vec<String>> {
        let mut lines = Vec::new();
        for line in all {
            lines.extend(self.statement(line)?);
        }
        Ok(lines)
    }

    /// The lines of a statement.
    pub(super) fn statement(&self, line: &Line) -> Written<Vec<String>> {
        let one = match line {
            Line::Do(expr) => self.expression(expr)?.text,
            Line::Declare {
                of, name, value, ..
            } => self.declaration(&of.of, name, value)?,
            Line::Assign { name, of, value } => {
                let value = self.fitted(value, of)?;
                let is_nullable = self.nullable.borrow().contains(name);
                let value = match is_nullable || matches!(value.text.as_str(), "null") {
                    true => value,
                    false => value.present(),
                };
                format!("{} = {}", word(name), value.text)
            }
            Line::AssignBy { name, of, sign, by } => self.assigned_by(name, of, sign, by)?,
            Line::Increment(to) => format!("{}++", self.expression(to)?.text),
            Line::AssignElement {
                name,
                place,
                of,
                value,
            } => {
                let value = self.fitted(value, of)?.text;
                format!("{}[{place}] = {value}", word(name))
            }
            Line::Return(value) => {
                let label = self.labels.borrow().last().cloned().flatten();
                let label = label.map_or_else(String::new, |label| format!("@{label}"));
                match value {
                    Some(value) => format!("return{label} {}", self.expression(value)?.text),
                    None => format!("return{label}"),
                }
            }
            Line::Comment(text) => format!("// {text}"),
            Line::Fill {
                from, into, length, ..
            } => {
                let from = self.expression(from)?.text;
                format!("System.arraycopy({from}, 0, {}, 0, {length})", word(into))
            }
            Line::Check { .. } => return Err("a condition that is written in Java".to_owned()),
            Line::If { condition, yes, no } => return self.choice(condition, yes, no),
            Line::Try {
                body,
                caught,
                name,
                handler,
            } => {
                let mut lines = vec!["try {".to_owned()];
                lines.extend(indented(self.statements(body)?));
                let caught = self.type_name(&caught.of, TypeArguments::None);
                lines.push(format!("}} catch ({}: {caught}) {{", word(name)));
                lines.extend(indented(self.statements(handler)?));
                lines.push("}".to_owned());
                return Ok(lines);
            }
            Line::For(head, body) => {
                let mut lines = vec![format!("for ({}) {{", self.head(head)?)];
                lines.extend(indented(self.statements(body)?));
                lines.push("}".to_owned());
                return Ok(lines);
            }
            Line::StandIn(stand_in) => return self.stand_in(stand_in),
        };
        Ok(vec![one])
    }

    fn declaration(&self, of: &Type, name: &str, value: &Expr) -> Written<String> {
        let keyword = match self.assigned.contains(name) {
            true => "var",
            false => "val",
        };
        let value = match (self.construction_of(name, value), &value.code) {
            (Some(made), _) => made?,
            (None, Code::Lambda(parameters, body)) => {
                let count = of
                    .name()
                    .map_or(0, |class| self.type_variables(class).len());
                let arguments = self.wanted_arguments(name, count);
                self.lambda(&value.of, arguments.as_deref(), parameters, body)?
            }
            (None, _) => {
                let text = self.fitted(value, of)?;
                let signature = value.signature.as_deref();
                let known = signature.and_then(|it| self.signed_arguments(it));
                if let Some(known) = known {
                    self.generic.borrow_mut().insert(name.to_owned(), known);
                }
                text
            }
        };
        let value = match self.is_called_at_once(name)
            && value.text != "null"
            && value.level != Level::Cast
        {
            true => value.present(),
            false => value,
        };
        let Text {
            text, is_nullable, ..
        } = value;
        if is_nullable {
            self.nullable.borrow_mut().insert(name.to_owned());
        }
        let name = word(name);
        Ok(match text.as_str() {
            "null" => {
                let of = self.type_name(of, TypeArguments::Stars);
                format!("{keyword} {name}: {of}? = null")
            }
            _ => format!("{keyword} {name} = {text}"),
        })
    }

    /// The first use of a variable is a call of a method: it must be there.
    fn is_called_at_once(&self, name: &str) -> bool {
        let mut all = self.scope.variables.iter();
        let found = all.find(|(_, it)| it.name == name);
        let object = found.and_then(|(id, _)| self.scope.graph.objects.get(id));
        let first = object.and_then(|object| object.uses.first());
        first.is_some_and(|first| matches!(first.role, Role::Receiver))
    }

    fn assigned_by(&self, name: &str, of: &Type, sign: &str, by: &Expr) -> Written<String> {
        let function = match sign {
            "&" => "and",
            "|" => "or",
            "^" => "xor",
            sign => {
                let by = match *of == Type::class("java/lang/String") {
                    true => self.expression(by)?,
                    false => self.fitted(by, of)?,
                };
                return Ok(format!("{} {sign}= {}", word(name), by.text));
            }
        };
        let by = self.fitted(by, of)?.within(Level::Sum);
        let name = word(name);
        Ok(format!("{name} = {name} {function} {by}"))
    }

    fn choice(&self, condition: &Expr, yes: &[Line], no: &[Line]) -> Written<Vec<String>> {
        let mut lines = vec![format!("if ({}) {{", self.expression(condition)?.text)];
        lines.extend(indented(self.statements(yes)?));
        let rest = self.statements(no)?;
        let ends = yes.last().is_some_and(Line::is_end);
        if ends || rest.is_empty() {
            lines.push("}".to_owned());
            lines.extend(rest);
        } else {
            lines.push("} else {".to_owned());
            lines.extend(indented(rest));
            lines.push("}".to_owned());
        }
        Ok(lines)
    }

    fn head(&self, head: &Head) -> Written<String> {
        Ok(match head {
            Head::Count { name, from, end } => format!("{name} in {from} until {end}"),
            Head::Each { of, name, values } => {
                let all = self.array(&Type::Array(Box::new(of.of.clone())), values)?;
                format!("{} in {}", word(name), all.text)
            }
            Head::Rows { of, name, rows } => {
                let of = Type::Array(Box::new(of.of.clone()));
                let rows = rows.iter().map(|row| {
                    let code = Code::Row(of.clone(), row.clone());
                    Expr::new(code, of.clone())
                });
                let rows: Vec<Expr> = rows.collect();
                let all = self.array(&Type::Array(Box::new(of.clone())), &rows)?;
                format!("{} in {}", word(name), all.text)
            }
        })
    }
}

/// The variables that get another value, in any statement.
pub(super) fn assigned(lines: &[Line], into: &mut std::collections::BTreeSet<String>) {
    let of_expr = |expr: &Expr, into: &mut std::collections::BTreeSet<String>| match &expr.code {
        Code::Name(name) => {
            into.insert(name.clone());
        }
        Code::Assign(to, _) => {
            if let Code::Name(name) = &to.code {
                into.insert(name.clone());
            }
        }
        _ => {}
    };
    for line in lines {
        match line {
            Line::Assign { name, .. } | Line::AssignBy { name, .. } => {
                into.insert(name.clone());
            }
            Line::Increment(to) => of_expr(to, into),
            Line::Do(expr) if matches!(expr.code, Code::Assign(..)) => of_expr(expr, into),
            Line::Do(expr) | Line::Declare { value: expr, .. } => in_lambdas(expr, into),
            Line::If { yes, no, .. } => {
                assigned(yes, into);
                assigned(no, into);
            }
            Line::Try { body, handler, .. } => {
                assigned(body, into);
                assigned(handler, into);
            }
            Line::For(_, body) => assigned(body, into),
            _ => {}
        }
    }
}

/// The same in the bodies of lambdas, which are values or arguments.
fn in_lambdas(expr: &Expr, into: &mut std::collections::BTreeSet<String>) {
    match &expr.code {
        Code::Lambda(_, body) => match &**body {
            crate::code::LambdaCode::Lines(lines) => assigned(lines, into),
            crate::code::LambdaCode::Line(line) => assigned(std::slice::from_ref(line), into),
            _ => {}
        },
        Code::Call(call) => call.arguments.iter().for_each(|it| in_lambdas(it, into)),
        Code::New(_, _, arguments) => arguments.iter().for_each(|it| in_lambdas(it, into)),
        Code::Cast(_, inner) | Code::Brackets(inner) => in_lambdas(inner, into),
        _ => {}
    }
}

pub(super) fn indented(lines: Vec<String>) -> Vec<String> {
    let lines = lines.iter().flat_map(|line| line.lines());
    lines.map(|line| format!("    {line}")).collect()
}
