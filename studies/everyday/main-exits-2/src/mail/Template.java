package mail;

import java.util.Map;

public class Template {
    private final String text;

    public Template(String text) {
        this.text = text;
    }

    public String fill(Map<String, String> values) {
        StringBuilder filled = new StringBuilder();
        int at = 0;
        for (int open = text.indexOf('{'); open >= 0; open = text.indexOf('{', at)) {
            int close = text.indexOf('}', open);
            String key = text.substring(open + 1, close);
            filled.append(text, at, open).append(values.getOrDefault(key, "?"));
            at = close + 1;
        }
        return filled.append(text.substring(at)).toString();
    }
}
