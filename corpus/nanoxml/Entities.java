package bug;

import java.util.HashMap;
import java.util.Map;

/** The entities that a document may refer to. */
public class Entities {
    private final Map<String, String> known = new HashMap<>();

    public Entities() {
        known.put("amp", "&");
        known.put("lt", "<");
        known.put("gt", ">");
        known.put("quot", "\"");
        known.put("apos", "'");
    }

    public void define(String name, String value) {
        known.put(name, value);
    }

    /** The text with every reference replaced. */
    public String resolve(String text) {
        StringBuilder result = new StringBuilder();
        int at = 0;
        while (at < text.length()) {
            int start = text.indexOf('&', at);
            int end = start < 0 ? -1 : text.indexOf(';', start);
            if (end < 0) {
                break;
            }
            result.append(text, at, start).append(value(text.substring(start + 1, end)));
            at = end + 1;
        }
        return result.append(text.substring(at)).toString();
    }

    private String value(String name) {
        if (name.startsWith("#x")) {
            return new String(Character.toChars(Integer.parseInt(name.substring(2), 16)));
        }
        if (name.startsWith("#")) {
            return new String(Character.toChars(Integer.parseInt(name.substring(1))));
        }
        String value = known.get(name);
        if (value == null) {
            throw new IllegalArgumentException("no entity " + name);
        }
        return value;
    }
}
