package culprit.runtime;

import java.lang.invoke.CallSite;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Field;

/**
 * What Java writes as an operator, as calls: a script knows nothing but calls. Only JVMs that replay
 * have this class.
 */
public final class Operators {
    private Operators() {}

    /** The test is over, and has passed. */
    public static final class Passed extends Error {
        private static final long serialVersionUID = 1;

        private Passed() {
            super(null, null, false, false);
        }
    }

    public static int add(int left, int right) {
        return left + right;
    }

    public static long add(long left, long right) {
        return left + right;
    }

    public static float add(float left, float right) {
        return left + right;
    }

    public static double add(double left, double right) {
        return left + right;
    }

    public static int subtract(int left, int right) {
        return left - right;
    }

    public static long subtract(long left, long right) {
        return left - right;
    }

    public static float subtract(float left, float right) {
        return left - right;
    }

    public static double subtract(double left, double right) {
        return left - right;
    }

    public static int multiply(int left, int right) {
        return left * right;
    }

    public static long multiply(long left, long right) {
        return left * right;
    }

    public static float multiply(float left, float right) {
        return left * right;
    }

    public static double multiply(double left, double right) {
        return left * right;
    }

    public static int divide(int left, int right) {
        return left / right;
    }

    public static long divide(long left, long right) {
        return left / right;
    }

    public static float divide(float left, float right) {
        return left / right;
    }

    public static double divide(double left, double right) {
        return left / right;
    }

    public static int remainder(int left, int right) {
        return left % right;
    }

    public static long remainder(long left, long right) {
        return left % right;
    }

    public static float remainder(float left, float right) {
        return left % right;
    }

    public static double remainder(double left, double right) {
        return left % right;
    }

    public static int negate(int value) {
        return -value;
    }

    public static long negate(long value) {
        return -value;
    }

    public static float negate(float value) {
        return -value;
    }

    public static double negate(double value) {
        return -value;
    }

    public static int and(int left, int right) {
        return left & right;
    }

    public static long and(long left, long right) {
        return left & right;
    }

    public static int or(int left, int right) {
        return left | right;
    }

    public static long or(long left, long right) {
        return left | right;
    }

    public static int xor(int left, int right) {
        return left ^ right;
    }

    public static long xor(long left, long right) {
        return left ^ right;
    }

    public static int shiftLeft(int value, int distance) {
        return value << distance;
    }

    public static long shiftLeft(long value, int distance) {
        return value << distance;
    }

    public static int shiftRight(int value, int distance) {
        return value >> distance;
    }

    public static long shiftRight(long value, int distance) {
        return value >> distance;
    }

    public static int shiftRightUnsigned(int value, int distance) {
        return value >>> distance;
    }

    public static long shiftRightUnsigned(long value, int distance) {
        return value >>> distance;
    }

    public static int toInt(long value) {
        return (int) value;
    }

    public static int toInt(float value) {
        return (int) value;
    }

    public static int toInt(double value) {
        return (int) value;
    }

    public static long toLong(int value) {
        return value;
    }

    public static long toLong(float value) {
        return (long) value;
    }

    public static long toLong(double value) {
        return (long) value;
    }

    public static float toFloat(int value) {
        return value;
    }

    public static float toFloat(long value) {
        return value;
    }

    public static float toFloat(double value) {
        return (float) value;
    }

    public static double toDouble(int value) {
        return value;
    }

    public static double toDouble(long value) {
        return value;
    }

    public static double toDouble(float value) {
        return value;
    }

    public static byte toByte(int value) {
        return (byte) value;
    }

    public static char toChar(int value) {
        return (char) value;
    }

    public static short toShort(int value) {
        return (short) value;
    }

    public static boolean isEqual(int left, int right) {
        return left == right;
    }

    public static boolean isEqual(long left, long right) {
        return left == right;
    }

    public static boolean isEqual(float left, float right) {
        return left == right;
    }

    public static boolean isEqual(double left, double right) {
        return left == right;
    }

    public static boolean isDifferent(int left, int right) {
        return left != right;
    }

    public static boolean isDifferent(long left, long right) {
        return left != right;
    }

    public static boolean isDifferent(float left, float right) {
        return left != right;
    }

    public static boolean isDifferent(double left, double right) {
        return left != right;
    }

    public static boolean isLess(int left, int right) {
        return left < right;
    }

    public static boolean isLess(long left, long right) {
        return left < right;
    }

    public static boolean isLess(float left, float right) {
        return left < right;
    }

    public static boolean isLess(double left, double right) {
        return left < right;
    }

    public static boolean isGreater(int left, int right) {
        return left > right;
    }

    public static boolean isGreater(long left, long right) {
        return left > right;
    }

    public static boolean isGreater(float left, float right) {
        return left > right;
    }

    public static boolean isGreater(double left, double right) {
        return left > right;
    }

    public static boolean isAtMost(int left, int right) {
        return left <= right;
    }

    public static boolean isAtMost(long left, long right) {
        return left <= right;
    }

    public static boolean isAtMost(float left, float right) {
        return left <= right;
    }

    public static boolean isAtMost(double left, double right) {
        return left <= right;
    }

    public static boolean isAtLeast(int left, int right) {
        return left >= right;
    }

    public static boolean isAtLeast(long left, long right) {
        return left >= right;
    }

    public static boolean isAtLeast(float left, float right) {
        return left >= right;
    }

    public static boolean isAtLeast(double left, double right) {
        return left >= right;
    }

    public static boolean isSame(Object left, Object right) {
        return left == right;
    }

    public static boolean isOther(Object left, Object right) {
        return left != right;
    }

    public static boolean isNull(Object value) {
        return value == null;
    }

    public static boolean isNotNull(Object value) {
        return value != null;
    }

    public static boolean isTrue(boolean value) {
        return value;
    }

    public static boolean isFalse(boolean value) {
        return !value;
    }

    public static boolean isInstance(Object value, Class<?> type) {
        return type.isInstance(value);
    }

    /** What {@code +} is where one side is a string; scalars are boxed. */
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

    /** Gives an array that is written down a name. */
    public static Object array(Object array) {
        return array;
    }

    /** Throws what it is given, checked or not. */
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

    /** The next call may throw this and be right: the one who calls it is ready for it. */
    public static void tolerate(Class<?> thrown) {}

    /** The test is to end with this, somewhere. */
    public static void expect(Class<?> thrown) {}

    /** The test goes on only if something holds. */
    public static void require(boolean holds) {
        if (!holds) {
            throw new Passed();
        }
    }
}
