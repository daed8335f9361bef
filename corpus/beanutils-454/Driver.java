package bug;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;
import org.apache.commons.beanutils.BeanUtils;
import org.apache.commons.beanutils.PropertyUtils;

/** Fills orders from forms and copies them. */
public class Driver {
    public static void main(String[] args) throws Exception {
        String[][] forms = {{"ann", "3", "9.50"}, {"bob", "1", "120"}, {"cid", "2", null}};
        for (String[] form : forms) {
            Map<String, Object> fields = new HashMap<>();
            fields.put("customer", form[0]);
            fields.put("count", form[1]);
            if (form[2] != null) {
                fields.put("price", form[2]);
            }
            Order order = new Order();
            BeanUtils.populate(order, fields);
            System.out.println(BeanUtils.getProperty(order, "customer") + " "
                    + PropertyUtils.getPropertyType(order, "price").getSimpleName());
            Order copy = new Order();
            BeanUtils.copyProperties(copy, order);
            BigDecimal price = copy.getPrice();
            System.out.println(copy.getCount() + " x " + (price == null ? "?" : price));
        }
    }
}
