package bug;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.commons.io.IOUtils;
import org.apache.commons.io.input.ClassLoaderObjectInputStream;
import org.apache.commons.io.output.ByteArrayOutputStream;

/** Stores the signatures of a few methods and reads them back. */
public class Driver {
    public static void main(String[] args) throws IOException, ClassNotFoundException {
        List<Class<?>[]> signatures = new ArrayList<>();
        signatures.add(new Class<?>[] {String.class, Object.class});
        signatures.add(new Class<?>[] {});
        signatures.add(new Class<?>[] {List.class, String[].class});
        signatures.add(new Class<?>[] {String.class, int.class});
        for (Class<?>[] signature : signatures) {
            byte[] stored = store(signature);
            ObjectInputStream in = new ClassLoaderObjectInputStream(
                    Driver.class.getClassLoader(), new ByteArrayInputStream(stored));
            Class<?>[] read = (Class<?>[]) in.readObject();
            IOUtils.closeQuietly(in);
            System.out.println(stored.length + " bytes: " + Arrays.toString(read));
        }
    }

    private static byte[] store(Object object) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ObjectOutputStream out = new ObjectOutputStream(bytes);
        out.writeObject(object);
        out.close();
        return bytes.toByteArray();
    }
}
