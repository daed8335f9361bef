import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.IXMLReader;
import net.n3.nanoxml.StdXMLReader;
import net.n3.nanoxml.XMLException;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.CharArrayReader;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.StringReader;
import java.io.Writer;
import java.net.MalformedURLException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/** Streams and readers of several kinds, system ids and line numbers. */
final class Sources {
    private static void read(IXMLReader reader) throws Exception {
        try {
            See.tree((IXMLElement) See.parser(reader).parse());
        } catch (XMLException e) {
            See.thrown(e);
        }
    }

    private static void bytes(String document, Charset charset) throws Exception {
        read(new StdXMLReader(new ByteArrayInputStream(document.getBytes(charset))));
    }

    static void string() throws Exception {
        read(StdXMLReader.stringReader("<a>string</a>"));
    }

    static void stringReader() throws Exception {
        read(new StdXMLReader(new StringReader("<a>reader</a>")));
    }

    static void bufferedReader() throws Exception {
        read(new StdXMLReader(new BufferedReader(new StringReader("<a>buffered</a>"), 4)));
    }

    static void characters() throws Exception {
        read(new StdXMLReader(new CharArrayReader("<a>characters</a>".toCharArray())));
    }

    static void bytesWithoutEncoding() throws Exception {
        bytes("<a>caf\u00e9</a>", StandardCharsets.UTF_8);
    }

    static void bytesOfUtf8() throws Exception {
        bytes("<?xml version='1.0' encoding='UTF-8'?><a>caf\u00e9 \u20ac</a>", StandardCharsets.UTF_8);
    }

    static void bytesOfLatin1() throws Exception {
        bytes("<?xml version='1.0' encoding='ISO-8859-1'?><a>caf\u00e9</a>", StandardCharsets.ISO_8859_1);
    }

    static void bytesOfAscii() throws Exception {
        bytes("<?xml version='1.0' encoding='US-ASCII'?><a>plain</a>", StandardCharsets.US_ASCII);
    }

    static void bytesOfUtf16() throws Exception {
        bytes("<?xml version='1.0' encoding='UTF-16'?><a>wide \u20ac</a>", StandardCharsets.UTF_16);
    }

    static void bytesOfLittleEndian() throws Exception {
        byte[] text = "<a>little</a>".getBytes(StandardCharsets.UTF_16LE);
        byte[] marked = new byte[text.length + 2];
        marked[0] = (byte) 0xff;
        marked[1] = (byte) 0xfe;
        System.arraycopy(text, 0, marked, 2, text.length);
        read(new StdXMLReader(new ByteArrayInputStream(marked)));
    }

    static void bytesWithMark() throws Exception {
        bytes("\ufeff<a>marked</a>", StandardCharsets.UTF_8);
    }

    static void bytesOfUnknownEncoding() throws Exception {
        bytes("<?xml version='1.0' encoding='X-NONE'?><a>x</a>", StandardCharsets.US_ASCII);
    }

    static void bytesOfNothing() throws Exception {
        try {
            bytes("", StandardCharsets.US_ASCII);
        } catch (IOException e) {
            See.thrown(e);
        }
    }

    static void bytesCutInDeclaration() throws Exception {
        try {
            bytes("<?xml version='1.0'", StandardCharsets.US_ASCII);
        } catch (IOException e) {
            See.thrown(e);
        }
    }

    static void file() throws Exception {
        write("doc.xml", "<a>\n<b>file</b></a>");
        IXMLElement a = (IXMLElement) See.parser(StdXMLReader.fileReader("doc.xml")).parse();
        See.tree(a);
        String systemId = a.getFirstChildNamed("b").getSystemID();
        See.that("line", a.getFirstChildNamed("b").getLineNr());
        See.that("system id ends", systemId == null ? null : systemId.endsWith("doc.xml"));
    }

    static void fileThatIsMissing() throws Exception {
        try {
            StdXMLReader.fileReader("missing.xml");
        } catch (FileNotFoundException e) {
            See.that("thrown", e.getClass().getName());
        }
    }

    static void fileAsStream() throws Exception {
        write("stream.xml", "<?xml version='1.0' encoding='UTF-8'?>\n<a>stream</a>");
        try (InputStream in = new FileInputStream("stream.xml")) {
            read(new StdXMLReader(in));
        }
    }

    static void fileAsReader() throws Exception {
        write("reader.xml", "<a>file reader</a>");
        try (Reader in = new InputStreamReader(new FileInputStream("reader.xml"), "UTF-8")) {
            read(new StdXMLReader(in));
        }
    }

    static void systemId() throws Exception {
        IXMLReader reader = StdXMLReader.stringReader("<a/>");
        reader.setSystemID("file:/some/where.xml");
        reader.setPublicID("-//where");
        See.that("system", reader.getSystemID());
        See.that("public", reader.getPublicID());
        See.that("of element", ((IXMLElement) See.parser(reader).parse()).getSystemID());
    }

    static void systemIdInException() throws Exception {
        IXMLReader reader = StdXMLReader.stringReader("<a>\n</b>");
        reader.setSystemID("file:/some/bad.xml");
        read(reader);
    }

    static void systemIdThatIsNone() throws Exception {
        IXMLReader reader = StdXMLReader.stringReader("<a/>");
        try {
            reader.setSystemID("no-such-scheme://x");
            See.that("system", reader.getSystemID());
        } catch (MalformedURLException e) {
            See.thrown(e);
        }
    }

    static void opened() throws Exception {
        write("base.xml", "<a>by id</a>");
        read(new StdXMLReader(null, "file:base.xml"));
    }

    static void openedMissing() throws Exception {
        try {
            new StdXMLReader("-//p", "file:never.xml");
        } catch (FileNotFoundException e) {
            See.that("thrown", e.getClass().getName());
        }
    }

    static void characterByCharacter() throws Exception {
        IXMLReader reader = StdXMLReader.stringReader("ab\ncd");
        StringBuilder seen = new StringBuilder();
        while (!reader.atEOF()) {
            seen.append(See.quoted(String.valueOf(reader.read()))).append(reader.getLineNr());
        }
        See.that("seen", seen);
        try {
            reader.read();
        } catch (IOException e) {
            See.thrown(e);
        }
    }

    static void unread() throws Exception {
        IXMLReader reader = StdXMLReader.stringReader("xyz");
        char x = reader.read();
        char y = reader.read();
        reader.unread(y);
        reader.unread(x);
        See.that("again", "" + reader.read() + reader.read() + reader.read());
        See.that("end", reader.atEOFOfCurrentStream());
    }

    static void streamsWithinStreams() throws Exception {
        IXMLReader reader = StdXMLReader.stringReader("ac");
        StringBuilder seen = new StringBuilder().append(reader.read());
        See.that("level", reader.getStreamLevel());
        reader.startNewStream(new StringReader("b"));
        See.that("level", reader.getStreamLevel());
        seen.append(reader.read());
        See.that("end of inner", reader.atEOFOfCurrentStream());
        seen.append(reader.read());
        See.that("level", reader.getStreamLevel());
        See.that("seen", seen);
    }

    static void manyStreams() throws Exception {
        IXMLReader reader = StdXMLReader.stringReader("0");
        for (int i = 1; i < 9; i++) {
            reader.startNewStream(new StringReader(String.valueOf(i)), i % 2 == 0);
        }
        StringBuilder seen = new StringBuilder();
        while (!reader.atEOF()) {
            seen.append(reader.read());
        }
        See.that("seen", seen);
    }

    static void lines() throws Exception {
        IXMLReader reader = StdXMLReader.stringReader("1\n2\n\n4");
        See.that("before", reader.getLineNr());
        while (!reader.atEOF()) {
            reader.read();
        }
        See.that("after", reader.getLineNr());
    }

    static void ownReader() throws Exception {
        int[] calls = {0};
        read(new StdXMLReader(new Reader() {
            private final String text = "<a>own</a>";
            private int at;

            @Override
            public int read(char[] into, int offset, int length) {
                calls[0]++;
                if (at == text.length()) {
                    return -1;
                }
                into[offset] = text.charAt(at++);
                return 1;
            }

            @Override
            public void close() {
                See.that("closed", true);
            }
        }));
        See.that("calls at least", calls[0] >= 10);
    }

    static void ownReaderThatBreaks() throws Exception {
        read(new StdXMLReader(new Reader() {
            private int left = 6;

            @Override
            public int read(char[] into, int offset, int length) throws IOException {
                if (left == 0) {
                    throw new IOException("line is cut");
                }
                into[offset] = "<a>xxx".charAt(6 - left);
                left--;
                return 1;
            }

            @Override
            public void close() {}
        }));
    }

    static void ownStream() throws Exception {
        byte[] document = "<a k='1'>own stream</a>".getBytes(StandardCharsets.US_ASCII);
        read(new StdXMLReader(new InputStream() {
            private int at;

            @Override
            public int read() {
                return at < document.length ? document[at++] : -1;
            }
        }));
    }

    static void ownXmlReader() throws Exception {
        read(new StdXMLReader(new StringReader("<A>Loud</A>")) {
            @Override
            public char read() throws IOException {
                return Character.toLowerCase(super.read());
            }
        });
    }

    private static void write(String name, String text) throws IOException {
        try (Writer file = new FileWriter(name)) {
            file.write(text);
        }
    }
}
