package transit;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class TransitApplication {
    public static void main(String[] args) {
        SpringApplication.run(TransitApplication.class, args);
    }
}
