import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.XMLElement;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Vector;

/** Finding, walking and removing children. */
final class Children {
    private static IXMLElement family() throws Exception {
        return See.parsed("<f><a n='1'/><b n='2'/><a n='3'><a n='4'/></a>text<c/></f>");
    }

    static void count() throws Exception {
        See.that("count", family().getChildrenCount());
    }

    static void byIndex() throws Exception {
        IXMLElement family = family();
        for (int i = 0; i < family.getChildrenCount(); i++) {
            See.that(String.valueOf(i), family.getChildAtIndex(i).getFullName());
        }
    }

    static void byIndexBeyond() throws Exception {
        IXMLElement family = family();
        for (int index : new int[] {-1, 5, 100}) {
            try {
                See.that("child", family.getChildAtIndex(index));
            } catch (IndexOutOfBoundsException e) {
                See.that(String.valueOf(index), e.getClass().getName());
            }
        }
    }

    static void firstNamed() throws Exception {
        See.tree(family().getFirstChildNamed("a"));
    }

    static void firstNamedLikeNobody() throws Exception {
        See.that("none", family().getFirstChildNamed("z"));
    }

    static void allNamed() throws Exception {
        Vector<?> found = family().getChildrenNamed("a");
        See.that("found", found.size());
        for (Object child : found) {
            See.tree((IXMLElement) child);
        }
    }

    static void allNamedLikeNobody() throws Exception {
        See.that("empty", family().getChildrenNamed("z").isEmpty());
    }

    static void textHasNoName() throws Exception {
        Enumeration<?> children = family().enumerateChildren();
        while (children.hasMoreElements()) {
            IXMLElement child = (IXMLElement) children.nextElement();
            if (child.getName() == null) {
                See.that("text", child.getContent());
            }
        }
    }

    static void enumerated() throws Exception {
        Enumeration<?> children = family().enumerateChildren();
        int n = 0;
        while (children.hasMoreElements()) {
            children.nextElement();
            n++;
        }
        See.that("seen", n);
        try {
            children.nextElement();
        } catch (NoSuchElementException e) {
            See.that("after the last", e.getClass().getName());
        }
    }

    static void removed() throws Exception {
        IXMLElement family = family();
        family.removeChild(family.getFirstChildNamed("b"));
        See.tree(family);
    }

    static void removedByIndex() throws Exception {
        IXMLElement family = family();
        family.removeChildAtIndex(0);
        family.removeChildAtIndex(1);
        See.tree(family);
    }

    static void removedBeyond() throws Exception {
        try {
            family().removeChildAtIndex(9);
        } catch (RuntimeException e) {
            See.that("thrown", e.getClass().getName());
        }
    }

    static void removedStranger() throws Exception {
        IXMLElement family = family();
        family.removeChild(new XMLElement("stranger"));
        See.that("count", family.getChildrenCount());
    }

    static void removedNull() throws Exception {
        try {
            family().removeChild(null);
        } catch (RuntimeException e) {
            See.thrown(e);
        }
    }

    static void removedEqualOne() {
        XMLElement root = new XMLElement("root");
        root.addChild(new XMLElement("same"));
        root.addChild(new XMLElement("same"));
        root.removeChild(new XMLElement("same"));
        See.that("left", root.getChildrenCount());
    }

    static void removedAll() throws Exception {
        IXMLElement family = family();
        while (family.hasChildren()) {
            family.removeChildAtIndex(family.getChildrenCount() - 1);
        }
        See.tree(family);
    }

    static void removedWhileWalking() throws Exception {
        IXMLElement list = See.parsed("<l><i/><i/><i/><i/></l>");
        Enumeration<?> children = list.enumerateChildren();
        while (children.hasMoreElements()) {
            list.removeChild((IXMLElement) children.nextElement());
        }
        See.that("left", list.getChildrenCount());
    }

    static void addedAgain() throws Exception {
        IXMLElement family = family();
        IXMLElement b = family.getFirstChildNamed("b");
        family.removeChild(b);
        family.addChild(b);
        See.tree(family);
    }

    static void allDescendants() throws Exception {
        List<String> names = new ArrayList<>();
        walk(family(), names);
        See.that("names", names);
    }

    private static void walk(IXMLElement element, List<String> names) {
        names.add(String.valueOf(element.getName()));
        Enumeration<?> children = element.enumerateChildren();
        while (children.hasMoreElements()) {
            walk((IXMLElement) children.nextElement(), names);
        }
    }

    static void sorted() throws Exception {
        IXMLElement list = See.parsed("<l><i n='3'/><i n='1'/><i n='2'/></l>");
        Vector<?> children = list.getChildren();
        Collections.sort(children, (x, y) -> Integer.compare(
                ((IXMLElement) x).getAttribute("n", 0), ((IXMLElement) y).getAttribute("n", 0)));
        See.tree(list);
    }

    static void reversed() throws Exception {
        IXMLElement list = See.parsed("<l><a/><b/><c/></l>");
        Collections.reverse(list.getChildren());
        See.tree(list);
    }

    static void indexOf() throws Exception {
        IXMLElement family = family();
        See.that("index", family.getChildren().indexOf(family.getFirstChildNamed("c")));
        See.that("contains", family.getChildren().contains(new XMLElement("c")));
    }

    static void parentsOfAll() throws Exception {
        IXMLElement family = family();
        for (Object child : family.getChildren()) {
            See.that("parent", ((IXMLElement) child).getParent() == family);
        }
        See.that("of root", family.getParent());
    }

    static void pathToTheRoot() throws Exception {
        IXMLElement element = See.parsed("<a><b><c><d/></c></b></a>");
        while (element.hasChildren()) {
            element = element.getChildAtIndex(0);
        }
        StringBuilder path = new StringBuilder();
        for (IXMLElement at = element; at != null; at = at.getParent()) {
            path.insert(0, "/" + at.getName());
        }
        See.that("path", path);
    }
}
