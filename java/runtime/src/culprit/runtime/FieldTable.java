package culprit.runtime;

import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import jdk.internal.misc.Unsafe;

/**
 * The instance fields of a class, those of its superclasses first, and where they are in an object.
 * Fields are read by their places, so no code of the program runs and nothing must be open to us.
 */
final class FieldTable {
    private static final Unsafe U = Unsafe.getUnsafe();

    private static final ClassValue<FieldTable> ALL =
            new ClassValue<FieldTable>() {
                @Override
                protected FieldTable computeValue(Class<?> type) {
                    return new FieldTable(type);
                }
            };

    /** Before JDK 12 the method to read a reference had another name. */
    private static final Method OLD_READ = oldRead();

    /** Descriptor characters, with {@code L} for all references, and places in the object. */
    final char[] shapes;

    final long[] offsets;

    /** Which field holds a key whose hash decides where the object is kept, or -1. */
    final int key;

    private FieldTable(Class<?> type) {
        String[] hidden = hidden(type);
        if (hidden != null) {
            shapes = new char[hidden.length / 2];
            offsets = new long[shapes.length];
            key = -1;
            StringBuilder described = new StringBuilder();
            String owner = type.getName().replace('.', '/');
            for (int i = 0; i < shapes.length; i++) {
                String name = hidden[2 * i];
                String descriptor = hidden[2 * i + 1];
                shapes[i] = descriptor.equals("I") ? 'I' : 'L';
                offsets[i] = U.objectFieldOffset(type, name);
                described.append(owner).append(' ').append(name).append(' ').append(descriptor).append('\n');
            }
            Native.fields(ClassInfo.of(type).type, described.toString());
            return;
        }
        List<Field> fields = new ArrayList<>();
        ArrayDeque<Class<?>> chain = new ArrayDeque<>();
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            chain.push(c);
        }
        for (Class<?> c : chain) {
            for (Field field : c.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !isOfTheJvm(c, field.getName())) {
                    fields.add(field);
                }
            }
        }
        StringBuilder described = new StringBuilder();
        shapes = new char[fields.size()];
        offsets = new long[fields.size()];
        int keyField = -1;
        for (int i = 0; i < shapes.length; i++) {
            Field field = fields.get(i);
            String descriptor = descriptor(field.getType());
            shapes[i] = descriptor.charAt(0) == '[' ? 'L' : descriptor.charAt(0);
            offsets[i] = U.objectFieldOffset(field);
            String owner = field.getDeclaringClass().getName().replace('.', '/');
            described.append(owner).append(' ').append(field.getName()).append(' ').append(descriptor).append('\n');
            if (isKey(owner, field.getName())) {
                keyField = i;
            }
        }
        key = keyField;
        Native.fields(ClassInfo.of(type).type, described.toString());
    }

    /** Name and descriptor of each field that says which member it is, of classes that hide theirs; or null. */
    private static String[] hidden(Class<?> type) {
        String one = "Ljava/lang/Class;";
        String many = "[Ljava/lang/Class;";
        String text = "Ljava/lang/String;";
        if (type == Method.class) {
            return new String[] {
                "clazz", one, "name", text, "returnType", one, "parameterTypes", many, "exceptionTypes", many,
                "modifiers", "I"
            };
        }
        if (type == Constructor.class) {
            return new String[] {"clazz", one, "parameterTypes", many, "exceptionTypes", many, "modifiers", "I"};
        }
        return type == Field.class ? new String[] {"clazz", one, "name", text, "type", one, "modifiers", "I"} : null;
    }

    private static String descriptor(Class<?> type) {
        if (type.isPrimitive()) {
            // That of an array of it, without the bracket.
            return java.lang.reflect.Array.newInstance(type, 0).getClass().getName().substring(1);
        }
        String name = type.getName().replace('.', '/');
        return type.isArray() ? name : 'L' + name + ';';
    }

    static FieldTable of(Class<?> type) {
        return ALL.get(type);
    }

    /** What we, the JVM and the collector keep in objects, and stacks. */
    static boolean isOfTheJvm(Class<?> owner, String name) {
        if (Beside.isAdded(name)) {
            return true; // A JVM that replays does not hide it.
        }
        if (owner.getName().startsWith("java.lang.invoke.") && owner != MethodType.class) {
            return true; // Handles have places of this JVM in them.
        }
        if (owner == Throwable.class) {
            return name.equals("backtrace") || name.equals("stackTrace") || name.equals("depth");
        }
        return owner == java.lang.ref.Reference.class && (name.equals("next") || name.equals("discovered"));
    }

    private static boolean isKey(String owner, String name) {
        boolean table =
                owner.startsWith("java/util/HashMap$")
                        || owner.startsWith("java/util/Hashtable$")
                        || owner.startsWith("java/util/concurrent/ConcurrentHashMap$");
        return table && name.equals("key");
    }

    static Object read(Object o, long offset) {
        if (OLD_READ == null) {
            return U.getReference(o, offset);
        }
        try {
            return OLD_READ.invoke(U, o, offset);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static Method oldRead() {
        try {
            return Values.FIELDS_OPEN ? null : Unsafe.class.getMethod("getObject", Object.class, long.class);
        } catch (NoSuchMethodException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
