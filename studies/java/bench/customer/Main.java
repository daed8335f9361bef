package customer;

import depot.Depot;

/** Uses each class of the depot, in a few calls. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        Depot depot = new Depot(item -> 100 + item.length() * 25L);
        int first = depot.order("ann", "bolt", 4);
        int second = depot.order("bob", "washer", 7);
        int third = depot.order("ann", "hinge", 9);
        int fourth = depot.order("ann", "hinge", 9);
        System.out.println(depot.invoice(first));
        System.out.println(depot.invoice(second));
        System.out.println(depot.invoice(third));
        System.out.println(depot.invoice(fourth));
        System.out.println(depot.turnover());
    }
}
