package bug;

import java.util.ArrayList;
import java.util.List;
import org.dom4j.Document;
import org.dom4j.DocumentHelper;
import org.dom4j.Element;
import org.jaxen.JaxenException;
import org.jaxen.XPath;
import org.jaxen.dom4j.Dom4jXPath;

/** Counts the orders in a few batches; the last one is still empty. */
public class Driver {
    public static void main(String[] args) throws JaxenException {
        List<Document> batches = new ArrayList<>();
        for (int size : new int[] {3, 1, 5}) {
            batches.add(batch(size));
        }
        batches.add(DocumentHelper.createDocument());

        XPath orders = new Dom4jXPath("/batch/order[@amount > 20]");
        XPath total = new Dom4jXPath("sum(/batch/order/@amount)");
        for (Document batch : batches) {
            List<?> large = orders.selectNodes(batch);
            System.out.println(large.size() + " large orders of " + total.numberValueOf(batch));
        }
    }

    private static Document batch(int size) {
        Document document = DocumentHelper.createDocument();
        Element root = document.addElement("batch");
        for (int i = 1; i <= size; i++) {
            root.addElement("order").addAttribute("amount", Integer.toString(i * 10));
        }
        return document;
    }
}
