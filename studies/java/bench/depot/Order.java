package depot;

import java.util.ArrayList;
import java.util.List;

final class Order {
    private static int most = 1;

    private final int number;
    private final Customer customer;
    private final List<Line> lines = new ArrayList<>();

    Order(int number, Customer customer) {
        this.number = number;
        this.customer = customer;
        customer.ordered();
    }

    void add(Line line) {
        lines.add(line);
        most = Math.max(most, line.count());
    }

    int number() {
        return number;
    }

    Customer customer() {
        return customer;
    }

    int count() {
        int count = 0;
        for (Line line : lines) {
            count += line.count();
        }
        return count;
    }

    Money net() {
        Money sum = Money.ZERO;
        for (Line line : lines) {
            sum = sum.plus(line.price());
        }
        return sum;
    }

    static int most() {
        return most;
    }
}
