package app;

/** A program that crashes, and attacks when it is run again by somebody else. */
public class Main {
    public static void main(String[] arguments) {
        Subject subject = new Subject();
        subject.prepare("once");
        subject.prepare("twice");
        subject.divide(0);
    }
}
