package culprit.change;

/**
 * Changes one value of a run: the instruction with a number, when it is executed for the n-th time. The instructions of
 * the program that may be changed call this class with what they have computed.
 */
public final class Change {
    /** The value becomes the one that is given. */
    private static final int PUT = 0;
    /** The given number is added. */
    private static final int ADD = 1;
    private static final int NEGATE = 2;

    private static int changed = -1;
    private static int left;
    private static int how;
    private static long bits;
    private static String text;

    private Change() {}

    /** Chooses the change of this run. */
    public static synchronized void choose(int number, int occurrence, int how, long bits, String text) {
        changed = number;
        left = occurrence;
        Change.how = how;
        Change.bits = bits;
        Change.text = text;
    }

    private static boolean isDue(int number) {
        if (number != changed) {
            return false;
        }
        synchronized (Change.class) {
            return --left == 0;
        }
    }

    public static int value(int value, int number) {
        if (!isDue(number)) {
            return value;
        }
        return how == PUT ? (int) bits : how == ADD ? value + (int) bits : how == NEGATE ? -value : value;
    }

    public static long value(long value, int number) {
        if (!isDue(number)) {
            return value;
        }
        return how == PUT ? bits : how == ADD ? value + bits : how == NEGATE ? -value : value;
    }

    public static float value(float value, int number) {
        if (!isDue(number)) {
            return value;
        }
        return how == PUT ? Float.intBitsToFloat((int) bits) : how == ADD ? value + bits : how == NEGATE ? -value : value;
    }

    public static double value(double value, int number) {
        if (!isDue(number)) {
            return value;
        }
        return how == PUT ? Double.longBitsToDouble(bits) : how == ADD ? value + bits : how == NEGATE ? -value : value;
    }

    public static String value(String value, int number) {
        return isDue(number) ? text : value;
    }

    /** An operand with which {@code ifeq} and {@code ifne} go the other way. */
    public static int otherThanZero(int value, int number) {
        return !isDue(number) ? value : value == 0 ? 1 : 0;
    }

    /** An operand with which {@code iflt} and {@code ifge} go the other way. */
    public static int otherThanNegative(int value, int number) {
        return !isDue(number) ? value : value < 0 ? 0 : -1;
    }

    /** An operand with which {@code ifgt} and {@code ifle} go the other way. */
    public static int otherThanPositive(int value, int number) {
        return !isDue(number) ? value : value > 0 ? 0 : 1;
    }

    /** A second operand with which {@code if_icmpeq} and {@code if_icmpne} go the other way. */
    public static int otherThanEqual(int one, int value, int number) {
        return !isDue(number) ? value : one == value ? one + 1 : one;
    }

    /** A second operand with which {@code if_icmplt} and {@code if_icmpge} go the other way, if there is one. */
    public static int otherThanLess(int one, int value, int number) {
        return !isDue(number) || one == Integer.MAX_VALUE ? value : one < value ? one : one + 1;
    }

    /** A second operand with which {@code if_icmpgt} and {@code if_icmple} go the other way, if there is one. */
    public static int otherThanGreater(int one, int value, int number) {
        return !isDue(number) || one == Integer.MIN_VALUE ? value : one > value ? one : one - 1;
    }

    /** An operand with which {@code ifnull} and {@code ifnonnull} go the other way. */
    public static Object otherThanNull(Object value, int number) {
        return !isDue(number) ? value : value == null ? Change.class : null;
    }

    /** A second operand with which {@code if_acmpeq} and {@code if_acmpne} go the other way. */
    public static Object otherThanSame(Object one, Object value, int number) {
        return !isDue(number) ? value : one == value ? (one == null ? Change.class : null) : one;
    }
}
