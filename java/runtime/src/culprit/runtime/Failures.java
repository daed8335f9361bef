package culprit.runtime;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/** What hooks in the JDK and in test frameworks call when a run fails or ends. */
public final class Failures {
    private static final int UNCAUGHT = 1, TEST = 2;

    /** How exceptions fare. */
    private static final int REPORTED = 1, PRINTED = 2;

    /** Causes that are looked at. */
    private static final int MOST_LINKS = 16;

    /** The last exception reported by this thread: JUnit's layers report the same one again. */
    private static final ThreadLocal<WeakReference<Throwable>> LAST = new ThreadLocal<>();

    private Failures() {}

    /** An exception is about to leave a thread. */
    public static void uncaught(Thread thread, Throwable thrown) {
        report(UNCAUGHT, thread.getName(), thrown);
    }

    /** An exception has failed a test. */
    public static void test(Throwable thrown) {
        test(thrown, "");
    }

    /** The same, of a test with a name, which JUnit 4 writes as {@code method(class)}. */
    public static void test(Throwable thrown, String name) {
        WeakReference<Throwable> last = LAST.get();
        if (thrown != null && (last == null || last.get() != thrown)) {
            // Weak: threads of a pool would keep the exception and its loader alive.
            LAST.set(new WeakReference<>(thrown));
            String told = turned(name);
            report(TEST, told.isEmpty() ? testMethod(thrown) : told, thrown);
        }
    }

    /** The agent has seen an exception that is thrown through the program's code, and will be caught. */
    static void caught(int number, Throwable thrown) {
        long state = State.ofCurrentThread();
        // Methods of the program that the runtime calls may throw as they like.
        if (state != 0 && !State.isMuted(state)) {
            describe(number, state, thrown);
        }
    }

    /** The stack trace of an exception is printed or logged. */
    public static void printed(Throwable thrown) {
        long state = thrown == null ? 0 : State.ofCurrentThread();
        // What prints may be the runtime itself.
        if (state == 0 || State.isMuted(state)) {
            return;
        }
        int before = State.mute(state, 1);
        try {
            if (!fared(thrown, PRINTED)) {
                describe(0, state, thrown);
            }
        } finally {
            State.mute(state, before);
        }
    }

    /** Tells how an exception fares; of one that is not known, the outermost cause that is. */
    private static boolean fared(Throwable thrown, int how) {
        try {
            int links = 0;
            for (Throwable t = thrown; t != null && links < MOST_LINKS; t = t.getCause(), links++) {
                if (Native.fared(t, how) && how == PRINTED) {
                    return true;
                }
            }
            return false;
        } catch (Throwable inTheProgram) {
            return true;
        }
    }

    private static void describe(int number, long state, Throwable thrown) {
        int before = State.mute(state, 1);
        try {
            Native.caught(
                    number, state, thrown, thrown.getClass().getName(), message(thrown), trace(thrown), ids(thrown));
        } catch (Throwable inTheProgram) {
            // Its own methods failed, or memory did: it is not listed.
        } finally {
            State.mute(state, before);
        }
    }

    /** The program ends the JVM. */
    public static void exiting(int status) {
        Native.exiting(status);
    }

    private static void report(int kind, String place, Throwable thrown) {
        long state = State.ofCurrentThread();
        if (state == 0) {
            return;
        }
        int before = State.mute(state, 1);
        try {
            fared(thrown, REPORTED);
            Native.failure(
                    kind, state, place, thrown.getClass().getName(), message(thrown), trace(thrown), ids(thrown));
        } catch (Throwable inTheProgram) {
            // Its own methods failed, or memory did: what can be said without them.
            bare(kind, state, place, thrown);
        } finally {
            State.mute(state, before);
        }
    }

    /**
     * An exception as it is printed, but with the name of each class: an exception may print itself without. CulpritVerdict
     * does the same.
     */
    static String trace(Throwable thrown) {
        StringBuilder text = new StringBuilder();
        StackTraceElement[] around = {};
        Set<Throwable> told = Collections.newSetFromMap(new IdentityHashMap<>());
        boolean isUsual = true;
        for (Throwable each = thrown; each != null && told.add(each); each = each.getCause()) {
            String name = each.getClass().getName();
            String said = String.valueOf(each);
            boolean isNamed = said.equals(name) || said.startsWith(name + ": ");
            isUsual &= isNamed;
            text.append(each == thrown ? "" : "Caused by: ").append(isNamed ? said : name + ": " + said).append('\n');
            StackTraceElement[] frames = each.getStackTrace();
            int own = frames.length;
            for (int i = around.length; own > 0 && i > 0 && frames[own - 1].equals(around[i - 1]); i--) {
                own--;
            }
            for (int i = 0; i < own; i++) {
                text.append("\tat ").append(frames[i]).append('\n');
            }
            if (own < frames.length) {
                text.append("\t... ").append(frames.length - own).append(" more\n");
            }
            around = frames;
        }
        if (isUsual) {
            StringWriter printed = new StringWriter();
            thrown.printStackTrace(new PrintWriter(printed));
            return printed.toString();
        }
        return text.toString();
    }

    private static void bare(int kind, long state, String place, Throwable thrown) {
        try {
            Native.failure(kind, state, place, thrown.getClass().getName(), null, "", new long[0]);
        } catch (Throwable full) {
            // Not even that: the program goes on as it would have.
        }
    }

    private static String message(Throwable thrown) {
        try {
            return thrown.getMessage();
        } catch (Throwable inTheProgram) {
            return null;
        }
    }

    private static long[] ids(Throwable thrown) {
        long[] ids = new long[MOST_LINKS];
        int count = 0;
        int links = 0;
        for (Throwable t = thrown; t != null && links < ids.length; t = t.getCause(), links++) {
            long id = Identity.known(t, ClassInfo.of(t));
            if (id != 0) {
                ids[count++] = id;
            }
        }
        return Arrays.copyOf(ids, count);
    }

    /** {@code class#method} for {@code method(class)}. */
    private static String turned(String name) {
        int open = name == null ? -1 : name.lastIndexOf('(');
        boolean isTold = open > 0 && name.endsWith(")");
        return isTold ? name.substring(open + 1, name.length() - 1) + "#" + name.substring(0, open) : "";
    }

    /** The test as the stack shows it: the outermost frame above those of what runs tests. */
    private static String testMethod(Throwable thrown) {
        String found = "";
        for (StackTraceElement frame : thrown.getStackTrace()) {
            String type = frame.getClassName();
            boolean isFramework = type.startsWith("org.junit.") || type.startsWith("junit.") || type.startsWith("org.testng.");
            if (isFramework && !found.isEmpty() && !asserts(type)) {
                break;
            }
            if (!isFramework && !type.startsWith("java.") && !type.startsWith("jdk.") && !type.startsWith("sun.")) {
                found = type + "#" + frame.getMethodName();
            }
        }
        return found;
    }

    /** Whether a class of a framework is called by tests, and may call back. */
    private static boolean asserts(String type) {
        return type.startsWith("org.junit.jupiter.api.") || type.contains("Assert");
    }
}
