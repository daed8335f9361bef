//! Reflection as the last resort: methods at the end of the test class. They throw the exceptions of the program
//! itself, without a wrapper.

use std::collections::BTreeSet;

use culprit_model::Member;

use crate::code::{Code, TypeName};
use crate::error::Error;
use crate::expr::Expr;
use crate::scope::{Scope, Throws};
use crate::types::{Type, parameters};

/// A helper method that the test needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Helper {
    Construct,
    Call,
    Run,
    Get,
    Set,
    Sneak,
}

const CONSTRUCT: &str = r#"
    private static Object construct(Class<?> type, Class<?>[] types, Object... arguments)
            throws Throwable {
        Constructor<?> constructor = type.getDeclaredConstructor(types);
        constructor.setAccessible(true);
        try {
            return constructor.newInstance(arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
"#;

const CALL: &str = r#"
    private static Object call(Class<?> type, Object receiver, String name, Class<?>[] types,
            Object... arguments) throws Throwable {
        Method method = type.getDeclaredMethod(name, types);
        method.setAccessible(true);
        try {
            return method.invoke(receiver, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
"#;

const RUN: &str = r#"
    private static Object run(Class<?> type, Object receiver, String name, Class<?>[] types,
            Object... arguments) {
        try {
            return call(type, receiver, name, types, arguments);
        } catch (Throwable e) {
            throw TEST.<RuntimeException>sneak(e);
        }
    }
"#;

const GET: &str = r#"
    private static Object get(Class<?> type, Object receiver, String name) throws Exception {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(receiver);
    }
"#;

const SET: &str = r#"
    private static void set(Class<?> type, Object receiver, String name, Object value)
            throws Exception {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        field.set(receiver, value);
    }
"#;

const SNEAK: &str = r#"
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> RuntimeException sneak(Throwable exception) throws T {
        throw (T) exception;
    }
"#;

/// The helper methods, for the end of the class.
pub(crate) fn source(scope: &Scope<'_>) -> String {
    let helpers: BTreeSet<Helper> = scope.helpers.borrow().clone();
    let mut source = String::new();
    for helper in helpers {
        let (text, classes): (&str, &[&str]) = match helper {
            Helper::Construct => (CONSTRUCT, &["Constructor", "InvocationTargetException"]),
            Helper::Call => (CALL, &["Method", "InvocationTargetException"]),
            Helper::Run => (RUN, &["RuntimeException"]),
            Helper::Get => (GET, &["Field"]),
            Helper::Set => (SET, &["Field"]),
            Helper::Sneak => (SNEAK, &[]),
        };
        let mut text = text.to_owned();
        text = text.replace("TEST", scope.imports.test());
        for class in classes {
            let class_name = match *class {
                "RuntimeException" => Type::class("java/lang/RuntimeException"),
                _ => Type::Class(format!("java/lang/reflect/{class}")),
            };
            let name = scope.imports.plain(&class_name);
            text = replace_word(&text, class, &name);
        }
        source.push_str(&text);
    }
    source
}

/// Replaces a word, but not where it is a part of another.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    if word == by {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let before = rest[..at].chars().next_back();
        let after = rest[at + word.len()..].chars().next();
        let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric());
        out.push_str(&rest[..at]);
        out.push_str(if inside(before) || inside(after) {
            word
        } else {
            by
        });
        rest = &rest[at + word.len()..];
    }
    out + rest
}

impl Scope<'_> {
    fn helper(&self, helper: Helper, throws: Throws) {
        self.helpers.borrow_mut().insert(helper);
        self.throws(throws);
    }

    /// An exception thrown where the compiler wants it declared and it cannot be.
    pub(crate) fn sneak(&self, exception: Expr) -> Code {
        self.helpers.borrow_mut().insert(Helper::Sneak);
        let runtime = self.named_class("java/lang/RuntimeException");
        let test = self.imports.test().to_owned();
        Code::Sneak(test, runtime, Box::new(exception))
    }

    /// A class as a value: `Order.class`, or by its name where it cannot be named.
    pub(crate) fn class_literal(&self, of: &Type) -> Expr {
        let class = Type::class("java/lang/Class");
        if of.name() == Some("void") {
            let name = TypeName {
                of: of.clone(),
                java: "void".to_owned(),
            };
            return Expr::new(Code::Class(name), class);
        }
        if self.access.names(of) {
            return Expr::new(Code::Class(self.plainly_named(of)), class);
        }
        self.throws(Throws::Exception);
        let code = Code::ClassForName(self.plainly_named(&class), binary_name(of));
        Expr::new(code, class)
    }

    fn types_literal(&self, descriptor: &str) -> Expr {
        let all = parameters(descriptor);
        let all = all.iter().map(|of| self.class_literal(of)).collect();
        let of = Type::Array(Box::new(Type::class("java/lang/Class")));
        Expr::new(Code::Classes(all), of)
    }

    /// A call by reflection. A constructor has no receiver and gives the new object.
    pub(crate) fn reflective_call(
        &self,
        member: &Member,
        receiver: Option<&Expr>,
        arguments: &[Expr],
    ) -> Result<Expr, Error> {
        let class = self.class_literal(&Type::of_class(&member.owner));
        let types = self.types_literal(&member.descriptor);
        let mut words = if member.name == "<init>" {
            self.helper(Helper::Construct, Throws::Throwable);
            vec![class, types]
        } else {
            self.helper(Helper::Call, Throws::Throwable);
            vec![class, or_null(receiver), quoted(&member.name), types]
        };
        // One array, or one null, would be taken for all the arguments.
        let alone = arguments.len() == 1;
        words.extend(arguments.iter().map(|argument| match argument.of {
            Type::Array(_) | Type::Null if alone => self.cast(argument, &Type::object()),
            _ => argument.clone(),
        }));
        let helper = if member.name == "<init>" {
            "construct"
        } else {
            "call"
        };
        let throws = vec!["java/lang/Throwable".to_owned()];
        Ok(Expr::new(Code::Helper(helper, words), Type::object()).throwing(throws))
    }

    /// The same where the compiler would want what it throws to be declared.
    pub(crate) fn reflective_run(
        &self,
        member: &Member,
        receiver: Option<&Expr>,
        arguments: &[Expr],
    ) -> Result<Expr, Error> {
        let throws = self.throws.get();
        let call = self.reflective_call(member, receiver, arguments)?;
        self.throws.set(throws);
        if member.name == "<init>" {
            return Ok(call);
        }
        let mut helpers = self.helpers.borrow_mut();
        helpers.extend([Helper::Run, Helper::Sneak]);
        Ok(match call.code {
            Code::Helper(_, words) => Expr::new(Code::Helper("run", words), call.of),
            code => Expr::new(code, call.of),
        })
    }

    /// A field, read by reflection.
    pub(crate) fn reflective_get(&self, member: &Member, receiver: Option<&Expr>) -> Expr {
        self.helper(Helper::Get, Throws::Exception);
        let class = self.class_literal(&Type::of_class(&member.owner));
        let words = vec![class, or_null(receiver), quoted(&member.name)];
        Expr::new(Code::Helper("get", words), Type::object())
    }

    /// A field, written by reflection.
    pub(crate) fn reflective_set(
        &self,
        member: &Member,
        receiver: Option<&Expr>,
        value: &Expr,
    ) -> Expr {
        self.helper(Helper::Set, Throws::Exception);
        let class = self.class_literal(&Type::of_class(&member.owner));
        let words = vec![
            class,
            or_null(receiver),
            quoted(&member.name),
            value.clone(),
        ];
        Expr::new(Code::Helper("set", words), Type::Null)
    }
}

fn or_null(receiver: Option<&Expr>) -> Expr {
    let null = || Expr::new(Code::Null, Type::Null);
    receiver.cloned().unwrap_or_else(null)
}

/// The name of a member as a string.
fn quoted(name: &str) -> Expr {
    let of = Type::class("java/lang/String");
    Expr::new(Code::Quoted(name.to_owned()), of)
}

/// The name that `Class.forName` takes.
fn binary_name(of: &Type) -> String {
    fn descriptor(of: &Type) -> String {
        match of {
            Type::Primitive(shape) => shape.code().to_string(),
            Type::Class(name) => format!("L{};", name.replace('/', ".")),
            Type::Array(component) => format!("[{}", descriptor(component)),
            Type::Null => "Ljava.lang.Object;".to_owned(),
        }
    }
    match of {
        Type::Class(name) => name.replace('/', "."),
        other => descriptor(other),
    }
}
