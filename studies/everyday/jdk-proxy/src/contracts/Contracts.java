package contracts;

public interface Contracts {
    void sign(String number, String party, int months);

    void cancel(String number);

    int monthsLeft(String number, int passed);
}
