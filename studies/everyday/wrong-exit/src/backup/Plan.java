package backup;

import java.util.ArrayList;
import java.util.List;

/** Distributes folders over tapes of a fixed size. */
public class Plan {
    private final int capacity;
    private final List<String> names = new ArrayList<>();
    private final List<Integer> sizes = new ArrayList<>();

    public Plan(int capacity) {
        this.capacity = capacity;
    }

    public void add(String name, int size) {
        if (size > capacity) {
            throw new IllegalArgumentException(name + " is larger than a tape");
        }
        names.add(name);
        sizes.add(size);
    }

    public List<List<String>> tapes() {
        List<List<String>> tapes = new ArrayList<>();
        List<String> tape = new ArrayList<>();
        int used = 0;
        for (int i = 0; i < names.size(); i++) {
            if (used + sizes.get(i) > capacity) {
                tapes.add(tape);
                tape = new ArrayList<>();
                used = 0;
            }
            tape.add(names.get(i));
            used += sizes.get(i);
        }
        if (used > capacity / 10) {
            tapes.add(tape);
        }
        return tapes;
    }
}
