package weather;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;

public class Main {
    public static void main(String[] args) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        Summary summary = new Summary();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            summary.add(mapper.readValue(line, Message.class));
        }
        System.out.println(summary.text());
        System.out.println(summary.mean("north.temp"));
    }
}
