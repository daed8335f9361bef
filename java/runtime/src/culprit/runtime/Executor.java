package culprit.runtime;

/** The way of a JVM that replays into the executor, which is the agent's. */
final class Executor {
    private Executor() {}

    /** Address of the counters of lines. */
    static native long counts();

    /** Runs scenarios until the host says that there are no more. */
    static native void work();

    /** Runs the steps of a further thread of the scenario. */
    static native void drive(int thread);

    /**
     * Observed code has called out: does what the scenario says and gives the result, in the state of
     * the thread if it is a scalar. The object is that under construction, if the call is of the
     * constructor of its external superclass.
     */
    static native Object answer(long state, Object constructed);

    /** Observed code reads an external field: the value, in the state if it is a scalar. */
    static native Object read(long state, int site);

    /** Observed code is about to take the hash of an object: the one that the scenario knows, or 0. */
    static native int hash(long state);

    /** The state of an object is about to be told: fills the object with what the scenario says. */
    static native void state(long state, Object o);

    /**
     * Observed code asks whether two equal strings are one, after so many since its last event that were:
     * whether the scenario says that they are not.
     */
    static native boolean apart(long state, int before);

    /** Observed code is about to read an element of a shared array: makes it what the scenario says. */
    static native void element(long state, Object array, int index);

    /** Waits until the next step of the scenario is one of this thread, or it does not move without it. */
    static native void awaitLock();

    /** A record is published, and other threads may wait for that. */
    static native void published(long state);

    /** The constants of an external enum, by ordinal. */
    static native Object[] constants(Class<?> type);

    /** The program calls a stand-in of a plain run: the recorded answer, boxed. Arguments that are no objects may be null. */
    static native Object standIn(long id, String method, String descriptor, Object[] arguments);

    /**
     * Defines a class that a loader is asked for; null if there is none. With {@code overJdk}, only one that
     * the JDK's class of the same name must not stand for.
     */
    static native Class<?> define(Loader loader, int number, String name, boolean overJdk);
}
