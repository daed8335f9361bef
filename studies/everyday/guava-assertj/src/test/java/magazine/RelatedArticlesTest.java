package magazine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RelatedArticlesTest {
    private final RelatedArticles related = new RelatedArticles();

    @BeforeEach
    void publish() {
        related.publish("Bread at home", "baking, kitchen, , yeast");
        related.publish("Sourdough", "baking,yeast,bread");
        related.publish("Knives", "kitchen, steel");
        related.publish("Bridges", "steel,rivers");
    }

    @Test
    void unknownArticlesHaveNone() {
        assertThat(related.of("Tunnels", 1)).isEmpty();
    }

    @Test
    void articlesWithCommonTagsAreRelated() {
        assertThat(related.of("Bridges", 2)).isEmpty();
        assertThat(related.of("Bread at home", 1)).containsExactly("Knives", "Sourdough");
    }
}
