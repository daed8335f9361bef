package weekdays;

import java.util.Arrays;
import java.util.List;

public class Pattern {
    private static final List<String> NAMES = Arrays.asList("mon", "tue", "wed", "thu", "fri", "sat", "sun");

    private int[] days = new int[0];

    public static Pattern parse(String text) {
        Pattern pattern = new Pattern();
        for (String part : text.split(",")) {
            int dash = part.indexOf('-');
            if (dash < 0) {
                pattern.add(index(part), index(part));
            } else {
                pattern.add(index(part.substring(0, dash)), index(part.substring(dash + 1)));
            }
        }
        return pattern;
    }

    private static int index(String name) {
        int index = NAMES.indexOf(name);
        if (index < 0) {
            throw new IllegalArgumentException("no day: " + name);
        }
        return index;
    }

    private void add(int first, int last) {
        int[] range = new int[last - first + 1];
        for (int i = 0; i < range.length; i++) {
            range[i] = (first + i) % 7;
        }
        int[] all = Arrays.copyOf(days, days.length + range.length);
        System.arraycopy(range, 0, all, days.length, range.length);
        days = all;
    }

    public int count() {
        return days.length;
    }

    public boolean contains(String name) {
        return Arrays.stream(days).anyMatch(day -> day == index(name));
    }
}
