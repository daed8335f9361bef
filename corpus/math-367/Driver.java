package bug;

import java.util.Iterator;
import org.apache.commons.math.linear.ArrayRealVector;
import org.apache.commons.math.linear.RealVector;

/** Adds up the votes in three districts, skipping candidates without any. */
public class Driver {
    public static void main(String[] args) {
        RealVector[] districts = {
            new ArrayRealVector(new double[] {3, 0, 4, 1}),
            new ArrayRealVector(new double[] {0, 2, 0, 5}),
            new ArrayRealVector(new double[] {0, 1, 0, 0}),
        };
        RealVector all = new ArrayRealVector(4);
        for (RealVector votes : districts) {
            all = all.add(votes);
        }
        System.out.println("all: " + all.getL1Norm());
        for (RealVector votes : districts) {
            double sum = 0;
            int candidates = 0;
            Iterator<RealVector.Entry> entries = votes.sparseIterator();
            while (entries.hasNext()) {
                RealVector.Entry entry = entries.next();
                sum += entry.getValue();
                candidates++;
            }
            System.out.println(candidates + " candidates, " + sum + " votes");
        }
    }
}
