import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.IXMLParser;
import net.n3.nanoxml.IXMLReader;
import net.n3.nanoxml.StdXMLReader;
import net.n3.nanoxml.XMLException;
import net.n3.nanoxml.XMLParserFactory;
import net.n3.nanoxml.XMLValidationException;

import java.util.Enumeration;

/** Ways to parse a document and to print what came of it. */
final class See {
    /** The default parser, about to read a text. */
    static IXMLParser parser(String document) throws Exception {
        return parser(StdXMLReader.stringReader(document));
    }

    static IXMLParser parser(IXMLReader reader) throws Exception {
        IXMLParser parser = XMLParserFactory.createDefaultXMLParser();
        parser.setReader(reader);
        return parser;
    }

    static IXMLElement parsed(String document) throws Exception {
        return (IXMLElement) parser(document).parse();
    }

    /** Parses a text and prints the tree. */
    static void tree(String document) throws Exception {
        tree(parsed(document));
    }

    static void tree(IXMLElement element) {
        if (element == null) {
            System.out.println("no element");
        } else {
            tree(element, "");
        }
    }

    private static void tree(IXMLElement element, String indent) {
        StringBuilder line = new StringBuilder(indent);
        line.append(element.getFullName());
        Enumeration<?> names = element.enumerateAttributeNames();
        while (names.hasMoreElements()) {
            String name = (String) names.nextElement();
            line.append(' ').append(name).append('=').append(element.getAttribute(name, null));
        }
        if (element.getContent() != null) {
            line.append(": ").append(quoted(element.getContent()));
        }
        System.out.println(line);
        Enumeration<?> children = element.enumerateChildren();
        while (children.hasMoreElements()) {
            tree((IXMLElement) children.nextElement(), indent + "  ");
        }
    }

    /** Parses a text that has a mistake, and prints what is said of it. */
    static void refused(String document) throws Exception {
        try {
            tree(document);
            System.out.println("accepted");
        } catch (XMLException e) {
            thrown(e);
        }
    }

    static void thrown(Throwable thrown) {
        System.out.println(thrown.getClass().getName());
        System.out.println("  message " + quoted(thrown.getMessage()));
        if (thrown instanceof XMLException) {
            XMLException e = (XMLException) thrown;
            System.out.println("  line " + e.getLineNr() + ", system id " + e.getSystemID());
            if (e.getException() != null) {
                System.out.println("  because of " + e.getException());
            }
        }
        if (thrown instanceof XMLValidationException) {
            XMLValidationException e = (XMLValidationException) thrown;
            System.out.println("  element " + e.getElementName() + ", attribute "
                    + e.getAttributeName() + " = " + e.getAttributeValue());
        }
    }

    static void that(String what, Object value) {
        System.out.println(what + ": " + value);
    }

    /** A text with what cannot be seen made visible. */
    static String quoted(String text) {
        if (text == null) {
            return "null";
        }
        StringBuilder out = new StringBuilder("'");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c > '~') {
                out.append("\\u").append(Integer.toHexString(c)).append(';');
            } else {
                out.append(c);
            }
        }
        return out.append('\'').toString();
    }

    static String repeated(String text, int times) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < times; i++) {
            out.append(text);
        }
        return out.toString();
    }
}
