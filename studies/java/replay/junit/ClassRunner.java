import java.io.IOException;
import java.nio.file.Path;
import java.util.TreeSet;
import java.util.jar.JarFile;

import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs the tests of one class and prints how each ended. Given a jar, prints the names of the test
 * classes in it.
 */
public final class ClassRunner {
    public static void main(String[] args) throws IOException {
        if (args[0].endsWith(".jar")) {
            list(Path.of(args[0]));
            return;
        }
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(args[0]))
                .build();
        LauncherFactory.create().execute(request, new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (test.isTest()) {
                    System.out.println(result.getStatus() + " " + test.getUniqueId());
                }
            }
        });
        // Threads that tests left behind must not keep the JVM.
        System.exit(0);
    }

    /** The classes that Maven's Surefire would take for tests, in the order of their names. */
    private static void list(Path jar) throws IOException {
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
        names.forEach(System.out::println);
    }
}
