package depot;

import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.stereotype.Component;

@Component
public class ReorderList {
    private final PartRepository parts;

    public ReorderList(PartRepository parts) {
        this.parts = parts;
    }

    public Map<String, Integer> ofShelf(String shelf) {
        Map<String, Integer> orders = new LinkedHashMap<>();
        for (Part part : parts.findByShelfOrderByNumber(shelf)) {
            if (part.isLow()) {
                orders.put(part.getNumber(), part.missing());
            }
        }
        return orders;
    }
}
