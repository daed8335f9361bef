package attacks;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Makes the attempts of a plan, one after the other, and tells of each what came of it. A plan has a line for each
 * attempt, {@code WAY NAME PLACE}, after lines with facts about the machine, {@code KEY=VALUE}.
 */
public class Attempts {
    public static void main(String[] arguments) throws Exception {
        make(Paths.get(arguments[0]), Paths.get(arguments[1]), line -> System.out.println(line),
                () -> false);
        // Threads of attempts may still run.
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** Nothing is tried twice by one JVM. */
    private static final Set<String> MADE = new HashSet<>();

    interface Teller {
        void tell(String line) throws Exception;
    }

    /** Each line of the answer is {@code WAY NAME done} or {@code WAY NAME refused REASON}. */
    static void make(Path plan, Path scratch, Teller teller, BooleanSupplier enough) throws Exception {
        StringBuilder facts = new StringBuilder();
        List<String> lines = Files.readAllLines(plan, StandardCharsets.UTF_8);
        for (String line : lines) {
            String[] words = line.split(" ", 3);
            if (words.length < 3) {
                facts.append(line).append('\n');
                continue;
            }
            if (enough.getAsBoolean() || !MADE.add(line)) {
                continue;
            }
            teller.tell(words[0] + " " + words[1] + " begins");
            String outcome = attempt(words[0], words[1], words[2], scratch.toString(), facts.toString());
            teller.tell(words[0] + " " + words[1] + " " + outcome.replaceAll("\\s+", " "));
        }
    }

    /** In a thread of its own: some attempts change what belongs to a thread, such as its user. */
    private static String attempt(String way, String name, String place, String scratch, String facts) {
        String[] outcome = {"refused no end in 20 s"};
        Thread thread = new Thread(() -> {
            String came;
            try {
                came = came(way, name, place, scratch, facts);
            } catch (Throwable refused) {
                came = "refused " + refused;
            }
            synchronized (outcome) {
                outcome[0] = came;
            }
        });
        thread.setDaemon(true);
        thread.start();
        try {
            thread.join(20_000);
        } catch (InterruptedException interrupted) {
            return "refused " + interrupted;
        }
        synchronized (outcome) {
            return outcome[0];
        }
    }

    private static String came(String way, String name, String place, String scratch, String facts) throws Throwable {
        if (way.equals("java")) {
            new Ways(Paths.get(place), Paths.get(scratch), facts).make(name);
            return "done";
        }
        // By reflection: Java has foreign functions since 22.
        String type = way.equals("jni") ? "attacks.Jni" : "attacks.Foreign";
        long result;
        try {
            result = (long) Class.forName(type)
                    .getDeclaredMethod("attempt", String.class, String.class, String.class, String.class)
                    .invoke(null, name, place, scratch, facts);
        } catch (java.lang.reflect.InvocationTargetException wrapped) {
            throw wrapped.getCause();
        }
        if (result == -10000) {
            throw new IllegalArgumentException("no attempt " + name);
        }
        return result == 0 ? "done" : "refused " + -result;
    }

    /** Beside the classes. */
    static Path library() throws Exception {
        return Paths.get(Attempts.class.getProtectionDomain().getCodeSource().getLocation().toURI())
                .resolveSibling("libattempts.so");
    }
}
