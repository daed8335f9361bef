package culprit.runtime;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.util.ServiceConfigurationError;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What woven code calls. Each probe decides at run time whether control crosses the border between
 * observed and external code, and writes a record to the buffer of its thread if it does.
 *
 * <p>A thread's <em>depth</em> is the number of crossings that are open. It is even while external
 * code runs and odd while observed code runs, so one look tells on which side a thread is.
 *
 * <p>A <em>token</em> is what a probe gives to the later probes of the same activation or call: the
 * index of the thread's state (bits 32 to 55), the depth before the crossing (bits 0 to 31), and
 * flags. A negative token belongs to an open crossing; a positive one to an observed method called
 * by observed code; 0 means that this thread is not being recorded. Since tokens hold absolute
 * depths, a crossing whose end was not seen (a stack overflow inside a probe) is noticed and
 * repaired by the next probe further out.
 *
 * <p>No probe throws, blocks on a lock of the program, or runs code of the program.
 */
public final class Probe {
    /** Layout of a thread's state, in bytes; the agent has the same in its {@code state.rs}. */
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
            LEFT_OUT = 96;

    /** Kinds of records; the first fifteen are the model's event kinds. */
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
            RECORD_TURN = 16,
            RECORD_UNWOUND = 17;

    private static final long CROSSING = 1L << 63;
    private static final long OUTWARD = 1L << 62;
    /** A call that is left out, and all within it: part of the depth, which it makes unlike any other. */
    private static final int SKIPPED = 1 << 30;

    private static final long INNER = 1L << 60;
    private static final long STATE_BITS = 0x00ffffff00000000L;
    private static final long ONE_EVENT = 1L << 32;

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long STATES = Native.states();
    private static final long TABLE = Native.table();
    private static final long SLOTS = Native.tableSize() - 1;
    private static final long ORDER = Native.order();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    private Probe() {}

    // Finding the thread's state.

    /**
     * The word of the current thread: its token with its present depth, or 0 if it is not recorded.
     * Kept in the table, where one look finds it.
     */
    @ForceInline
    private static long current() {
        long tid = U.getLong(Thread.currentThread(), TID);
        long slot = TABLE + ((tid & SLOTS) << 4);
        return U.getLong(slot) == tid ? U.getLong(slot + 8) : Native.attach(Thread.currentThread(), tid);
    }

    /**
     * Changes the depth of a thread, in its state and in its word. Inlined, as {@link #end} is: once a
     * crossing is told, nothing may run out of stack before the depth says so too.
     */
    @ForceInline
    private static void setDepth(long state, int depth) {
        U.putInt(state + DEPTH, depth);
        long word = U.getLong(state + MUTED) == 0 ? (long) U.getInt(state + INDEX) << 32 | depth : 0;
        U.putLong(U.getLong(state + SLOT) + 8, word);
    }

    @ForceInline
    private static long state(long token) {
        return STATES + (token >>> 24 & 0xffffff00L);
    }

    // Records.

    /** Starts a record that several probes write. */
    private static void begin(long state, int kind, int site) {
        U.putLong(state + POSITION, start(state, kind, site));
    }

    /** Starts a record; the place where its values go. */
    private static long start(long state, int kind, int site) {
        long position = U.getLong(state + BASE) + (int) U.getLong(state + PUBLISHED);
        if (position >= U.getLong(state + LIMIT)) {
            Native.flush(state);
            position = U.getLong(state + BASE) + (int) U.getLong(state + PUBLISHED);
        }
        if ((U.getLong(ORDER) & 0xffffff) != U.getInt(state + INDEX)) {
            position = takeTurn(state, position);
        }
        U.putInt(position, kind << 26 | site);
        return position + 4;
    }

    @ForceInline
    private static void end(long state) {
        end(state, U.getLong(state + POSITION));
    }

    /** Ends the record whose values go up to a place. */
    private static void end(long state, long position) {
        long published = U.getLong(state + PUBLISHED);
        long length = position - U.getLong(state + BASE) - (int) published;
        U.putLongRelease(null, state + PUBLISHED, published + ONE_EVENT + length);
    }

    /**
     * Another thread had the last event: start a new turn. Owner and number of the turn change in
     * one step, so that two threads agree on which turn came first. Reading the owner needs no
     * fence: where one thread's event must come before another's, the program's own
     * synchronisation makes the change visible.
     */
    private static long takeTurn(long state, long position) {
        int me = U.getInt(state + INDEX);
        long seen, turn;
        do {
            seen = U.getLongVolatile(null, ORDER);
            turn = (seen >>> 24) + 1;
        } while (!U.compareAndSetLong(null, ORDER, seen, turn << 24 | me));
        U.putLong(state + TURN, turn);
        U.putInt(position, RECORD_TURN << 26);
        U.putLong(position + 4, turn);
        U.putLongRelease(null, state + PUBLISHED, U.getLong(state + PUBLISHED) + 12);
        return position + 12;
    }

    /**
     * So many crossings ended unseen. The depth changes at once: should the stack overflow again
     * before the event that follows is written, the next probe further out must not tell it twice.
     */
    private static void unwound(long state, int count) {
        begin(state, RECORD_UNWOUND, 0);
        long position = U.getLong(state + POSITION);
        U.putInt(position, count);
        U.putLongRelease(null, state + PUBLISHED, U.getLong(state + PUBLISHED) + 8);
        setDepth(state, U.getInt(state + DEPTH) - count);
    }

    // What follows comes in families: one probe for each form of a value, named by its suffix (1, 2,
    // 4, 8, F, D: a scalar of that width; L: a reference; V: none). The probes themselves are a few
    // instructions, inlined wherever they are woven; whatever writes a record is one call away. That
    // keeps woven methods small enough for the JIT to treat them as it did before.

    private static final int NONE = 0, ONE = 1, TWO = 2, FOUR = 4, EIGHT = 8, REFERENCE = 16;

    /** Flags beside the form: the record has a receiver, the record is complete. */
    private static final int ON = 32, WHOLE = 64;

    /** Writes a value; the place after it. */
    private static long put(long state, long position, int form, long bits, Object reference, boolean outward) {
        int width = form & 31;
        if (width == REFERENCE) {
            return Values.reference(state, position, reference, outward);
        }
        // Buffers are written from the low byte on; what is too much is overwritten by what follows.
        U.putLong(position, bits);
        return position + width;
    }

    // Observed methods, from inside. Woven code asks where the thread is, and calls an entry probe only
    // if it comes from outside. That branch is in the woven method: its own profile tells the JIT whether
    // it is ever taken.

    /** Where the current thread is: a token that belongs to no crossing, which the JIT is to know too. */
    @ForceInline
    public static long here() {
        return current() & ~CROSSING;
    }

    /**
     * The same in a constructor. No handler may cover a {@code super(...)} or {@code this(...)} call,
     * so an exception that leaves the inner constructor is seen there and nowhere further out; the
     * inner one must know that it ends the incoming call.
     */
    @ForceInline
    public static long hereConstructing() {
        long token = current();
        return ((token & 1) != 0 && U.getInt(state(token) + CHAINED) != 0 ? chained(token) : token) & ~CROSSING;
    }

    @DontInline
    private static long chained(long token) {
        U.putInt(state(token) + CHAINED, 0);
        return token | INNER;
    }

    /** Whether the current thread runs observed code and is recorded. */
    @ForceInline
    public static boolean isInside(long token) {
        return (token & 1) != 0;
    }

    /** Whether the current thread runs external code and is recorded. */
    @ForceInline
    public static boolean isOutside(long token) {
        return (token & 1) == 0 && token != 0;
    }

    @DontInline
    private static long entering(
            long token, int site, int form, Object self, long bits, Object reference) {
        long state = state(token);
        long position = start(state, INCOMING_CALL, site);
        token |= CROSSING | (leavesOut(token) ? SKIPPED : 0);
        if ((form & ON) != 0) {
            position = Values.reference(state, position, self, true);
        }
        position = put(state, position, form, bits, reference, false);
        if ((form & WHOLE) != 0) {
            cross(state, position, token);
        } else {
            U.putLong(state + POSITION, position);
        }
        return token;
    }

    /** Whether a call or access from outside is left out: it is outermost, and not the one in so many. */
    private static boolean leavesOut(long token) {
        long state = state(token);
        int sample = U.getInt(state + SAMPLE);
        if ((int) token != 0 || sample <= 1) {
            return false;
        }
        int count = U.getInt(state + SAMPLE_COUNT);
        U.putInt(state + SAMPLE_COUNT, (count + 1) % sample);
        if (count == 0) {
            return false;
        }
        U.putLong(state + LEFT_OUT, U.getLong(state + LEFT_OUT) + 1);
        return true;
    }

    /**
     * Runs out of stack now rather than later: what ends a call that is left out needs less than
     * this. Where that could not run, the thread would stay silent for good.
     */
    @DontInline
    private static long room(long a, long b, long c, long d, int calls) {
        return calls == 0 ? a ^ b : room(b, c, d, a + calls, calls - 1) + c;
    }

    /** Whether an activation records nothing more: it was not sampled, or capture has ended. */
    private static boolean isSilent(long state, long token) {
        return (token & SKIPPED) != 0 || U.getLong(state + MUTED) != 0;
    }

    /** Entry of a static method or class initialiser whose arguments follow. */
    public static long enter(long token, int site) {
        return entering(token, site, NONE, null, 0, null);
    }

    /** Entry of an instance method whose arguments follow. */
    public static long enterOn(long token, Object self, int site) {
        return entering(token, site, ON, self, 0, null);
    }

    // Methods with at most one small argument have the whole record written by one probe.

    public static long enterV(long token, int site) {
        return entering(token, site, WHOLE, null, 0, null);
    }

    public static long enter1(long token, int argument, int site) {
        return entering(token, site, ONE | WHOLE, null, argument, null);
    }

    public static long enter2(long token, int argument, int site) {
        return entering(token, site, TWO | WHOLE, null, argument, null);
    }

    public static long enter4(long token, int argument, int site) {
        return entering(token, site, FOUR | WHOLE, null, argument, null);
    }

    public static long enterF(long token, float argument, int site) {
        return entering(token, site, FOUR | WHOLE, null, Float.floatToRawIntBits(argument), null);
    }

    public static long enterL(long token, Object argument, int site) {
        return entering(token, site, REFERENCE | WHOLE, null, 0, argument);
    }

    public static long enterOnV(long token, Object self, int site) {
        return entering(token, site, ON | WHOLE, self, 0, null);
    }

    public static long enterOn1(long token, Object self, int argument, int site) {
        return entering(token, site, ONE | ON | WHOLE, self, argument, null);
    }

    public static long enterOn2(long token, Object self, int argument, int site) {
        return entering(token, site, TWO | ON | WHOLE, self, argument, null);
    }

    public static long enterOn4(long token, Object self, int argument, int site) {
        return entering(token, site, FOUR | ON | WHOLE, self, argument, null);
    }

    public static long enterOnF(long token, Object self, float argument, int site) {
        return entering(token, site, FOUR | ON | WHOLE, self, Float.floatToRawIntBits(argument), null);
    }

    public static long enterOnL(long token, Object self, Object argument, int site) {
        return entering(token, site, REFERENCE | ON | WHOLE, self, 0, argument);
    }

    /** Entry of a constructor whose arguments follow. */
    @DontInline
    public static long enterConstructor(long token, int site) {
        begin(state(token), INCOMING_CALL, site);
        return token | CROSSING | (leavesOut(token) ? SKIPPED : 0);
    }

    /** The constructor of an incoming call is about to call another observed constructor. */
    @ForceInline
    public static void chain(long token) {
        if (token < 0 || (token & INNER) != 0) {
            U.putInt(state(token) + CHAINED, 1);
        }
    }

    /** All arguments of an incoming call are written. */
    @ForceInline
    public static void entered(long token) {
        if (token < 0) {
            cross(token);
        }
    }

    @DontInline
    private static void cross(long token) {
        long state = state(token);
        cross(state, U.getLong(state + POSITION), token);
    }

    private static void cross(long state, long position, long token) {
        if ((token & SKIPPED) == 0) {
            end(state, position);
        } else {
            room(token, state, 0, 0, 8);
        }
        setDepth(state, (int) token + 1);
    }

    /** The object of an incoming constructor call exists: {@code super(...)} has returned. */
    @ForceInline
    public static void constructed(Object self, long token, int site) {
        if (token < 0) {
            known(self, token, site);
        }
    }

    @DontInline
    private static void known(Object self, long token, int site) {
        long state = state(token);
        if ((token & SKIPPED) != 0) {
            return;
        }
        begin(state, CONSTRUCTED, site);
        Values.reference(state, self, true);
        end(state);
    }

    @DontInline
    private static void returned(long token, int site, int form, long bits, Object reference) {
        long state = state(token);
        resume(state, token);
        int open = U.getInt(state + DEPTH) - (int) token - 1;
        if (open > 0) {
            unwound(state, open);
        }
        long position = start(state, INCOMING_RETURN, site);
        leave(state, put(state, position, form, bits, reference, true), token);
    }

    @ForceInline
    public static void returnedV(long token, int site) {
        if (token < 0) {
            returned(token, site, NONE, 0, null);
        }
    }

    @ForceInline
    public static void returned1(int value, long token, int site) {
        if (token < 0) {
            returned(token, site, ONE, value, null);
        }
    }

    @ForceInline
    public static void returned2(int value, long token, int site) {
        if (token < 0) {
            returned(token, site, TWO, value, null);
        }
    }

    @ForceInline
    public static void returned4(int value, long token, int site) {
        if (token < 0) {
            returned(token, site, FOUR, value, null);
        }
    }

    @ForceInline
    public static void returned8(long value, long token, int site) {
        if (token < 0) {
            returned(token, site, EIGHT, value, null);
        }
    }

    @ForceInline
    public static void returnedF(float value, long token, int site) {
        if (token < 0) {
            returned(token, site, FOUR, Float.floatToRawIntBits(value), null);
        }
    }

    @ForceInline
    public static void returnedD(double value, long token, int site) {
        if (token < 0) {
            returned(token, site, EIGHT, Double.doubleToRawLongBits(value), null);
        }
    }

    @ForceInline
    public static void returnedL(Object value, long token, int site) {
        if (token < 0) {
            returned(token, site, REFERENCE, 0, value);
        }
    }

    /** An exception leaves an observed method. */
    @DontInline
    public static void threw(Throwable thrown, long token, int site) {
        caught(thrown, token);
        if (token < 0) {
            end(thrown, token, site);
        } else if ((token & INNER) != 0) {
            end(thrown, token - 1, 0);
        }
    }

    /** An exception ends an incoming call. */
    private static void end(Throwable thrown, long token, int site) {
        long state = state(token);
        resume(state, token);
        begin(state, INCOMING_THROW, site);
        Values.reference(state, thrown, true);
        leave(state, token);
    }

    /** An exception reaches a handler of an observed method, which may have come from outside. */
    @DontInline
    public static void caught(Throwable thrown, long token) {
        if (token == 0 || isSilent(state(token), token)) {
            return;
        }
        long state = state(token);
        int inside = token < 0 ? (int) token + 1 : (int) token;
        int open = U.getInt(state + DEPTH) - inside;
        if (open <= 0) {
            return;
        }
        if (open > 1) {
            unwound(state, open - 1);
        }
        begin(state, OUTGOING_THROW, 0);
        Values.reference(state, thrown, false);
        leave(state, inside);
    }

    private static void leave(long state, long token) {
        leave(state, U.getLong(state + POSITION), token);
    }

    private static void leave(long state, long position, long token) {
        if ((token & SKIPPED) == 0) {
            end(state, position);
            setDepth(state, (int) token);
        }
    }

    /** A call that was left out ends: the thread is recorded again, before anything else can fail. */
    private static void resume(long state, long token) {
        if ((token & SKIPPED) != 0) {
            setDepth(state, 0);
        }
    }

    // Calls out of observed code.

    @DontInline
    private static long outgoing(long token, int site, int form, Object receiver, long bits, Object reference) {
        long state = state(token);
        if (isSilent(state, token)) {
            return 0;
        }
        int inside = token < 0 ? (int) token + 1 : (int) token;
        int open = U.getInt(state + DEPTH) - inside;
        if (open > 0) {
            unwound(state, open);
        }
        long position = start(state, OUTGOING_CALL, site);
        long call = token & STATE_BITS | CROSSING | OUTWARD | inside;
        if ((form & ON) != 0) {
            position = Values.reference(state, position, receiver, true);
        }
        position = put(state, position, form, bits, reference, true);
        if ((form & WHOLE) != 0) {
            cross(state, position, call);
        } else {
            U.putLong(state + POSITION, position);
        }
        return call;
    }

    /** Whether calls on an object leave observed code: it is external, or live and shared. */
    @ForceInline
    private static boolean leadsOut(Object receiver) {
        int role = ClassInfo.role(receiver);
        return role == ClassInfo.EXTERNAL || role == ClassInfo.LIVE && Identity.crossed(receiver);
    }

    /** A call without a receiver, to a static method or a constructor. */
    @ForceInline
    private static long goOut(long token, int site, int form, long bits, Object reference) {
        return token == 0 ? 0 : outgoing(token, site, form, null, bits, reference);
    }

    /** A call on a receiver whose class alone decides that the call goes out. */
    @ForceInline
    private static long goOutOn(Object receiver, long token, int site, int form, long bits, Object reference) {
        return token == 0 || receiver == null ? 0 : outgoing(token, site, form | ON, receiver, bits, reference);
    }

    /** A call on a receiver that may be observed, live or external. */
    @ForceInline
    private static long goOutIf(Object receiver, long token, int site, int form, long bits, Object reference) {
        return token == 0 || receiver == null || !leadsOut(receiver)
                ? 0
                : outgoing(token, site, form | ON, receiver, bits, reference);
    }

    @ForceInline
    public static long out(long token, int site) {
        return goOut(token, site, NONE, 0, null);
    }

    @ForceInline
    public static long outV(long token, int site) {
        return goOut(token, site, WHOLE, 0, null);
    }

    @ForceInline
    public static long out1(int argument, long token, int site) {
        return goOut(token, site, ONE | WHOLE, argument, null);
    }

    @ForceInline
    public static long out2(int argument, long token, int site) {
        return goOut(token, site, TWO | WHOLE, argument, null);
    }

    @ForceInline
    public static long out4(int argument, long token, int site) {
        return goOut(token, site, FOUR | WHOLE, argument, null);
    }

    @ForceInline
    public static long outF(float argument, long token, int site) {
        return goOut(token, site, FOUR | WHOLE, Float.floatToRawIntBits(argument), null);
    }

    @ForceInline
    public static long outL(Object argument, long token, int site) {
        return goOut(token, site, REFERENCE | WHOLE, 0, argument);
    }

    @ForceInline
    public static long outOn(Object receiver, long token, int site) {
        return goOutOn(receiver, token, site, NONE, 0, null);
    }

    @ForceInline
    public static long outOnV(Object receiver, long token, int site) {
        return goOutOn(receiver, token, site, WHOLE, 0, null);
    }

    @ForceInline
    public static long outOn1(Object receiver, int argument, long token, int site) {
        return goOutOn(receiver, token, site, ONE | WHOLE, argument, null);
    }

    @ForceInline
    public static long outOn2(Object receiver, int argument, long token, int site) {
        return goOutOn(receiver, token, site, TWO | WHOLE, argument, null);
    }

    @ForceInline
    public static long outOn4(Object receiver, int argument, long token, int site) {
        return goOutOn(receiver, token, site, FOUR | WHOLE, argument, null);
    }

    @ForceInline
    public static long outOnF(Object receiver, float argument, long token, int site) {
        return goOutOn(receiver, token, site, FOUR | WHOLE, Float.floatToRawIntBits(argument), null);
    }

    @ForceInline
    public static long outOnL(Object receiver, Object argument, long token, int site) {
        return goOutOn(receiver, token, site, REFERENCE | WHOLE, 0, argument);
    }

    @ForceInline
    public static long outIf(Object receiver, long token, int site) {
        return goOutIf(receiver, token, site, NONE, 0, null);
    }

    @ForceInline
    public static long outIfV(Object receiver, long token, int site) {
        return goOutIf(receiver, token, site, WHOLE, 0, null);
    }

    @ForceInline
    public static long outIf1(Object receiver, int argument, long token, int site) {
        return goOutIf(receiver, token, site, ONE | WHOLE, argument, null);
    }

    @ForceInline
    public static long outIf2(Object receiver, int argument, long token, int site) {
        return goOutIf(receiver, token, site, TWO | WHOLE, argument, null);
    }

    @ForceInline
    public static long outIf4(Object receiver, int argument, long token, int site) {
        return goOutIf(receiver, token, site, FOUR | WHOLE, argument, null);
    }

    @ForceInline
    public static long outIfF(Object receiver, float argument, long token, int site) {
        return goOutIf(receiver, token, site, FOUR | WHOLE, Float.floatToRawIntBits(argument), null);
    }

    @ForceInline
    public static long outIfL(Object receiver, Object argument, long token, int site) {
        return goOutIf(receiver, token, site, REFERENCE | WHOLE, 0, argument);
    }

    /** A call of a method that a thread inherits, on a receiver that may be a thread. */
    public static long outIfThread(Object receiver, long token, int site) {
        return receiver instanceof Thread ? outOn(receiver, token, site) : 0;
    }

    /** All arguments of an outgoing call are written. */
    @ForceInline
    public static void left(long call) {
        if (call < 0) {
            cross(call);
        }
    }

    /** Contents of an array that an outgoing call received, before its return is recorded. */
    @ForceInline
    public static void contents(Object array, long call) {
        if (call < 0 && array != null && array.getClass().isArray()) {
            changed(array, call);
        }
    }

    /**
     * The same where the callee was told which part of the array is its own. That some classes of
     * the JDK keep to it is known; of others it is not.
     */
    @ForceInline
    public static void contentsPart(Object callee, Object array, int from, int count, long call) {
        if (call < 0 && array != null) {
            changedPart(callee, array, from, count, call);
        }
    }

    @DontInline
    private static void changedPart(Object callee, Object array, int from, int count, long call) {
        if (!Values.fillsItsPart(callee)) {
            changed(array, call);
            return;
        }
        long state = state(call);
        begin(state, ARRAY_CONTENTS, 0);
        Values.part(state, array, from, count);
        end(state);
    }

    /**
     * Contents of an array that an outgoing call received, where an exception arrives or leaves: if
     * that call ended with the exception, before that is recorded.
     */
    public static void held(Object array, long token) {
        if (array == null || !array.getClass().isArray() || token == 0 || isSilent(state(token), token)) {
            return;
        }
        int inside = token < 0 ? (int) token + 1 : (int) token;
        if (U.getInt(state(token) + DEPTH) == inside + 1) {
            changed(array, token);
        }
    }

    @DontInline
    private static void changed(Object array, long call) {
        long state = state(call);
        begin(state, ARRAY_CONTENTS, 0);
        Values.reference(state, array, false);
        end(state);
    }

    @DontInline
    private static void back(long call, int site, int form, long bits, Object reference) {
        long state = state(call);
        int open = U.getInt(state + DEPTH) - (int) call - 1;
        if (open > 0) {
            unwound(state, open);
        }
        long position = start(state, OUTGOING_RETURN, site);
        leave(state, put(state, position, form, bits, reference, false), call);
    }

    @ForceInline
    public static void backV(long call, int site) {
        if (call < 0) {
            back(call, site, NONE, 0, null);
        }
    }

    @ForceInline
    public static void back1(int value, long call, int site) {
        if (call < 0) {
            back(call, site, ONE, value, null);
        }
    }

    @ForceInline
    public static void back2(int value, long call, int site) {
        if (call < 0) {
            back(call, site, TWO, value, null);
        }
    }

    @ForceInline
    public static void back4(int value, long call, int site) {
        if (call < 0) {
            back(call, site, FOUR, value, null);
        }
    }

    @ForceInline
    public static void back8(long value, long call, int site) {
        if (call < 0) {
            back(call, site, EIGHT, value, null);
        }
    }

    @ForceInline
    public static void backF(float value, long call, int site) {
        if (call < 0) {
            back(call, site, FOUR, Float.floatToRawIntBits(value), null);
        }
    }

    @ForceInline
    public static void backD(double value, long call, int site) {
        if (call < 0) {
            back(call, site, EIGHT, Double.doubleToRawLongBits(value), null);
        }
    }

    @ForceInline
    public static void backL(Object value, long call, int site) {
        if (call < 0) {
            back(call, site, REFERENCE, 0, value);
        }
    }

    // External methods that construct observed objects.

    /** Entry of such a method: its side of the border, for {@link #reached}. */
    public static long outside() {
        long token = current();
        return (token & 1) != 0 ? 0 : token;
    }

    /**
     * An exception reaches a handler of such a method. It may come out of a constructor whose call
     * of {@code super(...)} threw, where no handler can be: then the calls that it ended are still
     * open.
     */
    public static void reached(Throwable thrown, long token) {
        if (token == 0) {
            return;
        }
        long state = state(token);
        int outside = (int) token;
        resume(state, U.getInt(state + DEPTH));
        int open = U.getInt(state + DEPTH) - outside;
        if (open <= 0) {
            return;
        }
        if (open > 2) {
            unwound(state, (open - 1) / 2 * 2);
        }
        Throwable ending = wrapped(thrown);
        if (open % 2 == 0) {
            begin(state, OUTGOING_THROW, 0);
            Values.reference(state, ending, false);
            leave(state, outside + 1);
        }
        begin(state, INCOMING_THROW, 0);
        Values.reference(state, ending, true);
        leave(state, outside);
    }

    /** What a constructor threw that was called by reflection or a service loader. */
    private static Throwable wrapped(Throwable thrown) {
        Class<?> type = thrown.getClass();
        boolean wraps = type == InvocationTargetException.class || type == ServiceConfigurationError.class;
        return wraps && thrown.getCause() != null ? thrown.getCause() : thrown;
    }

    // External methods that live library code may call on behalf of observed code.

    public static long calleeEnter(long token, int site) {
        return outgoing(token, site, NONE, null, 0, null);
    }

    public static long calleeEnterOn(long token, Object self, int site) {
        return outgoing(token, site, ON, self, 0, null);
    }

    public static void calleeThrew(Throwable thrown, long call) {
        if (call < 0) {
            long state = state(call);
            int open = U.getInt(state + DEPTH) - (int) call - 1;
            if (open > 0) {
                unwound(state, open);
            }
            begin(state, OUTGOING_THROW, 0);
            Values.reference(state, thrown, false);
            leave(state, call);
        }
    }

    // Fields and arrays.

    /** Observed code accesses an external field. */
    public static long access(long token, int kind, int site) {
        if (token == 0 || isSilent(state(token), token)) {
            return 0;
        }
        begin(state(token), kind, site);
        return token | CROSSING | (kind == OUTGOING_WRITE ? OUTWARD : 0);
    }

    /** External code accesses an observed field. */
    public static long accessFromOutside(int kind, int site) {
        long token = current();
        if (token == 0 || (token & 1) != 0 || leavesOut(token)) {
            return 0;
        }
        begin(state(token), kind, site);
        return token | CROSSING | (kind == INCOMING_READ ? OUTWARD : 0);
    }

    /** Observed code accesses an element of an array; recorded if the array crossed the border. */
    @ForceInline
    public static long element(Object array, int index, long token, int kind, int site) {
        return token == 0 || array == null || Identity.isFresh(array)
                ? 0
                : elementOf(array, index, token, kind, site);
    }

    @DontInline
    private static long elementOf(Object array, int index, long token, int kind, int site) {
        long state = state(token);
        if (isSilent(state, token) || !Identity.crossed(array)) {
            return 0;
        }
        begin(state, kind, site);
        Values.reference(state, array, true);
        Values.four(state, index);
        return token | CROSSING | (kind == ARRAY_WRITE ? OUTWARD : 0);
    }

    /** External code has read or written a field by reflection. */
    public static void reflected(Field field, Object object, int kind) {
        long token = current();
        if (token != 0 && (token & 1) == 0) {
            Reflection.record(token, field, object, kind);
        }
    }

    /** Begins the record of an access by reflection; 0 if it is left out. */
    static long beginAccess(long token, int kind, int site) {
        if (leavesOut(token)) {
            return 0;
        }
        begin(state(token), kind, site);
        return state(token);
    }

    static void endAccess(long state) {
        end(state);
    }

    /** All values of an access are written. */
    public static void accessed(long access) {
        if (access < 0) {
            end(state(access));
        }
    }

    /** How a hash is asked for; the weaver has the same in its {@code identity.rs}. */
    private static final int AS_TEXT = 1, DIRECTLY = 2, OF_OBJECT = 4;

    /**
     * Observed code asks for the hash of an object or, as {@code how} says, for a text that may hold
     * it. If the JVM made it up it is recorded, unless the call of which it is the result is.
     */
    public static void identity(Object o, int how, long token, int site) {
        if (o == null || token == 0 || isSilent(state(token), token)) {
            return;
        }
        int madeUp = ClassInfo.madeUp(o);
        boolean hash = (madeUp & 1) != 0;
        boolean text = hash && ((madeUp & 2) != 0 || (how & OF_OBJECT) != 0);
        boolean told = (how & AS_TEXT) != 0 ? text : hash || (how & OF_OBJECT) != 0;
        if (told && ((how & DIRECTLY) == 0 || !leadsOut(o))) {
            long state = state(token);
            begin(state, IDENTITY_HASH, site);
            Values.reference(state, o, true);
            Values.four(state, System.identityHashCode(o));
            end(state);
        }
    }

    /** A woven object was copied bit by bit: the copy is an object of its own and gets its own id. */
    public static void cloned(Object copy, Object original) {
        Identity.separate(copy, original);
    }

    // Values of the record that a token belongs to.

    /** The receiver of an access: never its contents. */
    public static void putReceiver(Object value, long token) {
        if (token < 0) {
            Values.reference(state(token), value, true);
        }
    }

    @ForceInline
    public static void put1(int value, long token) {
        if (token < 0) {
            Values.one(state(token), value);
        }
    }

    @ForceInline
    public static void put2(int value, long token) {
        if (token < 0) {
            Values.two(state(token), value);
        }
    }

    @ForceInline
    public static void put4(int value, long token) {
        if (token < 0) {
            Values.four(state(token), value);
        }
    }

    @ForceInline
    public static void put8(long value, long token) {
        if (token < 0) {
            Values.eight(state(token), value);
        }
    }

    @ForceInline
    public static void putF(float value, long token) {
        put4(Float.floatToRawIntBits(value), token);
    }

    @ForceInline
    public static void putD(double value, long token) {
        put8(Double.doubleToRawLongBits(value), token);
    }

    @ForceInline
    public static void putL(Object value, long token) {
        if (token < 0) {
            Values.reference(state(token), value, (token & OUTWARD) != 0);
        }
    }

    // For the rest of the runtime.

    /** The state of the current thread, muted or not. */
    static long currentState() {
        return Native.stateOf(Thread.currentThread(), U.getLong(Thread.currentThread(), TID));
    }

    /** Stops the recording of a thread by 1, and resumes it by 0; how it was before. */
    static int mute(long state, int muted) {
        int before = U.getInt(state + MUTED);
        U.putInt(state + MUTED, muted);
        setDepth(state, U.getInt(state + DEPTH));
        return before;
    }
}
