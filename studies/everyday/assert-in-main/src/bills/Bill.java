package bills;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

public class Bill {
    private final List<String> guests = new ArrayList<>();
    private int cents;

    public void join(String guest) {
        guests.add(guest);
    }

    public void order(String dish, int price) {
        cents += price;
    }

    public int cents() {
        return cents;
    }

    public Map<String, Integer> split() {
        Map<String, Integer> shares = new LinkedHashMap<>();
        int rest = cents % guests.size();
        for (int i = 0; i < guests.size(); i++) {
            shares.put(guests.get(i), cents / guests.size() + (i < rest - 1 ? 1 : 0));
        }
        return shares;
    }
}
