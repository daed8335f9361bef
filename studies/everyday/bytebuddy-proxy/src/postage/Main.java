package postage;

public class Main {
    public static void main(String[] args) throws Exception {
        Tariff tariff = Retry.around(Tariff.class);
        int[] parcels = {120, 480, 700, 1999, 2400, 90, 510};
        long sum = 0;
        for (int grams : parcels) {
            sum += tariff.price(grams);
        }
        System.out.println(sum + " cents for " + parcels.length + " parcels");
        if (tariff.charged() != sum) {
            throw new AssertionError("expected " + sum + " cents, charged " + tariff.charged());
        }
    }
}
