package backup;

import java.util.List;

public class Main {
    public static void main(String[] args) {
        Plan plan = new Plan(2000);
        for (String argument : args) {
            String[] pair = argument.split("=");
            plan.add(pair[0], Integer.parseInt(pair[1]));
        }
        int saved = 0;
        for (List<String> tape : plan.tapes()) {
            System.out.println("tape " + tape);
            saved += tape.size();
        }
        if (saved != args.length) {
            System.out.println("only " + saved + " of " + args.length + " saved");
            System.exit(3);
        }
    }
}
