package depot;

import customer.Prices;

/** What a customer sees: orders go in, invoices come out. */
public final class Depot {
    private static int opened;

    private final Prices prices;
    private final int number;

    public Depot(Prices prices) {
        this.prices = prices;
        number = ++opened;
    }

    /** Takes an order of one line; gives its number. */
    public int order(String customer, String item, int count) {
        Order order = new Order(Numbers.next(), Customers.named(customer));
        Item wanted = Catalogue.item(item);
        int taken = Stock.take(wanted, count);
        order.add(new Line(wanted, taken, new Money(prices.of(item))));
        Journal.note(order);
        return order.number() * 10 + number;
    }

    /** The invoice of an order. */
    public String invoice(int order) {
        return new Invoice(Journal.order(order / 10)).text();
    }

    /** Cents that all invoices so far come to. */
    public long turnover() {
        return Totals.cents();
    }
}
