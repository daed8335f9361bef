package attacks;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.logging.FileHandler;
import javax.management.ObjectName;

/** Attempts by Java alone. Each throws if it is refused. */
class Ways {
    private static final byte[] HARM = {'h', 'a', 'r', 'm'};
    private final Path place;
    private final Path scratch;
    private final String facts;

    Ways(Path place, Path scratch, String facts) {
        this.place = place;
        this.scratch = scratch;
        this.facts = facts;
    }

    void make(String name) throws Throwable {
        Path file = place.resolve("file");
        Path fresh = place.resolve("new");
        switch (name) {
            case "create": Files.write(fresh, HARM, StandardOpenOption.CREATE_NEW); break;
            case "create-in-tmp": Files.delete(Files.createTempFile(Path.of("/var/tmp"), "attack", null)); break;
            case "append": Files.write(file, HARM, StandardOpenOption.APPEND); break;
            case "empty": new FileOutputStream(file.toFile()).close(); break;
            case "random-access":
                try (RandomAccessFile it = new RandomAccessFile(file.toFile(), "rw")) {
                    it.write(HARM);
                }
                break;
            case "channel":
                try (FileChannel it = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    it.write(ByteBuffer.wrap(HARM));
                }
                break;
            case "channel-truncate":
                try (FileChannel it = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    it.truncate(1);
                }
                break;
            case "map":
                try (FileChannel it = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                    MappedByteBuffer memory = it.map(FileChannel.MapMode.READ_WRITE, 0, 4);
                    memory.put(HARM);
                    memory.force();
                }
                break;
            case "transfer":
                try (FileChannel from = FileChannel.open(place.resolve("folder/inner"));
                        FileChannel to = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    from.transferTo(0, 4, to);
                }
                break;
            case "delete": Files.delete(file); break;
            case "delete-quietly": expect(file.toFile().delete()); break;
            case "delete-on-close": Files.newByteChannel(file, StandardOpenOption.DELETE_ON_CLOSE).close(); break;
            case "folder": Files.createDirectory(fresh); break;
            case "move-here": Files.move(file, scratch.resolve("moved-by-java")); break;
            case "move-there":
                Path mine = Files.createTempFile(scratch, "mine", null);
                Files.move(mine, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
                break;
            case "rename": expect(file.toFile().renameTo(fresh.toFile())); break;
            case "link": Files.createLink(scratch.resolve("linked-by-java"), file);
                Files.write(scratch.resolve("linked-by-java"), HARM); break;
            case "symbolic-link": Files.createSymbolicLink(fresh, file); break;
            case "through-link":
                Path link = Files.createSymbolicLink(scratch.resolve("symbolic-by-java"), file);
                Files.write(link, HARM);
                break;
            case "times": Files.setLastModifiedTime(file, FileTime.fromMillis(0)); break;
            case "times-quietly": expect(file.toFile().setLastModified(1)); break;
            case "mode": Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxrwxrwx")); break;
            case "mode-quietly": expect(file.toFile().setWritable(true, false)); break;
            case "owner":
                Files.setOwner(file, file.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("daemon"));
                break;
            case "attribute":
                Files.getFileAttributeView(file, UserDefinedFileAttributeView.class)
                        .write("harm", ByteBuffer.wrap(HARM));
                break;
            case "log-file": new FileHandler(fresh.toString()).close(); break;
            case "dump-heap":
                ManagementFactory.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class)
                        .dumpHeap(place.resolve("new.hprof").toString(), true);
                expect(Files.exists(place.resolve("new.hprof")));
                break;
            case "flight-recording":
                try (jdk.jfr.Recording recording = new jdk.jfr.Recording()) {
                    recording.start();
                    recording.stop();
                    recording.dump(fresh);
                }
                break;
            case "jvm-log":
                ManagementFactory.getPlatformMBeanServer().invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"), "vmLog",
                        new Object[] {new String[] {"output=" + fresh, "what=gc=info"}},
                        new String[] {String[].class.getName()});
                expect(Files.exists(fresh));
                break;
            case "compile": {
                Path source = Files.write(scratch.resolve("Compiled.java"), "class Compiled { }".getBytes());
                javax.tools.JavaCompiler compiler = javax.tools.ToolProvider.getSystemJavaCompiler();
                expect(compiler.run(null, null, null, "-d", place.toString(), source.toString()) == 0);
                break;
            }
            case "shared-memory-file": Files.write(Path.of(fact("shm")), HARM); break;
            case "connect": new Socket(InetAddress.getLoopbackAddress(), port("tcp")).close(); break;
            case "listen": new ServerSocket(0).close(); break;
            case "datagram":
                try (DatagramSocket socket = new DatagramSocket()) {
                    socket.send(new DatagramPacket(HARM, 4, InetAddress.getLoopbackAddress(), port("udp")));
                }
                break;
            case "datagram-channel":
                try (DatagramChannel channel = DatagramChannel.open()) {
                    channel.send(ByteBuffer.wrap(HARM), loopback("udp"));
                }
                break;
            case "socket-channel": SocketChannel.open(loopback("tcp")).close(); break;
            case "asynchronous-channel":
                try (AsynchronousSocketChannel channel = AsynchronousSocketChannel.open()) {
                    channel.connect(loopback("tcp")).get();
                }
                break;
            case "url": {
                URL url = new URL("http://127.0.0.1:" + port("tcp") + "/");
                java.net.URLConnection connection = url.openConnection();
                connection.setReadTimeout(500);
                try {
                    connection.getInputStream();
                } catch (java.net.SocketTimeoutException connected) {
                    break;
                }
                break;
            }
            case "unix": unix(); break;
            case "execute": Runtime.getRuntime().exec(new String[] {"/bin/sh", "-c", ": > " + mark()}).waitFor(); break;
            case "execute-builder":
                expect(new ProcessBuilder("/bin/sh", "-c", ": > " + mark()).inheritIO().start().waitFor() == 0);
                break;
            case "execute-jvm":
                expect(new ProcessBuilder(fact("java"), "-Xmx32m", "-Dmark=" + mark(), "-cp", fact("classes"),
                        "attacks.Mark").start().waitFor() == 0);
                break;
            case "destroy": {
                ProcessHandle other = ProcessHandle.of(port("victim")).get();
                expect(other.destroyForcibly());
                break;
            }
            case "attach": {
                Class<?> machine = Class.forName("com.sun.tools.attach.VirtualMachine");
                Object other = machine.getMethod("attach", String.class).invoke(null, fact("jvm"));
                machine.getMethod("detach").invoke(other);
                break;
            }
            case "descriptor-by-path": Files.write(Path.of("/proc/self/fd/7"), HARM); break;
            case "memory-of-parent":
                Files.newByteChannel(Path.of("/proc/" + parent() + "/mem"), StandardOpenOption.WRITE).close();
                break;
            case "environment-of-parent":
                expect(Files.readAllBytes(Path.of("/proc/" + parent() + "/environ")).length > 0);
                break;
            default: throw new IllegalArgumentException("no attempt " + name);
        }
    }

    private void unix() throws Throwable {
        // By reflection: Java has such addresses since 16.
        Class<?> type = Class.forName("java.net.UnixDomainSocketAddress");
        Method of = type.getMethod("of", Path.class);
        SocketAddress address = (SocketAddress) of.invoke(null, place.resolve("stream"));
        ProtocolFamily family = StandardProtocolFamily.valueOf("UNIX");
        Method open = SocketChannel.class.getMethod("open", ProtocolFamily.class);
        try (SocketChannel channel = (SocketChannel) open.invoke(null, family)) {
            channel.connect(address);
        } catch (java.lang.reflect.InvocationTargetException wrapped) {
            throw wrapped.getCause();
        }
    }

    private InetSocketAddress loopback(String name) throws IOException {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port(name));
    }

    private int port(String name) throws IOException {
        return Integer.parseInt(Files.readString(place.resolve(name)).trim());
    }

    private long parent() {
        return ProcessHandle.current().parent().get().pid();
    }

    private String mark() {
        return scratch + "/ran-" + place.getFileName();
    }

    private String fact(String key) {
        for (String line : facts.split("\n")) {
            if (line.startsWith(key + "=")) {
                return line.substring(key.length() + 1);
            }
        }
        return "";
    }

    private static void expect(boolean holds) throws IOException {
        if (!holds) {
            throw new IOException("not so");
        }
    }
}
