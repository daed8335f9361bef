package league;

public class Main {
    public static void main(String[] args) {
        Table table = new Table();
        table.game("United", 2, "Rovers", 2);
        table.game("City", 1, "Town", 0);
        table.game("Rovers", 1, "City", 1);
        table.game("Town", 4, "United", 2);
        table.game("City", 1, "Rovers", 6);
        for (String row : table.rows()) {
            System.out.println(row);
        }
    }
}
