import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarFile;

import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.SelectorResolutionResult;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.discovery.ClassSelector;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryListener;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs all tests of a jar and writes one line for each: its id, how it ended, the type of what it
 * threw, how many milliseconds it took, and what the exception says, with tabs between. A
 * container has a line only if it did not simply succeed.
 *
 * <p>Arguments: the jar, the file to write, and names of classes to leave out.
 */
public final class SuiteRunner {
    private static final int SOME_FAILED = 10;

    public static void main(String[] args) throws IOException {
        List<String> excluded = List.of(args).subList(2, args.length);
        boolean passed;
        try (PrintWriter out = open(Path.of(args[1]))) {
            Lines lines = new Lines(out);
            List<DiscoverySelector> classes = new ArrayList<>();
            for (String name : testClasses(Path.of(args[0]))) {
                if (excluded.contains(name)) {
                    continue;
                }
                try {
                    ClassLoader loader = SuiteRunner.class.getClassLoader();
                    classes.add(DiscoverySelectors.selectClass(Class.forName(name, false, loader)));
                } catch (ClassNotFoundException | LinkageError e) {
                    lines.write("[class:" + name + "]", "UNLOADABLE", e);
                }
            }
            LauncherDiscoveryRequest request =
                    LauncherDiscoveryRequestBuilder.request()
                            .selectors(classes)
                            // The default is to stop at the first class that JUnit cannot read.
                            .configurationParameter(
                                    "junit.platform.discovery.listener.default", "logging")
                            .listeners(lines.unresolved())
                            .build();
            LauncherFactory.create().execute(request, lines);
            passed = !lines.failed;
        }
        // Threads that tests left behind must not keep the JVM. The status tells a suite that came
        // to its end from one that was broken off: an exception that leaves this method gives 1.
        System.exit(passed ? 0 : SOME_FAILED);
    }

    /** Flushed line by line: after a crash, what was written is what had ended. */
    private static PrintWriter open(Path file) throws IOException {
        return new PrintWriter(Files.newBufferedWriter(file, StandardCharsets.UTF_8), true);
    }

    /** The classes that Maven's Surefire would take for tests, in the order of their names. */
    private static Iterable<String> testClasses(Path jar) throws IOException {
        TreeSet<String> names = new TreeSet<>();
        try (JarFile file = new JarFile(jar.toFile())) {
            file.stream().map(entry -> entry.getName()).forEach(entry -> {
                String simple = entry.substring(entry.lastIndexOf('/') + 1);
                if (simple.matches("(Test[^$]*|[^$]*(Test|Tests|TestCase))\\.class")
                        && !entry.startsWith("META-INF/")
                        && !entry.contains("/jmh_generated/")) {
                    names.add(entry.substring(0, entry.length() - ".class".length())
                            .replace('/', '.'));
                }
            });
        }
        return names;
    }

    private static final class Lines implements TestExecutionListener {
        private final PrintWriter out;
        private final Map<String, Long> starts = new ConcurrentHashMap<>();
        private boolean failed;

        Lines(PrintWriter out) {
            this.out = out;
        }

        LauncherDiscoveryListener unresolved() {
            return new LauncherDiscoveryListener() {
                @Override
                public void selectorProcessed(
                        UniqueId engine, DiscoverySelector selector, SelectorResolutionResult result) {
                    result.getThrowable().ifPresent(
                            e -> write(engine + " " + className(selector), "UNRESOLVED", e));
                }
            };
        }

        private static String className(DiscoverySelector selector) {
            return selector instanceof ClassSelector
                    ? ((ClassSelector) selector).getClassName()
                    : String.valueOf(selector);
        }

        @Override
        public void executionStarted(TestIdentifier test) {
            starts.put(test.getUniqueId(), System.nanoTime());
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            boolean good = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
            if (test.isTest() || !good) {
                write(test.getUniqueId(), result.getStatus().name(),
                        result.getThrowable().orElse(null));
            }
        }

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            write(test.getUniqueId(), "SKIPPED", null);
        }

        synchronized void write(String id, String status, Throwable thrown) {
            failed |= !status.equals("SUCCESSFUL") && !status.equals("SKIPPED")
                    && !status.equals("ABORTED");
            String type = thrown == null ? "" : thrown.getClass().getName();
            Long start = starts.remove(id);
            long time = start == null ? 0 : (System.nanoTime() - start) / 1_000_000;
            out.println(String.join("\t",
                    oneLine(id), status, type, Long.toString(time), cause(thrown)));
        }

        /** For people who look for the reason: not compared. */
        private static String cause(Throwable thrown) {
            if (thrown == null) {
                return "";
            }
            StringBuilder text = new StringBuilder(oneLine(String.valueOf(thrown.getMessage())));
            text.setLength(Math.min(text.length(), 300));
            StackTraceElement[] frames = thrown.getStackTrace();
            for (int i = 0; i < Math.min(frames.length, 4); i++) {
                text.append(" < ").append(frames[i]);
            }
            if (thrown.getCause() != null && thrown.getCause() != thrown) {
                text.append(" <= ").append(oneLine(thrown.getCause().toString()));
            }
            return text.toString();
        }

        private static String oneLine(String text) {
            return text.replaceAll("\\p{Cntrl}", "?");
        }
    }
}
