//! Whose code a frame belongs to: judged by names, which is all that a stack trace has.

use crate::frame::{Frame, split_hidden};

/// Whose code a frame belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The program, its tests and its libraries.
    Program,
    /// The JDK, and what compilers of other languages call for null checks and the like.
    Jdk,
    /// What the JVM puts between a call and what it calls: reflection, proxies, hidden classes.
    /// How often a method was called already may decide about these frames.
    Reflection,
    /// What starts tests and commands.
    Harness,
    /// Libraries of assertions.
    Assertion,
}

const REFLECTION: &[&str] = &[
    "java.lang.invoke.",
    "java.lang.reflect.",
    "jdk.internal.reflect.",
    "sun.reflect.",
];

const JDK: &[&str] = &[
    "java.",
    "javax.accessibility.",
    "javax.annotation.processing.",
    "javax.crypto.",
    "javax.imageio.",
    "javax.lang.model.",
    "javax.management.",
    "javax.naming.",
    "javax.net.",
    "javax.print.",
    "javax.rmi.",
    "javax.script.",
    "javax.security.",
    "javax.smartcardio.",
    "javax.sound.",
    "javax.sql.",
    "javax.swing.",
    "javax.tools.",
    "javax.xml.catalog.",
    "javax.xml.crypto.",
    "javax.xml.datatype.",
    "javax.xml.namespace.",
    "javax.xml.parsers.",
    "javax.xml.stream.",
    "javax.xml.transform.",
    "javax.xml.validation.",
    "javax.xml.xpath.",
    "jdk.",
    "sun.",
    "com.sun.beans.",
    "com.sun.crypto.",
    "com.sun.imageio.",
    "com.sun.jmx.",
    "com.sun.jndi.",
    "com.sun.management.",
    "com.sun.media.sound.",
    "com.sun.naming.",
    "com.sun.net.",
    "com.sun.nio.",
    "com.sun.org.apache.",
    "com.sun.proxy.",
    "com.sun.rowset.",
    "com.sun.security.",
    "com.sun.tools.",
    "org.w3c.dom.",
    "org.xml.sax.",
    "kotlin.jvm.internal.",
    "scala.runtime.",
];

/// Frames that a failing assertion leaves on top of the stack. `org.junit.jupiter.api.` has
/// more than assertions, but nothing else of it throws in the name of a test.
const ASSERTION: &[&str] = &[
    "com.google.common.truth.",
    "junit.framework.Assert.",
    "junit.framework.TestCase.",
    "kotlin.test.",
    "org.assertj.",
    "org.hamcrest.",
    "org.junit.Assert.",
    "org.junit.internal.ComparisonCriteria.",
    "org.junit.internal.ExactComparisonCriteria.",
    "org.junit.internal.InexactComparisonCriteria.",
    "org.junit.jupiter.api.",
    "org.opentest4j.",
    "org.testng.Assert.",
    "org.testng.Assert$",
    "org.testng.AssertJUnit.",
    "org.testng.asserts.",
];

const HARNESS: &[&str] = &[
    "com.intellij.rt.",
    "culprit.",
    "junit.",
    "net.bytebuddy.",
    "org.apache.maven.surefire.",
    "org.eclipse.jdt.internal.",
    "org.gradle.",
    "org.junit.",
    "org.mockito.",
    "org.spockframework.",
    "org.testng.",
    "worker.org.gradle.",
];

/// Exceptions that say by their class that an assertion failed, whoever throws them.
const FAILED: &[&str] = &[
    "com.google.common.truth.",
    "junit.framework.",
    "org.junit.ComparisonFailure",
    "org.junit.internal.ArrayComparisonFailure",
    "org.mockito.exceptions.",
    "org.opentest4j.",
];

impl Frame {
    /// Whose code this is.
    pub fn origin(&self) -> Origin {
        let (name, number) = split_hidden(&self.class);
        let made_up = !number.is_empty() || self.class.contains("$$Lambda");
        // With the dot, a name in a list can be that of a class or of a package.
        let class = format!("{name}.");
        if made_up || simple(name).starts_with("$Proxy") || starts(&class, REFLECTION) {
            Origin::Reflection
        } else if starts(&class, JDK) {
            Origin::Jdk
        } else if starts(&class, ASSERTION) {
            Origin::Assertion
        } else if starts(&class, HARNESS) {
            Origin::Harness
        } else {
            Origin::Program
        }
    }
}

/// Whether an exception of this class is a failed assertion.
pub(crate) fn tells_assertion(class: &str) -> bool {
    starts(class, FAILED)
}

/// The name of a class without its package.
pub(crate) fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

fn starts(class: &str, list: &[&str]) -> bool {
    list.iter().any(|prefix| class.starts_with(prefix))
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
        check("shop.AssertTest", Origin::Program);
        check("Main", Origin::Program);
    }
}
