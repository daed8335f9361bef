package culprit.tester;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.TimeZone;

/**
 * Runs the test as often as it is asked to, each time with classes of their own. A question is
 * a byte; the answer is the status, whether another JVM should take the next one, and what was
 * said with its length in front.
 */
final class Warm {
    private Warm() {}

    static void serve(String name, String method, String classPath, PrintStream answers) {
        try (DataInputStream questions =
                new DataInputStream(new FileInputStream(FileDescriptor.in))) {
            DataOutputStream out = new DataOutputStream(answers);
            URL[] places = places(classPath);
            while (true) {
                questions.readByte();
                Run run = new Run(name, method, places);
                Outcome outcome = run.end();
                byte[] said = outcome.said.getBytes(StandardCharsets.UTF_8);
                out.writeByte(outcome.status);
                out.writeBoolean(run.isSoiled);
                out.writeInt(said.length);
                out.write(said);
                out.flush();
            }
        } catch (EOFException nobodyAsks) {
            Runtime.getRuntime().halt(0);
        } catch (IOException broken) {
            Runtime.getRuntime().halt(1);
        }
    }

    private static URL[] places(String classPath) throws MalformedURLException {
        List<URL> places = new ArrayList<>();
        for (String place : classPath.split(File.pathSeparator)) {
            if (!place.isEmpty()) {
                places.add(new File(place).toURI().toURL());
            }
        }
        return places.toArray(new URL[0]);
    }

    /** One run, in a thread and a class loader of its own. */
    private static final class Run implements Runnable {
        private final String name;
        private final String method;
        private final URL[] places;
        private Outcome outcome;
        boolean isSoiled;

        Run(String name, String method, URL[] places) {
            this.name = name;
            this.method = method;
            this.places = places;
        }

        Outcome end() throws IOException {
            Properties properties = (Properties) System.getProperties().clone();
            Locale locale = Locale.getDefault();
            TimeZone zone = TimeZone.getDefault();
            Set<Thread> before = Thread.getAllStackTraces().keySet();
            try (URLClassLoader loader =
                    new URLClassLoader(places, ClassLoader.getPlatformClassLoader())) {
                loader.setDefaultAssertionStatus(true);
                Thread thread = new Thread(this, "main");
                thread.setContextClassLoader(loader);
                thread.start();
                join(thread);
            }
            System.setProperties(properties);
            Locale.setDefault(locale);
            TimeZone.setDefault(zone);
            Main.silence();
            isSoiled = leavesThreads(before) || isFull() || outcome == null;
            return outcome == null ? Outcome.notRun("the test ended its own thread") : outcome;
        }

        @Override
        public void run() {
            outcome = Junit.run(name, method, Thread.currentThread().getContextClassLoader());
        }

        private static void join(Thread thread) {
            while (true) {
                try {
                    thread.join();
                    return;
                } catch (InterruptedException again) {
                    // Nobody means this thread.
                }
            }
        }

        /** Whether threads of the test are left that may meet the next one. */
        private static boolean leavesThreads(Set<Thread> before) {
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                ThreadGroup group = thread.getThreadGroup();
                boolean isOfTheJdk = group == null || group.getParent() == null;
                if (!before.contains(thread) && thread.isAlive() && !isOfTheJdk) {
                    return true;
                }
            }
            return false;
        }

        /** Whether what runs left in memory may disturb the next one. */
        private static boolean isFull() {
            Runtime runtime = Runtime.getRuntime();
            long used = runtime.totalMemory() - runtime.freeMemory();
            return used > runtime.maxMemory() / 2;
        }
    }
}
