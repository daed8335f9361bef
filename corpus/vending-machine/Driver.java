package bug;

/** A day at the machine: inserts, refunds and sales. */
public class Driver {
    public static void main(String[] args) {
        VendingMachine machine = new VendingMachine();
        insert(machine, "QUARTER", "QUARTER", "DIME", "NICKEL", "NICKEL");
        sell(machine);
        insert(machine, "QUARTER", "QUARTER", "QUARTER");
        machine.insert(Coin.of("QUARTER"));
        sell(machine);
        insert(machine, "DIME", "DIME", "DIME");
        machine.refund();
        insert(machine, "NICKEL", "DOLLAR");
        sell(machine);
        sell(machine);
        insert(machine, "DIME", "DIME", "QUARTER");
        sell(machine);
        machine.refund();
        System.out.println(machine.sold() + " sold");
    }

    private static void insert(VendingMachine machine, String... coins) {
        for (String coin : coins) {
            machine.insert(Coin.of(coin));
        }
    }

    private static void sell(VendingMachine machine) {
        if (machine.isEnabled()) {
            machine.vend();
        }
        System.out.println("credit " + machine.credit());
    }
}
