import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.XMLElement;

import java.util.Enumeration;
import java.util.Properties;
import java.util.TreeMap;

/** Attributes: parsed, set, asked for and removed. */
final class Attributes {
    static void one() throws Exception {
        See.tree("<a b='1'/>");
    }

    static void doubleQuotes() throws Exception {
        See.tree("<a b=\"1\"/>");
    }

    static void quoteInTheOther() throws Exception {
        See.tree("<a b='say \"x\"' c=\"it's\"/>");
    }

    static void ofNothing() throws Exception {
        See.tree("<a b='' c=\"\"/>");
    }

    static void many() throws Exception {
        StringBuilder document = new StringBuilder("<a");
        for (int i = 0; i < 25; i++) {
            document.append(" k").append(i).append("='v").append(i * 3).append('\'');
        }
        See.tree(document.append("/>").toString());
    }

    static void blanksAroundEquals() throws Exception {
        See.tree("<a b = '1'  c\n=\n'2'/>");
    }

    static void blanksInValue() throws Exception {
        See.tree("<a b='  x  y  ' c='l1\nl2\tl3'/>");
    }

    static void signsInValue() throws Exception {
        See.tree("<a b='> / = ]' c='\u00e4\u20ac'/>");
    }

    static void order() throws Exception {
        See.tree("<a z='1' m='2' a='3'/>");
    }

    static void onManyLevels() throws Exception {
        See.tree("<a x='1'><b x='2'><c x='3'/></b></a>");
    }

    static void longValue() throws Exception {
        IXMLElement a = See.parsed("<a b='" + See.repeated("value ", 300) + "'/>");
        See.that("length", a.getAttribute("b", "").length());
    }

    static void numbers() throws Exception {
        IXMLElement a = See.parsed("<a n='42' neg='-7' no='x' big='99999999999'/>");
        See.that("n", a.getAttribute("n", 0));
        See.that("neg", a.getAttribute("neg", 0));
        See.that("missing", a.getAttribute("missing", 5));
        for (String name : new String[] {"no", "big"}) {
            try {
                See.that(name, a.getAttribute(name, 1));
            } catch (NumberFormatException e) {
                See.thrown(e);
            }
        }
    }

    static void defaults() throws Exception {
        IXMLElement a = See.parsed("<a k='v'/>");
        See.that("k", a.getAttribute("k", "d"));
        See.that("missing", a.getAttribute("missing", "d"));
        See.that("null", a.getAttribute("missing", null));
    }

    @SuppressWarnings("deprecation")
    static void withoutDefault() throws Exception {
        IXMLElement a = See.parsed("<a k='v'/>");
        See.that("k", a.getAttribute("k"));
        See.that("missing", a.getAttribute("missing"));
    }

    static void has() throws Exception {
        IXMLElement a = See.parsed("<a k='' p:q='1' xmlns:p='urn:p'/>");
        See.that("k", a.hasAttribute("k"));
        See.that("K", a.hasAttribute("K"));
        See.that("q", a.hasAttribute("q"));
        See.that("q in urn:p", a.hasAttribute("q", "urn:p"));
    }

    static void types() throws Exception {
        IXMLElement a = See.parsed("<!DOCTYPE a [<!ATTLIST a d CDATA 'x'>]><a k='1'/>");
        See.that("k", a.getAttributeType("k"));
        See.that("d", a.getAttributeType("d"));
        See.that("missing", a.getAttributeType("missing"));
    }

    static void count() {
        XMLElement a = new XMLElement("a");
        See.that("none", a.getAttributeCount());
        a.setAttribute("one", "1");
        a.setAttribute("two", "2");
        See.that("two", a.getAttributeCount());
        a.setAttribute("two", "3");
        See.that("still", a.getAttributeCount());
        a.removeAttribute("one");
        See.that("one", a.getAttributeCount());
    }

    static void replaced() {
        XMLElement a = new XMLElement("a");
        a.setAttribute("k", "old");
        a.setAttribute("k", "new");
        See.tree(a);
    }

    static void removed() {
        XMLElement a = new XMLElement("a");
        a.setAttribute("x", "1");
        a.setAttribute("y", "2");
        a.setAttribute("z", "3");
        a.removeAttribute("y");
        See.tree(a);
        a.removeAttribute("never");
        a.removeAttribute("x");
        a.removeAttribute("z");
        See.tree(a);
    }

    static void setToNull() {
        XMLElement a = new XMLElement("a");
        try {
            a.setAttribute("k", null);
            See.that("value", a.getAttribute("k", "default"));
        } catch (RuntimeException e) {
            See.thrown(e);
        }
    }

    static void names() throws Exception {
        Enumeration<?> names = See.parsed("<a one='1' two='2' three='3'/>").enumerateAttributeNames();
        while (names.hasMoreElements()) {
            See.that("name", names.nextElement());
        }
        try {
            names.nextElement();
        } catch (RuntimeException e) {
            See.that("after the last", e.getClass().getName());
        }
    }

    static void asProperties() throws Exception {
        Properties all = See.parsed("<a one='1' two='2' three='3'/>").getAttributes();
        See.that("size", all.size());
        See.that("sorted", new TreeMap<>(all));
        See.that("one", all.getProperty("one"));
    }

    static void propertiesAreACopy() throws Exception {
        IXMLElement a = See.parsed("<a one='1'/>");
        Properties all = a.getAttributes();
        all.setProperty("one", "changed");
        all.setProperty("two", "2");
        See.tree(a);
    }

    static void summed() throws Exception {
        IXMLElement list = See.parsed("<l><i n='1'/><i n='20'/><i n='300'/><i/></l>");
        int sum = 0;
        for (int i = 0; i < list.getChildrenCount(); i++) {
            sum += list.getChildAtIndex(i).getAttribute("n", 4000);
        }
        See.that("sum", sum);
    }
}
