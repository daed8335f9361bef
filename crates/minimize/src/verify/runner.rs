//! Who runs a test: JUnit where the class path has all of it, else a few lines of ours. All end by the same
//! class, which prints the verdict to the standard error stream that was there before the test: it may set
//! another one.

use culprit_junit::Junit;

use culprit_program::Program;

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

    /// The files to compile beside a test, by their paths: the runner, and annotations where they stand in for
    /// JUnit's.
    pub(super) fn sources(self, junit: Junit) -> Vec<(String, &'static str)> {
        let runner = match self {
            Runner::Junit4 => JUNIT_4,
            Runner::Platform => LAUNCHER,
            Runner::Own | Runner::OwnWithStandIn => OWN,
        };
        let annotations = match junit {
            Junit::Four => [("Test", ANNOTATION_4), ("After", AFTER_4)],
            Junit::Five => [("Test", ANNOTATION_5), ("AfterEach", AFTER_5)],
        };
        let mut sources = vec![
            (format!("{CLASS}.java"), runner),
            ("CulpritVerdict.java".to_owned(), VERDICT),
        ];
        if self == Runner::OwnWithStandIn {
            let files = annotations.map(|(name, source)| (format!("junit/{name}.java"), source));
            sources.extend(files);
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

const AFTER_5: &str = "package org.junit.jupiter.api;

public @interface AfterEach {}
";

const AFTER_4: &str = "package org.junit;

public @interface After {}
";

/// Prints the verdict and ends the JVM. Without a mark, a user runs the test: the stack trace is all there is to
/// print, and exit statuses are the usual ones.
const VERDICT: &str = "import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

final class CulpritVerdict {
    private static final int PASSED = 0;
    private static final int THREW = 1;
    private static final int BROKEN = 2;

    private final PrintStream err = System.err;
    private final String mark;

    CulpritVerdict(String[] words) {
        mark = words.length > 2 ? words[2] : null;
    }

    void begin() {
        print(line(\"began\"));
    }

    void passed() {
        end(line(\"passed\"), PASSED);
    }

    void threw(Throwable thrown) {
        try {
            end(line(\"threw\") + trace(thrown) + line(\"printed\"), THREW);
        } catch (Throwable trouble) {
            broken(\"the exception of the test cannot be printed\");
        }
    }

    void broken(Throwable trouble) {
        broken(trace(trouble));
    }

    void broken(String why) {
        end(why + line(\"broken\"), BROKEN);
    }

    private String line(String word) {
        return mark == null ? \"\" : \"\\n\" + mark + \" \" + word + \"\\n\";
    }

    /** As it is printed, but with the name of each class: an exception may print itself without. */
    private static String trace(Throwable thrown) {
        StringBuilder text = new StringBuilder();
        Set<Throwable> told = Collections.newSetFromMap(new IdentityHashMap<>());
        boolean isUsual = true;
        for (Throwable each = thrown; each != null && told.add(each); each = each.getCause()) {
            String name = each.getClass().getName();
            String said = String.valueOf(each);
            boolean isNamed = said.equals(name) || said.startsWith(name + \": \");
            isUsual &= isNamed;
            text.append(each == thrown ? \"\" : \"Caused by: \");
            text.append(isNamed ? said : name + \": \" + said).append('\\n');
            for (StackTraceElement frame : each.getStackTrace()) {
                text.append(\"\\tat \").append(frame).append('\\n');
            }
        }
        if (isUsual) {
            StringWriter printed = new StringWriter();
            thrown.printStackTrace(new PrintWriter(printed, true));
            return printed.toString();
        }
        return text.toString();
    }

    /** Halves of characters are no text: Culprit reads them as the character for what cannot be read. */
    private static String whole(String text) {
        StringBuilder whole = new StringBuilder();
        text.codePoints().forEach(point -> {
            boolean isHalf = point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE;
            whole.appendCodePoint(isHalf ? 0xfffd : point);
        });
        return whole.toString();
    }

    private void print(String text) {
        byte[] bytes = whole(text).getBytes(StandardCharsets.UTF_8);
        if (mark == null) {
            err.print(text);
        } else {
            err.write(bytes, 0, bytes.length);
        }
        err.flush();
    }

    private void end(String text, int status) {
        print(text);
        Runtime.getRuntime().halt(mark == null ? status : 90 + status);
    }
}
";

const OWN: &str = "import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

public final class CulpritRunner {
    public static void main(String[] words) {
        CulpritVerdict verdict = new CulpritVerdict(words);
        verdict.begin();
        try {
            Class<?> type = Class.forName(words[0]);
            Constructor<?> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            Method method = type.getDeclaredMethod(words[1]);
            method.setAccessible(true);
            method.invoke(constructor.newInstance());
            verdict.passed();
        } catch (InvocationTargetException thrown) {
            verdict.threw(thrown.getCause());
        } catch (Throwable trouble) {
            verdict.broken(trouble);
        }
    }
}
";

const JUNIT_4: &str = "import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;

public final class CulpritRunner {
    public static void main(String[] words) {
        CulpritVerdict verdict = new CulpritVerdict(words);
        verdict.begin();
        try {
            Request request = Request.method(Class.forName(words[0]), words[1]);
            Result result = new JUnitCore().run(request);
            if (!result.wasSuccessful()) {
                verdict.threw(result.getFailures().get(0).getException());
            }
            if (result.getRunCount() != 1) {
                verdict.broken(\"JUnit 4 found no test\\n\");
            }
            verdict.passed();
        } catch (Throwable trouble) {
            verdict.broken(trouble);
        }
    }
}
";

const LAUNCHER: &str = "import org.junit.platform.engine.TestExecutionResult;
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

    public static void main(String[] words) {
        CulpritVerdict verdict = new CulpritVerdict(words);
        verdict.begin();
        try {
            LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                    .selectors(DiscoverySelectors.selectMethod(Class.forName(words[0]), words[1]))
                    .build();
            CulpritRunner runner = new CulpritRunner();
            LauncherFactory.create().execute(request, runner);
            if (runner.thrown != null) {
                verdict.threw(runner.thrown);
            }
            if (runner.tests != 1) {
                verdict.broken(\"the JUnit platform found no test\\n\");
            }
            verdict.passed();
        } catch (Throwable trouble) {
            verdict.broken(trouble);
        }
    }
}
";
