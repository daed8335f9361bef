package lending;

import org.springframework.stereotype.Component;

@Component
public class LoanPolicy {
    public int days(String grade, int borrowed) {
        int days = switch (grade) {
            case "STUDENT" -> 28;
            case "STAFF" -> 90;
            default -> 14;
        };
        return Math.max(7, days - 2 * borrowed);
    }
}
