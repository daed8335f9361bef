//! The owner of classes, framework by framework.

use super::*;

/// Checks one owner for several classes, given as Java prints them.
#[track_caller]
fn check(owner: Owner, classes: &[&str]) {
    for class in classes {
        assert_eq!(Owner::of_java(class), owner, "{class}");
    }
}

#[test]
fn the_jdk() {
    check(
        Owner::Jdk,
        &[
            "java.util.Objects",
            "javax.crypto.Cipher",
            "com.sun.net.httpserver.HttpServer",
            "jdk.internal.misc.Unsafe",
            "org.ietf.jgss.Oid",
            "org.w3c.dom.Node",
        ],
    );
    check(
        Owner::Reflection,
        &["java.lang.reflect.Method", "java.lang.invoke.MethodHandle"],
    );
    check(
        Owner::MaybeJdk,
        &[
            "javax.servlet.http.HttpServlet",
            "javax.inject.Inject",
            "com.sun.mail.smtp.SMTPTransport",
        ],
    );
}

#[test]
fn runtimes_of_languages() {
    check(
        Owner::Language,
        &[
            "kotlin.jvm.internal.Intrinsics",
            "org.codehaus.groovy.runtime.NullObject",
            "scala.runtime.BoxesRunTime",
        ],
    );
    check(
        Owner::Other,
        &[
            "kotlin.collections.CollectionsKt",
            "clojure.lang.RT",
            "groovy.lang.Script",
        ],
    );
    assert!(is_of_language("groovy/ui/GroovyMain") && is_of_language("clojure/main$main"));
    assert!(!is_of_language("groovyshop/Cart"));
}

#[test]
fn junit_3() {
    check(
        Owner::Assertion,
        &[
            "junit.framework.Assert",
            "junit.framework.TestCase",
            "junit.framework.AssertionFailedError",
        ],
    );
    check(
        Owner::TestFramework,
        &["junit.framework.TestSuite", "junit.textui.TestRunner"],
    );
}

#[test]
fn junit_4() {
    check(
        Owner::Assertion,
        &[
            "org.junit.Assert",
            "org.junit.ComparisonFailure",
            "org.junit.internal.ExactComparisonCriteria",
        ],
    );
    check(
        Owner::TestFramework,
        &[
            "org.junit.runners.ParentRunner",
            "org.junit.runners.ParentRunner$3",
            "org.junit.rules.TemporaryFolder",
            "org.junit.Test",
            "org.junit.Assertable",
        ],
    );
}

#[test]
fn junit_5() {
    check(
        Owner::Assertion,
        &[
            "org.junit.jupiter.api.Assertions",
            "org.junit.jupiter.api.AssertionUtils",
            "org.junit.jupiter.api.AssertionsKt",
            "org.opentest4j.AssertionFailedError",
        ],
    );
    check(
        Owner::TestFramework,
        &[
            "org.junit.jupiter.api.extension.InvocationInterceptor",
            "org.junit.jupiter.engine.execution.InterceptingExecutableInvoker",
            "org.junit.platform.launcher.core.DefaultLauncher",
            "org.junit.vintage.engine.VintageTestEngine",
        ],
    );
}

#[test]
fn testng() {
    check(
        Owner::Assertion,
        &[
            "org.testng.Assert",
            "org.testng.Assert$ThrowingRunnable",
            "org.testng.AssertJUnit",
            "org.testng.asserts.SoftAssert",
        ],
    );
    check(
        Owner::TestFramework,
        &["org.testng.TestNG", "org.testng.internal.Invoker"],
    );
}

#[test]
fn libraries_of_assertions() {
    check(
        Owner::Assertion,
        &[
            "org.assertj.core.api.Assertions",
            "org.assertj.core.api.AbstractAssert",
            "com.google.common.truth.Truth",
            "com.google.common.truth.ComparisonFailureWithFacts",
            "org.hamcrest.MatcherAssert",
            "org.hamcrest.core.IsEqual",
            "kotlin.test.AssertionsKt",
            "kotlin.test.AssertionsKt__AssertionsKt",
        ],
    );
    check(Owner::Other, &["com.google.common.collect.Lists"]);
}

#[test]
fn mocks() {
    check(
        Owner::Mock,
        &[
            "org.mockito.Mockito",
            "org.mockito.internal.handler.MockHandlerImpl",
            "org.easymock.EasyMock",
            "org.jmock.Mockery",
            "io.mockk.MockKKt",
            "net.bytebuddy.ByteBuddy",
            "org.objenesis.ObjenesisStd",
        ],
    );
    check(
        Owner::Assertion,
        &["org.mockito.exceptions.verification.WantedButNotInvoked"],
    );
}

#[test]
fn spring_test() {
    check(
        Owner::TestFramework,
        &[
            "org.springframework.test.context.TestContextManager",
            "org.springframework.boot.test.context.SpringBootTestContextBootstrapper",
        ],
    );
    check(
        Owner::Mock,
        &[
            "org.springframework.test.web.servlet.MockMvc",
            "org.springframework.test.web.servlet.MockMvc$1",
            "org.springframework.mock.web.MockHttpServletRequest",
            "org.springframework.test.util.ReflectionTestUtils",
        ],
    );
    check(
        Owner::Assertion,
        &[
            "org.springframework.test.util.AssertionErrors",
            "org.springframework.test.web.servlet.result.StatusResultMatchers",
        ],
    );
    check(
        Owner::Other,
        &["org.springframework.web.servlet.DispatcherServlet"],
    );
}

#[test]
fn kotest_and_spock() {
    check(
        Owner::TestFramework,
        &[
            "io.kotest.core.spec.style.StringSpec",
            "io.kotest.engine.TestEngine",
            "org.spockframework.runtime.FeatureNode",
            "spock.lang.Specification",
        ],
    );
    check(
        Owner::Assertion,
        &[
            "io.kotest.assertions.AssertionFailedError",
            "io.kotest.matchers.ShouldKt",
            "org.spockframework.runtime.SpockRuntime",
            "org.spockframework.runtime.SpockComparisonFailure",
        ],
    );
    check(
        Owner::Mock,
        &["org.spockframework.mock.runtime.MockController"],
    );
}

#[test]
fn build_tools_and_ides() {
    check(
        Owner::BuildTool,
        &[
            "org.apache.maven.surefire.booter.ForkedBooter",
            "org.gradle.api.internal.tasks.testing.worker.TestWorker",
            "worker.org.gradle.process.internal.worker.GradleWorkerMain",
            "org.apache.tools.ant.taskdefs.optional.junit.JUnitTestRunner",
            "com.intellij.rt.junit.JUnitStarter",
            "org.eclipse.jdt.internal.junit.runner.RemoteTestRunner",
        ],
    );
    check(
        Owner::BuildLibrary,
        &[
            "org.apache.maven.cli.MavenCli",
            "org.codehaus.plexus.util.FileUtils",
            "org.apache.tools.ant.Project",
        ],
    );
}

#[test]
fn culprit_and_others() {
    check(
        Owner::Culprit,
        &["culprit.runtime.Probe", "culprit.tester.Main"],
    );
    check(
        Owner::Other,
        &[
            "Main",
            "",
            "shop.AssertTest",
            "culprit.Shop",
            "javafx.App",
            "zzz.Z",
        ],
    );
}

#[test]
fn every_row_decides_about_the_names_below_it() {
    for row in TABLE.iter() {
        let class = match row.prefix.ends_with('/') {
            true => format!("{}unknown/Name", row.prefix),
            false => format!("{}$Nested", row.prefix),
        };
        assert_eq!(Owner::of(&class), row.owner, "{class}");
        let longest = TABLE.iter().filter(|other| other.matches(&class));
        let longest = longest.max_by_key(|other| other.prefix.len()).unwrap();
        assert_eq!(longest.prefix, row.prefix);
    }
}

#[test]
fn no_row_is_there_twice_or_says_what_its_parent_says() {
    let pairs = TABLE.windows(2);
    for pair in pairs {
        assert!(pair[0].prefix < pair[1].prefix, "{}", pair[0].prefix);
    }
    for row in TABLE.iter() {
        let mut above = row.parent.map(|at| &TABLE[at]);
        while let Some(parent) = above.filter(|parent| !parent.matches(row.prefix)) {
            above = parent.parent.map(|at| &TABLE[at]);
        }
        let repeats = above.is_some_and(|parent| parent.owner == row.owner);
        assert!(!repeats, "{}", row.prefix);
    }
}

#[test]
fn a_class_that_asserts_is_an_assertion() {
    for known in ASSERTING {
        assert_eq!(Owner::of(known.class), Owner::Assertion, "{}", known.class);
        assert_eq!(asserting(known.class), Some(known));
    }
    assert_eq!(asserting("org/junit/Test"), None);
}

#[test]
fn exceptions_of_assertions_are_known_by_their_class() {
    for (class, expect) in [
        ("org.opentest4j.AssertionFailedError", true),
        ("junit.framework.ComparisonFailure", true),
        ("org.junit.internal.ArrayComparisonFailure", true),
        ("com.google.common.truth.ComparisonFailureWithFacts", true),
        (
            "org.mockito.exceptions.verification.NoInteractionsWanted",
            true,
        ),
        (
            "org.spockframework.runtime.ConditionNotSatisfiedError",
            true,
        ),
        ("org.junit.AssumptionViolatedException", false),
        (
            "org.junit.jupiter.api.extension.ParameterResolutionException",
            false,
        ),
        ("java.lang.AssertionError", false),
        ("shop.AssertionFailedError", false),
    ] {
        assert_eq!(tells_assertion(class), expect, "{class}");
    }
}

#[test]
fn generated_classes_are_known_by_their_names() {
    for (class, expect) in [
        ("bank/Ledger$$$EasyMock$1", true),
        ("bank/Ledger$jMock$rFAAZlUI", true),
        ("bank/Ledger$MockitoMock$123", true),
        ("bank/Ledger$$EnhancerByCGLIB$$66b90e31", true),
        ("bank/Account$HibernateProxy$x1", true),
        ("jdk/proxy2/$Proxy12", true),
        ("bank/Ledger", false),
        ("bank/Config$HibernateSettings", false),
    ] {
        assert_eq!(is_generated(class), expect, "{class}");
    }
}

#[test]
fn an_assertion_of_a_mocking_library_is_about_its_mocks() {
    let error = "java/lang/AssertionError";
    assert!(is_thrown_for_mock(
        error,
        Some("org/easymock/internal/MocksControl")
    ));
    assert!(!is_thrown_for_mock(error, Some("bank/Ledger")));
    assert!(!is_thrown_for_mock(error, None));
    assert!(is_thrown_for_mock("org/jmock/api/ExpectationError", None));
    // An answer of a mock is the program's exception.
    let answer = "java/lang/IllegalStateException";
    assert!(!is_thrown_for_mock(
        answer,
        Some("org/easymock/internal/MockInvocationHandler")
    ));
}
