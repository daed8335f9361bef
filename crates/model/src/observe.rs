//! Which classes are observed: the patterns a user names, and the rule behind `--observe app`.

use std::fmt;
use std::str::FromStr;

/// A pattern over class names: `com.acme.Order`, `com.acme.Order$Line`, `com.acme.*` (the
/// package), `com.acme.**` (the package and those below). `*` inside a name matches any run of
/// characters but a dot.
#[derive(Clone, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Pattern(String);

/// A pattern that cannot match any class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a class pattern; write com.acme.Order, com.acme.Order$Line, com.acme.* or com.acme.**",
            self.0
        )
    }
}

impl std::error::Error for PatternError {}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        let dotted = text.replace('/', ".");
        let legal = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '*' | '-');
        let well_formed = !dotted.is_empty()
            && dotted
                .split('.')
                .all(|part| !part.is_empty() && part.chars().all(legal));
        if well_formed {
            Ok(Pattern(dotted))
        } else {
            Err(PatternError(text.to_owned()))
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Pattern {
    /// Whether the pattern matches a class, given by its internal or dotted name.
    pub fn matches(&self, class: &str) -> bool {
        glob(self.0.as_bytes(), class.as_bytes())
    }
}

/// `**` matches anything, `*` anything without a separator; `/` and `.` are the same separator.
fn glob(pattern: &[u8], name: &[u8]) -> bool {
    match pattern {
        [] => name.is_empty(),
        [b'*', b'*', rest @ ..] => (0..=name.len()).any(|i| glob(rest, &name[i..])),
        [b'*', rest @ ..] => {
            let run = name
                .iter()
                .take_while(|b| !matches!(b, b'.' | b'/'))
                .count();
            (0..=run).any(|i| glob(rest, &name[i..]))
        }
        [b'.', rest @ ..] => {
            matches!(name, [b'.' | b'/', tail @ ..] if glob(rest, tail))
        }
        [c, rest @ ..] => matches!(name, [n, tail @ ..] if n == c && glob(rest, tail)),
    }
}

/// Where a class came from, as far as choosing is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The boot or platform loader.
    Jdk,
    /// A folder of classes, the jar named by `-jar`, or a class generated at run time.
    Program,
    /// Any other jar.
    Library,
}

/// What to observe.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// Patterns of `--observe`; empty, or `app`, means the program's own code.
    pub observe: Vec<Pattern>,
    pub exclude: Vec<Pattern>,
    /// `--observe app`, alone or beside patterns.
    pub app: bool,
}

/// Packages that are never the program's own code, whatever folder they are loaded from: build
/// tools and test frameworks with what they carry along.
const TOOLS: [&str; 25] = [
    "org/junit/",
    "junit/",
    "org/hamcrest/",
    "org/opentest4j/",
    "org/apiguardian/",
    "org/testng/",
    "org/mockito/",
    "org/easymock/",
    "org/assertj/",
    "org/objenesis/",
    "net/bytebuddy/",
    "org/spockframework/",
    "org/apache/maven/",
    "org/codehaus/plexus/",
    "org/codehaus/mojo/",
    "org/eclipse/aether/",
    "org/eclipse/sisu/",
    "org/sonatype/",
    "org/gradle/",
    "worker/org/gradle/",
    "org/apache/tools/ant/",
    "org/jacoco/",
    "org/aspectj/",
    "culprit/runtime/",
    "culprit/capture/",
];

/// The JDK's own packages, by name. Some of them may come in jars as well (`javax`).
const JDK: [&str; 9] = [
    "java/",
    "javax/",
    "jdk/",
    "sun/",
    "com/sun/",
    "org/w3c/dom/",
    "org/xml/sax/",
    "org/ietf/jgss/",
    "netscape/javascript/",
];

/// Whether a class, by its internal name, belongs to a package of the JDK.
pub fn is_jdk_name(class: &str) -> bool {
    JDK.iter().any(|prefix| class.starts_with(prefix))
}

/// Whether a class, by its internal name, is one that the agent brings along.
pub fn is_own_name(class: &str) -> bool {
    class.starts_with("culprit/runtime/") || class.starts_with("culprit/capture/")
}

/// Whether a class, by its internal name, belongs to a build tool or a test framework.
pub fn is_tool_name(class: &str) -> bool {
    TOOLS.iter().any(|prefix| class.starts_with(prefix))
}

impl Selection {
    /// Whether the class itself is selected; subclasses of selected classes are the caller's part.
    pub fn selects(&self, class: &str, origin: Origin) -> bool {
        if self.exclude.iter().any(|p| p.matches(class)) || is_own_name(class) {
            return false;
        }
        if self.observe.iter().any(|p| p.matches(class)) {
            return true;
        }
        (self.app || self.observe.is_empty())
            && origin == Origin::Program
            && !is_jdk_name(class)
            && !is_tool_name(class)
    }

    /// Whether the class is excluded by name, and so stays external even as a subclass.
    pub fn excludes(&self, class: &str) -> bool {
        self.exclude.iter().any(|p| p.matches(class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, class: &str, expect: bool) {
        let pattern: Pattern = pattern.parse().unwrap();
        assert_eq!(pattern.matches(class), expect, "{pattern} on {class}");
    }

    #[test]
    fn patterns_match_names_as_documented() {
        check("com.acme.Order", "com/acme/Order", true);
        check("com.acme.Order", "com/acme/Order$Line", false);
        check("com.acme.Order$Line", "com/acme/Order$Line", true);
        check("com.acme.*", "com/acme/Order", true);
        check("com.acme.*", "com/acme/Order$Line", true);
        check("com.acme.*", "com/acme/sub/Order", false);
        check("com.acme.**", "com/acme/sub/Order", true);
        check("com.acme.**", "com/acmeextra/Order", false);
        check("**.Order", "com.acme.Order", true);
        check("com.acme.Order*", "com/acme/OrderBook", true);
    }

    #[test]
    fn a_pattern_that_can_match_nothing_is_refused() {
        for bad in ["", "com..acme", "com acme", ".Order", "a,b"] {
            assert!(bad.parse::<Pattern>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_default_selects_the_programs_own_code_only() {
        let app = Selection::default();
        assert!(app.selects("com/acme/Order", Origin::Program));
        assert!(!app.selects("com/acme/Order", Origin::Library));
        assert!(!app.selects("org/junit/Assert", Origin::Program));
        assert!(!app.selects("java/util/List", Origin::Jdk));
    }

    #[test]
    fn naming_a_library_observes_it_and_excluding_wins() {
        let selection = Selection {
            observe: vec!["org.lib.**".parse().unwrap()],
            exclude: vec!["org.lib.Noisy".parse().unwrap()],
            app: false,
        };
        assert!(selection.selects("org/lib/Part", Origin::Library));
        assert!(!selection.selects("org/lib/Noisy", Origin::Library));
        assert!(!selection.selects("com/acme/Order", Origin::Program));
    }
}
