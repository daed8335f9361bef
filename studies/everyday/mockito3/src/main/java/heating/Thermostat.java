package heating;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

public class Thermostat {
    private final List<Sensor> sensors = new ArrayList<>();
    private double target = 20;

    public void add(Sensor sensor) {
        sensors.add(sensor);
    }

    public void setTarget(double celsius) {
        target = celsius;
    }

    /** The mean temperature of a room, without sensors that are dead, which are forgotten. */
    public double mean(String room) {
        double sum = 0;
        int count = 0;
        for (Sensor sensor : sensors) {
            if (!sensor.alive()) {
                sensors.remove(sensor);
            } else if (sensor.room().equals(room)) {
                sum += sensor.celsius();
                count++;
            }
        }
        return count == 0 ? target : sum / count;
    }

    public boolean heats(String room) {
        return mean(room) < target - 0.5;
    }

    public int size() {
        return sensors.size();
    }
}
