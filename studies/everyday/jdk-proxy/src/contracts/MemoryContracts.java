package contracts;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

class MemoryContracts implements Contracts {
    private record Contract(String party, int months) {}

    private final Map<String, Contract> active = new HashMap<>();
    private final Set<String> known = new HashSet<>();

    @Override
    public void sign(String number, String party, int months) {
        if (!known.add(number)) {
            throw new IllegalArgumentException("signed before: " + number);
        }
        active.put(number, new Contract(party, months));
    }

    @Override
    public void cancel(String number) {
        active.remove(number);
    }

    @Override
    public int monthsLeft(String number, int passed) {
        if (!known.contains(number)) {
            return 0;
        }
        return Math.max(0, active.get(number).months() - passed);
    }
}
