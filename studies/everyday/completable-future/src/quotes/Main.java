package quotes;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

public class Main {
    private static CompletableFuture<Optional<Quote>> best(List<Supplier> suppliers, String article, int count) {
        CompletableFuture<Optional<Quote>> best = CompletableFuture.completedFuture(Optional.empty());
        for (Supplier supplier : suppliers) {
            CompletableFuture<Optional<Quote>> next = CompletableFuture.supplyAsync(() -> supplier.quote(article, count));
            best = best.thenCombine(next, (a, b) -> a.isPresent() && b.isPresent()
                    ? Optional.of(a.get().cheaper(b.get())) : a.or(() -> b));
        }
        return best;
    }

    public static void main(String[] args) {
        List<Supplier> suppliers = List.of(
                new Supplier("north").offer("valve", 450, 30).offer("pump", 12_900, 2),
                new Supplier("south").offer("valve", 430, 12).offer("hose", 800, 100),
                new Supplier("west").offer("pump", 11_500, 0).offer("hose", 760, 5));
        System.out.println(best(suppliers, "valve", 10).join());
        System.out.println(best(suppliers, "hose", 20).join());
        System.out.println(best(suppliers, "pump", 1).join());
    }
}
