package bug;

import java.util.HashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.jsoup.select.Elements;

/** Rewrites elements of a page; what has no rule stays as it is. */
public class Driver {
    public static void main(String[] args) {
        Document page = Jsoup.parse("<h1>News</h1><p>It is <b>cold</b> and <i>wet</i>.</p>"
                + "<ul><li>one<li>two</ul><p><u>Old</u></p>");
        Map<String, UnaryOperator<Element>> rules = new HashMap<>();
        rules.put("b", old -> new Element("strong").html(old.html()));
        rules.put("i", old -> new Element("em").html(old.html()));
        rules.put("li", old -> old.clone().addClass("item"));
        Elements all = page.body().select("b, i, li, u");
        System.out.println(all.size() + " elements");
        for (Element element : all) {
            Element fresh = rules.getOrDefault(element.tagName(), old -> old).apply(element);
            element.replaceWith(fresh);
            System.out.println(element.tagName() + " -> " + fresh.outerHtml());
        }
        System.out.println(page.body().html());
    }
}
