package diving;

import static org.testng.Assert.assertEquals;
import static org.testng.Assert.assertFalse;
import static org.testng.Assert.assertTrue;

import org.testng.annotations.BeforeMethod;
import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;

public class DiveLogTest {
    private DiveLog log;

    @BeforeMethod
    public void surface() {
        log = new DiveLog();
        log.stop(5, DiveLog.Unit.METRES, 3);
    }

    @DataProvider
    public Object[][] dives() {
        return new Object[][] {
            {18, DiveLog.Unit.METRES, 18.0}, {60, DiveLog.Unit.FEET, 18.0}, {33, DiveLog.Unit.FEET, 9.9},
        };
    }

    @Test(dataProvider = "dives")
    public void depthsAreInMetres(int depth, DiveLog.Unit unit, double metres) {
        log.stop(depth, unit, 20);
        assertEquals(log.deepest(), metres, 0.001);
    }

    @Test
    public void longDivesNeedAPause() {
        assertFalse(log.needsPause());
        log.stop(12, DiveLog.Unit.METRES, 48);
        assertTrue(log.needsPause());
        assertEquals(log.minutes(), 51);
    }
}
