package attacks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The attempts of the C library, by JNI. A library belongs to one class loader, and each candidate has its own: so a copy
 * is loaded.
 */
class Jni {
    static {
        try {
            Path copy = Files.createTempFile("attempts", ".so");
            Files.copy(Attempts.library(), copy, StandardCopyOption.REPLACE_EXISTING);
            System.load(copy.toString());
        } catch (Exception e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static native long attempt(String name, String place, String scratch, String facts);
}
