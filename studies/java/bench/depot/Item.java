package depot;

final class Item {
    private static final Money HANDLING = new Money(15);

    private final String name;
    private final int place;

    Item(String name, int place) {
        this.name = name;
        this.place = place;
    }

    String name() {
        return name;
    }

    int place() {
        return place;
    }

    Money handling() {
        return place % 2 == 0 ? HANDLING : Money.ZERO;
    }
}
