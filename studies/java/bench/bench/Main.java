package bench;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * Runs a workload: {@code Main WORKLOAD ITERATIONS}. Prints one line of what it measured by itself:
 * the time of the second half of the iterations, when the JVM is warm, and the processor time that
 * this thread had.
 */
public final class Main {
    private static final Path SCHEDULER = Paths.get("/proc/thread-self/schedstat");

    private Main() {}

    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            System.out.println("hello");
            return;
        }
        int iterations = Integer.parseInt(args[1]);
        int half = iterations / 2;
        Workload workload = workload(args[0]);
        long sum = run(workload, 0, half);
        long halfCpu = threadCpu();
        long halfTime = System.nanoTime();
        sum += run(workload, half, iterations);
        long time = System.nanoTime();
        long cpu = threadCpu();
        System.out.println(
                "sum=" + sum
                        + " steady_ns=" + (time - halfTime)
                        + " steady_cpu_ns=" + (cpu - halfCpu)
                        + " thread_cpu_ns=" + cpu);
    }

    private static Workload workload(String name) {
        switch (name) {
            case "parse":
                return new Parse();
            case "compute":
                return new Compute();
            case "compress":
                return new Compress();
            case "template":
                return new Template();
            case "graph":
                return new Graph();
            default:
                throw new IllegalArgumentException(name);
        }
    }

    private static long run(Workload workload, int from, int to) throws Exception {
        long sum = 0;
        for (int i = from; i < to; i++) {
            sum = sum * 31 + workload.iteration(i);
        }
        return sum;
    }

    /** Nanoseconds this thread has run; 0 where the system does not say. */
    private static long threadCpu() {
        try {
            String line = new String(Files.readAllBytes(SCHEDULER), StandardCharsets.US_ASCII);
            return Long.parseLong(line.substring(0, line.indexOf(' ')));
        } catch (java.io.IOException | RuntimeException notLinux) {
            return 0;
        }
    }
}
