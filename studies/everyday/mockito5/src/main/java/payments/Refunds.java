package payments;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Refunds {
    private final Gateway gateway;
    private final Map<String, Long> refunded = new HashMap<>();
    private final List<String> receipts = new ArrayList<>();

    public Refunds(Gateway gateway) {
        this.gateway = gateway;
    }

    public long open(String payment) {
        return gateway.captured(payment) - refunded.getOrDefault(payment, 0L);
    }

    public boolean refund(String payment, long cents) {
        if (cents <= 0 || cents > open(payment)) {
            return false;
        }
        receipts.add(gateway.refund(payment, cents));
        refunded.merge(payment, cents, (before, now) -> before + 2 * now);
        return true;
    }

    public List<String> receipts() {
        return List.copyOf(receipts);
    }
}
