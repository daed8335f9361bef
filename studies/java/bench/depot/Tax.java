package depot;

enum Tax {
    FULL(19),
    REDUCED(7);

    private static int used;

    private final int percent;

    Tax(int percent) {
        this.percent = percent;
    }

    static Tax of(Money net) {
        used++;
        return net.cents() > 1000 ? FULL : REDUCED;
    }

    Money on(Money net) {
        return net.percent(percent);
    }

    static int used() {
        return used;
    }
}
