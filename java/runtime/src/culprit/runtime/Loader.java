package culprit.runtime;

/** A loader of the recorded program, with the classes that the recording has of it. */
final class Loader extends ClassLoader {
    private final int number;

    Loader(int number) {
        super(ClassLoader.getPlatformClassLoader());
        this.number = number;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        Class<?> type = Executor.define(this, number, name.replace('.', '/'));
        if (type == null) {
            throw new ClassNotFoundException(name);
        }
        return type;
    }

    static Loader make(int number) {
        return new Loader(number);
    }
}
