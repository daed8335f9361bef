package attacks;

/** The attempts of the C library, by JNI. */
class Jni {
    static {
        try {
            System.load(Attempts.library().toString());
        } catch (Exception e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static native long attempt(String name, String place, String scratch, String facts);
}
