package culprit.runtime;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import jdk.internal.misc.Unsafe;

/**
 * Keeps what the weaver adds out of the program's sight. Called where the JDK has an array all for
 * itself and filters it, or is about to give it away.
 */
public final class Hiding {
    /** How the names of methods start that the weaver adds for method references. */
    private static final String BODY = "lambda$culprit$";

    /** How the names of all other members start that the weaver adds. */
    private static final String ADDED = "$culprit$";

    /** Methods that were synchronized, and what is added to a class that is initialised again: on replay. */
    private static final String LOCKED = "$culprit$locked$", READY = "$culprit$ready";

    private static final int SYNTHETIC = 0x1000;

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long FIELD_MODIFIERS = U.objectFieldOffset(Field.class, "modifiers"),
            METHOD_MODIFIERS = U.objectFieldOffset(Method.class, "modifiers");

    private Hiding() {}

    /** The fields of a class without the added ones. */
    public static Field[] hide(Field[] fields) {
        if (State.REPLAYS) {
            finishStatics(fields);
        }
        int kept = 0;
        for (Field field : fields) {
            String name = field.getName();
            if (!name.startsWith(ADDED) && !Beside.isAdded(name)) {
                fields[kept++] = field;
            }
        }
        return kept == fields.length ? fields : Arrays.copyOf(fields, kept);
    }

    /** Shows static fields as final that are not on replay, where an initialiser may run again. */
    private static void finishStatics(Field[] fields) {
        boolean again = false;
        for (Field field : fields) {
            again |= field.getName().equals(READY);
        }
        for (Field field : fields) {
            if (again && field.isSynthetic() && Modifier.isStatic(field.getModifiers())) {
                U.putInt(field, FIELD_MODIFIERS, field.getModifiers() & ~SYNTHETIC | Modifier.FINAL);
            }
        }
    }

    /** Shows methods as synchronized that others stand before on replay. */
    private static void lock(Method[] methods) {
        for (Method locked : methods) {
            String name = locked.getName();
            if (name.startsWith(LOCKED)) {
                String plain = name.substring(name.indexOf('$', LOCKED.length()) + 1);
                for (Method method : methods) {
                    if (method.getName().equals(plain)
                            && method.getReturnType() == locked.getReturnType()
                            && Arrays.equals(method.getParameterTypes(), locked.getParameterTypes())) {
                        U.putInt(method, METHOD_MODIFIERS, method.getModifiers() | Modifier.SYNCHRONIZED);
                    }
                }
            }
        }
    }

    /** The methods of a class without the added ones. */
    public static Method[] hide(Method[] methods) {
        if (State.REPLAYS) {
            lock(methods);
        }
        int kept = 0;
        for (Method method : methods) {
            String name = method.getName();
            if (!name.startsWith(BODY) && !name.startsWith(ADDED) && !isAddedHash(method)) {
                methods[kept++] = method;
            }
        }
        return kept == methods.length ? methods : Arrays.copyOf(methods, kept);
    }

    /** The only synthetic methods of this name that compilers make are bridges. */
    private static boolean isAddedHash(Method method) {
        return method.getName().equals("hashCode")
                && method.isSynthetic()
                && !method.isBridge()
                && method.getParameterCount() == 0;
    }

    /** A stack without the frames of added methods: method references have none. */
    public static StackTraceElement[] hide(StackTraceElement[] frames) {
        int kept = 0;
        for (StackTraceElement frame : frames) {
            String method = frame == null ? null : frame.getMethodName();
            if (method == null || !method.startsWith(BODY)) {
                frames[kept++] = frame;
            }
        }
        return kept == frames.length ? frames : Arrays.copyOf(frames, kept);
    }
}
