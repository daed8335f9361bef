package depot;

final class Line {
    private static int lines;

    private final Item item;
    private final int count;
    private final Money each;

    Line(Item item, int count, Money each) {
        this.item = item;
        this.count = count;
        this.each = each;
        lines++;
    }

    int count() {
        return count;
    }

    Money price() {
        return each.times(count).plus(item.handling());
    }

    static int lines() {
        return lines;
    }
}
