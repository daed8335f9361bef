package culprit.runtime;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Accesses to observed fields by reflection. The site of such an access is made when it is first seen. */
final class Reflection {
    /** Sites by field name and direction, for each class that declares the field. */
    private static final ClassValue<Map<String, Integer>> SITES =
            new ClassValue<Map<String, Integer>>() {
                @Override
                protected Map<String, Integer> computeValue(Class<?> type) {
                    return new ConcurrentHashMap<>();
                }
            };

    /** Fields by name, for each class that declares them. */
    private static final ClassValue<Map<String, Field>> FIELDS =
            new ClassValue<Map<String, Field>>() {
                @Override
                protected Map<String, Field> computeValue(Class<?> type) {
                    return new ConcurrentHashMap<>();
                }
            };

    /** Number of the loss, as the agent names it. */
    private static final int UNREADABLE = 4;

    private Reflection() {}

    static void record(long token, Field field, Object object, int kind) {
        Class<?> declaring = field.getDeclaringClass();
        if (ClassInfo.of(declaring).role != ClassInfo.OBSERVED) {
            return;
        }
        boolean isStatic = Modifier.isStatic(field.getModifiers());
        boolean reads = kind == Records.INCOMING_READ;
        Object value;
        Integer site;
        try {
            value = readable(declaring, field.getName()).get(object);
            String key = (reads ? "<" : ">") + field.getName();
            site = SITES.get(declaring).get(key);
            if (site == null) {
                site = Native.fieldSite(declaring, field.getName(), field.getType(), isStatic);
                SITES.get(declaring).put(key, site);
            }
        } catch (ReflectiveOperationException | RuntimeException notReadable) {
            Native.lost(UNREADABLE);
            return;
        }
        long state = Probe.beginAccess(token, kind, site);
        if (state == 0) {
            return;
        }
        if (!isStatic) {
            Values.reference(state, object, false);
        }
        put(state, value, field.getType(), reads);
        Probe.endAccess(state);
    }

    /** The same field, open to us: the program's own object may be open to the program alone. */
    private static Field readable(Class<?> declaring, String name) throws NoSuchFieldException {
        Map<String, Field> known = FIELDS.get(declaring);
        Field field = known.get(name);
        if (field == null) {
            field = declaring.getDeclaredField(name);
            field.setAccessible(true);
            known.put(name, field);
        }
        return field;
    }

    private static void put(long state, Object value, Class<?> type, boolean outward) {
        if (type == boolean.class) {
            Values.one(state, (Boolean) value ? 1 : 0);
        } else if (type == byte.class) {
            Values.one(state, (Byte) value);
        } else if (type == short.class) {
            Values.two(state, (Short) value);
        } else if (type == char.class) {
            Values.two(state, (Character) value);
        } else if (type == int.class) {
            Values.four(state, (Integer) value);
        } else if (type == long.class) {
            Values.eight(state, (Long) value);
        } else if (type == float.class) {
            Values.four(state, Float.floatToRawIntBits((Float) value));
        } else if (type == double.class) {
            Values.eight(state, Double.doubleToRawLongBits((Double) value));
        } else {
            Values.reference(state, value, outward);
        }
    }
}
