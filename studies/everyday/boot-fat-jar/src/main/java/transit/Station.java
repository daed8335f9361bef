package transit;

import java.util.List;

public record Station(int id, String name, List<String> lines, String opened) {}
