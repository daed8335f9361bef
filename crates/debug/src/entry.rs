//! The entry of a program: `main`, and a function that `main` only hands its command line to. A test that calls
//! nothing else of the program is the program again.

use culprit_model::script::Action;
use culprit_model::value::Contents;
use culprit_model::{Reference, Value};
use culprit_program::{command_line, main_class};
use culprit_scripts::{OwnCode, Script, Statement, is_input_file};

use crate::FailedJvm;

/// The end of the name of the class of a function `-main` in Clojure, behind its namespace.
const FUNCTION_MAIN: &str = "$_main";

/// The entry of a recorded program.
pub(crate) struct Entry<'j> {
    own: OwnCode<'j>,
    /// The class with `main`, by its internal name.
    main: Option<String>,
    command: &'j str,
}

/// A script that calls nothing of the program but its entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Again {
    /// `main` of a class, by its Java name, or what the compiler made of the body of `main`.
    Main(String),
    /// Another function, to which nothing but words of the command line is given.
    Command,
}

impl<'j> Entry<'j> {
    pub(crate) fn of(jvm: &'j FailedJvm, test: Option<&str>) -> Entry<'j> {
        let start = jvm.recording.start();
        Entry {
            own: OwnCode::of(&jvm.program, start, test),
            main: main_class(start).map(|name| name.replace('.', "/")),
            command: command_line(start),
        }
    }

    /// Recognises a script that is the program again.
    pub(crate) fn again(&self, script: &Script) -> Option<Again> {
        let is_own = |owner: &str| self.own.has(owner);
        again(script, self.main.as_deref()?, self.command, is_own)
    }
}

fn again(
    script: &Script,
    main: &str,
    command: &str,
    is_own: impl Fn(&str) -> bool,
) -> Option<Again> {
    let calls = script.statements.iter().filter_map(|statement| {
        let target = script.target(statement)?;
        let is_call = matches!(statement.action, Action::Call(_));
        (is_call && is_own(&target.owner)).then_some((statement, target))
    });
    let calls: Vec<_> = calls.collect();
    let is_body = |owner: &str| {
        let nested = owner.strip_prefix(main);
        nested.is_some_and(|nested| nested.starts_with("$main$"))
    };
    let is_main = calls.iter().all(|(_, target)| {
        let owner = &target.owner;
        target.name == "main" || is_body(owner) || owner.ends_with(FUNCTION_MAIN)
    });
    match &calls[..] {
        [] => None,
        [(_, target), ..] if is_main => {
            let owner = &target.owner;
            let class = match is_body(owner) {
                true => main,
                false => owner.strip_suffix(FUNCTION_MAIN).unwrap_or(owner),
            };
            Some(Again::Main(class.replace('/', ".")))
        }
        [(call, target)]
            if target.descriptor.ends_with(")V")
                && target.name != "<init>"
                && is_given_words(script, call, command) =>
        {
            Some(Again::Command)
        }
        _ => None,
    }
}

/// True if a call is given nothing but words of the command line, or files that they name. The object that it is made on may be a singleton,
/// which a field holds.
fn is_given_words(script: &Script, call: &Statement, command: &str) -> bool {
    let receiver = script.receiver(call);
    let is_singleton = receiver.is_none_or(|receiver| {
        let mut statements = script.statements.iter();
        let made = statements.find(|it| it.defines() == Some(receiver));
        made.is_some_and(|it| matches!(it.action, Action::Read(_)) && it.given.is_empty())
    });
    let arguments = &call.given[usize::from(receiver.is_some())..];
    let is_word = |value: &Value| is_input_file(value, script) || is_words(value, command);
    is_singleton && arguments.iter().all(is_word)
}

fn is_words(value: &Value, command: &str) -> bool {
    match value {
        Value::Reference(Reference::Null) => true,
        Value::Reference(Reference::String(units)) => {
            command.contains(&String::from_utf16_lossy(units))
        }
        Value::Reference(Reference::Array {
            contents: Contents::Elements(elements),
            ..
        }) => elements.iter().all(|element| is_words(element, command)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use culprit_scripts::{InputFile, with_input_files};

    use super::*;

    const COMMAND: &str = "shop.Main order.txt";

    #[track_caller]
    fn check(statements: &str, expect: Option<Again>) {
        let sites = "site 1 entry static shop/Main.main([Ljava/lang/String;)V\n\
                     site 2 entry static shop/Main.run(Ljava/lang/String;)V\n\
                     site 3 entry static shop/Main.parse(Ljava/lang/String;)I\n\
                     site 4 entry static lib/Builders.run()V\n\
                     site 5 entry static shop/Main$main$1.invoke()V\n\
                     site 6 entry static shop/core$_main.invokeStatic()V\n";
        let script: Script = format!("script 1\n{sites}{statements}").parse().unwrap();
        let is_own = |owner: &str| owner.starts_with("shop/");
        let again = again(&script, "shop/Main", COMMAND, is_own);
        assert_eq!(again, expect, "{statements}");
    }

    #[test]
    fn main_alone_is_the_program_again() {
        let main = Some(Again::Main("shop.Main".to_owned()));
        check("=> @1(null)\n<= @1\n", main.clone());
        check("=> @5()\n<= @5\n=> @4()\n<= @4\n", main);
        let function = Again::Main("shop.core".to_owned());
        check("=> @6()\n<= @6\n", Some(function));
        check("=> @1(null)\n<= @1\n=> @3(\"a\")\n<= @3\n", None);
        check("=> @4()\n<= @4\n", None);
    }

    #[test]
    fn a_function_that_is_given_the_command_line_alone_is_the_program_again() {
        check("=> @2(\"order.txt\")\n<= @2\n", Some(Again::Command));
        check("=> @2(null)\n<= @2\n", Some(Again::Command));
        check("=> @2(\"another\")\n<= @2\n", None);
        check("=> @3(\"order.txt\")\n<= @3\n", None);
    }

    #[test]
    fn a_file_of_the_command_line_that_the_test_writes_is_a_word_of_it() {
        let script = "script 1\nsite 1 entry static shop/Main.run(Ljava/lang/String;)V\n\
                      => @1(\"order.txt\")\n<= @1\n";
        let script: Script = script.parse().unwrap();
        let with =
            with_input_files(&script, &|_| Some(InputFile::Text("7 pens".to_owned()))).unwrap();
        let is_own = |owner: &str| owner.starts_with("shop/");
        let again = again(&with.script, "shop/Main", COMMAND, is_own);
        assert_eq!(again, Some(Again::Command));
    }
}
