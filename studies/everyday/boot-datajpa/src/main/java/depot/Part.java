package depot;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

@Entity
public class Part {
    @Id
    private String number;
    private String shelf;
    private int stock;
    private int minimum;

    protected Part() {
    }

    public Part(String number, String shelf, int stock, int minimum) {
        this.number = number;
        this.shelf = shelf;
        this.stock = stock;
        this.minimum = minimum;
    }

    public String getNumber() {
        return number;
    }

    public String getShelf() {
        return shelf;
    }

    public int getStock() {
        return stock;
    }

    public int missing() {
        return 2 * minimum - stock;
    }

    public boolean isLow() {
        return stock < minimum;
    }

    public void take(int count) {
        if (count > stock) {
            throw new IllegalArgumentException("only " + stock + " of " + number);
        }
        stock -= count;
    }
}
