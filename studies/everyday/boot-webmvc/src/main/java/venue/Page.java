package venue;

import java.util.List;

/** One page of a longer list; the first page has the number 1. */
public record Page<T>(int number, int pages, List<T> items) {
    public static <T> Page<T> of(List<T> all, int number, int size) {
        int pages = (all.size() + size - 1) / size;
        int from = Math.min(number * size, all.size());
        int to = Math.min(from + size, all.size());
        return new Page<>(number, pages, List.copyOf(all.subList(from, to)));
    }
}
