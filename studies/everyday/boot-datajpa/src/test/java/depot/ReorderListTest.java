package depot;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.orm.jpa.DataJpaTest;
import org.springframework.context.annotation.Import;

@DataJpaTest
@Import(ReorderList.class)
class ReorderListTest {
    @Autowired
    PartRepository parts;
    @Autowired
    ReorderList reorders;

    @BeforeEach
    void fill() {
        parts.save(new Part("B-100", "bolts", 40, 50));
        parts.save(new Part("B-200", "bolts", 90, 50));
        parts.save(new Part("B-300", "bolts", 70, 50));
        parts.save(new Part("N-100", "nuts", 10, 5));
        parts.flush();
    }

    @Test
    void fullShelvesNeedNothing() {
        assertThat(reorders.ofShelf("nuts")).isEmpty();
    }

    @Test
    void partsAtTheirMinimumAreOrdered() {
        Part part = parts.findById("B-300").orElseThrow();
        part.take(20);
        parts.saveAndFlush(part);
        assertThat(reorders.ofShelf("bolts")).containsEntry("B-100", 60).containsEntry("B-300", 50);
    }
}
