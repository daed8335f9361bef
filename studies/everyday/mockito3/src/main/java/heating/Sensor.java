package heating;

public interface Sensor {
    String room();

    double celsius();

    boolean alive();
}
