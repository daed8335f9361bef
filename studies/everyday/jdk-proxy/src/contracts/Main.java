package contracts;

public class Main {
    public static void main(String[] args) {
        Audit audit = new Audit(new MemoryContracts());
        Contracts contracts = audit.as(Contracts.class);
        for (int i = 1; i <= 12; i++) {
            contracts.sign("C" + i, "party " + i % 5, 6 * i);
        }
        for (int i = 3; i <= 12; i += 4) {
            contracts.cancel("C" + i);
        }
        int left = 0;
        for (int i = 1; i <= 13; i++) {
            left += contracts.monthsLeft("C" + i, 10);
        }
        System.out.println(left + " months left, " + audit.size() + " calls");
    }
}
