package bug;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.apache.commons.collections.CollectionUtils;
import org.apache.commons.collections.Transformer;
import org.junit.jupiter.api.Test;

class Driver {
    @Test
    void guestsWhoDeclinedAreNotSeated() {
        List<String> invited = new ArrayList<>();
        for (String name : "ann bob cid dee eve".split(" ")) {
            invited.add(name);
        }
        List<String> declined = Arrays.asList("bob", "eve");
        assertTrue(CollectionUtils.isSubCollection(declined, invited));
        assertEquals(1, CollectionUtils.countMatches(invited, name -> name.equals("cid")));
        Transformer upper = name -> name.toString().toUpperCase();
        assertTrue(CollectionUtils.collect(declined, upper).contains("EVE"));
        Collection<?> seated = CollectionUtils.removeAll(invited, declined);
        assertEquals(3, seated.size());
        assertFalse(CollectionUtils.containsAny(seated, declined));
    }
}
