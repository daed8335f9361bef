import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.XMLElement;
import net.n3.nanoxml.XMLWriter;

import java.io.ByteArrayOutputStream;
import java.io.FileWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writing trees, with every option. */
final class Writing {
    private static void written(String document) throws Exception {
        StringWriter out = new StringWriter();
        new XMLWriter(out).write(See.parsed(document));
        See.that("written", See.quoted(out.toString()));
    }

    private static final String SOME = "<a x='1'><b>t</b><c/><d><e y='2'/></d></a>";

    static void empty() throws Exception {
        written("<a/>");
    }

    static void emptyPair() throws Exception {
        written("<a></a>");
    }

    static void text() throws Exception {
        written("<a>text</a>");
    }

    static void attributes() throws Exception {
        written("<a x='1' y='two'/>");
    }

    static void nested() throws Exception {
        written(SOME);
    }

    static void mixed() throws Exception {
        written("<p>one <b>two</b> three</p>");
    }

    static void signsInText() throws Exception {
        written("<a>&lt;b&gt; &amp; 'c' \"d\"</a>");
    }

    static void signsInAttribute() throws Exception {
        written("<a b='&lt;&gt;&amp;&quot;&apos;'/>");
    }

    static void accents() throws Exception {
        written("<a b='\u00fc'>\u00e9\u20ac</a>");
    }

    static void linesInText() throws Exception {
        written("<a>one\ntwo\n</a>");
    }

    static void controlCharacters() {
        StringWriter out = new StringWriter();
        XMLElement a = new XMLElement("a");
        a.setContent("bell \u0007 tab \t");
        try {
            new XMLWriter(out).write(a);
        } catch (IOException e) {
            See.thrown(e);
        }
        See.that("written", See.quoted(out.toString()));
    }

    static void namespaces() throws Exception {
        written("<p:a xmlns:p='urn:p' p:k='1'><p:b/></p:a>");
    }

    static void declarationIsGone() throws Exception {
        written("<?xml version='1.0'?><!-- c --><a><?pi?><![CDATA[<x>]]></a>");
    }

    static void pretty() throws Exception {
        StringWriter out = new StringWriter();
        new XMLWriter(out).write(See.parsed(SOME), true);
        System.out.println(out);
    }

    static void notPretty() throws Exception {
        StringWriter out = new StringWriter();
        new XMLWriter(out).write(See.parsed(SOME), false);
        System.out.println(out);
    }

    static void indented() throws Exception {
        StringWriter out = new StringWriter();
        new XMLWriter(out).write(See.parsed(SOME), true, 6);
        System.out.println(out);
    }

    static void collapsed() throws Exception {
        StringWriter out = new StringWriter();
        new XMLWriter(out).write(See.parsed("<a><b></b></a>"), false, 0, true);
        System.out.println(out);
    }

    static void notCollapsed() throws Exception {
        StringWriter out = new StringWriter();
        new XMLWriter(out).write(See.parsed("<a><b></b></a>"), true, 2, false);
        System.out.println(out);
    }

    static void prettyWithText() throws Exception {
        StringWriter out = new StringWriter();
        new XMLWriter(out).write(See.parsed("<a>\n <b> x </b>\n <c>y</c> z</a>"), true);
        System.out.println(out);
    }

    static void textElement() throws Exception {
        XMLElement text = new XMLElement();
        text.setContent("a < b & c");
        StringWriter out = new StringWriter();
        new XMLWriter(out).write(text);
        See.that("written", out);
    }

    static void nothing() {
        try {
            new XMLWriter(new StringWriter()).write(null);
            See.that("written", "nothing");
        } catch (Exception e) {
            See.that("thrown", e.getClass().getName());
        }
    }

    static void toStream() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new XMLWriter(out).write(See.parsed("<a>x</a>"));
        See.that("bytes", out.size() + " " + out);
    }

    static void toConsole() throws Exception {
        new XMLWriter(System.out).write(See.parsed(SOME), true);
        System.out.println();
    }

    static void toFile() throws Exception {
        Path file = Path.of("written.xml");
        try (Writer out = new FileWriter(file.toFile())) {
            new XMLWriter(out).write(See.parsed(SOME));
        }
        See.that("file", Files.readString(file));
    }

    static void toPrintWriter() throws Exception {
        StringWriter out = new StringWriter();
        new XMLWriter(new PrintWriter(out)).write(See.parsed("<a><b/></a>"));
        See.that("written", out);
    }

    static void toOwnWriter() throws Exception {
        StringBuilder seen = new StringBuilder();
        new XMLWriter(new Writer() {
            @Override
            public void write(char[] chars, int offset, int length) {
                seen.append('{').append(chars, offset, length).append('}');
            }

            @Override
            public void flush() {
                seen.append('!');
            }

            @Override
            public void close() {
                seen.append('.');
            }
        }).write(See.parsed("<a x='1'>t</a>"));
        See.that("seen", seen);
    }

    static void toOwnStream() throws Exception {
        StringBuilder seen = new StringBuilder();
        new XMLWriter(new OutputStream() {
            @Override
            public void write(int b) {
                seen.append((char) b);
            }
        }).write(See.parsed("<a>t</a>"));
        See.that("seen", seen);
    }

    static void toStreamThatBreaks() throws Exception {
        try {
            new XMLWriter(new OutputStream() {
                @Override
                public void write(int b) throws IOException {
                    throw new IOException("full");
                }
            }).write(See.parsed("<a>t</a>"));
            See.that("written", "without a word");
        } catch (IOException e) {
            See.thrown(e);
        }
    }

    static void twiceToTheSame() throws Exception {
        StringWriter out = new StringWriter();
        XMLWriter writer = new XMLWriter(out);
        writer.write(See.parsed("<a/>"));
        writer.write(See.parsed("<b/>"));
        See.that("written", out);
    }

    static void builtByHand() throws Exception {
        XMLElement root = new XMLElement("html");
        IXMLElement body = root.createElement("body");
        body.setAttribute("class", "a \"b\"");
        IXMLElement text = body.createPCDataElement();
        text.setContent("1 < 2");
        body.addChild(text);
        body.addChild(body.createElement("br"));
        root.addChild(body);
        StringWriter out = new StringWriter();
        new XMLWriter(out).write(root);
        See.that("written", out);
    }

    static void roundTrip() throws Exception {
        IXMLElement first = See.parsed("<a x='&lt;'>t &amp; <b>u</b><c y='\"'/></a>");
        StringWriter out = new StringWriter();
        new XMLWriter(out).write(first);
        IXMLElement second = See.parsed(out.toString());
        See.that("equal", first.equals(second));
    }

    static void subclass() throws Exception {
        StringWriter out = new StringWriter();
        new XMLWriter(out) {
            @Override
            public void write(IXMLElement element, boolean pretty, int indent, boolean collapse)
                    throws IOException {
                See.that("write", element.getName() + " " + pretty + " " + indent);
                super.write(element, pretty, indent, collapse);
            }
        }.write(See.parsed("<a><b/></a>"));
        See.that("written", out);
    }
}
