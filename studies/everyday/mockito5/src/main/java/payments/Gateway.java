package payments;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

public final class Gateway {
    private final Map<String, Long> captured = new ConcurrentHashMap<>();

    public long captured(String payment) {
        return captured.getOrDefault(payment, 0L);
    }

    public String refund(String payment, long cents) {
        throw new UnsupportedOperationException("no connection to the bank");
    }
}
