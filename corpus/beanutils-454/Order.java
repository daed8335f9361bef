package bug;

import java.math.BigDecimal;

/** What somebody ordered; the price may be open. */
public class Order {
    private String customer;
    private int count;
    private BigDecimal price;

    public String getCustomer() {
        return customer;
    }

    public void setCustomer(String customer) {
        this.customer = customer;
    }

    public int getCount() {
        return count;
    }

    public void setCount(int count) {
        this.count = count;
    }

    public BigDecimal getPrice() {
        return price;
    }

    public void setPrice(BigDecimal price) {
        this.price = price;
    }
}
