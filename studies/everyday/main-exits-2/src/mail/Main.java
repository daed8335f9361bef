package mail;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

public class Main {
    public static void main(String[] args) {
        Map<String, String> values = Map.of("name", "Ms Lovelace", "city", "Turin", "desk", "B 12");
        try {
            for (String file : args) {
                String letter = new Template(Files.readString(Path.of(file))).fill(values);
                System.out.println(letter);
            }
        } catch (Exception problem) {
            System.err.println("mail: cannot write the letters");
            problem.printStackTrace();
            System.exit(2);
        }
    }
}
