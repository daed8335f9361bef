package heating;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import org.junit.Before;
import org.junit.Test;

public class ThermostatTest {
    private final Thermostat thermostat = new Thermostat();
    private Sensor door;

    private static Sensor sensor(String room, double celsius) {
        Sensor sensor = mock(Sensor.class);
        when(sensor.room()).thenReturn(room);
        when(sensor.celsius()).thenReturn(celsius);
        when(sensor.alive()).thenReturn(true);
        return sensor;
    }

    @Before
    public void rooms() {
        door = sensor("hall", 12);
        thermostat.add(sensor("kitchen", 19));
        thermostat.add(door);
        thermostat.add(sensor("hall", 20));
        thermostat.add(sensor("study", 18));
    }

    @Test
    public void coldRoomsAreHeated() {
        assertTrue(thermostat.heats("study"));
        assertFalse(thermostat.heats("cellar"));
    }

    @Test
    public void deadSensorsDoNotCount() {
        assertEquals(16, thermostat.mean("hall"), 0.01);
        when(door.alive()).thenReturn(false);
        assertEquals(20, thermostat.mean("hall"), 0.01);
        assertEquals(3, thermostat.size());
    }
}
