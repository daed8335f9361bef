package bug;

/** A coin and its worth. */
public final class Coin {
    private final int cents;

    private Coin(int cents) {
        this.cents = cents;
    }

    public static Coin of(String name) {
        switch (name) {
            case "NICKEL":
                return new Coin(5);
            case "DIME":
                return new Coin(10);
            case "QUARTER":
                return new Coin(25);
            case "DOLLAR":
                return new Coin(100);
            default:
                throw new IllegalArgumentException("no such coin: " + name);
        }
    }

    public int cents() {
        return cents;
    }
}
