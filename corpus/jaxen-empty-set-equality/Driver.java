package bug;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.dom4j.Document;
import org.dom4j.DocumentHelper;
import org.jaxen.JaxenException;
import org.jaxen.dom4j.Dom4jXPath;
import org.junit.jupiter.api.Test;

class Driver {
    private final Document shop = shop();

    @Test
    void nothingIsSoldOut() throws JaxenException {
        assertEquals(4.0, evaluate("count(/shop/item)"));
        assertEquals(true, evaluate("/shop/item/price = 30"));
        assertEquals(true, evaluate("boolean(/shop/item) = true()"));
        assertEquals(true, evaluate("not(/shop/item[@sold-out])"));
        assertTrue((Boolean) evaluate("/shop/item[@sold-out] = false()"));
    }

    private Object evaluate(String path) throws JaxenException {
        return new Dom4jXPath(path).evaluate(shop);
    }

    private static Document shop() {
        Document document = DocumentHelper.createDocument();
        document.addElement("shop");
        for (int i = 1; i <= 4; i++) {
            document.getRootElement().addElement("item")
                    .addAttribute("id", "i" + i)
                    .addElement("price").addText(String.valueOf(i * 10));
        }
        return document;
    }
}
