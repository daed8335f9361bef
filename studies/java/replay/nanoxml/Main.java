import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.TreeSet;

/**
 * Runs one test by its name, as in {@code Elements.empty}; without arguments, prints all names. A
 * test is a static method without parameters of one of the classes below. It prints what it sees.
 */
public final class Main {
    private static final String[] GROUPS = {
        "Attributes",
        "Builders",
        "Children",
        "Dtds",
        "Elements",
        "Entities",
        "Exceptions",
        "Lifecycle",
        "Malformed",
        "Namespaces",
        "Sections",
        "Sources",
        "Trees",
        "Validators",
        "Writing",
    };

    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            list();
            return;
        }
        int dot = args[0].indexOf('.');
        Method test = Class.forName(args[0].substring(0, dot))
                .getDeclaredMethod(args[0].substring(dot + 1));
        try {
            test.invoke(null);
        } catch (InvocationTargetException e) {
            See.thrown(e.getCause());
        }
        System.out.flush();
    }

    private static void list() throws ClassNotFoundException {
        for (String group : GROUPS) {
            TreeSet<String> names = new TreeSet<>();
            for (Method method : Class.forName(group).getDeclaredMethods()) {
                boolean test = method.getParameterCount() == 0
                        && !Modifier.isPrivate(method.getModifiers())
                        && !method.isSynthetic();
                if (test) {
                    names.add(group + "." + method.getName());
                }
            }
            names.forEach(System.out::println);
        }
    }
}
