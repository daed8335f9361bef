package shop;

import java.util.LinkedHashMap;
import java.util.Map;

public class Cart {
    private final Map<String, Integer> prices = new LinkedHashMap<>();
    private int voucher;

    public void put(String article, int cents) {
        prices.put(article, cents);
    }

    public void redeem(int percent) {
        if (percent < 0 || percent > 100) {
            throw new IllegalArgumentException(percent + " percent");
        }
        voucher = percent;
    }

    public void remove(String article) {
        prices.remove(article);
        if (sum() < 2000) {
            voucher = 0;
        }
    }

    private int sum() {
        return prices.values().stream().mapToInt(Integer::intValue).sum();
    }

    public int total() {
        int sum = sum();
        return sum - sum * voucher / 100;
    }

    public int size() {
        return prices.size();
    }
}
