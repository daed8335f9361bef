package bug;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.commons.lang.ArrayUtils;
import org.apache.commons.lang.ClassUtils;
import org.apache.commons.lang.StringUtils;

/** Describes the rows of a table, each on a thread of a small pool. */
public class Driver {
    public static void main(String[] args) throws Exception {
        Object[][] rows = {{"one", 1, 1.0}, {"two", 2L}, {"three", null, 3}, {}};
        ExecutorService pool = Executors.newFixedThreadPool(2);
        try {
            List<Future<String>> lines = new ArrayList<>();
            for (Object[] row : rows) {
                lines.add(pool.submit(() -> describe(row)));
            }
            for (Future<String> line : lines) {
                System.out.println(line.get());
            }
        } catch (ExecutionException e) {
            throw (Exception) e.getCause();
        } finally {
            pool.shutdown();
        }
    }

    private static String describe(Object[] row) {
        Class<?>[] kinds = ClassUtils.toClass(row);
        List<String> names = new ArrayList<>();
        for (Class<?> kind : kinds) {
            names.add(ClassUtils.getShortClassName(kind == null ? Void.class : kind));
        }
        return ArrayUtils.toString(row) + ": " + StringUtils.join(names, ", ");
    }
}
