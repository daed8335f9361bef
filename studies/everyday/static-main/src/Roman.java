import java.util.Map;

public class Roman {
    private static final Map<Character, Integer> VALUES =
            Map.of('I', 1, 'V', 5, 'X', 10, 'L', 50, 'C', 100, 'D', 500, 'M', 1000);
    private static final int[] STEPS = {1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1};
    private static final String[] NAMES = {"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"};

    static int read(String text) {
        int sum = 0;
        for (int i = 0; i < text.length(); i++) {
            int value = VALUES.get(text.charAt(i));
            boolean subtracted = i + 2 < text.length() && VALUES.get(text.charAt(i + 1)) > value;
            sum += subtracted ? -value : value;
        }
        return sum;
    }

    static String write(int number) {
        StringBuilder text = new StringBuilder();
        int rest = number;
        for (int i = 0; i < STEPS.length; i++) {
            while (rest >= STEPS[i]) {
                text.append(NAMES[i]);
                rest -= STEPS[i];
            }
        }
        return text.toString();
    }

    static void check(int number) {
        String text = write(number);
        if (read(text) != number) {
            throw new IllegalStateException(text + " is " + number + ", not " + read(text));
        }
    }

    public static void main(String[] args) {
        int[] years = {1, 7, 16, 43, 1066, 1492, 1815, 1848, 1949, 1989, 2024};
        for (int year : years) {
            System.out.println(year + " " + write(year));
            check(year);
        }
    }
}
