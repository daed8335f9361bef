package transit;

import java.util.List;

public class StationParser {
    private int lines;

    public Station parse(String line) {
        lines++;
        String[] columns = line.split(";");
        List<String> served = columns[2].isEmpty() ? List.of() : List.of(columns[2].split(","));
        return new Station(Integer.parseInt(columns[0]), columns[1].trim(), served, columns[3]);
    }

    public int lines() {
        return lines;
    }
}
