import java.util.ArrayDeque;
import java.util.Deque;

public class Turnstile {
    static class Gate {
        private final Deque<Integer> waiting = new ArrayDeque<>();
        private int inside;

        void arrive(int ticket) {
            waiting.addLast(ticket);
        }

        int pass() {
            int ticket = waiting.removeFirst();
            inside++;
            return ticket;
        }

        int passAll(int places) {
            int passed = 0;
            while (inside < places) {
                pass();
                passed++;
            }
            return passed;
        }

        void leave() {
            inside--;
        }
    }

    public static void main(String[] args) {
        Gate gate = new Gate();
        for (int ticket = 100; ticket < 120; ticket++) {
            gate.arrive(ticket);
        }
        System.out.println(gate.passAll(8) + " inside");
        for (int i = 0; i < 5; i++) {
            gate.leave();
        }
        System.out.println(gate.passAll(12) + " more");
        gate.leave();
        System.out.println(gate.passAll(16) + " more");
    }
}
