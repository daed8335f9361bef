package bug;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.commons.math3.stat.inference.MannWhitneyUTest;
import org.junit.jupiter.api.Test;

class Driver {
    private final MannWhitneyUTest test = new MannWhitneyUTest();

    @Test
    void interleavedSamplesDoNotDiffer() {
        for (int size : new int[] {100, 500, 1500}) {
            double[] even = new double[size];
            double[] odd = new double[size];
            for (int i = 0; i < size; i++) {
                even[i] = 2 * i;
                odd[i] = 2 * i + 1;
            }
            double half = (double) size * size / 2;
            assertEquals(half, test.mannWhitneyU(even, odd), size);
            assertTrue(test.mannWhitneyUTest(even, odd) > 0.1, "samples of " + size);
        }
    }
}
