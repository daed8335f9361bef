package bug;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** Adds up the columns of a small report. */
public class Driver {
    enum Column {
        STAFF, COSTS, SALES;

        @Override
        public String toString() {
            return this == SALES ? "turnover" : name();
        }
    }

    public static void main(String[] args) throws IOException {
        String report = "STAFF,COSTS,SALES\n3,120,410\n5,300,280\n2,80,95\n";
        CSVFormat format = CSVFormat.DEFAULT.builder().setHeader().setSkipHeaderRecord(true).build();
        Map<Column, Integer> sums = new EnumMap<>(Column.class);
        try (CSVParser parser = CSVParser.parse(report, format)) {
            System.out.println(parser.getHeaderNames());
            for (CSVRecord record : parser) {
                System.out.println(record.getRecordNumber() + ": " + record.size() + " " + record.toMap());
                for (Column column : Column.values()) {
                    sums.merge(column, Integer.parseInt(record.get(column)), Integer::sum);
                }
            }
        }
        System.out.println(sums);
    }
}
