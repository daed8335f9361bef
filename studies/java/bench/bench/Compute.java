package bench;

import org.apache.commons.math3.analysis.MultivariateFunction;
import org.apache.commons.math3.complex.Complex;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.EigenDecomposition;
import org.apache.commons.math3.linear.LUDecomposition;
import org.apache.commons.math3.linear.QRDecomposition;
import org.apache.commons.math3.linear.RealMatrix;
import org.apache.commons.math3.linear.RealVector;
import org.apache.commons.math3.linear.SingularValueDecomposition;
import org.apache.commons.math3.ode.FirstOrderDifferentialEquations;
import org.apache.commons.math3.ode.nonstiff.DormandPrince853Integrator;
import org.apache.commons.math3.optim.InitialGuess;
import org.apache.commons.math3.optim.MaxEval;
import org.apache.commons.math3.optim.PointValuePair;
import org.apache.commons.math3.optim.nonlinear.scalar.GoalType;
import org.apache.commons.math3.optim.nonlinear.scalar.ObjectiveFunction;
import org.apache.commons.math3.optim.nonlinear.scalar.noderiv.NelderMeadSimplex;
import org.apache.commons.math3.optim.nonlinear.scalar.noderiv.SimplexOptimizer;
import org.apache.commons.math3.random.MersenneTwister;
import org.apache.commons.math3.stat.descriptive.DescriptiveStatistics;
import org.apache.commons.math3.transform.DftNormalization;
import org.apache.commons.math3.transform.FastFourierTransformer;
import org.apache.commons.math3.transform.TransformType;

/** Computing: commons-math solves equations, integrates, optimises and transforms. */
final class Compute implements Workload {
    @Override
    public long iteration(int number) {
        MersenneTwister random = new MersenneTwister(number);
        double sum = linear(random) + integrate(number) + optimise(number) + signal(random);
        return Math.round(sum * 1e6);
    }

    private static double linear(MersenneTwister random) {
        int size = 24;
        RealMatrix a = new Array2DRowRealMatrix(size, size);
        for (int row = 0; row < size; row++) {
            for (int column = 0; column < size; column++) {
                a.setEntry(row, column, random.nextGaussian() + (row == column ? size : 0));
            }
        }
        RealVector b = a.getRowVector(0).mapMultiply(2).add(a.getColumnVector(1));
        RealVector x = new LUDecomposition(a).getSolver().solve(b);
        RealVector y = new QRDecomposition(a).getSolver().solve(b);
        RealMatrix symmetric = a.multiply(a.transpose());
        double spectrum = new EigenDecomposition(symmetric).getRealEigenvalue(0);
        double norm = new SingularValueDecomposition(a).getNorm();
        return x.getDistance(y) + x.getNorm() + spectrum / (norm * norm);
    }

    private static double integrate(int number) {
        double mu = 1 + number % 5;
        FirstOrderDifferentialEquations oscillator =
                new FirstOrderDifferentialEquations() {
                    @Override
                    public int getDimension() {
                        return 2;
                    }

                    @Override
                    public void computeDerivatives(double t, double[] y, double[] derivatives) {
                        derivatives[0] = y[1];
                        derivatives[1] = mu * (1 - y[0] * y[0]) * y[1] - y[0];
                    }
                };
        double[] state = {2, 0};
        new DormandPrince853Integrator(1e-8, 1, 1e-9, 1e-9).integrate(oscillator, 0, state, 15, state);
        return state[0] + state[1];
    }

    private static double optimise(int number) {
        MultivariateFunction valley =
                p -> {
                    double value = 0;
                    for (int i = 0; i + 1 < p.length; i++) {
                        double slope = p[i + 1] - p[i] * p[i];
                        value += 100 * slope * slope + (1 - p[i]) * (1 - p[i]);
                    }
                    return value;
                };
        PointValuePair least =
                new SimplexOptimizer(1e-10, 1e-12)
                        .optimize(
                                new MaxEval(20_000),
                                new ObjectiveFunction(valley),
                                GoalType.MINIMIZE,
                                new InitialGuess(new double[] {-1.2, 1, number % 3}),
                                new NelderMeadSimplex(3));
        return least.getValue();
    }

    private static double signal(MersenneTwister random) {
        double[] samples = new double[1024];
        for (int i = 0; i < samples.length; i++) {
            samples[i] = Math.sin(i * 0.1) + random.nextGaussian();
        }
        Complex[] spectrum =
                new FastFourierTransformer(DftNormalization.STANDARD).transform(samples, TransformType.FORWARD);
        DescriptiveStatistics statistics = new DescriptiveStatistics();
        for (Complex line : spectrum) {
            statistics.addValue(line.multiply(line.conjugate()).sqrt().abs());
        }
        return statistics.getPercentile(90) + statistics.getStandardDeviation() + statistics.getKurtosis();
    }
}
