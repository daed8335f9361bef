package culprit.runtime;

import java.util.Arrays;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/** What the recorder knows of a run-time class. One lookup serves type, role and identity. */
final class ClassInfo {
    /** How values of the class are written. */
    static final int OBJECT = 0, STRING = 1, CLASS = 2, ENUM = 3, BOXED = 4, ARRAY = 5;

    /** Who runs the code of the class; numbers agree with the agent's. */
    static final int OBSERVED = 0, VALUE = 1, LIVE = 2, EXTERNAL = 3;

    /** The field that the weaver adds to the topmost woven class of a hierarchy. */
    static final String ID_FIELD = "$culprit$id";

    private static final ClassValue<ClassInfo> ALL =
            new ClassValue<ClassInfo>() {
                @Override
                protected ClassInfo computeValue(Class<?> type) {
                    return new ClassInfo(type, Native.describe(type));
                }
            };

    private static final Unsafe U = Unsafe.getUnsafe();

    /** Whether the second word of an object's header is 32 bits wide and stands for its class. */
    private static final boolean HEADER_TELLS = U.objectFieldOffset(Integer.class, "value") == 12;

    /** Where that word is. Not a constant: where the JIT sees one it leaves the access to a slow call. */
    private static long headerClass = 8;

    /** Classes seen lately, by that word. Only such as are never unloaded: words are used again. */
    private static final int RECENT_BITS = 10;

    private static final ClassLoader SYSTEM = ClassLoader.getSystemClassLoader();

    private static final ClassInfo[] RECENT = new ClassInfo[1 << RECENT_BITS];

    static {
        Arrays.fill(RECENT, of(Object.class));
    }

    /** The word in the header of this class's objects, or 0 where it is not known. */
    private int header;

    final int type;
    final int form;
    final int role;

    /** Whether it is a class of the JVM's own. */
    final boolean isOfJdk;

    /** Descriptor character: of the boxed value, or of the elements of the array. */
    final int code;

    /** Whether objects of the class, one of the JDK, are data that never changes. */
    final boolean isImmutable;

    /**
     * Whether a replay may need what objects of the class hold: those that run live, and those that are
     * nothing but data. A lambda is of no use there without its code.
     */
    final boolean hasState;

    /** Offset of the added id field, or 0 where the class has none. */
    final long idOffset;

    /** Where the elements of an array of primitives start, and the size of one. */
    final long elementBase;

    final int elementSize;

    /** Whether objects of the class are lambdas of observed code. They hold what the code captured. */
    final boolean captures;

    /** Type number of the enum class; differs from {@code type} for constants with a body. */
    final int enumType;

    /** What {@link Native#madeUp} says, and 4 once it was asked. */
    private int madeUp;

    /** Whether objects of the class may be constants of the library: 1 if not, 2 if so, 0 if nobody asked. */
    private byte constantsHere;

    /** Whether the hash of the class itself, as an object, was told. */
    private boolean told;

    /** Of an enum that is not woven: the constants whose hashes were told. */
    private volatile boolean[] toldConstants = {};

    /** Which constants of the enum the agent knows by name. */
    private volatile boolean[] constants = {};

    private ClassInfo(Class<?> type, long packed) {
        this.type = (int) packed & 0xffffff;
        this.form = (int) (packed >>> 24) & 0xf;
        this.role = (int) (packed >>> 28) & 0xf;
        this.code = (int) (packed >>> 32) & 0xff;
        boolean woven = (packed >>> 40 & 1) != 0;
        this.isImmutable = (packed >>> 41 & 1) != 0;
        this.idOffset = woven ? idOffset(type) : 0;
        this.isOfJdk = role != OBSERVED && isOfJdk(type.getClassLoader());
        boolean lambda = type.getName().contains("$$Lambda");
        this.captures = role == OBSERVED && lambda;
        this.hasState = (role == LIVE || isImmutable) && !lambda;
        boolean primitives = form == ARRAY && code != 'L';
        this.elementBase = primitives ? elementBase(type) : 0;
        this.elementSize = primitives ? U.arrayIndexScale(type) : 0;
        this.enumType =
                form == ENUM && type.getSuperclass() != Enum.class ? of(type.getSuperclass()).type : this.type;
    }

    private static boolean isOfJdk(ClassLoader loader) {
        return loader == null || loader == ClassLoader.getPlatformClassLoader();
    }

    /** The constant of the library that an object of this class is, or null. */
    Constants.Constant constant(Object o) {
        if (role != LIVE || constantsHere == 1) {
            return null;
        }
        if (constantsHere == 0) {
            constantsHere = (byte) (Constants.areOf(o.getClass()) ? 2 : 1);
        }
        return constantsHere == 2 ? Constants.of(o) : null;
    }

    /** Tells the agent the name of an enum constant when the first value of it is written. */
    void named(Enum<?> constant) {
        int ordinal = constant.ordinal();
        boolean[] known = constants;
        if (ordinal < known.length && known[ordinal]) {
            return;
        }
        Native.constant(enumType, ordinal, constant.name());
        constants = with(known, ordinal);
    }

    /** Whether the JVM made up what an object's hash is (bit 0), and what its text would be (bit 1). */
    static int madeUp(Object o) {
        try {
            ClassInfo info = of(o);
            if (info.madeUp == 0) {
                info.madeUp = Native.madeUp(o.getClass()) | 4;
            }
            return info.madeUp;
        } catch (OutOfMemoryError full) {
            Native.lost(Values.OUT_OF_MEMORY);
            return 0;
        }
    }

    /** Whether objects of the class are known to have a hash that the JVM did not make up. */
    @ForceInline
    boolean hasOwnHash() {
        return (madeUp & 5) == 4;
    }

    @ForceInline
    boolean isTold(Enum<?> constant) {
        boolean[] all = toldConstants;
        return constant.ordinal() < all.length && all[constant.ordinal()];
    }

    /** Notes that the hash of a constant is told; whether it was not before. */
    boolean tell(Enum<?> constant) {
        if (isTold(constant)) {
            return false;
        }
        toldConstants = with(toldConstants, constant.ordinal());
        return true;
    }

    private static boolean[] with(boolean[] known, int ordinal) {
        boolean[] more = Arrays.copyOf(known, Math.max(known.length, ordinal + 1));
        more[ordinal] = true;
        return more;
    }

    /** Notes that the hash of the class itself is told; whether it was not before. */
    boolean tellHash() {
        boolean news = !told;
        told = true;
        return news;
    }

    /** Whether the hash of the class itself was told. */
    boolean isTold() {
        return told;
    }

    static ClassInfo of(Class<?> type) {
        return ALL.get(type);
    }

    /** The same for the class of an object. */
    @ForceInline
    static ClassInfo of(Object o) {
        if (HEADER_TELLS) {
            int header = U.getInt(o, headerClass);
            ClassInfo recent = RECENT[slot(header)];
            if (recent.header == header) {
                return recent;
            }
        }
        return look(o);
    }

    @ForceInline
    private static int slot(int header) {
        return header * 0x9e3779b1 >>> 32 - RECENT_BITS;
    }

    @DontInline
    private static ClassInfo look(Object o) {
        Class<?> type = o.getClass();
        ClassInfo info = of(type);
        if (HEADER_TELLS && isLasting(type)) {
            // A thread that sees the entry without its header looks once more.
            info.header = U.getInt(o, headerClass);
            RECENT[slot(info.header)] = info;
        }
        return info;
    }

    /** Whether a class lives as long as the JVM. Hidden classes have a slash in their names. */
    private static boolean isLasting(Class<?> type) {
        ClassLoader own = type.getClassLoader();
        for (ClassLoader loader = SYSTEM; own != null && loader != own; loader = loader.getParent()) {
            if (loader == null) {
                return false;
            }
        }
        return type.getName().indexOf('/') < 0;
    }

    /** By reflection, since the method returns an {@code int} before JDK 25 and a {@code long} since. */
    private static long elementBase(Class<?> type) {
        try {
            Object base = Unsafe.class.getMethod("arrayBaseOffset", Class.class).invoke(U, type);
            return ((Number) base).longValue();
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The role of an object's class; where memory is full its code runs on as if it were observed. */
    static int role(Object o) {
        try {
            return of(o).role;
        } catch (OutOfMemoryError full) {
            Native.lost(Values.OUT_OF_MEMORY);
            return OBSERVED;
        }
    }

    private static long idOffset(Class<?> type) {
        for (Class<?> c = type; c != null && c.getClassLoader() != null; c = c.getSuperclass()) {
            try {
                return U.objectFieldOffset(c, ID_FIELD);
            } catch (InternalError noSuchField) {
                // The field is in a superclass.
            }
        }
        return 0;
    }
}
