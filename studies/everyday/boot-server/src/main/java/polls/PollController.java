package polls;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/polls/{name}")
public class PollController {
    private final PollService polls;

    public PollController(PollService polls) {
        this.polls = polls;
    }

    @PostMapping
    public void open(@PathVariable("name") String name) {
        polls.open(name);
    }

    @PostMapping("/votes")
    public int vote(@PathVariable("name") String name, @RequestParam("for") String choice) {
        return polls.find(name).vote(choice);
    }

    @GetMapping("/result")
    public int result(@PathVariable("name") String name, @RequestParam("for") String choice) {
        return polls.find(name).percent(choice);
    }
}
