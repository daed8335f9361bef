//! Statements and expressions in the syntax of Java.

use crate::code::{Answers, Call, Code, Head, LambdaCode, Line, Proxy, Target};
use crate::expr::Expr;
use crate::java_class;
use crate::literal;

/// An expression.
pub(crate) fn expression(expr: &Expr) -> String {
    match &expr.code {
        Code::Name(name) => name.clone(),
        Code::This => "this".to_owned(),
        Code::Null => "null".to_owned(),
        Code::Scalar(value) => literal::scalar(&value.0).unwrap_or_default(),
        Code::Constant(value) => literal::constant(&value.0).unwrap_or_default(),
        Code::Text(units) => literal::string(units),
        Code::Quoted(name) => format!("\"{name}\""),
        Code::Class(name) => format!("{}.class", name.java),
        Code::ClassForName(class, name) => format!("{}.forName(\"{name}\")", class.java),
        Code::Classes(all) => format!("new Class<?>[] {{{}}}", list(all)),
        Code::Brackets(inner) => format!("({})", expression(inner)),
        Code::StaticField(class, member) => format!("{}.{}", class.java, member.name),
        Code::Field(object, member) => format!("{}.{}", expression(object), member.name),
        Code::Call(call) => self::call(call),
        Code::Helper(name, arguments) => format!("{name}({})", list(arguments)),
        Code::New(class, _, arguments) => format!("new {}({})", class.java, list(arguments)),
        Code::NewWithin(outer, class, _, arguments) => {
            let simple = class.java.rsplit('.').next().unwrap_or(&class.java);
            format!("{}.new {simple}({})", expression(outer), list(arguments))
        }
        Code::Array(of, elements) => format!("new {} {}", of.java, braces(elements)),
        Code::Row(_, elements) => braces(elements),
        Code::Zeros(name, length) => {
            let length = expression(length);
            format!("new {}[{length}]{}", name.element.java, name.rest)
        }
        Code::Characters(text) => format!("{}.toCharArray()", expression(text)),
        Code::Bytes(text, charsets) => {
            format!(
                "{}.getBytes({}.ISO_8859_1)",
                expression(text),
                charsets.java
            )
        }
        Code::Element(array, index) => format!("{}[{}]", expression(array), expression(index)),
        Code::Length(array) => format!("{}.length", expression(array)),
        Code::Boxed(of, value) => format!("{}.valueOf({})", of.java, expression(value)),
        Code::Cast(of, value) => format!("({}) {}", of.java, expression(value)),
        Code::Instance(value, of) => format!("{} instanceof {}", expression(value), of.java),
        Code::Unary(sign, value) => format!("{sign}{}", expression(value)),
        Code::Binary(left, sign, right) => {
            format!("{} {sign} {}", expression(left), expression(right))
        }
        Code::Choice(condition, yes, no) => {
            let [condition, yes, no] = [condition, yes, no].map(|each| expression(each));
            format!("{condition} ? {yes} : {no}")
        }
        Code::Lambda(parameters, body) => lambda(parameters, body),
        Code::Proxy(proxy) => self::proxy(proxy),
        Code::Assign(to, value) => format!("{} = {}", expression(to), expression(value)),
        Code::Throw(thrown) => format!("throw {}", expression(thrown)),
        Code::Sneak(test, runtime, thrown) => {
            let thrown = expression(thrown);
            format!("throw {test}.<{}>sneak({thrown})", runtime.java)
        }
    }
}

fn list(all: &[Expr]) -> String {
    let all: Vec<String> = all.iter().map(expression).collect();
    all.join(", ")
}

pub(crate) fn braces(elements: &[Expr]) -> String {
    format!("{{{}}}", list(elements))
}

fn call(call: &Call) -> String {
    let arguments = list(&call.arguments);
    let name = &call.member.name;
    match &call.target {
        Target::Object(object) => format!("{}.{name}({arguments})", expression(object)),
        Target::Class(class) => format!("{}.{name}({arguments})", class.java),
        Target::Imported(name) => format!("{name}({arguments})"),
    }
}

fn lambda(parameters: &[String], body: &LambdaCode) -> String {
    let left = match parameters {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    };
    let body = match body {
        LambdaCode::Value(value) => expression(value),
        LambdaCode::Nothing => "{}".to_owned(),
        LambdaCode::NoAnswer => "{ }".to_owned(),
        LambdaCode::Line(line) => format!("{{ {} }}", statement(line).join("\n")),
        LambdaCode::Lines(lines) => {
            let lines = indented(flat(statements(lines)));
            format!("{{\n{}\n}}", lines.join("\n"))
        }
    };
    format!("{left} -> {body}")
}

fn proxy(proxy: &Proxy) -> String {
    let (class, maker) = (&proxy.interface.java, &proxy.maker.java);
    let [itself, called, arguments] = &proxy.parameters;
    let answer = expression(&proxy.answer);
    let answer = match &proxy.only {
        Some(name) => format!("{called}.getName().equals(\"{name}\") ? {answer} : null"),
        None => answer,
    };
    format!(
        "({class}) {maker}.newProxyInstance({class}.class.getClassLoader(), new Class<?>[] {{{class}.class}}, \
         ({itself}, {called}, {arguments}) -> {answer})"
    )
}

/// The lines of statements. Those of a lambda are one line with breaks.
pub(crate) fn statements(all: &[Line]) -> Vec<String> {
    all.iter().flat_map(statement).collect()
}

/// The lines of a statement.
pub(crate) fn statement(line: &Line) -> Vec<String> {
    let one = match line {
        Line::Do(expr) => format!("{};", expression(expr)),
        Line::Declare {
            of,
            name,
            value,
            is_short,
        } => {
            let value = match &value.code {
                Code::Array(_, elements) if *is_short => braces(elements),
                _ => expression(value),
            };
            format!("{} {name} = {value};", of.java)
        }
        Line::Assign { name, value, .. } => format!("{name} = {};", expression(value)),
        Line::AssignBy { name, sign, by, .. } => format!("{name} {sign}= {};", expression(by)),
        Line::Increment(to) => format!("{}++;", expression(to)),
        Line::AssignElement {
            name, place, value, ..
        } => format!("{name}[{place}] = {};", expression(value)),
        Line::Return(None) => "return;".to_owned(),
        Line::Return(Some(value)) => format!("return {};", expression(value)),
        Line::Comment(text) => format!("// {text}"),
        Line::Fill {
            system,
            from,
            into,
            length,
        } => {
            let from = expression(from);
            format!("{}.arraycopy({from}, 0, {into}, 0, {length});", system.java)
        }
        Line::If { condition, yes, no } => return choice(condition, yes, no),
        Line::Check {
            condition,
            error,
            message,
        } => {
            let message = literal::string(message);
            return vec![
                format!("if ({condition}) {{"),
                format!("    throw new {}({message});", error.java),
                "}".to_owned(),
            ];
        }
        Line::Try {
            body,
            caught,
            name,
            handler,
        } => {
            let mut lines = vec!["try {".to_owned()];
            lines.extend(indented(statements(body)));
            lines.push(format!("}} catch ({} {name}) {{", caught.java));
            lines.extend(indented(statements(handler)));
            lines.push("}".to_owned());
            return lines;
        }
        Line::For(head, body) => {
            let mut lines = vec![format!("{} {{", self::head(head))];
            lines.extend(indented(statements(body)));
            lines.push("}".to_owned());
            return lines;
        }
        Line::StandIn(stand_in) => return java_class::stand_in(stand_in),
    };
    vec![one]
}

fn choice(condition: &Expr, yes: &[Line], no: &[Line]) -> Vec<String> {
    let mut lines = vec![format!("if ({}) {{", expression(condition))];
    lines.extend(indented(statements(yes)));
    let rest = statements(no);
    // Nothing comes after a return but what is done otherwise.
    let ends = yes.last().is_some_and(Line::is_end);
    if ends || rest.is_empty() {
        lines.push("}".to_owned());
        lines.extend(rest);
    } else {
        lines.push("} else {".to_owned());
        lines.extend(indented(rest));
        lines.push("}".to_owned());
    }
    lines
}

fn head(head: &Head) -> String {
    match head {
        Head::Count { name, from, end } => {
            format!("for (int {name} = {from}; {name} < {end}; {name}++)")
        }
        Head::Each { of, name, values } => {
            let of = &of.java;
            format!("for ({of} {name} : new {of}[] {})", braces(values))
        }
        Head::Rows { of, name, rows } => {
            let of = &of.java;
            let rows: Vec<String> = rows.iter().map(|row| braces(row)).collect();
            format!("for ({of}[] {name} : new {of}[][] {{{}}})", rows.join(", "))
        }
    }
}

/// The body of a stand-in's method.
pub(crate) fn answers(answers: &Answers) -> Vec<String> {
    match answers {
        Answers::Same(lines) => statements(lines),
        Answers::Listed {
            calls,
            answers,
            math,
        } => vec![format!(
            "return {answers}[{}.min({calls}++, {answers}.length - 1)];",
            math.java
        )],
        Answers::Counted {
            calls,
            earlier,
            last,
        } => {
            let mut lines = vec![format!("{calls}++;")];
            for (until, body) in earlier {
                lines.push(match until {
                    1 => format!("if ({calls} == 1) {{"),
                    until => format!("if ({calls} <= {until}) {{"),
                });
                lines.extend(indented(statements(body)));
                if !body.last().is_some_and(Line::is_end) {
                    lines.push("    return;".to_owned());
                }
                lines.push("}".to_owned());
            }
            lines.extend(statements(last));
            lines
        }
    }
}

/// Each on a line of its own.
fn flat(lines: Vec<String>) -> Vec<String> {
    let lines = lines.iter().flat_map(|line| line.lines());
    lines.map(str::to_owned).collect()
}

fn indented(lines: Vec<String>) -> Vec<String> {
    let lines = lines.into_iter();
    lines.map(|line| format!("    {line}")).collect()
}
