package billing;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

@Entity
public class Account {
    @Id
    private String number;
    private String currency;

    protected Account() {
    }

    public Account(String number, String currency) {
        this.number = number;
        this.currency = currency;
    }

    public String getNumber() {
        return number;
    }

    public String getCurrency() {
        return currency;
    }
}
