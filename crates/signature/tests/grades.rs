//! Which failures are the same, and how much.

use culprit_signature::{Call, Grade, Signature, ThrowSite, Thrown};

fn parse(text: &str) -> Thrown {
    Thrown::parse(text).expect("this is a stack trace")
}

/// An exception with frames given in short.
fn thrown(header: &str, frames: &[&str]) -> Thrown {
    let stack: String = frames.iter().map(|it| format!("\tat {it}\n")).collect();
    parse(&format!("{header}\n{stack}"))
}

fn grade(one: &Thrown, other: &Thrown) -> Option<Grade> {
    Signature::of(one).grade(other)
}

const NPE: &str = "java.lang.NullPointerException";
const HARNESS: [&str; 3] = [
    "java.base/jdk.internal.reflect.NativeMethodAccessorImpl.invoke0(Native Method)",
    "java.base/java.lang.reflect.Method.invoke(Method.java:569)",
    "org.junit.platform.commons.util.ReflectionUtils.invokeMethod(ReflectionUtils.java:728)",
];

#[test]
fn a_line_for_people() {
    let text = "\
java.lang.ArithmeticException: Adding time zone offset caused overflow
\tat org.joda.time.chrono.ZonedChronology$ZonedDurationField.getOffsetToAdd(ZonedChronology.java:348)
\tat org.joda.time.chrono.ZonedChronology$ZonedDurationField.add(ZonedChronology.java:320)
";
    assert_eq!(
        Signature::of(&parse(text)).to_string(),
        "ArithmeticException \"Adding time zone offset caused overflow\" at \
         ZonedChronology$ZonedDurationField.getOffsetToAdd (ZonedChronology.java:348)"
    );
    let caused = "\
shop.Broken: two
lines
\tat shop.Cart.add(Unknown Source)
Caused by: java.lang.NullPointerException
\tat shop.Cart.<init>(Cart.java)
\t... 1 more
";
    assert_eq!(
        Signature::of(&parse(caused)).to_string(),
        "Broken \"two lines\" at Cart.add, caused by NullPointerException at Cart.<init> (Cart.java)"
    );
}

#[test]
fn numbers_that_differ_from_run_to_run_do_not_count() {
    let failed = |message: &str| thrown(&format!("a.Bad: {message}"), &["a.B.c(B.java:1)"]);
    let mut signature = Signature::of(&failed("7 of 9"));
    assert_eq!(signature.grade(&failed("8 of 9")), Some(Grade::L2));
    signature.allow(&failed("8 of 9"));
    assert_eq!(signature.grade(&failed("5 of 9")), Some(Grade::L4));
    assert_eq!(signature.grade(&failed("5 of 8")), Some(Grade::L2));
    assert_eq!(signature.grade(&failed("5 below 9")), Some(Grade::L1));
    signature.allow(&failed("'x'"));
    assert_eq!(signature.grade(&failed("7 of 9")), Some(Grade::L2));
}

#[test]
fn loaders_and_hashes_do_not_tell_failures_apart() {
    let cast = |place: &str| {
        let text =
            format!("class a.Dog cannot be cast to class a.Cat (a.Dog and a.Cat are in {place})");
        thrown(
            &format!("java.lang.ClassCastException: {text}"),
            &["a.B.c(B.java:1)"],
        )
    };
    let program = cast("unnamed module of loader 'app'");
    let worker = cast("unnamed module of loader java.net.URLClassLoader @77846d2c");
    assert_eq!(grade(&program, &worker), Some(Grade::L4));
    let other = worker.to_string().replace("class a.Cat", "class a.Cow");
    assert_eq!(grade(&program, &parse(&other)), Some(Grade::L1));
}

#[test]
fn the_site_is_the_innermost_frame_of_the_program() {
    let check = "java.base/java.util.Objects.requireNonNull(Objects.java:209)";
    let signature = Signature::of(&thrown(
        NPE,
        &[check, "Foo.bar(Foo.java:12)", "Main.main(Main.java:3)"],
    ));
    let ThrowSite::Place { frame, above } = signature.site() else {
        panic!("{:?}", signature.site());
    };
    assert_eq!(frame.to_string(), "Foo.bar(Foo.java:12)");
    assert_eq!(above.len(), 1);
    let jdk = Signature::of(&thrown(NPE, &[check, HARNESS[1]]));
    assert!(
        matches!(jdk.site(), ThrowSite::Place { frame, .. } if frame.method == "requireNonNull")
    );
}

#[test]
fn types_and_sites_tell_failures_apart() {
    let one = thrown(NPE, &["a.B.c(B.java:1)"]);
    assert_eq!(grade(&one, &thrown("a.Other", &["a.B.c(B.java:1)"])), None);
    assert_eq!(grade(&one, &thrown(NPE, &["a.B.d(B.java:1)"])), None);
    assert_eq!(grade(&one, &thrown(NPE, &["a.B.c(B.java:2)"])), None);
    assert_eq!(grade(&one, &thrown(NPE, &[])), None);
    // Code without lines: the method is enough.
    assert_eq!(
        grade(&one, &thrown(NPE, &["a.B.c(Unknown Source)"])),
        Some(Grade::L4)
    );
    let free = Signature::of(&one).ignoring_lines();
    assert_eq!(
        free.grade(&thrown(NPE, &["a.B.c(B.java:2)"])),
        Some(Grade::L4)
    );
    // A hot method may throw without a stack: then the signature knows no site.
    assert_eq!(grade(&thrown(NPE, &[]), &one), Some(Grade::L3));
}

#[test]
fn frames_that_a_text_left_out_are_unknown() {
    let cut = |header: &str, frames: &[&str]| Thrown {
        truncated: true,
        ..thrown(header, frames)
    };
    let parse = "java.base/java.lang.Integer.parseInt(Integer.java:668)";
    let recorded = cut(NPE, &[parse]);
    assert_eq!(Signature::of(&recorded).site(), &ThrowSite::Unknown);
    let whole = thrown(NPE, &[parse, "a.B.c(B.java:1)"]);
    assert_eq!(grade(&recorded, &whole), Some(Grade::L4));
    assert_eq!(grade(&whole, &recorded), None);
    let inner = "org.junit.jupiter.api.AssertEquals.assertEquals(AssertEquals.java:150)";
    let failed = cut("org.opentest4j.AssertionFailedError", &[inner]);
    assert_eq!(Signature::of(&failed).site(), &ThrowSite::Assertion(None));
}

#[test]
fn messages_decide_between_the_grades() {
    let index = |text: &str| thrown(&format!("a.Oops: {text}"), &["a.B.c(B.java:1)"]);
    let one = index("Index 5 out of bounds for length 3 in \"x\"");
    assert_eq!(grade(&one, &one), Some(Grade::L4));
    let other = index("Index 0 out of bounds for length 3 in \"y\"");
    assert_eq!(grade(&one, &other), Some(Grade::L2));
    assert!(Signature::of(&one).is_same(&other));
    assert_eq!(grade(&one, &index("no such index")), Some(Grade::L1));
    assert!(!Signature::of(&one).is_same(&index("no such index")));
    assert_eq!(
        grade(&one, &thrown("a.Oops", &["a.B.c(B.java:1)"])),
        Some(Grade::L1)
    );
}

#[test]
fn stacks_are_compared_down_to_the_last_common_frame() {
    let library = ["a.C.c(C.java:3)", "a.B.b(B.java:2)", "a.A.a(A.java:1)"];
    let stack = |below: &[&str]| thrown(NPE, &[&library[..], below].concat());
    let recorded = stack(&[&["shop.CartTest.total(CartTest.java:9)"], &HARNESS[..]].concat());
    let reduced = stack(&["Reduced.test(Reduced.java:4)", HARNESS[1]]);
    assert_eq!(grade(&recorded, &reduced), Some(Grade::L4));
    assert_eq!(grade(&reduced, &recorded), Some(Grade::L4));
    // The library called directly by a worker, in the middle.
    let direct = thrown(
        NPE,
        &[
            library[0],
            library[1],
            "culprit.runtime.Worker.run(Worker.java:5)",
        ],
    );
    assert_eq!(grade(&recorded, &direct), Some(Grade::L4));
    // The same test calls from another line.
    let moved = stack(&["shop.CartTest.total(CartTest.java:7)"]);
    assert_eq!(grade(&recorded, &moved), Some(Grade::L4));
    // To the site by another way.
    let other = thrown(NPE, &[library[0], "a.X.x(X.java:1)", library[2]]);
    assert_eq!(grade(&recorded, &other), Some(Grade::L3));
}

#[test]
fn reflection_and_made_up_names_do_not_count() {
    let with = |between: &[&str]| {
        let frames = [
            &["a.B.lambda$c$0(B.java:1)"],
            between,
            &["a.Main.main(Main.java:1)"],
        ];
        thrown(NPE, &frames.concat())
    };
    let one = with(&[
        "a.B$$Lambda$14/0x00007f10.run(Unknown Source)",
        HARNESS[0],
        HARNESS[1],
    ]);
    let other =
        with(&["java.base/jdk.internal.reflect.DirectMethodHandleAccessor.invoke(D.java:1)"]);
    assert_eq!(grade(&one, &other), Some(Grade::L4));
    let text = other.to_string().replace("lambda$c$0", "lambda$c$7");
    assert_eq!(grade(&one, &parse(&text)), Some(Grade::L4));
}

#[test]
fn causes_count() {
    let caused = |cause: &str| {
        parse(&format!(
            "a.Oops: no\n\tat a.B.c(B.java:1)\nCaused by: {cause}\n\tat a.D.e(D.java:5)\n\t... 1 more\n"
        ))
    };
    let one = caused("java.io.IOException: file 1");
    assert_eq!(grade(&one, &one), Some(Grade::L4));
    assert_eq!(
        grade(&one, &caused("java.io.IOException: file 2")),
        Some(Grade::L2)
    );
    assert_eq!(grade(&one, &caused("a.Other: file 1")), None);
    assert_eq!(
        grade(&one, &thrown("a.Oops: no", &["a.B.c(B.java:1)"])),
        None
    );
}

#[test]
fn what_only_carries_an_exception_does_not_belong_to_it() {
    let inner = thrown("a.Oops: no", &["a.B.c(B.java:1)"]);
    let wrapped = parse(&format!(
        "java.lang.reflect.InvocationTargetException\n\tat {}\n\tat {}\nCaused by: {inner}",
        HARNESS[1], HARNESS[2]
    ));
    assert_eq!(grade(&inner, &wrapped), Some(Grade::L4));
    assert_eq!(grade(&wrapped, &inner), Some(Grade::L4));
    // One that the program made by its own reflection does belong to it.
    let own = parse(&format!(
        "java.lang.reflect.InvocationTargetException\n\tat {}\n\tat a.Main.main(M.java:1)\nCaused by: {inner}",
        HARNESS[1]
    ));
    assert_eq!(grade(&own, &inner), None);
}

#[test]
fn a_failed_assertion_is_known_by_its_call_and_its_values() {
    let equals = |message: &str, test: &str| {
        let top = [
            "org.junit.jupiter.api.AssertionFailureBuilder.build(AssertionFailureBuilder.java:151)",
            "org.junit.jupiter.api.AssertEquals.assertEquals(AssertEquals.java:150)",
            "org.junit.jupiter.api.Assertions.assertEquals(Assertions.java:563)",
        ];
        let header = format!("org.opentest4j.AssertionFailedError: {message}");
        thrown(&header, &[&top[..], &[test], &HARNESS[..]].concat())
    };
    let one = equals(
        "expected: <3> but was: <2>",
        "shop.CartTest.total(CartTest.java:9)",
    );
    let signature = Signature::of(&one);
    assert!(signature.is_assertion());
    assert_eq!(
        signature.to_string(),
        "AssertionFailedError \"expected: <3> but was: <2>\" from Assertions.assertEquals"
    );
    let reduced = equals("expected: <3> but was: <2>", "Reduced.test(Reduced.java:4)");
    assert_eq!(signature.grade(&reduced), Some(Grade::L4));
    let other = equals(
        "expected: <3> but was: <1>",
        "shop.CartTest.total(CartTest.java:9)",
    );
    assert_eq!(signature.grade(&other), Some(Grade::L1));
    assert!(!signature.is_same(&other));
    let hash = |it: &str| equals(&format!("unexpected <a.B@{it}>"), "T.t(T.java:1)");
    assert!(Signature::of(&hash("1b2c3d4")).is_same(&hash("5e6f7a8")));
    let fails = ["org.junit.jupiter.api.Assertions.fail(Assertions.java:1)"];
    let header = "org.opentest4j.AssertionFailedError: expected: <3> but was: <2>";
    assert_eq!(signature.grade(&thrown(header, &fails)), None);
}

#[test]
fn assertions_of_other_libraries() {
    let check = |text: &str, expect: Option<&str>| {
        let signature = Signature::of(&parse(text));
        let ThrowSite::Assertion(call) = signature.site() else {
            panic!("{text}: {:?}", signature.site());
        };
        let call = call
            .as_ref()
            .map(|Call { class, method }| format!("{class}.{method}"));
        assert_eq!(call.as_deref(), expect, "{text}");
    };
    check(
        "java.lang.AssertionError\n\tat org.junit.Assert.fail(Assert.java:87)\n\
         \tat org.junit.Assert.assertTrue(Assert.java:42)\n\tat shop.OldTest.t(OldTest.java:7)\n",
        Some("org.junit.Assert.assertTrue"),
    );
    check(
        "java.lang.AssertionError: expected [3] but found [2]\n\
         \tat org.testng.Assert.fail(Assert.java:110)\n\
         \tat org.testng.Assert.assertEquals(Assert.java:900)\n\tat shop.NgTest.t(NgTest.java:7)\n\
         \tat java.base/java.lang.reflect.Method.invoke(Method.java:569)\n\
         \tat org.testng.internal.invokers.TestInvoker.invokeMethod(TestInvoker.java:1)\n",
        Some("org.testng.Assert.assertEquals"),
    );
    check(
        "java.lang.AssertionError: reason\nExpected: is <3>\n     but: was <2>\n\
         \tat org.hamcrest.MatcherAssert.assertThat(MatcherAssert.java:20)\n\tat T.t(T.java:1)\n",
        Some("org.hamcrest.MatcherAssert.assertThat"),
    );
    // AssertJ removes its frames.
    check(
        "java.lang.AssertionError: \nExpected size: 3 but was: 2 in:\n[1, 2]\n\tat T.t(T.java:1)\n",
        None,
    );
    check(
        "org.junit.ComparisonFailure: expected:<ab[c]> but was:<ab[d]>\n\tat T.t(T.java:1)\n",
        None,
    );
    // The keyword of the language has a place.
    let keyword = thrown(
        "java.lang.AssertionError: never",
        &["shop.Cart.add(Cart.java:13)"],
    );
    assert!(matches!(
        Signature::of(&keyword).site(),
        ThrowSite::Place { .. }
    ));
}

#[test]
fn an_overflow_is_known_by_its_recursion() {
    let overflow = |top: &[&str], rounds: usize| {
        let round = [
            "a.Node.depth(Node.java:5)",
            "java.base/java.util.List.forEach(List.java:7)",
            "a.Node.depthOf(Node.java:9)",
        ];
        let frames = [
            top,
            &round.repeat(rounds)[..],
            &["a.Main.main(Main.java:1)"],
        ]
        .concat();
        thrown("java.lang.StackOverflowError", &frames)
    };
    let one = overflow(&["java.base/java.util.HashMap.hash(HashMap.java:338)"], 300);
    let other = overflow(
        &["a.Leaf.size(Leaf.java:3)", "a.Node.depthOf(Node.java:8)"],
        341,
    );
    assert_eq!(grade(&one, &other), Some(Grade::L4));
    assert_eq!(
        Signature::of(&one).to_string(),
        "StackOverflowError in the recursion of Node.depth, Node.depthOf"
    );
    let elsewhere = thrown("java.lang.StackOverflowError", &["a.X.x(X.java:1)"; 50]);
    assert_eq!(grade(&one, &elsewhere), None);
}

#[test]
fn memory_runs_out_anywhere() {
    let heap = |frame: &str| thrown("java.lang.OutOfMemoryError: Java heap space", &[frame]);
    let one = heap("a.B.c(B.java:1)");
    assert_eq!(grade(&one, &heap("a.D.e(D.java:2)")), Some(Grade::L3));
    assert_eq!(
        Signature::of(&one).to_string(),
        "OutOfMemoryError \"Java heap space\""
    );
    let other = thrown(
        "java.lang.OutOfMemoryError: Metaspace",
        &["a.B.c(B.java:1)"],
    );
    assert!(!Signature::of(&one).is_same(&other));
}

const ASSERT_THROWS: &str = "org.junit.Assert.assertThrows(Assert.java:1020)";

#[test]
fn what_was_not_expected_is_the_failure_itself() {
    let inner = "Caused by: java.lang.NullPointerException\n\tat shop.Cart.add(Cart.java:8)\n";
    let plain = thrown(
        NPE,
        &["shop.Cart.add(Cart.java:8)", "CartTest.t(CartTest.java:1)"],
    );
    for (header, frame) in [
        (
            "java.lang.Exception: Unexpected exception, expected<a.Bad> but was<b.Worse>",
            "org.junit.internal.runners.statements.ExpectException.evaluate(ExpectException.java:30)",
        ),
        (
            "java.lang.AssertionError: unexpected exception type thrown; expected:<a.Bad>",
            ASSERT_THROWS,
        ),
        (
            "org.opentest4j.AssertionFailedError: mine ==> Unexpected exception type thrown, expected",
            "org.junit.jupiter.api.AssertThrows.assertThrows(AssertThrows.java:67)",
        ),
    ] {
        let carried = parse(&format!("{header}\n\tat {frame}\n{inner}"));
        let signature = Signature::of(&carried);
        assert_eq!(signature.thrown().class, NPE, "{header}");
        assert_eq!(signature.grade(&plain), Some(Grade::L4), "{header}");
        assert_eq!(grade(&plain, &carried), Some(Grade::L4), "{header}");
    }
    // A program may say the same of its own.
    let own = parse(&format!(
        "a.Bad: Unexpected exception thrown: x\n\tat shop.Cart.add(Cart.java:9)\n{inner}"
    ));
    assert_eq!(Signature::of(&own).thrown().class, "a.Bad");
}

#[test]
fn what_was_expected_and_did_not_come_is_an_assertion() {
    let rule = "org.junit.internal.runners.statements.ExpectException.evaluate(E.java:34)";
    let header = "java.lang.AssertionError: Expected exception: a.Bad";
    let missed = thrown(header, &[rule, HARNESS[2]]);
    assert_eq!(Signature::of(&missed).site(), &ThrowSite::Assertion(None));
    let launched = thrown(header, &[rule, HARNESS[2], "tool.Main.main(Main.java:1)"]);
    assert_eq!(Signature::of(&launched).site(), &ThrowSite::Assertion(None));
    let fail = "org.junit.Assert.fail(Assert.java:89)";
    let said = thrown(header, &[fail, "CartTest.t(CartTest.java:1)"]);
    assert!(grade(&missed, &said) >= Some(Grade::L3));
    let nothing = "java.lang.AssertionError: expected a.Bad to be thrown, but nothing was thrown";
    let test = "CartTest.t(CartTest.java:1)";
    let missed = thrown(nothing, &[ASSERT_THROWS, test]);
    assert!(grade(&missed, &thrown(nothing, &[fail, test])) >= Some(Grade::L3));
    assert_eq!(grade(&thrown(nothing, &[fail, test]), &missed), None);
}

/// The program is in the package `shop`; everything else is a library.
fn innermost(thrown: &Thrown) -> Signature {
    Signature::innermost(thrown, |frame| frame.class.starts_with("shop."))
}

const WRAPPED: &str = "\
jakarta.servlet.ServletException: Request processing failed
\tat org.web.Dispatcher.process(Dispatcher.java:50)
\tat org.web.MockServer.perform(MockServer.java:9)
\tat shop.ApiTest.asks(ApiTest.java:4)
Caused by: java.lang.IllegalStateException: no tier
\tat shop.Policy.percent(Policy.java:7)
\tat shop.Service.quote(Service.java:12)
\tat org.web.Dispatcher.process(Dispatcher.java:40)
\t... 2 more
";

#[test]
fn wrappers_around_wrappers_do_not_belong_to_the_failure() {
    let wrapped = parse(
        "org.run.Failed: not complete
\tat org.run.Runner.run(Runner.java:26)
Caused by: java.util.concurrent.ExecutionException: no tier
\tat java.base/java.util.concurrent.FutureTask.get(FutureTask.java:191)
\tat org.run.Runner.run(Runner.java:23)
Caused by: java.lang.IllegalStateException: no tier
\tat shop.Policy.percent(Policy.java:7)
\tat java.base/java.lang.Thread.run(Thread.java:840)
",
    );
    assert_eq!(
        innermost(&wrapped).to_string(),
        "IllegalStateException \"no tier\" at Policy.percent (Policy.java:7)"
    );
}

#[test]
fn a_wrapper_that_a_library_threw_does_not_belong_to_the_failure() {
    let wrapped = parse(WRAPPED);
    let signature = innermost(&wrapped);
    assert_eq!(
        signature.to_string(),
        "IllegalStateException \"no tier\" at Policy.percent (Policy.java:7)"
    );
    let bare = thrown(
        "java.lang.IllegalStateException: no tier",
        &["shop.Policy.percent(Policy.java:7)", "shop.T.t(T.java:1)"],
    );
    assert!(signature.is_same(&bare));
    assert!(signature.is_same(&wrapped));
    assert!(!Signature::of(&wrapped).is_same(&bare));
}

#[test]
fn a_wrapper_of_the_program_belongs_to_the_failure() {
    let wrapped = WRAPPED.replace(
        "org.web.Dispatcher.process(Dispatcher.java:50)",
        "shop.Filter.f(F.java:1)",
    );
    let wrapped = parse(&wrapped);
    assert_eq!(innermost(&wrapped), Signature::of(&wrapped));
}

#[test]
fn a_library_that_explains_its_own_exception_keeps_it() {
    let text = "\
lib.ParseError: line 3
\tat lib.Parser.parse(Parser.java:9)
\tat shop.Loader.load(Loader.java:4)
Caused by: java.io.EOFException
\tat lib.Reader.read(Reader.java:2)
\tat lib.Parser.parse(Parser.java:7)
\t... 1 more
";
    assert_eq!(innermost(&parse(text)), Signature::of(&parse(text)));
}

#[test]
fn an_exception_of_another_thread_is_unwrapped_though_the_program_asked_for_it() {
    let text = "\
java.util.concurrent.ExecutionException: java.lang.IllegalStateException: empty
\tat java.base/java.util.concurrent.FutureTask.report(FutureTask.java:122)
\tat java.base/java.util.concurrent.FutureTask.get(FutureTask.java:191)
\tat shop.Main.main(Main.java:20)
Caused by: java.lang.IllegalStateException: empty
\tat shop.Stock.take(Stock.java:5)
\tat java.base/java.util.concurrent.FutureTask.run(FutureTask.java:264)
\tat java.base/java.lang.Thread.run(Thread.java:840)
";
    assert_eq!(
        innermost(&parse(text)).to_string(),
        "IllegalStateException \"empty\" at Stock.take (Stock.java:5)"
    );
}

#[test]
fn what_a_theory_finds_is_unwrapped_from_the_error_that_tells_its_arguments() {
    let text = "\
org.junit.experimental.theories.internal.ParameterizedAssertionError: ordered(\"1\" <from all[0]>)
\tat org.junit.experimental.theories.Theories$TheoryAnchor.reportParameterizedError(Theories.java:288)
\tat org.junit.runner.JUnitCore.main(JUnitCore.java:36)
Caused by: java.lang.AssertionError: not ordered
\tat org.junit.Assert.fail(Assert.java:89)
\tat shop.CartTest.ordered(CartTest.java:5)
";
    let signature = Signature::of(&parse(text));
    assert_eq!(signature.thrown().class, "java.lang.AssertionError");
}

#[test]
fn what_a_driver_threw_itself_a_test_throws_itself() {
    let parse = "java.base/java.lang.Integer.parseInt(Integer.java:661)";
    let header = "java.lang.NumberFormatException: For input string: \"x\"";
    let failure = thrown(header, &[parse, "shop.Main.main(Main.java:4)"]);
    let signature = Signature::of(&failure).inlining("shop.Main");
    let in_test = thrown(header, &[parse, "shop.MainTest.test(MainTest.java:9)"]);
    assert_eq!(signature.grade(&in_test), Some(Grade::L4));
    let in_worker = thrown(header, &[parse]);
    assert_eq!(signature.grade(&in_worker), Some(Grade::L4));
    let elsewhere = "java.base/java.lang.Long.parseLong(Long.java:7)";
    for other in [
        thrown(header, &[parse, "shop.Cart.add(Cart.java:4)"]),
        thrown(
            header,
            &[
                parse,
                "shop.Cart.add(Cart.java:4)",
                "shop.MainTest.test(MainTest.java:9)",
            ],
        ),
        thrown(header, &[elsewhere, "shop.MainTest.test(MainTest.java:9)"]),
    ] {
        assert_eq!(signature.grade(&other), None, "{other}");
    }
    let in_program = thrown(header, &[parse, "shop.Cart.add(Cart.java:4)"]);
    let signature = Signature::of(&in_program).inlining("shop.Main");
    assert_eq!(signature.grade(&in_test), None);
    assert_eq!(signature.grade(&in_program), Some(Grade::L4));
}
