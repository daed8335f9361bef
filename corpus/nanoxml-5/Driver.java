package bug;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class Driver {
    @Test
    void aPriceListWithEntities() {
        Entities entities = new Entities();
        entities.define("firm", "Smith & Co");
        entities.define("euro", "EUR");
        StringBuilder list = new StringBuilder("<?xml version='1.0'?><list from='&firm;'>");
        for (int i = 1; i <= 6; i++) {
            list.append("<item id='").append(i).append("'>").append(i * 3).append(" &euro;</item>");
        }
        list.append("<footer>&firm; &lt;mail&gt; &#65;&#x42;</footer></list>");
        Element root = new Parser(list.toString(), entities).parse();
        assertEquals("Smith & Co", root.getAttribute("from", ""));
        List<Element> items = root.getChildrenNamed("item");
        for (int i = 0; i < items.size(); i++) {
            assertEquals((i + 1) * 3 + " EUR", items.get(i).getText());
        }
        assertEquals("Smith & Co <mail> AB", root.getFirstChildNamed("footer").getText());
    }
}
