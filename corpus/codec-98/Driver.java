package bug;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.apache.commons.codec.binary.Base64;
import org.apache.commons.codec.binary.Base64InputStream;

/** Sends a letter through Base64, whole and cut short. */
public class Driver {
    public static void main(String[] args) throws IOException {
        StringBuilder letter = new StringBuilder();
        for (int line = 0; letter.length() < 900; line++) {
            letter.append("line ").append(line).append(" of a long letter\n");
        }
        byte[] plain = letter.substring(0, 891).getBytes(StandardCharsets.US_ASCII);
        byte[] encoded = Base64.encodeBase64(plain);
        System.out.println(plain.length + " bytes become " + encoded.length);
        System.out.println("whole: " + decode(encoded, encoded.length).length);
        for (int missing = 1; missing <= 3; missing++) {
            byte[] decoded = decode(encoded, encoded.length - missing);
            System.out.println(missing + " missing: " + decoded.length);
        }
    }

    private static byte[] decode(byte[] encoded, int length) throws IOException {
        InputStream in = new Base64InputStream(new ByteArrayInputStream(encoded, 0, length));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[512];
        int got = in.read(buffer, 0, buffer.length);
        while (got > 0) {
            out.write(buffer, 0, got);
            got = in.read(buffer, 0, buffer.length);
        }
        in.close();
        return out.toByteArray();
    }
}
