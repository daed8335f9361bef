//! A line of a stack trace, as `StackTraceElement.toString` prints it.

use std::fmt;

/// One activation on a stack.
///
/// Loader and module (`app//`, `java.base@17/`) are left out: they tell how the program was
/// started and not where it was.
#[derive(Clone, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// Class as Java prints it: `java.util.Map$Entry`, or `Foo$$Lambda/0x00007f10` if hidden.
    pub class: String,
    /// Method, `<init>` of a constructor.
    pub method: String,
    /// Name of the source file.
    pub file: Option<String>,
    /// Line in the source file.
    pub line: Option<u32>,
    /// True if the method is native; then there is no file.
    pub native: bool,
}

impl Frame {
    /// Reads a frame: what follows `at ` in a stack trace. What loggers append about the jar
    /// (`~[lib.jar:1.0]`) is dropped.
    pub fn parse(text: &str) -> Option<Frame> {
        let text = without_jar(text.trim());
        let (qualified, location) = text.strip_suffix(')')?.rsplit_once('(')?;
        let (class, method) = qualified.rsplit_once('.')?;
        let class = without_module(class);
        if !is_class(class) || !is_method(method) || location.is_empty() {
            return None;
        }
        let mut frame = Frame {
            class: class.to_owned(),
            method: method.to_owned(),
            file: None,
            line: None,
            native: location == "Native Method",
        };
        if !frame.native && location != "Unknown Source" {
            let numbered = location
                .rsplit_once(':')
                .and_then(|(file, line)| Some((file, digits(line)?)));
            frame.line = numbered.map(|(_, line)| line);
            frame.file = Some(numbered.map_or(location, |(file, _)| file).to_owned());
        }
        Some(frame)
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}(", self.class, self.method)?;
        match (&self.file, self.line) {
            _ if self.native => f.write_str("Native Method")?,
            (Some(file), Some(line)) => write!(f, "{file}:{line}")?,
            (Some(file), None) => f.write_str(file)?,
            (None, _) => f.write_str("Unknown Source")?,
        }
        f.write_str(")")
    }
}

/// True if this can be the name of a class, as far as the names that people and compilers choose go.
pub(crate) fn is_class(name: &str) -> bool {
    let name = split_hidden(name).0;
    let identifier = |segment: &str| {
        let fine = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-');
        !segment.is_empty() && segment.chars().all(fine)
    };
    name.split('.').all(identifier) && !name.starts_with(|c: char| c.is_numeric() || c == '-')
}

/// Kotlin allows much in names of methods, the JVM a little less.
fn is_method(name: &str) -> bool {
    !name.is_empty() && name.trim() == name && !name.contains(['/', ';', '[', '\t'])
}

/// Splits the number off that the JVM appends to names of hidden classes: `Foo$$Lambda` and
/// `/0x00007f10`, before Java 17 also `/1234`.
pub(crate) fn split_hidden(class: &str) -> (&str, &str) {
    let Some(at) = class.rfind('/') else {
        return (class, "");
    };
    let number = &class[at + 1..];
    let made_up = match number.strip_prefix("0x") {
        Some(hex) => !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => digits(number).is_some(),
    };
    if made_up {
        class.split_at(at)
    } else {
        (class, "")
    }
}

fn without_module(class: &str) -> &str {
    let (name, _) = split_hidden(class);
    let start = name.rfind('/').map_or(0, |at| at + 1);
    &class[start..]
}

fn without_jar(text: &str) -> &str {
    let Some(open) = text.rfind('[').filter(|_| text.ends_with(']')) else {
        return text;
    };
    let before = text[..open].trim_end_matches('~').trim_end();
    if before.ends_with(')') { before } else { text }
}

fn digits(text: &str) -> Option<u32> {
    let all = text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let frame = Frame::parse(text).map(|it| it.to_string());
        assert_eq!(frame.as_deref().unwrap_or("none"), expect, "{text}");
    }

    #[test]
    fn loaders_modules_and_jars_are_dropped() {
        let plain = "shop.Cart.add(Cart.java:7)";
        check(plain, plain);
        check("app//shop.Cart.add(Cart.java:7)", plain);
        check("loader/shop.app@1.2-b3/shop.Cart.add(Cart.java:7)", plain);
        check("shop.Cart.add(Cart.java:7) ~[shop-1.0.jar:1.0]", plain);
        check("shop.Cart.add(Cart.java:7) [classes/:?]", plain);
        check(
            "java.base@17.0.15/java.lang.Thread.sleep(Native Method)",
            "java.lang.Thread.sleep(Native Method)",
        );
    }

    #[test]
    fn hidden_classes_keep_their_number() {
        check(
            "app//shop.Cart$$Lambda$594/0x00007fedb4180258.execute(Unknown Source)",
            "shop.Cart$$Lambda$594/0x00007fedb4180258.execute(Unknown Source)",
        );
        check(
            "Main$$Lambda$1/791452441.run(Unknown Source)",
            "Main$$Lambda$1/791452441.run(Unknown Source)",
        );
        check("jdk.proxy1/jdk.proxy1.$Proxy0.run(Unknown Source)", {
            "jdk.proxy1.$Proxy0.run(Unknown Source)"
        });
    }

    #[test]
    fn methods_may_be_called_anything() {
        for text in [
            "shop.CartTest.adds two (at most)(CartTest.kt:5)",
            "shop.Cart.<init>(Cart.java)",
            "shop.Cart.<clinit>(Cart.java:3)",
            "shop.Cart.lambda$main$0(Cart.java:9)",
            "Main.main(Main.java)",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn prose_is_no_frame() {
        for text in [
            "home",
            "foo.bar()",
            "[Source: (String)\"{\"; line: 1, column: 2]",
            "all (see above)",
            "index 5. (really)",
            ".(x)",
            "",
        ] {
            check(text, "none");
        }
    }
}
