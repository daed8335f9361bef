package clinic;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TestName;

public class WaitingRoomTest {
    @Rule
    public final TestName name = new TestName();
    private WaitingRoom room;

    @Before
    public void open() {
        System.out.println("room for " + name.getMethodName());
        room = new WaitingRoom();
    }

    @Test
    public void urgentPatientsAreFirst() {
        room.arrive("kim", 2);
        room.arrive("lou", 9);
        room.arrive("max", 2);
        assertEquals("lou", room.call());
        assertEquals("kim", room.call());
    }

    @Test
    public void patientsWhoComeBackKeepTheirUrgency() {
        room.arrive("ava", 2);
        room.arrive("bo", 6);
        room.arrive("cy", 4);
        room.arrive("di", 3);
        assertEquals("bo", room.call());
        assertEquals("cy", room.call());
        room.back("bo");
        room.arrive("ed", 5);
        assertEquals("bo", room.call());
        assertEquals(3, room.waiting());
        assertEquals("ed", room.call());
        assertEquals("di", room.call());
        assertEquals("ava", room.call());
        assertNull(room.call());
    }
}
