package bug;

import org.apache.commons.math3.util.MathArrays;

/** Scores exams of different lengths, the last of them with one question only. */
public class Driver {
    public static void main(String[] args) {
        double[][] weights = {{0.5, 0.25, 0.25}, {0.1, 0.2, 0.3, 0.4}, {0.7, 0.3}, {1.0}};
        double[][] points = {{12, 8, 4}, {10, 10, 10, 10}, {3, 9}, {17}};
        double best = 0;
        for (int exam = 0; exam < weights.length; exam++) {
            double[] scaled = MathArrays.ebeMultiply(weights[exam], points[exam]);
            double norm = MathArrays.safeNorm(scaled);
            double score = MathArrays.linearCombination(weights[exam], points[exam]);
            System.out.printf("exam %d: score %.2f, norm %.2f%n", exam, score, norm);
            best = Math.max(best, score);
        }
        System.out.println("best: " + best);
    }
}
