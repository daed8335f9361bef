package culprit.runtime;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What the recorder keeps for a thread, outside the heap: its buffer, its depth, ids to give out. The
 * agent has the same layout in its {@code state.rs}.
 *
 * <p>A thread's <em>depth</em> is the number of crossings that are open. It is even while external
 * code runs and odd while observed code runs, so one look tells on which side a thread is.
 */
final class State {
    /** Offsets, in bytes. */
    static final int POSITION = 0,
            PUBLISHED = 8,
            BASE = 16,
            LIMIT = 24,
            DEPTH = 32,
            INDEX = 36,
            NEXT_ID = 40,
            LAST_ID = 48,
            TURN = 56,
            SAMPLE = 64,
            SAMPLE_COUNT = 68,
            SLOT = 72,
            MUTED = 80,
            CHAINED = 88,
            LEFT_OUT = 96,
            ANSWER = 104,
            BIRTHS = 112,
            EVENTS = 120,
            ALIKE_SINCE = 128,
            ALIKE = 136;

    /** Whether this JVM replays: what leaves observed code is answered. */
    static final boolean REPLAYS = Native.replays();

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long STATES = Native.states();
    private static final long TABLE = Native.table();
    private static final long SLOTS = Native.tableSize() - 1;
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    private State() {}

    /**
     * The word of the current thread: its token with its present depth, or 0 if it is not recorded.
     * Kept in the table, where one look finds it.
     */
    @ForceInline
    static long current() {
        long tid = U.getLong(Thread.currentThread(), TID);
        long slot = TABLE + ((tid & SLOTS) << 4);
        return U.getLong(slot) == tid ? U.getLong(slot + 8) : Native.attach(Thread.currentThread(), tid);
    }

    /**
     * The same, but 0 for a thread that has met no probe yet: it stays unknown, and cannot be within observed
     * code.
     */
    static long currentIfKnown() {
        long tid = U.getLong(Thread.currentThread(), TID);
        long owner = U.getLong(TABLE + ((tid & SLOTS) << 4));
        return owner == 0 ? 0 : current();
    }

    /**
     * Changes the depth of a thread, in its state and in its word. Inlined, as {@link Records#end} is: once a
     * crossing is told, nothing may run out of stack before the depth says so too.
     */
    @ForceInline
    static void setDepth(long state, int depth) {
        U.putInt(state + DEPTH, depth);
        long word = U.getLong(state + MUTED) == 0 ? (long) U.getInt(state + INDEX) << 32 | depth : 0;
        U.putLong(U.getLong(state + SLOT) + 8, word);
    }

    /** The state that a token belongs to. */
    @ForceInline
    static long of(long token) {
        return STATES + (token >>> 24 & 0xffffff00L);
    }

    /** The state of the current thread, muted or not. */
    static long ofCurrentThread() {
        return Native.stateOf(Thread.currentThread(), U.getLong(Thread.currentThread(), TID));
    }

    /** Whether the recording of a thread is stopped, as while the runtime calls methods of the program. */
    static boolean isMuted(long state) {
        return U.getInt(state + MUTED) != 0;
    }

    /** Stops the recording of a thread by 1, and resumes it by 0; how it was before. */
    static int mute(long state, int muted) {
        int before = U.getInt(state + MUTED);
        U.putInt(state + MUTED, muted);
        setDepth(state, U.getInt(state + DEPTH));
        return before;
    }
}
