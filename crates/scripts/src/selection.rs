//! What to observe of a failing program, when all that is known is its stack.

use std::collections::BTreeSet;

use culprit_classfile::ClassFile;
use culprit_model::observe::is_jdk_name;
use culprit_model::owner::is_of_language;
use culprit_model::{Owner, Pattern, Selection};
use culprit_program::{Program, main_class};
use culprit_signature::{Call, Frame, FrameOrigin, Signature, ThrowSite};
use culprit_trace::Start;

use crate::Error;
use crate::assertions::assertion_classes;

/// Frames that a JVM tells of a stack.
const LONGEST: usize = 1024;

/// Has assertions, which pass everything on to another class, and runs the tests that extend it: failures
/// do not leave it.
const JUNIT3_TEST: &str = "junit/framework/TestCase";

/// A failure of a JVM, as it was seen.
#[derive(Clone, Copy, Debug)]
pub struct Failed<'a> {
    pub signature: &'a Signature,
    /// The class of the test that failed, as Java writes it, for stacks that do not have it.
    pub test: Option<&'a str>,
    pub start: &'a Start,
}

/// Observes all of the code that failed, as seen from the program or test that uses it.
///
/// That is every archive or folder of the class path with code on the stack, besides the one class
/// that drives it all: the test, or the main class. Where an assertion failed nothing of the code is
/// on the stack any more: then it is what the test refers to.
pub fn select(failed: &Failed<'_>, program: &Program) -> Result<Selection, Error> {
    let frames = frames_of(failed);
    let driver = driver_of(failed);
    let on_stack: Vec<String> = frames.iter().map(|frame| internal(&frame.class)).collect();
    let mut entries: BTreeSet<usize> = BTreeSet::new();
    let of_stack = on_stack.iter().filter(|name| !is_of(name, &driver));
    let is_program = |name: &&String| !is_of_language(name);
    entries.extend(
        of_stack
            .clone()
            .filter(is_program)
            .filter_map(|name| program.entry_of(name)),
    );
    if entries.is_empty() {
        entries.extend(of_stack.filter_map(|name| program.entry_of(name)));
    }
    if entries.is_empty() {
        let used = referred(program, &driver);
        entries.extend(used.iter().filter_map(|name| program.entry_of(name)));
    }
    let mut observe = Vec::new();
    for entry in &entries {
        let names = program.names(*entry)?;
        observe.extend(packages(names.iter().filter(|name| !is_of(name, &driver))));
    }
    observe.extend(asserting(program));
    if entries.is_empty() {
        observe.push(driver.replace('/', "."));
    }
    let pattern = |text: &String| text.parse::<Pattern>().ok();
    let exclude = match entries.is_empty() {
        true => Vec::new(),
        false => {
            let dotted = driver.replace('/', ".");
            vec![dotted]
        }
    };
    Ok(Selection {
        observe: observe.iter().filter_map(pattern).collect(),
        exclude: exclude.iter().filter_map(pattern).collect(),
        app: false,
    })
}

/// The classes of a program with assertions.
pub(crate) fn asserting(program: &Program) -> impl Iterator<Item = String> {
    let classes = assertion_classes().filter(|name| *name != JUNIT3_TEST);
    let known = classes.filter(|name| program.entry_of(name).is_some());
    known.map(|name| name.replace('/', "."))
}

/// The frames of the program on the stack of a failure and of its causes, innermost first, down to the test
/// where it is among them: a runner of one's own may be further out.
pub(crate) fn frames_of<'a>(failed: &Failed<'a>) -> Vec<&'a Frame> {
    let thrown = failed.signature.thrown().chain().last();
    let all = thrown.map_or(&[][..], |thrown| &thrown.frames);
    let mut frames = within_harness(all);
    if frames.is_empty() && failed.test.is_none() {
        frames = own(all);
    }
    let is_test = |frame: &&Frame| failed.test == Some(frame.class.as_str());
    if let Some(test) = frames.iter().rposition(is_test) {
        frames.truncate(test + 1);
    }
    // The top of a stack that overflowed is whatever the recursion called when there was no room left.
    if let Some(ThrowSite::Recursion(calls)) = failed.signature.sites().last() {
        let recurs = |frame: &&Frame| calls.contains(&Call::of(frame));
        let first = frames.iter().position(recurs);
        frames.drain(..first.unwrap_or(0));
    }
    frames
}

/// True if the outer end of the stack of a failure may have been left out: a JVM keeps so many frames.
pub(crate) fn is_cut_off(failed: &Failed<'_>) -> bool {
    let mut thrown = failed.signature.thrown().chain();
    thrown.any(|thrown| thrown.frames.len() >= LONGEST)
}

fn own(frames: &[Frame]) -> Vec<&Frame> {
    let own = frames.iter();
    own.filter(|frame| frame.origin() == FrameOrigin::Program)
        .collect()
}

/// The frames of the program that a harness runs, or all where there is none. A main class that starts a
/// harness is further out, and has nothing to do with what fails in it.
fn within_harness(frames: &[Frame]) -> Vec<&Frame> {
    // Mocks call the program back, but start nothing.
    let mocks = |frame: &Frame| Owner::of_java(&frame.class) == Owner::Mock;
    let runs = |frame: &Frame| frame.origin() == FrameOrigin::Harness && !mocks(frame);
    let started = frames.iter().rposition(runs);
    own(&frames[..started.unwrap_or(frames.len())])
}

/// The class that drives everything else, by its internal name: that of the outermost frame, unless a thread began in the class that
/// failed; or else the test, or the main class.
pub(crate) fn driver_of(failed: &Failed<'_>) -> String {
    let frames = frames_of(failed);
    let outer = frames.last().filter(|_| !is_cut_off(failed));
    let main = main_class(failed.start);
    // A thread that the program started may begin in the class that failed.
    let is_started = || {
        let main = main.as_deref().map(internal).unwrap_or_default();
        let classes = frames.iter().map(|frame| internal(&frame.class));
        let mut classes = classes.map(|class| outermost(&class).to_owned());
        let first = classes.next();
        !main.is_empty()
            && failed.test.is_none()
            && first.as_deref() != Some(outermost(&main))
            && classes.all(|class| Some(class) == first)
    };
    let outer = outer.filter(|_| !is_started());
    let outer = outer.map(|frame| handed_on(&frames).unwrap_or(frame).class.clone());
    let known = outer.or_else(|| failed.test.map(str::to_owned));
    let driver = known.or(main.clone());
    outermost(&internal(&driver.unwrap_or_default())).to_owned()
}

/// The class of functions that stand in no class, as the compiler of Scala names it after their file.
const FILE_OF_SCALA: &str = "$package$";

/// The function that a main class of Scala is made for and does nothing but call: `run.main` calls `run` of the file.
fn handed_on<'a>(frames: &[&'a Frame]) -> Option<&'a Frame> {
    let [.., called, main] = frames else {
        return None;
    };
    let named = main.class.rsplit('.').next();
    let is_made_for =
        called.class.ends_with(FILE_OF_SCALA) && named == Some(called.method.as_str());
    (is_made_for && main.method == "main").then_some(*called)
}

pub(crate) fn internal(class: &str) -> String {
    class.replace('.', "/")
}

/// The class that a nested one stands in.
pub(crate) fn outermost(name: &str) -> &str {
    if let Some(at) = name.find(FILE_OF_SCALA) {
        return &name[..at + FILE_OF_SCALA.len()];
    }
    let start = name.rfind('/').map_or(0, |at| at + 1);
    match name[start..].find('$') {
        Some(at) if at > 0 => &name[..start + at],
        _ => name,
    }
}

pub(crate) fn is_of(name: &str, driver: &str) -> bool {
    outermost(name) == driver
}

/// The classes that a class and those within it refer to.
fn referred(program: &Program, driver: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let Some(bytes) = program.bytes(driver) else {
        return found;
    };
    if let Ok(class) = ClassFile::parse(&bytes) {
        let indices = (1..=u16::MAX).take(class.pool.count());
        let names = indices.filter_map(|index| class.pool.class_name(index).ok());
        found.extend(names.map(|name| {
            name.trim_start_matches(['[', 'L'])
                .trim_end_matches(';')
                .to_owned()
        }));
    }
    found.retain(|name| !is_jdk_name(name) && !is_of(name, driver) && !is_framework(name));
    found
}

/// Whether a class, by its internal name, belongs to the JDK, to a test library or to what starts tests.
pub(crate) fn is_framework(name: &str) -> bool {
    !Owner::of(name).may_be_subject()
}

/// Patterns for the packages of some classes, as few as tell them from others.
pub(crate) fn packages<'n>(names: impl Iterator<Item = &'n String>) -> Vec<String> {
    let mut roots: BTreeSet<String> = BTreeSet::new();
    for name in names.filter(|name| !name.starts_with("META-INF")) {
        let parts: Vec<&str> = name.split('/').collect();
        let package = &parts[..parts.len() - 1];
        // Two names are whose it is, the third is what it is.
        roots.insert(package[..package.len().min(3)].join("."));
    }
    let all = roots.clone();
    roots.retain(|root| {
        let within = |other: &String| {
            other != root && !other.is_empty() && root.starts_with(&format!("{other}."))
        };
        !all.iter().any(within)
    });
    let pattern = |root: String| match root.is_empty() {
        true => "*".to_owned(),
        false => format!("{root}.**"),
    };
    roots.into_iter().map(pattern).collect()
}

#[cfg(test)]
mod tests {
    use culprit_signature::Thrown;

    use super::*;

    #[track_caller]
    fn check(names: &str, expected: &str) {
        let names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
        assert_eq!(packages(names.iter()).join(" "), expected);
    }

    #[test]
    fn packages_are_told_by_their_first_three_names() {
        check(
            "org/acme/text/A org/acme/text/deep/er/B",
            "org.acme.text.**",
        );
        check("org/acme/a/A org/acme/b/B", "org.acme.a.** org.acme.b.**");
    }

    #[test]
    fn a_package_stands_for_those_below_it() {
        check("bst/Tree bst/util/A", "bst.**");
        check("org/acme/Top org/acme/a/A", "org.acme.**");
        check("ab/A a/B", "a.** ab.**");
    }

    #[test]
    fn classes_without_a_package_are_there_beside_others() {
        check("Main a/B", "* a.**");
    }

    #[test]
    fn other_versions_of_classes_in_an_archive_are_no_packages() {
        check("META-INF/versions/9/a/B a/B", "a.**");
    }

    #[test]
    fn the_top_of_a_stack_that_overflowed_is_left_out() {
        let recursion = "\tat a.Node.walk(Node.java:3)\n\tat a.Tree.walk(Tree.java:7)\n".repeat(20);
        let stack =
            format!("java.lang.StackOverflowError\n\tat a.Items.get(Items.java:9)\n{recursion}");
        let signature = Signature::of(&Thrown::parse(&stack).unwrap());
        let failed = Failed {
            signature: &signature,
            test: None,
            start: &Start::default(),
        };
        let frames = frames_of(&failed);
        assert_eq!(frames.len(), 40);
        assert_eq!(frames[0].class, "a.Node");
        assert!(!is_cut_off(&failed));
    }

    #[track_caller]
    fn check_frames(classes: &str, expected: &str) {
        let frame = |class: &str| Frame::parse(&format!("{class}.run(Unknown Source)"));
        let frames: Vec<Frame> = classes.split_whitespace().filter_map(frame).collect();
        let found = within_harness(&frames);
        let found: Vec<&str> = found.iter().map(|frame| frame.class.as_str()).collect();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn what_starts_a_harness_is_not_what_it_runs() {
        check_frames("Cart CartTest org.junit.runners.Suite", "Cart CartTest");
        check_frames(
            "org.junit.Assert CartTest java.lang.reflect.Method org.junit.runners.Suite Launcher",
            "CartTest",
        );
        check_frames(
            "Cart CartTest org.junit.Assert CartTest org.junit.runners.Suite Launcher",
            "Cart CartTest CartTest",
        );
        check_frames("org.junit.Assert Cart Main", "Cart Main");
        check_frames("Cart org.mockito.Mock Main", "Cart Main");
        check_frames("Cart org.easymock.Mock Main", "Cart Main");
        let mvc = "org.springframework.test.web.servlet.MockMvc";
        check_frames(&format!("Cart {mvc} Main"), "Cart Main");
    }

    #[test]
    fn a_program_that_fails_in_its_call_of_a_harness_is_its_own_driver() {
        check_driver("org.junit.runners.Suite Main", None, "Main");
        check_driver("org.junit.runners.Suite Main", Some("CartTest"), "CartTest");
    }

    #[test]
    fn a_test_that_is_not_on_the_stack_drives_all_the_same() {
        check_driver(
            "org.junit.Rule",
            Some("shop.CartTest$Nested"),
            "shop/CartTest",
        );
    }

    #[test]
    fn a_runner_of_ones_own_is_no_driver() {
        let stack = "lib.Cart shop.CartTest org.junit.Runner shop.Retry org.junit.Core";
        check_driver(stack, Some("shop.CartTest"), "shop/CartTest");
        check_driver(stack, None, "shop/Retry");
    }

    #[test]
    fn a_main_class_of_scala_hands_on_to_the_function_that_it_is_made_for() {
        let stack = "bank.Ledger.move bank.Main$package$.run bank.run.main";
        check_driver_of_methods(stack, None, "bank/Main$package$");
        let other = "bank.Ledger.move bank.Main$package$.play bank.run.main";
        check_driver_of_methods(other, None, "bank/run");
    }

    #[track_caller]
    fn check_driver(classes: &str, test: Option<&str>, expected: &str) {
        let methods = classes
            .split_whitespace()
            .map(|class| format!("{class}.m "));
        check_driver_of_methods(&methods.collect::<String>(), test, expected);
    }

    #[track_caller]
    fn check_driver_of_methods(methods: &str, test: Option<&str>, expected: &str) {
        let frames = methods.split_whitespace();
        let frames: String = frames.map(|at| format!("\tat {at}(X.java:1)\n")).collect();
        let thrown = Thrown::parse(&format!("a.Bad\n{frames}")).unwrap();
        let failed = Failed {
            signature: &Signature::of(&thrown),
            test,
            start: &Start::default(),
        };
        assert_eq!(driver_of(&failed), expected);
    }

    #[test]
    fn nested_classes_belong_to_the_one_they_stand_in() {
        assert_eq!(outermost("a/B$C$1"), "a/B");
        assert_eq!(outermost("a/B"), "a/B");
        assert_eq!(outermost("a$b/C"), "a$b/C");
        assert_eq!(outermost("a/$Proxy"), "a/$Proxy");
        assert_eq!(outermost("a/Main$package$$anon$1"), "a/Main$package$");
    }

    #[test]
    fn what_runs_tests_is_a_framework() {
        assert!(is_framework("org/junit/jupiter/api/Assertions"));
        assert!(is_framework("org/assertj/core/api/Assertions"));
        assert!(is_framework("java/util/List"));
        assert!(!is_framework("com/acme/Cart"));
        assert!(!is_framework("javax/servlet/Servlet"));
        // Not recognised before the lists of prefixes became one table.
        assert!(is_framework("org/easymock/EasyMock"));
        assert!(is_framework("io/kotest/core/spec/Spec"));
        assert!(is_framework("org/springframework/test/web/servlet/MockMvc"));
    }
}
