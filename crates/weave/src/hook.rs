//! Hooks: methods of the JDK, of test frameworks and of loggers that tell that a run fails or ends, that print
//! a stack trace, that list fields, that start a process, that ask for a hash, or that load classes for the JVM.

use culprit_classfile::{
    Asm, ClassFile, Code, EditPosition, Editor, HandlerSpec, MethodContext, Pool,
};
use culprit_model::observe::is_jdk_name;

use crate::loading;
use crate::probe::PROBE;
use crate::{Error, Purpose};

/// Reports to the runtime at the entry of a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hook {
    /// Class and method to hook.
    pub class: &'static str,
    pub method: &'static str,
    pub descriptor: &'static str,
    /// What is reported.
    report: Report,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Report {
    /// `Failures.uncaught(this, argument)`.
    Uncaught,
    /// `Failures.test(argument)`.
    Test,
    /// `Failures.test(argument.getException(), argument.getTestHeader())`, for JUnit 4's `Failure`.
    TestFailure,
    /// `Failures.test(second argument.getThrowable())`, for the result of a test of TestNG.
    TestResult,
    /// `Failures.printed(this)`, for the one method of the JDK that prints stack traces.
    Printed,
    /// `Failures.printed(argument)`.
    Logged,
    /// `Failures.exiting(argument)`.
    Exiting,
    /// The result, an array of this type, goes through `Hiding.hide`.
    Hidden(&'static str),
    /// The first argument goes through `Children.command`.
    ChildCommand,
    /// The result goes through `Children.environment`, with the second argument.
    ChildEnvironment,
    /// `Probe.asked(this)`.
    Asked,
    /// `Probe.loads(this)`, and `Probe.loaded` where the method ends.
    Loads,
}

impl Hook {
    /// Whether the hook is put in. Failures and children are the business of a recording; a replay needs
    /// hashes, and classes that library code finds to be as they were: streams know them by a number
    /// that their members make up.
    pub fn is_for(&self, purpose: Purpose) -> bool {
        let replayed = matches!(
            self.report,
            Report::Asked | Report::Hidden(FIELDS | METHODS)
        );
        purpose == Purpose::Record || replayed
    }
}

/// The runtime's class that hooks call.
pub const FAILURES: &str = "culprit/runtime/Failures";

/// The runtime's class that keeps added members out of sight.
pub const HIDING: &str = "culprit/runtime/Hiding";

/// The runtime's class that follows child processes.
pub const CHILDREN: &str = "culprit/runtime/Children";

const FIELDS: &str = "[Ljava/lang/reflect/Field;";
const METHODS: &str = "[Ljava/lang/reflect/Method;";
const FRAMES: &str = "[Ljava/lang/StackTraceElement;";

/// Every hook. Those in classes of the JDK need the class to be transformed again, since it is
/// loaded before any agent can act.
pub const HOOKS: [Hook; 19] = [
    Hook {
        class: "java/lang/Thread",
        method: "dispatchUncaughtException",
        descriptor: "(Ljava/lang/Throwable;)V",
        report: Report::Uncaught,
    },
    Hook {
        class: "java/lang/Runtime",
        method: "exit",
        descriptor: "(I)V",
        report: Report::Exiting,
    },
    Hook {
        class: "java/lang/Runtime",
        method: "halt",
        descriptor: "(I)V",
        report: Report::Exiting,
    },
    Hook {
        class: "java/lang/Throwable",
        method: "printStackTrace",
        descriptor: "(Ljava/lang/Throwable$PrintStreamOrWriter;)V",
        report: Report::Printed,
    },
    // Loggers that take stack traces apart instead of printing them: Logback and Log4j 2.
    Hook {
        class: "ch/qos/logback/classic/spi/ThrowableProxy",
        method: "<init>",
        descriptor: "(Ljava/lang/Throwable;)V",
        report: Report::Logged,
    },
    Hook {
        class: "org/apache/logging/log4j/core/impl/ThrowableProxy",
        method: "<init>",
        descriptor: "(Ljava/lang/Throwable;)V",
        report: Report::Logged,
    },
    // Final there, so that no enum can have a hash of its own, nor a method that tells of it.
    Hook {
        class: "java/lang/Enum",
        method: "hashCode",
        descriptor: "()I",
        report: Report::Asked,
    },
    Hook {
        class: "java/lang/ClassLoader",
        method: loading::LOADS.0,
        descriptor: loading::LOADS.1,
        report: Report::Loads,
    },
    // The JVM's way to the transformers of agents written in Java.
    Hook {
        class: "sun/instrument/InstrumentationImpl",
        method: "transform",
        descriptor: "(Ljava/lang/Module;Ljava/lang/ClassLoader;Ljava/lang/String;Ljava/lang/Class;\
                     Ljava/security/ProtectionDomain;[BZ)[B",
        report: Report::Loads,
    },
    Hook {
        class: "jdk/internal/reflect/Reflection",
        method: "filterFields",
        descriptor: "(Ljava/lang/Class;[Ljava/lang/reflect/Field;)[Ljava/lang/reflect/Field;",
        report: Report::Hidden(FIELDS),
    },
    Hook {
        class: "jdk/internal/reflect/Reflection",
        method: "filterMethods",
        descriptor: "(Ljava/lang/Class;[Ljava/lang/reflect/Method;)[Ljava/lang/reflect/Method;",
        report: Report::Hidden(METHODS),
    },
    // Up to JDK 17 and since; and for the stacks of other threads.
    Hook {
        class: "java/lang/StackTraceElement",
        method: "of",
        descriptor: "(Ljava/lang/Throwable;I)[Ljava/lang/StackTraceElement;",
        report: Report::Hidden(FRAMES),
    },
    Hook {
        class: "java/lang/StackTraceElement",
        method: "of",
        descriptor: "(Ljava/lang/Object;I)[Ljava/lang/StackTraceElement;",
        report: Report::Hidden(FRAMES),
    },
    Hook {
        class: "java/lang/StackTraceElement",
        method: "of",
        descriptor: "([Ljava/lang/StackTraceElement;)[Ljava/lang/StackTraceElement;",
        report: Report::Hidden(FRAMES),
    },
    Hook {
        class: "java/lang/ProcessImpl",
        method: "start",
        descriptor: "([Ljava/lang/String;Ljava/util/Map;Ljava/lang/String;\
                     [Ljava/lang/ProcessBuilder$Redirect;Z)Ljava/lang/Process;",
        report: Report::ChildCommand,
    },
    Hook {
        class: "java/lang/ProcessEnvironment",
        method: "toEnvironmentBlock",
        descriptor: "(Ljava/util/Map;[I)[B",
        report: Report::ChildEnvironment,
    },
    Hook {
        class: "org/junit/platform/engine/TestExecutionResult",
        method: "failed",
        descriptor: "(Ljava/lang/Throwable;)Lorg/junit/platform/engine/TestExecutionResult;",
        report: Report::Test,
    },
    Hook {
        class: "org/junit/runner/notification/RunNotifier",
        method: "fireTestFailure",
        descriptor: "(Lorg/junit/runner/notification/Failure;)V",
        report: Report::TestFailure,
    },
    // What a test of TestNG threw as expected is not reported here, unlike to its results.
    Hook {
        class: "org/testng/TestRunner",
        method: "addFailedTest",
        descriptor: "(Lorg/testng/ITestNGMethod;Lorg/testng/ITestResult;)V",
        report: Report::TestResult,
    },
];

/// Whether a class is not to be asked for: it is not the JDK's, or the JDK sets it up when the first process starts,
/// by properties that the program may have set, or when the first agent does.
pub fn is_late(class: &str) -> bool {
    let is_set_up_later = ["java/lang/Process", "sun/instrument/"];
    !is_jdk_name(class) || is_set_up_later.iter().any(|it| class.starts_with(it))
}

/// Whether a class has hooks.
pub fn is_hooked(class: &str, purpose: Purpose) -> bool {
    let mut hooks = HOOKS.iter().filter(|hook| hook.is_for(purpose));
    hooks.any(|hook| hook.class == class)
}

/// Puts the hooks of a class in; `None` if it has none of the methods.
pub fn hook(mut class: ClassFile, purpose: Purpose) -> Result<Option<Vec<u8>>, Error> {
    let name = class.name()?.into_owned();
    let mut pool = std::mem::replace(&mut class.pool, Pool::new());
    let mut methods = std::mem::take(&mut class.methods);
    let mut hooked = false;
    for method in &mut methods {
        let (method_name, descriptor) = (
            pool.utf8(method.name)?.into_owned(),
            pool.utf8(method.descriptor)?.into_owned(),
        );
        let Some(hook) = HOOKS
            .iter()
            .filter(|hook| hook.is_for(purpose))
            .find(|h| h.class == name && h.method == method_name && h.descriptor == descriptor)
        else {
            continue;
        };
        let Some(place) = method.attribute_index(&pool, "Code") else {
            continue;
        };
        let code = Code::parse(&method.attributes[place], &pool)?;
        let context = MethodContext {
            major: class.major,
            this_class: class.this_class,
            access: method.access,
            name: method.name,
            descriptor: method.descriptor,
        };
        let mut editor = Editor::new(&code, context);
        if hook.report == Report::Loads {
            let mut body = loading::mute(&mut editor, &mut pool, &code)?;
            body.athrow();
            editor.add_handler(HandlerSpec {
                from: EditPosition::AfterEntry,
                to: EditPosition::End,
                catch_type: 0,
                frame_locals: Vec::new(),
                body,
            });
        } else if hook.report.is_of_result() {
            for instruction in code.instructions() {
                let instruction = instruction?;
                if instruction.is_return() {
                    let asm = hook.report.asm(&mut pool, context.is_static())?;
                    editor.insert_before(instruction.pc, asm);
                }
            }
        } else {
            editor.insert_entry(hook.report.asm(&mut pool, context.is_static())?);
        }
        let edited = editor.finish(&mut pool)?;
        method.attributes[place] = edited.write(&mut pool)?;
        hooked = true;
    }
    class.pool = pool;
    class.methods = methods;
    Ok(if hooked { Some(class.write()?) } else { None })
}

impl Report {
    /// Whether the hook is where the method returns.
    fn is_of_result(self) -> bool {
        matches!(self, Report::Hidden(_) | Report::ChildEnvironment)
    }

    fn asm(self, pool: &mut Pool, is_static: bool) -> Result<Asm, Error> {
        let argument = u16::from(!is_static);
        let mut asm = Asm::new();
        let (name, descriptor) = match self {
            Report::Uncaught => {
                asm.aload(0).aload(argument);
                ("uncaught", "(Ljava/lang/Thread;Ljava/lang/Throwable;)V")
            }
            Report::Test => {
                asm.aload(argument);
                ("test", "(Ljava/lang/Throwable;)V")
            }
            Report::Printed => {
                asm.aload(0);
                ("printed", "(Ljava/lang/Throwable;)V")
            }
            Report::Logged => {
                asm.aload(argument);
                ("printed", "(Ljava/lang/Throwable;)V")
            }
            Report::TestFailure => {
                let failure = "org/junit/runner/notification/Failure";
                let get =
                    pool.add_method_ref(failure, "getException", "()Ljava/lang/Throwable;")?;
                asm.aload(argument).invokevirtual(get);
                let get = pool.add_method_ref(failure, "getTestHeader", "()Ljava/lang/String;")?;
                asm.aload(argument).invokevirtual(get);
                ("test", "(Ljava/lang/Throwable;Ljava/lang/String;)V")
            }
            Report::TestResult => {
                let result = "org/testng/ITestResult";
                let throwable = "()Ljava/lang/Throwable;";
                let get = pool.add_interface_method_ref(result, "getThrowable", throwable)?;
                asm.aload(argument + 1).invokeinterface(get, 1);
                ("test", "(Ljava/lang/Throwable;)V")
            }
            Report::Hidden(array) => {
                let descriptor = format!("({array}){array}");
                asm.invokestatic(pool.add_method_ref(HIDING, "hide", &descriptor)?);
                return Ok(asm);
            }
            Report::ChildCommand => {
                let descriptor = "([Ljava/lang/String;)[Ljava/lang/String;";
                let command = pool.add_method_ref(CHILDREN, "command", descriptor)?;
                asm.aload(argument).invokestatic(command).astore(argument);
                return Ok(asm);
            }
            Report::ChildEnvironment => {
                let environment = pool.add_method_ref(CHILDREN, "environment", "([B[I)[B")?;
                asm.aload(argument + 1).invokestatic(environment);
                return Ok(asm);
            }
            Report::Asked => {
                asm.aload(0);
                let asked = pool.add_method_ref(PROBE, "asked", "(Ljava/lang/Object;)V")?;
                asm.invokestatic(asked);
                return Ok(asm);
            }
            Report::Exiting => {
                asm.iload(argument);
                ("exiting", "(I)V")
            }
            // Around the whole method.
            Report::Loads => return Ok(asm),
        };
        asm.invokestatic(pool.add_method_ref(FAILURES, name, descriptor)?);
        Ok(asm)
    }
}
