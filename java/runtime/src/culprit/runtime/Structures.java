package culprit.runtime;

import java.io.OutputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Tells the state of objects that came from outside, for which a replay has nothing but empty ones:
 * library objects when observed code hands them to library code that runs live, and observed objects
 * that no constructor of theirs made.
 *
 * <p>A state is a row of <em>pieces</em>: the object, and the library objects and arrays that it holds
 * and that have no id. A piece is told by its fields or elements, which refer to other pieces by number
 * and to all other objects as events do. Library objects with an id are told after it, each on its own.
 */
final class Structures {
    /** Beyond these a state is left out, and the loss is counted. */
    private static final int MOST_PIECES = 1 << 16, MOST_BYTES = 1 << 20;

    /** The bytes of states after which what calls return is not told any more. */
    private static final long MOST_TOLD = 1 << 26;

    /** Objects that are told at once, and elements of an array of arguments that are looked at. */
    private static final int MOST_OBJECTS = 1 << 12, MOST_ELEMENTS = 1 << 10;

    /** Number of the loss, as the agent names it. */
    private static final int LARGE_STATE = 5;

    private static final Unsafe U = Unsafe.getUnsafe();

    /** Names of the methods that the JDK declares in what a class extends or implements. */
    private static final ClassValue<Set<String>> OFFERED =
            new ClassValue<Set<String>>() {
                @Override
                protected Set<String> computeValue(Class<?> type) {
                    Set<String> names = new HashSet<>();
                    offered(type, names);
                    return names;
                }
            };

    /** The bytes of states so far, more or less: threads may lose some. */
    private static long told;

    private final long state;
    private final int site;

    /** The objects to tell, each of which has an id by the time it is told. */
    private final ArrayDeque<Object> open = new ArrayDeque<>();

    private final Map<Object, Boolean> met = new IdentityHashMap<>();

    /** The pieces of the object that is being told, and the numbers of those without an id. */
    private final List<Object> pieces = new ArrayList<>();

    private final Map<Object, Integer> numbers = new IdentityHashMap<>();

    /** Keys of hash tables. */
    private final List<Object> keys = new ArrayList<>();

    private Structures(long state, int site) {
        this.state = state;
        this.site = site;
    }

    /** Whether an argument of live library code may have a state to tell. */
    @ForceInline
    static boolean matters(Object argument) {
        if (argument instanceof Object[]) {
            return mayHoldShells(argument.getClass().getComponentType()) && anyMatters((Object[]) argument);
        }
        return mayBeShell(argument);
    }

    /**
     * Whether an array with this component type can hold an object with a state to tell: not one of strings,
     * classes, enum constants, boxed values or arrays, which are told as values. Decided by the class alone:
     * a look-up of its {@link ClassInfo} would define a type in the recording that no event names.
     */
    @ForceInline
    private static boolean mayHoldShells(Class<?> component) {
        return component == Object.class
                || component != String.class
                        && !component.isArray()
                        && !component.isEnum()
                        && component != Integer.class
                        && component != Long.class
                        && component != Double.class
                        && component != Character.class
                        && component != Boolean.class
                        && component != Byte.class
                        && component != Short.class
                        && component != Float.class
                        && component != Class.class;
    }

    @ForceInline
    private static boolean mayBeShell(Object o) {
        return ClassInfo.of(o).hasState && !Identity.isFresh(o);
    }

    @ForceInline
    private static boolean anyMatters(Object[] all) {
        for (int i = 0; i < all.length && i < MOST_ELEMENTS; i++) {
            Object element = all[i];
            if (element != null && mayBeShell(element)) {
                return true;
            }
        }
        return false;
    }

    /** Observed code hands an object, or an array with such among its elements, to live library code. */
    @DontInline
    static void given(Object argument, long token, int site) {
        long state = State.of(token);
        // A call that goes out is under way: its arguments are told with it.
        boolean outside = (U.getInt(state + State.DEPTH) & 1) == 0;
        if (outside || Probe.isSilent(state, token)) {
            return;
        }
        try {
            Structures told = shells(argument, state, site);
            if (told != null) {
                told.tell();
            }
        } catch (OutOfMemoryError full) {
            Native.lost(Values.OUT_OF_MEMORY);
        }
    }

    /** An observed method gives an object back, which matters where library code has called it. */
    @DontInline
    static void handsBack(Object o, Object self, String method, long token, int site) {
        try {
            if (isShell(o) && OFFERED.get(self.getClass()).contains(method)) {
                given(o, token, site);
            }
        } catch (OutOfMemoryError full) {
            Native.lost(Values.OUT_OF_MEMORY);
        }
    }

    private static void offered(Class<?> type, Set<String> names) {
        if (type.getClassLoader() == null) {
            for (Method method : type.getDeclaredMethods()) {
                if (!Modifier.isPrivate(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())) {
                    names.add(method.getName());
                }
            }
        }
        for (Class<?> face : type.getInterfaces()) {
            offered(face, names);
        }
        Class<?> above = type.getSuperclass();
        if (above != null && above != Object.class) {
            offered(above, names);
        }
    }

    /** The objects to tell of an argument, or null if there are none. */
    private static Structures shells(Object argument, long state, int site) {
        Structures found = null;
        if (argument instanceof Object[]) {
            Object[] all = (Object[]) argument;
            for (int i = 0; i < all.length && i < MOST_ELEMENTS; i++) {
                if (all[i] != null && isShell(all[i])) {
                    found = found == null ? new Structures(state, site) : found;
                    found.add(all[i]);
                }
            }
        } else if (isShell(argument)) {
            found = new Structures(state, site);
            found.add(argument);
        }
        return found;
    }

    /** Whether a replay has but an empty object: one of a library class that has crossed the border. */
    private static boolean isShell(Object o) {
        ClassInfo info = ClassInfo.of(o);
        return info.form == ClassInfo.OBJECT
                && info.hasState
                && Identity.crossed(o)
                && !(info.isImmutable && Identity.isStated(o));
    }

    /** The fields of an observed object were written by others. */
    @DontInline
    static void refilled(Object o, long token, int site) {
        long state = State.of(token);
        if (!Probe.isSilent(state, token) && ClassInfo.role(o) == ClassInfo.OBSERVED) {
            Structures told = new Structures(state, site);
            told.add(o);
            told.tell();
        }
    }

    /**
     * An observed object comes in that nobody knows. The record of the event is under way; what is
     * there of it is put aside.
     */
    static void arriving(Object o, long state) {
        byte[] begun = Records.putAside(state);
        Structures told = new Structures(state, 0);
        told.add(o);
        told.tell();
        Records.takeUp(state, begun);
    }

    /** Whether many states have been told already. */
    static boolean manyTold() {
        return told > MOST_TOLD;
    }

    /** Fills an object with the state that is about to be told, on replay. */
    static void foresee(Object o, long state) {
        if (isShell(o)) {
            Executor.state(state, o);
        }
    }

    private void add(Object o) {
        if (met.size() < MOST_OBJECTS && met.put(o, Boolean.TRUE) == null) {
            open.add(o);
        }
    }

    /** Tells all objects. Collections of the JDK may be woven by others, so nothing is recorded meanwhile. */
    private void tell() {
        int before = State.mute(state, 1);
        try {
            for (Object o; (o = open.poll()) != null; ) {
                if (!tell(o)) {
                    Native.lost(LARGE_STATE);
                }
            }
            for (Object key : keys) {
                if (Hashes.isOpen(key) && (ClassInfo.madeUp(key) & 1) != 0) {
                    Hashes.tell(key, state, site);
                }
            }
        } catch (OutOfMemoryError full) {
            Native.lost(Values.OUT_OF_MEMORY);
        } catch (StackOverflowError ofTheProgram) {
            Native.lost(LARGE_STATE);
        } catch (Throwable own) {
            Native.fault(own.toString());
        } finally {
            State.mute(state, before);
        }
    }

    /** Tells one object; a record that is not ended is none. */
    private boolean tell(Object o) {
        ClassInfo info = ClassInfo.of(o);
        if (FieldTable.of(o.getClass()).shapes.length == 0) {
            return true;
        }
        Beside.looks(o, Beside.STATE);
        if (State.REPLAYS) {
            Executor.state(state, o);
        }
        Records.begin(state, Records.OBJECT_STATE, site);
        Values.plainObject(state, o, info);
        long count = U.getLong(state + State.POSITION) - Records.open(state);
        Values.four(state, 0);
        pieces.clear();
        numbers.clear();
        pieces.add(o);
        for (int i = 0; i < pieces.size(); i++) {
            piece(pieces.get(i));
            boolean large = U.getLong(state + State.POSITION) - Records.open(state) > MOST_BYTES;
            if (large || pieces.size() > MOST_PIECES) {
                return false;
            }
        }
        U.putInt(Records.open(state) + count, pieces.size());
        told += U.getLong(state + State.POSITION) - Records.open(state);
        Records.end(state);
        if (info.isImmutable) {
            Identity.state(o);
        }
        return true;
    }

    private void piece(Object o) {
        ClassInfo info = ClassInfo.of(o);
        if (info.form == ClassInfo.ARRAY) {
            array(o, info);
            return;
        }
        FieldTable fields = FieldTable.of(o.getClass());
        Values.room(state, 16);
        Values.four(state, Values.STRUCTURE << 24 | info.type);
        for (int i = 0; i < fields.shapes.length; i++) {
            long offset = fields.offsets[i];
            Values.room(state, 16);
            switch (fields.shapes[i]) {
                case 'Z':
                case 'B':
                    Values.one(state, U.getByte(o, offset));
                    break;
                case 'S':
                case 'C':
                    Values.two(state, U.getShort(o, offset));
                    break;
                case 'I':
                case 'F':
                    Values.four(state, U.getInt(o, offset));
                    break;
                case 'J':
                case 'D':
                    Values.eight(state, U.getLong(o, offset));
                    break;
                default:
                    Object held = FieldTable.read(o, offset);
                    held(held, o.getClass());
                    if (i == fields.key && held != null) {
                        keys.add(held);
                    }
            }
        }
    }

    private void array(Object o, ClassInfo info) {
        if (info.code != 'L') {
            Values.elements(state, o, info, 0);
            return;
        }
        Object[] elements = (Object[]) o;
        Values.room(state, 32);
        Values.arrayHead(state, Values.ARRAY, info.type, 0, elements.length);
        for (Object element : elements) {
            Values.room(state, 16);
            held(element, o.getClass());
        }
    }

    /** What a piece holds. */
    private void held(Object o, Class<?> holder) {
        if (o == null) {
            Values.four(state, Values.NULL);
            return;
        }
        ClassInfo info = ClassInfo.of(o);
        boolean byContent = info.form != ClassInfo.OBJECT && info.form != ClassInfo.ARRAY;
        if (byContent) {
            Values.value(state, o);
            return;
        }
        Constants.Constant constant = Constants.of(o, holder);
        if (constant != null) {
            Constants.write(state, constant);
        } else if (isPiece(o, info)) {
            Integer number = numbers.get(o);
            if (number == null) {
                number = pieces.size();
                numbers.put(o, number);
                pieces.add(o);
            }
            Values.four(state, Values.PIECE << 24 | number);
        } else if (info.form == ClassInfo.ARRAY) {
            Values.value(state, o);
        } else {
            if (Identity.isUnknown(o, info) || isShell(o) || isWrapped(o, info)) {
                add(o);
            }
            long birth = Identity.birth(o, info);
            if (birth != 0) {
                Records.born(state, o, info, birth);
            }
            Values.plainObject(state, o, info);
        }
    }

    /** Whether the contents of an object are told that came in within another: of streams and addresses. */
    private boolean isWrapped(Object o, ClassInfo info) {
        if (!Values.TELLS_CONTENTS || site != 0 || !info.isOfJdk) {
            return false;
        }
        String name = o.getClass().getName();
        return o instanceof OutputStream || name.startsWith("java.io.") || name.startsWith("java.net.Inet");
    }

    /** Library objects and arrays that are reached by nobody but what holds them. Hidden classes have no name. */
    private static boolean isPiece(Object o, ClassInfo info) {
        return info.role == ClassInfo.LIVE && !Identity.crossed(o) && o.getClass().getName().indexOf('/') < 0;
    }
}
