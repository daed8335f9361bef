package bug;

import org.apache.commons.collections.MapIterator;
import org.apache.commons.collections.map.Flat3Map;

/** Keeps the stock of a small shop and checks that it adds up. */
public class Driver {
    public static void main(String[] args) {
        Flat3Map stock = new Flat3Map();
        int[] counts = {7, 5, 9};
        String[] goods = {"tea", "milk", "rice"};
        int total = 0;
        for (int i = 0; i < goods.length; i++) {
            stock.put(goods[i], counts[i]);
            total += counts[i];
        }
        stock.put("tea", 8);
        total++;
        int sold = (Integer) stock.remove("milk");
        int left = 0;
        for (MapIterator it = stock.mapIterator(); it.hasNext();) {
            System.out.println(it.next() + ": " + it.getValue());
            left += (Integer) it.getValue();
        }
        System.out.println("sold " + sold + ", left " + left + " of " + total);
        if (sold + left != total) {
            System.exit(3);
        }
    }
}
