package depot;

abstract class Discount {
    private static final Discount[] ALL = {new Bulk(), new Loyal()};

    abstract int percent(Order order);

    static Money off(Order order) {
        int percent = 0;
        for (Discount discount : ALL) {
            percent += discount.percent(order);
        }
        return order.net().percent(percent);
    }
}
