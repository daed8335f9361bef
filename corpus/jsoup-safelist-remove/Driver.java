package bug;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jsoup.Jsoup;
import org.jsoup.safety.Safelist;

/** Cleans comments on a thread of its own, with stricter and stricter rules. */
public class Driver {
    private static final String END = "";

    public static void main(String[] args) throws InterruptedException {
        BlockingQueue<String> comments = new ArrayBlockingQueue<>(4);
        Thread cleaner = new Thread(() -> clean(comments), "cleaner");
        cleaner.setUncaughtExceptionHandler((thread, error) -> {
            error.printStackTrace();
            System.exit(1);
        });
        cleaner.start();
        for (int i = 0; i < 6; i++) {
            comments.put("<p class=c>No " + i + " <a href='/x' title=t>link</a>"
                    + "<img src=http://example.org/i.png alt=i><script>x()</script>");
        }
        comments.put(END);
        cleaner.join();
    }

    private static void clean(BlockingQueue<String> comments) {
        Safelist loose = Safelist.relaxed().addAttributes(":all", "class");
        Safelist strict = Safelist.relaxed()
                .removeTags("table", "tr", "td", "th", "tbody", "thead", "tfoot", "col", "colgroup");
        try {
            int count = 0;
            for (String next = comments.take(); !next.equals(END); next = comments.take()) {
                System.out.println(Jsoup.clean(next, count++ % 2 == 0 ? loose : strict));
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        strict.removeAttributes(":all", "title", "src", "alt", "align", "width", "height", "cite",
                "start", "type", "href", "span", "abbr", "axis", "colspan", "rowspan", "scope", "summary");
        System.out.println(Jsoup.clean("<img src=http://example.org/i.png alt=i>", strict));
    }
}
