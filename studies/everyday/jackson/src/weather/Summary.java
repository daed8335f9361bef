package weather;

import java.util.DoubleSummaryStatistics;
import java.util.Map;
import java.util.TreeMap;

public class Summary {
    private final Map<String, DoubleSummaryStatistics> values = new TreeMap<>();
    private int weak;

    public void add(Message message) {
        if (message.isWeak()) {
            weak++;
        }
        for (Message.Reading reading : message.readings()) {
            String key = message.station() + "." + reading.kind;
            values.computeIfAbsent(key, it -> new DoubleSummaryStatistics()).accept(reading.value);
        }
    }

    public double mean(String key) {
        DoubleSummaryStatistics found = values.get(key);
        return found == null ? Double.NaN : found.getAverage();
    }

    public String text() {
        StringBuilder text = new StringBuilder();
        values.forEach((key, all) -> text.append(key).append(' ').append(all.getAverage()).append('\n'));
        return text.append(weak).append(" weak").toString();
    }
}
