//! Stand-ins with a class of their own, in the syntax of Java.

use crate::code::{StandInCode, StandInField, StandInMethod};
use crate::java::{answers, braces, expression};

/// The declaration of a variable with a stand-in.
pub(crate) fn stand_in(made: &StandInCode) -> Vec<String> {
    let start = match made.is_field {
        true => format!("{} = ", made.variable),
        false => format!("{} {} = ", made.of.java, made.variable),
    };
    let mut lines = Vec::new();
    let Some(name) = &made.name else {
        let arguments = made.extends.iter().flat_map(|(_, arguments)| arguments);
        let arguments: Vec<String> = arguments.map(expression).collect();
        let arguments = arguments.join(", ");
        lines.push(format!("{start}new {}({arguments}) {{", made.of.java));
        lines.extend(body(made));
        lines.push("};".to_owned());
        return lines;
    };
    let extends = made.extends.as_ref();
    let extends = extends.map(|(class, _)| format!(" extends {}", class.java));
    let interfaces: Vec<&str> = made.implements.iter().map(|it| it.java.as_str()).collect();
    lines.push(format!(
        "class {name}{} implements {} {{",
        extends.unwrap_or_default(),
        interfaces.join(", ")
    ));
    lines.extend(body(made));
    lines.push("}".to_owned());
    lines.push(format!("{start}new {name}();"));
    lines
}

fn body(made: &StandInCode) -> Vec<String> {
    let mut lines: Vec<String> = made.fields.iter().map(field).collect();
    for each in &made.methods {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(method(each));
    }
    lines
}

fn field(field: &StandInField) -> String {
    match field {
        StandInField::Calls(name) => format!("    private int {name};"),
        StandInField::Answers(of, name, values) => {
            format!(
                "    private final {}[] {name} = {};",
                of.java,
                braces(values)
            )
        }
    }
}

fn method(method: &StandInMethod) -> Vec<String> {
    let parameters = method.parameters.iter();
    let parameters: Vec<String> = parameters
        .map(|(of, name)| format!("{} {name}", of.java))
        .collect();
    let result = method.result.as_ref().map_or("void", |of| &of.java);
    let throws = match method.throws.as_slice() {
        [] => String::new(),
        all => format!(" throws {}", all.join(", ")),
    };
    let mut lines = vec!["    @Override".to_owned()];
    lines.push(format!(
        "    {}{result} {}({}){throws} {{",
        method.visible,
        method.member.name,
        parameters.join(", ")
    ));
    let body = answers(&method.body);
    lines.extend(body.into_iter().map(|line| format!("        {line}")));
    lines.push("    }".to_owned());
    lines
}
