package league;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

public class Table {
    private final Map<String, Team> teams = new LinkedHashMap<>();

    public void game(String home, int goals, String away, int others) {
        teams.computeIfAbsent(home, Team::new).play(goals, others);
        teams.computeIfAbsent(away, Team::new).play(goals, others);
    }

    public List<String> rows() {
        List<Team> sorted = new ArrayList<>(teams.values());
        sorted.sort(Comparator.comparingInt(Team::points).thenComparingInt(Team::difference).reversed());
        List<String> rows = new ArrayList<>();
        for (Team team : sorted) {
            rows.add(team.row());
        }
        return rows;
    }
}
