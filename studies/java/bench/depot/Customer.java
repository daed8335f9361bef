package depot;

final class Customer {
    private static int orders;

    private final String name;
    private int own;

    Customer(String name) {
        this.name = name;
    }

    void ordered() {
        own++;
        orders++;
    }

    String name() {
        return name;
    }

    /** Whether every other order is theirs. */
    boolean isLoyal() {
        return own > 1 && own * 2 >= orders;
    }
}
