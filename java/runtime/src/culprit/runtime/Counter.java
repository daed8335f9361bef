package culprit.runtime;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What code woven for {@code --suggest} calls: who calls whom, counted by class. No records, no ids.
 *
 * <p>Every class has a number. A thread has a cell with the class whose code it runs, so that a
 * method knows at its entry who called it, whatever the JDK did in between and whichever subclass
 * the receiver was. A count is a cell in a table of rows (what is called or accessed) and columns
 * (whose code does it); a row is a class number times four plus what is counted. The table is
 * reserved address space, of which only the cells in use take memory.
 *
 * <p>Counts are plain increments: threads that count in the same cell at the same moment may lose
 * one. Two threads share a cell for their class if their ids are 65536 apart.
 */
public final class Counter {
    /** Binary logarithm of the number of columns; the agent has the same in its {@code cells.rs}. */
    static final int COLUMN_BITS = 13;

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long CELLS = cells();
    private static final long THREADS = threads();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    private Counter() {}

    /** Address of the table of counts. */
    private static native long cells();

    /** Address of the threads' cells, 64 bytes each. */
    private static native long threads();

    /** A cell is counted in for the first time. */
    private static native void first(int row, int column);

    @ForceInline
    private static void add(int row, int column, int by) {
        long cell = CELLS + (((long) row << COLUMN_BITS) + column << 3);
        long count = U.getLong(cell);
        if (count == 0) {
            first(row, column);
        }
        U.putLong(cell, count + by);
    }

    /** Entry of a method: counts the call, and tells where to note its end and who called. */
    @ForceInline
    public static long enter(int row) {
        long thread = (U.getLong(Thread.currentThread(), TID) & 0xffff) << 6;
        int caller = U.getInt(THREADS + thread);
        add(row, caller, 1);
        U.putInt(THREADS + thread, row >>> 2);
        return thread << 32 | caller;
    }

    /** The method was given arrays: so many of them. */
    @ForceInline
    public static void given(int row, int by, long call) {
        add(row, (int) call, by);
    }

    /** The method ends, by return or exception. */
    @ForceInline
    public static void leave(long call) {
        U.putInt(THREADS + (call >>> 32), (int) call);
    }

    /** An exception reaches a handler of the method; it may have come from where no end is seen. */
    public static void resume(int type, long call) {
        U.putInt(THREADS + (call >>> 32), type);
    }

    /** A call or an access whose both sides the code names. */
    @ForceInline
    public static void count(int row, int column, int by) {
        add(row, column, by);
    }
}
