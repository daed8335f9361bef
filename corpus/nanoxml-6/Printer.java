package bug;

import java.util.Map;

/** Prints an element and all below it, indented. */
public class Printer {
    private final StringBuilder out = new StringBuilder();

    public String print(Element root) {
        out.setLength(0);
        print(root, 0);
        return out.toString();
    }

    private void print(Element element, int depth) {
        indent(depth);
        out.append('<').append(element.getName());
        for (Map.Entry<String, String> attribute : element.getAttributes().entrySet()) {
            out.append(' ').append(attribute.getKey()).append("=\"");
            escape(attribute.getValue());
            out.append('"');
        }
        out.append('>');
        escape(element.getText());
        if (!element.getChildren().isEmpty()) {
            out.append('\n');
            for (Element child : element.getChildren()) {
                print(child, depth + 1);
            }
            indent(depth);
        }
        out.append("</").append(element.getName()).append(">\n");
    }

    private void indent(int depth) {
        for (int i = 0; i < depth; i++) {
            out.append("  ");
        }
    }

    private void escape(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '<':
                    out.append("&lt;");
                    break;
                case '>':
                    out.append("&gt;");
                    break;
                case '&':
                    out.append("&amp;");
                    break;
                case '"':
                    out.append("&quot;");
                    break;
                default:
                    out.append(c);
            }
        }
    }
}
