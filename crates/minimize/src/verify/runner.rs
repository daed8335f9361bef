//! Who runs a test: JUnit where the class path has all of it, else a few lines of ours. All tell the
//! same: a mark, and what the test threw, on the stream that was there before the test: it may set
//! another one.

use culprit_junit::Junit;

use crate::Program;

/// What the runners print before an exception.
pub(super) const MARK: &str = "CULPRIT-THROWN\n";

/// The class of each runner.
pub(super) const CLASS: &str = "CulpritRunner";

/// Who runs a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runner {
    /// `JUnitCore` of JUnit 4.
    Junit4,
    /// The launcher of the JUnit platform, with the engine of JUnit 5.
    Platform,
    /// Ours, with the annotation that the class path has.
    Own,
    /// Ours, with an annotation that stands in for JUnit's.
    OwnWithStandIn,
}

impl Runner {
    /// The best one for a version of JUnit that a class path has.
    pub fn of(program: &Program, junit: Junit) -> Runner {
        let has = |names: &[&str]| names.iter().all(|name| program.entry_of(name).is_some());
        match junit {
            Junit::Four if has(&CORE) => Runner::Junit4,
            Junit::Four if has(&["org/junit/Test"]) => Runner::Own,
            Junit::Five if has(&PLATFORM) => Runner::Platform,
            Junit::Five if has(&["org/junit/jupiter/api/Test"]) => Runner::Own,
            _ => Runner::OwnWithStandIn,
        }
    }

    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Runner::Junit4 => "JUnitCore",
            Runner::Platform => "JUnit platform",
            Runner::Own | Runner::OwnWithStandIn => "plain main",
        }
    }

    /// Whether it is JUnit.
    pub(super) fn is_junit(self) -> bool {
        matches!(self, Runner::Junit4 | Runner::Platform)
    }

    /// The files to compile beside a test, by their paths: the runner, and the annotation where it stands in for
    /// JUnit's.
    pub(super) fn sources(self, junit: Junit) -> Vec<(String, &'static str)> {
        let runner = match self {
            Runner::Junit4 => JUNIT_4,
            Runner::Platform => LAUNCHER,
            Runner::Own | Runner::OwnWithStandIn => OWN,
        };
        let annotation = match junit {
            Junit::Four => ANNOTATION_4,
            Junit::Five => ANNOTATION_5,
        };
        let mut sources = vec![(format!("{CLASS}.java"), runner)];
        if self == Runner::OwnWithStandIn {
            sources.push(("junit/Test.java".to_owned(), annotation));
        }
        sources
    }
}

/// What JUnit 4 needs. Its archive may have the last one or not.
const CORE: [&str; 3] = [
    "org/junit/Test",
    "org/junit/runner/JUnitCore",
    "org/hamcrest/SelfDescribing",
];

/// What the platform needs to run tests of JUnit 5.
const PLATFORM: [&str; 3] = [
    "org/junit/jupiter/api/Test",
    "org/junit/jupiter/engine/JupiterTestEngine",
    "org/junit/platform/launcher/core/LauncherFactory",
];

const ANNOTATION_5: &str = "package org.junit.jupiter.api;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

@Retention(RetentionPolicy.RUNTIME)
public @interface Test {}
";

const ANNOTATION_4: &str = "package org.junit;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

@Retention(RetentionPolicy.RUNTIME)
public @interface Test {}
";

const OWN: &str = "import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

public final class CulpritRunner {
    public static void main(String[] words) throws Exception {
        PrintStream err = System.err;
        Class<?> type = Class.forName(words[0]);
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        Method method = type.getDeclaredMethod(words[1]);
        method.setAccessible(true);
        try {
            method.invoke(constructor.newInstance());
        } catch (InvocationTargetException thrown) {
            err.println(\"CULPRIT-THROWN\");
            thrown.getCause().printStackTrace(err);
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().halt(0);
    }
}
";

const JUNIT_4: &str = "import java.io.PrintStream;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;

public final class CulpritRunner {
    public static void main(String[] words) throws Exception {
        PrintStream err = System.err;
        Request request = Request.method(Class.forName(words[0]), words[1]);
        Result result = new JUnitCore().run(request);
        if (!result.wasSuccessful()) {
            err.println(\"CULPRIT-THROWN\");
            result.getFailures().get(0).getException().printStackTrace(err);
            Runtime.getRuntime().halt(1);
        }
        if (result.getRunCount() != 1) {
            err.println(\"JUnit 4 found no test\");
            Runtime.getRuntime().halt(2);
        }
        Runtime.getRuntime().halt(0);
    }
}
";

const LAUNCHER: &str = "import java.io.PrintStream;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

public final class CulpritRunner implements TestExecutionListener {
    private Throwable thrown;
    private int tests;

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        tests += test.isTest() ? 1 : 0;
        thrown = thrown == null ? result.getThrowable().orElse(null) : thrown;
    }

    public static void main(String[] words) throws Exception {
        PrintStream err = System.err;
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectMethod(Class.forName(words[0]), words[1]))
                .build();
        CulpritRunner runner = new CulpritRunner();
        LauncherFactory.create().execute(request, runner);
        if (runner.thrown != null) {
            err.println(\"CULPRIT-THROWN\");
            runner.thrown.printStackTrace(err);
            Runtime.getRuntime().halt(1);
        }
        if (runner.tests != 1) {
            err.println(\"the JUnit platform found no test\");
            Runtime.getRuntime().halt(2);
        }
        Runtime.getRuntime().halt(0);
    }
}
";
