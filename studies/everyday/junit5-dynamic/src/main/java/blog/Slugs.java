package blog;

import java.text.Normalizer;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

public class Slugs {
    private final Map<String, Integer> used = new HashMap<>();

    public static String of(String title) {
        String plain = Normalizer.normalize(title, Normalizer.Form.NFD).replaceAll("\\p{M}", "");
        StringBuilder slug = new StringBuilder();
        for (char letter : plain.toLowerCase(Locale.ROOT).toCharArray()) {
            if (Character.isLetterOrDigit(letter)) {
                slug.append(letter);
            } else if (slug.length() > 0) {
                slug.append('-');
            }
        }
        return slug.toString();
    }

    /** A slug that no other title has got. */
    public String unique(String title) {
        String slug = of(title);
        int count = used.merge(slug, 1, Integer::sum);
        return count == 1 ? slug : slug + "-" + count;
    }
}
