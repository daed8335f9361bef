package culprit.runtime;

import java.util.IdentityHashMap;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Hashes that the JVM makes up. They differ from run to run, and with them the order of what is in a
 * hash table. The hash of an object is told once: when observed code, or library code that runs on
 * its behalf, first asks for it. After that it stays what it is.
 *
 * <p>Who asks is seen in three ways. Woven classes that have no hash of their own get a method that
 * asks {@link Probe#hash}; enums are hooked. The rest (classes, lambdas, arrays, plain objects, and all
 * keys of an {@link IdentityHashMap}) is seen where observed code hands a key to a table.
 */
final class Hashes {
    private static final Unsafe U = Unsafe.getUnsafe();

    private Hashes() {}

    /** Whether the class of an object may have no hash of its own, and that of the object was not told. */
    @ForceInline
    static boolean isOpen(Object o) {
        try {
            ClassInfo info = ClassInfo.of(o);
            return !info.hasOwnHash() && !isTold(o, info);
        } catch (OutOfMemoryError full) {
            Native.lost(Values.OUT_OF_MEMORY);
            return false;
        }
    }

    /** Whether a look at the object or its class is enough to know that its hash was told. */
    @ForceInline
    static boolean isTold(Object o, ClassInfo info) {
        return info.idOffset != 0
                ? U.getLong(o, info.idOffset) < 0
                : info.form == ClassInfo.ENUM && info.isTold((Enum<?>) o);
    }

    /** Code on the observed side asks an object that has no hash of its own. */
    @ForceInline
    static void ask(Object o, long token) {
        try {
            if (!isTold(o, ClassInfo.of(o))) {
                answer(o, token);
            }
        } catch (OutOfMemoryError full) {
            Native.lost(Values.OUT_OF_MEMORY);
        }
    }

    @DontInline
    private static void answer(Object o, long token) {
        long state = State.of(token);
        if (!Probe.isSilent(state, token) && !isMachinery(o)) {
            tell(o, state, 0);
        }
    }

    /**
     * Enums that the JDK uses for its own ends, to link code or to set itself up, on whichever thread
     * comes first. Where observed code has one as a key itself, that is seen at the call.
     */
    private static boolean isMachinery(Object o) {
        Class<?> type = o.getClass();
        if (type.getClassLoader() != null) {
            return false;
        }
        String name = type.getName();
        boolean open = name.startsWith("java.") && !name.startsWith("java.lang.");
        return !open || ClassInfo.role(o) != ClassInfo.LIVE;
    }

    /** Observed code hands a key to a table. */
    @DontInline
    static void key(Object table, Object key, long token, int site) {
        long state = State.of(token);
        // A call on a table outside is under way, and answered as it is.
        boolean outside = (U.getInt(state + State.DEPTH) & 1) == 0;
        if (outside || Probe.isSilent(state, token)) {
            return;
        }
        if ((ClassInfo.madeUp(key) & 1) != 0 || table instanceof IdentityHashMap && !isValue(key)) {
            // What has an id is outside from then on: library objects that run live must not get one.
            if (ClassInfo.role(key) != ClassInfo.LIVE || key.getClass() == Object.class || key.getClass().isArray()) {
                tell(key, state, site);
            }
        }
    }

    /** Values are told by content: which of several equal ones is meant cannot be told. */
    private static boolean isValue(Object o) {
        int form = ClassInfo.of(o).form;
        return form == ClassInfo.STRING || form == ClassInfo.BOXED;
    }

    /** Gives an object the hash that is about to be told, on replay. */
    static void foresee(Object o, long state) {
        if (!Identity.isTold(o, ClassInfo.of(o))) {
            Identity.setHash(o, Executor.hash(state));
        }
    }

    /** Records the hash of an object, unless it was recorded before. */
    static void tell(Object o, long state, int site) {
        try {
            Beside.looks(o, Beside.HASH);
            if (!Identity.tell(o, ClassInfo.of(o), state)) {
                return;
            }
        } catch (OutOfMemoryError full) {
            Native.lost(Values.OUT_OF_MEMORY);
            return;
        }
        if (State.REPLAYS) {
            Identity.setHash(o, Executor.hash(state));
        }
        Records.begin(state, Records.IDENTITY_HASH, site);
        Values.reference(state, o, true);
        Values.four(state, System.identityHashCode(o));
        Records.end(state);
    }
}
