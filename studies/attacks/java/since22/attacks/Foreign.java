package attacks;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** The same attempts by Java's foreign functions, and some that need no library but that of C. */
class Foreign {
    private static final Linker LINKER = Linker.nativeLinker();

    static long attempt(String name, String place, String scratch, String facts) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            if (name.startsWith("libc-")) {
                return libc(arena, name, place);
            }
            MemorySegment function = SymbolLookup.libraryLookup(Attempts.library(), Arena.global())
                    .find("attempt_by_name").get();
            MethodHandle attempt = LINKER.downcallHandle(function, FunctionDescriptor.of(ValueLayout.JAVA_LONG,
                    ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
            return (long) attempt.invoke(arena.allocateFrom(name), arena.allocateFrom(place),
                    arena.allocateFrom(scratch), arena.allocateFrom(facts));
        }
    }

    private static long libc(Arena arena, String name, String place) throws Throwable {
        MemorySegment file = arena.allocateFrom(place + "/file");
        long here = -100;
        return switch (name) {
            case "libc-open" -> call(arena, 257, here, file.address(), 1, 0);
            case "libc-unlink" -> call(arena, 263, here, file.address(), 0, 0);
            case "libc-chmod" -> call(arena, 90, file.address(), 0777, 0, 0);
            case "libc-socket" -> call(arena, 41, 2, 1, 0, 0);
            case "libc-fork" -> {
                // The child has this thread alone, and ends at once.
                long child = raw(arena, 57, 0, 0, 0, 0);
                if (child == 0) {
                    raw(arena, 231, 0, 0, 0, 0);
                }
                yield Math.min(child, 0);
            }
            default -> -10000;
        };
    }

    private static long call(Arena arena, long number, long a, long b, long c, long d) throws Throwable {
        return Math.min(raw(arena, number, a, b, c, d), 0);
    }

    /** A system call: its result, or the negative number of the error. */
    private static long raw(Arena arena, long number, long a, long b, long c, long d) throws Throwable {
        ValueLayout.OfLong word = ValueLayout.JAVA_LONG;
        StructLayout state = Linker.Option.captureStateLayout();
        MethodHandle syscall = LINKER.downcallHandle(LINKER.defaultLookup().find("syscall").get(),
                FunctionDescriptor.of(word, word, word, word, word, word),
                Linker.Option.captureCallState("errno"), Linker.Option.firstVariadicArg(1));
        MemorySegment captured = arena.allocate(state);
        long result = (long) syscall.invoke(captured, number, a, b, c, d);
        VarHandle errno = state.varHandle(MemoryLayout.PathElement.groupElement("errno"));
        return result >= 0 ? result : -(int) errno.get(captured, 0L);
    }
}
