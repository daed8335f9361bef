package phones;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

public class Directory {
    private final Map<String, String> numbers = new TreeMap<>();

    public void add(String name, String number) {
        numbers.put(name, number.replace(" ", ""));
    }

    public List<String> search(String word, int limit) {
        String wanted = word.trim().toLowerCase(Locale.ROOT);
        List<String> found = new ArrayList<>();
        for (Map.Entry<String, String> entry : numbers.entrySet()) {
            if (entry.getKey().toLowerCase(Locale.ROOT).contains(wanted) && found.size() < limit) {
                found.add(entry.getKey() + " " + entry.getValue());
            }
        }
        return found;
    }
}
