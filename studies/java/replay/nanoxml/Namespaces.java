import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.XMLElement;

import java.util.Enumeration;

/** Names with namespaces. */
final class Namespaces {
    private static void names(IXMLElement element) {
        See.that(element.getFullName(), element.getName() + " in " + element.getNamespace());
        Enumeration<?> children = element.enumerateChildren();
        while (children.hasMoreElements()) {
            names((IXMLElement) children.nextElement());
        }
    }

    private static void names(String document) throws Exception {
        names(See.parsed(document));
    }

    static void none() throws Exception {
        names("<a><b/></a>");
    }

    static void ofDefault() throws Exception {
        names("<a xmlns='urn:x'><b/></a>");
    }

    static void ofPrefix() throws Exception {
        names("<p:a xmlns:p='urn:p'><p:b/><c/></p:a>");
    }

    static void ofTwoPrefixes() throws Exception {
        names("<p:a xmlns:p='urn:p' xmlns:q='urn:q'><q:b/><p:c/></p:a>");
    }

    static void hidden() throws Exception {
        names("<p:a xmlns:p='urn:outer'><p:b xmlns:p='urn:inner'><p:c/></p:b><p:d/></p:a>");
    }

    static void defaultIsTakenBack() throws Exception {
        names("<a xmlns='urn:x'><b xmlns=''><c/></b></a>");
    }

    static void defaultAndPrefix() throws Exception {
        names("<a xmlns='urn:x' xmlns:p='urn:p'><p:b><c/></p:b></a>");
    }

    static void undeclared() throws Exception {
        names("<p:a><p:b/></p:a>");
    }

    static void endTagOfOtherPrefix() throws Exception {
        See.refused("<p:a xmlns:p='urn:x' xmlns:q='urn:x'></q:a>");
    }

    static void attributes() throws Exception {
        IXMLElement a = See.parsed("<a xmlns:p='urn:p' p:k='1' k='2'/>");
        See.that("plain", a.getAttribute("k", null));
        See.that("with prefix", a.getAttribute("p:k", null));
        See.that("in namespace", a.getAttribute("k", "urn:p", "none"));
        See.that("in another", a.getAttribute("k", "urn:q", "none"));
    }

    static void attributesInNamespace() throws Exception {
        IXMLElement a = See.parsed("<a xmlns:p='urn:p' p:one='1' p:two='2' three='3'/>");
        See.that("of urn:p", new java.util.TreeMap<>(a.getAttributesInNamespace("urn:p")));
        See.that("of urn:q", a.getAttributesInNamespace("urn:q"));
    }

    static void attributeNamespace() throws Exception {
        IXMLElement a = See.parsed("<a xmlns:p='urn:p' p:one='1' two='2'/>");
        See.that("p:one", a.getAttributeNamespace("p:one"));
        See.that("two", a.getAttributeNamespace("two"));
    }

    static void attributeTypeInNamespace() throws Exception {
        IXMLElement a = See.parsed("<a xmlns:p='urn:p' p:one='1'/>");
        See.that("type", a.getAttributeType("one", "urn:p"));
        See.that("no type", a.getAttributeType("one", "urn:q"));
    }

    static void declarationsAreNoAttributes() throws Exception {
        IXMLElement a = See.parsed("<a xmlns='urn:x' xmlns:p='urn:p' k='1'/>");
        See.that("count", a.getAttributeCount());
    }

    static void childByNamespace() throws Exception {
        IXMLElement a = See.parsed("<a xmlns:p='urn:p'><b n='1'/><p:b n='2'/></a>");
        See.tree(a.getFirstChildNamed("b", "urn:p"));
        See.tree(a.getFirstChildNamed("b", null));
        See.that("none", a.getFirstChildNamed("b", "urn:q"));
    }

    static void childrenByNamespace() throws Exception {
        IXMLElement a = See.parsed(
                "<a xmlns:p='urn:p' xmlns:q='urn:p'><p:b/><b/><q:b/><p:c/></a>");
        See.that("of urn:p", a.getChildrenNamed("b", "urn:p").size());
        See.that("of none", a.getChildrenNamed("b", null).size());
    }

    static void elementByHand() {
        XMLElement element = new XMLElement("p:name", "urn:p");
        names(element);
        element.setName("other");
        names(element);
        element.setName("q:third", "urn:q");
        names(element);
    }

    static void attributesByHand() {
        XMLElement element = new XMLElement("a");
        element.setAttribute("p:k", "urn:p", "1");
        element.setAttribute("k", "2");
        element.setAttribute("k", "urn:p", "3");
        See.that("has", element.hasAttribute("k", "urn:p"));
        See.that("value", element.getAttribute("k", "urn:p", ""));
        element.removeAttribute("k", "urn:p");
        See.that("has no more", element.hasAttribute("k", "urn:p"));
        See.tree(element);
    }

    static void numberInNamespace() {
        XMLElement element = new XMLElement("a");
        element.setAttribute("n", "urn:p", "12");
        See.that("number", element.getAttribute("n", "urn:p", 0));
        See.that("no number", element.getAttribute("n", "urn:q", 7));
    }

    static void createdWithNamespace() {
        XMLElement element = new XMLElement("a");
        names(element.createElement("p:b", "urn:p"));
        IXMLElement placed = element.createElement("p:c", "urn:p", "file.xml", 12);
        names(placed);
        See.that("place", placed.getSystemID() + ":" + placed.getLineNr());
    }

    static void equalNamesOfOtherNamespaces() throws Exception {
        IXMLElement a = See.parsed("<a xmlns='urn:x'/>");
        IXMLElement b = See.parsed("<a xmlns='urn:y'/>");
        IXMLElement c = See.parsed("<p:a xmlns:p='urn:x'/>");
        See.that("a equals b", a.equals(b));
        See.that("a equals c", a.equals(c));
    }
}
