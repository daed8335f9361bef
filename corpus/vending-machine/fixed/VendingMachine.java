package bug;

/** Sells one thing at one price, as long as there is credit for it. */
public class VendingMachine {
    private static final int PRICE = 65;

    private int credit;
    private int sold;
    private boolean enabled;

    public void insert(Coin coin) {
        credit += coin.cents();
        if (credit >= PRICE) {
            enabled = true;
        }
    }

    public void vend() {
        if (!enabled) {
            throw new IllegalStateException("disabled");
        }
        credit -= PRICE;
        sold++;
        if (credit < PRICE) {
            enabled = false;
        }
        if (credit < 0) {
            throw new IllegalStateException("credit of " + credit);
        }
    }

    public int refund() {
        int back = credit;
        credit = 0;
        enabled = false;
        return back;
    }

    public boolean isEnabled() {
        return enabled;
    }

    public int credit() {
        return credit;
    }

    public int sold() {
        return sold;
    }
}
