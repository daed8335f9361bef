package bug;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.apache.commons.io.IOUtils;
import org.apache.commons.io.input.CharSequenceInputStream;
import org.junit.jupiter.api.Test;

class Driver {
    @Test
    void theHeaderIsReadTwice() throws IOException {
        StringBuilder text = new StringBuilder("v1;");
        for (int i = 0; i < 5; i++) {
            text.append("row ").append(i).append(';');
        }
        assertEquals(text.toString(),
                IOUtils.toString(new CharSequenceInputStream(text, "UTF-8", 8), "UTF-8"));
        CharSequenceInputStream in = new CharSequenceInputStream(text, "UTF-8", 8);
        assertTrue(in.markSupported());
        assertEquals('v', in.read());
        in.mark(100);
        byte[] header = new byte[2];
        assertEquals(2, in.read(header));
        assertEquals("1;", new String(header, "UTF-8"));
        in.reset();
        assertEquals(text.substring(1), IOUtils.toString(in, "UTF-8"));
        in.close();
    }
}
