import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;

/** Whether a page that was printed has another text when it is read back. */
class Reprint {
    static boolean shows(String page) {
        Document once = Jsoup.parse(page);
        return !once.text().equals(Jsoup.parse(once.outerHtml()).text());
    }
}
