package polls;

import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Service;

@Service
public class PollService {
    private final Map<String, Poll> polls = new ConcurrentHashMap<>();

    public void open(String name) {
        if (polls.putIfAbsent(name, new Poll(name)) != null) {
            throw new IllegalStateException("there is a poll " + name);
        }
    }

    public Poll find(String name) {
        Poll poll = polls.get(name);
        if (poll == null) {
            throw new NoSuchElementException("no poll " + name);
        }
        return poll;
    }
}
