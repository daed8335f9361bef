//! Which classes are observed: the patterns a user names, and the rule behind `--observe app`.

use std::fmt;
use std::str::FromStr;

use crate::Owner;

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
pub enum ClassOrigin {
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

/// Whether a class, by its internal name, is in a package of the JDK, or in one that the JDK shares
/// with libraries.
pub fn is_jdk_name(class: &str) -> bool {
    let owner = Owner::of(class);
    owner.is_jdk() || owner == Owner::MaybeJdk
}

/// Whether a class, by its internal name, is one that Culprit adds to a JVM.
pub fn is_own_name(class: &str) -> bool {
    Owner::of(class) == Owner::Culprit
}

/// Whether a class, by its internal name, belongs to a build tool or a test library.
pub fn is_tool_name(class: &str) -> bool {
    Owner::of(class).is_tool()
}

impl Selection {
    /// Whether the class itself is selected; subclasses of selected classes are the caller's part.
    pub fn selects(&self, class: &str, origin: ClassOrigin) -> bool {
        if self.exclude.iter().any(|p| p.matches(class)) || is_own_name(class) {
            return false;
        }
        if self.observe.iter().any(|p| p.matches(class)) {
            return true;
        }
        (self.app || self.observe.is_empty())
            && origin == ClassOrigin::Program
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
        assert!(app.selects("com/acme/Order", ClassOrigin::Program));
        assert!(!app.selects("com/acme/Order", ClassOrigin::Library));
        assert!(!app.selects("org/junit/Assert", ClassOrigin::Program));
        assert!(!app.selects("java/util/List", ClassOrigin::Jdk));
    }

    /// The lists that the table of owners replaced, with what has changed since.
    #[test]
    fn names_of_the_jdk_and_of_tools_are_those_of_the_table() {
        let jdk = "java/ javax/ jdk/ sun/ com/sun/ org/w3c/dom/ org/xml/sax/ org/ietf/jgss/ \
                   netscape/javascript/";
        let tools = "org/junit/ junit/ org/hamcrest/ org/opentest4j/ org/apiguardian/ org/testng/ \
                     org/mockito/ org/easymock/ org/assertj/ org/objenesis/ net/bytebuddy/ \
                     org/spockframework/ org/apache/maven/ org/codehaus/plexus/ \
                     org/codehaus/mojo/ org/eclipse/aether/ org/eclipse/sisu/ org/sonatype/ \
                     org/gradle/ worker/org/gradle/ org/apache/tools/ant/ org/jacoco/ \
                     org/aspectj/ culprit/runtime/ culprit/capture/";
        let added = "com/google/common/truth/ kotlin/test/ io/kotest/ io/mockk/ org/jmock/ \
                     org/springframework/test/ org/springframework/mock/ spock/ com/intellij/rt/ \
                     org/eclipse/jdt/internal/ culprit/tester/";
        for package in jdk.split_whitespace() {
            let class = format!("{package}Name");
            assert!(is_jdk_name(&class) && !is_tool_name(&class), "{class}");
        }
        for package in tools.split_whitespace().chain(added.split_whitespace()) {
            let class = format!("{package}Name");
            assert!(is_tool_name(&class) && !is_jdk_name(&class), "{class}");
            assert_eq!(is_own_name(&class), package.starts_with("culprit/"));
        }
        for class in [
            "com/acme/Order",
            "culprit/Shop",
            "kotlin/jvm/internal/X",
            "Main",
        ] {
            assert!(!is_jdk_name(class) && !is_tool_name(class), "{class}");
        }
    }

    #[test]
    fn naming_a_library_observes_it_and_excluding_wins() {
        let selection = Selection {
            observe: vec!["org.lib.**".parse().unwrap()],
            exclude: vec!["org.lib.Noisy".parse().unwrap()],
            app: false,
        };
        assert!(selection.selects("org/lib/Part", ClassOrigin::Library));
        assert!(!selection.selects("org/lib/Noisy", ClassOrigin::Library));
        assert!(!selection.selects("com/acme/Order", ClassOrigin::Program));
    }
}
