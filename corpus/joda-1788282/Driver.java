package bug;

import java.util.Locale;
import org.joda.time.DateTime;
import org.joda.time.DateTimeZone;
import org.joda.time.format.DateTimeFormat;
import org.joda.time.format.DateTimeFormatter;
import org.joda.time.format.DateTimeFormatterBuilder;

/** Reads the dates of a French time table and counts the days between them. */
public class Driver {
    public static void main(String[] args) {
        DateTimeFormatter french = DateTimeFormat.forPattern("dd.MMM.yyyy")
                .withLocale(Locale.FRENCH)
                .withZone(DateTimeZone.UTC);
        DateTimeFormatter iso = new DateTimeFormatterBuilder()
                .appendYear(4, 4)
                .appendLiteral('-')
                .appendMonthOfYear(2)
                .appendLiteral('-')
                .appendDayOfMonth(2)
                .toFormatter()
                .withZone(DateTimeZone.UTC);
        String[] stops = {"01.mars.2007", "17.mai.2007", "02.juin.2007", "11.sept..2007"};
        DateTime before = iso.parseDateTime("2007-01-01");
        for (String stop : stops) {
            DateTime day = french.parseDateTime(stop);
            System.out.println(iso.print(day) + ": " + day.dayOfWeek().getAsText(Locale.FRENCH)
                    + ", " + (day.getDayOfYear() - before.getDayOfYear()) + " days later");
            before = day;
        }
    }
}
