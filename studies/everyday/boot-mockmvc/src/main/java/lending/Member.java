package lending;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;

@Entity
public class Member {
    @Id
    @GeneratedValue
    private Long id;
    private String name;
    private String grade;
    private int borrowed;

    protected Member() {
    }

    public Member(String name, String grade) {
        this.name = name;
        this.grade = grade;
    }

    public Long getId() {
        return id;
    }

    public String getName() {
        return name;
    }

    public String getGrade() {
        return grade;
    }

    public int getBorrowed() {
        return borrowed;
    }

    public void borrow() {
        borrowed++;
    }
}
