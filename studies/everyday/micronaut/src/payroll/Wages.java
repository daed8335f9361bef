package payroll;

import jakarta.inject.Singleton;
import java.util.Map;

@Singleton
public class Wages {
    private final Map<String, Integer> perHour = Map.of("ada", 2400, "ben", 1950, "cleo", 2100);

    public int perHour(String worker) {
        return perHour.getOrDefault(worker, 1500);
    }
}
