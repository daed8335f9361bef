package peer;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.aspectj.lang.JoinPoint;

/** The events of one thread, written to the file named by {@code -Dpeer.log} a buffer at a time. */
final class Log {
    static final int INCOMING_CALL = 1,
            INCOMING_RETURN = 2,
            INCOMING_THROW = 3,
            OUTGOING_CALL = 4,
            OUTGOING_RETURN = 5,
            OUTGOING_THROW = 6,
            NAME = 7;

    private static final int LONGEST = 64;
    private static final OutputStream FILE = open();
    private static final List<Log> ALL = new ArrayList<>();
    private static final ThreadLocal<Log> OF_THREAD = ThreadLocal.withInitial(Log::new);
    private static final ConcurrentHashMap<Object, Integer> NAMES = new ConcurrentHashMap<>();
    private static final ClassValue<Integer> TYPES =
            new ClassValue<Integer>() {
                @Override
                protected Integer computeValue(Class<?> type) {
                    return name(type, type.getName());
                }
            };

    private final ByteBuffer buffer = ByteBuffer.allocate(1 << 20);

    /** For each open activation, whether it crossed the border. */
    private boolean[] crossed = new boolean[64];

    private int open;
    private boolean inside;
    private long events;

    private Log() {
        synchronized (ALL) {
            if (ALL.isEmpty()) {
                Runtime.getRuntime().addShutdownHook(new Thread(Log::close));
            }
            ALL.add(this);
        }
    }

    static Log ofThread() {
        return OF_THREAD.get();
    }

    /** An activation begins, of observed code or not; whether that crosses the border. */
    boolean enters(boolean observed) {
        if (open == crossed.length) {
            crossed = Arrays.copyOf(crossed, 2 * open);
        }
        boolean crosses = inside != observed;
        crossed[open++] = crosses;
        inside = observed;
        return crosses;
    }

    /** The innermost activation ends; whether that crosses the border back. */
    boolean leaves() {
        boolean crosses = crossed[--open];
        inside ^= crosses;
        return crosses;
    }

    void call(int kind, JoinPoint.StaticPart point, Object receiver, Object[] arguments) {
        begin(kind, point);
        value(receiver);
        for (Object argument : arguments) {
            value(argument);
        }
    }

    void end(int kind, JoinPoint.StaticPart point, Object result) {
        begin(kind, point);
        value(result);
    }

    private void begin(int kind, JoinPoint.StaticPart point) {
        Integer number = NAMES.get(point);
        if (number == null) {
            number = name(point, point.getSignature().toLongString());
        }
        events++;
        room(5);
        buffer.put((byte) kind).putInt(number);
    }

    private void value(Object value) {
        room(16 + 3 * LONGEST);
        if (value == null) {
            buffer.put((byte) 0);
        } else if (value instanceof String && ((String) value).length() <= LONGEST) {
            byte[] bytes = ((String) value).getBytes(StandardCharsets.UTF_8);
            buffer.put((byte) 1).put((byte) bytes.length).put(bytes);
        } else if (value instanceof Integer) {
            buffer.put((byte) 2).putInt((Integer) value);
        } else if (value instanceof Long) {
            buffer.put((byte) 3).putLong((Long) value);
        } else if (value instanceof Double) {
            buffer.put((byte) 4).putDouble((Double) value);
        } else if (value instanceof Boolean) {
            buffer.put((byte) ((Boolean) value ? 5 : 6));
        } else if (value instanceof Character) {
            buffer.put((byte) 7).putChar((Character) value);
        } else if (value instanceof Byte || value instanceof Short) {
            buffer.put((byte) 8).putShort(((Number) value).shortValue());
        } else if (value instanceof Float) {
            buffer.put((byte) 9).putFloat((Float) value);
        } else {
            buffer.put((byte) 10).putInt(TYPES.get(value.getClass())).putInt(System.identityHashCode(value));
        }
    }

    private void room(int bytes) {
        if (buffer.remaining() < bytes) {
            flush();
        }
    }

    private void flush() {
        write(buffer.array(), buffer.position());
        buffer.clear();
    }

    private static int name(Object key, String text) {
        return NAMES.computeIfAbsent(
                key,
                unused -> {
                    int number = NAMES.size() + 1;
                    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
                    ByteBuffer entry = ByteBuffer.allocate(bytes.length + 9);
                    entry.put((byte) NAME).putInt(number).putInt(bytes.length).put(bytes);
                    write(entry.array(), entry.position());
                    return number;
                });
    }

    private static synchronized void write(byte[] bytes, int length) {
        try {
            FILE.write(bytes, 0, length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void close() {
        long events = 0;
        synchronized (ALL) {
            for (Log log : ALL) {
                log.flush();
                events += log.events;
            }
        }
        try {
            FILE.close();
            byte[] count = Long.toString(events).getBytes(StandardCharsets.US_ASCII);
            Files.write(Paths.get(System.getProperty("peer.log") + ".count"), count);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static OutputStream open() {
        try {
            return Files.newOutputStream(Paths.get(System.getProperty("peer.log")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
