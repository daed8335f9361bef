//! Whose code a frame belongs to: judged by names, which is all that a stack trace has. The table of
//! names is `culprit_model::owner`; classes that the JVM makes up are recognised here.

use culprit_model::Owner;

use crate::frame::{Frame, split_hidden};

/// Whose code a frame belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameOrigin {
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
    pub fn origin(&self) -> FrameOrigin {
        let (name, number) = split_hidden(&self.class);
        let made_up = !number.is_empty() || self.class.contains("$$Lambda");
        if made_up || simple(name).starts_with("$Proxy") {
            return FrameOrigin::Reflection;
        }
        match Owner::of_java(name) {
            Owner::Reflection => FrameOrigin::Reflection,
            Owner::Jdk | Owner::Language => FrameOrigin::Jdk,
            Owner::Assertion => FrameOrigin::Assertion,
            Owner::BuildTool | Owner::TestFramework | Owner::Mock | Owner::Culprit => {
                FrameOrigin::Harness
            }
            Owner::Other | Owner::MaybeJdk | Owner::BuildLibrary => FrameOrigin::Program,
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

    fn check(class: &str, expect: FrameOrigin) {
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
        check("java.util.Objects", FrameOrigin::Jdk);
        check("javax.servlet.http.HttpServlet", FrameOrigin::Program);
        check("javax.crypto.Cipher", FrameOrigin::Jdk);
        check("com.sun.mail.smtp.SMTPTransport", FrameOrigin::Program);
        check(
            "jdk.internal.reflect.DirectMethodHandleAccessor",
            FrameOrigin::Reflection,
        );
        check("jdk.proxy1.$Proxy0", FrameOrigin::Reflection);
        check("shop.Cart$$Lambda/0x00007f10", FrameOrigin::Reflection);
        check("org.junit.Assert", FrameOrigin::Assertion);
        check("org.junit.runners.ParentRunner", FrameOrigin::Harness);
        check("org.junit.jupiter.api.Assertions", FrameOrigin::Assertion);
        check("org.junit.jupiter.engine.execution.X", FrameOrigin::Harness);
        check("org.testng.Assert", FrameOrigin::Assertion);
        check("org.testng.internal.Invoker", FrameOrigin::Harness);
        check("culprit.runtime.Probe", FrameOrigin::Harness);
        check("shop.AssertTest", FrameOrigin::Program);
        check("Main", FrameOrigin::Program);
    }
    /// Frames that were taken for the program's before the lists of prefixes became one table.
    #[test]
    fn libraries_of_tests_are_no_program() {
        check("org.easymock.EasyMock", FrameOrigin::Harness);
        check("org.jmock.Mockery", FrameOrigin::Harness);
        check("io.mockk.MockKKt", FrameOrigin::Harness);
        check("io.kotest.engine.TestEngine", FrameOrigin::Harness);
        check("io.kotest.matchers.ShouldKt", FrameOrigin::Assertion);
        check(
            "org.spockframework.runtime.SpockRuntime",
            FrameOrigin::Assertion,
        );
        check(
            "org.springframework.test.web.servlet.MockMvc",
            FrameOrigin::Harness,
        );
        check(
            "org.springframework.test.util.AssertionErrors",
            FrameOrigin::Assertion,
        );
        check("org.ietf.jgss.Oid", FrameOrigin::Jdk);
        // Libraries of build tools may be what fails, as before.
        check("org.codehaus.plexus.util.FileUtils", FrameOrigin::Program);
        check("org.apache.tools.ant.Project", FrameOrigin::Program);
        // A program may have this name.
        check("culprit.Shop", FrameOrigin::Program);
    }
}
