import net.n3.nanoxml.XMLException;
import net.n3.nanoxml.XMLParseException;
import net.n3.nanoxml.XMLValidationException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;

/** The exceptions of the library, made by hand. */
final class Exceptions {
    static void ofMessage() {
        See.thrown(new XMLException("message"));
    }

    static void ofCause() {
        See.thrown(new XMLException(new IOException("cause")));
    }

    static void ofPlaceAndMessage() {
        See.thrown(new XMLException("s.xml", 12, "message"));
    }

    static void ofPlaceAndCause() {
        See.thrown(new XMLException("s.xml", 12, new IllegalStateException("state")));
    }

    static void ofEverything() {
        See.thrown(new XMLException("s.xml", 3, new IOException("io"), "message", true));
        See.thrown(new XMLException("s.xml", 3, new IOException("io"), "message", false));
        See.thrown(new XMLException(null, -1, null, "message", true));
    }

    static void parseException() {
        See.thrown(new XMLParseException("message"));
        See.thrown(new XMLParseException("s.xml", 4, "message"));
    }

    static void validationExceptions() {
        int[] kinds = {
            XMLValidationException.MISSING_ELEMENT,
            XMLValidationException.UNEXPECTED_ELEMENT,
            XMLValidationException.MISSING_ATTRIBUTE,
            XMLValidationException.UNEXPECTED_ATTRIBUTE,
            XMLValidationException.ATTRIBUTE_WITH_INVALID_VALUE,
            XMLValidationException.MISSING_PCDATA,
            XMLValidationException.UNEXPECTED_PCDATA,
            XMLValidationException.MISC_ERROR,
        };
        for (int kind : kinds) {
            See.thrown(new XMLValidationException(kind, "s.xml", kind, "e", "k", "v", "kind " + kind));
        }
    }

    static void asText() {
        See.that("text", new XMLException("s.xml", 5, "message"));
        See.that("text", new XMLException(new IOException("inner")));
        See.that("text", new XMLParseException("s.xml", 6, "parse"));
    }

    static void traceToWriter() {
        StringWriter out = new StringWriter();
        new XMLException(new IOException("inner")).printStackTrace(new PrintWriter(out));
        See.that("first line", out.toString().split("\n")[0]);
        See.that("has inner", out.toString().contains("inner"));
    }

    static void traceToStream() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new XMLException("s.xml", 1, new IOException("inner")).printStackTrace(new PrintStream(out));
        See.that("has nested", out.toString().contains("Nested"));
    }

    static void traceToConsole() {
        PrintStream before = System.err;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        System.setErr(new PrintStream(out));
        new XMLException("s.xml", 1, new IOException("inner")).printStackTrace();
        System.setErr(before);
        See.that("anything", out.size() > 0);
    }

    static void withinEachOther() {
        XMLException inner = new XMLException("inner.xml", 1, "inner");
        XMLException outer = new XMLException("outer.xml", 2, inner);
        See.thrown(outer);
        See.that("the same", outer.getException() == inner);
    }

    static void thrownThroughTheParser() throws Exception {
        net.n3.nanoxml.IXMLParser parser = See.parser("<a/>");
        XMLException ours = new XMLException("ours.xml", 9, "our own");
        parser.setBuilder(new net.n3.nanoxml.StdXMLBuilder() {
            @Override
            public void startElement(
                    String name, String prefix, String uri, String systemId, int line) {
                throw new IllegalArgumentException(ours);
            }
        });
        try {
            parser.parse();
        } catch (XMLException e) {
            See.thrown(e);
            See.that("ours is inside", e.getException() != null && e.getException().getCause() == ours);
        }
    }

    static void errorThroughTheParser() throws Exception {
        net.n3.nanoxml.IXMLParser parser = See.parser("<a><b/></a>");
        parser.setBuilder(new net.n3.nanoxml.StdXMLBuilder() {
            @Override
            public void endElement(String name, String prefix, String uri) {
                throw new AssertionError("end of " + name);
            }
        });
        try {
            parser.parse();
        } catch (AssertionError e) {
            See.thrown(e);
        }
    }

    static void stackOfThePlace() throws Exception {
        try {
            See.parsed("<a><b></a>");
        } catch (XMLException e) {
            See.that("has a stack", e.getStackTrace().length > 0);
            See.that("thrown by", e.getStackTrace()[0].getClassName());
        }
    }
}
