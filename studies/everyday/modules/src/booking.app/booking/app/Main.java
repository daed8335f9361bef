package booking.app;

import booking.calendar.Calendar;

public class Main {
    private static final int[][] WISHES = {{3, 7}, {20, 24}, {10, 12}, {5, 8}, {7, 10}, {12, 13}, {24, 30}};

    public static void main(String[] args) {
        Calendar room = new Calendar();
        int refused = 0;
        for (int[] wish : WISHES) {
            if (!room.book(wish[0], wish[1])) {
                refused++;
            }
        }
        System.out.println(room.nights() + " nights");
        if (refused != 1) {
            throw new AssertionError(refused + " of " + WISHES.length + " refused");
        }
    }
}
