package depot;

final class Invoice {
    private static int written;

    private final Order order;
    private final int number;

    Invoice(Order order) {
        this.order = order;
        number = ++written;
    }

    String text() {
        Money net = order.net().plus(Discount.off(order).times(-1));
        Money gross = net.plus(Tax.of(net).on(net));
        Totals.add(gross);
        return number + "/" + order.number() + " " + order.customer().name() + " " + gross.cents();
    }
}
