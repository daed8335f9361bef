package canvas;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

class Drawing {
    private final List<String> shapes = new ArrayList<>();
    private final Deque<List<String>> history = new ArrayDeque<>();
    private final List<Consumer<String>> listeners = new ArrayList<>();
    private int selected = -1;

    void listen(Consumer<String> listener) {
        listeners.add(listener);
    }

    void add(String shape) {
        remember();
        shapes.add(shape);
        selected = shapes.size() - 1;
        changed("add");
    }

    void select(int index) {
        selected = index;
        changed("select");
    }

    void delete() {
        remember();
        shapes.remove(selected);
        selected = Math.min(selected, shapes.size() - 1);
        changed("delete");
    }

    void undo() {
        List<String> before = history.poll();
        if (before != null) {
            shapes.clear();
            shapes.addAll(before);
            changed("undo");
        }
    }

    String status() {
        return selected < 0 ? "nothing selected" : shapes.get(selected) + ", " + (selected + 1) + " of " + shapes.size();
    }

    private void remember() {
        history.push(List.copyOf(shapes));
    }

    private void changed(String why) {
        for (Consumer<String> listener : listeners) {
            listener.accept(why + ": " + status());
        }
    }
}
