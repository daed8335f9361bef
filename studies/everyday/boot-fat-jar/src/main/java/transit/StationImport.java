package transit;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.stereotype.Component;

@Component
public class StationImport implements ApplicationRunner {
    private final List<Station> stations = new ArrayList<>();

    @Override
    public void run(ApplicationArguments arguments) throws Exception {
        StationParser parser = new StationParser();
        for (String file : arguments.getNonOptionArgs()) {
            List<String> lines = Files.readAllLines(Path.of(file));
            for (String line : lines.subList(1, lines.size())) {
                stations.add(parser.parse(line));
            }
        }
        long served = stations.stream().filter(station -> !station.lines().isEmpty()).count();
        System.out.println(parser.lines() + " stations, " + served + " with a line");
    }
}
