package bug;

/** Reads a document and prints it again. */
public class Driver {
    public static void main(String[] args) {
        String source = "<?xml version='1.0'?>\n"
                + "<!-- a catalogue -->\n"
                + "<catalogue owner='Tom'>\n"
                + "  <book pages='120'>From &lt;a&gt; to &lt;z&gt;</book>\n"
                + "  <book pages='88' title='&quot;No&quot;'>Black &amp; White &#x2030;</book>\n"
                + "  <shelf><board/><board/></shelf>\n"
                + "</catalogue>\n";
        Element root = new Parser(source).parse();
        int pages = 0;
        for (Element book : root.getChildrenNamed("book")) {
            pages += book.getNumber("pages", 0);
        }
        Element summary = new Element("summary");
        summary.setAttribute("pages", String.valueOf(pages));
        root.addChild(summary);
        System.out.println(new Printer().print(root));
    }
}
