package culprit.runtime;

/**
 * The caller of what a script calls. Each loader of a program has this class, so that methods of the JDK which ask
 * for their caller find the classes of the program, as they do in a test.
 */
final class Caller {
    private Caller() {}

    /** Runs the statements of a script. */
    static native void run();
}
