package bug;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.yaml.snakeyaml.Yaml;

/** Reads messages on two threads and answers each of them. */
public class Driver {
    public static void main(String[] args) throws InterruptedException {
        String[] messages = {
            "from: ann\nto: [bob, cid]\ntext: hello\n",
            "from: bob\nto: [ann]\ntext: >\n  a longer\n  text\ncount: 2\n",
            "from: cid\nto: [ann]\ntext: 'see you \ud83d\ude00'\n",
        };
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<String>> answers = new ArrayList<>();
        for (String message : messages) {
            answers.add(pool.submit(() -> answer(message)));
        }
        pool.shutdown();
        for (Future<String> answer : answers) {
            try {
                System.out.println(answer.get());
            } catch (ExecutionException e) {
                throw (RuntimeException) e.getCause();
            }
        }
    }

    private static String answer(String message) {
        Yaml yaml = new Yaml();
        Map<?, ?> read = (Map<?, ?>) yaml.load(message);
        List<String> to = new ArrayList<>();
        to.add((String) read.get("from"));
        return yaml.dump(Map.of("to", to)) + "re: " + read.get("text");
    }
}
