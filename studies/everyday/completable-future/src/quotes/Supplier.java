package quotes;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

public class Supplier {
    private final String name;
    private final Map<String, Integer> prices = new HashMap<>();
    private final Map<String, Integer> stock = new HashMap<>();

    public Supplier(String name) {
        this.name = name;
    }

    public Supplier offer(String article, int price, int count) {
        prices.put(article, price);
        if (count > 0) {
            stock.put(article, count);
        }
        return this;
    }

    public synchronized Optional<Quote> quote(String article, int count) {
        Integer price = prices.get(article);
        if (price == null) {
            return Optional.empty();
        }
        int left = stock.get(article);
        return left < count ? Optional.empty() : Optional.of(new Quote(name, price * count));
    }
}
