//! The file around the statements of a test in Kotlin.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::statements::{assigned, indented};
use super::type_names::{TypeArguments, primitive};
use super::{Unwritable, Writer, Written, word, words};
use crate::layout::wrapped;
use crate::reflect::Helper;
use crate::scope::Scope;
use crate::settings::changed;
use crate::source::{documented, expected, method_name};
use crate::statements::Body;
use crate::types::Type;
use crate::{Junit, Options};

/// A test in Kotlin: the source, and its imports.
pub(crate) fn test(
    scope: &Scope<'_>,
    body: &Body,
    options: &Options,
    comment: &[String],
) -> Result<(String, Vec<String>), Unwritable> {
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
        nullable: RefCell::default(),
        generic: RefCell::default(),
        is_unchecked: Cell::default(),
        assigned: names,
        labels: RefCell::default(),
    };
    writer.file(body, options, comment)
}

impl Writer<'_> {
    fn file(
        &self,
        body: &Body,
        options: &Options,
        comment: &[String],
    ) -> Written<(String, Vec<String>)> {
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
        Ok((source, imports))
    }

    /// Methods that use reflection, for the end of the class.
    fn helpers(&self) -> String {
        let mut source = String::new();
        let helpers = self.scope.helpers.borrow().clone();
        let uses_target = helpers
            .iter()
            .any(|it| matches!(it, Helper::Construct | Helper::Call | Helper::Run));
        if uses_target {
            self.class_name("java/lang/reflect/InvocationTargetException");
        }
        for helper in helpers {
            source.push_str(match helper {
                Helper::Construct => CONSTRUCT,
                Helper::Call => CALL,
                Helper::Run => RUN,
                Helper::Get => GET,
                Helper::Set => SET,
                Helper::Sneak => "",
            });
        }
        source
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
