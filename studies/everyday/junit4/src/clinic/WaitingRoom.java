package clinic;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;

public class WaitingRoom {
    private record Patient(String name, int urgency, int arrival) {}

    private final PriorityQueue<Patient> queue = new PriorityQueue<>(
            Comparator.comparingInt(Patient::urgency).reversed().thenComparingInt(Patient::arrival));
    private final Map<String, Integer> urgencies = new HashMap<>();
    private int arrivals;

    public void arrive(String name, int urgency) {
        urgencies.put(name, urgency);
        queue.add(new Patient(name, urgency, arrivals++));
    }

    public String call() {
        Patient next = queue.poll();
        return next == null ? null : next.name();
    }

    /** Puts a patient who did not hear the call back into the queue. */
    public void back(String name) {
        queue.add(new Patient(name, urgencies.size(), arrivals++));
    }

    public int waiting() {
        return queue.size();
    }
}
