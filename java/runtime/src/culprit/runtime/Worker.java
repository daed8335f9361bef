package culprit.runtime;

/** The main class of a JVM that replays, and of its further threads. */
public final class Worker implements Runnable {
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
        started.start();
    }

    @Override
    public void run() {
        Executor.drive(thread);
    }
}
