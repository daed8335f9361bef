package depot;

final class Money {
    static final Money ZERO = new Money(0);

    private final long cents;

    Money(long cents) {
        this.cents = cents;
    }

    long cents() {
        return cents;
    }

    Money plus(Money other) {
        return new Money(cents + other.cents);
    }

    Money times(int factor) {
        return new Money(cents * factor);
    }

    Money percent(int percent) {
        return new Money(Rounding.hundredth(cents * percent));
    }
}
