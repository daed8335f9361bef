import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.IXMLParser;

/** Documents of many shapes. */
final class Elements {
    static void empty() throws Exception {
        See.tree("<a/>");
    }

    static void emptyPair() throws Exception {
        See.tree("<a></a>");
    }

    static void emptyWithBlank() throws Exception {
        See.tree("<a />");
    }

    static void textOnly() throws Exception {
        See.tree("<a>some text</a>");
    }

    static void oneChild() throws Exception {
        See.tree("<a><b/></a>");
    }

    static void siblings() throws Exception {
        See.tree("<a><b/><c/><d/></a>");
    }

    static void equalSiblings() throws Exception {
        See.tree("<a><b>1</b><b>2</b><b>3</b></a>");
    }

    static void grandchildren() throws Exception {
        See.tree("<a><b><c>deep</c></b><d><e/></d></a>");
    }

    static void mixedContent() throws Exception {
        See.tree("<p>one <b>two</b> three <i>four</i> five</p>");
    }

    static void textBeforeChild() throws Exception {
        See.tree("<p>before<b/></p>");
    }

    static void textAfterChild() throws Exception {
        See.tree("<p><b/>after</p>");
    }

    static void blanksOnly() throws Exception {
        See.tree("<a>   </a>");
    }

    static void blanksBetweenChildren() throws Exception {
        See.tree("<a>\n  <b/>\n  <c/>\n</a>");
    }

    static void blanksAroundText() throws Exception {
        See.tree("<a>  padded  </a>");
    }

    static void deep() throws Exception {
        IXMLElement root = See.parsed(See.repeated("<n>", 40) + "end" + See.repeated("</n>", 40));
        int depth = 0;
        while (root.hasChildren()) {
            root = root.getChildAtIndex(0);
            depth++;
        }
        See.that("depth", depth + " " + root.getContent());
    }

    static void wide() throws Exception {
        StringBuilder document = new StringBuilder("<list>");
        for (int i = 0; i < 60; i++) {
            document.append("<item n='").append(i).append("'/>");
        }
        IXMLElement root = See.parsed(document.append("</list>").toString());
        See.that("children", root.getChildrenCount());
        See.that("last", root.getChildAtIndex(59).getAttribute("n", -1));
    }

    static void longText() throws Exception {
        IXMLElement root = See.parsed("<a>" + See.repeated("0123456789", 500) + "</a>");
        See.that("length", root.getContent().length());
    }

    static void names() throws Exception {
        See.tree("<a.b><c-d/><e_f/><_g/><h1/></a.b>");
    }

    static void longName() throws Exception {
        String name = See.repeated("name", 30);
        See.that("name", See.parsed("<" + name + "/>").getName().length());
    }

    static void accentedNames() throws Exception {
        See.that("name", See.quoted(See.parsed("<caf\u00e9><na\u00efve/></caf\u00e9>").getName()));
    }

    static void accentedText() throws Exception {
        See.tree("<a>gr\u00fc\u00dfe \u20ac \u65e5\u672c</a>");
    }

    static void surrogates() throws Exception {
        See.that("units", See.parsed("<a>\ud83d\ude00</a>").getContent().length());
    }

    static void declaration() throws Exception {
        See.tree("<?xml version=\"1.0\"?><a/>");
    }

    static void declarationWithEncoding() throws Exception {
        See.tree("<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n<a>x</a>");
    }

    static void blankEndTag() throws Exception {
        See.tree("<a>x</a  >");
    }

    static void blankAfterName() throws Exception {
        See.tree("<a  \n\t b='1'  ></a>");
    }

    static void carriageReturns() throws Exception {
        See.tree("<a>one\r\ntwo\rthree\nfour</a>");
    }

    static void tabs() throws Exception {
        See.tree("<a>\tone\t\ttwo</a>");
    }

    static void blanksAfterRoot() throws Exception {
        See.tree("<a/>\n\n  ");
    }

    static void blanksBeforeRoot() throws Exception {
        See.tree("\n\n   <a/>");
    }

    static void twoRoots() throws Exception {
        See.refused("<a/><b/>");
    }

    static void greaterThanInText() throws Exception {
        See.tree("<a>1 > 0</a>");
    }

    static void bracketsInText() throws Exception {
        See.tree("<a>x[1] ]] y</a>");
    }

    static void lines() throws Exception {
        IXMLElement root = See.parsed("<a>\n<b/>\n\n<c>\n<d/></c></a>");
        See.that("a", root.getLineNr());
        See.that("b", root.getFirstChildNamed("b").getLineNr());
        IXMLElement c = root.getFirstChildNamed("c");
        See.that("c", c.getLineNr());
        See.that("d", c.getFirstChildNamed("d").getLineNr());
    }

    static void parserIsUsedTwice() throws Exception {
        IXMLParser parser = See.parser("<first/>");
        See.tree((IXMLElement) parser.parse());
        parser.setReader(net.n3.nanoxml.StdXMLReader.stringReader("<second x='1'/>"));
        See.tree((IXMLElement) parser.parse());
    }

    static void partsOfTheParser() throws Exception {
        IXMLParser parser = See.parser("<a/>");
        See.that("reader", parser.getReader().getClass().getSimpleName());
        See.that("builder", parser.getBuilder().getClass().getSimpleName());
        See.that("validator", parser.getValidator().getClass().getSimpleName());
        See.that("resolver", parser.getResolver().getClass().getSimpleName());
    }

    static void table() throws Exception {
        StringBuilder document = new StringBuilder("<table>");
        for (int row = 0; row < 5; row++) {
            document.append("<tr>");
            for (int column = 0; column < 4; column++) {
                document.append("<td>").append(row * column).append("</td>");
            }
            document.append("</tr>");
        }
        IXMLElement table = See.parsed(document.append("</table>").toString());
        int sum = 0;
        for (int row = 0; row < table.getChildrenCount(); row++) {
            IXMLElement tr = table.getChildAtIndex(row);
            for (int column = 0; column < tr.getChildrenCount(); column++) {
                sum += Integer.parseInt(tr.getChildAtIndex(column).getContent());
            }
        }
        See.that("sum", sum);
    }
}
