package culprit.runtime;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What code woven for an instruction trace calls. Each thread has a buffer outside the heap, to which its events are
 * appended; the agent takes full ones.
 *
 * <p>Strings, collections and boxes are woven too, so nothing of them is used here: only primitives, arrays, native
 * methods and {@link Unsafe}. An event is written before its end is published by one store; whatever throws in between
 * (a stack overflow) leaves no part of it behind.
 *
 * <p>The <em>depth</em> of an activation is the number of woven activations that its thread has open, itself included.
 */
public final class Trace {
    /** Kinds of events, in the top bits of their first word; {@code EventKind} in crates/trace has the same. */
    static final int BLOCK = 1 << 27,
            ENTER = 2 << 27,
            ARGUMENT_INT = 3 << 27,
            ARGUMENT_LONG = 4 << 27,
            ARGUMENT_OBJECT = 5 << 27,
            FIELD_INT = 6 << 27,
            FIELD_LONG = 7 << 27,
            ELEMENT_INT = 8 << 27,
            ELEMENT_LONG = 9 << 27,
            RESULT = 10 << 27,
            RESULT_INT = 11 << 27,
            RESULT_LONG = 12 << 27,
            RETURN = 13 << 27,
            RETURN_INT = 14 << 27,
            RETURN_LONG = 15 << 27,
            LEFT = 16 << 27,
            CAUGHT = 17 << 27,
            COPIED = 18 << 27,
            CLONED = 19 << 27,
            DONE = 20 << 27,
            MADE_ARRAY = 21 << 27,
            INITIALISED = 22 << 27,
            TURN = 23 << 27,
            STATEMENT = 24 << 27;

    /** Offsets in the state of a thread, in bytes; the agent has the same layout in its {@code tracing/buffers.rs}. */
    static final int POSITION = 0, LIMIT = 8, DEPTH = 16, INDEX = 20, FULL = 24, MUTED = 32;

    /** Reasons for the end of a trace; the agent has their texts. */
    static final int TOO_MANY_OBJECTS = 0;

    private static final int MOST_OBJECTS = 1 << 24;

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TABLE = table();
    private static final long SLOTS = slots() - 1;
    private static final long ORDER = order();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    private static boolean on;
    /** The id of the thread that runs the script. */
    private static long main;
    /** Threads with smaller ids were there before the run. */
    private static long first;

    /** The objects with an id: open addressing by identity hash. Read without the lock, and then without surprise. */
    private static Table objects = new Table(1 << 12);
    private static int count;
    private static final Object LOCK = new Object();

    private Trace() {}

    private static final class Table {
        final Object[] keys;
        final int[] ids;

        Table(int size) {
            keys = new Object[size];
            ids = new int[size];
        }
    }

    /** Address of the table from thread ids to states, 16 bytes each. */
    private static native long table();

    /** Number of its slots, a power of two. */
    private static native int slots();

    /** Address of the order cell: which thread had the last event, and the number of its turn. */
    private static native long order();

    /** The state of a thread that has none in the table, or 0. */
    private static native long attach(long tid, int object);

    /** Hands a full buffer over; gives the state an empty one, or ends the trace. */
    private static native void flush(long state);

    /** The trace ends early. */
    private static native void close(int reason);

    /** Begins the trace of a run in the current thread. */
    static void begin() {
        synchronized (LOCK) {
            objects = new Table(1 << 12);
            count = 0;
        }
        main = U.getLong(Thread.currentThread(), TID);
        // With a name of its own, so that threads of the program have the names that they would have.
        first = U.getLong(new Thread("culprit"), TID);
        on = true;
    }

    /** Ends the trace. */
    static void end() {
        on = false;
    }

    /** The objects by id, the first of which is 1. */
    static Object[] objects() {
        Table table = objects;
        Object[] all = new Object[count];
        for (int i = 0; i < table.keys.length; i++) {
            if (table.keys[i] != null) {
                all[table.ids[i] - 1] = table.keys[i];
            }
        }
        objects = new Table(1 << 12);
        count = 0;
        return all;
    }

    @ForceInline
    private static long state() {
        if (!on) {
            return 0;
        }
        long tid = U.getLong(Thread.currentThread(), TID);
        long slot = TABLE + ((tid & SLOTS) << 4);
        return U.getLong(slot) == tid ? U.getLong(slot + 8) : unknown(tid);
    }

    private static long unknown(long tid) {
        return tid == main || tid > first ? attach(tid, id(Thread.currentThread())) : 0;
    }

    /** Where the next event goes, or 0 if none is wanted. There is room for the longest one. */
    @ForceInline
    private static long room(long state) {
        if (state == 0) {
            return 0;
        }
        long position = U.getLong(state + POSITION);
        if (position > U.getLong(state + LIMIT)) {
            position = full(state);
            if (position == 0) {
                return 0;
            }
        }
        return U.getInt(ORDER + 4) == U.getInt(state + INDEX) ? position : turn(state, position);
    }

    private static long full(long state) {
        if (U.getInt(state + MUTED) != 0) {
            return 0;
        }
        flush(state);
        return on ? U.getLong(state + POSITION) : 0;
    }

    private static long turn(long state, long position) {
        long own = (long) U.getInt(state + INDEX) << 32;
        while (true) {
            long last = U.getLongVolatile(null, ORDER);
            long next = own | (last + 1 & 0xffffffffL);
            if (U.compareAndSetLong(null, ORDER, last, next)) {
                U.putInt(position, TURN);
                U.putInt(position + 4, (int) next);
                end(state, position + 8);
                return position + 8;
            }
        }
    }

    @ForceInline
    private static void end(long state, long position) {
        U.putLongRelease(null, state + POSITION, position);
    }

    @ForceInline
    private static void one(int first) {
        long state = state();
        long at = room(state);
        if (at != 0) {
            U.putInt(at, first);
            end(state, at + 4);
        }
    }

    @ForceInline
    private static void two(int first, int second) {
        long state = state();
        long at = room(state);
        if (at != 0) {
            U.putInt(at, first);
            U.putInt(at + 4, second);
            end(state, at + 8);
        }
    }

    private static void three(int first, int second, int third) {
        long state = state();
        long at = room(state);
        if (at != 0) {
            U.putInt(at, first);
            U.putInt(at + 4, second);
            U.putInt(at + 8, third);
            end(state, at + 12);
        }
    }

    private static void four(int first, int second, int third, int fourth) {
        long state = state();
        long at = room(state);
        if (at != 0) {
            U.putInt(at, first);
            U.putInt(at + 4, second);
            U.putInt(at + 8, third);
            U.putInt(at + 12, fourth);
            end(state, at + 16);
        }
    }

    /** The id of an object; 0 of null, and if there are too many. */
    private static int id(Object object) {
        if (object == null || !on) {
            return 0;
        }
        int hash = System.identityHashCode(object);
        Table table = objects;
        int mask = table.keys.length - 1;
        for (int i = hash & mask; table.keys[i] != null; i = i + 1 & mask) {
            if (table.keys[i] == object) {
                return table.ids[i];
            }
        }
        return add(object, hash);
    }

    private static int add(Object object, int hash) {
        synchronized (LOCK) {
            Table table = objects;
            int mask = table.keys.length - 1;
            int i = hash & mask;
            for (; table.keys[i] != null; i = i + 1 & mask) {
                if (table.keys[i] == object) {
                    return table.ids[i];
                }
            }
            if (count == MOST_OBJECTS) {
                if (on) {
                    on = false;
                    close(TOO_MANY_OBJECTS);
                }
                return 0;
            }
            table.ids[i] = ++count;
            U.storeFence();
            table.keys[i] = object;
            if (count > table.keys.length >> 1) {
                grow(table);
            }
            return count;
        }
    }

    private static void grow(Table old) {
        Table table = new Table(old.keys.length << 1);
        int mask = table.keys.length - 1;
        for (int j = 0; j < old.keys.length; j++) {
            Object object = old.keys[j];
            if (object != null) {
                int i = System.identityHashCode(object) & mask;
                while (table.keys[i] != null) {
                    i = i + 1 & mask;
                }
                table.keys[i] = object;
                table.ids[i] = old.ids[j];
            }
        }
        U.storeFence();
        objects = table;
    }

    /** Stops the events of the current thread until {@link #unmute}: the JVM loads or links something. */
    public static void mute() {
        long state = state();
        if (state != 0) {
            U.putInt(state + MUTED, U.getInt(state + MUTED) + 1);
            U.putLong(state + LIMIT, 0);
        }
    }

    /** The end of what {@link #mute} began. */
    public static void unmute() {
        long state = state();
        if (state != 0) {
            int muted = U.getInt(state + MUTED) - 1;
            if (muted >= 0) {
                U.putInt(state + MUTED, muted);
            }
            if (muted <= 0) {
                U.putLong(state + LIMIT, U.getLong(state + FULL));
            }
        }
    }

    /** A statement of the script begins. */
    static void statement(int number) {
        one(STATEMENT | number);
    }

    /** A method begins; its depth. */
    public static int enter(int block) {
        long state = state();
        if (state == 0) {
            return 0;
        }
        int depth = U.getInt(state + DEPTH) + 1;
        long at = room(state);
        if (at != 0) {
            U.putInt(state + DEPTH, depth);
            U.putInt(at, ENTER | block);
            U.putInt(at + 4, depth);
            end(state, at + 8);
        }
        return depth;
    }

    /** Another block of a method begins. */
    @ForceInline
    public static void block(int block) {
        one(BLOCK | block);
    }

    public static void argument(int value) {
        two(ARGUMENT_INT, value);
    }

    public static void argument(long value) {
        three(ARGUMENT_LONG, (int) value, (int) (value >>> 32));
    }

    public static void argument(float value) {
        argument(Float.floatToRawIntBits(value));
    }

    public static void argument(double value) {
        argument(Double.doubleToRawLongBits(value));
    }

    public static void argument(Object value) {
        one(ARGUMENT_OBJECT | id(value));
    }

    /** A field has been read or written. */
    public static void field(int value, Object owner) {
        two(FIELD_INT | id(owner), value);
    }

    public static void field(long value, Object owner) {
        three(FIELD_LONG | id(owner), (int) value, (int) (value >>> 32));
    }

    public static void field(float value, Object owner) {
        field(Float.floatToRawIntBits(value), owner);
    }

    public static void field(double value, Object owner) {
        field(Double.doubleToRawLongBits(value), owner);
    }

    public static void field(Object value, Object owner) {
        field(id(value), owner);
    }

    /** An element has been read or written. */
    public static void element(int value, Object array, int index) {
        three(ELEMENT_INT | id(array), index, value);
    }

    public static void element(long value, Object array, int index) {
        four(ELEMENT_LONG | id(array), index, (int) value, (int) (value >>> 32));
    }

    public static void element(float value, Object array, int index) {
        element(Float.floatToRawIntBits(value), array, index);
    }

    public static void element(double value, Object array, int index) {
        element(Double.doubleToRawLongBits(value), array, index);
    }

    public static void element(Object value, Object array, int index) {
        element(id(value), array, index);
    }

    /** A call has returned. */
    public static void result(int depth) {
        resume(depth);
        one(RESULT | depth);
    }

    public static void result(int value, int depth) {
        resume(depth);
        two(RESULT_INT | depth, value);
    }

    public static void result(long value, int depth) {
        resume(depth);
        three(RESULT_LONG | depth, (int) value, (int) (value >>> 32));
    }

    public static void result(float value, int depth) {
        result(Float.floatToRawIntBits(value), depth);
    }

    public static void result(double value, int depth) {
        result(Double.doubleToRawLongBits(value), depth);
    }

    public static void result(Object value, int depth) {
        result(id(value), depth);
    }

    /** The activation of a depth is the innermost one again. Those that began before the trace have none. */
    private static void resume(int depth) {
        long state = state();
        if (state != 0 && depth >= 0 && U.getInt(state + MUTED) == 0) {
            U.putInt(state + DEPTH, depth);
        }
    }

    /** A method returns. */
    public static void returned(int depth) {
        one(RETURN | depth);
        resume(depth - 1);
    }

    public static void returned(int value, int depth) {
        two(RETURN_INT | depth, value);
        resume(depth - 1);
    }

    public static void returned(long value, int depth) {
        three(RETURN_LONG | depth, (int) value, (int) (value >>> 32));
        resume(depth - 1);
    }

    public static void returned(float value, int depth) {
        returned(Float.floatToRawIntBits(value), depth);
    }

    public static void returned(double value, int depth) {
        returned(Double.doubleToRawLongBits(value), depth);
    }

    public static void returned(Object value, int depth) {
        returned(id(value), depth);
    }

    /** An exception leaves a method. */
    public static void left(Object exception, int depth) {
        two(LEFT | depth, id(exception));
        resume(depth - 1);
    }

    /** A handler begins. */
    public static void caught(Object exception, int block, int depth) {
        resume(depth);
        three(CAUGHT | block, depth, id(exception));
    }

    /** {@code System.arraycopy} has copied. */
    public static void copied(Object from, int at, Object to, int into, int length) {
        long state = state();
        int source = id(from);
        int target = id(to);
        long position = room(state);
        if (position != 0) {
            U.putInt(position, COPIED | source);
            U.putInt(position + 4, at);
            U.putInt(position + 8, target);
            U.putInt(position + 12, into);
            U.putInt(position + 16, length);
            end(state, position + 20);
        }
    }

    /** An object has been cloned. */
    public static void cloned(Object copy, Object original) {
        two(CLONED | id(original), id(copy));
    }

    /** An instruction is done that may throw. */
    public static void done() {
        one(DONE);
    }

    /** An array has been made. */
    public static void array(Object array) {
        one(MADE_ARRAY | id(array));
    }

    /** A constructor call has initialised an object. */
    public static void initialised(Object object) {
        one(INITIALISED | id(object));
    }
}
