package config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DurationsTest {
    private Durations durations;

    @BeforeEach
    void aliases() {
        durations = new Durations(Map.of("never", "0s", "daily", "24h"));
    }

    static Stream<Arguments> texts() {
        return Stream.of(arguments("5s", 5_000), arguments("1h30m", 5_400_000), arguments("never", 0),
                arguments(" daily", 86_400_000), arguments("250", 250), arguments("2m5s", 125_000));
    }

    @ParameterizedTest
    @MethodSource("texts")
    void textsAreRead(String text, long millis) {
        assertEquals(millis, durations.millis(text));
    }
}
