package blog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class SlugsTest {
    private final Slugs slugs = new Slugs();

    @Test
    void slugsAreUnique() {
        assertEquals("news", slugs.unique("News"));
        assertEquals("news-2", slugs.unique("news"));
    }

    @TestFactory
    Stream<DynamicTest> titlesBecomeSlugs() {
        Map<String, String> expected = Map.of("Hello World", "hello-world", "Caf\u00e9 2024", "cafe-2024",
                "  Three", "three", "Ten  years", "ten-years");
        return expected.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(pair -> dynamicTest(pair.getKey(), () -> assertEquals(pair.getValue(), slugs.unique(pair.getKey()))));
    }
}
