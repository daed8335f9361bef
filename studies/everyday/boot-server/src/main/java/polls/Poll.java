package polls;

import java.util.TreeMap;
import java.util.Map;

public class Poll {
    private final String name;
    private final Map<String, Integer> votes = new TreeMap<>();
    private int total;

    public Poll(String name) {
        this.name = name;
    }

    public synchronized int vote(String choice) {
        total++;
        return votes.merge(choice, 1, Integer::sum);
    }

    public synchronized int percent(String choice) {
        return 100 * votes.getOrDefault(choice, 0) / total;
    }

    public String name() {
        return name;
    }
}
