//! `culprit debug` on tests with mocks and spies: a mock is a stand-in with the recorded answers, or the message says why not.

use std::path::PathBuf;

use crate::debug::{Program, junit_5, says};
use crate::library;
use crate::stage::skipped;

/// JUnit 5 and Mockito, which a program is compiled with.
fn mockito() -> Option<Vec<PathBuf>> {
    let jars = [
        junit_5(),
        library::jar("org.mockito", "mockito-core", "5.11.0", None),
        library::jar("net.bytebuddy", "byte-buddy", "1.14.12", None),
        library::jar("net.bytebuddy", "byte-buddy-agent", "1.14.12", None),
        library::jar("org.objenesis", "objenesis", "3.3", None),
    ];
    jars.into_iter().collect()
}

/// The arguments that have the JUnit Platform run the tests of a class.
pub(crate) fn launched(class: &str) -> [&str; 6] {
    [
        "org.junit.platform.console.ConsoleLauncher",
        "execute",
        "--disable-banner",
        "--details=none",
        "--select-class",
        class,
    ]
}

#[test]
fn a_mock_of_a_class_is_a_class_that_extends_it() {
    let Some(jars) = mockito() else {
        return skipped("JUnit 5 and Mockito");
    };
    let program = Program::compile("mocked", &jars);
    let ended = program.debug(&launched("quotes.ExchangeTest"));
    says(&ended, 0, "compiled and run: fails the same way");
    assert!(ended.out.contains("= new Rates() {"), "{}", ended.out);
    assert!(ended.out.contains("Optional.of(0)"), "{}", ended.out);
    assert!(!ended.out.contains("ockito"), "{}", ended.out);
}

#[test]
fn a_mock_is_a_stand_in_with_the_recorded_answers() {
    let Some(jars) = mockito() else {
        return skipped("JUnit 5 and Mockito");
    };
    let program = Program::compile("mocked", &jars);
    let ended = program.debug(&launched("quotes.QuotesTest"));
    says(
        &ended,
        0,
        "the innermost level: calls to quotes.Discounts\n",
    );
    assert!(ended.out.contains("discounts.of(null)"), "{}", ended.out);
    assert!(
        ended
            .out
            .contains("Customers customers = string -> customer;"),
        "{}",
        ended.out
    );
    assert!(!ended.out.contains("ockito"), "{}", ended.out);
}

#[test]
fn a_mock_of_a_final_class_is_one_of_the_mocking_library() {
    let Some(jars) = mockito() else {
        return skipped("JUnit 5 and Mockito");
    };
    let program = Program::compile("mocked", &jars);
    let ended = program.debug(&launched("quotes.CheckoutTest"));
    says(&ended, 0, "compiled and run: fails the same way");
    let mock = "Gateway gateway = Mockito.mock(Gateway.class);";
    assert!(ended.out.contains(mock), "{}", ended.out);
    let answer = "Mockito.doReturn(30).when(gateway).fee(Mockito.any(), Mockito.anyInt());";
    assert!(ended.out.contains(answer), "{}", ended.out);
}

#[test]
fn an_object_that_a_mock_is_given_is_captured() {
    let Some(jars) = mockito() else {
        return skipped("JUnit 5 and Mockito");
    };
    let program = Program::compile("mocked", &jars);
    let ended = program.debug(&launched("quotes.OutboxTest"));
    says(&ended, 0, "compiled and run: fails the same way");
    let asserted = "assertEquals(\"700 cents for Ann\", ";
    assert!(ended.out.contains(asserted), "{}", ended.out);
    assert!(!ended.out.contains("ockito"), "{}", ended.out);
}

#[test]
fn what_only_the_mocking_library_does_has_no_test() {
    let Some(jars) = mockito() else {
        return skipped("JUnit 5 and Mockito");
    };
    let program = Program::compile("mocked", &jars);
    let ended = program.debug(&launched("quotes.GreetingTest"));
    says(
        &ended,
        1,
        "a static method or a constructor that the test mocks",
    );
    let words = ["debug", "-o", "verified", "--"].map(str::to_owned);
    let words = words
        .into_iter()
        .chain(program.java(&launched("quotes.VerifyTest")));
    says(
        &program.culprit(words),
        1,
        "a mock was not called as the test wants",
    );
}

/// JUnit 5 and EasyMock.
fn easymock() -> Option<Vec<PathBuf>> {
    let jars = [
        junit_5(),
        library::jar("org.easymock", "easymock", "5.5.0", None),
        library::jar("net.bytebuddy", "byte-buddy", "1.15.10", None),
        library::jar("org.objenesis", "objenesis", "3.4", None),
    ];
    jars.into_iter().collect()
}

#[test]
fn mocks_of_easymock_are_stand_ins_too() {
    let Some(jars) = easymock() else {
        return skipped("JUnit 5 and EasyMock");
    };
    let program = Program::compile("easymocked", &jars);
    for (test, stand_in) in [
        ("quotes.ConvertTest", "Rates rates = new Rates() {"),
        ("quotes.BalanceTest", "= new Ledger((String) null) {"),
    ] {
        let words = ["debug", "-o", test, "--"].map(str::to_owned);
        let ended = program.culprit(words.into_iter().chain(program.java(&launched(test))));
        says(&ended, 0, "compiled and run: fails the same way");
        assert!(ended.out.contains(stand_in), "{}", ended.out);
        assert!(!ended.out.contains("EasyMock"), "{}", ended.out);
    }
}

#[test]
fn a_call_that_easymock_does_not_want_has_no_test() {
    let Some(jars) = easymock() else {
        return skipped("JUnit 5 and EasyMock");
    };
    let program = Program::compile("easymocked", &jars);
    let ended = program.debug(&launched("quotes.UnwantedTest"));
    says(&ended, 1, "a mock was not called as the test wants");
}

#[test]
fn a_spy_that_nothing_is_told_about_is_the_object() {
    let Some(jars) = mockito() else {
        return skipped("JUnit 5 and Mockito");
    };
    let program = Program::compile("mocked", &jars);
    let ended = program.debug(&launched("quotes.SpyTest"));
    says(&ended, 0, "compiled and run: fails the same way");
    assert!(ended.out.contains("discounts.of(null)"), "{}", ended.out);
    assert!(!ended.out.contains("ockito"), "{}", ended.out);
}

#[test]
fn a_spy_with_other_answers_is_named_as_the_reason() {
    let Some(jars) = mockito() else {
        return skipped("JUnit 5 and Mockito");
    };
    let program = Program::compile("mocked", &jars);
    let ended = program.debug(&launched("quotes.PartialTest"));
    let told = "the failing test has quotes.Basket made by its mocking library";
    says(&ended, 1, told);
}
