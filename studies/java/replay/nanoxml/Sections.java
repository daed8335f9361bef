import net.n3.nanoxml.IXMLElement;
import net.n3.nanoxml.IXMLParser;
import net.n3.nanoxml.StdXMLBuilder;

import java.io.Reader;

/** CDATA sections, comments and processing instructions. */
final class Sections {
    static void cdata() throws Exception {
        See.tree("<a><![CDATA[plain]]></a>");
    }

    static void cdataWithMarkup() throws Exception {
        See.tree("<a><![CDATA[<b>&amp;</b>]]></a>");
    }

    static void cdataOfNothing() throws Exception {
        See.tree("<a><![CDATA[]]></a>");
    }

    static void cdataWithBrackets() throws Exception {
        See.tree("<a><![CDATA[x]]y]>z]]]></a>");
    }

    static void cdataInText() throws Exception {
        See.tree("<a>one<![CDATA[two]]>three</a>");
    }

    static void cdataTwice() throws Exception {
        See.tree("<a><![CDATA[one]]><![CDATA[two]]></a>");
    }

    static void cdataBetweenChildren() throws Exception {
        See.tree("<a><b/><![CDATA[mid]]><c/></a>");
    }

    static void cdataOfManyLines() throws Exception {
        See.tree("<a><![CDATA[1\n2\n3\n]]><b/></a>");
    }

    static void cdataLong() throws Exception {
        See.that("length",
                See.parsed("<a><![CDATA[" + See.repeated("<]>&", 700) + "]]></a>").getContent().length());
    }

    static void cdataOpen() throws Exception {
        See.refused("<a><![CDATA[never closed</a>");
    }

    static void cdataMisspelt() throws Exception {
        See.refused("<a><![CDTA[x]]></a>");
    }

    static void cdataOutside() throws Exception {
        See.refused("<![CDATA[x]]><a/>");
    }

    static void comment() throws Exception {
        See.tree("<a><!-- nobody reads this --></a>");
    }

    static void commentBeforeRoot() throws Exception {
        See.tree("<!-- first --><a/>");
    }

    static void commentAfterRoot() throws Exception {
        See.tree("<a/><!-- last -->");
    }

    static void commentInText() throws Exception {
        See.tree("<a>one<!-- two -->three</a>");
    }

    static void commentWithMarkup() throws Exception {
        See.tree("<a><!-- <b> &x; ]]> --><c/></a>");
    }

    static void commentOfNothing() throws Exception {
        See.tree("<a><!----></a>");
    }

    static void commentWithDashes() throws Exception {
        See.refused("<a><!-- one -- two --></a>");
    }

    static void commentOfManyLines() throws Exception {
        See.that("line", See.parsed("<a><!--\n\n\n--><b/></a>").getChildAtIndex(0).getLineNr());
    }

    static void commentOpen() throws Exception {
        See.refused("<a><!-- never closed </a>");
    }

    static void instruction() throws Exception {
        See.tree("<a><?target some data?></a>");
    }

    static void instructionBeforeRoot() throws Exception {
        See.tree("<?style sheet='x'?><a/>");
    }

    static void instructionWithMarks() throws Exception {
        See.tree("<a><?php if (a > b) { echo '?'; } ?></a>");
    }

    static void instructionOfNothing() throws Exception {
        See.tree("<a><?target?></a>");
    }

    static void instructionOpen() throws Exception {
        See.refused("<a><?target never closed</a>");
    }

    static void instructionIsTold() throws Exception {
        IXMLParser parser = See.parser("<?one a b?><a><?two?><?three c?></a>");
        parser.setBuilder(new StdXMLBuilder() {
            @Override
            public void newProcessingInstruction(String target, Reader reader) {
                See.that("instruction", target + " " + See.quoted(rest(reader)));
            }
        });
        See.tree((IXMLElement) parser.parse());
    }

    static void instructionIsReadInPart() throws Exception {
        IXMLParser parser = See.parser("<a><?pi abcdef?><b/></a>");
        parser.setBuilder(new StdXMLBuilder() {
            @Override
            public void newProcessingInstruction(String target, Reader reader) {
                try {
                    See.that("first", (char) reader.read());
                    See.that("second", (char) reader.read());
                } catch (java.io.IOException e) {
                    See.thrown(e);
                }
            }
        });
        See.tree((IXMLElement) parser.parse());
    }

    static void everything() throws Exception {
        See.tree("<?xml version='1.0'?><!-- c --><?pi x?><!DOCTYPE a [<!ENTITY e 'E'>]>"
                + "<a>t&e;<![CDATA[<c>]]><!-- d --><?pi y?><b>u</b></a>");
    }

    private static String rest(Reader reader) {
        StringBuilder text = new StringBuilder();
        char[] chunk = new char[3];
        try {
            for (int n = reader.read(chunk); n >= 0; n = reader.read(chunk)) {
                text.append(chunk, 0, n);
            }
        } catch (java.io.IOException e) {
            text.append(e);
        }
        return text.toString();
    }
}
