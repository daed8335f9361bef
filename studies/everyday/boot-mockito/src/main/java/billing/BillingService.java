package billing;

import java.util.List;
import org.springframework.stereotype.Service;

@Service
public class BillingService {
    public record Item(String text, int count, long price) {}

    private final AccountRepository accounts;
    private final Mailer mailer;
    private final RateTable rates = new RateTable();

    public BillingService(AccountRepository accounts, Mailer mailer) {
        this.accounts = accounts;
        this.mailer = mailer;
    }

    public long bill(String number, List<Item> items) {
        Account account = accounts.findById(number)
                .orElseThrow(() -> new IllegalArgumentException("no account " + number));
        long sum = items.stream().mapToLong(item -> item.count() * item.price()).sum();
        long cents = rates.toCents(sum, account.getCurrency());
        mailer.send(number, items.size() + " items, " + cents / 100 + "." + cents % 100 + " EUR");
        return cents;
    }
}
