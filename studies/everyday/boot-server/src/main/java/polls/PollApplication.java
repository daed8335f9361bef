package polls;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class PollApplication {
    public static void main(String[] args) {
        SpringApplication.run(PollApplication.class, args);
    }
}
