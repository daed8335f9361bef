package depot;

final class Shelves {
    private static final Shelf[] ROW = new Shelf[8];

    static {
        for (int i = 0; i < ROW.length; i++) {
            ROW[i] = new Shelf();
        }
    }

    private Shelves() {}

    static Shelf of(Item item) {
        return ROW[item.place() % ROW.length];
    }
}
