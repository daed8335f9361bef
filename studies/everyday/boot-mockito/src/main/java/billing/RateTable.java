package billing;

import java.util.Map;
import java.util.TreeMap;

/** Exchange rates to the euro, in ten-thousandths. */
public class RateTable {
    private final Map<String, Integer> rates = new TreeMap<>(Map.of("EUR", 10_000, "USD", 9_210, "CHF", 10_440));

    public void set(String currency, int rate) {
        rates.put(currency, rate);
    }

    public long toCents(long amount, String currency) {
        int rate = rates.get(currency);
        return (amount * rate + 5_000) / 10_000;
    }
}
