package maps;

import java.util.LinkedHashMap;
import java.util.Map;

public class TileCache {
    private final TileSource source;
    private final int limit;
    private final Map<String, String> tiles;

    public TileCache(TileSource source, int limit) {
        this.source = source;
        this.limit = limit;
        this.tiles = new LinkedHashMap<>(16, 0.75f, false);
    }

    public String tile(int x, int y) {
        String key = x + ":" + y;
        String tile = tiles.get(key);
        if (tile == null) {
            tile = source.load(x, y);
            if (tiles.size() >= limit) {
                tiles.remove(tiles.keySet().iterator().next());
            }
            tiles.put(key, tile);
        }
        return tile;
    }

    public boolean has(int x, int y) {
        return tiles.containsKey(x + ":" + y);
    }
}
