package bug;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.lang3.StringUtils;

/** Shortens the names of streets in a few towns. */
public class Driver {
    public static void main(String[] args) {
        List<String> names = Stream.of("Main STREET", "Station street 4", "STREET of Roses",
                "\u0130stanbul Street", "Baker Street")
                .map(StringUtils::trimToEmpty)
                .map(name -> StringUtils.replaceIgnoreCase(name, "street", "St."))
                .map(name -> StringUtils.removeIgnoreCase(name, "of "))
                .map(StringUtils::normalizeSpace)
                .collect(Collectors.toList());
        for (String name : names) {
            System.out.println(StringUtils.rightPad(name, 20, '.') + StringUtils.getDigits(name));
        }
    }
}
