package culprit.runtime;

import java.io.File;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Locale;
import java.util.Properties;
import java.util.TimeZone;
import java.util.function.BiFunction;

/**
 * What the executor needs where a program runs as it is. Only JVMs that replay have this class. An
 * instance answers for an object of the outside as that was recorded to.
 */
final class Plain implements InvocationHandler, BiFunction<String, Object[], Object> {
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

    /**
     * Stands in for an object of the scenario: an object of the interface that is wanted, or of a class that was
     * made for it; null if that class has no constructor, or that of what it extends throws something.
     */
    static Object standIn(Class<?> type, long id) throws ReflectiveOperationException {
        Plain plain = new Plain(id);
        if (type.isInterface()) {
            return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, plain);
        }
        type.getField("answers").set(null, plain);
        if (type.getConstructors().length == 0) {
            return null;
        }
        try {
            return type.getConstructor().newInstance();
        } catch (InvocationTargetException ofTheProgram) {
            return null;
        }
    }

    /** The answer of a method, given by its name and descriptor, of a class that was made to stand in. */
    @Override
    public Object apply(String method, Object[] arguments) {
        int end = method.indexOf('(');
        return Executor.standIn(id, method.substring(0, end), method.substring(end), arguments);
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
        return Executor.standIn(id, method.getName(), type.toMethodDescriptorString(), arguments);
    }

    /** What the JVM throws where a method is called on null; from Java 15 on it says which. */
    static Throwable nullReceiver(String method) {
        String told = Runtime.version().feature() < 15 ? null : "Cannot invoke \"" + method + "\"";
        return new NullPointerException(told);
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
