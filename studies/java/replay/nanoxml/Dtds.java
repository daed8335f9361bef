import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.IXMLParser;
import net.n3.nanoxml.NonValidator;
import net.n3.nanoxml.StdXMLReader;
import net.n3.nanoxml.XMLEntityResolver;

import java.io.FileWriter;
import java.io.Reader;
import java.io.StringReader;
import java.io.Writer;

/** Document types: what is in them, and what they do. */
final class Dtds {
    /** A document whose external subset is a text. */
    private static void withSubset(String subset, String document) throws Exception {
        IXMLParser parser = See.parser(new StdXMLReader(new StringReader(document)) {
            @Override
            public Reader openStream(String publicId, String systemId) {
                return new StringReader(subset);
            }
        });
        try {
            See.tree((IXMLElement) parser.parse());
        } catch (net.n3.nanoxml.XMLException e) {
            See.thrown(e);
        }
    }

    static void nameOnly() throws Exception {
        See.tree("<!DOCTYPE a><a/>");
    }

    static void emptySubset() throws Exception {
        See.tree("<!DOCTYPE a []><a/>");
    }

    static void blanksEverywhere() throws Exception {
        See.tree("<!DOCTYPE  a  [ \n\n ] >\n<a/>");
    }

    static void elements() throws Exception {
        See.tree("<!DOCTYPE a [<!ELEMENT a (b|c)*><!ELEMENT b EMPTY><!ELEMENT c (#PCDATA)>]>"
                + "<a><b/><c>x</c></a>");
    }

    static void elementAny() throws Exception {
        See.tree("<!DOCTYPE a [<!ELEMENT a ANY>]><a><z/></a>");
    }

    static void documentThatIsNotValid() throws Exception {
        See.tree("<!DOCTYPE a [<!ELEMENT a EMPTY>]><a><b/></a>");
    }

    static void attributeDefault() throws Exception {
        See.tree("<!DOCTYPE a [<!ATTLIST a color CDATA 'red'>]><a/>");
    }

    static void attributeDefaultNotUsed() throws Exception {
        See.tree("<!DOCTYPE a [<!ATTLIST a color CDATA 'red'>]><a color='blue'/>");
    }

    static void attributeDefaultsOfSeveral() throws Exception {
        See.tree("<!DOCTYPE a [<!ATTLIST a x CDATA '1' y CDATA '2'>"
                + "<!ATTLIST b z CDATA '3'>]><a><b/><b z='4'/><c/></a>");
    }

    static void attributeImplied() throws Exception {
        See.tree("<!DOCTYPE a [<!ATTLIST a x CDATA #IMPLIED>]><a/>");
    }

    static void attributeRequired() throws Exception {
        See.tree("<!DOCTYPE a [<!ATTLIST a x CDATA #REQUIRED>]><a/>");
    }

    static void attributeFixed() throws Exception {
        See.tree("<!DOCTYPE a [<!ATTLIST a x CDATA #FIXED 'fix'>]><a/>");
    }

    static void attributeEnumerated() throws Exception {
        See.tree("<!DOCTYPE a [<!ATTLIST a dir (left|right) 'left'>]><a/>");
    }

    static void attributeTypes() throws Exception {
        See.tree("<!DOCTYPE a [<!ATTLIST a i ID #IMPLIED r IDREF #IMPLIED n NMTOKEN 'tok'"
                + " m NMTOKENS 'one two'>]><a i='k'/>");
    }

    static void attributeListsTwice() throws Exception {
        See.tree("<!DOCTYPE a [<!ATTLIST a x CDATA '1'><!ATTLIST a y CDATA '2'>]><a/>");
    }

    static void attributeDefaultWithReference() throws Exception {
        See.tree("<!DOCTYPE a [<!ATTLIST a x CDATA 'a&amp;b&#67;'>]><a/>");
    }

    static void comments() throws Exception {
        See.tree("<!DOCTYPE a [<!-- one --><!ATTLIST a x CDATA '1'><!-- two -->]><a/>");
    }

    static void instruction() throws Exception {
        See.tree("<!DOCTYPE a [<?tool does this?>]><a/>");
    }

    static void notation() throws Exception {
        See.tree("<!DOCTYPE a [<!NOTATION gif SYSTEM 'viewer'>]><a/>");
    }

    static void systemIdThatIsMissing() throws Exception {
        See.refused("<!DOCTYPE a SYSTEM 'file:none.dtd'><a/>");
    }

    static void systemIdOfFile() throws Exception {
        try (Writer file = new FileWriter("defaults.dtd")) {
            file.write("<!ATTLIST a from CDATA 'a file'>");
        }
        See.tree("<!DOCTYPE a SYSTEM 'file:defaults.dtd'><a/>");
    }

    static void publicId() throws Exception {
        withSubset("<!ATTLIST a from CDATA 'public'>", "<!DOCTYPE a PUBLIC '-//x//y' 'x.dtd'><a/>");
    }

    static void externalSubset() throws Exception {
        withSubset("<!ATTLIST a x CDATA 'ext'>", "<!DOCTYPE a SYSTEM 'x.dtd'><a/>");
    }

    static void bothSubsets() throws Exception {
        withSubset("<!ATTLIST a x CDATA 'ext' y CDATA 'too'>",
                "<!DOCTYPE a SYSTEM 'x.dtd' [<!ATTLIST a x CDATA 'int'>]><a/>");
    }

    static void includedSection() throws Exception {
        withSubset("<![INCLUDE[<!ATTLIST a x CDATA 'in'>]]>", "<!DOCTYPE a SYSTEM 'x.dtd'><a/>");
    }

    static void ignoredSection() throws Exception {
        withSubset("<![IGNORE[<!ATTLIST a x CDATA 'in'>]]><!ATTLIST a y CDATA 'out'>",
                "<!DOCTYPE a SYSTEM 'x.dtd'><a/>");
    }

    static void sectionByParameter() throws Exception {
        withSubset("<!ENTITY % which 'INCLUDE'><![ %which; [<!ATTLIST a x CDATA 'in'>]]>",
                "<!DOCTYPE a SYSTEM 'x.dtd'><a/>");
    }

    static void sectionOfNoKind() throws Exception {
        withSubset("<![PERHAPS[<!ATTLIST a x CDATA 'in'>]]>", "<!DOCTYPE a SYSTEM 'x.dtd'><a/>");
    }

    static void sectionInInternalSubset() throws Exception {
        See.refused("<!DOCTYPE a [<![INCLUDE[<!ATTLIST a x CDATA 'in'>]]>]><a/>");
    }

    static void entityInExternalSubset() throws Exception {
        withSubset("<!ENTITY who 'subset'>", "<!DOCTYPE a SYSTEM 'x.dtd'><a>&who;</a>");
    }

    static void brokenAttributeList() throws Exception {
        See.refused("<!DOCTYPE a [<!ATTLIST a x CDATA>]><a/>");
    }

    static void brokenEntity() throws Exception {
        See.refused("<!DOCTYPE a [<!ENTITY x>]><a>&x;</a>");
    }

    static void brokenKeyword() throws Exception {
        See.refused("<!DOCTYPE a [<!ELEPHANT a>]><a/>");
    }

    static void openSubset() throws Exception {
        See.refused("<!DOCTYPE a [<!ELEMENT a ANY>");
    }

    static void afterRoot() throws Exception {
        See.refused("<a><!DOCTYPE a></a>");
    }

    static void parameterResolver() throws Exception {
        IXMLParser parser = See.parser("<!DOCTYPE a [ %given; ]><a/>");
        XMLEntityResolver resolver = new XMLEntityResolver();
        resolver.addInternalEntity("given", "<!ATTLIST a x CDATA 'by resolver'>");
        parser.getValidator().setParameterEntityResolver(resolver);
        See.that("kept", parser.getValidator().getParameterEntityResolver() == resolver);
        See.tree((IXMLElement) parser.parse());
    }

    static void validatorByHand() throws Exception {
        NonValidator validator = new NonValidator();
        validator.parseDTD(null, StdXMLReader.stringReader("<!ATTLIST e k CDATA 'v'>]"),
                new XMLEntityResolver(), false);
        java.util.Properties extra = new java.util.Properties();
        validator.elementStarted("e", null, 1);
        validator.attributeAdded("other", "x", null, 1);
        validator.elementAttributesProcessed("e", extra, null, 1);
        validator.PCDataAdded(null, 1);
        validator.elementEnded("e", null, 1);
        See.that("extra", extra);
    }
}
