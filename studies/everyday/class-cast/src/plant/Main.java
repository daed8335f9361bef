package plant;

public class Main {
    public static void main(String[] args) {
        Plan plan = new Plan();
        plan.tank("source", 900);
        plan.pump("p1");
        plan.pump("p2");
        for (int i = 1; i <= 6; i++) {
            plan.tank("t" + i, 100 * i);
            plan.connect(i <= 3 ? "p1" : "p2", "t" + i);
        }
        plan.connect("source", "t6");
        System.out.println(plan.litresBehind("p1") + " " + plan.litresBehind("p2"));
        plan.connect("t2", "p2");
        System.out.println(plan.litresBehind("p1"));
    }
}
