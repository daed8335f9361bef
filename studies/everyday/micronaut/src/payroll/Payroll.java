package payroll;

import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;

@Singleton
public class Payroll {
    private final Wages wages;
    private final List<Shift> shifts = new ArrayList<>();

    public Payroll(Wages wages) {
        this.wages = wages;
    }

    public void add(Shift shift) {
        shifts.add(shift);
    }

    public long cents(String worker) {
        long cents = 0;
        for (Shift shift : shifts) {
            if (shift.worker().equals(worker)) {
                cents += shift.minutes() * wages.perHour(worker) / 60;
            }
        }
        return cents;
    }
}
