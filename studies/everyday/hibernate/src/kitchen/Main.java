package kitchen;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Persistence;
import java.util.List;

public class Main {
    public static void main(String[] args) {
        EntityManagerFactory factory = Persistence.createEntityManagerFactory("kitchen");
        EntityManager manager = factory.createEntityManager();
        manager.getTransaction().begin();
        manager.persist(new Recipe("Soup", 4).add("carrots", 500).add("leek", 200).add("water", 1000));
        manager.persist(new Recipe("Bread", 10).add("flour", 600).add("water", 400).add("salt", 12));
        manager.persist(new Recipe("Salad", 2).add("lettuce", 250).add("oil", 20));
        manager.createNativeQuery("insert into Recipe (title) values ('Porridge')").executeUpdate();
        manager.getTransaction().commit();
        manager.clear();
        List<Recipe> all = manager.createQuery("from Recipe order by title", Recipe.class).getResultList();
        for (Recipe recipe : all) {
            System.out.println(recipe.title() + ": " + recipe.serving() + " g");
        }
        factory.close();
    }
}
