package culprit.tester;

import java.lang.annotation.Annotation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;

/** Runs a test by whatever JUnit the class path has. All of it is reached by reflection. */
final class Junit {
    private Junit() {}

    static Outcome run(String name, String method, ClassLoader loader) {
        try {
            Class<?> type = Class.forName(name, false, loader);
            Method test = method(type, method);
            if (test == null) {
                return Outcome.notRun(name + " has no method " + method);
            }
            boolean isThree = isBelow(type, "junit.framework.TestCase");
            boolean isFour = has(test, "org.junit.Test") || isBelow(type, "org.junit.runner.RunWith");
            if ((isThree || isFour) && knows(loader, "org.junit.runner.JUnitCore")) {
                return byCore(type, method, loader);
            }
            if (isThree) {
                return byCase(type, method);
            }
            if (knows(loader, "org.junit.platform.launcher.core.LauncherFactory")) {
                return Platform.run(type, test, loader);
            }
            return Plain.run(type, test);
        } catch (ClassNotFoundException missing) {
            return Outcome.notRun("the class path has no class " + missing.getMessage());
        } catch (InvocationTargetException wrapped) {
            return Outcome.notRun("JUnit does not run: " + wrapped.getCause());
        } catch (ReflectiveOperationException | LinkageError trouble) {
            return Outcome.notRun("JUnit does not run: " + trouble);
        }
    }

    /** JUnit 4, which runs tests of JUnit 3 too. */
    private static Outcome byCore(Class<?> type, String method, ClassLoader loader)
            throws ReflectiveOperationException {
        Class<?> requests = loader.loadClass("org.junit.runner.Request");
        Object request =
                requests.getMethod("method", Class.class, String.class).invoke(null, type, method);
        Class<?> core = loader.loadClass("org.junit.runner.JUnitCore");
        Object result =
                core.getMethod("run", requests)
                        .invoke(core.getConstructor().newInstance(), request);
        Class<?> results = loader.loadClass("org.junit.runner.Result");
        List<?> failures = (List<?>) results.getMethod("getFailures").invoke(result);
        if (!failures.isEmpty()) {
            Object first = failures.get(0);
            Object thrown = first.getClass().getMethod("getException").invoke(first);
            Object described = first.getClass().getMethod("getDescription").invoke(first);
            // A class without such a test, or one that JUnit refuses.
            String place = described.getClass().getMethod("getMethodName").invoke(described) + "";
            boolean isRefused = place.equals("initializationError");
            return isRefused ? Outcome.notRun("JUnit refuses it: " + thrown) : Outcome.threw((Throwable) thrown);
        }
        if ((Integer) results.getMethod("getRunCount").invoke(result) == 0) {
            return Outcome.notRun("JUnit found no test to run; it may be ignored");
        }
        return skipped(results, result) ? Outcome.notRun("the test skips itself") : Outcome.passed();
    }

    /** Whether an assumption did not hold. JUnit counts this since 4.13. */
    private static boolean skipped(Class<?> results, Object result)
            throws ReflectiveOperationException {
        try {
            return (Integer) results.getMethod("getAssumptionFailureCount").invoke(result) > 0;
        } catch (NoSuchMethodException old) {
            return false;
        }
    }

    /** JUnit 3. */
    private static Outcome byCase(Class<?> type, String method)
            throws ReflectiveOperationException {
        Object test;
        try {
            test = type.getConstructor(String.class).newInstance(method);
        } catch (NoSuchMethodException none) {
            test = type.getConstructor().newInstance();
            type.getMethod("setName", String.class).invoke(test, method);
        }
        try {
            type.getMethod("runBare").invoke(test);
        } catch (InvocationTargetException thrown) {
            return Outcome.threw(thrown.getCause());
        }
        return Outcome.passed();
    }

    static boolean knows(ClassLoader loader, String name) {
        return loader.getResource(name.replace('.', '/') + ".class") != null;
    }

    /** The method of a name: one that is a test, if there are several. */
    private static Method method(Class<?> type, String name) {
        Method found = null;
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            for (Method method : at.getDeclaredMethods()) {
                boolean isBetter = found == null || !isTest(found) && isTest(method);
                if (method.getName().equals(name) && !method.isSynthetic() && isBetter) {
                    found = method;
                }
            }
        }
        return found;
    }

    private static boolean isTest(Method method) {
        for (Annotation annotation : method.getAnnotations()) {
            if (annotation.annotationType().getName().startsWith("org.junit.")) {
                return true;
            }
        }
        return false;
    }

    static boolean has(Method method, String annotation) {
        for (Annotation one : method.getAnnotations()) {
            if (one.annotationType().getName().equals(annotation)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a class is below another one, or has this annotation. */
    private static boolean isBelow(Class<?> type, String name) {
        for (Annotation one : type.getAnnotations()) {
            if (one.annotationType().getName().equals(name)) {
                return true;
            }
        }
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            if (at.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }
}
