package server;

import org.eclipse.jetty.server.LocalConnector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.webapp.WebAppContext;

/** Deploys a war file and asks it a few questions, as a check before a release. */
public class Smoke {
    private static final String[] PATHS = {"/search?word=n", "/search?word=shop&limit=1", "/search?word=zoo", "/search"};

    public static void main(String[] args) throws Exception {
        Server server = new Server();
        LocalConnector connector = new LocalConnector(server);
        server.addConnector(connector);
        server.setHandler(new WebAppContext(args[0], "/"));
        server.start();
        int failed = 0;
        for (String path : PATHS) {
            String answer = connector.getResponse("GET " + path + " HTTP/1.0\r\nHost: smoke\r\n\r\n");
            String status = answer.substring(0, answer.indexOf('\r'));
            System.out.println(path + " " + status);
            if (!status.contains("200")) {
                failed++;
            }
        }
        server.stop();
        System.exit(failed == 0 ? 0 : 1);
    }
}
