package depot;

import java.util.List;
import org.springframework.data.jpa.repository.JpaRepository;

public interface PartRepository extends JpaRepository<Part, String> {
    List<Part> findByShelfOrderByNumber(String shelf);
}
