//! Whose code a frame belongs to: judged by names, which is all that a stack trace has. The table of
//! names is `culprit_model::owner`; classes that the JVM makes up are recognised here.

use culprit_model::Owner;

use crate::frame::{Frame, split_hidden};

/// Whose code a frame belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The program, its tests and its libraries.
    Program,
    /// The JDK, and what compilers of other languages call for null checks and the like.
    Jdk,
    /// Frames that the JVM puts between a caller and its callee: reflection, proxies, hidden classes.
    /// They may depend on how often a method was called before.
    Reflection,
    /// Tools that start tests and commands, or replace collaborators in tests.
    Harness,
    /// Libraries of assertions.
    Assertion,
}

impl Frame {
    /// Whose code this is.
    pub fn origin(&self) -> Origin {
        let (name, number) = split_hidden(&self.class);
        let made_up = !number.is_empty() || self.class.contains("$$Lambda");
        if made_up || simple(name).starts_with("$Proxy") {
            return Origin::Reflection;
        }
        match Owner::of_java(name) {
            Owner::Reflection => Origin::Reflection,
            Owner::Jdk | Owner::Language => Origin::Jdk,
            Owner::Assertion => Origin::Assertion,
            Owner::BuildTool | Owner::TestFramework | Owner::Mock | Owner::Culprit => {
                Origin::Harness
            }
            Owner::Other | Owner::MaybeJdk | Owner::BuildLibrary => Origin::Program,
        }
    }
}

/// The name of a class without its package.
pub(crate) fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class: &str, expect: Origin) {
        let frame = Frame {
            class: class.to_owned(),
            method: "run".to_owned(),
            file: None,
            line: None,
            native: false,
        };
        assert_eq!(frame.origin(), expect, "{class}");
    }

    #[test]
    fn names_tell_whose_code_it_is() {
        check("java.util.Objects", Origin::Jdk);
        check("javax.servlet.http.HttpServlet", Origin::Program);
        check("javax.crypto.Cipher", Origin::Jdk);
        check("com.sun.mail.smtp.SMTPTransport", Origin::Program);
        check(
            "jdk.internal.reflect.DirectMethodHandleAccessor",
            Origin::Reflection,
        );
        check("jdk.proxy1.$Proxy0", Origin::Reflection);
        check("shop.Cart$$Lambda/0x00007f10", Origin::Reflection);
        check("org.junit.Assert", Origin::Assertion);
        check("org.junit.runners.ParentRunner", Origin::Harness);
        check("org.junit.jupiter.api.Assertions", Origin::Assertion);
        check("org.junit.jupiter.engine.execution.X", Origin::Harness);
        check("org.testng.Assert", Origin::Assertion);
        check("org.testng.internal.Invoker", Origin::Harness);
        check("culprit.runtime.Probe", Origin::Harness);
        check("shop.AssertTest", Origin::Program);
        check("Main", Origin::Program);
    }
    /// Frames that were taken for the program's before the lists of prefixes became one table.
    #[test]
    fn libraries_of_tests_are_no_program() {
        check("org.easymock.EasyMock", Origin::Harness);
        check("org.jmock.Mockery", Origin::Harness);
        check("io.mockk.MockKKt", Origin::Harness);
        check("io.kotest.engine.TestEngine", Origin::Harness);
        check("io.kotest.matchers.ShouldKt", Origin::Assertion);
        check("org.spockframework.runtime.SpockRuntime", Origin::Assertion);
        check(
            "org.springframework.test.web.servlet.MockMvc",
            Origin::Harness,
        );
        check(
            "org.springframework.test.util.AssertionErrors",
            Origin::Assertion,
        );
        check("org.ietf.jgss.Oid", Origin::Jdk);
        // Libraries of build tools may be what fails, as before.
        check("org.codehaus.plexus.util.FileUtils", Origin::Program);
        check("org.apache.tools.ant.Project", Origin::Program);
        // A program may have this name.
        check("culprit.Shop", Origin::Program);
    }
}
