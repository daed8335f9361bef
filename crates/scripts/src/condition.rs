//! What counts as a failure where the program neither throws nor fails an assertion: something that a
//! run prints, ends with, or computes.

use std::fmt;
use std::str::FromStr;

use culprit_signature::{Grade, Signature, Thrown};

const CONTAINS: &str = "output contains ";
const MATCHES: &str = "output matches ";
const EXIT: &str = "exit ";
const RETURNS: &str = " returns ";
const ARROW: &str = "->";

/// When a run has failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// It prints this text, to either stream.
    Contains(String),
    /// It prints something that a regular expression finds.
    Matches(String),
    /// Its driver ends the JVM with this status.
    Exit(u8),
    /// A method that the driver calls returns what prints as this.
    Returns {
        /// As Java writes it, with its package or without.
        class: String,
        method: String,
        value: String,
    },
    /// An expression of Java is true of an object that the driver uses.
    Holds {
        /// As Java writes it, with its package or without.
        class: String,
        /// The name of the object in the expression.
        name: String,
        expression: String,
    },
}

/// Why a text is no condition.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadCondition {
    #[error(
        "write 'output contains TEXT', 'output matches REGEX', 'exit N', \
         'CLASS.METHOD returns VALUE' or 'CLASS NAME -> EXPRESSION'"
    )]
    Unknown,
    #[error("the {0} is missing")]
    Missing(&'static str),
    #[error("'{0}' is no status from 1 to 255")]
    Status(String),
    #[error("a command that ends with 0 has not failed")]
    Zero,
    #[error("'{0}' is no method: write CLASS.METHOD, such as Cart.total or com.acme.Cart.total")]
    Method(String),
}

impl FromStr for Condition {
    type Err = BadCondition;

    fn from_str(text: &str) -> Result<Condition, BadCondition> {
        let text = text.trim_start();
        // What is missing may have taken the space before it along.
        let after = |start: &str| match text.strip_prefix(start) {
            Some(rest) => Some(rest),
            None => (text.trim_end() == start.trim_end()).then_some(""),
        };
        let some = |rest: &str, what| match rest.is_empty() {
            true => Err(BadCondition::Missing(what)),
            false => Ok(rest.to_owned()),
        };
        if let Some(rest) = after(CONTAINS) {
            return some(rest, "text").map(Condition::Contains);
        }
        if let Some(rest) = after(MATCHES) {
            return some(rest, "regular expression").map(Condition::Matches);
        }
        if let Some(rest) = after(EXIT) {
            let status = some(rest.trim(), "status")?;
            return match status.parse::<u8>() {
                Ok(0) => Err(BadCondition::Zero),
                Ok(status) => Ok(Condition::Exit(status)),
                Err(_) => Err(BadCondition::Status(status)),
            };
        }
        if let Some((object, expression)) = text.split_once(ARROW)
            && let Some((class, name)) = object.trim().split_once(char::is_whitespace)
            && class.split(['.', '$']).all(is_identifier)
            && is_identifier(name.trim())
        {
            return Ok(Condition::Holds {
                class: class.to_owned(),
                name: name.trim().to_owned(),
                expression: some(expression.trim(), "expression")?,
            });
        }
        let (called, value) = match text.split_once(RETURNS) {
            Some(parts) => parts,
            None => match text.trim_end().strip_suffix(RETURNS.trim_end()) {
                Some(called) => (called, ""),
                None => return Err(BadCondition::Unknown),
            },
        };
        let called = called.trim();
        let named = called.rsplit_once('.');
        let named = named.filter(|(class, method)| {
            class.split(['.', '$']).all(is_identifier) && is_identifier(method)
        });
        let (class, method) = named.ok_or_else(|| BadCondition::Method(called.to_owned()))?;
        Ok(Condition::Returns {
            class: class.to_owned(),
            method: method.to_owned(),
            value: some(value, "value")?,
        })
    }
}

fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    let begins = letters
        .next()
        .is_some_and(|c| c.is_alphabetic() || "_$".contains(c));
    begins && letters.all(|c| c.is_alphanumeric() || "_$".contains(c))
}

/// As it is typed.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Contains(text) => write!(f, "{CONTAINS}{text}"),
            Condition::Matches(pattern) => write!(f, "{MATCHES}{pattern}"),
            Condition::Exit(status) => write!(f, "{EXIT}{status}"),
            Condition::Returns {
                class,
                method,
                value,
            } => write!(f, "{class}.{method}{RETURNS}{value}"),
            Condition::Holds {
                class,
                name,
                expression,
            } => write!(f, "{class} {name} {ARROW} {expression}"),
        }
    }
}

impl Condition {
    /// What a test says that finds it to hold.
    pub fn message(&self) -> String {
        match self {
            // In one line.
            Condition::Holds { .. } => {
                let text = self.to_string();
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            }
            _ => self.to_string(),
        }
    }

    /// The failure of such a test, wherever it comes from.
    pub fn signature(&self) -> Signature {
        raised(self.message())
    }

    /// Whether an exception, as it is printed, is that failure.
    pub(crate) fn is_told_by(&self, trace: &str) -> bool {
        let thrown = Thrown::parse(trace);
        let grade = thrown.and_then(|thrown| self.signature().grade(&thrown));
        grade >= Some(Grade::L3)
    }

    /// Whether a method is the one that it names, by the internal name of its class.
    pub(crate) fn is_of(&self, owner: &str, name: &str) -> bool {
        let Condition::Returns { class, method, .. } = self else {
            return false;
        };
        name == method && is_named(owner, class)
    }

    /// Whether it is about the objects of a class, by its internal name.
    pub(crate) fn is_about(&self, of: &str) -> bool {
        matches!(self, Condition::Holds { class, .. } if is_named(of, class))
    }
}

/// The failure of a test that throws an assertion error of its own with this message.
pub(crate) fn raised(message: String) -> Signature {
    Signature::of(&Thrown {
        class: "java.lang.AssertionError".to_owned(),
        message: Some(message),
        ..Thrown::default()
    })
}

/// Whether a class, by its internal name, is called so, with its package or without.
fn is_named(class: &str, name: &str) -> bool {
    let parts = |name: &str| name.replace(['.', '$'], "/");
    let (class, name) = (parts(class), parts(name));
    class == name || class.ends_with(&format!("/{name}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<Condition, BadCondition>) {
        assert_eq!(text.parse(), expected, "{text:?}");
    }

    fn returns(class: &str, method: &str, value: &str) -> Condition {
        Condition::Returns {
            class: class.to_owned(),
            method: method.to_owned(),
            value: value.to_owned(),
        }
    }

    #[test]
    fn each_form_is_read() {
        check(
            "output contains plain: false",
            Ok(Condition::Contains("plain: false".to_owned())),
        );
        check(
            "output matches ^total: -\\d+$",
            Ok(Condition::Matches("^total: -\\d+$".to_owned())),
        );
        check("exit 3", Ok(Condition::Exit(3)));
        check("Cart.total returns -5", Ok(returns("Cart", "total", "-5")));
        check(
            "com.acme.Cart$Line.name returns a returns b",
            Ok(returns("com.acme.Cart$Line", "name", "a returns b")),
        );
    }

    #[test]
    fn an_expression_is_of_an_object_with_a_name() {
        let holds = |class: &str, name: &str, expression: &str| Condition::Holds {
            class: class.to_owned(),
            name: name.to_owned(),
            expression: expression.to_owned(),
        };
        check(
            "Cart c -> c.total() < 0",
            Ok(holds("Cart", "c", "c.total() < 0")),
        );
        check(
            "a.Cart$Line l->l.f(x -> 1) returns 2",
            Ok(holds("a.Cart$Line", "l", "l.f(x -> 1) returns 2")),
        );
        check("Cart c ->", Err(BadCondition::Missing("expression")));
        check("c -> true", Err(BadCondition::Unknown));
        let about = |class| holds("Cart", "c", "true").is_about(class);
        assert!(about("a/Cart") && about("Cart") && about("a/B$Cart") && !about("a/MyCart"));
    }

    #[test]
    fn spaces_of_a_text_are_its_own() {
        check(
            "output contains  x ",
            Ok(Condition::Contains(" x ".to_owned())),
        );
    }

    #[test]
    fn what_is_no_condition_says_why() {
        check("Cart.total() == 3", Err(BadCondition::Unknown));
        check("", Err(BadCondition::Unknown));
        check("output contains", Err(BadCondition::Missing("text")));
        check("output contains ", Err(BadCondition::Missing("text")));
        check(
            "output matches ",
            Err(BadCondition::Missing("regular expression")),
        );
        check("exit", Err(BadCondition::Missing("status")));
        check("exit 0", Err(BadCondition::Zero));
        check("exit 256", Err(BadCondition::Status("256".to_owned())));
        check("exit -1", Err(BadCondition::Status("-1".to_owned())));
        check(
            "total returns 3",
            Err(BadCondition::Method("total".to_owned())),
        );
        check(
            "Cart.total() returns 3",
            Err(BadCondition::Method("Cart.total()".to_owned())),
        );
        check("Cart.total returns", Err(BadCondition::Missing("value")));
        check("Cart.total returns ", Err(BadCondition::Missing("value")));
    }

    #[test]
    fn a_class_is_named_with_its_package_or_without() {
        let is_of = |class: &str, owner: &str| returns(class, "m", "1").is_of(owner, "m");
        assert!(is_of("Cart", "Cart"));
        assert!(is_of("Cart", "com/acme/Cart"));
        assert!(is_of("acme.Cart", "com/acme/Cart"));
        assert!(is_of("Cart.Line", "com/acme/Cart$Line"));
        assert!(is_of("Line", "com/acme/Cart$Line"));
        assert!(!is_of("Cart", "com/acme/SmartCart"));
        assert!(!is_of("org.acme.Cart", "com/acme/Cart"));
        assert!(!returns("Cart", "m", "1").is_of("Cart", "n"));
    }

    #[test]
    fn its_failure_is_known_by_its_message_alone() {
        let condition = Condition::Exit(3);
        let grade = |trace: &str| {
            let thrown = Thrown::parse(trace).unwrap();
            condition.signature().grade(&thrown)
        };
        let trace = "java.lang.AssertionError: exit 3\n\tat a.BTest.c(BTest.java:1)\n";
        assert_eq!(grade(trace), Some(Grade::L3));
        let other = "java.lang.AssertionError: why\n\tat a.BTest.c(BTest.java:1)\n";
        assert!(grade(other) < Some(Signature::ENOUGH));
        assert_eq!(
            grade("java.lang.Error: exit 3\n\tat a.B.c(B.java:1)\n"),
            None
        );
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in any::<String>()) {
            let _ = text.parse::<Condition>();
        }

        #[test]
        fn a_condition_is_read_as_it_is_written(
            start in prop::sample::select(vec!["output contains ", "output matches ", "exit ", "A.b returns "]),
            rest in "[ -~\\n]{0,8}|[1-9]",
        ) {
            if let Ok(condition) = format!("{start}{rest}").parse::<Condition>() {
                prop_assert_eq!(condition.to_string().parse::<Condition>(), Ok(condition));
            }
        }
    }
}
