import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Writes a PDF with three pages; the resources of the last one are a number. */
public class Generator {
    private final ByteArrayOutputStream file = new ByteArrayOutputStream();
    private final List<Integer> offsets = new ArrayList<>();

    private void write(String text) {
        file.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private void object(String content) {
        offsets.add(file.size());
        write(offsets.size() + " 0 obj\n" + content + "\nendobj\n");
    }

    private void page(int content, String resources) {
        object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 300] /Resources " + resources
                + " /Contents " + content + " 0 R >>");
    }

    private void text(String line) {
        content("BT /F1 12 Tf 40 200 Td (" + line + ") Tj ET");
    }

    private void content(String stream) {
        object("<< /Length " + stream.length() + " >>\nstream\n" + stream + "\nendstream");
    }

    private void end() {
        int start = file.size();
        write("xref\n0 " + (offsets.size() + 1) + "\n0000000000 65535 f \n");
        for (int offset : offsets) {
            write(String.format("%010d 00000 n \n", offset));
        }
        write("trailer\n<< /Size " + (offsets.size() + 1) + " /Root 1 0 R >>\nstartxref\n" + start + "\n%%EOF\n");
    }

    public static void main(String[] args) throws IOException {
        Generator pdf = new Generator();
        String fonts = "<< /Font << /F1 9 0 R >> >>";
        pdf.write("%PDF-1.4\n");
        pdf.object("<< /Type /Catalog /Pages 2 0 R >>");
        pdf.object("<< /Type /Pages /Kids [3 0 R 4 0 R 5 0 R] /Count 3 >>");
        pdf.page(6, fonts);
        pdf.page(7, fonts);
        pdf.page(8, "12");
        pdf.text("first page");
        pdf.text("second page");
        pdf.content("10 10 m 390 290 l S");
        pdf.object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
        pdf.end();
        Files.write(Path.of(args[0]), pdf.file.toByteArray());
    }
}
