package culprit.runtime;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;

/**
 * Keeps what the weaver adds out of the program's sight. Called where the JDK has an array all for
 * itself and filters it, or is about to give it away.
 */
public final class Hiding {
    /** How the names of methods start that the weaver adds for method references. */
    private static final String BODY = "lambda$culprit$";

    private Hiding() {}

    /** The fields of a class without the added one. */
    public static Field[] hide(Field[] fields) {
        int kept = 0;
        for (Field field : fields) {
            if (!Beside.isAdded(field.getName())) {
                fields[kept++] = field;
            }
        }
        return kept == fields.length ? fields : Arrays.copyOf(fields, kept);
    }

    /** The methods of a class without the added ones. */
    public static Method[] hide(Method[] methods) {
        int kept = 0;
        for (Method method : methods) {
            if (!method.getName().startsWith(BODY) && !isAddedHash(method)) {
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
