package kitchen;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.OneToMany;
import java.util.ArrayList;
import java.util.List;

@Entity
public class Recipe {
    @Id
    private String title;
    @OneToMany(cascade = CascadeType.ALL)
    private List<Ingredient> ingredients = new ArrayList<>();
    private Integer servings;

    protected Recipe() {
    }

    public Recipe(String title, int servings) {
        this.title = title;
        this.servings = servings;
    }

    public Recipe add(String name, int grams) {
        ingredients.add(new Ingredient(name, grams));
        return this;
    }

    public String title() {
        return title;
    }

    /** The weight of one serving. */
    public int serving() {
        int grams = 0;
        for (Ingredient ingredient : ingredients) {
            grams += ingredient.grams();
        }
        return grams / servings;
    }
}
