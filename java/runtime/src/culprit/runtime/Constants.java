package culprit.runtime;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.Charset;
import java.util.IdentityHashMap;
import java.util.Map;
import jdk.internal.misc.Unsafe;

/**
 * The constants of library classes: objects in static fields that never change, as {@code
 * Locale.ROOT}, and the value of all entries of a {@code HashSet}. Code compares them by identity,
 * and a copy or a stand-in would not be the same. They are told by the names of their fields, so
 * they have no ids, and both sides of the border run their code live.
 */
final class Constants {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** A static field that holds a constant. */
    static final class Constant {
        final Class<?> owner;
        final String name;

        Constant(Class<?> owner, String name) {
            this.owner = owner;
            this.name = name;
        }
    }

    /** Those of all classes that were looked at, by identity. Replaced by a larger one. */
    private static volatile Map<Object, Constant> all = new IdentityHashMap<>();

    /** Those in the fields of a class, its superclasses, and the classes that these are nested in. */
    private static final ClassValue<Map<Object, Constant>> AROUND =
            new ClassValue<Map<Object, Constant>>() {
                @Override
                protected Map<Object, Constant> computeValue(Class<?> type) {
                    return gather(type);
                }
            };

    private Constants() {}

    /** Whether a constant in the fields around a class is of that class. There is one charset of a name. */
    static boolean areOf(Class<?> type) {
        if (Charset.class.isAssignableFrom(type)) {
            return true;
        }
        for (Object constant : AROUND.get(type).keySet()) {
            // A map by identity shows its own stand-in for null as null.
            if (constant != null && constant.getClass() == type) {
                return true;
            }
        }
        return false;
    }

    /** The constant of its own class that an object is, or null. */
    static Constant of(Object o) {
        if (o instanceof Charset && ClassInfo.role(o) == ClassInfo.LIVE) {
            return new Constant(Charset.class, ((Charset) o).name());
        }
        return AROUND.get(o.getClass()).get(o);
    }

    /** The constant that an object is which is held by one of a class: of its own, of the holder's, or of any. */
    static Constant of(Object o, Class<?> holder) {
        Constant own = of(o);
        Constant ofHolder = own == null ? AROUND.get(holder).get(o) : own;
        return ofHolder == null ? all.get(o) : ofHolder;
    }

    static void write(long state, Constant constant) {
        Values.four(state, Values.CONSTANT << 24 | ClassInfo.of(constant.owner).type);
        Values.value(state, constant.name);
    }

    /** What a constant is in this JVM; null if there is none of that name. */
    static Object value(Class<?> owner, String name) {
        if (owner == Charset.class) {
            return Charset.forName(name);
        }
        U.ensureClassInitialized(owner);
        for (Field field : owner.getDeclaredFields()) {
            if (field.getName().equals(name) && Modifier.isStatic(field.getModifiers())) {
                return FieldTable.read(U.staticFieldBase(field), U.staticFieldOffset(field));
            }
        }
        return null;
    }

    private static synchronized Map<Object, Constant> gather(Class<?> type) {
        Map<Object, Constant> found = new IdentityHashMap<>();
        for (Class<?> base = type; base != null; base = base.getSuperclass()) {
            // A class of the program may be within one that is not there.
            for (Class<?> c = base; c != null && c.getClassLoader() == null; c = c.getDeclaringClass()) {
                if (ClassInfo.of(c).role == ClassInfo.LIVE && !U.shouldBeInitialized(c)) {
                    gatherFields(c, found);
                }
            }
        }
        Map<Object, Constant> more = new IdentityHashMap<>(all);
        for (Map.Entry<Object, Constant> one : found.entrySet()) {
            more.putIfAbsent(one.getKey(), one.getValue());
        }
        all = more;
        return found;
    }

    private static void gatherFields(Class<?> c, Map<Object, Constant> into) {
        for (Field field : c.getDeclaredFields()) {
            int modifiers = field.getModifiers();
            boolean fixed = Modifier.isStatic(modifiers) && Modifier.isFinal(modifiers);
            if (fixed && !field.getType().isPrimitive()) {
                Object value = FieldTable.read(U.staticFieldBase(field), U.staticFieldOffset(field));
                if (value != null && isTold(value)) {
                    into.putIfAbsent(value, new Constant(c, field.getName()));
                }
            }
        }
    }

    /** Values are told by content, and what has no other state than threads and locks is not told. */
    private static boolean isTold(Object value) {
        ClassInfo info = ClassInfo.of(value);
        return info.form == ClassInfo.OBJECT && info.role == ClassInfo.LIVE || info.form == ClassInfo.ARRAY;
    }
}
