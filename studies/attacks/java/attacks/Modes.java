package attacks;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/** What a candidate does to the process that it runs in, to its folder and to whoever waits for its answer. */
public class Modes {
    private static final List<Object> KEPT = new ArrayList<>();

    /** A check is made once and has a minute; a candidate has some seconds, but there are many. */
    public static void make(String mode, Path shared, long seconds) throws Exception {
        Path own = Paths.get(System.getProperty("java.io.tmpdir"));
        switch (mode) {
            case "nothing": return;
            case "attempts": attempts(shared, own, seconds); return;
            case "exit": System.exit(0); return;
            case "halt": Runtime.getRuntime().halt(0); return;
            case "exit-later": later(() -> System.exit(3)); return;
            case "hanging-hook":
                Runtime.getRuntime().addShutdownHook(new Thread(() -> forever()));
                System.exit(1);
                return;
            case "segfault": unsafe().putAddress(8, 8); return;
            case "stop": Jni.attempt("stop", shared.toString(), own.toString(), ""); return;
            case "close-descriptors": Jni.attempt("close-all", shared.toString(), own.toString(), ""); return;
            case "garbage": descriptors((byte) 0x55, 1 << 20); return;
            case "zeros": descriptors((byte) 0, 1 << 26); return;
            case "ones": descriptors((byte) 0xff, 1 << 20); return;
            case "spin": forever(); return;
            case "sleep": Thread.sleep(Long.MAX_VALUE); return;
            case "deadlock": deadlock(); return;
            case "output":
                while (true) {
                    System.out.println("x".repeat(8000));
                    System.err.println("x".repeat(8000));
                }
            case "threads":
                while (true) {
                    daemon(() -> forever2());
                }
            case "heap":
                while (true) {
                    KEPT.add(new long[1 << 17]);
                }
            case "direct":
                while (true) {
                    KEPT.add(ByteBuffer.allocateDirect(1 << 24));
                }
            case "metaspace": metaspace(); return;
            case "shared-memory": Jni.attempt("take-shared", shared.toString(), own.toString(), ""); return;
            case "memory-files": Jni.attempt("take-memfd", shared.toString(), own.toString(), ""); return;
            case "pipes": Jni.attempt("take-pipes", shared.toString(), own.toString(), ""); return;
            case "disk-one-file": fill(own.resolve("one"), Long.MAX_VALUE); return;
            case "disk-many-files":
                for (int i = 0; ; i++) {
                    fill(own.resolve("many" + i), 64 << 20);
                }
            case "disk-empty-files":
                for (int i = 0; i < 2_000_000; i++) {
                    Files.createFile(own.resolve("empty" + i));
                }
                return;
            case "fifo": Jni.attempt("leave-fifo", shared.toString(), own.toString(), "");
                Runtime.getRuntime().halt(1); return;
            case "link-to-fifo": Files.createSymbolicLink(own.resolve("x.log"), shared.resolve("fifo"));
                Runtime.getRuntime().halt(1); return;
            case "link-to-terminal":
                for (String name : new String[] {"x.log", "crash.log"}) {
                    Files.createSymbolicLink(own.resolve(name), Paths.get("/dev/zero"));
                }
                Runtime.getRuntime().halt(1); return;
            case "link-as-stderr":
                for (String name : new String[] {"stderr", "stdout"}) {
                    Files.deleteIfExists(own.resolve(name));
                    Files.createSymbolicLink(own.resolve(name), shared.resolve("secret"));
                }
                Runtime.getRuntime().halt(1); return;
            case "many-logs":
                for (int i = 0; i < 20_000; i++) {
                    Files.write(own.resolve(i + ".log"), new byte[100]);
                }
                Runtime.getRuntime().halt(1); return;
            case "huge-log":
                fill(own.resolve("crash.log"), 200 << 20);
                Runtime.getRuntime().halt(1); return;
            case "closed-folder": {
                Path closed = Files.createDirectories(own.resolve("a/b/c"));
                Files.write(closed.resolve("file"), new byte[1]);
                Files.createDirectory(own.resolve("closed"), PosixFilePermissions.asFileAttribute(
                        PosixFilePermissions.fromString("---------")));
                return;
            }
            case "deep-folder": {
                Path deep = own;
                for (int i = 0; i < 1500; i++) {
                    deep = deep.resolve("d");
                    Files.createDirectory(deep);
                }
                return;
            }
            case "settings":
                System.setProperties(null);
                java.util.Locale.setDefault(new java.util.Locale("tr"));
                System.setOut(null);
                Thread.setDefaultUncaughtExceptionHandler((t, e) -> forever());
                return;
            case "escapes":
                throw new IllegalStateException("\u001b]0;OWNED\u0007\u009b31m\u202e");
            default: throw new IllegalArgumentException(mode);
        }
    }

    private static int told;

    /**
     * Makes attempts of the plan for some seconds, and leaves what came of them in its own folder. It goes on when the
     * study has taken that in. The study takes from the plan what was made.
     */
    private static void attempts(Path shared, Path own, long seconds) throws Exception {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        long process = ProcessHandle.current().pid();
        Path report = own.resolve("attacks-report-" + process);
        Attempts.make(shared.resolve("plan"), own, line -> {
            Files.writeString(report, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            told++;
        }, () -> System.nanoTime() > end);
        Path taken = shared.resolve("taken-" + process);
        while (told > 0 && System.nanoTime() < end + 4_000_000_000L
                && !(Files.exists(taken) && Files.readString(taken).equals("" + told))) {
            Thread.sleep(20);
        }
    }

    private static void forever() {
        while (true) {
            Thread.onSpinWait();
        }
    }

    private static void forever2() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            forever();
        }
    }

    private static void later(Runnable what) {
        daemon(() -> {
            try {
                Thread.sleep(1000);
            } catch (InterruptedException e) {
                // Now, then.
            }
            what.run();
        });
    }

    private static void daemon(Runnable what) {
        Thread thread = new Thread(what);
        thread.setDaemon(true);
        thread.start();
    }

    private static void deadlock() throws InterruptedException {
        Object lock = new Object();
        Thread holder = new Thread(() -> {
            synchronized (lock) {
                forever2();
            }
        });
        holder.setDaemon(true);
        holder.start();
        Thread.sleep(100);
        synchronized (lock) {
            return;
        }
    }

    /** Writes to every descriptor but the first three, whoever is at the other end. */
    private static void descriptors(byte what, int length) throws Exception {
        byte[] bytes = new byte[4096];
        java.util.Arrays.fill(bytes, what);
        for (int number = 3; number < 64; number++) {
            try (OutputStream out = new FileOutputStream(Paths.get("/dev/fd/" + number).toFile())) {
                for (int i = 0; i < length / bytes.length; i++) {
                    out.write(bytes);
                }
            } catch (Exception refused) {
                // A socket cannot be opened by its name: by its number then.
            }
            try {
                FileDescriptor raw = new FileDescriptor();
                java.lang.reflect.Field field = FileDescriptor.class.getDeclaredField("fd");
                unsafe().putInt(raw, unsafe().objectFieldOffset(field), number);
                OutputStream out = new FileOutputStream(raw);
                for (int i = 0; i < length / bytes.length; i++) {
                    out.write(bytes);
                }
            } catch (Exception refused) {
                // The next one.
            }
        }
    }

    private static void fill(Path file, long length) throws Exception {
        ByteBuffer block = ByteBuffer.allocate(1 << 20);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (long done = 0; done < length; done += block.capacity()) {
                block.clear();
                channel.write(block);
            }
        }
    }

    private static void metaspace() {
        while (true) {
            KEPT.add(java.lang.reflect.Proxy.newProxyInstance(new ClassLoader(Modes.class.getClassLoader()) { },
                    new Class<?>[] {Runnable.class}, (proxy, method, arguments) -> null));
        }
    }

    private static sun.misc.Unsafe unsafe() throws Exception {
        java.lang.reflect.Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return (sun.misc.Unsafe) field.get(null);
    }
}
