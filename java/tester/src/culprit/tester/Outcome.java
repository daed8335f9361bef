package culprit.tester;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * How a test ended. The numbers are known to crates/isolate/src/rule.rs; none is one that a JVM or
 * a test would end with by itself.
 */
final class Outcome {
    static final int PASSED = 97;
    static final int NOT_RUN = 98;
    static final int THREW = 99;

    final int status;
    /** A stack trace, or why there was nothing to run. */
    final String said;

    private Outcome(int status, String said) {
        this.status = status;
        this.said = said;
    }

    static Outcome passed() {
        return new Outcome(PASSED, "");
    }

    static Outcome notRun(String why) {
        return new Outcome(NOT_RUN, why);
    }

    static Outcome threw(Throwable thrown) {
        StringBuilder text = new StringBuilder("Exception in thread \"main\" ");
        Set<Throwable> told = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Throwable at = thrown; at != null && told.add(at); at = cause(at)) {
            text.append(at == thrown ? "" : "Caused by: ").append(at.getClass().getName());
            String message = message(at);
            if (message != null) {
                // In one line, so that no part of it is taken for a frame.
                text.append(": ").append(message.replace('\n', ' ').replace('\r', ' '));
            }
            text.append('\n');
            for (StackTraceElement frame : at.getStackTrace()) {
                text.append("\tat ").append(frame).append('\n');
            }
        }
        return new Outcome(THREW, text.toString());
    }

    /** Exceptions may print themselves without their class, and what they say of themselves may throw. */
    private static String message(Throwable thrown) {
        try {
            return thrown.getLocalizedMessage();
        } catch (Throwable trouble) {
            return null;
        }
    }

    private static Throwable cause(Throwable thrown) {
        try {
            return thrown.getCause();
        } catch (Throwable trouble) {
            return null;
        }
    }
}
