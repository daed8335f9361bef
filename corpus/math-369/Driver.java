package bug;

import org.apache.commons.math.ConvergenceException;
import org.apache.commons.math.FunctionEvaluationException;
import org.apache.commons.math.analysis.UnivariateRealFunction;
import org.apache.commons.math.analysis.solvers.BisectionSolver;
import org.apache.commons.math.analysis.solvers.BrentSolver;
import org.apache.commons.math.analysis.solvers.UnivariateRealSolver;

/** Looks for the interest rate at which a loan is paid back, with two solvers. */
public class Driver {
    public static void main(String[] args) throws ConvergenceException, FunctionEvaluationException {
        UnivariateRealFunction debt = rate -> {
            double left = 1000;
            for (int month = 0; month < 24; month++) {
                left = left * (1 + rate) - 50;
            }
            return left;
        };
        UnivariateRealSolver[] solvers = {new BrentSolver(), new BisectionSolver()};
        for (UnivariateRealSolver solver : solvers) {
            solver.setAbsoluteAccuracy(1e-6);
            System.out.printf("%.4f from an interval%n", solver.solve(debt, 0.001, 0.2));
        }
        for (UnivariateRealSolver solver : solvers) {
            System.out.printf("%.4f from a guess%n", solver.solve(debt, 0.001, 0.2, 0.015));
        }
    }
}
