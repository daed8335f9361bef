//! Scenarios without class files, and such as cannot be printed.

use culprit_junit::{ClassFacts, Error, Junit, Options, Test, print};
use culprit_model::Scenario;

const TABLES: &str = "\
scenario 1
type 1 shop/Order$Line loader 2
type 2 shop/Listener loader 2
type 3 java/lang/IllegalStateException
type 4 java/lang/String[]
thread 1 main
thread 2 other
site 1 entry shop/Order$Line.<init>(Ljava/lang/String;)V
site 2 entry shop/Order$Line.ship([Ljava/lang/String;Z)V
site 3 call shop/Listener.told()V in shop/Order$Line.ship([Ljava/lang/String;Z)V
site 4 entry shop/Order$Line.listen(Lshop/Listener;)V
";

fn printed(steps: &str) -> Result<Test, Error> {
    let scenario: Scenario = format!("{TABLES}{steps}").parse().unwrap();
    let classes = |_: &str| None::<Vec<u8>>;
    let options = Options {
        junit: Junit::Five,
        name: "LineTest".to_owned(),
        loops: true,
    };
    print(
        &scenario,
        &culprit_junit::ClassBytes(classes),
        &options,
        |_| vec!["Of */ 5 \\u000a calls:\none \u{e9}".to_owned()],
    )
}

#[test]
fn what_is_not_known_of_a_class_is_taken_to_be_as_usual() {
    let steps = "\
        => @1(\"\u{e9}\")
        <= @1 = #1:@1
        => @2(#2:@4{null}, true) on #1:@1
        <=! @2 = #3:@3";
    let test = printed(steps).unwrap();
    assert_eq!(test.package, "shop");
    assert_eq!(test.imports, ["org.junit.jupiter.api.Test"]);
    insta::assert_snapshot!(test.source);
}

#[test]
fn what_cannot_be_printed_is_told() {
    for (steps, expect) in [
        ("", Error::Empty),
        ("=> @1(unknown)\n<= @1 = #1:@1", Error::Unknown { step: 0 }),
        ("=> @1(redacted)\n<= @1 = #1:@1", Error::Unknown { step: 0 }),
        ("=> @1(blob 7)\n<= @1 = #1:@1", Error::Tables { step: 0 }),
        ("=> @1(5)\n<= @1 = #1:@1", Error::Values { step: 0 }),
        ("=> @1(null)\nt2 => @1(null)", Error::Threads { step: 1 }),
        (
            "=> @1(null)\n-> @3() on #2:@2\n=> @1(null)",
            Error::Callback { step: 2 },
        ),
        (
            "=> @1(null)\n== this @1 = #1:@1\n<=! @1 = #3:@3\n=> @2(null, true) on #1:@1",
            Error::Unfinished {
                class: "shop.Order$Line".to_owned(),
            },
        ),
    ] {
        assert_eq!(printed(steps), Err(expect), "{steps}");
    }
}

#[test]
fn no_bytes_make_the_reader_of_classes_panic() {
    let bytes = [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 1];
    for end in 0..=bytes.len() {
        assert!(ClassFacts::parse(&bytes[..end]).is_err());
    }
}
