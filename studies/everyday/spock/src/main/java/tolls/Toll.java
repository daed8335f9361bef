package tolls;

import java.util.ArrayList;
import java.util.List;

public class Toll {
    public enum Vehicle { CAR, VAN, TRUCK }

    private final List<String> receipts = new ArrayList<>();
    private long total;

    /** The toll for some metres in cents; a kilometre that was begun counts. */
    public long charge(Vehicle vehicle, int metres) {
        int perKilometre = switch (vehicle) {
            case CAR -> 7;
            case VAN -> 11;
            case TRUCK -> 24;
        };
        long cents = (long) (metres / 1000) * perKilometre;
        receipts.add(vehicle + " " + metres + " m: " + cents);
        total += cents;
        return cents;
    }

    public long total() {
        return total;
    }

    public List<String> receipts() {
        return receipts;
    }
}
