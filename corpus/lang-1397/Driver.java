package bug;

import org.apache.commons.lang3.StringUtils;
import org.apache.commons.lang3.text.WordUtils;

/** Prints a notice at several widths; the last means no limit. */
public class Driver {
    public static void main(String[] args) {
        String notice = StringUtils.join(new String[] {
            "the office is closed on monday", "please leave parcels next door",
            "see https://example.org/a/rather/long/address/that/does/not/break"}, ". ");
        String title = WordUtils.capitalizeFully("notice to all visitors");
        int[] widths = {10, 24, 60, 1000, Integer.MAX_VALUE};
        for (int width : widths) {
            System.out.println(StringUtils.center(title, Math.min(width, 60), '-'));
            String wrapped = WordUtils.wrap(notice, width, "\n", false);
            System.out.println(wrapped);
            System.out.println(StringUtils.countMatches(wrapped, '\n') + 1 + " lines");
            System.out.println(WordUtils.initials(wrapped));
        }
    }
}
