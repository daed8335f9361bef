//! Scripts survive their text form, and texts that are no scripts are refused.

use proptest::prelude::*;

use super::*;
use crate::TypeId;
use crate::scenario::text::tests::{class, site, value};
use crate::script::{Answer, Call};

const EXAMPLE: &str = "\
script 1
type 1 shop/Cart
type 2 int
type 3 boolean
type 4 java/lang/Runnable
type 5 shop/Clock
type 6 java/io/IOException
site 1 entry shop/Cart.<init>()V
site 2 entry shop/Cart.total()I
site 3 call shop/Clock.now()J in shop/Cart.total()I
site 4 field static shop/Cart.size:I
prelude 1
wait 4 on 3

=> new Cart@1()
<= new Cart@1 = #1:Cart
=> Cart.total@2() on #1:Cart
  -> Clock.now@3() on #2:Clock
  <- Clock.now@3 = 7L
<= Cart.total@2 = #3:int
alias #9
do isLess int (#3:int, 0) = #4:boolean
guard (#4:boolean)
lambda static Cart lambda$f$0 \"(I)V\" in Cart as Runnable run \"()V\" exact \"()V\" (box 7) = #5:Runnable
tolerate IOException
=> set Cart.size@4 = 3
=> Cart.total@2() on #1:Cart
<=! Cart.total@2 = #7:IOException
given 0 by #9
do raise object (#7:IOException) ! #7:IOException
";

#[test]
fn a_script_is_written_for_people() {
    let script: Script = EXAMPLE.parse().unwrap();
    assert_eq!(script.to_string(), EXAMPLE);
    assert_eq!(script.check(), Ok(()));
}

#[test]
fn the_specification_shows_a_script() {
    let page = include_str!("../../../../../docs/script-text.md");
    let (_, rest) = page.split_once("```text\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let script: Script = example.parse().unwrap();
    assert_eq!(script.to_string(), example);
    assert_eq!(script.check(), Ok(()));
}

#[test]
fn wrong_lines_are_found() {
    for (line, expect) in [
        (
            "do fly int (1)",
            "line 2, column 4: expected the name of an operator, found `fly int (1)`",
        ),
        (
            "do add text (1)",
            "line 2, column 7: expected the type of the operands, or `object`, found ` text (1)`",
        ),
        (
            "guard (1",
            "line 2, column 9: expected `,` or `)`, found the end of the line",
        ),
        (
            "<= @1",
            "line 2, column 1: expected a statement, which starts with `=>` at depth 0, or its end, found `<= @1`",
        ),
    ] {
        let error = format!("script 1\n{line}").parse::<Script>().unwrap_err();
        assert_eq!(error.to_string(), expect);
    }
    assert!("scenario 1".parse::<Script>().is_err());
    assert!("".parse::<Script>().is_err());
}

fn end() -> impl Strategy<Value = StatementEnd> {
    prop_oneof![
        prop::option::of(value(2)).prop_map(StatementEnd::Returned),
        value(2).prop_map(StatementEnd::Threw),
    ]
}

fn number() -> impl Strategy<Value = u32> {
    0..6_u32
}

fn lambda() -> impl Strategy<Value = Lambda> {
    let kind = prop::sample::select(HandleKind::ALL);
    let types = (number(), number(), number());
    let texts = (
        any::<String>(),
        any::<String>(),
        any::<String>(),
        any::<String>(),
        any::<String>(),
    );
    (kind, types, texts).prop_map(|(kind, types, texts)| Lambda {
        body_class: TypeId(types.0),
        body_name: texts.0,
        body_descriptor: texts.1,
        kind,
        written_in: TypeId(types.1),
        interface: TypeId(types.2),
        method: texts.2,
        erased: texts.3,
        exact: texts.4,
    })
}

fn statement() -> impl Strategy<Value = Statement> {
    let values = || prop::collection::vec(value(2), 0..4);
    let of_any = prop_oneof![
        (
            prop::sample::select(Operator::ALL),
            prop::sample::select(&Shape::ALL[..])
        )
            .prop_map(|(operator, shape)| Action::Operate(operator.of(shape))),
        lambda().prop_map(Action::Lambda),
        Just(Action::Guard),
        number().prop_map(|class| Action::Expect(Expectation::Whole(TypeId(class)))),
        number().prop_map(|class| Action::Expect(Expectation::Next(TypeId(class)))),
        Just(Action::Mark(Mark::Same)),
        Just(Action::Mark(Mark::Left)),
        Just(Action::Mark(Mark::OwnBranch)),
        number().prop_map(|class| Action::Loop(LoopVariable::Start(TypeId(class)))),
        number().prop_map(|class| Action::Loop(LoopVariable::Each(TypeId(class)))),
    ];
    let answer = (
        number(),
        values(),
        end(),
        prop::collection::vec(value(1), 0..2),
    )
        .prop_map(|(site, asked, end, filled)| Answer {
            site: SiteId(site),
            asked,
            end,
            filled,
        });
    let call = (
        number(),
        prop::collection::vec(answer, 0..3),
        values(),
        prop_oneof![3 => end(), 1 => Just(StatementEnd::Open)],
    )
        .prop_map(|(site, answers, given, end)| {
            let site = SiteId(site);
            Statement::new(Action::Call(Call { site, answers }), given, end)
        });
    let read = (number(), prop::option::of(value(1)), value(2)).prop_map(|(site, on, found)| {
        let given = on.into_iter().collect();
        Statement::new(
            Action::Read(SiteId(site)),
            given,
            StatementEnd::Returned(Some(found)),
        )
    });
    let write = (number(), prop::option::of(value(1)), value(2)).prop_map(|(site, on, value)| {
        let given = on.into_iter().chain([value]).collect();
        Statement::new(
            Action::Write(SiteId(site)),
            given,
            StatementEnd::Returned(None),
        )
    });
    let other = (of_any, values(), end())
        .prop_map(|(action, given, end)| Statement::new(action, given, end));
    let alias = prop::option::of((1..9_u64).prop_map(ObjectId));
    let by_alias = prop::collection::vec((0..3_usize, 1..9_u64), 0..2);
    (prop_oneof![call, read, write, other], alias, by_alias).prop_map(
        |(statement, alias, by_alias)| Statement {
            alias,
            by_alias: by_alias
                .into_iter()
                .map(|(place, alias)| ByAlias {
                    place,
                    alias: ObjectId(alias),
                })
                .collect(),
            ..statement
        },
    )
}

prop_compose! {
    fn script()(
        types in prop::collection::vec(class(), 0..5),
        sites in prop::collection::vec(site(), 0..5),
        statements in prop::collection::vec(statement(), 0..6),
        prelude in 0..3_usize,
        waits in prop::collection::btree_set((0..9_usize, 0..9_usize), 0..3),
    ) -> Script {
        let tables = Tables {
            types: types.into_iter().collect(),
            sites: sites.into_iter().collect(),
            ..Tables::default()
        };
        let waits = waits.into_iter().map(|(statement, on)| Wait { statement, on });
        Script { tables: Arc::new(tables), statements, prelude, waits: waits.collect() }
    }
}

/// The same with the bits of floating-point numbers in their place, since a NaN is not equal to itself.
fn bits(mut script: Script) -> Script {
    let values = script.statements.iter_mut().flat_map(Statement::values_mut);
    values.for_each(crate::scenario::text::tests::bits_of);
    script
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(script in script()) {
        let text = script.to_string();
        let read: Script = text.parse().unwrap();
        prop_assert_eq!(read.to_string(), text);
        prop_assert_eq!(bits(read), bits(script));
    }

    #[test]
    fn no_script_makes_the_check_panic(script in script()) {
        let _ = script.check();
    }

    #[test]
    fn damaged_texts_are_refused_or_whole(script in script(), at in any::<prop::sample::Index>(), c in any::<char>()) {
        let mut text: Vec<char> = script.to_string().chars().collect();
        let at = at.index(text.len());
        text[at] = c;
        let text: String = text.into_iter().collect();
        if let Ok(script) = text.parse::<Script>() {
            let again: Script = script.to_string().parse().unwrap();
            prop_assert_eq!(bits(again), bits(script));
        }
    }
}
