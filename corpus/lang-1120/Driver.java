package bug;

import org.apache.commons.lang3.StringUtils;
import org.apache.commons.lang3.text.WordUtils;

/** Prints labels for parcels in plain letters. */
public class Driver {
    public static void main(String[] args) {
        String[] towns = {"M\u00fcnchen", "Krak\u00f3w", "\u0141\u00f3d\u017a", "Chalon-sur-Sa\u00f4ne",
            "S\u00e3o Paulo", "Malm\u00f6"};
        int widest = 0;
        for (String town : towns) {
            widest = Math.max(widest, town.length());
        }
        for (String town : towns) {
            String plain = StringUtils.stripAccents(town);
            String label = StringUtils.rightPad(plain, widest, '.');
            System.out.println(label + " " + WordUtils.initials(plain, ' ', '-')
                    + ", plain: " + StringUtils.isAsciiPrintable(plain));
        }
    }
}
