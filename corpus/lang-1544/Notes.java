package bug;

import java.util.ArrayList;
import java.util.List;

/** A list with a title. */
public class Notes {
    private final List<String> lines = new ArrayList<>();
    private String title = "";

    public String title(String title) {
        this.title = title;
        return title;
    }

    public String add(String... more) {
        for (String line : more) {
            lines.add(line);
        }
        return title + lines;
    }

    public String addAt(Integer index, Object... more) {
        for (Object line : more) {
            lines.add(index, String.valueOf(line));
        }
        return title + lines;
    }

    public Integer count() {
        return lines.size();
    }
}
