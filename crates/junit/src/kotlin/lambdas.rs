//! Lambdas and proxies in Kotlin.

use super::expressions::quoted;
use super::metadata::Kind;
use super::type_names::TypeArguments;
use super::{Level, Text, Writer, Written, word};
use crate::code::{Code, LambdaCode, Line, Proxy};
use crate::types::Type;

/// Interfaces of Kotlin's function types.
const FUNCTION: &str = "kotlin/jvm/functions/Function";

impl Writer<'_> {
    /// A lambda for an interface, which may have type arguments.
    pub(super) fn lambda(
        &self,
        of: &Type,
        arguments: Option<&str>,
        parameters: &[String],
        body: &LambdaCode,
    ) -> Written<Text> {
        let name = of.name().unwrap_or_default();
        let is_function = name.starts_with(FUNCTION);
        let is_of_kotlin = self
            .kotlin(name)
            .is_some_and(|it| it.kind == Kind::Interface);
        let (start, label) = match is_function {
            true => ("block@".to_owned(), "block".to_owned()),
            false => {
                let class = self.class_name(name);
                let label = class.rsplit('.').next().unwrap_or(&class).to_owned();
                let start = match arguments {
                    Some(arguments) => format!("{class}{arguments} "),
                    None => format!("{} ", self.type_name(of, TypeArguments::Any)),
                };
                (start, label)
            }
        };
        if is_of_kotlin && !is_function && !self.is_functional(name) {
            return Err(format!("a lambda for {}", name.replace('/', ".")));
        }
        self.labels.borrow_mut().push(Some(label.clone()));
        let lines = self.lambda_lines(body);
        self.labels.borrow_mut().pop();
        let lines = lines?;
        let names: Vec<String> = parameters.iter().map(|name| word(name)).collect();
        let left = match names.as_slice() {
            [] => String::new(),
            all => format!(" {} ->", all.join(", ")),
        };
        let uses_label = lines
            .iter()
            .any(|line| line.contains(&format!("return@{label}")));
        let start = match is_function && !uses_label {
            true => "",
            false => &start,
        };
        Ok(Text::new(match lines.as_slice() {
            [] => format!("{start}{{{left} }}"),
            [one] if !one.contains('\n') => format!("{start}{{{left} {one} }}"),
            several => {
                let several: Vec<String> = several
                    .iter()
                    .flat_map(|line| line.lines())
                    .map(|line| format!("    {line}"))
                    .collect();
                format!("{start}{{{left}\n{}\n}}", several.join("\n"))
            }
        }))
    }

    /// An interface of Kotlin that a lambda can be: the metadata says so, and the compiler checks it anyway.
    fn is_functional(&self, name: &str) -> bool {
        let hierarchy = self.scope.access.hierarchy;
        hierarchy.abstract_methods(&[name.to_owned()]).len() == 1
    }

    fn lambda_lines(&self, body: &LambdaCode) -> Written<Vec<String>> {
        match body {
            LambdaCode::Value(value) => {
                let text = self.expression(value)?;
                Ok(vec![text.text])
            }
            LambdaCode::Nothing | LambdaCode::NoAnswer => Ok(Vec::new()),
            LambdaCode::Line(line) => self.statement(line),
            LambdaCode::Lines(lines) => match lines.split_last() {
                Some((Line::Return(Some(value)), before)) => {
                    let mut all = self.statements(before)?;
                    all.push(self.expression(value)?.text);
                    Ok(all)
                }
                _ => self.statements(lines),
            },
        }
    }

    pub(super) fn proxy(&self, proxy: &Proxy) -> Written<Text> {
        let class = self.class_literal(&proxy.interface.of);
        let name = self.type_name(&proxy.interface.of, TypeArguments::Stars);
        let maker = self.class_name(proxy.maker.of.name().unwrap_or_default());
        let [_, called, _] = &proxy.parameters;
        let answer = match &proxy.answer.code {
            Code::Null => "null".to_owned(),
            _ => self.expression(&proxy.answer)?.text,
        };
        let (called, answer) = match &proxy.only {
            Some(only) => {
                let is_it = format!("{}.name == {}", word(called), quoted(only));
                (word(called), format!("if ({is_it}) {answer} else null"))
            }
            None => ("_".to_owned(), answer),
        };
        let text = format!(
            "{maker}.newProxyInstance({class}.classLoader, arrayOf<Class<*>>({class})) \
             {{ _, {called}, _ -> {answer} }} as {name}"
        );
        Ok(Text::new(text).at(Level::Cast))
    }
}
