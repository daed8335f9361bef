package bug;

import org.joda.time.DateTimeConstants;
import org.joda.time.DateTimeZone;
import org.joda.time.Interval;
import org.joda.time.LocalDate;
import org.joda.time.Period;

/** How long are the Sundays of a spring in Brazil? */
public class Driver {
    public static void main(String[] args) {
        DateTimeZone brazil = DateTimeZone.forID("America/Sao_Paulo");
        LocalDate day = new LocalDate(2009, 9, 6);
        LocalDate end = day.plus(Period.months(3));
        int weeks = 0;
        while (day.isBefore(end)) {
            if (day.getDayOfWeek() != DateTimeConstants.SUNDAY) {
                throw new IllegalStateException("not a Sunday: " + day);
            }
            Interval whole = day.toInterval(brazil);
            System.out.println(++weeks + ": " + whole.getStart() + ", "
                    + whole.toDuration().getMillis() / DateTimeConstants.MILLIS_PER_HOUR + " hours");
            day = day.plusWeeks(1);
        }
    }
}
