package theatre;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

public class BoxOffice {
    private final Printer printer;
    private final BitSet taken = new BitSet();
    private final Map<String, Integer> seats = new HashMap<>();

    public BoxOffice(Printer printer) {
        this.printer = printer;
    }

    public boolean sell(String guest, int seat) {
        if (taken.get(seat) || seats.containsKey(guest)) {
            return false;
        }
        taken.set(seat);
        seats.put(guest, seat);
        return printer.print(guest + " " + seat);
    }

    public boolean move(String guest, int seat) {
        Integer old = seats.get(guest);
        if (old == null || taken.get(seat)) {
            return false;
        }
        seats.put(guest, seat);
        taken.set(seat);
        return printer.print(guest + " " + seat + " (was " + old + ")");
    }

    public int free(int row, int width) {
        return width - taken.get(row * width, (row + 1) * width).cardinality();
    }
}
