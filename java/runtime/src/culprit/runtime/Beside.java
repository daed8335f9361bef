package culprit.runtime;

import java.lang.reflect.Field;
import java.util.function.BiConsumer;

/**
 * Where two runtimes meet that are in one JVM, in packages of their own: one replays, and one records
 * what the replay runs. Each is to the other something of the JDK.
 *
 * <p>What the JVM makes up is as it was recorded only once the replay has seen to it, and the probes of
 * the recording run come first. So they ask the replay to see to it now; and when that changes the hash
 * of an object, they are told, since ids are found by it.
 */
final class Beside implements BiConsumer<Object, Integer> {
    /** What the recording is about to look at. */
    static final Integer HASH = 1, STATE = 2, STRINGS = 3;

    /** The other runtime; null in a JVM that has one alone. Set by the agent. */
    private static BiConsumer<Object, Integer> other;

    private Beside() {}

    /** Whether a field is one that carries ids, for this runtime or for another. */
    static boolean isAdded(String field) {
        return field.endsWith("$id") && (field.startsWith("$culprit") || field.startsWith("$capture"));
    }

    /** What the other runtime gets of this one. */
    static Object self() {
        return new Beside();
    }

    /** The recording is about to look at an object. */
    static void looks(Object o, Integer what) {
        if (!State.REPLAYS && other != null) {
            other.accept(o, what);
        }
    }

    /** Whether there is another runtime. */
    static boolean isThere() {
        return other != null;
    }

    /** Whether two equal strings are one, as the replay has it. */
    static boolean areOne(String one, String two) {
        Object[] pair = {one, two};
        other.accept(pair, STRINGS);
        return pair[0] == pair[1];
    }

    /** The replay is about to give an object the hash that was recorded. */
    static void rehashes(Object o, int hash) {
        if (State.REPLAYS && other != null) {
            other.accept(o, hash);
        }
    }

    /** The executor has accessed an observed field for external code, where no probe is: the recording is told. */
    static void accessed(Class<?> owner, String name, Object receiver, boolean written) {
        if (!State.REPLAYS || other == null) {
            return;
        }
        try {
            int kind = written ? Records.INCOMING_WRITE : Records.INCOMING_READ;
            other.accept(new Object[] {owner.getDeclaredField(name), receiver, kind}, null);
        } catch (NoSuchFieldException inherited) {
            // Of an external class: nothing that is recorded.
        }
    }

    /** The replay is over, and what the current thread does from now on is nobody's doing. */
    static Object over() {
        if (State.REPLAYS && other != null) {
            other.accept(null, null);
        }
        return null;
    }

    /** What the other runtime says. */
    @Override
    public void accept(Object o, Integer what) {
        if (!State.REPLAYS) {
            if (o == null) {
                State.mute(State.ofCurrentThread(), 1);
            } else if (what == null) {
                Object[] access = (Object[]) o;
                Probe.reflected((Field) access[0], access[1], (Integer) access[2]);
            } else {
                Identity.alias(o, what);
            }
            return;
        }
        long token = State.current();
        if (token == 0) {
            return;
        }
        if (what.equals(STRINGS)) {
            Object[] pair = (Object[]) o;
            pair[1] = Strings.compared((String) pair[0], (String) pair[1]);
        } else if (what.equals(HASH)) {
            Hashes.foresee(o, State.of(token));
        } else {
            Structures.foresee(o, State.of(token));
        }
    }
}
