package culprit.runtime;

/**
 * The runtime's way into the agent. Everything here is rare: a full buffer, a new thread, a class
 * or a long value seen for the first time, a failure.
 */
final class Native {
    private Native() {}

    /** Whether this JVM replays. */
    static native boolean replays();

    /** Whether the contents of library objects are told when observed code is given them. */
    static native boolean tellsContents();

    /** Address of the region that holds one state of 256 bytes a thread; see {@link Probe}. */
    static native long states();

    /** Address of the table from Java thread ids to states; see {@link Probe#current}. */
    static native long table();

    /** Address of the order cell: which thread had the last event, and the number of its turn. */
    static native long order();

    /** Number of slots of the table, a power of two. */
    static native int tableSize();

    /** The word of a thread that has none in the table, as {@link Probe#current} has it. */
    static native long attach(Thread thread, long tid);

    /** The address of the state of a thread, or 0. */
    static native long stateOf(Thread thread, long tid);

    /** Hands a full buffer over and gives the state an empty one. */
    static native void flush(long state);

    /** A fresh range of object ids: sets the two id words of the state. */
    static native void moreIds(long state);

    /** What is known of a class: type id, role and flags, packed as {@link ClassInfo} unpacks. */
    static native long describe(Class<?> type);

    /**
     * Whether objects of a class, of which there is one, have the hash that the JVM made up (1) and
     * the text that {@code Object} gives them (2).
     */
    static native int madeUp(Class<?> type);

    /** The number of a new site for reflective accesses to a field. */
    static native int fieldSite(Class<?> declaring, String name, Class<?> type, boolean isStatic);

    /** Names a constant of an enum. */
    static native void constant(int type, int ordinal, String name);

    /** Tells the instance fields of a class: a line each, with owner, name and descriptor. */
    static native void fields(int type, String fields);

    /** Stores a long string once; the number of its blob. -1: it is masked, -2: it is too long. */
    static native int stringBlob(String value);

    /** Stores contents of a primitive array once; the number of the blob; negative if they are not stored. */
    static native int arrayBlob(Object array, int from, int count, int elementSize);

    /** Whether a short string is to be masked. Called only where there are masks. */
    static native boolean masked(String value);

    /** Whether a short {@code char[]} or {@code byte[]} is to be masked. Called only where there are masks. */
    static native boolean maskedArray(Object array, int elementSize);

    /** Counts a loss by the number of its name. */
    static native void lost(int reason);

    /** The runtime met something it cannot handle: recording ends. */
    static native void fault(String what);

    /** An exception made the run fail: it left a thread (kind 1) or failed a test (kind 2). */
    static native void failure(
            int kind, long state, String place, String type, String message, String stack, long[] exceptions);

    /**
     * Tells how an exception fared: it is reported as a failure (1), or its stack trace is printed (2). Whether it
     * is known, or too many were printed: then there is nothing to tell about it.
     */
    static native boolean fared(Throwable thrown, int how);

    /**
     * An exception that is caught: the one that the agent has given a number, or one that is printed (0).
     */
    static native void caught(
            int number, long state, Throwable thrown, String type, String message, String stack, long[] exceptions);

    /** The argument that puts the agent into a JVM. */
    static native String agent();

    /** How the agent gets into a process, by its command with NUL after each word: see {@link Children}. */
    static native int child(String command);

    /** The environment of this process: bytes as characters, and NUL after each variable. */
    static native String environment();

    /** The program asks the JVM to end with this status. */
    static native void exiting(int status);
}
