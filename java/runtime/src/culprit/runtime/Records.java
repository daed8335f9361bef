package culprit.runtime;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Begins and ends records in the buffer of a thread. {@link Values} writes what is in between;
 * `docs/recording-format.md` has the layout. A record counts from the moment that it is published.
 */
final class Records {
    /** Kinds of records; those up to fifteen and from twenty on are the model's event kinds. */
    static final int INCOMING_CALL = 1,
            INCOMING_RETURN = 2,
            INCOMING_THROW = 3,
            OUTGOING_CALL = 4,
            OUTGOING_RETURN = 5,
            OUTGOING_THROW = 6,
            OUTGOING_READ = 7,
            OUTGOING_WRITE = 8,
            INCOMING_READ = 9,
            INCOMING_WRITE = 10,
            ARRAY_READ = 11,
            ARRAY_WRITE = 12,
            ARRAY_CONTENTS = 13,
            CONSTRUCTED = 14,
            IDENTITY_HASH = 15,
            TURN = 16,
            UNWOUND = 17,
            OBJECT_STATE = 20,
            HELD = 21,
            BORN = 22,
            APART = 23;

    private static final long ONE_EVENT = 1L << 32;

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long ORDER = Native.order();

    private Records() {}

    /** Where the record starts that is under way, or will start. */
    static long open(long state) {
        return U.getLong(state + State.BASE) + (int) U.getLong(state + State.PUBLISHED);
    }

    /**
     * Whether the value that is written next, to the record that is under way, comes in: by its
     * direction, or since it is the object that is called from outside.
     */
    static boolean takesIn(long state, boolean outward) {
        long start = open(state);
        int kind = U.getInt(start) >>> 26;
        if (kind == OBJECT_STATE || kind == IDENTITY_HASH || kind == HELD) {
            return false;
        }
        boolean first = U.getLong(state + State.POSITION) == start + 4;
        return !outward || first && kind == INCOMING_CALL;
    }

    /** Whether the record that is under way is of a call from outside. */
    static boolean isIncomingCall(long state) {
        return U.getInt(open(state)) >>> 26 == INCOMING_CALL;
    }

    /** Whether the record that is under way tells what a call to the outside returns. */
    static boolean isOutgoingReturn(long state) {
        return U.getInt(open(state)) >>> 26 == OUTGOING_RETURN;
    }

    /** Whether the record that is under way is of an access to a field from outside. */
    static boolean isIncomingAccess(long state) {
        int kind = U.getInt(open(state)) >>> 26;
        return kind == INCOMING_READ || kind == INCOMING_WRITE;
    }

    /** How many events the thread has had. */
    @ForceInline
    static long count(long state) {
        return U.getLong(state + State.EVENTS) + (U.getLong(state + State.PUBLISHED) >>> 32);
    }

    /** Whether the record that is under way tells what observed code returns. */
    static boolean isReturn(long state) {
        return U.getInt(open(state)) >>> 26 == INCOMING_RETURN;
    }

    /** Puts the record aside that is under way, for others to be written before it. */
    static byte[] putAside(long state) {
        long start = open(state);
        byte[] begun = new byte[(int) (U.getLong(state + State.POSITION) - start)];
        U.copyMemory(null, start, begun, ClassInfo.of(begun).elementBase, begun.length);
        U.putLong(state + State.POSITION, start);
        return begun;
    }

    /** Goes on with a record that was put aside. */
    static void takeUp(long state, byte[] begun) {
        U.putLong(state + State.POSITION, open(state));
        long position = Values.room(state, begun.length);
        U.copyMemory(begun, ClassInfo.of(begun).elementBase, null, position, begun.length);
        U.putLong(state + State.POSITION, position + begun.length);
    }

    /**
     * An observed object comes in, with the record that is under way, that left without an event that
     * names it: tells which of those that observed constructors made it is.
     */
    static void born(long state, Object o, ClassInfo info, long birth) {
        byte[] begun = putAside(state);
        begin(state, BORN, 0);
        Values.plainObject(state, o, info);
        Values.four(state, (int) ((birth & ~Identity.BIRTH) >>> Identity.BIRTH_BITS));
        Values.eight(state, birth & (1L << Identity.BIRTH_BITS) - 1);
        end(state);
        takeUp(state, begun);
    }

    /** Starts a record that several probes write. */
    static void begin(long state, int kind, int site) {
        U.putLong(state + State.POSITION, start(state, kind, site));
    }

    /** Starts a record; the place where its values go. */
    static long start(long state, int kind, int site) {
        long position = open(state);
        if (position >= U.getLong(state + State.LIMIT)) {
            Native.flush(state);
            position = open(state);
        }
        if ((U.getLong(ORDER) & 0xffffff) != U.getInt(state + State.INDEX)) {
            position = takeTurn(state, position);
        }
        U.putInt(position, kind << 26 | site);
        return position + 4;
    }

    @ForceInline
    static void end(long state) {
        end(state, U.getLong(state + State.POSITION));
    }

    /** Ends the record whose values go up to a place. */
    @ForceInline
    static void end(long state, long position) {
        long published = U.getLong(state + State.PUBLISHED);
        long length = position - U.getLong(state + State.BASE) - (int) published;
        U.putLongRelease(null, state + State.PUBLISHED, published + ONE_EVENT + length);
        if (State.REPLAYS && U.getLong(state + State.LIMIT) == U.getLong(state + State.BASE)) {
            Executor.published(state);
        }
    }

    /**
     * Another thread had the last event: start a new turn. Owner and number of the turn change in
     * one step, so that two threads agree on which turn came first. Reading the owner needs no
     * fence: where one thread's event must come before another's, the program's own
     * synchronisation makes the change visible.
     */
    private static long takeTurn(long state, long position) {
        int me = U.getInt(state + State.INDEX);
        long seen, turn;
        do {
            seen = U.getLongVolatile(null, ORDER);
            turn = (seen >>> 24) + 1;
        } while (!U.compareAndSetLong(null, ORDER, seen, turn << 24 | me));
        U.putLong(state + State.TURN, turn);
        U.putInt(position, TURN << 26);
        U.putLong(position + 4, turn);
        U.putLongRelease(null, state + State.PUBLISHED, U.getLong(state + State.PUBLISHED) + 12);
        return position + 12;
    }

    /**
     * So many crossings ended unseen. The depth changes at once: should the stack overflow again
     * before the event that follows is written, the next probe further out must not tell it twice.
     */
    static void unwound(long state, int count) {
        begin(state, UNWOUND, 0);
        long position = U.getLong(state + State.POSITION);
        U.putInt(position, count);
        U.putLongRelease(null, state + State.PUBLISHED, U.getLong(state + State.PUBLISHED) + 8);
        State.setDepth(state, U.getInt(state + State.DEPTH) - count);
    }
}
