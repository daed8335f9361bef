package culprit.tester;

import java.lang.annotation.Annotation;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Runs a test of JUnit 5 where there is no launcher, as on class paths of Maven: methods before
 * and after it, and the test itself. Whatever needs an extension is left to the launcher.
 */
final class Plain {
    private static final String API = "org.junit.jupiter.api.";
    private static final String NEEDED =
            " needs junit-platform-launcher on the class path, and the engine of its JUnit";

    private Plain() {}

    static Outcome run(Class<?> type, Method test) throws ReflectiveOperationException {
        if (!Junit.has(test, API + "Test")) {
            return Outcome.notRun(
                    test.getName() + " is no test of a JUnit on the class path, or it" + NEEDED);
        }
        for (Annotation annotation : type.getAnnotations()) {
            if (annotation.annotationType().getName().startsWith(API + "extension.")) {
                return Outcome.notRun(type.getName() + NEEDED);
            }
        }
        List<Method> before = before(type);
        List<Method> after = marked(type, "AfterEach");
        after.addAll(marked(type, "AfterAll"));
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        try {
            Object self = constructor.newInstance();
            try {
                for (Method method : before) {
                    call(method, self);
                }
                call(test, self);
            } finally {
                for (Method method : after) {
                    call(method, self);
                }
            }
        } catch (InvocationTargetException thrown) {
            return Outcome.threw(thrown.getCause());
        } catch (IllegalArgumentException parameters) {
            return Outcome.notRun(type.getName() + NEEDED);
        }
        return Outcome.passed();
    }

    /** What comes before the test: for all tests first, and that of classes above first. */
    private static List<Method> before(Class<?> type) {
        List<Method> all = marked(type, "BeforeAll");
        List<Method> each = marked(type, "BeforeEach");
        Collections.reverse(all);
        Collections.reverse(each);
        all.addAll(each);
        return all;
    }

    /** Methods with an annotation, those of classes below first. */
    private static List<Method> marked(Class<?> type, String annotation) {
        List<Method> found = new ArrayList<>();
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            for (Method method : at.getDeclaredMethods()) {
                if (Junit.has(method, API + annotation)) {
                    found.add(method);
                }
            }
        }
        return found;
    }

    private static void call(Method method, Object self) throws ReflectiveOperationException {
        method.setAccessible(true);
        method.invoke(Modifier.isStatic(method.getModifiers()) ? null : self);
    }
}
