package bug;

import java.util.Arrays;
import java.util.List;
import org.apache.commons.codec.language.DoubleMetaphone;

/** Finds guests that may be the same person. */
public class Driver {
    public static void main(String[] args) {
        List<String> guests = Arrays.asList("Smith", "Schmidt", "Smyth", "", "Catherine", "Kathryn");
        DoubleMetaphone sound = new DoubleMetaphone();
        sound.setMaxCodeLen(6);
        for (String guest : guests) {
            System.out.println(guest + " sounds like " + sound.doubleMetaphone(guest));
        }
        int pairs = 0;
        for (int i = 0; i < guests.size(); i++) {
            for (int j = i + 1; j < guests.size(); j++) {
                if (sound.isDoubleMetaphoneEqual(guests.get(i), guests.get(j), false)) {
                    System.out.println(guests.get(i) + " = " + guests.get(j));
                    pairs++;
                }
            }
        }
        System.out.println(pairs + " pairs");
    }
}
