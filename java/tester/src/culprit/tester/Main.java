package culprit.tester;

import java.io.ByteArrayInputStream;
import java.io.OutputStream;
import java.io.PrintStream;

/**
 * Runs one test of JUnit. How it ended is told by the status, and on the standard error; what
 * the test prints itself goes nowhere. The other side is crates/isolate/src/java.
 *
 * <pre>
 * CLASS METHOD             runs the test once, with the class path of this JVM
 * CLASS METHOD CLASSPATH   runs it again and again: see Warm
 * </pre>
 */
public final class Main {
    private Main() {}

    public static void main(String[] words) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        silence();
        if (words.length > 2) {
            Warm.serve(words[0], words[1], words[2], out);
            return;
        }
        Outcome outcome = Junit.run(words[0], words[1], Main.class.getClassLoader());
        err.println(outcome.said);
        err.flush();
        // Neither hooks nor threads of the test have a say.
        Runtime.getRuntime().halt(outcome.status);
    }

    /** What a test prints, and reads, is of no interest. */
    static void silence() {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false);
        System.setOut(nowhere);
        System.setErr(nowhere);
        System.setIn(new ByteArrayInputStream(new byte[0]));
    }
}
