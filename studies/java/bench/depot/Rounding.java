package depot;

final class Rounding {
    private static long lost;

    private Rounding() {}

    static long hundredth(long amount) {
        long rounded = Math.floorDiv(amount + 50, 100);
        lost += amount - rounded * 100;
        return rounded;
    }

    static long lost() {
        return lost;
    }
}
