package depot;

final class Shelf {
    private static final int FULL = Integer.parseInt("12");

    private int left = FULL;

    int take(int count) {
        int taken = Math.min(left, count);
        left -= taken;
        return taken;
    }
}
