package customer;

/** What the depot asks of the outside. */
public interface Prices {
    /** Cents. */
    long of(String item);
}
