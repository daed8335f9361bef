package culprit.tester;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;

/** Runs a test by the launcher of the JUnit platform. */
final class Platform implements InvocationHandler {
    private Throwable thrown;
    private int tests;
    private boolean isAborted;

    private Platform() {}

    static Outcome run(Class<?> type, Method test, ClassLoader loader)
            throws ReflectiveOperationException {
        Object selector =
                loader.loadClass("org.junit.platform.engine.discovery.DiscoverySelectors")
                        .getMethod("selectMethod", Class.class, Method.class)
                        .invoke(null, type, test);
        String core = "org.junit.platform.launcher.core.";
        Class<?> builders = loader.loadClass(core + "LauncherDiscoveryRequestBuilder");
        Object builder = builders.getMethod("request").invoke(null);
        builders.getMethod("selectors", List.class).invoke(builder, List.of(selector));
        Object request = builders.getMethod("build").invoke(builder);
        Object launcher = loader.loadClass(core + "LauncherFactory").getMethod("create").invoke(null);
        Class<?> listeners = loader.loadClass("org.junit.platform.launcher.TestExecutionListener");
        Platform platform = new Platform();
        Object row = Array.newInstance(listeners, 1);
        Array.set(row, 0, Proxy.newProxyInstance(loader, new Class<?>[] {listeners}, platform));
        loader.loadClass("org.junit.platform.launcher.Launcher")
                .getMethod(
                        "execute",
                        loader.loadClass("org.junit.platform.launcher.LauncherDiscoveryRequest"),
                        row.getClass())
                .invoke(launcher, request, row);
        if (platform.thrown != null) {
            return Outcome.threw(platform.thrown);
        }
        if (platform.isAborted) {
            return Outcome.notRun("the test skips itself");
        }
        return platform.tests == 0
                ? Outcome.notRun("the JUnit platform found no test to run; it may be disabled")
                : Outcome.passed();
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] words)
            throws ReflectiveOperationException {
        switch (method.getName()) {
            case "executionFinished":
                Object result = words[1];
                Object status = result.getClass().getMethod("getStatus").invoke(result);
                boolean isTest = (Boolean) words[0].getClass().getMethod("isTest").invoke(words[0]);
                tests += isTest ? 1 : 0;
                isAborted |= status.toString().equals("ABORTED");
                if (thrown == null && status.toString().equals("FAILED")) {
                    Optional<?> cause =
                            (Optional<?>) result.getClass().getMethod("getThrowable").invoke(result);
                    thrown = cause.isPresent() ? (Throwable) cause.get() : new AssertionError();
                }
                return null;
            case "hashCode":
                return System.identityHashCode(proxy);
            case "equals":
                return proxy == words[0];
            case "toString":
                return "listener";
            default:
                return null;
        }
    }
}
