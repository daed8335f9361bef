package sales;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class Week {
    private final int number;
    private final List<Integer> amounts = new ArrayList<>();

    public Week(int number) {
        this.number = number;
    }

    public void sell(int amount) {
        if (amount < 0) {
            throw new IllegalArgumentException("negative amount " + amount);
        }
        amounts.add(amount);
    }

    public String report() {
        int sum = 0;
        for (int amount : amounts) {
            sum += amount;
        }
        return "week " + number + ": " + sum + ", best " + best();
    }

    private int best() {
        return Collections.max(amounts);
    }
}
