package booking.calendar;

import java.util.Map;
import java.util.TreeMap;

/** The bookings of a room, from their first day to the day of departure. */
public class Calendar {
    private final TreeMap<Integer, Integer> stays = new TreeMap<>();

    public boolean book(int from, int to) {
        if (from >= to) {
            throw new IllegalArgumentException(from + " is not before " + to);
        }
        Map.Entry<Integer, Integer> before = stays.floorEntry(from);
        Map.Entry<Integer, Integer> after = stays.ceilingEntry(from);
        if (before != null && before.getValue() >= from || after != null && after.getKey() < to) {
            return false;
        }
        stays.put(from, to);
        return true;
    }

    public int nights() {
        int nights = 0;
        for (Map.Entry<Integer, Integer> stay : stays.entrySet()) {
            nights += stay.getValue() - stay.getKey();
        }
        return nights;
    }
}
