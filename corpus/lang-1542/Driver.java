package bug;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.apache.commons.lang3.builder.ReflectionToStringBuilder;
import org.apache.commons.lang3.builder.ToStringBuilder;
import org.apache.commons.lang3.builder.ToStringStyle;
import org.junit.jupiter.api.Test;

class Driver {
    @Test
    void aTeamAsJson() {
        List<String> names = new ArrayList<>();
        for (String name : "ada bob eve".split(" ")) {
            names.add(name);
        }
        Team team = new Team("red", names, new int[] {3, 1, 2});
        ToStringBuilder by = new ToStringBuilder(team, ToStringStyle.JSON_STYLE)
                .append("colour", team.colour)
                .append("size", team.names.size())
                .append("scores", team.scores);
        assertEquals("{\"colour\":\"red\",\"size\":3,\"scores\":[3,1,2]}", by.toString());
        assertEquals("{\"colour\":\"red\",\"names\":[\"ada\",\"bob\",\"eve\"],\"scores\":[3,1,2]}",
                ReflectionToStringBuilder.toString(team, ToStringStyle.JSON_STYLE));
    }

    static class Team {
        final String colour;
        final List<String> names;
        final int[] scores;

        Team(String colour, List<String> names, int[] scores) {
            this.colour = colour;
            this.names = names;
            this.scores = scores;
        }
    }
}
