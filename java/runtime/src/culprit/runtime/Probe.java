package culprit.runtime;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.util.IdentityHashMap;
import java.util.ServiceConfigurationError;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What woven code calls. Each probe decides at run time whether control crosses the border between
 * observed and external code, and writes a record to the buffer of its thread if it does.
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
    private static final long CROSSING = 1L << 63;
    private static final long OUTWARD = 1L << 62;
    /** A call that is left out, and all within it: part of the depth, which it makes unlike any other. */
    private static final int SKIPPED = 1 << 30;

    private static final long INNER = 1L << 60;
    private static final long STATE_BITS = 0x00ffffff00000000L;

    private static final Unsafe U = Unsafe.getUnsafe();

    private Probe() {}

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
        return State.current() & ~CROSSING;
    }

    /**
     * The same in a constructor. No handler may cover a {@code super(...)} or {@code this(...)} call,
     * so an exception that leaves the inner constructor is seen there and nowhere further out; the
     * inner one must know that it ends the incoming call.
     */
    @ForceInline
    public static long hereConstructing() {
        long token = State.current();
        return ((token & 1) != 0 && U.getInt(State.of(token) + State.CHAINED) != 0 ? chained(token) : token) & ~CROSSING;
    }

    @DontInline
    private static long chained(long token) {
        U.putInt(State.of(token) + State.CHAINED, 0);
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
        long state = State.of(token);
        long position = Records.start(state, Records.INCOMING_CALL, site);
        token |= CROSSING | (leavesOut(token) ? SKIPPED : 0);
        if ((form & ON) != 0) {
            position = Values.reference(state, position, self, true);
        }
        position = put(state, position, form, bits, reference, false);
        if ((form & WHOLE) != 0) {
            cross(state, position, token);
        } else {
            U.putLong(state + State.POSITION, position);
        }
        return token;
    }

    /** Whether a call or access from outside is left out: it is outermost, and not the one in so many. */
    private static boolean leavesOut(long token) {
        long state = State.of(token);
        int sample = U.getInt(state + State.SAMPLE);
        if ((int) token != 0 || sample <= 1) {
            return false;
        }
        int count = U.getInt(state + State.SAMPLE_COUNT);
        U.putInt(state + State.SAMPLE_COUNT, (count + 1) % sample);
        if (count == 0) {
            return false;
        }
        U.putLong(state + State.LEFT_OUT, U.getLong(state + State.LEFT_OUT) + 1);
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
    static boolean isSilent(long state, long token) {
        return (token & SKIPPED) != 0 || U.getLong(state + State.MUTED) != 0;
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
        Records.begin(State.of(token), Records.INCOMING_CALL, site);
        return token | CROSSING | (leavesOut(token) ? SKIPPED : 0);
    }

    /** The constructor of an incoming call is about to call another observed constructor. */
    @ForceInline
    public static void chain(long token) {
        if (token < 0 || (token & INNER) != 0) {
            U.putInt(State.of(token) + State.CHAINED, 1);
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
        long state = State.of(token);
        cross(state, U.getLong(state + State.POSITION), token);
    }

    private static void cross(long state, long position, long token) {
        if ((token & SKIPPED) == 0) {
            Records.end(state, position);
        } else {
            room(token, state, 0, 0, 8);
        }
        State.setDepth(state, (int) token + 1);
    }

    /**
     * An observed constructor has called one that is not: the object is made by observed code. What it is
     * to carry in the place of what it carries.
     */
    @ForceInline
    public static long born(Object self, long carried, long token) {
        return Identity.born(self, carried, token);
    }

    /** The same where a superclass of the object's class has the field. */
    public static void bornBelow(Object self, long token) {
        try {
            Identity.born(self, token);
        } catch (OutOfMemoryError full) {
            Native.lost(Values.OUT_OF_MEMORY);
        }
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
        long state = State.of(token);
        if ((token & SKIPPED) != 0) {
            return;
        }
        Records.begin(state, Records.CONSTRUCTED, site);
        Values.reference(state, self, true);
        Records.end(state);
    }

    @DontInline
    private static void returned(long token, int site, int form, long bits, Object reference) {
        long state = State.of(token);
        resume(state, token);
        int open = U.getInt(state + State.DEPTH) - (int) token - 1;
        if (open > 0) {
            Records.unwound(state, open);
        }
        long position = Records.start(state, Records.INCOMING_RETURN, site);
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
            threwOut(thrown, token, site);
        } else if ((token & INNER) != 0) {
            threwOut(thrown, token - 1, 0);
        }
    }

    /** An exception ends an incoming call. */
    private static void threwOut(Throwable thrown, long token, int site) {
        long state = State.of(token);
        resume(state, token);
        Records.begin(state, Records.INCOMING_THROW, site);
        Values.reference(state, thrown, true);
        leave(state, token);
    }

    /** An exception reaches a handler of an observed method, which may have come from outside. */
    @DontInline
    public static void caught(Throwable thrown, long token) {
        if (token == 0 || isSilent(State.of(token), token)) {
            return;
        }
        long state = State.of(token);
        int inside = token < 0 ? (int) token + 1 : (int) token;
        int open = U.getInt(state + State.DEPTH) - inside;
        if (open <= 0) {
            return;
        }
        if (open > 1) {
            Records.unwound(state, open - 1);
        }
        Records.begin(state, Records.OUTGOING_THROW, 0);
        Values.reference(state, thrown, false);
        leave(state, inside);
    }

    private static void leave(long state, long token) {
        leave(state, U.getLong(state + State.POSITION), token);
    }

    private static void leave(long state, long position, long token) {
        if ((token & SKIPPED) == 0) {
            Records.end(state, position);
            State.setDepth(state, (int) token);
        }
    }

    /** A call that was left out ends: the thread is recorded again, before anything else can fail. */
    private static void resume(long state, long token) {
        if ((token & SKIPPED) != 0) {
            State.setDepth(state, 0);
        }
    }

    // Calls out of observed code.

    @DontInline
    private static long outgoing(long token, int site, int form, Object receiver, long bits, Object reference) {
        long state = State.of(token);
        if (isSilent(state, token)) {
            return 0;
        }
        int inside = token < 0 ? (int) token + 1 : (int) token;
        int open = U.getInt(state + State.DEPTH) - inside;
        if (open > 0) {
            Records.unwound(state, open);
        }
        long position = Records.start(state, Records.OUTGOING_CALL, site);
        long call = token & STATE_BITS | CROSSING | OUTWARD | inside;
        if ((form & ON) != 0) {
            position = Values.reference(state, position, receiver, true);
        }
        position = put(state, position, form, bits, reference, true);
        if ((form & WHOLE) != 0) {
            cross(state, position, call);
        } else {
            U.putLong(state + State.POSITION, position);
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

    /** An argument of live library code that a replay may have to fill in. */
    @ForceInline
    public static void given(Object argument, long token, int site) {
        if (token != 0 && argument != null && Structures.matters(argument)) {
            Structures.given(argument, token, site);
        }
    }

    /** An argument of a call on a library object, which is recorded if the call goes out. */
    @ForceInline
    public static void putGiven(Object argument, long call, long token, int site) {
        if (call < 0) {
            Values.reference(State.of(call), argument, true);
        } else {
            given(argument, token, site);
        }
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
        if (token == 0 || receiver == null) {
            return 0;
        }
        int role = ClassInfo.role(receiver);
        if (role == ClassInfo.EXTERNAL || role == ClassInfo.LIVE && Identity.crossed(receiver)) {
            return outgoing(token, site, REFERENCE | WHOLE | ON, receiver, 0, argument);
        }
        if (role == ClassInfo.LIVE) {
            given(argument, token, site);
        }
        return 0;
    }

    /** A call of a method that a thread inherits, on a receiver that may be a thread. */
    public static long outIfThread(Object receiver, long token, int site) {
        return receiver instanceof Thread ? outOn(receiver, token, site) : 0;
    }

    /** Whether an argument, or one of those before it, is of the outside. */
    public static boolean foreign(boolean before, Object argument) {
        if (before || argument == null) {
            return before;
        }
        if (!(argument instanceof Object[])) {
            return leadsOut(argument);
        }
        for (Object element : (Object[]) argument) {
            if (element != null && leadsOut(element)) {
                return true;
            }
        }
        return false;
    }

    /** A call without a receiver that leaves if an argument is of the outside. */
    @ForceInline
    public static long outWith(boolean foreign, long token, int site) {
        return foreign ? out(token, site) : 0;
    }

    /** A call on a receiver that leaves if that or an argument is of the outside. */
    @ForceInline
    public static long outIfWith(Object receiver, boolean foreign, long token, int site) {
        return foreign ? outOn(receiver, token, site) : outIf(receiver, token, site);
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
        long state = State.of(call);
        Records.begin(state, Records.ARRAY_CONTENTS, 0);
        Values.part(state, array, from, count);
        Records.end(state);
    }

    /**
     * Contents of an array that an outgoing call received, where an exception arrives or leaves: if
     * that call ended with the exception, before that is recorded.
     */
    public static void held(Object array, long token) {
        if (array == null || !array.getClass().isArray() || token == 0 || isSilent(State.of(token), token)) {
            return;
        }
        int inside = token < 0 ? (int) token + 1 : (int) token;
        if (U.getInt(State.of(token) + State.DEPTH) == inside + 1) {
            changed(array, token);
        }
    }

    @DontInline
    private static void changed(Object array, long call) {
        long state = State.of(call);
        Records.begin(state, Records.ARRAY_CONTENTS, 0);
        Values.reference(state, array, false);
        Records.end(state);
    }

    @DontInline
    private static void back(long call, int site, int form, long bits, Object reference) {
        long state = State.of(call);
        int open = U.getInt(state + State.DEPTH) - (int) call - 1;
        if (open > 0) {
            Records.unwound(state, open);
        }
        long position = Records.start(state, Records.OUTGOING_RETURN, site);
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

    /** The end of a call of a constructor: the object is new, also where it is an observed one. */
    @ForceInline
    public static void backNew(Object made, long call, int site) {
        if (call < 0) {
            bornBelow(made, 0);
            back(call, site, REFERENCE, 0, made);
        }
    }

    /** How many events the current thread has had. */
    @ForceInline
    public static long events(long token) {
        return token == 0 ? 0 : Records.count(State.of(token));
    }

    /**
     * A method of {@code self} that was called within observed code returns, and gives an object back that
     * it was given, or returns. If library code called it, that is to find what the outside has made of the
     * object since then.
     */
    @ForceInline
    public static void handsBack(Object o, Object self, String method, long events, long token, int site) {
        if (token > 0 && o != null && Records.count(State.of(token)) != events && Structures.matters(o)) {
            Structures.handsBack(o, self, method, token, site);
        }
    }

    /** Observed code asks whether two objects are one: what it is to compare the first with. */
    @ForceInline
    public static Object compared(Object one, Object other) {
        return one instanceof String && other instanceof String
                ? Strings.compared((String) one, (String) other)
                : other;
    }

    /** Library code has written the fields of an observed object, as deserialisation does. */
    @ForceInline
    public static void refilled(Object self, long token, int site) {
        if (token != 0) {
            Structures.refilled(self, token, site);
        }
    }

    // Class loading, which is the JVM's doing.

    /**
     * Entry of a method by which the JVM loads classes: whether it was entered from within observed code,
     * as what {@link #loaded} is given. Observed code that asks a loader itself has crossed the border by
     * now, unless the loader is its own.
     */
    public static long loads(Object loader) {
        long token = State.currentIfKnown();
        return isInside(token) && ClassInfo.role(loader) != ClassInfo.OBSERVED ? mute(token) : 0;
    }

    @DontInline
    private static long mute(long token) {
        room(token, 0, 0, 0, 8);
        State.mute(State.of(token), 1);
        return token;
    }

    /** The end of such a method. */
    public static void loaded(long token) {
        if (token != 0) {
            State.mute(State.of(token), 0);
        }
    }

    // External methods that construct observed objects.

    /** Entry of such a method: its side of the border, for {@link #reached}. */
    public static long outside() {
        long token = State.current();
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
        long state = State.of(token);
        int outside = (int) token;
        resume(state, U.getInt(state + State.DEPTH));
        int open = U.getInt(state + State.DEPTH) - outside;
        if (open <= 0) {
            return;
        }
        if (open > 2) {
            Records.unwound(state, (open - 1) / 2 * 2);
        }
        Throwable ending = wrapped(thrown);
        if (open % 2 == 0) {
            Records.begin(state, Records.OUTGOING_THROW, 0);
            Values.reference(state, ending, false);
            leave(state, outside + 1);
        }
        Records.begin(state, Records.INCOMING_THROW, 0);
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

    /** Library code gets an object from outside by such a call, and looks into it. */
    @ForceInline
    public static void lent(Object value, long call, int site) {
        if (call < 0 && value != null && Structures.matters(value)) {
            Structures.given(value, call, site);
        }
    }

    public static void calleeThrew(Throwable thrown, long call) {
        if (call < 0) {
            long state = State.of(call);
            int open = U.getInt(state + State.DEPTH) - (int) call - 1;
            if (open > 0) {
                Records.unwound(state, open);
            }
            Records.begin(state, Records.OUTGOING_THROW, 0);
            Values.reference(state, thrown, false);
            leave(state, call);
        }
    }

    // Fields and arrays.

    /** Observed code accesses an external field. */
    public static long access(long token, int kind, int site) {
        if (token == 0 || isSilent(State.of(token), token)) {
            return 0;
        }
        Records.begin(State.of(token), kind, site);
        return token | CROSSING | (kind == Records.OUTGOING_WRITE ? OUTWARD : 0);
    }

    /** External code accesses an observed field. */
    public static long accessFromOutside(int kind, int site) {
        long token = State.current();
        if (token == 0 || (token & 1) != 0 || leavesOut(token)) {
            return 0;
        }
        Records.begin(State.of(token), kind, site);
        return token | CROSSING | (kind == Records.INCOMING_READ ? OUTWARD : 0);
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
        long state = State.of(token);
        if (isSilent(state, token) || !Identity.crossed(array)) {
            return 0;
        }
        Records.begin(state, kind, site);
        Values.reference(state, array, true);
        Values.four(state, index);
        return token | CROSSING | (kind == Records.ARRAY_WRITE ? OUTWARD : 0);
    }

    /** External code has read or written a field by reflection. */
    public static void reflected(Field field, Object object, int kind) {
        long token = State.current();
        if (token != 0 && (token & 1) == 0) {
            Reflection.record(token, field, object, kind);
        }
    }

    /** Begins the record of an access by reflection; 0 if it is left out. */
    static long beginAccess(long token, int kind, int site) {
        if (leavesOut(token)) {
            return 0;
        }
        Records.begin(State.of(token), kind, site);
        return State.of(token);
    }

    static void endAccess(long state) {
        Records.end(state);
    }

    /** All values of an access are written. */
    public static void accessed(long access) {
        if (access < 0) {
            Records.end(State.of(access));
        }
    }

    /** How a hash is asked for; the weaver has the same in its {@code identity.rs}. */
    private static final int AS_TEXT = 1, DIRECTLY = 2, OF_OBJECT = 4, GIVEN = 8, EACH = 16;

    /** So many elements of an array are looked at. */
    private static final int MOST_ASKED = 1 << 10;

    /**
     * Observed code asks for the hash of an object or, as {@code how} says, for a text that may hold
     * it. If the JVM made it up it is recorded once, unless the call of which it is the result is.
     */
    public static void identity(Object o, int how, long token, int site) {
        if (o == null || token == 0 || isSilent(State.of(token), token)) {
            return;
        }
        if ((how & EACH) != 0) {
            Object[] all = (Object[]) o;
            for (int i = 0; i < all.length && i < MOST_ASKED; i++) {
                identity(all[i], how & ~EACH, token, site);
            }
            return;
        }
        int madeUp = ClassInfo.madeUp(o);
        boolean hash = (madeUp & 1) != 0;
        boolean text = hash && ((madeUp & 2) != 0 || (how & OF_OBJECT) != 0);
        boolean asks = (how & AS_TEXT) != 0 ? text : hash || (how & OF_OBJECT) != 0;
        if (asks && ((how & DIRECTLY) == 0 || !leadsOut(o))) {
            Hashes.tell(o, State.of(token), site);
        }
        if ((how & GIVEN) != 0) {
            given(o, token, site);
        }
    }

    /** Observed code hands a key to what may be a hash table. */
    @ForceInline
    public static void keyed(Object table, Object key, long token, int site) {
        if (token != 0 && key != null && (Hashes.isOpen(key) || table instanceof IdentityHashMap)) {
            Hashes.key(table, key, token, site);
        }
    }

    /** The method that weaving adds to classes without a hash of their own. */
    public static int hash(Object self) {
        asked(self);
        return System.identityHashCode(self);
    }

    /** An object without a hash of its own is asked for it. */
    @ForceInline
    public static void asked(Object o) {
        long token = State.current();
        if (isInside(token)) {
            Hashes.ask(o, token);
        }
    }

    /** A woven object was copied bit by bit: the copy is an object of its own and gets its own id. */
    public static void cloned(Object copy, Object original) {
        long token = State.current();
        Identity.separate(copy, original, isInside(token) ? token : 0);
    }

    // Values of the record that a token belongs to.

    /** The receiver of an access. That of one from outside comes in. */
    public static void putReceiver(Object value, long token) {
        if (token < 0) {
            long state = State.of(token);
            Values.reference(state, value, !Records.isIncomingAccess(state));
        }
    }

    @ForceInline
    public static void put1(int value, long token) {
        if (token < 0) {
            Values.one(State.of(token), value);
        }
    }

    @ForceInline
    public static void put2(int value, long token) {
        if (token < 0) {
            Values.two(State.of(token), value);
        }
    }

    @ForceInline
    public static void put4(int value, long token) {
        if (token < 0) {
            Values.four(State.of(token), value);
        }
    }

    @ForceInline
    public static void put8(long value, long token) {
        if (token < 0) {
            Values.eight(State.of(token), value);
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
            Values.reference(State.of(token), value, (token & OUTWARD) != 0);
        }
    }
}
