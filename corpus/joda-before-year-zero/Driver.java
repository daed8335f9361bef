package bug;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Calendar;
import java.util.GregorianCalendar;
import java.util.TimeZone;
import org.joda.time.LocalDate;
import org.junit.jupiter.api.Test;

class Driver {
    @Test
    void birthdaysOfEmperors() {
        int[][] born = {{1, 37, 12, 15}, {1, 76, 1, 24}, {0, 63, 9, 23}};
        int[] years = {37, 76, -62};
        for (int i = 0; i < born.length; i++) {
            GregorianCalendar calendar = new GregorianCalendar(TimeZone.getTimeZone("UTC"));
            calendar.clear();
            calendar.set(Calendar.ERA, born[i][0]);
            calendar.set(born[i][1], born[i][2] - 1, born[i][3]);
            LocalDate day = LocalDate.fromCalendarFields(calendar);
            assertEquals(born[i][2], day.getMonthOfYear());
            assertEquals(born[i][3], day.getDayOfMonth());
            assertEquals(years[i], day.getYear());
            assertEquals(new LocalDate(years[i], born[i][2], born[i][3]), day);
        }
    }
}
