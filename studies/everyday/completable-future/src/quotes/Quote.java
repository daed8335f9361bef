package quotes;

public record Quote(String supplier, int cents) {
    public Quote cheaper(Quote other) {
        return other.cents < cents ? other : this;
    }
}
