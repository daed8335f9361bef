package venue;

import java.util.List;
import org.springframework.stereotype.Component;

@Component
public class EventStore {
    public List<String> upcoming() {
        return List.of();
    }
}
