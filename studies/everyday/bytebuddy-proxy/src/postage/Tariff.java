package postage;

public class Tariff {
    private int asked;
    private long charged;

    public int price(int grams) {
        asked++;
        int cents = grams <= 500 ? 285 : grams <= 2000 ? 499 : 899;
        charged += cents;
        if (asked % 4 == 0) {
            throw new IllegalStateException("line is busy");
        }
        return cents;
    }

    public long charged() {
        return charged;
    }
}
