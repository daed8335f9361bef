package sales;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class Main {
    public static void main(String[] args) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        List<Future<String>> reports = new ArrayList<>();
        for (int number = 1; number <= 10; number++) {
            Week week = new Week(number);
            for (int day = 0; day < number % 7; day++) {
                week.sell(100 * day + number);
            }
            reports.add(pool.submit(week::report));
        }
        try {
            for (Future<String> report : reports) {
                System.out.println(report.get());
            }
        } catch (ExecutionException failed) {
            throw new IllegalStateException("the reports are not complete", failed);
        } finally {
            pool.shutdown();
        }
    }
}
