package payroll;

import io.micronaut.context.ApplicationContext;

public class Main {
    public static void main(String[] args) {
        try (ApplicationContext context = ApplicationContext.run()) {
            Payroll payroll = context.getBean(Payroll.class);
            payroll.add(Shift.of("ada", "08:00", "16:30"));
            payroll.add(Shift.of("ben", "14:00", "21:45"));
            payroll.add(Shift.of("ben", "22:00", "06:00"));
            payroll.add(Shift.of("dora", "10:00", "12:00"));
            payroll.add(Shift.of("ada", "08:15", "12:00"));
            for (String worker : new String[] {"ada", "ben", "cleo", "dora"}) {
                long cents = payroll.cents(worker);
                System.out.println(worker + " " + cents);
                if (cents < 0) {
                    throw new IllegalStateException(worker + " would have to pay " + -cents);
                }
            }
        }
    }
}
