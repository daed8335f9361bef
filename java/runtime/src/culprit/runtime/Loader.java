package culprit.runtime;

/** A loader of the recorded program, with the classes that the recording has of it. */
final class Loader extends ClassLoader {
    private final int number;

    Loader(int number) {
        super(ClassLoader.getPlatformClassLoader());
        this.number = number;
    }

    /** The recorded program may be a part of the JDK, which this JVM has too. */
    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> type = findLoadedClass(name);
            if (type == null) {
                type = define(name, true);
            }
            return type == null ? super.loadClass(name, resolve) : type;
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        Class<?> type = define(name, false);
        if (type == null) {
            throw new ClassNotFoundException(name);
        }
        return type;
    }

    private Class<?> define(String name, boolean overJdk) {
        return Executor.define(this, number, name.replace('.', '/'), overJdk);
    }

    static Loader make(int number) {
        return new Loader(number);
    }
}
