package venue;

import java.util.List;
import java.util.Locale;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class EventController {
    private final EventStore store;

    public EventController(EventStore store) {
        this.store = store;
    }

    @GetMapping("/events")
    public Page<String> events(@RequestParam(name = "page", defaultValue = "1") int page,
            @RequestParam(name = "word", defaultValue = "") String word) {
        String wanted = word.toLowerCase(Locale.ROOT);
        List<String> found = store.upcoming().stream()
                .filter(title -> title.toLowerCase(Locale.ROOT).contains(wanted))
                .sorted()
                .toList();
        return Page.of(found, page, 4);
    }
}
