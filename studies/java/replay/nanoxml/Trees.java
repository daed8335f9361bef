import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.XMLElement;

import java.util.Enumeration;
import java.util.Vector;

/** Trees built by hand. */
final class Trees {
    static void root() {
        See.tree(new XMLElement("root"));
    }

    static void ofText() {
        XMLElement text = new XMLElement();
        text.setContent("only text");
        See.that("name", text.getName());
        See.that("content", text.getContent());
    }

    static void withChild() {
        XMLElement root = new XMLElement("root");
        root.addChild(new XMLElement("child"));
        See.tree(root);
    }

    static void withPlace() {
        XMLElement element = new XMLElement("a", "doc.xml", 17);
        See.that("place", element.getSystemID() + ":" + element.getLineNr());
        See.that("no place", new XMLElement("b").getLineNr() == XMLElement.NO_LINE);
    }

    static void withNamespaceAndPlace() {
        XMLElement element = new XMLElement("p:a", "urn:p", "doc.xml", 3);
        See.that("name", element.getName() + " " + element.getNamespace());
        See.that("place", element.getSystemID() + ":" + element.getLineNr());
    }

    static void created() {
        XMLElement root = new XMLElement("root");
        root.addChild(root.createElement("one"));
        root.addChild(root.createElement("two", "doc.xml", 2));
        root.addChild(root.createPCDataElement());
        See.tree(root);
    }

    static void parents() {
        XMLElement root = new XMLElement("root");
        XMLElement child = new XMLElement("child");
        See.that("before", child.getParent());
        root.addChild(child);
        See.that("after", child.getParent() == root);
        root.removeChild(child);
        See.that("removed", child.getParent() == root);
    }

    static void childMoves() {
        XMLElement from = new XMLElement("from");
        XMLElement to = new XMLElement("to");
        XMLElement child = new XMLElement("child");
        from.addChild(child);
        from.removeChild(child);
        to.addChild(child);
        See.tree(from);
        See.tree(to);
        See.that("parent", child.getParent().getName());
    }

    static void childOfTwo() {
        XMLElement one = new XMLElement("one");
        XMLElement two = new XMLElement("two");
        XMLElement child = new XMLElement("child");
        one.addChild(child);
        two.addChild(child);
        See.tree(one);
        See.tree(two);
        See.that("parent", child.getParent().getName());
    }

    static void inserted() {
        XMLElement root = new XMLElement("root");
        root.addChild(new XMLElement("b"));
        root.insertChild(new XMLElement("a"), 0);
        root.insertChild(new XMLElement("c"), 2);
        See.tree(root);
    }

    static void insertedBeyond() {
        XMLElement root = new XMLElement("root");
        try {
            root.insertChild(new XMLElement("a"), 5);
        } catch (RuntimeException e) {
            See.thrown(e);
        }
    }

    static void nothingAdded() {
        XMLElement root = new XMLElement("root");
        try {
            root.addChild(null);
        } catch (RuntimeException e) {
            See.thrown(e);
        }
    }

    static void textIsJoined() {
        XMLElement root = new XMLElement("root");
        for (String word : new String[] {"one ", "two ", "three"}) {
            IXMLElement text = root.createPCDataElement();
            text.setContent(word);
            root.addChild(text);
        }
        See.that("children", root.getChildrenCount());
        See.tree(root);
    }

    static void textBetweenChildren() {
        XMLElement root = new XMLElement("root");
        root.addChild(new XMLElement("a"));
        IXMLElement text = root.createPCDataElement();
        text.setContent("between");
        root.addChild(text);
        root.addChild(new XMLElement("b"));
        See.tree(root);
    }

    static void contentIsReplaced() {
        XMLElement root = new XMLElement("root");
        root.setContent("first");
        root.setContent("second");
        See.that("content", root.getContent());
        root.setContent(null);
        See.that("content", root.getContent());
    }

    static void renamed() {
        XMLElement root = new XMLElement("old");
        root.setName("new");
        See.that("name", root.getName() + " " + root.getFullName());
    }

    static void leaves() {
        XMLElement root = new XMLElement("root");
        See.that("leaf", root.isLeaf() + " " + root.hasChildren());
        root.addChild(new XMLElement("child"));
        See.that("leaf", root.isLeaf() + " " + root.hasChildren());
    }

    static void equal() throws Exception {
        IXMLElement a = See.parsed("<a x='1'><b>t</b></a>");
        IXMLElement b = See.parsed("<a x='1'><b>t</b></a>");
        See.that("equals", a.equals(b));
        See.that("equalsXMLElement", a.equalsXMLElement(b));
    }

    static void notEqual() throws Exception {
        IXMLElement a = See.parsed("<a x='1'><b>t</b></a>");
        String[] others = {
            "<c x='1'><b>t</b></c>",
            "<a x='2'><b>t</b></a>",
            "<a><b>t</b></a>",
            "<a x='1'><b>u</b></a>",
            "<a x='1'><b>t</b><b/></a>",
            "<a x='1' y='2'><b>t</b></a>",
        };
        for (String other : others) {
            See.that(other, a.equals(See.parsed(other)));
        }
    }

    static void equalToOtherThings() {
        XMLElement a = new XMLElement("a");
        See.that("null", safely(a, null));
        See.that("text", safely(a, "a"));
        See.that("itself", safely(a, a));
    }

    private static Object safely(XMLElement element, Object other) {
        try {
            return element.equals(other);
        } catch (RuntimeException e) {
            return e.getClass().getName();
        }
    }

    static void copied() throws Exception {
        IXMLElement original = See.parsed("<a x='1'><b y='2'>t</b><c/></a>");
        IXMLElement copy = copy(original);
        See.tree(copy);
        See.that("equal", copy.equals(original));
    }

    private static IXMLElement copy(IXMLElement element) {
        XMLElement copy = new XMLElement(element.getFullName());
        Enumeration<?> names = element.enumerateAttributeNames();
        while (names.hasMoreElements()) {
            String name = (String) names.nextElement();
            copy.setAttribute(name, element.getAttribute(name, null));
        }
        copy.setContent(element.getContent());
        Enumeration<?> children = element.enumerateChildren();
        while (children.hasMoreElements()) {
            copy.addChild(copy((IXMLElement) children.nextElement()));
        }
        return copy;
    }

    static void vectorOfChildrenIsLive() {
        XMLElement root = new XMLElement("root");
        root.addChild(new XMLElement("a"));
        Vector<?> children = root.getChildren();
        See.that("before", children.size());
        root.addChild(new XMLElement("b"));
        See.that("after", children.size());
        children.remove(0);
        See.tree(root);
    }

    static void ownSubclass() {
        XMLElement root = new XMLElement("root") {
            @Override
            public IXMLElement createElement(String name) {
                return new XMLElement("my-" + name);
            }

            @Override
            public String getContent() {
                return "content of " + getName();
            }
        };
        root.addChild(root.createElement("child"));
        See.tree(root);
    }

    static void ownElement() {
        XMLElement root = new XMLElement("root");
        root.addChild(new Leaf("leaf"));
        See.that("count", root.getChildrenCount());
        See.that("found", root.getFirstChildNamed("leaf").getName());
        See.that("children", root.getChildrenNamed("leaf").size());
    }

    /** An element with a fixed name and a story to tell. */
    private static final class Leaf extends XMLElement {
        private static final long serialVersionUID = 1;

        private final String fixed;

        Leaf(String fixed) {
            super("other");
            this.fixed = fixed;
        }

        @Override
        public String getName() {
            See.that("asked", fixed);
            return fixed;
        }

        @Override
        public String getFullName() {
            return fixed;
        }
    }
}
