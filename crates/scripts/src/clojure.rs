//! Functions of Clojure in scripts.
//!
//! A function is an object of a class of its own (`parking.core$fee`). It finds the others of its namespace by Vars, which
//! are bound when the namespace is loaded. So a script loads the namespaces of the functions that it calls, and calls
//! them by their Vars, as programs in Java do:
//!
//! ```text
//! Clojure.var("clojure.core", "require").invoke(Clojure.read("parking.core"));
//! Clojure.var("parking.core", "fee").invoke(0L);
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use culprit_classfile::ClassFile;
use culprit_model::script::{Builder, MemberName, Wait};
use culprit_model::{Member, ObjectId, Value};
use culprit_trace::Recording;

use crate::alias::rename;
use crate::{Script, Statement};

/// The extensions of sources.
const SOURCES: [&str; 2] = [".clj", ".cljc"];
/// The classes that those of functions extend.
const FUNCTIONS: [&str; 3] = [
    "clojure/lang/AFn",
    "clojure/lang/AFunction",
    "clojure/lang/RestFn",
];
/// The interface of functions.
const FUNCTION: &str = "clojure/lang/IFn";
/// The class with which other languages use Clojure.
const API: &str = "clojure/java/api/Clojure";

/// Characters that names of classes cannot have, and what the compiler writes for them.
const MUNGED: [(&str, &str); 21] = [
    ("_AMPERSAND_", "&"),
    ("_BANG_", "!"),
    ("_BAR_", "|"),
    ("_CARET_", "^"),
    ("_CIRCA_", "@"),
    ("_COLON_", ":"),
    ("_DOT_", "."),
    ("_EQ_", "="),
    ("_GT_", ">"),
    ("_LT_", "<"),
    ("_PERCENT_", "%"),
    ("_PLUS_", "+"),
    ("_QMARK_", "?"),
    ("_SHARP_", "#"),
    ("_SINGLEQUOTE_", "'"),
    ("_SLASH_", "/"),
    ("_STAR_", "*"),
    ("_TILDE_", "~"),
    ("_LBRACE_", "{"),
    ("_RBRACE_", "}"),
    ("_", "-"),
];

/// The class of the function that a class belongs to, by its internal name: that of `a/b$f$fn__3` is `a/b$f`. None if
/// the class is not compiled from this source.
pub(crate) fn function_class<'n>(class: &'n str, source: Option<&str>) -> Option<&'n str> {
    let is_clojure = source.is_some_and(|name| SOURCES.iter().any(|it| name.ends_with(it)));
    let mut dollars = class.match_indices('$').filter(|_| is_clojure);
    dollars.next()?;
    Some(dollars.next().map_or(class, |(at, _)| &class[..at]))
}

/// A function that has a name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Function {
    namespace: String,
    name: String,
}

impl Function {
    /// The function of a class, by its internal name. Functions without a name have a number instead.
    fn of(class: &str) -> Option<Function> {
        let (namespace, name) = class.split_once('$')?;
        let is_numbered = name.contains("__") || name.starts_with("eval");
        (!name.contains('$') && !is_numbered).then(|| Function {
            namespace: demunge(&namespace.replace('/', ".")),
            name: demunge(name),
        })
    }
}

/// The name in the source of a name in a class file.
fn demunge(name: &str) -> String {
    let mut name = name.to_owned();
    for (munged, character) in MUNGED {
        name = name.replace(munged, character);
    }
    name
}

/// The script that calls the functions of a recording by their Vars.
pub(crate) fn by_vars(script: Script, recording: &Recording) -> Script {
    let observed = recording.classes().iter().filter(|class| class.observed);
    let functions = observed.filter(|class| {
        let bytes = recording.class_bytes(class).ok();
        let parsed = bytes.as_deref().and_then(|it| ClassFile::parse(it).ok());
        let parent = parsed.and_then(|it| it.super_name().ok().flatten().map(|it| it.into_owned()));
        parent.is_some_and(|parent| FUNCTIONS.contains(&parent.as_str()))
    });
    let functions: BTreeMap<&str, Function> = functions
        .filter_map(|class| Some((class.name.as_str(), Function::of(&class.name)?)))
        .collect();
    match functions.is_empty() {
        true => script,
        false => rewritten(script, &functions),
    }
}

fn rewritten(script: Script, functions: &BTreeMap<&str, Function>) -> Script {
    let owner = |statement: &Statement| Some(script.target(statement)?.owner.clone());
    let is_made = |statement: &Statement| {
        let target = script.target(statement);
        target.is_some_and(|target| target.name == "<init>")
    };
    // The classes that the script uses, and the Vars of those whose calls can all be made by them.
    let mut vars: BTreeMap<String, Option<Value>> = BTreeMap::new();
    let mut builder = Builder::of(&script);
    for statement in &script.statements {
        let class = owner(statement).filter(|class| functions.contains_key(class.as_str()));
        let Some(class) = class else {
            continue;
        };
        let var = builder.variable(&class);
        let var = vars.entry(class).or_insert(Some(var));
        if !is_made(statement) && called(&script, statement).is_none() {
            *var = None;
        }
    }
    let mut statements = script.statements[..script.prelude].to_vec();
    let mut loaded: BTreeMap<&str, usize> = BTreeMap::new();
    let mut waits = BTreeSet::new();
    for (class, var) in &vars {
        let Function { namespace, name } = &functions[class.as_str()];
        if !loaded.contains_key(namespace.as_str()) {
            statements.extend(load(&mut builder, namespace));
            loaded.insert(namespace, statements.len() - 1);
        }
        if let Some(var) = var {
            let (statement, on) = (statements.len(), loaded[namespace.as_str()]);
            waits.insert(Wait { statement, on });
            statements.push(var_of(&mut builder, namespace, name, var.clone()));
        }
    }
    let mut names: BTreeMap<ObjectId, ObjectId> = BTreeMap::new();
    for mut statement in script.statements[script.prelude..].iter().cloned() {
        let class = owner(&statement).filter(|class| vars.contains_key(class));
        let Some(class) = class else {
            statements.push(statement);
            continue;
        };
        let Some(var) = &vars[&class] else {
            let on = loaded[functions[class.as_str()].namespace.as_str()];
            let number = statements.len();
            waits.insert(Wait {
                statement: number,
                on,
            });
            statements.push(statement);
            continue;
        };
        let object = match is_made(&statement) {
            true => statement.defines(),
            false => script.receiver(&statement),
        };
        names.extend(object.zip(var.identity()));
        if let Some(target) = called(&script, &statement) {
            let receivers = usize::from(script.receiver(&statement).is_some());
            let given = statement.given.split_off(receivers);
            let given = [var.clone()].into_iter().chain(given).collect();
            statements.push(builder.called(target, false, given, statement.end));
        }
    }
    // A function may also be given to another.
    for value in statements.iter_mut().flat_map(Statement::values_mut) {
        for (object, var) in &names {
            rename(value, *object, *var);
        }
    }
    Script {
        tables: Arc::new(builder.finish()),
        statements,
        waits,
        ..script
    }
}

/// The method of [`FUNCTION`] that does the same as a call of a function, if it takes and returns objects.
fn called(script: &Script, statement: &Statement) -> Option<Member> {
    let target = script.target(statement)?;
    let (parameters, result) = target.descriptor.strip_prefix('(')?.split_once(')')?;
    let object = "Ljava/lang/Object;";
    let is_plain = parameters.replace(object, "").is_empty() && result == object;
    let is_call = matches!(target.name.as_str(), "invoke" | "invokeStatic");
    (is_plain && is_call).then(|| Member {
        owner: FUNCTION.to_owned(),
        name: "invoke".to_owned(),
        descriptor: target.descriptor.clone(),
    })
}

/// Statements that load a namespace.
fn load(builder: &mut Builder, namespace: &str) -> [Statement; 3] {
    let require = builder.variable(FUNCTION);
    let symbol = builder.variable("java/lang/Object");
    let read = MemberName::of(API, "read", "(Ljava/lang/String;)Ljava/lang/Object;");
    let invoke = "(Ljava/lang/Object;)Ljava/lang/Object;";
    let invoke = MemberName::of(FUNCTION, "invoke", invoke);
    let text = vec![Value::text(namespace)];
    [
        var_of(builder, "clojure.core", "require", require.clone()),
        builder.call_static(read, text, Some(symbol.clone())),
        builder.call(invoke, require, vec![symbol], None),
    ]
}

/// A statement that finds a Var.
fn var_of(builder: &mut Builder, namespace: &str, name: &str, found: Value) -> Statement {
    let descriptor = "(Ljava/lang/Object;Ljava/lang/Object;)Lclojure/lang/IFn;";
    let given = vec![Value::text(namespace), Value::text(name)];
    builder.call_static(MemberName::of(API, "var", descriptor), given, Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_the_names_of_their_sources() {
        let name =
            |class: &str| Function::of(class).map(|it| format!("{}/{}", it.namespace, it.name));
        assert_eq!(name("a/b_c$is_it_QMARK_").as_deref(), Some("a.b-c/is-it?"));
        assert_eq!(name("a/core$_main").as_deref(), Some("a.core/-main"));
        assert_eq!(name("a/core$f$fn__12"), None);
        assert_eq!(name("a/core$fn__12"), None);
        assert_eq!(name("a/core$eval7"), None);
        assert_eq!(name("a/Core"), None);
    }

    #[test]
    fn functions_within_one_belong_to_it() {
        let clj = Some("core.clj");
        assert_eq!(function_class("a/core$f$fn__3", clj), Some("a/core$f"));
        assert_eq!(function_class("a/core$f", clj), Some("a/core$f"));
        assert_eq!(function_class("a/Core$F$G", Some("Core.java")), None);
        assert_eq!(function_class("a/core", clj), None);
    }

    #[test]
    fn functions_are_called_by_their_vars() {
        let script: Script = "\
script 1
type 1 parking/core$fee
type 2 java/lang/Object
site 1 entry parking/core$fee.<init>()V
site 2 entry parking/core$fee.invoke(Ljava/lang/Object;)Ljava/lang/Object;
site 3 entry static parking/core$fee.invokeStatic(Ljava/lang/Object;)Ljava/lang/Object;
=> @1()
<= @1 = #1:@1
=> @2(box 0L) on #1:@1
<= @2 = #2:@2
=> @3(#2:@2)
<= @3 = null
"
        .parse()
        .unwrap();
        let fee = Function::of("parking/core$fee").unwrap();
        let script = rewritten(script, &BTreeMap::from([("parking/core$fee", fee)]));
        insta::assert_snapshot!(script.pruned().to_string());
    }
}
