import net.n3.nanoxml.IXMLBuilder;
import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.IXMLParser;
import net.n3.nanoxml.StdXMLBuilder;
import net.n3.nanoxml.StdXMLParser;
import net.n3.nanoxml.StdXMLReader;
import net.n3.nanoxml.XMLElement;
import net.n3.nanoxml.XMLParserFactory;

import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Builders of our own, and the library's driven by hand. */
final class Builders {
    private static Object built(String document, IXMLBuilder builder) throws Exception {
        IXMLParser parser = See.parser(document);
        parser.setBuilder(builder);
        return parser.parse();
    }

    private static final String SOME = "<a x='1'>t<b>u<c/></b>v</a>";

    static void log() throws Exception {
        System.out.println(built(SOME, new Log()));
    }

    static void logOfNamespaces() throws Exception {
        System.out.println(built("<p:a xmlns:p='urn:p' p:k='v'><p:b/></p:a>", new Log()));
    }

    static void logOfInstruction() throws Exception {
        System.out.println(built("<?one two?><a><?three?></a>", new Log()));
    }

    static void logOfDefaults() throws Exception {
        System.out.println(built("<!DOCTYPE a [<!ATTLIST a k CDATA 'v'>]><a/>", new Log()));
    }

    static void logOfCData() throws Exception {
        System.out.println(built("<a>x<![CDATA[y]]>z</a>", new Log()));
    }

    static void logOfEntity() throws Exception {
        System.out.println(built("<!DOCTYPE a [<!ENTITY e 'v<w/>x'>]><a>u&e;y</a>", new Log()));
    }

    static void logOfLines() throws Exception {
        System.out.println(built("<a>\n<b>\n</b>\n\n<c/></a>", new Log() {
            @Override
            void started(String name, String prefix, String uri, int line) {
                say("start " + name + " in line " + line);
            }
        }));
    }

    static void counting() throws Exception {
        int[] counts = new int[3];
        built(SOME, new Log() {
            @Override
            void started(String name, String prefix, String uri, int line) {
                counts[0]++;
            }

            @Override
            public void addAttribute(
                    String name, String prefix, String uri, String value, String type) {
                counts[1]++;
            }

            @Override
            public void addPCData(Reader reader, String systemId, int line) throws IOException {
                counts[2] += text(reader).length();
            }
        });
        See.that("elements", counts[0]);
        See.that("attributes", counts[1]);
        See.that("characters", counts[2]);
    }

    static void stopping() throws Exception {
        try {
            built(SOME, new Log() {
                @Override
                void ended(String name) {
                    throw new UnsupportedOperationException("enough: " + name);
                }
            });
        } catch (Exception e) {
            See.thrown(e);
        }
    }

    static void stoppingWithChecked() throws Exception {
        try {
            built(SOME, new Log() {
                @Override
                public void addPCData(Reader reader, String systemId, int line) throws IOException {
                    throw new IOException("cannot take it");
                }
            });
        } catch (Exception e) {
            See.thrown(e);
        }
    }

    static void ofNothing() throws Exception {
        See.that("result", built(SOME, new Log() {
            @Override
            public Object getResult() {
                return null;
            }
        }));
    }

    static void textNotRead() throws Exception {
        System.out.println(built(SOME, new Log() {
            @Override
            public void addPCData(Reader reader, String systemId, int line) {
                say("text");
            }
        }));
    }

    static void textReadByHalf() throws Exception {
        System.out.println(built("<a>abcdef<b/>ghi</a>", new Log() {
            @Override
            public void addPCData(Reader reader, String systemId, int line) throws IOException {
                char[] some = new char[3];
                say("text " + new String(some, 0, Math.max(0, reader.read(some))));
            }
        }));
    }

    static void textClosed() throws Exception {
        System.out.println(built("<a>abc<b/>def</a>", new Log() {
            @Override
            public void addPCData(Reader reader, String systemId, int line) throws IOException {
                say("first " + (char) reader.read());
                reader.close();
            }
        }));
    }

    static void listOfNames() throws Exception {
        List<String> names = new ArrayList<>();
        built(SOME, new StdXMLBuilder() {
            @Override
            public void startElement(
                    String name, String prefix, String uri, String systemId, int line) {
                names.add(name);
                super.startElement(name, prefix, uri, systemId, line);
            }
        });
        See.that("names", names);
    }

    static void depth() throws Exception {
        Deque<String> open = new ArrayDeque<>();
        int[] most = {0};
        built("<a><b><c/></b><d/></a>", new StdXMLBuilder() {
            @Override
            public void startElement(
                    String name, String prefix, String uri, String systemId, int line) {
                open.push(name);
                most[0] = Math.max(most[0], open.size());
                super.startElement(name, prefix, uri, systemId, line);
            }

            @Override
            public void endElement(String name, String prefix, String uri) {
                See.that("end", open.pop());
                super.endElement(name, prefix, uri);
            }
        });
        See.that("most", most[0]);
    }

    static void ownPrototype() throws Exception {
        IXMLElement root = (IXMLElement) built(SOME, new StdXMLBuilder(new Loud("prototype")));
        See.that("class", root.getClass().getSimpleName());
        See.tree(root);
    }

    static void byHand() throws Exception {
        StdXMLBuilder builder = new StdXMLBuilder();
        builder.startBuilding("hand.xml", 1);
        builder.startElement("a", null, null, "hand.xml", 1);
        builder.addAttribute("k", null, null, "v", "CDATA");
        builder.elementAttributesProcessed("a", null, null);
        builder.addPCData(new StringReader("text"), "hand.xml", 2);
        builder.startElement("b", "p", "urn:p", "hand.xml", 3);
        builder.elementAttributesProcessed("b", "p", "urn:p");
        builder.endElement("b", "p", "urn:p");
        builder.endElement("a", null, null);
        See.tree((IXMLElement) builder.getResult());
    }

    static void byHandTwice() throws Exception {
        StdXMLBuilder builder = new StdXMLBuilder();
        for (String name : new String[] {"first", "second"}) {
            builder.startBuilding(null, 0);
            builder.startElement(name, null, null, null, 0);
            builder.endElement(name, null, null);
            See.tree((IXMLElement) builder.getResult());
        }
    }

    static void byHandWithSameAttribute() throws Exception {
        StdXMLBuilder builder = new StdXMLBuilder();
        builder.startBuilding(null, 0);
        builder.startElement("a", null, null, null, 4);
        builder.addAttribute("k", null, null, "1", "CDATA");
        try {
            builder.addAttribute("k", null, null, "2", "CDATA");
        } catch (Exception e) {
            See.thrown(e);
        }
    }

    static void factoryTakesBuilder() throws Exception {
        IXMLParser parser = XMLParserFactory.createDefaultXMLParser(new Log());
        parser.setReader(StdXMLReader.stringReader("<a><b/></a>"));
        System.out.println(parser.parse());
    }

    static void factoryTakesClass() throws Exception {
        IXMLParser parser =
                XMLParserFactory.createXMLParser("net.n3.nanoxml.StdXMLParser", new Log());
        parser.setReader(StdXMLReader.stringReader("<a>x</a>"));
        System.out.println(parser.parse());
    }

    static void factoryTakesOurClass() throws Exception {
        IXMLParser parser = XMLParserFactory.createXMLParser("Builders$Ours", new StdXMLBuilder());
        parser.setReader(StdXMLReader.stringReader("<a><b/></a>"));
        See.tree((IXMLElement) parser.parse());
    }

    static void factoryWithoutClass() {
        try {
            XMLParserFactory.createXMLParser("no.such.Parser", new Log());
        } catch (ReflectiveOperationException e) {
            See.that("thrown", e);
        }
    }

    static void factoryByProperty() throws Exception {
        System.setProperty(XMLParserFactory.CLASS_KEY, "Builders$Ours");
        See.that("class", XMLParserFactory.createDefaultXMLParser().getClass().getName());
    }

    /** A parser that says which elements it comes to. */
    public static final class Ours extends StdXMLParser {
        @Override
        protected void processElement(String defaultNamespace, java.util.Properties namespaces)
                throws Exception {
            See.that("element in line", getReader().getLineNr());
            super.processElement(defaultNamespace, namespaces);
        }
    }

    /** An element whose kind is handed on to its children. */
    private static final class Loud extends XMLElement {
        private static final long serialVersionUID = 1;

        Loud(String name) {
            super(name);
        }

        Loud(String name, String namespace, String systemId, int line) {
            super(name, namespace, systemId, line);
        }

        Loud() {}

        @Override
        public IXMLElement createElement(String name, String systemId, int line) {
            See.that("create", name);
            return new Loud(name, null, systemId, line);
        }

        @Override
        public IXMLElement createElement(String name, String namespace, String systemId, int line) {
            See.that("create", name + " in " + namespace);
            return new Loud(name, namespace, systemId, line);
        }

        @Override
        public IXMLElement createPCDataElement() {
            return new Loud();
        }
    }

    /** Everything a builder is told. It has no result before the end: parsers stop at one. */
    private static class Log implements IXMLBuilder {
        private final StringBuilder lines = new StringBuilder();
        private int open;
        private boolean complete;

        void say(String line) {
            lines.append(line).append('\n');
        }

        static String text(Reader reader) throws IOException {
            StringBuilder text = new StringBuilder();
            for (int c = reader.read(); c >= 0; c = reader.read()) {
                text.append((char) c);
            }
            return text.toString();
        }

        @Override
        public void startBuilding(String systemId, int line) {
            say("begin");
        }

        @Override
        public void newProcessingInstruction(String target, Reader reader) throws IOException {
            say("instruction " + target + " " + See.quoted(text(reader)));
        }

        void started(String name, String prefix, String uri, int line) {
            say("start " + name + " " + prefix + " " + uri);
        }

        void ended(String name) {
            say("end " + name);
        }

        @Override
        public void startElement(String name, String prefix, String uri, String systemId, int line) {
            open++;
            started(name, prefix, uri, line);
        }

        @Override
        public void addAttribute(String name, String prefix, String uri, String value, String type) {
            say("attribute " + name + " " + prefix + " " + uri + " " + value + " " + type);
        }

        @Override
        public void elementAttributesProcessed(String name, String prefix, String uri) {
            say("started " + name);
        }

        @Override
        public void endElement(String name, String prefix, String uri) {
            ended(name);
            open--;
            complete = open == 0;
        }

        @Override
        public void addPCData(Reader reader, String systemId, int line) throws IOException {
            say("text " + See.quoted(text(reader)));
        }

        @Override
        public Object getResult() {
            return complete ? lines.toString() : null;
        }
    }
}
