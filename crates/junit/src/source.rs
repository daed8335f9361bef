//! The file around the statements: package, imports, comment, class and method.

use culprit_model::clean;
use culprit_model::script::{Action, Expectation, StatementEnd};

use crate::graph::Node;
use crate::layout::wrapped;
use crate::literal::ascii;
use crate::names::upper_first;
use crate::package::is_foreign;
use crate::scope::{Scope, Throws};
use crate::settings::Restoration;
use crate::statements::Body;
use crate::{
    Error, Junit, Language, Notes, Options, PrintedTest, condition, java, kotlin, reflect,
};

/// The lines of the comment above a test.
pub(crate) type Comment<'a> = &'a dyn Fn(&Notes) -> Vec<String>;

/// The file of a test, apart from its statements.
pub(crate) struct File<'a> {
    pub(crate) options: &'a Options,
    /// The statements of the straight script that the test contains.
    pub(crate) written: Vec<usize>,
    pub(crate) comment: Comment<'a>,
}

impl File<'_> {
    /// Puts a test together.
    pub(crate) fn test(self, scope: &Scope<'_>, body: &Body) -> Result<PrintedTest, Error> {
        let File {
            options,
            written,
            comment,
        } = self;
        let package = scope.access.package.replace('/', ".");
        let annotation = scope.imports.class(match options.junit {
            Junit::Four => "org/junit/Test",
            Junit::Five => "org/junit/jupiter/api/Test",
        });
        let expected = expected(scope).map(|class| format!("{}.class", scope.imports.class(class)));
        let annotation = match &expected {
            Some(class) if options.junit == Junit::Four => {
                format!("{annotation}(expected = {class})")
            }
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
        let restoration = Restoration::of(scope.graph, &scope.imports, options.junit);
        fields.push_str(&restoration.fields);
        if !fields.is_empty() {
            fields.push('\n');
        }
        let mut lines = java::statements(&body.lines);
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
                .graph
                .nodes
                .iter()
                .filter(|node| node.site.is_some())
                .count(),
            written,
            loops: scope.loops.all.len(),
            left_alone: scope.graph.left_alone,
            compares_constants: scope.flow.is_constant,
        };

        if options.language == Language::Kotlin {
            let written = kotlin::test(scope, body, options, &comment(&notes));
            let written = written.map_err(|why| Error::Kotlin { why })?;
            let notes = Notes {
                uses_reflection: written.uses_reflection,
                ..notes
            };
            return Ok(PrintedTest {
                package,
                class_name: options.name.clone(),
                language: Language::Kotlin,
                source: written.source,
                method,
                imports: written.imports,
                notes,
            });
        }
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
        source.push_str(&restoration.method);
        source.push_str(&helpers);
        source.push_str("}\n");
        Ok(PrintedTest {
            package,
            class_name: options.name.clone(),
            language: Language::Java,
            source: ascii(&source),
            method,
            imports: statics
                .iter()
                .map(|line| format!("static {line}"))
                .chain(plain)
                .collect(),
            notes,
        })
    }
}

/// The class of what the test is to throw, if it is to.
pub(crate) fn expected<'s>(scope: &Scope<'s>) -> Option<&'s str> {
    let mut nodes = scope.graph.nodes.iter();
    nodes.find_map(|node| match node.statement.action {
        Action::Expect(Expectation::Whole(class)) => scope.graph.class(class, node.number).ok(),
        _ => None,
    })
}

/// The name of the test method, after the failure: `parseThrowsNoIllegalStateException`.
pub(crate) fn method_name(scope: &Scope<'_>) -> String {
    if scope.condition.is_some() {
        return condition::METHOD.to_owned();
    }
    let graph = scope.graph;
    let last = graph.nodes.last();
    let asserted = last.and_then(|last| {
        let mut sources = scope.flow.sources.iter().rev();
        let (_, source) = sources.find(|((place, _), _)| *place == last.number)?;
        graph.nodes.get(*source)
    });
    let is_of_others = |node: &Node<'_>| node.target().is_none_or(|it| is_foreign(&it.owner));
    let own = |node: &&Node<'_>| !is_of_others(node);
    let about = asserted.or_else(|| graph.nodes.iter().rev().find(own));
    let within = || graph.nodes.iter().rev().find_map(written_in);
    if let Some(name) = about.is_none().then(within).flatten() {
        return name;
    }
    let about = about.or(last);
    let simple = |class: &str| {
        let word = class.rsplit(['/', '$']).next().unwrap_or_default();
        let word: String = word.chars().filter(|c| c.is_alphanumeric()).collect();
        upper_first(&word)
    };
    let subject = about.map_or_else(String::new, |node| match (node.target(), node.operator()) {
        (Some(member), _) if node.is_constructor() => format!("new{}", simple(&member.owner)),
        (Some(member), _) => member.name.clone(),
        (None, Some(operator)) => operator.name().to_owned(),
        (None, None) => String::new(),
    });
    let thrown = match last {
        Some(last) if last.target().is_some_and(Scope::is_assertion) => None,
        Some(last) => match last.end {
            StatementEnd::Threw(value) => value.identity().and_then(|id| graph.objects.get(&id)),
            _ => None,
        },
        None => None,
    };
    // Found wrong by somebody else, statement by statement.
    let is_fault = |class: &str| class.contains("Assertion") || class.contains("ComparisonFailure");
    let by_others = last.is_some_and(is_of_others);
    match thrown.filter(|object| !(by_others && is_fault(object.class))) {
        Some(object) => format!("{subject}ThrowsNo{}", simple(object.class)),
        None => format!("{subject}WorksAsExpected"),
    }
}

/// The method that a lambda was written in, by the name of its body: `lambda$parses$0`.
fn written_in(node: &Node<'_>) -> Option<String> {
    let body = &node.lambda()?.body_name;
    let (name, _) = body.strip_prefix("lambda$")?.rsplit_once('$')?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric());
    (is_name && name != "new" && name != "static").then(|| name.to_owned())
}

/// A comment, in which nothing can end it or be an escape, and which no character can hide.
pub(crate) fn documented(lines: &[String]) -> String {
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
