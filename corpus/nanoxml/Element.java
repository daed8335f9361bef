package bug;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An element of a document: attributes, text and children. */
public class Element {
    private final String name;
    private final Map<String, String> attributes = new LinkedHashMap<>();
    private final List<Element> children = new ArrayList<>();
    private final StringBuilder text = new StringBuilder();
    private Element parent;

    public Element(String name) {
        this.name = name;
    }

    public String getName() {
        return name;
    }

    public Element getParent() {
        return parent;
    }

    public void setAttribute(String key, String value) {
        attributes.put(key, value);
    }

    public String getAttribute(String key, String otherwise) {
        String value = attributes.get(key);
        return value == null ? otherwise : value;
    }

    public int getNumber(String key, int otherwise) {
        String value = attributes.get(key);
        return value == null ? otherwise : Integer.parseInt(value.trim());
    }

    public Map<String, String> getAttributes() {
        return attributes;
    }

    public void addText(String more) {
        text.append(more);
    }

    public String getText() {
        return text.toString().trim();
    }

    public void addChild(Element child) {
        child.parent = this;
        children.add(child);
    }

    public void removeChild(Element child) {
        int index = children.indexOf(child);
        if (index >= 0) {
            children.remove(index);
            child.parent = null;
        }
    }

    public List<Element> getChildren() {
        return children;
    }

    public List<Element> getChildrenNamed(String wanted) {
        List<Element> found = new ArrayList<>();
        for (Element child : children) {
            if (child.name.equals(wanted)) {
                found.add(child);
            }
        }
        return found;
    }

    public Element getFirstChildNamed(String wanted) {
        List<Element> found = getChildrenNamed(wanted);
        return found.isEmpty() ? null : found.get(0);
    }
}
