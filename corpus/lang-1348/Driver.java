package bug;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.commons.lang3.ClassUtils;
import org.apache.commons.lang3.reflect.TypeUtils;

/** Prints the generic signatures of a few well-known methods. */
public class Driver {
    public static void main(String[] args) throws NoSuchMethodException {
        Method[] methods = {
            String.class.getMethod("concat", String.class),
            List.class.getMethod("subList", int.class, int.class),
            Map.class.getMethod("entrySet"),
            TimeUnit.class.getMethod("valueOf", String.class),
            Enum.class.getMethod("valueOf", Class.class, String.class),
        };
        for (Method method : methods) {
            StringBuilder line = new StringBuilder(ClassUtils.getShortClassName(method.getDeclaringClass()));
            line.append('.').append(method.getName()).append('(');
            for (Type type : method.getGenericParameterTypes()) {
                line.append(TypeUtils.toString(type)).append("; ");
            }
            line.append(") : ").append(TypeUtils.toString(method.getGenericReturnType()));
            System.out.println(line);
        }
    }
}
