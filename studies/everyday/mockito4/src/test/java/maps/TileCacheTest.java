package maps;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import org.junit.jupiter.api.Test;
import org.mockito.ArgumentCaptor;

class TileCacheTest {
    private final TileSource source = spy(new TileSource());
    private final TileCache cache = new TileCache(source, 3);

    @Test
    void tilesAreLoadedOnce() {
        for (int round = 0; round < 4; round++) {
            assertEquals("tile 1/2", cache.tile(1, 2));
        }
        ArgumentCaptor<Integer> column = ArgumentCaptor.forClass(Integer.class);
        verify(source, times(1)).load(column.capture(), column.capture());
        assertEquals(2, column.getValue());
    }

    @Test
    void theTileUsedLastStays() {
        for (int x = 0; x < 3; x++) {
            cache.tile(x, 7);
        }
        cache.tile(0, 7);
        cache.tile(9, 9);
        assertTrue(cache.has(0, 7), "0/7 was used last");
    }
}
