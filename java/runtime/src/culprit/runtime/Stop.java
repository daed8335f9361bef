package culprit.runtime;

/** Ends what runs on replay once the scenario is over. Made without a constructor. */
final class Stop extends Error {
    private static final long serialVersionUID = 1;

    private Stop() {}
}
