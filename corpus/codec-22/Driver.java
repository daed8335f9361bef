package bug;

import java.nio.charset.StandardCharsets;
import org.apache.commons.codec.binary.Base64;

/** Decodes what looks like Base64 among a few texts. */
public class Driver {
    public static void main(String[] args) {
        String[] texts = {"plain", "with space", "caf\u00e9", "\u00fcber"};
        int decoded = 0;
        for (String text : texts) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            byte[] encoded = Base64.encodeBase64(bytes, false);
            if (Base64.isArrayByteBase64(encoded)) {
                String back = new String(Base64.decodeBase64(encoded), StandardCharsets.UTF_8);
                if (!back.equals(text)) {
                    throw new IllegalStateException(back);
                }
                decoded++;
            }
        }
        System.out.println(decoded + " round trips");
        for (String text : texts) {
            byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
            System.out.println(text + ": " + Base64.isArrayByteBase64(bytes));
        }
    }
}
