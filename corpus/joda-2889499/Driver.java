package bug;

import org.joda.time.DateTime;
import org.joda.time.DateTimeZone;
import org.joda.time.tz.DateTimeZoneBuilder;

/** Builds the rules of Los Angeles since 1883 by hand, as the zone compiler does. */
public class Driver {
    private static final int HOUR = 60 * 60 * 1000;
    private static final int ALWAYS = Integer.MAX_VALUE;
    private static final int SUNDAY = 7;

    public static void main(String[] args) {
        DateTimeZone.setDefault(DateTimeZone.forOffsetHours(-8));
        DateTimeZone zone = losAngeles().toDateTimeZone("America/Los_Angeles", true);
        report(zone, new DateTime(1920, 6, 1, 12, 0, 0, 0, DateTimeZone.UTC));
        report(zone, new DateTime(1975, 3, 1, 12, 0, 0, 0, DateTimeZone.UTC));
        report(zone, new DateTime(2009, 10, 29, 12, 0, 0, 0, DateTimeZone.UTC));
    }

    private static DateTimeZoneBuilder losAngeles() {
        return new DateTimeZoneBuilder()
                .addCutover(-2147483648, 'w', 1, 1, 0, false, 0)
                .setStandardOffset(-28378000)
                .setFixedSavings("LMT", 0)
                .addCutover(1883, 'w', 11, 18, 0, false, 43200000)
                .setStandardOffset(-8 * HOUR)
                .addRecurringSavings("PDT", HOUR, 1918, 1919, 'w', 3, -1, SUNDAY, false, 2 * HOUR)
                .addRecurringSavings("PST", 0, 1918, 1919, 'w', 10, -1, SUNDAY, false, 2 * HOUR)
                .addRecurringSavings("PWT", HOUR, 1942, 1942, 'w', 2, 9, 0, false, 2 * HOUR)
                .addRecurringSavings("PPT", HOUR, 1945, 1945, 'u', 8, 14, 0, false, 23 * HOUR)
                .addRecurringSavings("PST", 0, 1945, 1945, 'w', 9, 30, 0, false, 2 * HOUR)
                .addRecurringSavings("PDT", HOUR, 1948, 1948, 'w', 3, 14, 0, false, 2 * HOUR)
                .addRecurringSavings("PST", 0, 1949, 1949, 'w', 1, 1, 0, false, 2 * HOUR)
                .addRecurringSavings("PDT", HOUR, 1950, 1966, 'w', 4, -1, SUNDAY, false, 2 * HOUR)
                .addRecurringSavings("PST", 0, 1950, 1961, 'w', 9, -1, SUNDAY, false, 2 * HOUR)
                .addRecurringSavings("PST", 0, 1962, 1966, 'w', 10, -1, SUNDAY, false, 2 * HOUR)
                .addRecurringSavings("PST", 0, 1967, ALWAYS, 'w', 10, -1, SUNDAY, false, 2 * HOUR)
                .addRecurringSavings("PDT", HOUR, 1967, 1973, 'w', 4, -1, SUNDAY, false, 2 * HOUR)
                .addRecurringSavings("PDT", HOUR, 1974, 1974, 'w', 1, 6, 0, false, 2 * HOUR)
                .addRecurringSavings("PDT", HOUR, 1975, 1975, 'w', 2, 23, 0, false, 2 * HOUR)
                .addRecurringSavings("PDT", HOUR, 1976, 1986, 'w', 4, -1, SUNDAY, false, 2 * HOUR)
                .addRecurringSavings("PDT", HOUR, 1987, ALWAYS, 'w', 4, 1, SUNDAY, true, 2 * HOUR);
    }

    private static void report(DateTimeZone zone, DateTime instant) {
        int offset = zone.getOffset(instant.getMillis()) / HOUR;
        System.out.println(instant + ": " + zone.getNameKey(instant.getMillis()) + " " + offset);
    }
}
