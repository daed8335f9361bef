//! The file around the statements of a test in Kotlin.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::statements::{assigned, indented};
use super::type_names::{TypeArguments, primitive};
use super::{Unwritable, Writer, Written, word, words};
use crate::layout::wrapped;
use crate::scope::Scope;
use crate::settings::changed;
use crate::source::{documented, expected, method_name};
use crate::statements::Body;
use crate::types::Type;
use crate::{Junit, Options};

/// The file of a test.
pub(crate) struct KotlinFile {
    pub(crate) source: String,
    /// The text after each `import`, in order.
    pub(crate) imports: Vec<String>,
    pub(crate) uses_reflection: bool,
}

/// A test in Kotlin.
pub(crate) fn test(
    scope: &Scope<'_>,
    body: &Body,
    options: &Options,
    comment: &[String],
) -> Result<KotlinFile, Unwritable> {
    let mut names = BTreeSet::new();
    assigned(&body.lines, &mut names);
    let whole = match scope.access.package {
        "" => options.name.clone(),
        package => format!("{package}/{}", options.name),
    };
    let writer = Writer {
        scope,
        imports: RefCell::new(BTreeMap::from([(options.name.clone(), whole)])),
        members: RefCell::default(),
        classes: RefCell::default(),
        helpers: RefCell::default(),
        nullable: RefCell::default(),
        generic: RefCell::default(),
        is_unchecked: Cell::default(),
        assigned: names,
        labels: RefCell::default(),
    };
    writer.file(body, options, comment)
}

impl Writer<'_> {
    fn file(&self, body: &Body, options: &Options, comment: &[String]) -> Written<KotlinFile> {
        let scope = self.scope;
        let annotation = self.class_name(match options.junit {
            Junit::Four => "org/junit/Test",
            Junit::Five => "org/junit/jupiter/api/Test",
        });
        let expected = expected(scope).map(Type::class);
        let annotation = match (&expected, options.junit) {
            (Some(class), Junit::Four) => {
                let class = self.type_name(class, TypeArguments::None);
                format!("{annotation}(expected = {class}::class)")
            }
            _ => annotation,
        };
        let mut lines = self.statements(&body.lines)?;
        if let (Junit::Five, Some(class)) = (options.junit, &expected) {
            let assertions = "org/junit/jupiter/api/Assertions/assertThrows";
            self.members.borrow_mut().insert(assertions.to_owned());
            lines = indented(lines);
            lines.insert(0, format!("assertThrows({}) {{", self.class_literal(class)));
            lines.push("}".to_owned());
        }
        let mut fields = String::new();
        for variable in scope.variables.values().filter(|it| it.is_field) {
            let name = word(&variable.name);
            fields.push_str(&match &variable.of {
                Type::Primitive(shape) => {
                    let zero = super::literals::scalar(&culprit_model::Value::zero(*shape), false);
                    format!(
                        "    private var {name}: {} = {}\n",
                        primitive(*shape),
                        zero.text
                    )
                }
                of => {
                    let of = self.type_name(of, TypeArguments::Stars);
                    format!("    private lateinit var {name}: {of}\n")
                }
            });
        }
        let mut restored = String::new();
        for setting in changed(scope.graph) {
            let class = self.class_name(setting.class);
            let value = match setting.value {
                "getProperties().clone()" => {
                    let of = self.class_name(setting.of);
                    format!("{class}.getProperties().clone() as {of}")
                }
                value => match value.split_once('(') {
                    Some(_) => format!("{class}.{value}"),
                    None => format!("{class}.{}", word(value)),
                },
            };
            let (field, restore) = (setting.field, setting.restore);
            fields.push_str(&format!("    private val {field} = {value}\n"));
            restored.push_str(&format!("        {class}.{restore}({field})\n"));
        }
        if !restored.is_empty() {
            let after = self.class_name(match options.junit {
                Junit::Four => "org/junit/After",
                Junit::Five => "org/junit/jupiter/api/AfterEach",
            });
            let method = crate::settings::METHOD;
            restored = format!("\n    @{after}\n    fun {method}() {{\n{restored}    }}\n");
        }
        if !fields.is_empty() {
            fields.push('\n');
        }
        let mut statements = String::new();
        for text in &lines {
            for text in text.split('\n') {
                for line in wrapped(&format!("        {text}")) {
                    statements.push_str(line.trim_end());
                    statements.push('\n');
                }
            }
        }
        let helpers = self.helpers();
        let imports = self.import_lines();
        let mut source = String::new();
        if !scope.access.package.is_empty() {
            source.push_str(&format!("package {}\n\n", words(scope.access.package)));
        }
        for line in &imports {
            source.push_str(&format!("import {line}\n"));
        }
        source.push('\n');
        source.push_str(&documented(comment));
        if self.is_unchecked.get() {
            source.push_str("@Suppress(\"UNCHECKED_CAST\")\n");
        }
        let method = method_name(scope);
        source.push_str(&format!(
            "class {} {{\n\n{fields}    @{annotation}\n    fun {}() {{\n",
            options.name,
            word(&method)
        ));
        source.push_str(&statements);
        source.push_str("    }\n");
        source.push_str(&restored);
        source.push_str(&helpers);
        source.push_str("}\n");
        Ok(KotlinFile {
            source,
            imports,
            uses_reflection: !helpers.is_empty(),
        })
    }

    /// Methods that use reflection, for the end of the class.
    fn helpers(&self) -> String {
        let mut helpers = self.helpers.borrow_mut();
        if helpers.contains("run") {
            helpers.insert("call");
        }
        if helpers.contains("construct") || helpers.contains("call") {
            self.class_name("java/lang/reflect/InvocationTargetException");
        }
        let all = [
            ("construct", CONSTRUCT),
            ("call", CALL),
            ("run", RUN),
            ("get", GET),
            ("set", SET),
        ];
        let used = all.iter().filter(|(name, _)| helpers.contains(name));
        used.map(|(_, source)| *source).collect()
    }
}

const CONSTRUCT: &str = r#"
    private fun construct(type: Class<*>, types: Array<Class<*>>, vararg arguments: Any?): Any? {
        val constructor = type.getDeclaredConstructor(*types)
        constructor.isAccessible = true
        try {
            return constructor.newInstance(*arguments)
        } catch (e: InvocationTargetException) {
            throw e.cause!!
        }
    }
"#;

const CALL: &str = r#"
    private fun call(
        type: Class<*>,
        receiver: Any?,
        name: String,
        types: Array<Class<*>>,
        vararg arguments: Any?
    ): Any? {
        val method = type.getDeclaredMethod(name, *types)
        method.isAccessible = true
        try {
            return method.invoke(receiver, *arguments)
        } catch (e: InvocationTargetException) {
            throw e.cause!!
        }
    }
"#;

const RUN: &str = r#"
    private fun run(
        type: Class<*>,
        receiver: Any?,
        name: String,
        types: Array<Class<*>>,
        vararg arguments: Any?
    ): Any? = call(type, receiver, name, types, *arguments)
"#;

const GET: &str = r#"
    private fun get(type: Class<*>, receiver: Any?, name: String): Any? {
        val field = type.getDeclaredField(name)
        field.isAccessible = true
        return field.get(receiver)
    }
"#;

const SET: &str = r#"
    private fun set(type: Class<*>, receiver: Any?, name: String, value: Any?) {
        val field = type.getDeclaredField(name)
        field.isAccessible = true
        field.set(receiver, value)
    }
"#;
