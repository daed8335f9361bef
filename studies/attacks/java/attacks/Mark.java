package attacks;

import java.nio.file.Files;
import java.nio.file.Paths;

/** Leaves a file, to show that it ran. */
public class Mark {
    public static void main(String[] arguments) throws Exception {
        Files.write(Paths.get(System.getProperty("mark")), new byte[0]);
    }
}
