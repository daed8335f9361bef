package plan;

import java.util.LinkedHashMap;
import java.util.Map;
import weekdays.Pattern;

public class Main {
    public static void main(String[] args) {
        Map<String, Pattern> plan = new LinkedHashMap<>();
        for (String text : args) {
            plan.put(text, Pattern.parse(text));
        }
        plan.forEach((text, pattern) ->
                System.out.println(text + ": " + pattern.count() + (pattern.contains("sun") ? ", on Sundays" : "")));
    }
}
