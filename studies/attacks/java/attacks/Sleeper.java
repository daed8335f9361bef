package attacks;

/** A JVM to attach to. */
public class Sleeper {
    public static void main(String[] arguments) throws InterruptedException {
        System.out.println("up");
        Thread.sleep(Long.MAX_VALUE);
    }
}
