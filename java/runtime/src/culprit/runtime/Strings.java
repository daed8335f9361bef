package culprit.runtime;

import jdk.internal.misc.Unsafe;

/**
 * Which of several equal strings is meant. Strings are told by content, so a replay does not know. But all
 * that observed code can do with it is to ask whether two are one: where two equal strings are not, that is
 * told, with how many times the thread has found two to be one since its last event. A replay that comes to
 * such a question has the answer, whatever its strings are.
 */
final class Strings {
    private static final Unsafe U = Unsafe.getUnsafe();

    private Strings() {}

    /** Two strings are compared by identity: what to compare the first with for the result to be right. */
    static Object compared(String one, String other) {
        boolean same = one == other;
        if (!same && !alike(one, other)) {
            return other;
        }
        if (!State.REPLAYS && Beside.isThere()) {
            same = Beside.areOne(one, other);
        }
        long token = State.current();
        if (!Probe.isInside(token) || Probe.isSilent(State.of(token), token)) {
            return same ? one : apart(one, other);
        }
        long state = State.of(token);
        long events = Records.count(state);
        boolean first = U.getLong(state + State.ALIKE_SINCE) != events;
        int before = first ? 0 : (int) U.getLong(state + State.ALIKE);
        if (State.REPLAYS) {
            same = !Executor.apart(state, before);
        }
        if (same) {
            U.putLong(state + State.ALIKE_SINCE, events);
            U.putLong(state + State.ALIKE, before + 1L);
            return one;
        }
        Records.begin(state, Records.APART, 0);
        Values.reference(state, one, true);
        Values.four(state, before);
        Records.end(state);
        return apart(one, other);
    }

    /** Whether a replay cannot tell two strings from each other. */
    private static boolean alike(String one, String other) {
        return one.equals(other) || Values.masking && Native.masked(one) && Native.masked(other);
    }

    /** Anything but the first. */
    private static Object apart(String one, String other) {
        return one == other ? null : other;
    }
}
