package bug;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.commons.collections.list.SetUniqueList;
import org.junit.Test;

public class Driver {
    @Test
    @SuppressWarnings("unchecked")
    public void guestsJumpTheQueue() {
        List<String> queue = SetUniqueList.decorate(new ArrayList<>());
        for (String name : "ann bob ann cid bob dee".split(" ")) {
            queue.add(name);
        }
        assertEquals(4, queue.size());
        queue.add(1, "eve");
        assertEquals("eve", queue.get(1));
        queue.remove("cid");
        queue.addAll(Arrays.asList("fay", "ann"));
        assertEquals(5, queue.size());
        queue.addAll(1, Arrays.asList("gus", "ann", "hal"));
        assertTrue(queue.contains("hal"));
        assertEquals(Arrays.asList("ann", "gus", "hal", "eve", "bob", "dee", "fay"), queue);
    }
}
