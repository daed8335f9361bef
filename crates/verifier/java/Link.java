import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Loads and links the classes named in a file, without initialising them, and writes one line each: name, tab, then
 * "ok" or the error. Asking for declared constructors links a class, and linking verifies it.
 */
public class Link {
    public static void main(String[] args) throws Exception {
        List<String> names = Files.readAllLines(Path.of(args[0]));
        // One after the other: which of two errors a class shows can depend on what was linked before it.
        try (PrintStream out = new PrintStream(args[1], "UTF-8")) {
            for (String name : names) {
                out.println(name + "\t" + link(name));
            }
        }
    }

    static String link(String name) {
        try {
            Class.forName(name, false, ClassLoader.getSystemClassLoader()).getDeclaredConstructors();
            return "ok";
        } catch (Throwable error) {
            return error.getClass().getName() + ": " + String.valueOf(error.getMessage()).replaceAll("\\s+", " ");
        }
    }
}
