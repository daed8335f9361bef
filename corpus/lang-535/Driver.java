package bug;

import static org.junit.Assert.assertEquals;

import java.util.Map;
import org.apache.commons.lang.ClassUtils;
import org.junit.Test;

public class Driver {
    @Test
    public void namesOfClasses() {
        assertEquals("String", ClassUtils.getShortClassName(String.class));
        assertEquals("Map.Entry", ClassUtils.getShortClassName(Map.Entry.class));
        assertEquals("java.util", ClassUtils.getPackageName(Map.Entry.class));
        assertEquals("int", ClassUtils.getShortClassName(int.class));
        StringBuffer all = new StringBuffer();
        Class<?>[] kinds = {Integer.class, String[].class, int[][].class};
        for (Class<?> kind : kinds) {
            all.append(ClassUtils.getShortClassName(kind)).append(' ');
        }
        assertEquals("java.lang", ClassUtils.getPackageName(String.class));
        assertEquals("Integer String[] int[][] ", all.toString());
        assertEquals("java.lang", ClassUtils.getPackageName(String[].class));
    }
}
