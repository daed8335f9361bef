package theatre;

import static org.easymock.EasyMock.anyString;
import static org.easymock.EasyMock.createMock;
import static org.easymock.EasyMock.expect;
import static org.easymock.EasyMock.replay;
import static org.easymock.EasyMock.verify;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class BoxOfficeTest {
    private final Printer printer = createMock(Printer.class);
    private final BoxOffice office = new BoxOffice(printer);

    @Test
    public void seatsAreSoldOnce() {
        expect(printer.print("ann 3")).andReturn(true).once();
        replay(printer);
        assertTrue(office.sell("ann", 3));
        assertFalse(office.sell("bob", 3));
        verify(printer);
    }

    @Test
    public void movingFreesTheOldSeat() {
        expect(printer.print(anyString())).andReturn(true).times(4);
        replay(printer);
        for (int seat = 10; seat < 13; seat++) {
            assertTrue(office.sell("guest" + seat, seat));
        }
        assertTrue(office.move("guest11", 25));
        assertEquals(9, office.free(2, 10));
        assertEquals(8, office.free(1, 10));
    }
}
