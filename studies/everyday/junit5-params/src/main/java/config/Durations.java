package config;

import java.util.Map;

public class Durations {
    private static final Map<String, Long> UNITS = Map.of("ms", 1L, "s", 1000L, "m", 60_000L, "h", 3_600_000L);

    private final Map<String, String> aliases;

    public Durations(Map<String, String> aliases) {
        this.aliases = aliases;
    }

    public long millis(String text) {
        String wanted = aliases.getOrDefault(text.trim(), text.trim());
        long sum = 0;
        int at = 0;
        while (at < wanted.length()) {
            int digits = at;
            while (digits < wanted.length() && Character.isDigit(wanted.charAt(digits))) {
                digits++;
            }
            int unit = digits;
            while (unit < wanted.length() && Character.isLetter(wanted.charAt(unit))) {
                unit++;
            }
            long number = Long.parseLong(wanted.substring(at, digits));
            sum += number * UNITS.get(wanted.substring(digits, unit));
            at = unit;
        }
        return sum;
    }
}
