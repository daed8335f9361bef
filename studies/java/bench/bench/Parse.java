package bench;

import java.util.Random;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;

/** Parsing: jsoup reads generated pages, selects from them, and prints them again. */
final class Parse implements Workload {
    private static final int PAGES = 16;
    private final String[] pages = new String[PAGES];

    Parse() {
        Random random = new Random(1);
        for (int i = 0; i < PAGES; i++) {
            pages[i] = page(random, 60 + 10 * i);
        }
    }

    @Override
    public long iteration(int number) {
        Document page = Jsoup.parse(pages[number % PAGES], "https://example.org/");
        long sum = page.select("table tr:nth-child(odd) td.price").size();
        for (Element link : page.select("a[href]")) {
            sum = sum * 31 + link.absUrl("href").length() + link.text().length();
        }
        for (Element item : page.select("div.item > p")) {
            item.attr("data-seen", "yes").append("<em>seen &amp; noted</em>");
        }
        return sum * 31 + page.outerHtml().length();
    }

    private static String page(Random random, int items) {
        StringBuilder page = new StringBuilder();
        page.append("<!doctype html><html><head><title>A page</title>");
        page.append("<meta charset=utf-8><script>if (a < b) { c(); }</script></head><body>\n");
        for (int i = 0; i < items; i++) {
            page.append("<div class='item ").append(i % 3 == 0 ? "odd" : "even").append("' id=i").append(i);
            page.append("><h2>Item ").append(i).append("</h2>\n<p>").append(words(random, 20));
            page.append(" <a href=\"/items/").append(i).append("?q=").append(random.nextInt(1000));
            page.append("\">more &raquo;</a> <b>").append(words(random, 3)).append("</b><br>");
            page.append("</p><!-- ").append(words(random, 2)).append(" -->");
            page.append("<table><tr><td>").append(words(random, 2)).append("<td class=price>");
            page.append(random.nextInt(10000)).append("&nbsp;&euro;<tr><td>unclosed</table></div>\n");
        }
        return page.append("</body></html>").toString();
    }

    private static String words(Random random, int count) {
        StringBuilder words = new StringBuilder();
        for (int i = 0; i < count; i++) {
            for (int letters = 2 + random.nextInt(7); letters > 0; letters--) {
                words.append((char) ('a' + random.nextInt(26)));
            }
            words.append(random.nextInt(12) == 0 ? " &lt; " : " ");
        }
        return words.toString();
    }
}
