package courier;

public class Main {
    public static void main(String[] args) {
        Route morning = new Route();
        for (int i = 0; i < 6; i++) {
            morning.add(3 * i, i % 3);
        }
        morning.remove(2);
        System.out.println("morning " + (morning.length() > 0));
        Route evening = new Route();
        for (int i = 0; i < 9; i++) {
            evening.add(i * i, 10 - i);
        }
        evening.remove(0);
        for (int i = 0; i < 8; i++) {
            evening.add(70 + i, 4);
        }
        System.out.println("evening " + (evening.length() > 0));
    }
}
