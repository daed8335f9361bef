//! Scripts without class files, and scripts that cannot be printed.

use culprit_junit::{ClassFacts, Error, Junit, Language, Options, PrintedTest, print};
use culprit_model::script::Script;

const TABLES: &str = "\
script 1
type 1 shop/Order$Line loader 2
type 2 shop/Listener loader 2
type 3 java/lang/IllegalStateException
type 4 java/lang/String[]
site 1 entry shop/Order$Line.<init>(Ljava/lang/String;)V
site 2 entry shop/Order$Line.ship([Ljava/lang/String;Z)V
site 3 call shop/Listener.told()V in shop/Order$Line.ship([Ljava/lang/String;Z)V
site 4 entry shop/Order$Line.listen(Lshop/Listener;)V
";

fn printed(steps: &str) -> Result<PrintedTest, Error> {
    let script: Script = format!("{TABLES}{steps}").parse().unwrap();
    let classes = |_: &str| None::<Vec<u8>>;
    let options = Options {
        junit: Junit::Five,
        language: Language::Java,
        name: "LineTest".to_owned(),
        loops: true,
        condition: None,
    };
    print(
        &script,
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
        (
            "=> @1(unknown)\n<= @1 = #1:@1",
            Error::Unknown { statement: 0 },
        ),
        (
            "=> @1(redacted)\n<= @1 = #1:@1",
            Error::Unknown { statement: 0 },
        ),
        (
            "=> @1(blob 7)\n<= @1 = #1:@1",
            Error::Tables { statement: 0 },
        ),
        ("=> @1(5)\n<= @1 = #1:@1", Error::Values { statement: 0 }),
        ("tolerate @9", Error::Tables { statement: 0 }),
        (
            "=> @1(null)\n<= @1 = #1:@1\nleft (#1:@1)",
            Error::Values { statement: 1 },
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
