package phones;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

public class SearchServlet extends HttpServlet {
    private final Directory directory = new Directory();

    @Override
    public void init() {
        directory.add("Reception", "100");
        directory.add("Canteen", "2 30");
        directory.add("Workshop", "2 45");
        directory.add("Night watch", "9 99");
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String limit = request.getParameter("limit");
        response.setContentType("text/plain");
        for (String line : directory.search(request.getParameter("word"), limit == null ? 10 : Integer.parseInt(limit))) {
            response.getWriter().println(line);
        }
    }
}
