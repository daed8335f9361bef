import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes the classes of some modules of this runtime into one file: module, path, length, bytes; repeated. */
public class Extract {
    public static void main(String[] args) throws Exception {
        FileSystem runtime = FileSystems.getFileSystem(URI.create("jrt:/"));
        try (DataOutputStream out =
                new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(Path.of(args[0])), 1 << 20))) {
            for (int i = 1; i < args.length; i++) {
                Path root = runtime.getPath("modules", args[i]);
                List<Path> classes;
                try (Stream<Path> all = Files.walk(root)) {
                    classes = all.filter(p -> p.toString().endsWith(".class")).sorted().collect(Collectors.toList());
                }
                for (Path path : classes) {
                    byte[] bytes = Files.readAllBytes(path);
                    out.writeUTF(args[i]);
                    out.writeUTF(root.relativize(path).toString());
                    out.writeInt(bytes.length);
                    out.write(bytes);
                }
            }
        }
    }
}
