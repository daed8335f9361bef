package peer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.aspectj.lang.JoinPoint;
import org.aspectj.lang.annotation.After;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.aspectj.lang.annotation.Pointcut;

/**
 * Counts for each class of a library how many calls come in from other classes, as if it were
 * observed alone. For one thread; {@code -Dpeer.counts} names the file to write.
 */
@Aspect
public abstract class Counter {
    private static final Map<Class<?>, long[]> COUNTS = new java.util.HashMap<>();
    private static Class<?>[] stack = new Class<?>[1 << 16];
    private static int depth;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Counter::write));
    }

    @Pointcut
    public abstract void counted();

    @Pointcut("counted() && (execution(* *(..)) || execution(new(..)))")
    public void entry() {}

    @Before("entry()")
    public void enter(JoinPoint.StaticPart point) {
        Class<?> type = point.getSignature().getDeclaringType();
        if (depth == 0 || stack[depth - 1] != type) {
            COUNTS.computeIfAbsent(type, unused -> new long[1])[0]++;
        }
        stack[depth++] = type;
    }

    @After("entry()")
    public void leave() {
        depth--;
    }

    private static void write() {
        Map<String, Long> sorted = new TreeMap<>();
        COUNTS.forEach(
                (type, count) -> {
                    if (!type.isAnonymousClass() && !type.isLocalClass() && !type.isSynthetic()) {
                        sorted.put(type.getName(), count[0]);
                    }
                });
        String text =
                sorted.entrySet().stream()
                        .map(entry -> entry.getKey() + " " + entry.getValue() + "\n")
                        .collect(Collectors.joining());
        try {
            Files.writeString(Paths.get(System.getProperty("peer.counts")), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
