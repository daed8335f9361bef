package weather;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

public class Message {
    public static class Reading {
        @JsonProperty
        String kind;
        @JsonProperty
        double value;
    }

    @JsonProperty
    private String station;
    @JsonProperty
    private double battery;
    @JsonProperty
    private List<Reading> readings;

    public String station() {
        return station;
    }

    public boolean isWeak() {
        return battery < 0.1;
    }

    public List<Reading> readings() {
        return readings;
    }
}
