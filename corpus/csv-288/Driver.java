package bug;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;
import org.apache.commons.csv.CSVRecord;
import org.junit.jupiter.api.Test;

class Driver {
    @Test
    void whatIsPrintedIsReadBack() throws IOException {
        CSVFormat format = CSVFormat.DEFAULT.builder().setDelimiter("||").build();
        StringWriter text = new StringWriter();
        try (CSVPrinter printer = new CSVPrinter(text, format)) {
            printer.printRecord("name", "size");
            printer.printRecord("apple", 3);
            printer.printRecord("", "9");
            printer.printRecord("pear", 4, "x");
        }
        List<Integer> sizes = new ArrayList<>();
        for (CSVRecord record : format.parse(new StringReader(text.toString()))) {
            sizes.add(record.size());
        }
        assertEquals(4, sizes.size());
        assertEquals(List.of(2, 2, 2, 3), sizes);
    }
}
