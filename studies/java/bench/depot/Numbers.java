package depot;

final class Numbers {
    private static int last = 100;

    private Numbers() {}

    static int next() {
        return ++last;
    }
}
