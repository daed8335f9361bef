package bug;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.apache.commons.math3.optimization.GoalType;
import org.apache.commons.math3.optimization.PointValuePair;
import org.apache.commons.math3.optimization.linear.LinearConstraint;
import org.apache.commons.math3.optimization.linear.LinearObjectiveFunction;
import org.apache.commons.math3.optimization.linear.Relationship;
import org.apache.commons.math3.optimization.linear.SimplexSolver;
import org.junit.jupiter.api.Test;

class Driver {
    @Test
    void theBestMixOfThreeProducts() {
        LinearObjectiveFunction profit = new LinearObjectiveFunction(new double[] {2, 6, 7}, 0);
        List<LinearConstraint> limits = new ArrayList<>();
        limits.add(new LinearConstraint(new double[] {1, 2, 1}, Relationship.LEQ, 2));
        limits.add(new LinearConstraint(new double[] {-1, 1, 1}, Relationship.LEQ, -1));
        limits.add(new LinearConstraint(new double[] {2, -3, 1}, Relationship.LEQ, -1));
        PointValuePair best =
                new SimplexSolver().optimize(profit, limits, GoalType.MAXIMIZE, false);
        double[] mix = best.getPoint();
        assertEquals(3, mix.length);
        assertEquals(profit.getValue(mix), best.getValue(), 1e-9);
        assertTrue(mix[0] > 0, "first product");
        assertTrue(mix[1] > 0, "second product");
        assertEquals(2, best.getValue(), 1e-6);
    }
}
