package billing;

public interface Mailer {
    void send(String account, String text);
}
