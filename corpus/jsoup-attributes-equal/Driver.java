package bug;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jsoup.Jsoup;
import org.jsoup.nodes.Attributes;
import org.jsoup.nodes.Document;
import org.jsoup.select.Elements;
import org.junit.jupiter.api.Test;

class Driver {
    @Test
    void linksAreTheSameInAnyOrder() {
        Document page = Jsoup.parse("<a href=/x class=big title=X>1</a>"
                + "<a href=/y class=big title=X>2</a>"
                + "<a title=X href=/x class=big>3</a>");
        Elements links = page.select("a[href]");
        assertEquals(3, links.size());
        Attributes first = links.get(0).attributes();
        assertEquals("/x", first.get("href"));
        assertTrue(first.hasKeyIgnoreCase("TITLE"));
        assertEquals(first, first.clone());
        assertNotEquals(first, links.get(1).attributes());
        assertEquals(first, links.get(2).attributes());
    }
}
