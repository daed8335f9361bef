package culprit.runtime;

/** Where methods of a followed driver go: an interpreter in the agent runs them. */
public final class Follow {
    private Follow() {}

    /** Runs a method, by its number, with its receiver and arguments; what it returns, boxed. */
    public static native Object enter(int method, Object[] arguments);
}
