package bug;

/** Reads a document: elements, attributes, text, comments, instructions and entities. */
public class Parser {
    private final String source;
    private final Entities entities;
    private int at;

    public Parser(String source) {
        this(source, new Entities());
    }

    public Parser(String source, Entities entities) {
        this.source = source;
        this.entities = entities;
    }

    public Element parse() {
        skipMisc();
        Element root = element();
        skipMisc();
        if (at < source.length()) {
            throw new IllegalArgumentException("more than one root at " + at);
        }
        return root;
    }

    private Element element() {
        expect("<");
        Element element = new Element(name());
        skipSpace();
        while (!looking("/") && !looking(">")) {
            String key = name();
            skipSpace();
            expect("=");
            skipSpace();
            String quote = source.substring(at, at + 1);
            expect(quote);
            element.setAttribute(key, entities.resolve(until(quote)));
            skipSpace();
        }
        if (looking("/>")) {
            expect("/>");
            return element;
        }
        expect(">");
        content(element);
        expect("</");
        expect(element.getName());
        skipSpace();
        expect(">");
        return element;
    }

    private void content(Element element) {
        while (!looking("</")) {
            if (looking("<!--")) {
                expect("<!--");
                until("-->");
            } else if (looking("<?")) {
                until("?>");
            } else if (looking("<")) {
                element.addChild(element());
            } else {
                int start = at;
                at = source.indexOf('<', at);
                element.addText(entities.resolve(source.substring(start, at)));
            }
        }
    }

    private void skipMisc() {
        skipSpace();
        while (looking("<?") || looking("<!--")) {
            until(looking("<?") ? "?>" : "-->");
            skipSpace();
        }
    }

    private String name() {
        int start = at;
        while (at < source.length() && (Character.isLetterOrDigit(source.charAt(at))
                || source.charAt(at) == '-' || source.charAt(at) == ':')) {
            at++;
        }
        return source.substring(start, at);
    }

    private String until(String end) {
        int start = at;
        int found = source.indexOf(end, at);
        if (found < 0) {
            throw new IllegalArgumentException("no " + end + " after " + at);
        }
        at = found + end.length();
        return source.substring(start, found);
    }

    private void skipSpace() {
        while (at < source.length() && Character.isWhitespace(source.charAt(at))) {
            at++;
        }
    }

    private boolean looking(String text) {
        return source.startsWith(text, at);
    }

    private void expect(String text) {
        if (!looking(text)) {
            throw new IllegalArgumentException(text + " expected at " + at);
        }
        at += text.length();
    }
}
