package bills;

import java.util.Map;

public class Main {
    public static void main(String[] args) {
        Bill lunch = new Bill();
        for (String guest : new String[] {"uma", "vic", "wes"}) {
            lunch.join(guest);
        }
        lunch.order("soup", 640);
        lunch.order("pasta", 1150);
        lunch.order("salad", 890);
        Map<String, Integer> shares = lunch.split();
        System.out.println(shares);
        lunch.order("coffee", 280);
        int paid = 0;
        for (int share : lunch.split().values()) {
            paid += share;
        }
        assert paid == lunch.cents() : "paid " + paid + " of " + lunch.cents();
        System.out.println("paid");
    }
}
