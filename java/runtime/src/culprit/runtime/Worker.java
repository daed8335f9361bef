package culprit.runtime;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The main class of a JVM that replays, and of its further threads. */
public final class Worker implements Runnable {
    /** The threads that do steps, by their number in the scenario. */
    private static final Map<Integer, Thread> THREADS = new ConcurrentHashMap<>();

    private final int thread;

    private Worker(int thread) {
        this.thread = thread;
    }

    public static void main(String[] arguments) {
        Executor.work();
    }

    /** Starts the thread that does the steps of one of the recorded threads. */
    static void start(int thread, String name) {
        Thread started = new Thread(null, new Worker(thread), name, 1L << 24);
        started.setDaemon(true);
        THREADS.put(thread, started);
        started.start();
    }

    /** What a thread waits for: 0 nothing, 1 something or the end of a time, 2 something, or it has ended. */
    static long rest(int thread) {
        Thread started = THREADS.get(thread);
        if (started == null) {
            return 2;
        }
        Thread.State state = started.getState();
        if (state == Thread.State.TIMED_WAITING) {
            return 1;
        }
        return state == Thread.State.NEW || state == Thread.State.RUNNABLE ? 0 : 2;
    }

    /** Interrupts those that have not ended. */
    static void interrupt() {
        for (Thread started : THREADS.values()) {
            started.interrupt();
        }
    }

    @Override
    public void run() {
        Executor.drive(thread);
    }
}
