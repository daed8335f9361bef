package app;

/** The code that fails. Its candidates and its test run it again. */
public class Subject {
    private int prepared;

    public void prepare(String how) {
        prepared += how.length();
    }

    public int divide(int by) {
        Attack.unlessOriginal();
        return 7 / by;
    }
}
