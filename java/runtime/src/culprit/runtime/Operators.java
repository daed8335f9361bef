package culprit.runtime;

import java.lang.invoke.CallSite;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Field;

/**
 * The operators of Java that the agent cannot compute by itself, each in a method with the name that
 * scripts have for it. Only JVMs that run scripts or follow a driver have this class.
 */
public final class Operators {
    private Operators() {}

    public static int divide(int left, int right) {
        return left / right;
    }

    public static long divide(long left, long right) {
        return left / right;
    }

    public static int remainder(int left, int right) {
        return left % right;
    }

    public static long remainder(long left, long right) {
        return left % right;
    }

    /** The operator {@code +} of strings; scalars are boxed. */
    public static String concat(Object left, Object right) {
        return new StringBuilder().append(left).append(right).toString();
    }

    public static boolean element(boolean[] array, int index) {
        return array[index];
    }

    public static byte element(byte[] array, int index) {
        return array[index];
    }

    public static char element(char[] array, int index) {
        return array[index];
    }

    public static short element(short[] array, int index) {
        return array[index];
    }

    public static int element(int[] array, int index) {
        return array[index];
    }

    public static long element(long[] array, int index) {
        return array[index];
    }

    public static float element(float[] array, int index) {
        return array[index];
    }

    public static double element(double[] array, int index) {
        return array[index];
    }

    public static Object element(Object[] array, int index) {
        return array[index];
    }

    public static void store(boolean[] array, int index, boolean value) {
        array[index] = value;
    }

    public static void store(byte[] array, int index, byte value) {
        array[index] = value;
    }

    public static void store(char[] array, int index, char value) {
        array[index] = value;
    }

    public static void store(short[] array, int index, short value) {
        array[index] = value;
    }

    public static void store(int[] array, int index, int value) {
        array[index] = value;
    }

    public static void store(long[] array, int index, long value) {
        array[index] = value;
    }

    public static void store(float[] array, int index, float value) {
        array[index] = value;
    }

    public static void store(double[] array, int index, double value) {
        array[index] = value;
    }

    public static void store(Object[] array, int index, Object value) {
        array[index] = value;
    }

    public static int length(Object array) {
        return Array.getLength(array);
    }

    /** A cast. Its exception has the message of the JVM but for modules and loaders, which nobody compares. */
    public static Object cast(Object object, Class<?> type) {
        if (object == null || type.isInstance(object)) {
            return object;
        }
        String from = object.getClass().getName();
        String to = type.getName();
        throw new ClassCastException(
                "class " + from + " cannot be cast to class " + to
                        + " (" + from + " and " + to + " are in unnamed module of loader 'app')");
    }

    /** Throws an exception, checked or not. */
    public static void raise(Throwable thrown) {
        Operators.<RuntimeException>throwAny(thrown);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void throwAny(Throwable thrown) throws T {
        throw (T) thrown;
    }

    /**
     * A lambda or method reference of a class, as its call site makes it.
     *
     * @param kind the kind of method handle, as class files have it
     * @param method name of the method of the interface
     * @param erased its descriptor
     * @param exact the same with the types of this use
     */
    public static Object lambda(
            Class<?> owner,
            String name,
            String descriptor,
            int kind,
            Class<?> site,
            Class<?> type,
            String method,
            String erased,
            String exact,
            Object[] captured)
            throws Throwable {
        Field all = MethodHandles.Lookup.class.getDeclaredField("IMPL_LOOKUP");
        all.setAccessible(true);
        MethodHandles.Lookup lookup = ((MethodHandles.Lookup) all.get(null)).in(site);
        ClassLoader loader = site.getClassLoader();
        MethodType own = MethodType.fromMethodDescriptorString(descriptor, loader);
        MethodHandle body;
        switch (kind) {
            case 6:
                body = lookup.findStatic(owner, name, own);
                break;
            case 7:
                body = lookup.findSpecial(owner, name, own, site);
                break;
            case 8:
                body = lookup.findConstructor(owner, own);
                break;
            default:
                body = lookup.findVirtual(owner, name, own);
                break;
        }
        MethodType exactly = MethodType.fromMethodDescriptorString(exact, loader);
        // What it captures are the first parameters of the body, with the receiver among them.
        MethodType held = body.type().dropParameterTypes(captured.length, body.type().parameterCount());
        CallSite made =
                LambdaMetafactory.metafactory(
                        lookup,
                        method,
                        held.changeReturnType(type),
                        MethodType.fromMethodDescriptorString(erased, loader),
                        body,
                        exactly);
        return made.getTarget().invokeWithArguments(captured);
    }
}
