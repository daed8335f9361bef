package lending;

import java.time.LocalDate;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class LendingController {
    public record NewMember(String name, String grade) {}

    private final LendingService lending;

    public LendingController(LendingService lending) {
        this.lending = lending;
    }

    @PostMapping("/members")
    public Long join(@RequestBody NewMember member) {
        return lending.join(member.name(), member.grade());
    }

    @PostMapping("/members/{name}/loans")
    public LendingService.Loan lend(@PathVariable("name") String name, @RequestParam("isbn") String isbn,
            @RequestParam("day") LocalDate day) {
        return lending.lend(name, isbn, day);
    }
}
