//! The file around the statements: package, imports, comment, class, method.

use culprit_model::{Reference, Value, clean};

use crate::layout::wrapped;
use crate::literal::ascii;
use crate::names::upper_first;
use crate::operators::Operator;
use crate::place::is_foreign;
use crate::scope::{Scope, Throws};
use crate::statements::Body;
use crate::story::{Action, End, identity};
use crate::{Junit, Notes, Options, Test, reflect};

/// The lines of the comment above a test.
pub(crate) type Comment<'a> = &'a dyn Fn(&Notes) -> Vec<String>;

/// Puts a test together. The written statements are those of the scenario that are in it.
pub(crate) fn test(
    scope: &Scope<'_>,
    body: &Body,
    options: &Options,
    (written, comment): (Vec<usize>, Comment<'_>),
) -> Test {
    let package = scope.access.package.replace('/', ".");
    let annotation = scope.imports.class(match options.junit {
        Junit::Four => "org/junit/Test",
        Junit::Five => "org/junit/jupiter/api/Test",
    });
    let expected = expected(scope).map(|class| format!("{}.class", scope.imports.class(class)));
    let annotation = match &expected {
        Some(class) if options.junit == Junit::Four => format!("{annotation}(expected = {class})"),
        _ => annotation,
    };
    let visible = match options.junit {
        Junit::Four => "public ",
        Junit::Five => "",
    };
    let method = method_name(scope);
    let throws = match scope.throws.get() {
        Throws::Nothing => String::new(),
        Throws::Exception => format!(" throws {}", scope.imports.class("java/lang/Exception")),
        Throws::Throwable => format!(" throws {}", scope.imports.class("java/lang/Throwable")),
    };
    let mut fields = String::new();
    for variable in scope
        .variables
        .values()
        .filter(|variable| variable.is_field)
    {
        let of = scope.imports.name(&variable.of);
        fields.push_str(&format!("    private {of} {};\n", variable.name));
    }
    if !fields.is_empty() {
        fields.push('\n');
    }
    let mut lines = body.lines.clone();
    if let (Junit::Five, Some(class)) = (options.junit, &expected) {
        let assertions = "org/junit/jupiter/api/Assertions";
        let assert = scope.imports.static_method(assertions, "assertThrows");
        lines = lines.iter().map(|line| format!("    {line}")).collect();
        lines.insert(0, format!("{assert}({class}, () -> {{"));
        lines.push("});".to_owned());
    }
    let mut statements = String::new();
    for text in &lines {
        let indent = " ".repeat(8 + text.len() - text.trim_start().len());
        for line in text.trim_start().split('\n') {
            for line in wrapped(&format!("{indent}{line}")) {
                statements.push_str(&line);
                statements.push('\n');
            }
        }
    }
    let helpers = reflect::source(scope);
    let (plain, statics) = scope.imports.lines();
    let notes = Notes {
        uses_reflection: !helpers.is_empty(),
        stand_ins: body.stand_ins,
        statements: scope
            .story
            .actions
            .iter()
            .filter(|action| Operator::of(action).is_none())
            .count(),
        written,
        loops: scope.loops.all.len(),
        left_alone: scope.story.left_alone,
        compares_constants: scope.flow.is_constant,
    };

    let mut source = String::new();
    if !package.is_empty() {
        source.push_str(&format!("package {package};\n\n"));
    }
    for line in &statics {
        source.push_str(&format!("import static {line};\n"));
    }
    if !statics.is_empty() && !plain.is_empty() {
        source.push('\n');
    }
    for line in &plain {
        source.push_str(&format!("import {line};\n"));
    }
    source.push('\n');
    source.push_str(&documented(&comment(&notes)));
    match scope.imports.suppressed().as_slice() {
        [] => {}
        [one] => source.push_str(&format!("@SuppressWarnings(\"{one}\")\n")),
        several => {
            source.push_str(&format!(
                "@SuppressWarnings({{\"{}\"}})\n",
                several.join("\", \"")
            ));
        }
    }
    source.push_str(&format!("{visible}class {} {{\n\n{fields}", options.name));
    source.push_str(&format!(
        "    @{annotation}\n    {visible}void {method}(){throws} {{\n"
    ));
    source.push_str(&statements);
    source.push_str("    }\n");
    source.push_str(&helpers);
    source.push_str("}\n");
    Test {
        package,
        class_name: options.name.clone(),
        source: ascii(&source),
        method,
        imports: statics
            .iter()
            .map(|line| format!("static {line}"))
            .chain(plain)
            .collect(),
        notes,
    }
}

/// The class of what the test is to throw, if it is to.
fn expected<'s>(scope: &Scope<'s>) -> Option<&'s str> {
    let mut actions = scope.story.actions.iter();
    let says = actions.find(|action| Operator::of(action) == Some(Operator::Expect))?;
    match says.arguments.first()? {
        Value::Reference(Reference::Class(class)) => scope.story.class(*class, says.step).ok(),
        _ => None,
    }
}

/// What must no longer happen: `parseThrowsNoIllegalStateException`.
fn method_name(scope: &Scope<'_>) -> String {
    let story = scope.story;
    let last = story.actions.last();
    let asserted = last.and_then(|last| {
        let mut sources = scope.flow.sources.iter().rev();
        let (_, source) = sources.find(|((place, _), _)| *place == last.place)?;
        story.actions.get(*source)
    });
    let own = |action: &&Action<'_>| !is_foreign(&action.site.target.owner);
    let about = asserted.or_else(|| story.actions.iter().rev().find(own));
    let within = || story.actions.iter().rev().find_map(written_in);
    if let Some(name) = about.is_none().then(within).flatten() {
        return name;
    }
    let about = about.or(last).map(|action| &action.site.target);
    let simple = |class: &str| {
        let word = class.rsplit(['/', '$']).next().unwrap_or_default();
        let word: String = word.chars().filter(|c| c.is_alphanumeric()).collect();
        upper_first(&word)
    };
    let subject = about.map_or_else(String::new, |member| match member.name.as_str() {
        "<init>" => format!("new{}", simple(&member.owner)),
        name => name.to_owned(),
    });
    let thrown = match last {
        Some(last) if Scope::is_assertion(&last.site.target) => None,
        Some(last) => match last.end {
            End::Threw(value) => identity(value).and_then(|id| story.objects.get(&id)),
            _ => None,
        },
        None => None,
    };
    // Found wrong by somebody else, step by step.
    let is_fault = |class: &str| class.contains("Assertion") || class.contains("ComparisonFailure");
    let by_others = last.is_some_and(|last| is_foreign(&last.site.target.owner));
    match thrown.filter(|object| !(by_others && is_fault(object.class))) {
        Some(object) => format!("{subject}ThrowsNo{}", simple(object.class)),
        None => format!("{subject}WorksAsExpected"),
    }
}

/// The method that a lambda was written in, by the name of its body: `lambda$parses$0`.
fn written_in(action: &Action<'_>) -> Option<String> {
    let body = match (Operator::of(action), action.arguments.get(1)) {
        (Some(Operator::Lambda), Some(Value::Reference(Reference::String(units)))) => {
            String::from_utf16(units).ok()?
        }
        _ => return None,
    };
    let (name, _) = body.strip_prefix("lambda$")?.rsplit_once('$')?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric());
    (is_name && name != "new" && name != "static").then(|| name.to_owned())
}

/// A comment, in which nothing can end it or be an escape, and which no character can hide.
fn documented(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = "/**\n".to_owned();
    for line in lines.iter().flat_map(|line| line.split(['\n', '\r'])) {
        let line = clean::line(line)
            .replace("*/", "* /")
            .replace("\\u", "\\ u");
        let line = line.replace('…', "...");
        text.push_str(format!(" * {line}").trim_end());
        text.push('\n');
    }
    text + " */\n"
}
