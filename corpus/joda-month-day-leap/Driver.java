package bug;

import java.util.ArrayList;
import java.util.List;
import org.joda.time.LocalDate;
import org.joda.time.MonthDay;
import org.joda.time.format.DateTimeFormat;
import org.joda.time.format.DateTimeFormatter;

/** When to start planning each birthday: a month ahead. */
public class Driver {
    public static void main(String[] args) {
        DateTimeFormatter format = DateTimeFormat.forPattern("dd/MM");
        List<MonthDay> birthdays = new ArrayList<>();
        for (String day : new String[] {"14/07", "31/03", "01/01", "29/02"}) {
            birthdays.add(MonthDay.parse(day, format));
        }
        LocalDate year = new LocalDate(2012, 1, 1);
        for (MonthDay birthday : birthdays) {
            MonthDay week = birthday.minusDays(7);
            MonthDay plan = birthday.minusMonths(1);
            System.out.println(birthday.toString(format) + ": plan from " + plan.toString(format)
                    + ", shop from " + week.toString(format)
                    + ", on a " + birthday.toLocalDate(year.getYear()).dayOfWeek().get());
        }
    }
}
