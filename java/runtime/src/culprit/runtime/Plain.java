package culprit.runtime;

import java.io.File;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Locale;
import java.util.Properties;
import java.util.TimeZone;

/**
 * What the executor needs where a program runs as it is. Only JVMs that replay have this class. An
 * instance answers for an object of the outside as that was recorded to.
 */
final class Plain implements InvocationHandler {
    private static final Properties PROPERTIES = (Properties) System.getProperties().clone();
    private static final Locale LOCALE = Locale.getDefault();
    private static final TimeZone ZONE = TimeZone.getDefault();
    private static final PrintStream OUT = System.out;
    private static final PrintStream ERR = System.err;
    private static final InputStream IN = System.in;

    /** The loader of the program, once there is one. */
    private static ClassLoader program;

    private final long id;

    private Plain(long id) {
        this.id = id;
    }

    /** Stands in for an object of the scenario where an interface is wanted. */
    static Object standIn(Class<?> type, long id) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, new Plain(id));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) {
        if (method.getDeclaringClass() == Object.class) {
            switch (method.getName()) {
                case "equals":
                    return proxy == arguments[0];
                case "hashCode":
                    return System.identityHashCode(proxy);
                default:
                    return "stand-in";
            }
        }
        MethodType type = MethodType.methodType(method.getReturnType(), method.getParameterTypes());
        return Executor.standIn(id, method.getName(), type.toMethodDescriptorString());
    }

    /** Undoes what an earlier run did to the JVM as a whole. */
    static void begin() {
        System.setProperties((Properties) PROPERTIES.clone());
        Locale.setDefault(LOCALE);
        TimeZone.setDefault(ZONE);
        System.setOut(OUT);
        System.setErr(ERR);
        System.setIn(IN);
        Thread.currentThread().setContextClassLoader(program);
    }

    /** A loader of the program, also for what asks its thread for one. */
    static ClassLoader loader(String path) throws MalformedURLException {
        String[] entries = path.split(File.pathSeparator);
        URL[] places = new URL[entries.length];
        for (int i = 0; i < entries.length; i++) {
            places[i] = new File(entries[i]).toURI().toURL();
        }
        program = new URLClassLoader(places, ClassLoader.getPlatformClassLoader());
        Thread.currentThread().setContextClassLoader(program);
        return program;
    }

    /** An exception as it is printed. */
    static String trace(Throwable thrown) {
        try {
            return Failures.trace(thrown);
        } catch (Throwable inTheProgram) {
            return thrown.getClass().getName() + System.lineSeparator();
        }
    }
}
