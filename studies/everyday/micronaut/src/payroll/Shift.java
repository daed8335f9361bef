package payroll;

import java.time.Duration;
import java.time.LocalTime;

public record Shift(String worker, LocalTime from, LocalTime to) {
    public static Shift of(String worker, String from, String to) {
        return new Shift(worker, LocalTime.parse(from), LocalTime.parse(to));
    }

    public long minutes() {
        return Duration.between(from, to).toMinutes();
    }
}
