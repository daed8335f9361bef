package culprit.runtime;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Ids of objects. Objects of woven classes carry theirs in an added field, along with the number of
 * their type; all others (library objects, arrays) are kept in a weak table by identity. An id never
 * keeps its object alive.
 *
 * <p>Having an id means having crossed the border. A library object without one was made by
 * observed code, stayed there, and runs live.
 */
final class Identity {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Bits of the added field that hold the type; the id is above. */
    static final int TYPE_BITS = 24;

    /** The bit of the added field, its sign, that says that the hash of the object was told. */
    static final long TOLD = 1L << 63;

    /** The bit that says that an observed constructor made the object. */
    static final long BORN = 1L << 62;

    static final long FLAGS = TOLD | BORN;

    /**
     * The bit that says that the object has no id, but a number among all that observed constructors
     * made: the thread, and below it how many that thread had made before. The agent has the same
     * places in its {@code state.rs}.
     */
    static final long BIRTH = 1L << 61;

    static final int BIRTH_BITS = 36;

    private static final int STRIPES = 64;
    private static final Stripe[] TABLE = new Stripe[STRIPES];

    /**
     * Whether the header tells that an object never had its identity hash taken, and so cannot be
     * in the table. Found out at start, since the layout is the JVM's own business.
     */
    private static final boolean HEADER_TELLS;

    /** Where the hash is in the header: the place is bit 8, and bit 11 since JDK 24 or so. */
    private static final long HASH_MASK;

    private static final int HASH_SHIFT;

    static {
        for (int i = 0; i < STRIPES; i++) {
            TABLE[i] = new Stripe();
        }
        int shift = calibrate(8) ? 8 : 11;
        HASH_SHIFT = shift;
        HASH_MASK = 0x7fffffffL << shift;
        HEADER_TELLS = shift == 8 || calibrate(11);
    }

    private Identity() {}

    private static boolean calibrate(int shift) {
        long mask = 0x7fffffffL << shift;
        for (int i = 0; i < 16; i++) {
            Object probe = new Object();
            long fresh = U.getLong(probe, 0L);
            int hash = System.identityHashCode(probe);
            long hashed = U.getLong(probe, 0L);
            if ((fresh & 7) != 1 || (fresh & mask) != 0) {
                return false;
            }
            if ((hashed & 7) != 1 || (hashed & mask) >>> shift != hash) {
                return false;
            }
        }
        return true;
    }

    /** The id of an object, given now if it has none. */
    static long of(Object o, ClassInfo info, long state) {
        long offset = info.idOffset;
        if (offset == 0) {
            return stripe(o).idOf(o, state);
        }
        long carried = U.getLong(o, offset);
        if (!isNamed(carried)) {
            long made = fresh(state) << TYPE_BITS | info.type;
            while (!isNamed(carried) && !U.compareAndSetLong(o, offset, carried, carried & FLAGS | made)) {
                carried = U.getLongVolatile(o, offset);
            }
            carried = U.getLongVolatile(o, offset);
            if (State.REPLAYS) {
                Answer.keep(o, (carried & ~FLAGS) >>> TYPE_BITS);
            }
        }
        return (carried & ~FLAGS) >>> TYPE_BITS;
    }

    /** Whether there is an id in what an object carries. */
    private static boolean isNamed(long carried) {
        return (carried & BIRTH) == 0 && (carried & ~FLAGS) != 0;
    }

    /**
     * The number of a woven object among those that observed constructors made, if it has no id yet; or
     * 0.
     */
    static long birth(Object o, ClassInfo info) {
        long carried = info.idOffset == 0 ? 0 : U.getLong(o, info.idOffset);
        return (carried & BIRTH) == 0 ? 0 : carried & ~FLAGS;
    }

    /** Notes that the hash of an object is told; whether it was not before. */
    static boolean tell(Object o, ClassInfo info, long state) {
        if (info.form == ClassInfo.CLASS) {
            return ClassInfo.of((Class<?>) o).tellHash();
        }
        long offset = info.idOffset;
        if (offset == 0) {
            return info.form == ClassInfo.ENUM
                    ? info.tell((Enum<?>) o)
                    : stripe(o).tell(o, state);
        }
        long carried;
        do {
            carried = U.getLongVolatile(o, offset);
        } while (carried >= 0 && !U.compareAndSetLong(o, offset, carried, carried | TOLD));
        return carried >= 0;
    }

    /**
     * Takes the id back that a copy got along with the other fields of the original. One that is made
     * on the observed side, where there is a token, is as good as one that a constructor made.
     */
    static void separate(Object copy, Object original, long token) {
        if (copy == null || copy == original || copy.getClass() != original.getClass()) {
            return;
        }
        long offset = ClassInfo.of(copy).idOffset;
        if (offset != 0 && ((U.getLong(copy, offset) ^ U.getLong(original, offset)) & ~FLAGS) == 0) {
            U.putLong(copy, offset, token == 0 ? 0 : born(copy, 0, token));
        }
    }

    /** The id of an object, or 0 if it has none. */
    static long known(Object o, ClassInfo info) {
        if (info.idOffset != 0) {
            long carried = U.getLong(o, info.idOffset);
            return isNamed(carried) ? (carried & ~FLAGS) >>> TYPE_BITS : 0;
        }
        return isFresh(o) ? 0 : find(o);
    }

    /** Whether an observed object is one that neither an event named nor a constructor made. */
    static boolean isUnknown(Object o, ClassInfo info) {
        return info.role == ClassInfo.OBSERVED && info.idOffset != 0 && (U.getLong(o, info.idOffset) & ~TOLD) == 0;
    }

    /** Notes that an observed constructor makes an object whose class does not have the field itself. */
    static void born(Object o, long token) {
        long offset = ClassInfo.of(o).idOffset;
        if (offset != 0) {
            long carried, born;
            do {
                carried = U.getLongVolatile(o, offset);
                born = born(o, carried, token);
            } while (!U.compareAndSetLong(o, offset, carried, born));
        }
    }

    /** What an object is to carry that is made by observed code, in the place of what it carries. */
    @ForceInline
    static long born(Object o, long carried, long token) {
        if (token == 0) {
            return carried | BORN;
        }
        long state = State.of(token);
        long birth = U.getLong(state + State.BIRTHS);
        U.putLong(state + State.BIRTHS, birth + 1);
        if (State.REPLAYS) {
            Answer.born(o, state, birth);
        }
        return isNamed(carried) ? carried | BORN : carried | birth;
    }

    /** Whether an object of an unwoven class has crossed the border. */
    static boolean crossed(Object o) {
        return !isFresh(o) && find(o) != 0;
    }

    /** Whether the header alone tells that an object of an unwoven class has not crossed. */
    @ForceInline
    static boolean isFresh(Object o) {
        return HEADER_TELLS && (U.getLong(o, 0L) & (HASH_MASK | 7)) == 1;
    }

    /**
     * Gives an object the hash that it had when it was recorded, as the JVM itself would: in one step, and
     * only while nobody holds its lock. One that has another hash by now is found under both.
     */
    static void setHash(Object o, int hash) {
        long header = U.getLong(o, 0L);
        if (hash == 0 || !HEADER_TELLS || (header & 7) != 1) {
            return;
        }
        if ((header & HASH_MASK) >>> HASH_SHIFT == hash) {
            return;
        }
        alias(o, hash);
        Beside.rehashes(o, hash);
        long hashed = header & ~HASH_MASK | (long) hash << HASH_SHIFT;
        U.compareAndSetLong(o, 0L, header, hashed);
    }

    /** Has an object of an unwoven class, which is about to get another hash, found under that too. */
    static void alias(Object o, int hash) {
        Entry known = isFresh(o) || ClassInfo.of(o).idOffset != 0 ? null : stripe(o).entry(o);
        if (known != null) {
            TABLE[hash & STRIPES - 1].put(o, hash, known);
        }
    }

    /** Whether the hash of an object was told. */
    static boolean isTold(Object o, ClassInfo info) {
        if (info.form == ClassInfo.CLASS) {
            return ClassInfo.of((Class<?>) o).isTold();
        }
        if (info.idOffset != 0 || info.form == ClassInfo.ENUM) {
            return Hashes.isTold(o, info);
        }
        Entry known = isFresh(o) ? null : stripe(o).entry(o);
        return known != null && known.told;
    }

    /** Takes the ids of objects back: for a scenario in which they have none yet. */
    static void forget(Object[] all, int count) {
        for (int i = 0; i < count; i++) {
            Object o = all[i];
            long offset = o == null ? 0 : ClassInfo.of(o).idOffset;
            if (offset != 0) {
                U.putLong(o, offset, 0);
            }
        }
        for (int i = 0; i < STRIPES; i++) {
            TABLE[i] = new Stripe();
        }
    }

    private static long find(Object o) {
        return stripe(o).find(o);
    }

    /** Whether the state of an object of an unwoven class was told for good. */
    static boolean isStated(Object o) {
        return stripe(o).isStated(o);
    }

    /** Notes that the state of an object of an unwoven class was told for good. */
    static void state(Object o) {
        stripe(o).state(o);
    }

    private static Stripe stripe(Object o) {
        return TABLE[System.identityHashCode(o) & STRIPES - 1];
    }

    private static long fresh(long state) {
        long id = U.getLong(state + State.NEXT_ID);
        if (id == U.getLong(state + State.LAST_ID)) {
            Native.moreIds(state);
            id = U.getLong(state + State.NEXT_ID);
        }
        U.putLong(state + State.NEXT_ID, id + 1);
        return id;
    }

    /** The id of one object, as long as that lives. */
    private static final class Entry extends WeakReference<Object> {
        final int hash;
        final long id;

        /** Whether the object's hash was told. Two threads may both find that it was not. */
        boolean told;

        /** Whether the object's state was told, and that is enough. */
        boolean stated;

        Entry(Object o, ReferenceQueue<Object> queue, int hash, long id) {
            super(o, queue);
            this.hash = hash;
            this.id = id;
        }
    }

    /** A link of a chain. Links never change, so chains are read without a lock. */
    private static final class Link {
        final Entry entry;
        final Link next;

        Link(Entry entry, Link next) {
            this.entry = entry;
            this.next = next;
        }
    }

    /** One part of the table. */
    private static final class Stripe {
        private final ReferenceQueue<Object> dead = new ReferenceQueue<>();
        private volatile Link[] buckets = new Link[64];
        private int size;

        private static int index(int hash, Link[] buckets) {
            return hash >>> 6 & buckets.length - 1;
        }

        long find(Object o) {
            Entry entry = entry(o);
            return entry == null ? 0 : entry.id;
        }

        private Entry entry(Object o) {
            int hash = System.identityHashCode(o);
            Link[] all = buckets;
            for (Link link = all[index(hash, all)]; link != null; link = link.next) {
                if (link.entry.hash == hash && link.entry.get() == o) {
                    return link.entry;
                }
            }
            return null;
        }

        boolean isStated(Object o) {
            Entry entry = entry(o);
            return entry != null && entry.stated;
        }

        void state(Object o) {
            Entry entry = entry(o);
            if (entry != null) {
                entry.stated = true;
            }
        }

        boolean tell(Object o, long state) {
            idOf(o, state);
            Entry entry = entry(o);
            boolean news = !entry.told;
            entry.told = true;
            return news;
        }

        long idOf(Object o, long state) {
            long id = find(o);
            return id != 0 ? id : add(o, state);
        }

        /** Keeps what is known of an object under another hash. */
        synchronized void put(Object o, int hash, Entry known) {
            Entry entry = put(o, hash, known.id);
            entry.told = known.told;
            entry.stated = known.stated;
        }

        private Entry put(Object o, int hash, long id) {
            Link[] all = size > buckets.length ? larger() : buckets;
            int index = index(hash, all);
            Entry entry = new Entry(o, dead, hash, id);
            all[index] = new Link(entry, all[index]);
            buckets = all;
            size++;
            return entry;
        }

        private synchronized long add(Object o, long state) {
            long id = find(o);
            if (id != 0) {
                return id;
            }
            purge();
            id = fresh(state);
            put(o, System.identityHashCode(o), id);
            if (State.REPLAYS) {
                Answer.keep(o, id);
            }
            return id;
        }

        private void purge() {
            for (Object gone; (gone = dead.poll()) != null; size--) {
                Link[] all = buckets;
                int index = index(((Entry) gone).hash, all);
                Link kept = null;
                for (Link link = all[index]; link != null; link = link.next) {
                    if (link.entry != gone) {
                        kept = new Link(link.entry, kept);
                    }
                }
                all[index] = kept;
            }
        }

        private Link[] larger() {
            Link[] larger = new Link[buckets.length * 2];
            for (Link head : buckets) {
                for (Link link = head; link != null; link = link.next) {
                    int index = index(link.entry.hash, larger);
                    larger[index] = new Link(link.entry, larger[index]);
                }
            }
            return larger;
        }
    }
}
