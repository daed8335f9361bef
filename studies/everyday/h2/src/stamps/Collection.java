package stamps;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

public class Collection {
    private final Connection connection;

    public Collection(Connection connection) throws SQLException {
        this.connection = connection;
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table stamp (id int primary key, country varchar(30), cents int)");
        }
    }

    public void add(int id, String country, int cents) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into stamp values (?, ?, ?)")) {
            insert.setInt(1, id);
            insert.setString(2, country);
            insert.setInt(3, cents);
            insert.executeUpdate();
        }
    }

    public int count() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select count(*) from stamp")) {
            row.next();
            return row.getInt(1);
        }
    }

    /** The stamps of a page, by their numbers; the first page is 0. */
    public List<Integer> page(int page, int size) throws SQLException {
        List<Integer> found = new ArrayList<>();
        String query = "select id from stamp order by id offset ? rows fetch next ? rows only";
        try (PreparedStatement select = connection.prepareStatement(query)) {
            select.setInt(1, page * (size + 1));
            select.setInt(2, size);
            try (ResultSet rows = select.executeQuery()) {
                while (rows.next()) {
                    found.add(rows.getInt(1));
                }
            }
        }
        return found;
    }
}
