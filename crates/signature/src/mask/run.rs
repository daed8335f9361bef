//! What depends on how a program is run: by which class loaders and in which modules, where its objects are in
//! memory, in which threads, and in which folder for temporary files. A worker, a test and the user's command differ in
//! all of these.

use super::place::{Match, Place, continues, digits, ends, is_lower_hex, run, temporary_path};

pub(super) fn shape(place: &Place<'_>) -> Match {
    let rest = place.rest;
    let inside = place.is_inside_word();
    let found = match place.first()? {
        b'(' => placed(rest),
        b'@' => hash(rest),
        b'$' => made_up_class(rest),
        b'#' => thread(place),
        b'\n' => stack(rest),
        b':' => compiled(rest),
        b'l' if !inside => loader(rest),
        b'j' | b's' if !inside => printed_loader(rest),
        b'a' if !inside => frame(rest),
        b'0'..=b'9' => number_in_name(place).or_else(|| if inside { None } else { address(rest) }),
        _ => None,
    };
    let found = found.or_else(|| if inside { None } else { lambda(rest) });
    found.or_else(|| temporary_folder(place))
}

/// The end of the message of an `OutOfMemoryError` in compiled code.
fn compiled(rest: &str) -> Match {
    const END: &str = ": failed reallocation of scalar replaced objects";
    rest.replace(END, "").is_empty().then_some((rest.len(), ""))
}

/// Class loaders of the JDK, by the names in messages of the JVM.
const BUILT_IN: [&str; 3] = ["'app'", "'platform'", "'bootstrap'"];

/// Class loaders of the JDK that load programs, as they print themselves.
const PRINTED: [&str; 3] = [
    "jdk.internal.loader.ClassLoaders$AppClassLoader",
    "java.net.URLClassLoader",
    "sun.misc.Launcher$AppClassLoader",
];

/// The length of the name of a class loader in a message of the JVM: `'app'`, `'plugins' @1b2c3d`,
/// `java.net.URLClassLoader @1b2c3d`, each with its parent or without.
fn loader_name(text: &str) -> Option<usize> {
    let built_in = BUILT_IN.iter().find(|name| text.starts_with(**name));
    let name = match (built_in, text.strip_prefix('\'')) {
        (Some(name), _) => name.len(),
        (None, Some(quoted)) => {
            let line = quoted.find('\n').unwrap_or(quoted.len());
            quoted[..line].find('\'')? + 2
        }
        (None, None) => text
            .find(|c: char| !goes_on_in_name(c))
            .filter(|length| *length > 0)?,
    };
    let hash = text[name..].strip_prefix(" @").map_or(0, |hash| {
        let length = run(hash, is_lower_hex);
        if ends(hash, length) { length } else { 0 }
    });
    let length = match hash {
        1..=8 => name + 2 + hash,
        _ if built_in.is_some() => name,
        _ => return None,
    };
    let parent = text[length..].strip_prefix(", parent loader ");
    let parent = parent.and_then(loader_name);
    Some(length + parent.map_or(0, |parent| ", parent loader ".len() + parent))
}

fn goes_on_in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '.')
}

/// `loader 'app'`
fn loader(rest: &str) -> Match {
    let name = loader_name(rest.strip_prefix("loader ")?)?;
    Some(("loader ".len() + name, "loader <loader>"))
}

/// `jdk.internal.loader.ClassLoaders$AppClassLoader@5e2de80c`
fn printed_loader(rest: &str) -> Match {
    let name = PRINTED.iter().find(|name| rest.starts_with(**name))?;
    let (length, _) = hash(&rest[name.len()..])?;
    Some((name.len() + length, "<loader>"))
}

/// Where classes are, as the JVM adds it to a message that has named them: `(a.B and a.C are in unnamed module of loader
/// 'app')`, `(in module java.base)`.
fn placed(rest: &str) -> Match {
    let line = rest.find('\n').unwrap_or(rest.len());
    let end = rest[..line].find(')')?;
    let text = &rest[1..end];
    if let Some(module) = text.strip_prefix("in ") {
        return (module_name(module)? == module.len()).then_some((end + 1, "(in <module>)"));
    }
    let is_place = |clause: &str| {
        let of = clause
            .split_once(" is in ")
            .or_else(|| clause.split_once(" are in "));
        let of = of.and_then(|(_, place)| place[module_name(place)?..].strip_prefix(" of loader "));
        of.is_some_and(|loader| loader_name(loader) == Some(loader.len()))
    };
    // The name of an array ends with a semicolon: `[La.B; is in unnamed module of loader 'app'; a.C is in ...`.
    let ends = text.match_indices("; ").map(|(at, _)| at);
    let next_clause = ends.chain([text.len()]).fold(0, |from, at| {
        if is_place(&text[from..at]) {
            at + 2
        } else {
            from
        }
    });
    (next_clause > text.len()).then_some((end + 1, "(<loaders>)"))
}

/// The length of the name of a module: `unnamed module`, `unnamed module @0x1b2c3d4`, `module java.base@17`.
fn module_name(text: &str) -> Option<usize> {
    if let Some(hash) = text.strip_prefix("unnamed module") {
        let hash = hash.strip_prefix(" @");
        let hash = hash.map_or(0, |hash| {
            2 + run(hash, |byte| byte == b'x' || is_lower_hex(byte))
        });
        return Some("unnamed module".len() + hash);
    }
    let name = text.strip_prefix("module ")?;
    let length = name.find(|c: char| !goes_on_in_name(c) && !matches!(c, '@' | '-'));
    let length = length.unwrap_or(name.len());
    (length > 0).then_some("module ".len() + length)
}

/// Lines of a stack, as assertion libraries quote it: how deep it is depends on who runs the test.
fn stack(rest: &str) -> Match {
    let is_frame = |line: &str| {
        let frame = line.trim_start().strip_prefix("at ");
        frame.is_some_and(|frame| frame.contains('(') && frame.ends_with(')'))
    };
    let is_gap = |line: &str| {
        let gap = line.trim_start().strip_prefix("...");
        gap.is_some_and(|gap| gap.ends_with(" more") || gap.contains(" remaining lines"))
    };
    let mut lines = rest[1..].split('\n').peekable();
    lines.peek().filter(|line| is_frame(line))?;
    let lines = lines.take_while(|line| is_frame(line) || is_gap(line));
    let length = lines.map(|line| 1 + line.len()).sum();
    Some((length, "\n<stack>"))
}

/// `-> at shop.CartTest.adds(CartTest.java:12)`: who called, as libraries quote it.
fn frame(rest: &str) -> Match {
    let text = rest.strip_prefix("at ")?;
    let name = text.find(|c: char| !goes_on_in_name(c) && !matches!(c, '<' | '>' | '/'))?;
    let place = text[name..].strip_prefix('(')?;
    let file = place.find(|c: char| !goes_on_in_name(c) && c != '-')?;
    let line = digits(place[file..].strip_prefix(':')?);
    let length = "at ".len() + name + 1 + file + 1 + line + 1;
    let mut special = text[..name].split('<').skip(1);
    let is_named = special.all(|name| name.starts_with("init>") || name.starts_with("clinit>"));
    let is_place =
        is_named && line > 0 && place[..file].contains('.') && text[..name].contains('.');
    (is_place && place[file + 1 + line..].starts_with(')') && ends(rest, length))
        .then_some((length, "at <frame>"))
}

/// `Foo@1b2c3d`, `unnamed module @0x1b2c3d4`. Shorter hashes are made by programs, with a meaning.
fn hash(rest: &str) -> Match {
    let number = rest.strip_prefix('@')?;
    let prefix = 1 + if number.starts_with("0x") { 2 } else { 0 };
    let length = run(&rest[prefix..], is_lower_hex);
    let end = prefix + length;
    let is_number = rest[prefix..end].bytes().any(|byte| byte.is_ascii_digit());
    let fits = (5..=8).contains(&length) && is_number && ends(rest, end) && !continues(rest, end);
    fits.then_some((end, "@<hash>"))
}

/// Parts of names that the JVM and libraries put before a number or random letters.
const MADE_UP: [(&str, &str); 8] = [
    ("$Proxy", "$Proxy<id>"),
    ("$$$EasyMock$", "$$$EasyMock$<id>"),
    ("$MockitoMock$", "$MockitoMock$<id>"),
    ("$$EnhancerByCGLIB$$", "$$EnhancerByCGLIB$$<id>"),
    ("$$FastClassByCGLIB$$", "$$FastClassByCGLIB$$<id>"),
    ("$$SpringCGLIB$$", "$$SpringCGLIB$$<id>"),
    ("$HibernateProxy$", "$HibernateProxy$<id>"),
    ("$ByteBuddy$", "$ByteBuddy$<id>"),
];

/// The whole name of the class of a lambda: it begins with that of the class that the lambda is written in, which is
/// another one in a test.
fn lambda(rest: &str) -> Match {
    let name = rest.find(|c: char| !goes_on_in_name(c));
    let at = rest[..name.unwrap_or(rest.len())].find("$$Lambda")?;
    let (length, _) = made_up_class(&rest[at..]).filter(|_| at > 0)?;
    Some((at + length, "<lambda>"))
}

/// Names of classes that exist in memory only.
fn made_up_class(rest: &str) -> Match {
    if let Some(tail) = rest.strip_prefix("$$Lambda") {
        let numbered = tail.strip_prefix('$').map_or(0, |it| match digits(it) {
            0 => 0,
            digits => 1 + digits,
        });
        let tail = &tail[numbered..];
        let hidden = tail.strip_prefix('/').map_or(0, |it| {
            let prefix = if it.starts_with("0x") { 2 } else { 0 };
            match run(&it[prefix..], is_lower_hex) {
                0 => 0,
                digits => 1 + prefix + digits,
            }
        });
        let length = "$$Lambda".len() + numbered + hidden;
        let some = numbered + hidden > 0;
        return (some && ends(rest, length)).then_some((length, "$$Lambda<id>"));
    }
    MADE_UP.into_iter().find_map(|(name, placeholder)| {
        let made_up = run(rest.strip_prefix(name)?, |byte| {
            byte.is_ascii_alphanumeric()
        });
        let length = name.len() + made_up;
        (made_up > 0 && ends(rest, length)).then_some((length, placeholder))
    })
}

/// `Thread[#22,main,5,main]`
fn thread(place: &Place<'_>) -> Match {
    let number = digits(&place.rest[1..]);
    let told = place.before.ends_with("Thread[") && number > 0;
    (told && place.rest[1 + number..].starts_with([',', ']'])).then_some((1 + number, "#<id>"))
}

/// Numbers of threads and of generated classes: `pool-1-thread-3`, `GeneratedMethodAccessor12`.
fn number_in_name(place: &Place<'_>) -> Match {
    let names = [
        "Thread-",
        "-thread-",
        "-worker-",
        "ForkJoinPool-",
        "GeneratedMethodAccessor",
        "GeneratedConstructorAccessor",
    ];
    let (before, rest) = (place.before, place.rest);
    let digits = digits(rest);
    let named = names.iter().any(|name| before.ends_with(name)) && ends(rest, digits);
    let pool = before.ends_with("pool-") && rest[digits..].starts_with("-thread-");
    (named || pool).then_some((digits, "<id>"))
}

/// Addresses as the JVM prints them. Programs print shorter numbers.
fn address(rest: &str) -> Match {
    let digits = run(rest.strip_prefix("0x")?, |byte| byte.is_ascii_hexdigit());
    (digits >= 12 && ends(rest, 2 + digits)).then_some((2 + digits, "<address>"))
}

/// The folder of a temporary file.
fn temporary_folder(place: &Place<'_>) -> Match {
    let path = temporary_path(place)?;
    Some((path.rfind(['/', '\\'])?, "<temporary>"))
}

#[cfg(test)]
mod tests {
    use crate::{mask, normalise};

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(normalise(text), expect, "{text}");
    }

    #[test]
    fn compiled_code_does_not_count() {
        let end = ": failed reallocation of scalar replaced objects";
        check(&format!("Java heap space{end}"), "Java heap space");
        check(
            &format!("heap{end} and more"),
            &format!("heap{end} and more"),
        );
    }

    #[test]
    fn loaders_and_modules_of_the_jvm_do_not_count() {
        let cast = "class a.Dog cannot be cast to class a.Cat";
        for place in [
            "(a.Dog and a.Cat are in unnamed module of loader 'app')",
            "(a.Dog and a.Cat are in module my.zoo@1.0-b2 of loader 'app')",
            "(a.Dog and a.Cat are in unnamed module of loader java.net.URLClassLoader @77846d2c)",
            "(a.Dog is in unnamed module of loader 'app'; a.Cat is in unnamed module of loader \
             'plug ins' @1b2c3d, parent loader 'app')",
            "(a.Dog is in module java.base of loader 'bootstrap'; a.Cat is in unnamed module of \
             loader a.b.Loader @1)",
            "([La.Dog; and [La.Cat; are in unnamed module of loader 'app')",
            "([La.Dog; is in unnamed module of loader 'app'; [La.Cat; is in module java.base of \
             loader 'bootstrap')",
        ] {
            check(&format!("{cast} {place}"), &format!("{cast} (<loaders>)"));
        }
        check(
            "loader 'app' attempted duplicate class definition for a.B. (a.B is in unnamed module \
             of loader 'app')",
            "loader <loader> attempted duplicate class definition for a.B. (<loaders>)",
        );
        check(
            "the class loader org.x.Loader @5e2de80c of the current class, a.B, and",
            "the class loader <loader> of the current class, a.B, and",
        );
        check(
            "class a.B (in unnamed module @0x2f92e0f4) cannot access class a.C (in module java.base)",
            "class a.B (in <module>) cannot access class a.C (in <module>)",
        );
        check(
            "does not \"opens java.lang\" to unnamed module @5b6f7412",
            "does not \"opens java.lang\" to unnamed module @<hash>",
        );
        check(
            "nothing in jdk.internal.loader.ClassLoaders$AppClassLoader@5e2de80c",
            "nothing in <loader>",
        );
    }

    #[test]
    fn objects_classes_and_threads_of_one_jvm_do_not_count() {
        check(
            "[I@6d06d69c and [La.B;@7852e92",
            "[I@<hash> and [La.B;@<hash>",
        );
        check("at 0x00007f100414e908", "at <address>");
        check("a.B$$Lambda$14/0x00007f1004@1b2c3d", "<lambda>@<hash>");
        check("in a.B$$Lambda/0x00007f1004.run", "in <lambda>.run");
        check("a.B$$Lambda", "a.B$$Lambda");
        check("com.sun.proxy.$Proxy12.run", "com.sun.proxy.$Proxy<id>.run");
        check("Cart$MockitoMock$1820342", "Cart$MockitoMock$<id>");
        check("Cart$MockitoMock$kUZ9ZFbT", "Cart$MockitoMock$<id>");
        check("Cart$$$EasyMock$2", "Cart$$$EasyMock$<id>");
        check(
            "in thread pool-1-thread-3",
            "in thread pool-<id>-thread-<id>",
        );
        check("junit-timeout-thread-1: x", "junit-timeout-thread-<id>: x");
        check("Thread[#22,main,5,main]", "Thread[#<id>,main,5,main]");
        check("/tmp/junit55/x/a.txt: gone", "<temporary>/a.txt: gone");
    }

    #[test]
    fn stacks_and_callers_in_messages_do_not_count() {
        check(
            "was:\n  a.B: no\n\tat a.C.d(C.java:3)\n\t...(70 remaining lines not displayed)\nand",
            "was:\n  a.B: no\n<stack>\nand",
        );
        check("meet\n\tat noon", "meet\n\tat noon");
        check(
            "Wanted:\n-> at shop.CartTest.adds(CartTest.java:12)\nbut",
            "Wanted:\n-> at <frame>\nbut",
        );
        check("-> at a.B.<init>(B.java:3)", "-> at <frame>");
        assert_eq!(mask("at 12:30:05.x(A.java:1)"), "at <time>.x(A.java:1)");
        check("at <time>.x(A.java:1)", "at <time>.x(A.java:1)");
    }

    #[test]
    fn what_the_program_says_counts() {
        for text in [
            "loader 'xml' is missing (it is in module a)",
            "no loader of x (a is in b)",
            "see (in the module) at home (now)",
            "magic 0xCAFEBABE, 12345678, user@facade, at Cart.java:7",
            "on 2024-03-31 after 50 ms, port 8080",
            "Thread[main,5,main], room #22,",
        ] {
            check(text, text);
            assert_eq!(normalise(&mask(text)), mask(text), "{text}");
        }
    }
}
