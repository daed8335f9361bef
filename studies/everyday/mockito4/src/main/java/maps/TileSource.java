package maps;

public class TileSource {
    public String load(int x, int y) {
        return "tile " + x + "/" + y;
    }
}
