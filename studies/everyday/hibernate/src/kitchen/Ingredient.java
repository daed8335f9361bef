package kitchen;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;

@Entity
public class Ingredient {
    @Id
    @GeneratedValue
    private Long id;
    private String name;
    private int grams;

    protected Ingredient() {
    }

    Ingredient(String name, int grams) {
        this.name = name;
        this.grams = grams;
    }

    public String name() {
        return name;
    }

    public int grams() {
        return grams;
    }
}
