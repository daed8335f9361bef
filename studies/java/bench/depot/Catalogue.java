package depot;

import java.util.HashMap;
import java.util.Map;

final class Catalogue {
    private static final Map<String, Item> ITEMS = new HashMap<>();

    static {
        for (String name : new String[] {"bolt", "nut", "washer", "screw", "rivet", "hinge"}) {
            ITEMS.put(name, new Item(name, ITEMS.size()));
        }
    }

    private Catalogue() {}

    /** An item by its name; one that nobody heard of is put at the end. */
    static Item item(String name) {
        return ITEMS.computeIfAbsent(name, it -> new Item(it, ITEMS.size()));
    }
}
