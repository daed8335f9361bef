//! The output of Java 17, Maven Surefire 3.2.5 and JUnit's console launcher 1.10.2, shortened. The
//! outputs of Gradle, older Surefire, JUnit's text runner and logs are written by hand.

use culprit_signature::{FoundTrace, Owner, Thrown, find_all};

fn parse(text: &str) -> Thrown {
    Thrown::parse(text).expect("this is a stack trace")
}

/// Class, message and frames of an exception and its causes, one per line.
fn outline(thrown: &Thrown) -> String {
    let one = |thrown: &Thrown| {
        let frames: Vec<String> = thrown.frames.iter().map(ToString::to_string).collect();
        let more = if thrown.truncated { " and more" } else { "" };
        format!(
            "{}|{:?}|{}{more}",
            thrown.class,
            thrown.message,
            frames.join(" ")
        )
    };
    thrown.chain().map(one).collect::<Vec<_>>().join("\n")
}

fn only(text: &str) -> FoundTrace {
    let mut found = find_all(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

fn thread(name: &str) -> Option<Owner> {
    Some(Owner::Thread(name.to_owned()))
}

fn test(name: &str) -> Option<Owner> {
    Some(Owner::Test(name.to_owned()))
}

const CAUSES: &str = "\
java.lang.RuntimeException: java.lang.IndexOutOfBoundsException: Index: 5 Size: 1
\tat App.lambda$main$3(App.java:12)
\tat App.run(App.java:28)
\tat App.main(App.java:12)
\tSuppressed: java.lang.Exception: sup
of two lines
\t\t... 3 more
\tCaused by: java.lang.Error: in sup
\t\t... 3 more
\tSuppressed: java.lang.Exception: sup2
\t\tat App.close(App.java:2)
\t\t... 3 more
Caused by: java.lang.IndexOutOfBoundsException: Index: 5 Size: 1
\tat java.base/java.util.ImmutableCollections$List12.get(ImmutableCollections.java:585)
\t... 3 more
";

#[test]
fn causes_share_frames_and_suppressed_exceptions_are_skipped() {
    let expect = "\
java.lang.RuntimeException|Some(\"java.lang.IndexOutOfBoundsException: Index: 5 Size: 1\")|\
App.lambda$main$3(App.java:12) App.run(App.java:28) App.main(App.java:12)
java.lang.IndexOutOfBoundsException|Some(\"Index: 5 Size: 1\")|\
java.util.ImmutableCollections$List12.get(ImmutableCollections.java:585) \
App.lambda$main$3(App.java:12) App.run(App.java:28) App.main(App.java:12)";
    assert_eq!(outline(&parse(CAUSES)), expect);
    assert_eq!(outline(&only(CAUSES).thrown), expect);
}

#[test]
fn circles_of_causes_end() {
    let text = "\
java.lang.Exception: x
\tat App.main(App.java:13)
Caused by: java.lang.Exception: y
\t... 1 more
Caused by: [CIRCULAR REFERENCE: java.lang.Exception: x]
";
    let thrown = parse(text);
    assert_eq!(thrown.chain().count(), 2);
    assert_eq!(only(text).thrown, thrown);
}

#[test]
fn a_message_may_look_like_a_stack_if_more_text_follows() {
    let thrown = parse(
        "java.lang.IllegalStateException: first\n\tat looks.like(Frame.java:1)\n\nlast\n\
         \tat App.run(App.java:9)\n",
    );
    assert_eq!(
        outline(&thrown),
        "java.lang.IllegalStateException|\
         Some(\"first\\n\\tat looks.like(Frame.java:1)\\n\\nlast\")|App.run(App.java:9)"
    );
}

#[test]
fn exceptions_may_print_themselves_without_their_class() {
    let thrown = parse("odd one, no class here\n\tat App.main(App.java:17)\n");
    assert_eq!(
        outline(&thrown),
        "|Some(\"odd one, no class here\")|App.main(App.java:17)"
    );
    assert_eq!(Thrown::parse("odd one, no class here"), None);
    let sax = parse("org.xml.sax.SAXParseException; lineNumber: 1; Content is not allowed.\n");
    assert_eq!(sax.class, "org.xml.sax.SAXParseException");
}

#[test]
fn uncaught_exceptions_name_their_thread() {
    let text = "\
starting
Exception in thread \"a \" b\" java.lang.ArithmeticException: in \"thread\"
\tat App.lambda$main$16(App.java:23)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Exception in thread \"main\" java.lang.NullPointerException
done
Exception: java.lang.OutOfMemoryError thrown from the UncaughtExceptionHandler in thread \"w\"
";
    let found = find_all(text);
    let owners: Vec<_> = found.iter().map(|it| it.owner.clone()).collect();
    assert_eq!(owners, [thread("a \" b"), thread("main"), thread("w")]);
    assert_eq!(found[0].line, 2);
    assert_eq!(found[0].thrown.frames.len(), 2);
    assert_eq!(
        outline(&found[1].thrown),
        "java.lang.NullPointerException|None| and more"
    );
    assert_eq!(found[2].thrown.class, "java.lang.OutOfMemoryError");
}

#[test]
fn surefire_tells_tests() {
    let text = "\
[ERROR] Tests run: 14, Failures: 9, Errors: 4, Skipped: 0, Time elapsed: 0.027 s <<< FAILURE! -- in shop.CartTest
[ERROR] shop.CartTest.jj -- Time elapsed: 0.977 s <<< FAILURE!
java.lang.AssertionError: 

Expected size: 3 but was: 2 in:
[1, 2]
\tat shop.CartTest.jj(CartTest.java:11)

[ERROR] shop.CartTest.all -- Time elapsed: 0.343 s <<< FAILURE!
org.opentest4j.MultipleFailuresError: 
Multiple Failures (2 failures)
\torg.opentest4j.AssertionFailedError: expected: <true> but was: <false>
\torg.opentest4j.AssertionFailedError: expected: <a> but was: <b>
\tat org.junit.jupiter.api.Assertions.assertAll(Assertions.java:2944)
\tat shop.CartTest.all(CartTest.java:14)
\tSuppressed: org.opentest4j.AssertionFailedError: expected: <true> but was: <false>
\t\tat org.junit.jupiter.api.Assertions.assertTrue(Assertions.java:183)
\t\t... 7 more

[ERROR] shop.OldTest.exp -- Time elapsed: 0 s <<< FAILURE!
java.lang.AssertionError: Expected exception: java.lang.NullPointerException

missing(shop.CartTest)  Time elapsed: 0.001 sec  <<< ERROR!
java.lang.IllegalArgumentException: bad id
\tat shop.CartTest.find(CartTest.java:8)
Caused by: java.lang.NumberFormatException: For input string: \"x12\"
\tat shop.CartTest.find(CartTest.java:8)

[ERROR] Failures: 
[ERROR]   CartTest.all:14 Multiple Failures (2 failures)
\torg.opentest4j.AssertionFailedError: expected: <true> but was: <false>
[ERROR] Errors: 
[ERROR]   CartTest.missing:10->find:8 » IllegalArgument bad id
";
    let found = find_all(text);
    let owners: Vec<_> = found.iter().map(|it| it.owner.clone()).collect();
    let expect = ["jj", "all", "exp", "missing"];
    let expect = ["CartTest", "CartTest", "OldTest", "CartTest"]
        .iter()
        .zip(expect)
        .map(|(class, method)| test(&format!("shop.{class}.{method}")));
    assert_eq!(owners, expect.collect::<Vec<_>>());
    let message = |index: usize| found[index].thrown.message.clone().unwrap_or_default();
    assert_eq!(message(0), "\nExpected size: 3 but was: 2 in:\n[1, 2]");
    assert!(message(1).starts_with("Multiple Failures (2 failures)\n\torg.opentest4j"));
    assert_eq!(found[1].thrown.frames.len(), 2);
    assert!(found[2].thrown.truncated);
    assert_eq!(found[3].thrown.chain().count(), 2);
}

#[test]
fn of_several_assertions_the_first_is_the_cause() {
    let text = "\
org.opentest4j.MultipleFailuresError: parts (2 failures)
\torg.opentest4j.AssertionFailedError: expected: <a> but was: <b>
\torg.opentest4j.AssertionFailedError: expected: <c> but was: <d>
\tat org.junit.jupiter.api.AssertAll.assertAll(AssertAll.java:80)
\tat shop.CartTest.parts(CartTest.java:9)
\tSuppressed: org.opentest4j.AssertionFailedError: expected: <a> but was: <b>
\t\tat org.junit.jupiter.api.Assertions.assertEquals(Assertions.java:1145)
\t\tat shop.CartTest.lambda$parts$0(CartTest.java:9)
\t\t... 1 more
\tSuppressed: org.opentest4j.AssertionFailedError: expected: <c> but was: <d>
\t\tat org.junit.jupiter.api.Assertions.assertEquals(Assertions.java:1145)
\t\t... 1 more
";
    let thrown = Thrown::parse(text).unwrap();
    let cause = thrown.cause.as_deref().unwrap();
    let message = "expected: <a> but was: <b>";
    assert_eq!(cause.message.as_deref(), Some(message));
    assert_eq!(cause.cause, None);
}

#[test]
fn truth_leaves_the_frames_of_test_frameworks_out() {
    let text = "\
com.google.common.truth.ComparisonFailureWithFacts: open items
expected: 0
but was : 1
\tat todo.TodoFileTest.reloads(TodoFileTest.java:20)
\tat [[Testing framework: 27 frames collapsed (https://goo.gl/aH3UyP)]].(:0)
";
    let thrown = Thrown::parse(text).unwrap();
    assert_eq!(
        outline(&thrown),
        "com.google.common.truth.ComparisonFailureWithFacts|\
         Some(\"open items\\nexpected: 0\\nbut was : 1\")|\
         todo.TodoFileTest.reloads(TodoFileTest.java:20) and more"
    );
}

#[test]
fn the_console_launcher_leaves_frames_out() {
    let text = "\
\u{1b}[36m│  └─\u{1b}[0m \u{1b}[31mslow()\u{1b}[0m \u{1b}[31m✘\u{1b}[0m \u{1b}[31mexecution timed out\u{1b}[0m

Failures (2):
  JUnit Jupiter:CartTest:slow()
    MethodSource [className = 'shop.CartTest', methodName = 'slow', methodParameterTypes = '']
    => org.opentest4j.AssertionFailedError: execution timed out after 50 ms
       org.junit.jupiter.api.Assertions.assertTimeoutPreemptively(Assertions.java:3428)
       [...]
     Caused by: org.junit.jupiter.api.AssertTimeoutPreemptively$ExecutionTimeoutException: Execution timed out
       java.base@17.0.15/java.lang.Thread.sleep(Native Method)
       shop.CartTest$$Lambda$596/0x00007f100414e908.execute(Unknown Source)
       [...]
  JUnit Jupiter:CartTest:ham()
    => java.lang.AssertionError: reason
Expected: is <3>
     but: was <2>
       org.hamcrest.MatcherAssert.assertThat(MatcherAssert.java:20)
       shop.CartTest.ham(CartTest.java:12)
  JUnit Jupiter:CartTest:over()
    => java.lang.StackOverflowError
       [...]

Test run finished after 708 ms
";
    let found = find_all(text);
    let owners: Vec<_> = found.iter().map(|it| it.owner.clone()).collect();
    let expect = [
        test("shop.CartTest.slow"),
        test("CartTest:ham()"),
        test("CartTest:over()"),
    ];
    assert_eq!(owners, expect);
    assert_eq!(
        outline(&found[0].thrown),
        "org.opentest4j.AssertionFailedError|Some(\"execution timed out after 50 ms\")|\
         org.junit.jupiter.api.Assertions.assertTimeoutPreemptively(Assertions.java:3428) and more\n\
         org.junit.jupiter.api.AssertTimeoutPreemptively$ExecutionTimeoutException|\
         Some(\"Execution timed out\")|java.lang.Thread.sleep(Native Method) \
         shop.CartTest$$Lambda$596/0x00007f100414e908.execute(Unknown Source) and more"
    );
    assert_eq!(
        outline(&found[1].thrown),
        "java.lang.AssertionError|Some(\"reason\\nExpected: is <3>\\n     but: was <2>\")|\
         org.hamcrest.MatcherAssert.assertThat(MatcherAssert.java:20) \
         shop.CartTest.ham(CartTest.java:12)"
    );
    assert!(found[2].thrown.truncated);
}

#[test]
fn the_verbose_tree_has_a_prefix_before_each_line() {
    let found = only(
        "\
| | |    source: MethodSource [className = 'shop.OldTest', methodName = 'npe', methodParameterTypes = '']
| | |    caught: java.lang.NullPointerException: Cannot invoke \"String.length()\"
| | |              \tat shop.OldTest.npe(OldTest.java:9)
| | |              \tat java.base/java.lang.reflect.Method.invoke(Method.java:569)
| | |  duration: 79 ms
",
    );
    assert_eq!(found.thrown.class, "java.lang.NullPointerException");
    assert_eq!(found.thrown.frames.len(), 2);
}

#[test]
fn gradle_indents_and_may_leave_all_but_the_type_out() {
    let full = only(
        "\
> Task :test FAILED

CartTest > missing() FAILED
    java.lang.IllegalArgumentException: bad
    id
        at shop.CartTest.find(CartTest.java:8)
        at shop.CartTest.missing(CartTest.java:10)

        Caused by:
        java.lang.NumberFormatException: For input string: \"x12\"
            at java.base/java.lang.Integer.parseInt(Integer.java:668)
            ... 2 more

19 tests completed, 18 failed
",
    );
    assert_eq!(full.owner, test("CartTest > missing()"));
    assert_eq!(
        outline(&full.thrown),
        "java.lang.IllegalArgumentException|Some(\"bad\\nid\")|\
         shop.CartTest.find(CartTest.java:8) shop.CartTest.missing(CartTest.java:10)\n\
         java.lang.NumberFormatException|Some(\"For input string: \\\"x12\\\"\")|\
         java.lang.Integer.parseInt(Integer.java:668) \
         shop.CartTest.find(CartTest.java:8) shop.CartTest.missing(CartTest.java:10)"
    );
    let short = only(
        "\
CartTest > missing() FAILED
    java.lang.IllegalArgumentException at CartTest.java:8
        Caused by: java.lang.NumberFormatException at CartTest.java:8
",
    );
    assert_eq!(
        outline(&short.thrown),
        "java.lang.IllegalArgumentException|None| and more\n\
         java.lang.NumberFormatException|None| and more"
    );
}

#[test]
fn logs_put_something_before_lines() {
    for text in [
        "[ERROR] a.B$Oops: x\n[ERROR] of two\n[ERROR] \tat a.B.c(B.java:1)\n[INFO] done\n",
        "12:00:01.123 a.B$Oops: x\n12:00:01.124 of two\n12:00:01.125     at a.B.c(B.java:1)\n",
        "web_1  | a.B$Oops: x\nweb_1  | of two\nweb_1  | \tat a.B.c(B.java:1)\nweb_1  | \n",
    ] {
        // A name that does not say so is an exception right above a frame only.
        let text = text.replace("Oops", "OopsException");
        let found = only(&text);
        let expect = "a.B$OopsException|Some(\"x\\nof two\")|a.B.c(B.java:1)";
        assert_eq!(outline(&found.thrown), expect, "{text}");
    }
    let found = only(
        "2024-03-31 02:30:15,123 ERROR [main] a.B - no luck: a.OopsException: x\n\
         \tat a.B.c(B.java:1) ~[b-1.0.jar:1.0]\n\t... 12 common frames omitted\n",
    );
    assert_eq!(
        outline(&found.thrown),
        "a.OopsException|Some(\"x\")|a.B.c(B.java:1) and more"
    );
}

#[test]
fn exceptions_without_a_telling_name_are_found_above_frames() {
    let found = only("WARNING: hm\nApp$Lazy: bare\n\tat App.main(App.java:18)\n");
    assert_eq!(found.thrown.class, "App$Lazy");
    let text = "1) eq(shop.OldTest)\norg.junit.ComparisonFailure: x\n\tat a.B.c(B.java:1)\n";
    assert_eq!(only(text).owner, test("shop.OldTest.eq"));
}

#[test]
fn mentions_and_thread_dumps_are_no_traces() {
    let none: &[FoundTrace] = &[];
    for text in [
        "caught java.io.IOException: gone, trying again\nfine\n",
        "java.io.IOException: gone\n",
        "\"main\" #1 prio=5\n   java.lang.Thread.State: RUNNABLE\n\tat a.B.c(B.java:1)\n",
        "INFO: look\n\tat a.B.c(B.java:1)\n",
        "",
    ] {
        assert_eq!(find_all(text), none, "{text}");
    }
    let text = "java.io.IOException: gone\nretry\na.BException: x\n\tat a.B.c(B.java:1)\n";
    assert_eq!(only(text).thrown.class, "a.BException");
}

#[test]
fn the_launcher_tells_causes_only() {
    let text = "\
Error: Could not find or load main class no.Such
Caused by: java.lang.ClassNotFoundException: no.Such
\tat java.base/java.lang.Class.forName(Class.java:375)
";
    assert_eq!(
        outline(&only(text).thrown),
        "java.lang.ClassNotFoundException|Some(\"no.Such\")|java.lang.Class.forName(Class.java:375)"
    );
}
