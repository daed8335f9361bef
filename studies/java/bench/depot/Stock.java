package depot;

final class Stock {
    private static int refused;

    private Stock() {}

    /** Takes so many of an item, or as many as there are. */
    static int take(Item item, int count) {
        int taken = Shelves.of(item).take(count);
        refused += count - taken;
        return taken;
    }

    static int refused() {
        return refused;
    }
}
