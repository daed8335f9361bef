import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Answers for a check, one file after the other: a line with its path comes, {@code true} or {@code false} goes. */
class Resident {
    private static final int PATIENCE_MS = 300_000;

    public static void main(String[] args) throws Exception {
        Method check = Class.forName(args[0]).getDeclaredMethod("shows", String.class);
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            server.setSoTimeout(PATIENCE_MS);
            Path port = Path.of(args[1]);
            Path part = Path.of(args[1] + ".part");
            Files.writeString(part, server.getLocalPort() + "\n");
            Files.move(part, port, StandardCopyOption.ATOMIC_MOVE);
            while (true) {
                try (Socket client = server.accept()) {
                    answer(client, check);
                } catch (SocketTimeoutException nobody) {
                    return;
                }
            }
        }
    }

    private static void answer(Socket client, Method check) throws Exception {
        BufferedReader reader = new BufferedReader(new InputStreamReader(client.getInputStream()));
        boolean shows;
        try {
            shows = (boolean) check.invoke(null, Files.readString(Path.of(reader.readLine())));
        } catch (Exception | StackOverflowError otherwise) {
            shows = false;
        }
        client.getOutputStream().write((shows + "\n").getBytes());
    }
}
