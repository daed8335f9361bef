package plant;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

public class Plan {
    private final Map<String, Device> devices = new LinkedHashMap<>();
    private final Map<String, List<String>> pipes = new LinkedHashMap<>();

    public void tank(String name, int litres) {
        devices.put(name, new Tank(name, litres));
    }

    public void pump(String name) {
        devices.put(name, new Pump(name));
    }

    public void connect(String from, String to) {
        pipes.computeIfAbsent(from, it -> new ArrayList<>()).add(to);
    }

    /** The litres of the tanks that a device leads to. */
    public int litresBehind(String name) {
        int litres = 0;
        for (String next : pipes.getOrDefault(name, List.of())) {
            Device device = devices.get(next);
            litres += ((Tank) device).litres + litresBehind(next);
        }
        return litres;
    }
}
