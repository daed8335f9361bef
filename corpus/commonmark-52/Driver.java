package bug;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.commonmark.html.HtmlRenderer;
import org.commonmark.parser.Parser;
import org.junit.jupiter.api.Test;

class Driver {
    private final Parser parser = Parser.builder().build();
    private final HtmlRenderer renderer = HtmlRenderer.builder().escapeHtml(true).build();

    @Test
    void aReadmeWithTabs() {
        assertEquals("<h1>Title</h1>\n", html("# Title"));
        assertTrue(html("Some *text* with `code` and [a link](/x).").contains("<em>text</em>"));
        assertEquals("<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n", html("- one\n- two\n"));
        String item = html("- step one\n\n\tmore on it\n");
        assertTrue(item.startsWith("<ul>"));
        assertEquals("<ul>\n<li>\n<p>step one</p>\n<p>more on it</p>\n</li>\n</ul>\n", item);
    }

    private String html(String markdown) {
        return renderer.render(parser.parse(markdown));
    }
}
