package bug;

import org.apache.commons.lang3.reflect.MethodUtils;

/** Runs a small script of commands against an object. */
public class Driver {
    public static void main(String[] args) throws Exception {
        Object[][] script = {
            {"title", "Shopping"},
            {"add", "milk"},
            {"add", "bread", "butter"},
            {"count"},
            {"addAt", 1, "eggs", "flour"},
            {"addAt", 0, "salt", null},
            {"count"},
        };
        Notes notes = new Notes();
        for (Object[] line : script) {
            Object[] arguments = new Object[line.length - 1];
            System.arraycopy(line, 1, arguments, 0, arguments.length);
            Object result = MethodUtils.invokeMethod(notes, (String) line[0], arguments);
            System.out.println(line[0] + " -> " + result);
        }
    }
}
