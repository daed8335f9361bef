import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.IXMLEntityResolver;
import net.n3.nanoxml.IXMLParser;
import net.n3.nanoxml.IXMLReader;
import net.n3.nanoxml.IXMLValidator;
import net.n3.nanoxml.NonValidator;
import net.n3.nanoxml.ValidatorPlugin;
import net.n3.nanoxml.XMLValidationException;

import java.util.Properties;

/** Validators of our own, and the library's plugin. */
final class Validators {
    private static final String SOME = "<a x='1'>t<b y='2'/></a>";

    private static void validated(String document, IXMLValidator validator) throws Exception {
        IXMLParser parser = See.parser(document);
        parser.setValidator(validator);
        try {
            See.tree((IXMLElement) parser.parse());
        } catch (Exception e) {
            See.thrown(e);
        }
    }

    static void log() throws Exception {
        validated(SOME, new Log());
    }

    static void logOfDtd() throws Exception {
        validated("<!DOCTYPE a [<!ELEMENT a ANY>]><a/>", new Log());
    }

    static void addsAttribute() throws Exception {
        validated(SOME, new NonValidator() {
            @Override
            public void elementAttributesProcessed(
                    String name, Properties extra, String systemId, int line) {
                extra.setProperty("seen", "yes");
                super.elementAttributesProcessed(name, extra, systemId, line);
            }
        });
    }

    static void refusesElement() throws Exception {
        validated(SOME, new Log() {
            @Override
            public void elementStarted(String name, String systemId, int line) throws Exception {
                if (name.equals("b")) {
                    throw new XMLValidationException(XMLValidationException.UNEXPECTED_ELEMENT,
                            systemId, line, name, null, null, "no " + name + " here");
                }
            }
        });
    }

    static void refusesAttribute() throws Exception {
        validated(SOME, new Log() {
            @Override
            public void attributeAdded(String key, String value, String systemId, int line)
                    throws Exception {
                if (value.equals("2")) {
                    throw new XMLValidationException(
                            XMLValidationException.ATTRIBUTE_WITH_INVALID_VALUE, systemId, line,
                            "b", key, value, "not " + value);
                }
            }
        });
    }

    static void breaks() throws Exception {
        validated(SOME, new Log() {
            @Override
            public void PCDataAdded(String systemId, int line) {
                throw new ArithmeticException("in the validator");
            }
        });
    }

    static void plugin() throws Exception {
        ValidatorPlugin plugin = new ValidatorPlugin();
        Log log = new Log();
        plugin.setDelegate(log);
        See.that("delegate", plugin.getDelegate() == log);
        validated(SOME, plugin);
    }

    static void pluginWithoutDelegate() throws Exception {
        validated(SOME, new ValidatorPlugin());
    }

    static void pluginOverDefault() throws Exception {
        ValidatorPlugin plugin = new ValidatorPlugin();
        plugin.setDelegate(new NonValidator());
        validated("<!DOCTYPE a [<!ATTLIST a k CDATA 'v'>]><a/>", plugin);
    }

    static void pluginOverPlugin() throws Exception {
        ValidatorPlugin inner = new ValidatorPlugin();
        inner.setDelegate(new Log());
        ValidatorPlugin outer = new ValidatorPlugin();
        outer.setDelegate(inner);
        validated("<a/>", outer);
    }

    static void pluginResolver() throws Exception {
        ValidatorPlugin plugin = new ValidatorPlugin();
        plugin.setDelegate(new NonValidator());
        IXMLEntityResolver resolver = new net.n3.nanoxml.XMLEntityResolver();
        plugin.setParameterEntityResolver(resolver);
        See.that("kept", plugin.getParameterEntityResolver() == resolver);
    }

    static void pluginMissingElement() {
        try {
            new ValidatorPlugin().missingElement("s.xml", 1, "parent", "child");
        } catch (XMLValidationException e) {
            See.thrown(e);
        }
    }

    static void pluginUnexpectedElement() {
        try {
            new ValidatorPlugin().unexpectedElement("s.xml", 2, "parent", "child");
        } catch (XMLValidationException e) {
            See.thrown(e);
        }
    }

    static void pluginMissingAttribute() {
        try {
            new ValidatorPlugin().missingAttribute("s.xml", 3, "element", "key");
        } catch (XMLValidationException e) {
            See.thrown(e);
        }
    }

    static void pluginUnexpectedAttribute() {
        try {
            new ValidatorPlugin().unexpectedAttribute("s.xml", 4, "element", "key");
        } catch (XMLValidationException e) {
            See.thrown(e);
        }
    }

    static void pluginInvalidValue() {
        try {
            new ValidatorPlugin().invalidAttributeValue("s.xml", 5, "element", "key", "value");
        } catch (XMLValidationException e) {
            See.thrown(e);
        }
    }

    static void pluginMissingText() {
        try {
            new ValidatorPlugin().missingPCData("s.xml", 6, "parent");
        } catch (XMLValidationException e) {
            See.thrown(e);
        }
    }

    static void pluginUnexpectedText() {
        try {
            new ValidatorPlugin().unexpectedPCData("s.xml", 7, "parent");
        } catch (XMLValidationException e) {
            See.thrown(e);
        }
    }

    static void pluginOtherMistake() {
        try {
            new ValidatorPlugin().validationError("s.xml", 8, "odd", "element", "key", "value");
        } catch (XMLValidationException e) {
            See.thrown(e);
        }
    }

    static void subclassOfPlugin() throws Exception {
        ValidatorPlugin plugin = new ValidatorPlugin() {
            @Override
            public void elementStarted(String name, String systemId, int line) throws Exception {
                if (name.equals("b")) {
                    unexpectedElement(systemId, line, "a", name);
                }
                super.elementStarted(name, systemId, line);
            }
        };
        plugin.setDelegate(new NonValidator());
        validated(SOME, plugin);
    }

    static void counts() throws Exception {
        Log log = new Log();
        validated("<a><b/><b/><c>t</c></a>", log);
        See.that("elements", log.elements);
    }

    /** Everything a validator is told. */
    private static class Log implements IXMLValidator {
        int elements;

        private IXMLEntityResolver resolver;

        @Override
        public void setParameterEntityResolver(IXMLEntityResolver resolver) {
            this.resolver = resolver;
        }

        @Override
        public IXMLEntityResolver getParameterEntityResolver() {
            return resolver;
        }

        @Override
        public void parseDTD(String publicId, IXMLReader reader, IXMLEntityResolver entities,
                boolean external) throws Exception {
            See.that("dtd", publicId + " " + external);
            for (char c = reader.read(); c != ']'; c = reader.read()) {
                See.that("character", c);
            }
        }

        @Override
        public void elementStarted(String name, String systemId, int line) throws Exception {
            elements++;
            See.that("started", name + " in " + line);
        }

        @Override
        public void elementEnded(String name, String systemId, int line) {
            See.that("ended", name);
        }

        @Override
        public void attributeAdded(String key, String value, String systemId, int line)
                throws Exception {
            See.that("attribute", key + "=" + value);
        }

        @Override
        public void elementAttributesProcessed(
                String name, Properties extra, String systemId, int line) {
            See.that("processed", name + " " + extra);
        }

        @Override
        public void PCDataAdded(String systemId, int line) {
            See.that("text in", line);
        }
    }
}
