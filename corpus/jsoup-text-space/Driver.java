package bug;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.junit.jupiter.api.Test;

class Driver {
    @Test
    void theTextOfAMenu() {
        StringBuilder html = new StringBuilder("<title>Menu</title><div id=menu>");
        for (String dish : new String[] {"Soup", "Fish", "Cake"}) {
            html.append("<div class=dish>").append(dish).append("</div>");
            html.append("<span>fresh</span>");
        }
        Document page = Jsoup.parse(html + "</div><p>Enjoy <b>it</b>!</p>");
        assertEquals("Menu", page.title());
        assertEquals(3, page.select("div.dish").size());
        assertEquals("Enjoy it!", page.select("p").text());
        Element menu = page.getElementById("menu");
        assertEquals(6, menu.children().size());
        assertEquals("Soup fresh Fish fresh Cake fresh", menu.text());
    }
}
