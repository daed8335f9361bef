package bug;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class Driver {
    @Test
    void chaptersAndNotesOfABook() {
        StringBuilder book = new StringBuilder("<book>");
        for (int i = 1; i <= 20; i++) {
            book.append("<chapter id='c").append(i).append("'><title>").append(i).append("</title>");
            for (int j = 0; j < i % 3; j++) {
                book.append("<note>n").append(j).append("</note>");
            }
            book.append("<end/></chapter>");
        }
        Element root = new Parser(book + "<index/></book>").parse();
        assertEquals("book", root.getName());
        assertEquals(21, root.getChildren().size());
        assertNull(root.getFirstChildNamed("preface"));
        assertEquals(20, root.getChildrenNamed("chapter").size());
        int notes = 0;
        for (Element chapter : root.getChildrenNamed("chapter")) {
            notes += chapter.getChildrenNamed("note").size();
        }
        assertEquals(21, notes);
        assertEquals(1, root.getChildrenNamed("index").size());
    }
}
