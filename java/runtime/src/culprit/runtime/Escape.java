package culprit.runtime;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.Vector;

/**
 * A live library object goes out for the first time. From now on external code may change it and
 * every library object it holds, so all of them get ids, and are told: later calls on them are
 * recorded. A lambda of observed code goes out with what it captured.
 */
final class Escape {
    /** Beyond this many objects the walk stops and the loss is counted. */
    private static final int MOST = 1 << 16;

    /** Number of the loss, as the agent names it. */
    private static final int LARGE_ESCAPE = 2;

    /** Objects in one record. */
    private static final int MOST_TOLD = 1 << 10;

    private static final ClassValue<Field[]> REFERENCES =
            new ClassValue<Field[]>() {
                @Override
                protected Field[] computeValue(Class<?> type) {
                    return references(type);
                }
            };

    private Escape() {}

    static void element(Object o, long state) {
        if (o != null) {
            ClassInfo info = ClassInfo.of(o);
            if (leadsOn(o, info)) {
                mark(o, info, state, false);
            }
        }
    }

    /**
     * Gives ids to all live library objects and arrays that are reachable through such.
     *
     * <p>The walk calls methods of collections. They may lead to woven code: a collection of the JDK
     * can be a front for one of the program, and a mocking library or another agent may have
     * rewritten the JDK's own. A record is open on this thread, so none may begin meanwhile.
     *
     * @param named whether the record that is open names the object itself
     */
    static void mark(Object root, ClassInfo rootInfo, long state, boolean named) {
        Identity.of(root, rootInfo, state);
        boolean alone = isAlone(root);
        if (alone && named) {
            return;
        }
        List<Object> gone = new ArrayList<>();
        gone.add(root);
        if (!alone) {
            int before = State.mute(state, 1);
            try {
                walk(root, gone, state);
            } finally {
                State.mute(state, before);
            }
        }
        if (gone.size() > 1 || !named) {
            tell(gone, state);
        }
    }

    /** What nobody changes. */
    private static boolean isAlone(Object o) {
        return o instanceof VarHandle || o instanceof MethodHandle;
    }

    /** An exception of observed code goes out: whoever gets it may ask for its causes. */
    static void markCauses(Throwable thrown, long state) {
        List<Object> gone = new ArrayList<>();
        int before = State.mute(state, 1);
        try {
            walk(thrown, gone, state);
        } finally {
            State.mute(state, before);
        }
        if (!gone.isEmpty()) {
            tell(gone, state);
        }
    }

    /** Tells which objects got ids, before the record that is under way. */
    private static void tell(List<Object> gone, long state) {
        byte[] begun = Records.putAside(state);
        for (int from = 0; from < gone.size(); from += MOST_TOLD) {
            List<Object> some = gone.subList(from, Math.min(gone.size(), from + MOST_TOLD));
            Records.begin(state, Records.HELD, 0);
            for (int i = 0; i < some.size(); i++) {
                Object o = some.get(i);
                Values.room(state, 32);
                Values.plainObject(state, o, ClassInfo.of(o));
                if (i == 0) {
                    Values.four(state, some.size() - 1);
                }
            }
            Records.end(state);
        }
        Records.takeUp(state, begun);
    }

    private static void walk(Object root, List<Object> gone, long state) {
        ArrayDeque<Object> open = new ArrayDeque<>();
        open.add(root);
        int seen = 0;
        for (Object o; (o = open.poll()) != null; ) {
            if (++seen > MOST) {
                Native.lost(LARGE_ESCAPE);
                return;
            }
            if (isAlone(o)) {
                continue;
            }
            if (o instanceof Throwable && ClassInfo.of(o).role == ClassInfo.OBSERVED) {
                for (Field field : REFERENCES.get(Throwable.class)) {
                    visit(read(field, o), open, gone, state);
                }
            } else if (o instanceof Object[]) {
                for (Object held : (Object[]) o) {
                    visit(held, open, gone, state);
                }
            } else if (!isView(o) || !visitBacking(o, open, gone, state)) {
                visitHeld(o, open, gone, state);
            }
        }
    }

    /** Views and wrappers are nested classes of what they belong to. */
    private static boolean isView(Object o) {
        return (o instanceof Collection || o instanceof Map) && o.getClass().getName().indexOf('$') >= 0;
    }

    /**
     * A view or wrapper shares the collection behind it, and that leads on to all it holds. Whether
     * there is one.
     */
    private static boolean visitBacking(Object view, ArrayDeque<Object> open, List<Object> gone, long state) {
        boolean found = false;
        for (Field field : REFERENCES.get(view.getClass())) {
            Object held = read(field, view);
            if (held instanceof Collection || held instanceof Map) {
                visit(held, open, gone, state);
                found = true;
            }
        }
        return found;
    }

    private static void visitHeld(Object o, ArrayDeque<Object> open, List<Object> gone, long state) {
        try {
            int left = MOST;
            // Iterators of the old synchronised classes take the program's locks; fields do not.
            boolean locks = o instanceof Vector || o instanceof Hashtable;
            if (o instanceof Collection && !locks) {
                for (Object held : (Collection<?>) o) {
                    visit(held, open, gone, state);
                    if (--left == 0) {
                        Native.lost(LARGE_ESCAPE);
                        break;
                    }
                }
            } else if (o instanceof Map && !locks) {
                for (Map.Entry<?, ?> entry : ((Map<?, ?>) o).entrySet()) {
                    visit(entry.getKey(), open, gone, state);
                    visit(entry.getValue(), open, gone, state);
                    if (--left == 0) {
                        Native.lost(LARGE_ESCAPE);
                        break;
                    }
                }
            } else {
                for (Field field : REFERENCES.get(o.getClass())) {
                    visit(read(field, o), open, gone, state);
                }
            }
        } catch (RuntimeException changedMeanwhile) {
            Native.lost(LARGE_ESCAPE);
        }
    }

    private static Object read(Field field, Object o) {
        try {
            return field.get(o);
        } catch (IllegalAccessException notOpened) {
            Native.lost(LARGE_ESCAPE);
            return null;
        }
    }

    private static void visit(Object held, ArrayDeque<Object> open, List<Object> gone, long state) {
        if (held == null) {
            return;
        }
        ClassInfo info = ClassInfo.of(held);
        if (leadsOn(held, info)) {
            Identity.of(held, info, state);
            gone.add(held);
            open.add(held);
        } else if (info.role == ClassInfo.OBSERVED && info.form == ClassInfo.OBJECT && Identity.known(held, info) == 0) {
            // External code gets hold of it too.
            Identity.of(held, info, state);
            gone.add(held);
            if (held instanceof Throwable) {
                open.add(held);
            }
        }
    }

    /** Nodes of collections are reached by nobody but the collection. */
    private static boolean leadsOn(Object o, ClassInfo info) {
        if (o instanceof Map.Entry || o.getClass().getName().endsWith("Node")) {
            return false;
        }
        boolean follows =
                info.form == ClassInfo.ARRAY
                        || info.form == ClassInfo.OBJECT && (info.role == ClassInfo.LIVE || info.captures);
        return follows && !Identity.crossed(o) && info.constant(o) == null;
    }

    private static Field[] references(Class<?> type) {
        List<Field> found = new ArrayList<>();
        for (Class<?> c = type; c != null && c != Object.class; c = c.getSuperclass()) {
            for (Field field : c.getDeclaredFields()) {
                boolean held = !field.getType().isPrimitive() && !Modifier.isStatic(field.getModifiers());
                // A stack is nobody's business.
                if (held && !FieldTable.isOfTheJvm(c, field.getName()) && field.trySetAccessible()) {
                    found.add(field);
                }
            }
        }
        return found.toArray(new Field[0]);
    }
}
