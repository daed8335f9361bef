package depot;

import java.util.ArrayList;
import java.util.List;

final class Journal {
    private static final List<Order> ORDERS = new ArrayList<>();

    private Journal() {}

    static void note(Order order) {
        ORDERS.add(order);
    }

    static Order order(int number) {
        for (Order order : ORDERS) {
            if (order.number() == number) {
                return order;
            }
        }
        throw new IllegalArgumentException("no order " + number);
    }
}
