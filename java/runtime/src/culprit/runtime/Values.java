package culprit.runtime;

import java.io.BufferedReader;
import java.io.FilterInputStream;
import java.io.FilterReader;
import java.io.ObjectInputStream;
import java.io.SequenceInputStream;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * Writes values into the record that is open. Scalars take their natural width; references a word
 * of tag and payload, then what the tag asks for. `docs/recording-format.md` has the layout.
 *
 * <p>The buffer keeps a reserve beyond its limit that is enough for all scalars and object
 * references of one record, so only strings and arrays look whether there is room.
 */
final class Values {
    static final int NULL = 0,
            OBJECT = 1,
            OBJECT_WIDE = 2,
            STRING8 = 3,
            STRING16 = 4,
            STRING_BLOB = 5,
            CLASS = 6,
            ENUM = 7,
            BOXED = 8,
            ARRAY = 9,
            ARRAY_BLOB = 10,
            ARRAY_REF = 11,
            REDACTED = 12,
            UNKNOWN = 13,
            ARRAY_PART = 14,
            ARRAY_PART_BLOB = 15,
            STRUCTURE = 16,
            PIECE = 17,
            CONSTANT = 18;

    /** Longer strings and primitive arrays are stored once, as blobs. */
    private static final int INLINE_CHARS = 64, INLINE_BYTES = 256;

    /** Longer arrays of references, and arrays nested deeper, are recorded without contents. */
    private static final int MOST_ELEMENTS = 1 << 16, DEEPEST = 6;

    /** A record that has grown over this takes no further arrays of references. */
    private static final int MOST_BYTES = 1 << 18;

    /** Numbers of losses, as the agent names them. */
    static final int LONG_ARRAY = 0, DEEP_ARRAY = 1, OUT_OF_MEMORY = 3;

    private static final Unsafe U = Unsafe.getUnsafe();

    /** References in fields of the JDK are read; before JDK 12 that had another name. */
    static final boolean FIELDS_OPEN = Runtime.version().feature() >= 12;

    private static final long STRING_VALUE = U.objectFieldOffset(String.class, "value"),
            STRING_CODER = U.objectFieldOffset(String.class, "coder"),
            FILTERED = U.objectFieldOffset(FilterInputStream.class, "in"),
            STRING_BASE = ClassInfo.of(byte[].class).elementBase;

    /** Set by the agent before the first event where `--redact` was given. */
    static boolean masking;

    /** Whether the contents of library objects are told when observed code is given them. */
    static final boolean TELLS_CONTENTS = Native.tellsContents();

    private Values() {}

    /** The arrays around a value. One that comes again within itself is told without contents. */
    private static final class Nest {
        final Object array;
        final Nest around;
        final int depth;

        Nest(Object array, Nest around) {
            this.array = array;
            this.around = around;
            this.depth = around == null ? 1 : around.depth + 1;
        }

        static boolean holds(Object array, Nest nest) {
            while (nest != null && nest.array != array) {
                nest = nest.around;
            }
            return nest != null;
        }
    }

    static void one(long state, int value) {
        long position = U.getLong(state + State.POSITION);
        U.putByte(position, (byte) value);
        U.putLong(state + State.POSITION, position + 1);
    }

    static void two(long state, int value) {
        long position = U.getLong(state + State.POSITION);
        U.putShort(position, (short) value);
        U.putLong(state + State.POSITION, position + 2);
    }

    static void four(long state, int value) {
        long position = U.getLong(state + State.POSITION);
        U.putInt(position, value);
        U.putLong(state + State.POSITION, position + 4);
    }

    static void eight(long state, long value) {
        long position = U.getLong(state + State.POSITION);
        U.putLong(position, value);
        U.putLong(state + State.POSITION, position + 8);
    }

    /** A reference that goes out of observed code, or comes in with the contents of arrays. */
    static void reference(long state, Object o, boolean outward) {
        long position = U.getLong(state + State.POSITION);
        U.putLong(state + State.POSITION, reference(state, position, o, outward));
    }

    /**
     * The same at a place in the buffer; the place after it. Objects that carry their id take a few
     * instructions, everything else a call.
     */
    static long reference(long state, long position, Object o, boolean outward) {
        if (o == null) {
            U.putInt(position, NULL);
            return position + 4;
        }
        long offset = ClassInfo.of(o).idOffset;
        if (offset != 0) {
            long carried = U.getLong(o, offset) & ~Identity.FLAGS;
            long id = carried >>> Identity.TYPE_BITS;
            if (id != 0 && id < 1L << 32) {
                U.putLong(position, id << 32 | OBJECT << 24 | carried & 0xffffff);
                return position + 8;
            }
        }
        U.putLong(state + State.POSITION, position);
        other(state, o, outward);
        return U.getLong(state + State.POSITION);
    }

    @DontInline
    private static void other(long state, Object o, boolean outward) {
        long start = U.getLong(state + State.POSITION) - Records.open(state);
        try {
            write(state, o, outward, null);
        } catch (StackOverflowError ofTheProgram) {
            throw ofTheProgram;
        } catch (OutOfMemoryError full) {
            Native.lost(OUT_OF_MEMORY);
            takeBack(state, start);
        } catch (Throwable own) {
            Native.fault(own.toString());
            takeBack(state, start);
        }
    }

    /** Puts "unknown" in the place of a value that could not be written. The record may have moved. */
    private static void takeBack(long state, long start) {
        U.putLong(state + State.POSITION, Records.open(state) + start);
        four(state, UNKNOWN << 24);
    }

    /** A value that is told by content, or an array that comes in. */
    static void value(long state, Object o) {
        write(state, o, false, null);
    }

    private static void write(long state, Object o, boolean outward, Nest around) {
        if (o == null) {
            four(state, NULL);
            return;
        }
        if (o instanceof String) {
            string(state, (String) o);
            return;
        }
        ClassInfo info = ClassInfo.of(o);
        switch (info.form) {
            case ClassInfo.OBJECT:
                object(state, o, info, outward);
                break;
            case ClassInfo.CLASS:
                four(state, CLASS << 24 | ClassInfo.of((Class<?>) o).type);
                break;
            case ClassInfo.ENUM:
                info.named((Enum<?>) o);
                four(state, ENUM << 24 | info.enumType);
                four(state, ((Enum<?>) o).ordinal());
                break;
            case ClassInfo.BOXED:
                boxed(state, o, info.code);
                break;
            default:
                array(state, o, info, outward, around);
        }
    }

    private static void object(long state, Object o, ClassInfo info, boolean outward) {
        Constants.Constant constant = info.constant(o);
        if (constant != null) {
            room(state, 8 + 2 * INLINE_CHARS);
            Constants.write(state, constant);
            return;
        }
        if (outward && (info.role == ClassInfo.LIVE || info.captures) && !Identity.crossed(o)) {
            Escape.mark(o, info, state, true);
        } else if (outward && o instanceof Throwable && info.role == ClassInfo.OBSERVED && Identity.known(o, info) == 0) {
            Escape.markCauses((Throwable) o, state);
        }
        if (info.role == ClassInfo.OBSERVED && Records.takesIn(state, outward)) {
            long birth = Identity.birth(o, info);
            if (birth != 0) {
                Records.born(state, o, info, birth);
            } else if (Identity.isUnknown(o, info)) {
                Structures.arriving(o, state);
            }
        } else if (TELLS_CONTENTS && !outward && info.isOfJdk && tellsContents(state, info)) {
            Structures.arriving(o, state);
        }
        plainObject(state, o, info);
    }

    /**
     * Whether the contents of a JDK object are told with the record that is under way: of all that a call from
     * outside is given, and of collections, optional values and the like that a call to the outside returns.
     */
    private static boolean tellsContents(long state, ClassInfo info) {
        boolean isReturned = info.role == ClassInfo.LIVE && Records.isOutgoingReturn(state);
        return Records.isIncomingCall(state) || isReturned && !Structures.manyTold();
    }

    /** An object by its id, which it gets if it has none. */
    static void plainObject(long state, Object o, ClassInfo info) {
        long id = Identity.of(o, info, state);
        if (id < 1L << 32) {
            eight(state, id << 32 | OBJECT << 24 | info.type);
        } else {
            four(state, OBJECT_WIDE << 24 | info.type);
            eight(state, id);
        }
    }

    private static void string(long state, String value) {
        int length = value.length();
        if (length > INLINE_CHARS) {
            int blob = Native.stringBlob(value);
            if (blob < 0) {
                four(state, (blob == -1 ? REDACTED : UNKNOWN) << 24);
            } else {
                four(state, STRING_BLOB << 24);
                four(state, blob);
            }
            return;
        }
        if (masking && Native.masked(value)) {
            four(state, REDACTED << 24);
            return;
        }
        long position = room(state, 4 + 2 * INLINE_CHARS);
        boolean wide = !FIELDS_OPEN || U.getByte(value, STRING_CODER) != 0;
        int bytes = wide ? 2 * length : length;
        U.putInt(position, (wide ? STRING16 : STRING8) << 24 | length);
        position += 4;
        if (FIELDS_OPEN && STRING_BASE % 8 == 0) {
            Object chars = U.getReference(value, STRING_VALUE);
            // Objects are as long as a multiple of eight, and the buffer has its reserve.
            for (int i = 0; i < bytes; i += 8) {
                U.putLong(position + i, U.getLong(chars, STRING_BASE + i));
            }
        } else if (FIELDS_OPEN) {
            U.copyMemory(U.getReference(value, STRING_VALUE), STRING_BASE, null, position, bytes);
        } else {
            for (int i = 0; i < length; i++) {
                U.putChar(position + 2 * i, value.charAt(i));
            }
        }
        U.putLong(state + State.POSITION, position + bytes);
    }

    private static void boxed(long state, Object o, int code) {
        four(state, BOXED << 24 | code);
        switch (code) {
            case 'Z':
                one(state, (Boolean) o ? 1 : 0);
                break;
            case 'B':
                one(state, (Byte) o);
                break;
            case 'S':
                two(state, (Short) o);
                break;
            case 'C':
                two(state, (Character) o);
                break;
            case 'I':
                four(state, (Integer) o);
                break;
            case 'J':
                eight(state, (Long) o);
                break;
            case 'F':
                four(state, Float.floatToRawIntBits((Float) o));
                break;
            default:
                eight(state, Double.doubleToRawLongBits((Double) o));
        }
    }

    private static void array(long state, Object o, ClassInfo info, boolean outward, Nest around) {
        long id = Identity.of(o, info, state);
        room(state, 32);
        if (info.code == 'L') {
            Object[] elements = (Object[]) o;
            boolean known = !outward && !Nest.holds(o, around) && contentsFit(state, elements.length, around);
            arrayHead(state, known ? ARRAY : ARRAY_REF, info.type, id, elements.length);
            if (known) {
                Nest nest = new Nest(o, around);
                for (Object element : elements) {
                    room(state, 16);
                    write(state, element, false, nest);
                }
            } else if (outward) {
                for (Object element : elements) {
                    Escape.element(element, state);
                }
            }
            return;
        }
        // What observed code returns is compared on replay, contents and all.
        if (outward && !Records.isReturn(state)) {
            arrayHead(state, ARRAY_REF, info.type, id, java.lang.reflect.Array.getLength(o));
            return;
        }
        elements(state, o, info, id);
    }

    /** An array of primitives with its contents. */
    static void elements(long state, Object o, ClassInfo info, long id) {
        room(state, 32);
        int length = java.lang.reflect.Array.getLength(o);
        long bytes = (long) length * info.elementSize;
        boolean text = info.code == 'C' || info.code == 'B';
        if (masking && text && bytes <= INLINE_BYTES && Native.maskedArray(o, info.elementSize)) {
            arrayHead(state, ARRAY_REF, info.type, id, length);
            return;
        }
        if (bytes > INLINE_BYTES) {
            int blob = Native.arrayBlob(o, 0, length, info.elementSize);
            arrayHead(state, blob < 0 ? ARRAY_REF : ARRAY_BLOB, info.type, id, length);
            if (blob >= 0) {
                four(state, blob);
            }
            return;
        }
        arrayHead(state, ARRAY, info.type, id, length);
        long position = room(state, (int) bytes);
        U.copyMemory(o, info.elementBase, null, position, bytes);
        U.putLong(state + State.POSITION, position + bytes);
    }

    /**
     * Whether an object changes nothing of an array outside the part that it is given to fill. Most
     * classes of the JDK do not; some hand the array on. Observed code does the same on replay.
     */
    static boolean fillsItsPart(Object callee) {
        Object last = callee;
        while (last instanceof FilterInputStream && isOfJdk(last) && FIELDS_OPEN) {
            last = U.getReference(last, FILTERED);
        }
        if (last == null || ClassInfo.of(last).role == ClassInfo.OBSERVED) {
            return true;
        }
        boolean handsOn =
                last instanceof FilterInputStream
                        || last instanceof SequenceInputStream
                        || last instanceof ObjectInputStream
                        || last instanceof BufferedReader
                        || last instanceof FilterReader;
        return isOfJdk(last) && !handsOn;
    }

    private static boolean isOfJdk(Object o) {
        return o.getClass().getClassLoader() == null;
    }

    /** A primitive array of which only a part may have changed. */
    static void part(long state, Object array, int from, int count) {
        ClassInfo info = ClassInfo.of(array);
        int length = java.lang.reflect.Array.getLength(array);
        // A mask is to see the whole text.
        boolean apart = !masking && info.elementSize != 0 && from >= 0 && count >= 0 && count < length - from;
        if (!apart) {
            reference(state, array, false);
            return;
        }
        long id = Identity.of(array, info, state);
        room(state, 64);
        long bytes = (long) count * info.elementSize;
        if (bytes > INLINE_BYTES) {
            int blob = Native.arrayBlob(array, from, count, info.elementSize);
            arrayHead(state, blob < 0 ? ARRAY_REF : ARRAY_PART_BLOB, info.type, id, length);
            if (blob >= 0) {
                four(state, from);
                four(state, blob);
            }
            return;
        }
        arrayHead(state, ARRAY_PART, info.type, id, length);
        four(state, from);
        four(state, count);
        long position = room(state, (int) bytes);
        U.copyMemory(array, info.elementBase + (long) from * info.elementSize, null, position, bytes);
        U.putLong(state + State.POSITION, position + bytes);
    }

    private static boolean contentsFit(long state, int length, Nest around) {
        long start = U.getLong(state + State.BASE) + (int) U.getLong(state + State.PUBLISHED);
        boolean large = U.getLong(state + State.POSITION) - start > MOST_BYTES;
        if (length > MOST_ELEMENTS || large) {
            Native.lost(LONG_ARRAY);
            return false;
        }
        if (around != null && around.depth >= DEEPEST) {
            Native.lost(DEEP_ARRAY);
            return false;
        }
        return true;
    }

    static void arrayHead(long state, int tag, int type, long id, int length) {
        four(state, tag << 24 | type);
        eight(state, id);
        four(state, length);
    }

    /** Makes sure that so many bytes fit before the reserve; the place to write at. */
    static long room(long state, int bytes) {
        long position = U.getLong(state + State.POSITION);
        if (position + bytes >= U.getLong(state + State.LIMIT)) {
            Native.flush(state);
            position = U.getLong(state + State.POSITION);
        }
        return position;
    }
}
