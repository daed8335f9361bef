package theatre;

public interface Printer {
    boolean print(String ticket);
}
