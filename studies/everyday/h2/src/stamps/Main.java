package stamps;

import java.sql.Connection;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.List;

public class Main {
    public static void main(String[] args) throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:stamps")) {
            Collection stamps = new Collection(connection);
            String[] countries = {"Chile", "Ghana", "Nepal"};
            for (int id = 1; id <= 23; id++) {
                stamps.add(id, countries[id % 3], 10 * id);
            }
            List<Integer> all = new ArrayList<>();
            for (int page = 0; page * 10 < stamps.count(); page++) {
                all.addAll(stamps.page(page, 10));
            }
            System.out.println(all);
            if (all.size() != stamps.count()) {
                throw new IllegalStateException(all.size() + " of " + stamps.count() + " stamps listed");
            }
        }
    }
}
