/** Documents with mistakes: what is said of each. */
final class Malformed {
    static void nothing() throws Exception {
        See.refused("");
    }

    static void blanksOnly() throws Exception {
        See.refused("  \n ");
    }

    static void textOnly() throws Exception {
        See.refused("no markup");
    }

    static void declarationOnly() throws Exception {
        See.refused("<?xml version='1.0'?>");
    }

    static void commentOnly() throws Exception {
        See.refused("<!-- c -->");
    }

    static void openTag() throws Exception {
        See.refused("<a");
    }

    static void openElement() throws Exception {
        See.refused("<a>");
    }

    static void openChild() throws Exception {
        See.refused("<a><b></a>");
    }

    static void openEndTag() throws Exception {
        See.refused("<a></a");
    }

    static void openText() throws Exception {
        See.refused("<a>text");
    }

    static void otherEndTag() throws Exception {
        See.refused("<a></b>");
    }

    static void crossedTags() throws Exception {
        See.refused("<a><b></a></b>");
    }

    static void endTagOnly() throws Exception {
        See.refused("</a>");
    }

    static void endTagWithAttribute() throws Exception {
        See.refused("<a></a b='1'>");
    }

    static void attributeWithoutValue() throws Exception {
        See.refused("<a b/>");
    }

    static void attributeWithoutQuotes() throws Exception {
        See.refused("<a b=1/>");
    }

    static void attributeWithoutName() throws Exception {
        See.refused("<a ='1'/>");
    }

    static void attributeOpen() throws Exception {
        See.refused("<a b='1/>");
    }

    static void attributeOfTwoQuotes() throws Exception {
        See.refused("<a b='1\"/>");
    }

    static void attributesWithoutBlank() throws Exception {
        See.refused("<a b='1'c='2'/>");
    }

    static void attributeTwice() throws Exception {
        See.refused("<a b='1' b='2'/>");
    }

    static void attributeWithTag() throws Exception {
        See.refused("<a b='<c>'/>");
    }

    static void nameOfDigits() throws Exception {
        See.refused("<1a/>");
    }

    static void noName() throws Exception {
        See.refused("< a/>");
    }

    static void emptyTag() throws Exception {
        See.refused("<>");
    }

    static void slashInTheMiddle() throws Exception {
        See.refused("<a/ >");
    }

    static void textBeforeRoot() throws Exception {
        See.refused("text<a/>");
    }

    static void textAfterRoot() throws Exception {
        See.refused("<a/>text");
    }

    static void referenceBeforeRoot() throws Exception {
        See.refused("&amp;<a/>");
    }

    static void bangWithoutWord() throws Exception {
        See.refused("<a><!></a>");
    }

    static void bangWithOtherWord() throws Exception {
        See.refused("<a><!WHAT></a>");
    }

    static void docTypeOpen() throws Exception {
        See.refused("<!DOCTYPE a");
    }

    static void docTypeMisspelt() throws Exception {
        See.refused("<!DOCTIPE a><a/>");
    }

    static void docTypeWithoutName() throws Exception {
        See.refused("<!DOCTYPE><a/>");
    }

    static void systemIdWithoutQuotes() throws Exception {
        See.refused("<!DOCTYPE a SYSTEM x.dtd><a/>");
    }

    static void systemMisspelt() throws Exception {
        See.refused("<!DOCTYPE a SISTEM 'x.dtd'><a/>");
    }

    static void publicWithoutSystemId() throws Exception {
        See.refused("<!DOCTYPE a PUBLIC 'x'><a/>");
    }

    static void declarationTwice() throws Exception {
        See.refused("<?xml version='1.0'?><?xml version='1.0'?><a/>");
    }

    static void mistakeInTheThirdLine() throws Exception {
        See.refused("<a>\n<b/>\n<c></d>\n</a>");
    }

    static void mistakeInAnEntity() throws Exception {
        See.refused("<!DOCTYPE a [<!ENTITY x '<b>'>]><a>&x;</a>");
    }

    static void cutOff() throws Exception {
        String document = "<a b='1'><c>x</c></a>";
        for (int end = 1; end < document.length(); end += 4) {
            See.refused(document.substring(0, end));
        }
    }
}
