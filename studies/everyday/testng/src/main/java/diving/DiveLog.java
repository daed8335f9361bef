package diving;

import java.util.ArrayList;
import java.util.List;

public class DiveLog {
    public enum Unit { METRES, FEET }

    private final List<Integer> decimetres = new ArrayList<>();
    private int minutes;

    public void stop(int depth, Unit unit, int minutes) {
        if (depth < 0 || minutes < 0) {
            throw new IllegalArgumentException("not a stop: " + depth + " for " + minutes);
        }
        decimetres.add(unit == Unit.METRES ? depth * 10 : depth * 3);
        this.minutes += minutes;
    }

    public double deepest() {
        return decimetres.stream().mapToInt(Integer::intValue).max().orElse(0) / 10;
    }

    public int minutes() {
        return minutes;
    }

    public boolean needsPause() {
        return minutes > 50 || deepest() > 30;
    }
}
