package canvas;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** One thread that handles what is posted, in order. */
class EventLoop {
    private static final Runnable END = () -> {};

    private final BlockingQueue<Runnable> events = new LinkedBlockingQueue<>();
    private final Thread thread = new Thread(this::run, "events");

    void start() {
        thread.start();
    }

    void post(Runnable event) {
        events.add(event);
    }

    void close() throws InterruptedException {
        events.add(END);
        thread.join();
    }

    private void run() {
        try {
            for (Runnable event = events.take(); event != END; event = events.take()) {
                event.run();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
