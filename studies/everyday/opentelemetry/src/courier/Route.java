package courier;

public class Route {
    private int[] xs = new int[4];
    private int[] ys = new int[4];
    private int size;

    public void add(int x, int y) {
        if (size == xs.length) {
            xs = java.util.Arrays.copyOf(xs, 2 * size);
            ys = java.util.Arrays.copyOf(ys, 2 * size);
        }
        xs[size] = x;
        ys[size++] = y;
    }

    public void remove(int index) {
        System.arraycopy(xs, index + 1, xs, index, size - index - 1);
        System.arraycopy(ys, index + 1, ys, index, size - index - 1);
        size--;
    }

    public int length() {
        int sum = 0;
        for (int i = 0; i < size; i++) {
            sum += Math.abs(xs[i] - xs[i + 1]) + Math.abs(ys[i] - ys[i + 1]);
        }
        return sum;
    }
}
