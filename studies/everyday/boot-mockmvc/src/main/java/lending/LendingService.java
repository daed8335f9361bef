package lending;

import java.time.LocalDate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class LendingService {
    public record Loan(String member, String isbn, LocalDate due) {}

    private final MemberRepository members;
    private final LoanPolicy policy;

    public LendingService(MemberRepository members, LoanPolicy policy) {
        this.members = members;
        this.policy = policy;
    }

    @Transactional
    public Long join(String name, String grade) {
        return members.save(new Member(name, grade)).getId();
    }

    @Transactional
    public Loan lend(String name, String isbn, LocalDate day) {
        Member member = members.findByName(name)
                .orElseThrow(() -> new IllegalArgumentException("no member " + name));
        String digits = isbn.replace("-", "");
        if (digits.length() != 10 && digits.length() != 13) {
            throw new IllegalArgumentException("not an ISBN: " + isbn);
        }
        Loan loan = new Loan(name, digits, day.plusDays(policy.days(member.getGrade(), member.getBorrowed())));
        member.borrow();
        return loan;
    }
}
