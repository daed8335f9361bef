import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.IXMLEntityResolver;
import net.n3.nanoxml.IXMLParser;
import net.n3.nanoxml.IXMLReader;
import net.n3.nanoxml.StdXMLReader;
import net.n3.nanoxml.XMLEntityResolver;

import java.io.FileWriter;
import java.io.Reader;
import java.io.StringReader;
import java.io.Writer;
import java.util.TreeMap;

/** References of all kinds. */
final class Entities {
    static void predefined() throws Exception {
        See.tree("<a>&lt;&gt;&amp;&quot;&apos;</a>");
    }

    static void predefinedInAttribute() throws Exception {
        See.tree("<a b='&lt;&gt;&amp;&quot;&apos;'/>");
    }

    static void decimal() throws Exception {
        See.tree("<a>&#65;&#66;&#67;</a>");
    }

    static void hexadecimal() throws Exception {
        See.tree("<a>&#x41;&#x20AC;</a>");
    }

    static void characterInAttribute() throws Exception {
        See.tree("<a b='&#65;-&#x42;'/>");
    }

    static void characterThatIsMarkup() throws Exception {
        See.tree("<a>&#60;b/&#62;</a>");
    }

    static void internal() throws Exception {
        See.tree("<!DOCTYPE a [<!ENTITY who 'world'>]><a>hello &who;!</a>");
    }

    static void internalInAttribute() throws Exception {
        See.tree("<!DOCTYPE a [<!ENTITY who 'world'>]><a b='hello &who;'/>");
    }

    static void usedTwice() throws Exception {
        See.tree("<!DOCTYPE a [<!ENTITY x 'ab'>]><a>&x;&x;</a>");
    }

    static void withMarkup() throws Exception {
        See.tree("<!DOCTYPE a [<!ENTITY x '<b>in</b>'>]><a>&x;</a>");
    }

    static void withinAnother() throws Exception {
        See.tree("<!DOCTYPE a [<!ENTITY x '1&y;3'><!ENTITY y '2'>]><a>&x;</a>");
    }

    static void declaredTwice() throws Exception {
        See.tree("<!DOCTYPE a [<!ENTITY x 'first'><!ENTITY x 'second'>]><a>&x;</a>");
    }

    static void ofNothing() throws Exception {
        See.tree("<!DOCTYPE a [<!ENTITY x ''>]><a>[&x;]</a>");
    }

    static void manyEntities() throws Exception {
        StringBuilder document = new StringBuilder("<!DOCTYPE a [");
        for (int i = 0; i < 12; i++) {
            document.append("<!ENTITY e").append(i).append(" '").append(i * i).append("'>\n");
        }
        document.append("]><a>");
        for (int i = 11; i >= 0; i--) {
            document.append("&e").append(i).append("; ");
        }
        See.tree(document.append("</a>").toString());
    }

    static void undeclared() throws Exception {
        See.refused("<a>&nobody;</a>");
    }

    static void undeclaredInAttribute() throws Exception {
        See.refused("<a b='&nobody;'/>");
    }

    static void noSemicolon() throws Exception {
        See.refused("<a>&lt b</a>");
    }

    static void ampersandAlone() throws Exception {
        See.refused("<a>this & that</a>");
    }

    static void noNumber() throws Exception {
        See.refused("<a>&#xyz;</a>");
    }

    static void parameter() throws Exception {
        See.tree("<!DOCTYPE a [<!ENTITY % p '<!ENTITY x \"from p\">'> %p;]><a>&x;</a>");
    }

    static void parameterWithAttributes() throws Exception {
        See.tree("<!DOCTYPE a [<!ENTITY % p '<!ATTLIST a b CDATA \"dflt\">'> %p;]><a/>");
    }

    static void undeclaredParameter() throws Exception {
        See.refused("<!DOCTYPE a [ %nobody; ]><a/>");
    }

    static void externalFromFile() throws Exception {
        try (Writer file = new FileWriter("part.xml")) {
            file.write("<part n='1'>outside</part>");
        }
        See.tree("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:part.xml'>]><a>&x;</a>");
    }

    static void externalThatIsMissing() throws Exception {
        See.refused("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:nowhere.xml'>]><a>&x;</a>");
    }

    static void externalInAttribute() throws Exception {
        See.refused("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:part.xml'>]><a b='&x;'/>");
    }

    static void resolverByHand() throws Exception {
        XMLEntityResolver resolver = new XMLEntityResolver();
        resolver.addInternalEntity("x", "value of x");
        resolver.addExternalEntity("y", "-//PUBLIC//Y", "file:y.xml");
        See.that("x is external", resolver.isExternalEntity("x"));
        See.that("y is external", resolver.isExternalEntity("y"));
        See.that("z is external", resolver.isExternalEntity("z"));
        Reader reader = resolver.getEntity(StdXMLReader.stringReader(""), "x");
        char[] text = new char[40];
        See.that("x", new String(text, 0, reader.read(text)));
        See.that("z", resolver.getEntity(StdXMLReader.stringReader(""), "z"));
        Reader predefined = resolver.getEntity(StdXMLReader.stringReader(""), "lt");
        See.that("lt", predefined.read(text) + See.quoted(new String(text, 0, 5)));
    }

    static void resolverGivenEntities() throws Exception {
        IXMLParser parser = See.parser("<a>&year; &unit;</a>");
        XMLEntityResolver resolver = new XMLEntityResolver();
        resolver.addInternalEntity("year", "1999");
        resolver.addInternalEntity("unit", "<unit>m</unit>");
        parser.setResolver(resolver);
        See.tree((IXMLElement) parser.parse());
    }

    static void ownResolver() throws Exception {
        IXMLParser parser = See.parser("<a>&first; and &second;</a>");
        parser.setResolver(new Spoken());
        See.tree((IXMLElement) parser.parse());
    }

    static void ownResolverIsTold() throws Exception {
        IXMLParser parser = See.parser(
                "<!DOCTYPE a [<!ENTITY i 'in'><!ENTITY o PUBLIC '-//o' 'out.xml'>]><a>&i;&o;</a>");
        Spoken resolver = new Spoken();
        parser.setResolver(resolver);
        See.tree((IXMLElement) parser.parse());
        See.that("told", resolver.told);
    }

    static void ownResolverThrows() throws Exception {
        IXMLParser parser = See.parser("<a>&broken;</a>");
        parser.setResolver(new XMLEntityResolver() {
            @Override
            public Reader getEntity(IXMLReader reader, String name) {
                throw new IllegalStateException("no " + name + " today");
            }
        });
        try {
            parser.parse();
        } catch (Exception e) {
            See.thrown(e);
        }
    }

    static void resolverOpensExternalOnes() throws Exception {
        IXMLParser parser = See.parser(
                "<!DOCTYPE a [<!ENTITY x PUBLIC 'one' 'two'>]><a>&x;</a>");
        parser.setResolver(new XMLEntityResolver() {
            @Override
            protected Reader openExternalEntity(IXMLReader reader, String publicId, String systemId) {
                return new StringReader("<opened public='" + publicId + "' system='" + systemId + "'/>");
            }
        });
        See.tree((IXMLElement) parser.parse());
    }

    /** Every entity is its own name, in brackets. */
    private static final class Spoken implements IXMLEntityResolver {
        final TreeMap<String, String> told = new TreeMap<>();

        @Override
        public void addInternalEntity(String name, String value) {
            told.put(name, "internal " + value);
        }

        @Override
        public void addExternalEntity(String name, String publicId, String systemId) {
            told.put(name, "external " + publicId + " " + systemId);
        }

        @Override
        public Reader getEntity(IXMLReader reader, String name) {
            return new StringReader("[" + name + "]");
        }

        @Override
        public boolean isExternalEntity(String name) {
            return false;
        }
    }
}
