package culprit.runtime;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import jdk.internal.misc.Unsafe;

/**
 * What woven code asks on replay, where nothing is outside: results of calls that left observed code,
 * values of external fields, hashes. The executor answers from the scenario. Only JVMs that replay have
 * this class.
 *
 * <p>An instance is what the constructors of stubs are given by those of their substubs: never anything
 * but null.
 */
public final class Answer {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long COUNTS = Executor.counts();

    /** Whether the scenario has steps of several threads; set by the agent. */
    private static boolean severalThreads;

    /** Objects by their id: the scenario may name them for as long as it goes on. */
    private static Object[] objects = new Object[1 << 12];

    /** The largest id so far. */
    private static int last;

    /** Numbers of objects that the scenario will ask for, those of a thread in one row, and the objects. */
    private static final Map<Integer, Births> BIRTHS = new HashMap<>();

    /** Whether there are any. */
    private static boolean awaitsBirths;

    private static final class Births {
        final long state;
        final long[] numbers;
        final Object[] objects;

        Births(long state, long[] numbers) {
            this.state = state;
            this.numbers = numbers;
            this.objects = new Object[numbers.length];
        }
    }

    /** Names of classes that are initialised, in the order in which that began. */
    private static String[] touched = new String[64];

    private static int touchedCount;

    private Answer() {}

    // Calls that leave, at the place where they are made. The last letter is the type of the answer.

    public static void giveV(long call) {
        Executor.answer(State.of(call), null);
    }

    public static int giveI(long call) {
        Executor.answer(State.of(call), null);
        return U.getInt(State.of(call) + State.ANSWER);
    }

    public static long giveJ(long call) {
        Executor.answer(State.of(call), null);
        return U.getLong(State.of(call) + State.ANSWER);
    }

    public static float giveF(long call) {
        return Float.intBitsToFloat(giveI(call));
    }

    public static double giveD(long call) {
        return Double.longBitsToDouble(giveJ(call));
    }

    public static Object giveL(long call) {
        return Executor.answer(State.of(call), null);
    }

    // The same in the methods of stubs, which library code calls.

    public static void stubV() {
        stubL();
    }

    public static int stubI() {
        long token = State.current();
        stubL();
        return token == 0 ? 0 : U.getInt(State.of(token) + State.ANSWER);
    }

    public static long stubJ() {
        long token = State.current();
        stubL();
        return token == 0 ? 0 : U.getLong(State.of(token) + State.ANSWER);
    }

    public static float stubF() {
        return Float.intBitsToFloat(stubI());
    }

    public static double stubD() {
        return Double.longBitsToDouble(stubJ());
    }

    public static Object stubL() {
        long token = State.current();
        return token == 0 ? null : Executor.answer(State.of(token), null);
    }

    /** The constructor of an external superclass has an object by now: the rest of it follows. */
    public static void constructing(Object self) {
        long token = State.current();
        if (token != 0) {
            Executor.answer(State.of(token), self);
        }
    }

    // External fields: what was found in the stub is replaced.

    public static int readI(int found, int site) {
        long token = State.current();
        if (!Probe.isInside(token)) {
            return found;
        }
        Executor.read(State.of(token), site);
        return U.getInt(State.of(token) + State.ANSWER);
    }

    public static long readJ(long found, int site) {
        long token = State.current();
        if (!Probe.isInside(token)) {
            return found;
        }
        Executor.read(State.of(token), site);
        return U.getLong(State.of(token) + State.ANSWER);
    }

    public static float readF(float found, int site) {
        return Float.intBitsToFloat(readI(Float.floatToRawIntBits(found), site));
    }

    public static double readD(double found, int site) {
        return Double.longBitsToDouble(readJ(Double.doubleToRawLongBits(found), site));
    }

    public static Object readL(Object found, int site) {
        long token = State.current();
        return Probe.isInside(token) ? Executor.read(State.of(token), site) : found;
    }

    /** Observed code is about to read an element of an array: it is what the scenario says. */
    public static void element(Object array, int index) {
        long token = State.current();
        if (array != null && Probe.isInside(token) && Identity.crossed(array)) {
            Executor.element(State.of(token), array, index);
        }
    }

    /** A thread is about to take a lock: it lets those go first that the scenario comes to before it. */
    public static void awaitLock() {
        if (severalThreads && State.current() != 0) {
            Executor.awaitLock();
        }
    }

    /** A line of observed code is reached. */
    public static void line(int counter) {
        long at = COUNTS + ((long) counter << 3);
        U.putLong(at, U.getLong(at) + 1);
    }

    /** The constants of an external enum. */
    public static Object[] constants(Class<?> type) {
        return Executor.constants(type);
    }

    /** The initialiser of an observed class begins. */
    public static void touched(String type) {
        synchronized (Answer.class) {
            if (touchedCount == touched.length) {
                touched = Arrays.copyOf(touched, 2 * touchedCount);
            }
            touched[touchedCount++] = type;
        }
    }

    /** A scenario begins: no object has an id. The classes that the one before has initialised. */
    static synchronized String[] begin() {
        Identity.forget(objects, Math.min(last + 1, objects.length));
        Arrays.fill(objects, 0, Math.min(last + 1, objects.length), null);
        last = 0;
        BIRTHS.clear();
        awaitsBirths = false;
        String[] initialised = Arrays.copyOf(touched, touchedCount);
        touchedCount = 0;
        return initialised;
    }

    // Objects and their ids.

    /** Keeps an object that has got an id. */
    static synchronized void keep(Object o, long id) {
        if (id >= objects.length) {
            objects = Arrays.copyOf(objects, Math.max((int) id + 1, 2 * objects.length));
        }
        objects[(int) id] = o;
        last = Math.max(last, (int) id);
    }

    /** The object with an id. */
    static synchronized Object object(long id) {
        return id < objects.length ? objects[(int) id] : null;
    }

    /** The steps of a thread begin, on this one: objects with these numbers will be asked for. */
    static synchronized void begin(int thread, long[] births) {
        long state = State.ofCurrentThread();
        U.putLong(state + State.BIRTHS, Identity.BORN | Identity.BIRTH);
        if (births.length != 0) {
            BIRTHS.put(thread, new Births(state, births));
            awaitsBirths = true;
        }
    }

    /** Observed code has made an object. */
    static void born(Object o, long state, long birth) {
        if (!awaitsBirths) {
            return;
        }
        long number = birth & (1L << Identity.BIRTH_BITS) - 1;
        synchronized (Answer.class) {
            for (Births births : BIRTHS.values()) {
                int place = births.state == state ? Arrays.binarySearch(births.numbers, number) : -1;
                if (place >= 0) {
                    births.objects[place] = o;
                }
            }
        }
    }

    /** The object that a thread of the scenario made as that of a number, or null. */
    static synchronized Object born(int thread, long number) {
        Births births = BIRTHS.get(thread);
        int place = births == null ? -1 : Arrays.binarySearch(births.numbers, number);
        return place < 0 ? null : births.objects[place];
    }

    /**
     * External code reads an object from an observed field: what was found is recorded, after what goes out
     * with it. A record of this kind has a place anywhere else.
     */
    static void found(Object o) {
        long state = State.ofCurrentThread();
        Records.begin(state, Records.CONSTRUCTED, 0);
        Values.reference(state, o, true);
        Records.end(state);
    }

    /** The id of an object that comes from outside, given now if it has none. */
    static long adopt(Object o) {
        return Identity.of(o, ClassInfo.of(o), State.ofCurrentThread());
    }
}
