//! What the JDK's classes are to a recording: values, live library code, or the outside world.
//!
//! *Values* are stored by content and calls on them are never events. *Live* code is pure: given
//! the same calls it does the same, so objects that observed code makes of it run for real on
//! replay, and only objects that crossed the border are recorded. Everything else is *external*:
//! clock, randomness, files, network, environment, threads, reflection.
//!
//! The lists are by package and class, with the few methods that differ from their class.

use culprit_model::observe::is_jdk_name;
use culprit_model::value::split_descriptor;

/// Who runs the code of a class. The numbers are those of `ClassInfo.java`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ClassRole {
    Observed = 0,
    Value = 1,
    Live = 2,
    External = 3,
}

/// What a call from observed code to the JDK is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallPolicy {
    /// Never an event.
    Inside,
    /// An event if the receiver is external or has crossed the border.
    ByReceiver,
    /// The same, and an event if one of the arguments is of the outside or has crossed the border.
    ByArguments,
    /// Always an event.
    Outside,
}

const VALUES: [&str; 13] = [
    "java/lang/String",
    "java/lang/Boolean",
    "java/lang/Byte",
    "java/lang/Short",
    "java/lang/Character",
    "java/lang/Integer",
    "java/lang/Long",
    "java/lang/Float",
    "java/lang/Double",
    "java/lang/Class",
    "java/lang/Void",
    "java/lang/Math",
    "java/lang/StrictMath",
];

/// Packages whose classes are live unless listed in `EXTERNAL`; with a trailing `/` everything
/// below as well.
const LIVE_PACKAGES: [&str; 14] = [
    "java/awt/geom/",
    "java/util/",
    "java/math/",
    "java/text/",
    "java/time/",
    "java/lang/invoke/",
    "java/nio/charset/",
    "java/lang/annotation/",
    "java/util/function/",
    "java/util/regex/",
    "java/util/stream/",
    "sun/nio/cs/",
    "sun/util/",
    "jdk/internal/util/",
];

const LIVE_CLASSES: [&str; 47] = [
    "java/lang/ThreadLocal",
    "java/lang/InheritableThreadLocal",
    "java/util/zip/Checksum",
    "java/util/zip/CRC32",
    "java/util/zip/CRC32C",
    "java/util/zip/Adler32",
    "java/util/zip/Inflater",
    "java/util/zip/Deflater",
    "java/security/MessageDigest",
    "java/lang/Object",
    "java/lang/StringBuilder",
    "java/lang/StringBuffer",
    "java/lang/AbstractStringBuilder",
    "java/lang/CharSequence",
    "java/lang/Comparable",
    "java/lang/Iterable",
    "java/lang/Number",
    "java/lang/Enum",
    "java/lang/Record",
    "java/lang/Runnable",
    "java/lang/AutoCloseable",
    "java/lang/Cloneable",
    "java/lang/Appendable",
    "java/lang/Readable",
    "java/lang/Throwable",
    "java/lang/StackTraceElement",
    "java/lang/ref/WeakReference",
    "java/lang/ref/SoftReference",
    "java/lang/ref/Reference",
    "java/io/ByteArrayInputStream",
    "java/io/ByteArrayOutputStream",
    "java/io/CharArrayReader",
    "java/io/CharArrayWriter",
    "java/io/StringReader",
    "java/io/StringWriter",
    "java/io/InputStream",
    "java/io/OutputStream",
    "java/io/Reader",
    "java/io/Writer",
    "java/io/Closeable",
    "java/io/Flushable",
    "java/io/Serializable",
    "java/nio/Buffer",
    "java/nio/ByteBuffer",
    "java/nio/HeapByteBuffer",
    "java/nio/CharBuffer",
    "java/nio/HeapCharBuffer",
];

/// Classes of live packages that reach the outside world.
const EXTERNAL: [&str; 34] = [
    "java/util/Scanner",
    "java/util/ServiceLoader",
    "java/util/Timer",
    "java/util/TimerTask",
    "java/util/SplittableRandom",
    "java/util/ResourceBundle",
    "java/util/PropertyResourceBundle",
    "java/util/ListResourceBundle",
    "java/util/concurrent/Executor",
    "java/util/concurrent/ExecutorService",
    "java/util/concurrent/Executors",
    "java/util/concurrent/ThreadPoolExecutor",
    "java/util/concurrent/ScheduledThreadPoolExecutor",
    "java/util/concurrent/ScheduledExecutorService",
    "java/util/concurrent/ExecutorCompletionService",
    "java/util/concurrent/CompletionService",
    "java/util/concurrent/AbstractExecutorService",
    "java/util/concurrent/ForkJoinPool",
    "java/util/concurrent/ForkJoinTask",
    "java/util/concurrent/ForkJoinWorkerThread",
    "java/util/concurrent/RecursiveTask",
    "java/util/concurrent/RecursiveAction",
    "java/util/concurrent/CompletableFuture",
    "java/util/concurrent/CompletionStage",
    "java/util/concurrent/Future",
    "java/util/concurrent/FutureTask",
    "java/util/concurrent/RunnableFuture",
    "java/util/concurrent/ThreadLocalRandom",
    "java/util/concurrent/SubmissionPublisher",
    "java/util/concurrent/Phaser",
    "java/util/concurrent/CountDownLatch",
    "java/util/concurrent/CyclicBarrier",
    "java/util/concurrent/Exchanger",
    "java/util/concurrent/Semaphore",
];

/// Packages below live ones that reach the outside world.
const EXTERNAL_PACKAGES: [&str; 5] = [
    "java/util/logging/",
    "java/util/prefs/",
    "java/util/zip/",
    "java/util/jar/",
    "java/util/spi/",
];

/// Static methods and constructors of live classes and values whose result depends on the
/// outside world. A name without a descriptor means every overload.
const EXTERNAL_MEMBERS: [(&str, &str, &str); 38] = [
    ("java/lang/Math", "random", ""),
    ("java/lang/StrictMath", "random", ""),
    ("java/util/UUID", "randomUUID", ""),
    ("java/util/Random", "<init>", "()V"),
    ("java/util/Date", "<init>", "()V"),
    ("java/util/GregorianCalendar", "<init>", "()V"),
    ("java/util/Calendar", "getInstance", ""),
    ("java/util/Locale", "getDefault", ""),
    ("java/util/Locale", "setDefault", ""),
    ("java/util/TimeZone", "getDefault", ""),
    ("java/util/TimeZone", "setDefault", ""),
    ("java/util/Collections", "shuffle", "(Ljava/util/List;)V"),
    ("java/time/Clock", "system", ""),
    ("java/time/Clock", "systemUTC", ""),
    ("java/time/Clock", "systemDefaultZone", ""),
    ("java/time/Clock", "tick", ""),
    ("java/time/Instant", "now", ""),
    ("java/time/LocalDate", "now", ""),
    ("java/time/LocalTime", "now", ""),
    ("java/time/LocalDateTime", "now", ""),
    ("java/time/OffsetDateTime", "now", ""),
    ("java/time/OffsetTime", "now", ""),
    ("java/time/ZonedDateTime", "now", ""),
    ("java/time/Year", "now", ""),
    ("java/time/YearMonth", "now", ""),
    ("java/time/MonthDay", "now", ""),
    ("java/time/ZoneId", "systemDefault", ""),
    ("java/lang/Integer", "getInteger", ""),
    ("java/lang/Long", "getLong", ""),
    ("java/lang/Boolean", "getBoolean", ""),
    ("java/nio/charset/Charset", "defaultCharset", ""),
    (
        "java/util/Currency",
        "getInstance",
        "(Ljava/util/Locale;)Ljava/util/Currency;",
    ),
    ("java/util/Formatter", "<init>", "(Ljava/lang/String;)V"),
    ("java/util/Formatter", "<init>", "(Ljava/io/File;)V"),
    ("java/nio/ByteBuffer", "allocateDirect", ""),
    ("java/util/concurrent/locks/LockSupport", "park", ""),
    ("java/util/concurrent/locks/LockSupport", "parkNanos", ""),
    ("java/util/concurrent/locks/LockSupport", "unpark", ""),
];

/// Methods of `Class` that look at more than the class value: they go out. Generic types do not: library
/// code asks them for hashes, which nothing but the class makes up.
const REFLECTION: [&str; 30] = [
    "forName",
    "newInstance",
    "getResource",
    "getResourceAsStream",
    "getMethod",
    "getMethods",
    "getDeclaredMethod",
    "getDeclaredMethods",
    "getField",
    "getFields",
    "getDeclaredField",
    "getDeclaredFields",
    "getConstructor",
    "getConstructors",
    "getDeclaredConstructor",
    "getDeclaredConstructors",
    "getClassLoader",
    "getProtectionDomain",
    "getModule",
    "getPackage",
    "getSigners",
    "getAnnotation",
    "getAnnotations",
    "getAnnotationsByType",
    "getDeclaredAnnotation",
    "getDeclaredAnnotations",
    "getDeclaredAnnotationsByType",
    "getEnclosingConstructor",
    "getEnclosingMethod",
    "getRecordComponents",
];

/// Where handles of methods and fields are.
const HANDLES: &str = "java/lang/invoke/";

/// What live code reads from or writes to. One of the outside is empty on replay.
const STREAMS: [&str; 8] = [
    "Ljava/io/InputStream;",
    "Ljava/io/OutputStream;",
    "Ljava/io/PrintStream;",
    "Ljava/io/PrintWriter;",
    "Ljava/io/Reader;",
    "Ljava/io/Writer;",
    "Ljava/lang/Appendable;",
    "Ljava/lang/Readable;",
];

/// Static members of `System` that only move or compare what is there already.
const PURE_SYSTEM: [&str; 2] = ["arraycopy", "lineSeparator"];

/// The role of a JDK class, by its internal name. Nested classes follow their outermost class.
pub fn role(class: &str) -> ClassRole {
    let outer = outermost(class);
    if VALUES.contains(&outer) {
        return ClassRole::Value;
    }
    if is_exception(outer) || LIVE_CLASSES.contains(&outer) {
        return ClassRole::Live;
    }
    let below = |packages: &[&str]| packages.iter().any(|p| outer.starts_with(p));
    if below(&EXTERNAL_PACKAGES) || EXTERNAL.contains(&outer) {
        return ClassRole::External;
    }
    if below(&LIVE_PACKAGES) {
        ClassRole::Live
    } else {
        ClassRole::External
    }
}

fn outermost(class: &str) -> &str {
    let simple = class.rfind('/').map_or(0, |slash| slash + 1);
    class[simple..]
        .find('$')
        .filter(|dollar| *dollar > 0)
        .map_or(class, |dollar| &class[..simple + dollar])
}

/// Exceptions and errors hold data only, wherever they are declared.
fn is_exception(class: &str) -> bool {
    class.ends_with("Exception") || class.ends_with("Error")
}

/// What a call to a static method or a constructor of the JDK is.
pub fn static_call(owner: &str, name: &str, descriptor: &str) -> CallPolicy {
    if is_external_member(owner, name, descriptor) {
        return CallPolicy::Outside;
    }
    if owner == "java/lang/System" {
        return if PURE_SYSTEM.contains(&name) {
            CallPolicy::Inside
        } else {
            CallPolicy::Outside
        };
    }
    if owner == "java/lang/Class" && REFLECTION.contains(&name) {
        return CallPolicy::Outside;
    }
    match role(owner) {
        ClassRole::External => CallPolicy::Outside,
        _ if takes_outside(owner, descriptor) => CallPolicy::ByArguments,
        _ => CallPolicy::Inside,
    }
}

/// Whether a static method or a constructor of the JDK looks at the outside world, unlike its class. Where
/// the constructor makes a part of an observed object, the world is in that from then on.
pub fn is_external_member(owner: &str, name: &str, descriptor: &str) -> bool {
    EXTERNAL_MEMBERS
        .iter()
        .any(|(o, n, d)| *o == owner && *n == name && (d.is_empty() || *d == descriptor))
}

/// Whether live code is given what only the outside can use: streams; and, where it makes handles, what
/// it makes them of. The JVM itself looks into that, where an empty object would be its end.
fn takes_outside(owner: &str, descriptor: &str) -> bool {
    let makes_handles = owner.starts_with(HANDLES);
    // Accesses by a variable handle are given whatever the variable holds.
    role(owner) == ClassRole::Live
        && owner != "java/lang/invoke/VarHandle"
        && split_descriptor(descriptor).is_some_and(|(parameters, _)| {
            parameters.iter().any(|parameter| match makes_handles {
                true => may_be_handle(parameter),
                false => STREAMS.contains(parameter),
            })
        })
}

/// Whether a parameter is one of those for which a call may be of the outside.
pub fn may_lead_out(parameter: &str) -> bool {
    STREAMS.contains(&parameter) || may_be_handle(parameter)
}

/// Whether a parameter is for a handle, for what handles are made of, or for an array of such.
fn may_be_handle(parameter: &str) -> bool {
    let class = parameter.trim_start_matches('[').strip_prefix('L');
    class.is_some_and(|class| {
        [HANDLES, "java/lang/reflect/", "java/lang/ClassLoader;"]
            .iter()
            .any(|prefix| class.starts_with(prefix))
    })
}

/// What a call to an instance method of the JDK is, by the class it is called on.
pub fn instance_call(owner: &str, name: &str, descriptor: &str) -> CallPolicy {
    match (owner, name) {
        ("java/lang/Object", "getClass") => CallPolicy::Inside,
        ("java/lang/Object", "wait" | "notify" | "notifyAll") => CallPolicy::Outside,
        ("java/lang/Class", name) if REFLECTION.contains(&name) => CallPolicy::Outside,
        ("java/lang/invoke/MethodHandle", name) if name.starts_with("invoke") => {
            CallPolicy::Outside
        }
        _ if takes_outside(owner, descriptor) => CallPolicy::ByArguments,
        _ => match role(owner) {
            ClassRole::Value => CallPolicy::Inside,
            _ => CallPolicy::ByReceiver,
        },
    }
}

/// What a `super.method()` call to the JDK is: the receiver is observed, the code is the JDK's.
pub fn super_call(owner: &str, descriptor: &str) -> CallPolicy {
    match role(owner) {
        ClassRole::External => CallPolicy::Outside,
        _ if takes_outside(owner, descriptor) => CallPolicy::ByArguments,
        _ => CallPolicy::Inside,
    }
}

/// The field of a superclass that passes calls on, for the stream that it passes them on to: name and descriptor.
/// Nothing but that decides whether what the superclass does is of the outside.
pub fn passes_on_to(owner: &str) -> Option<(&'static str, &'static str)> {
    match owner {
        "java/io/FilterInputStream" => Some(("in", "Ljava/io/InputStream;")),
        "java/io/FilterOutputStream" => Some(("out", "Ljava/io/OutputStream;")),
        "java/io/FilterReader" => Some(("in", "Ljava/io/Reader;")),
        "java/io/FilterWriter" => Some(("out", "Ljava/io/Writer;")),
        _ => None,
    }
}

/// Whether a method of the JDK may change an array that it is given; most only read it.
pub fn fills_arrays(name: &str) -> bool {
    [
        "read", "get", "copy", "to", "fill", "sort", "set", "next", "digest", "inflate", "deflate",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
        || matches!(
            name,
            "arraycopy"
                | "drainTo"
                | "encode"
                | "decode"
                | "doFinal"
                | "invoke"
                | "invokeExact"
                | "invokeWithArguments"
                | "newInstance"
        )
}

/// Types whose values are told by content, or have no state that anybody could tell: functions,
/// handles, markers.
const STATELESS: [&str; 12] = [
    "java/lang/Enum",
    "java/lang/Runnable",
    "java/lang/AutoCloseable",
    "java/lang/Cloneable",
    "java/io/Closeable",
    "java/io/Flushable",
    "java/lang/ThreadLocal",
    "java/util/concurrent/Callable",
    "java/util/concurrent/TimeUnit",
    "java/util/function/",
    "java/lang/invoke/",
    "java/lang/annotation/",
];

/// Whether a parameter of this type may be given a library object that runs live and has a state,
/// or an array of such.
pub fn may_have_state(parameter: &str) -> bool {
    let element = parameter.trim_start_matches('[');
    let class = element.strip_prefix('L').and_then(|e| e.strip_suffix(';'));
    class.is_some_and(|class| {
        is_jdk_name(class)
            && (role(class) == ClassRole::Live || DATA.contains(&class))
            && !STATELESS
                .iter()
                .any(|stateless| class.starts_with(stateless))
    })
}

/// Whether a method of the JDK that runs live does not look into what it is given.
pub fn looks_away(owner: &str, name: &str) -> bool {
    match owner {
        "java/util/Objects" => {
            name.starts_with("requireNonNull") || matches!(name, "isNull" | "nonNull")
        }
        "java/lang/System" | "java/lang/ThreadLocal" | "java/lang/Thread" => true,
        "java/lang/ref/WeakReference" | "java/lang/ref/SoftReference" => true,
        _ if owner.starts_with("java/util/concurrent/atomic/") => true,
        // What is no string is not equal to one.
        _ => role(owner) == ClassRole::Value && name == "equals",
    }
}

/// Packages and classes of live code whose objects never change, nor anything they hold.
const IMMUTABLE: [&str; 8] = [
    "java/time/",
    "java/math/",
    "java/util/regex/Pattern",
    "java/util/UUID",
    "java/util/Locale",
    "java/util/Currency",
    "java/util/OptionalInt",
    "java/lang/StackTraceElement",
];

/// Classes of the outside whose objects are nothing but data. Observed code asks them outside, but live
/// code that is given them looks at what they hold: hash tables do, and whoever makes a text of them.
const DATA: [&str; 6] = [
    "java/io/File",
    "java/lang/reflect/Constructor",
    "java/lang/reflect/Field",
    "java/lang/reflect/Method",
    "java/net/URI",
    "java/net/URL",
];

/// Whether the state of an object of a JDK class needs to be told only once.
pub fn is_immutable(class: &str) -> bool {
    IMMUTABLE.iter().any(|prefix| class.starts_with(prefix)) || DATA.contains(&class)
}

/// Whether a method of the JDK writes the fields of the object that calls it.
pub fn writes_fields(owner: &str, name: &str) -> bool {
    (owner, name) == ("java/io/ObjectInputStream", "defaultReadObject")
}

/// Where a method fills a part of an array, given by an offset and a length: which parameter is the
/// array. Whether the receiver leaves everything outside that part alone shows at run time.
pub fn own_part(name: &str, parameters: &[&str]) -> Option<usize> {
    match (name, parameters) {
        ("read" | "readFully" | "readNBytes" | "get" | "inflate", ["[B" | "[C", "I", "I"]) => {
            Some(0)
        }
        _ => None,
    }
}

/// Whether methods of a JDK class may change an array that they are given as an object.
pub fn fills_objects(owner: &str) -> bool {
    matches!(
        owner,
        "java/lang/reflect/Array" | "java/lang/invoke/MethodHandle"
    )
}

/// Whether a method of the JDK may call a constructor that it is not told by name.
pub fn may_construct(owner: &str, name: &str) -> bool {
    match owner {
        "java/lang/Class" | "java/lang/reflect/Constructor" => name == "newInstance",
        "java/lang/invoke/MethodHandle" => name.starts_with("invoke"),
        "java/io/ObjectInputStream" => name.starts_with("read"),
        "java/util/ServiceLoader" | "java/util/ServiceLoader$Provider" => true,
        _ => false,
    }
}

/// Whether a method may be one that `Thread` declares and that acts on the thread.
pub fn is_thread_method(name: &str, descriptor: &str) -> bool {
    matches!(
        (name, descriptor),
        ("start" | "join" | "interrupt", "()V")
            | ("join", "(J)V" | "(JI)V")
            | ("isAlive" | "isInterrupted" | "isDaemon", "()Z")
            | ("setDaemon", "(Z)V")
            | ("setPriority", "(I)V")
            | ("setName", "(Ljava/lang/String;)V")
            | ("getName", "()Ljava/lang/String;")
            | ("getId" | "threadId", "()J")
    )
}

/// Whether reading a static field of the JDK is an event: only the standard streams are.
pub fn is_external_static(owner: &str, name: &str) -> bool {
    owner == "java/lang/System" && matches!(name, "in" | "out" | "err")
}

/// Methods of the interfaces that live library code is given implementations of, beside those of
/// `java/util/function`: name and descriptor.
const CALLED_BACK: [(&str, &str); 38] = [
    ("hashCode", "()I"),
    ("equals", "(Ljava/lang/Object;)Z"),
    ("toString", "()Ljava/lang/String;"),
    ("compareTo", "(Ljava/lang/Object;)I"),
    ("run", "()V"),
    ("call", "()Ljava/lang/Object;"),
    ("iterator", "()Ljava/util/Iterator;"),
    ("listIterator", "()Ljava/util/ListIterator;"),
    ("listIterator", "(I)Ljava/util/ListIterator;"),
    ("spliterator", "()Ljava/util/Spliterator;"),
    ("hasNext", "()Z"),
    ("next", "()Ljava/lang/Object;"),
    ("nextInt", "()I"),
    ("nextLong", "()J"),
    ("nextDouble", "()D"),
    ("hasMoreElements", "()Z"),
    ("nextElement", "()Ljava/lang/Object;"),
    ("size", "()I"),
    ("isEmpty", "()Z"),
    ("contains", "(Ljava/lang/Object;)Z"),
    ("containsAll", "(Ljava/util/Collection;)Z"),
    ("toArray", "()[Ljava/lang/Object;"),
    ("toArray", "([Ljava/lang/Object;)[Ljava/lang/Object;"),
    ("add", "(Ljava/lang/Object;)Z"),
    ("addAll", "(Ljava/util/Collection;)Z"),
    ("set", "(ILjava/lang/Object;)Ljava/lang/Object;"),
    ("forEach", "(Ljava/util/function/Consumer;)V"),
    ("forEach", "(Ljava/util/function/BiConsumer;)V"),
    ("containsKey", "(Ljava/lang/Object;)Z"),
    (
        "put",
        "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
    ),
    ("keySet", "()Ljava/util/Set;"),
    ("values", "()Ljava/util/Collection;"),
    ("entrySet", "()Ljava/util/Set;"),
    ("getKey", "()Ljava/lang/Object;"),
    ("getValue", "()Ljava/lang/Object;"),
    ("length", "()I"),
    ("charAt", "(I)C"),
    ("subSequence", "(II)Ljava/lang/CharSequence;"),
];

/// Names of the methods of `java/util/function`, `Comparator`, and `get` of lists and maps.
const FUNCTIONS: [&str; 12] = [
    "apply",
    "applyAsInt",
    "applyAsLong",
    "applyAsDouble",
    "accept",
    "test",
    "compare",
    "get",
    "getAsInt",
    "getAsLong",
    "getAsDouble",
    "getAsBoolean",
];

/// Methods that library code calls back on objects it was given. In external classes they are
/// watched from inside, since the call does not come from observed code directly.
pub fn is_called_back(name: &str, descriptor: &str) -> bool {
    name == "<clinit>"
        || name.starts_with("lambda$")
        || CALLED_BACK.contains(&(name, descriptor))
        || FUNCTIONS.contains(&name) && is_general(descriptor)
}

/// Whether a descriptor has, after erasure, but primitive types and `Object`.
fn is_general(descriptor: &str) -> bool {
    !descriptor
        .replace("Ljava/lang/Object;", "")
        .contains(['L', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_are_live_and_the_world_is_external() {
        for (class, expect) in [
            ("java/util/ArrayList", ClassRole::Live),
            ("java/util/ImmutableCollections$ListN", ClassRole::Live),
            ("java/util/stream/ReferencePipeline$Head", ClassRole::Live),
            ("java/lang/IllegalStateException", ClassRole::Live),
            ("java/lang/String", ClassRole::Value),
            ("java/lang/Integer", ClassRole::Value),
            ("java/io/FileInputStream", ClassRole::External),
            ("java/nio/file/Files", ClassRole::External),
            ("java/lang/Thread", ClassRole::External),
            ("java/util/logging/Logger", ClassRole::External),
            (
                "java/util/concurrent/ThreadPoolExecutor$Worker",
                ClassRole::External,
            ),
            ("java/util/concurrent/ConcurrentHashMap", ClassRole::Live),
        ] {
            assert_eq!(role(class), expect, "{class}");
        }
    }

    #[test]
    fn library_code_calls_back_what_its_interfaces_declare() {
        for (name, descriptor, expect) in [
            ("applyAsInt", "(I)I", true),
            ("apply", "(Ljava/lang/Object;I)Ljava/lang/Object;", true),
            ("accept", "(Lcom/acme/Visitor;)V", false),
            ("compare", "(Ljava/lang/Object;Ljava/lang/Object;)I", true),
            ("get", "(I)Ljava/lang/Object;", true),
            ("get", "(I)Ljava/lang/Integer;", false),
            ("charAt", "(I)C", true),
            ("lambda$main$0", "(Lcom/acme/Order;)V", true),
            ("pay", "()V", false),
        ] {
            assert_eq!(
                is_called_back(name, descriptor),
                expect,
                "{name}{descriptor}"
            );
        }
    }

    #[test]
    fn library_objects_may_be_where_their_types_allow() {
        for (parameter, expect) in [
            ("Ljava/lang/Object;", true),
            ("Ljava/util/Collection;", true),
            ("Ljava/lang/Throwable;", true),
            ("[Ljava/lang/Object;", true),
            ("Ljava/lang/String;", false),
            ("[Ljava/lang/String;", false),
            ("Ljava/lang/Integer;", false),
            ("[I", false),
            ("I", false),
            ("Ljava/util/function/Function;", false),
            ("Ljava/io/File;", true),
            ("Ljava/io/FileInputStream;", false),
            ("Lcom/acme/Order;", false),
        ] {
            assert_eq!(may_have_state(parameter), expect, "{parameter}");
        }
    }

    #[test]
    fn what_makes_handles_asks_what_they_are_made_of() {
        let (handles, lookup) = (
            "java/lang/invoke/MethodHandles",
            "java/lang/invoke/MethodHandles$Lookup",
        );
        assert_eq!(
            static_call(
                handles,
                "lookup",
                "()Ljava/lang/invoke/MethodHandles$Lookup;"
            ),
            CallPolicy::Inside
        );
        let reflected = "(Ljava/lang/reflect/Method;)Ljava/lang/invoke/MethodHandle;";
        assert_eq!(
            instance_call(lookup, "unreflect", reflected),
            CallPolicy::ByArguments
        );
        let variable =
            "(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/Class;)Ljava/lang/invoke/VarHandle;";
        assert_eq!(
            instance_call(lookup, "findVarHandle", variable),
            CallPolicy::ByReceiver
        );
        assert_eq!(
            instance_call(
                "java/lang/invoke/VarHandle",
                "set",
                "(Lapp/A;Ljava/lang/reflect/Method;)V"
            ),
            CallPolicy::ByReceiver
        );
    }

    #[test]
    fn live_code_asks_where_a_stream_is_from() {
        for (owner, name, descriptor, expect) in [
            (
                "java/util/Properties",
                "load",
                "(Ljava/io/InputStream;)V",
                CallPolicy::ByArguments,
            ),
            (
                "java/util/Properties",
                "getProperty",
                "(Ljava/lang/String;)Ljava/lang/String;",
                CallPolicy::ByReceiver,
            ),
            (
                "java/lang/invoke/VarHandle",
                "set",
                "(Lapp/A;Ljava/io/Reader;)V",
                CallPolicy::ByReceiver,
            ),
        ] {
            assert_eq!(instance_call(owner, name, descriptor), expect, "{name}");
        }
    }

    #[test]
    fn time_and_chance_go_out() {
        assert_eq!(
            static_call("java/lang/System", "nanoTime", "()J"),
            CallPolicy::Outside
        );
        assert_eq!(
            static_call("java/util/Random", "<init>", "()V"),
            CallPolicy::Outside
        );
        assert_eq!(
            static_call("java/util/Random", "<init>", "(J)V"),
            CallPolicy::Inside
        );
        assert_eq!(
            static_call("java/time/Instant", "now", "()Ljava/time/Instant;"),
            CallPolicy::Outside
        );
        assert_eq!(
            static_call("java/lang/Math", "max", "(II)I"),
            CallPolicy::Inside
        );
        assert_eq!(
            static_call(
                "java/lang/System",
                "arraycopy",
                "(Ljava/lang/Object;ILjava/lang/Object;II)V"
            ),
            CallPolicy::Inside
        );
    }
}
