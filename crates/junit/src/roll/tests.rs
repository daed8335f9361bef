//! Loops that are done round by round make the calls of the straight scenario, in the same order.

use std::collections::BTreeMap;

use culprit_model::{ObjectId, Reference, Scenario, Value};
use proptest::prelude::*;

use super::Rolled;
use crate::loops::Head;
use crate::operators::Operator;
use crate::repeats::repeats;
use crate::story::{End, Story, identity};

const TABLES: &str = "\
scenario 1
type 1 shop/Box loader 2
type 2 int
type 3 shop/Full loader 2
type 4 java/lang/Object[]
thread 1 main
site 1 entry shop/Box.<init>()V
site 2 entry shop/Box.next()Lshop/Box;
site 3 entry shop/Box.put(I)V
site 4 entry shop/Box.join(Lshop/Box;)Lshop/Box;
site 5 entry static culprit/runtime/Operators.add(II)I
site 6 entry shop/Box.size()I
site 7 entry shop/Box.fill([Ljava/lang/Object;)V
site 8 entry shop/Box.burst()V
";

/// Does what is written: which calls are made with what. A result is the number of its call.
struct Walk<'a> {
    rolled: &'a Rolled,
    story: &'a Story<'a>,
    variables: BTreeMap<ObjectId, String>,
    calls: Vec<String>,
}

impl Walk<'_> {
    fn walk(&mut self, places: std::ops::Range<usize>, depth: usize) {
        let mut place = places.start;
        while place < places.end {
            let around = self.rolled.loops.around(place);
            let Some(each) = around.get(depth).map(|each| (*each).clone()) else {
                self.statement(place);
                place += 1;
                continue;
            };
            assert_eq!(each.body.start, place, "a loop is entered in the middle");
            for round in 0..each.rounds {
                let outer: Vec<ObjectId> = self.variables.keys().copied().collect();
                match &each.head {
                    Head::Nothing => {}
                    Head::Count(id, first) => {
                        let text = Value::Int(first + round as i32);
                        self.variables.insert(*id, self.value(&text));
                    }
                    Head::Each(id, values) => {
                        self.variables.insert(*id, self.value(&values[round]));
                    }
                    Head::Rows(columns) => {
                        for (id, values) in columns {
                            self.variables.insert(*id, self.value(&values[round]));
                        }
                    }
                }
                self.walk(each.body.clone(), depth + 1);
                // What is declared in the body is gone.
                self.variables.retain(|id, _| outer.contains(id));
            }
            place = each.body.end;
        }
    }

    fn statement(&mut self, place: usize) {
        let action = &self.story.actions[place];
        let given = action.receiver.into_iter().chain(action.arguments);
        let given: Vec<String> = given.map(|value| self.value(value)).collect();
        let operator = Operator::of(action);
        let made = match operator {
            Some(Operator::Each) => return,
            Some(Operator::Start) => given[0].clone(),
            _ => {
                let name = &action.site.target.name;
                self.calls.push(format!("{name}({})", given.join(", ")));
                format!("result {}", self.calls.len())
            }
        };
        let (End::Returned(Some(value)) | End::Threw(value)) = action.end else {
            return;
        };
        let Some(id) = identity(value) else { return };
        let is_next = self.rolled.loops.assigned.contains(&(place, id));
        assert!(!is_next || self.variables.contains_key(&id), "not declared");
        if is_next || !self.variables.contains_key(&id) {
            self.variables.insert(id, made);
        }
    }

    fn value(&self, value: &Value) -> String {
        match (identity(value), value) {
            (_, Value::Reference(Reference::Array { contents, .. })) => {
                let all: Vec<String> = contents
                    .elements()
                    .iter()
                    .map(|it| self.value(it))
                    .collect();
                format!("{{{}}}", all.join(", "))
            }
            (Some(id), _) => self.variables[&id].clone(),
            (None, value) => format!("{value:?}"),
        }
    }
}

fn calls(rolled: &Rolled) -> Vec<String> {
    let story = Story::read(&rolled.scenario).unwrap();
    let mut walk = Walk {
        rolled,
        story: &story,
        variables: BTreeMap::new(),
        calls: Vec::new(),
    };
    walk.walk(0..story.actions.len(), 0);
    walk.calls
}

/// What a statement does: with which of the earlier results, counted backwards or from the start.
#[derive(Clone, Copy, Debug)]
struct Deed {
    kind: u8,
    receiver: usize,
    argument: usize,
    is_absolute: bool,
    literal: i32,
}

/// A scenario in which rounds of these statements are done, with literals that may grow. The last
/// statement may fail.
fn scenario(parts: &[(Vec<Deed>, usize, i32)], fails: bool) -> Scenario {
    let mut text = format!("{TABLES}=> @1()\n<= @1 = #1:@1\n");
    let mut made: Vec<Option<(u64, &str)>> = vec![Some((1, "@1"))];
    let mut next = 2;
    for (deeds, rounds, growth) in parts {
        for round in 0..*rounds {
            for deed in deeds {
                let find = |back: usize, of: &str| {
                    let at = match deed.is_absolute {
                        true => Some(back),
                        false => made.len().checked_sub(back + 1),
                    };
                    let found = at.and_then(|at| *made.get(at)?).filter(|(_, is)| *is == of);
                    found.map(|(id, of)| format!("#{id}:{of}"))
                };
                let literal = deed.literal + growth * round as i32;
                let receiver = find(deed.receiver, "@1").unwrap_or("#1:@1".to_owned());
                let number = find(deed.argument, "@2").unwrap_or(literal.to_string());
                let other = find(deed.argument, "@1").unwrap_or("#1:@1".to_owned());
                let (call, end, of) = match deed.kind {
                    0 => ("=> @1()".to_owned(), "<= @1", "@1"),
                    1 => (format!("=> @2() on {receiver}"), "<= @2", "@1"),
                    2 => (format!("=> @3({number}) on {receiver}"), "<= @3", ""),
                    3 => (format!("=> @4({other}) on {receiver}"), "<= @4", "@1"),
                    4 => (format!("=> @5({number}, {literal})"), "<= @5", "@2"),
                    5 => (format!("=> @6() on {receiver}"), "<= @6", "@2"),
                    6 => (
                        format!("=> @7(#{next}:@4{{{literal}, {number}}}) on {receiver}"),
                        "<= @7",
                        "",
                    ),
                    _ => (format!("=> @8() on {receiver}"), "<=! @8", "@3"),
                };
                next += 1;
                text.push_str(&format!("{call}\n"));
                match of {
                    "" => {
                        text.push_str(&format!("{end}\n"));
                        made.push(None);
                    }
                    of => {
                        text.push_str(&format!("{end} = #{next}:{of}\n"));
                        made.push(Some((next, of)));
                    }
                }
                next += 1;
            }
        }
    }
    if let Some(end) = text.rfind("<= ").filter(|_| fails) {
        let site = text[end + 3..]
            .split_whitespace()
            .next()
            .unwrap_or_default();
        text = format!("{}<=! {site} = #{next}:@3\n", &text[..end]);
    }
    text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn deeds(most: usize) -> impl Strategy<Value = Vec<Deed>> {
    let deed = (
        0..8_u8,
        0..9_usize,
        0..9_usize,
        prop::bool::weighted(0.2),
        0..2,
    );
    let deed = deed.prop_map(|(kind, receiver, argument, is_absolute, literal)| Deed {
        kind,
        receiver,
        argument,
        is_absolute,
        literal,
    });
    prop::collection::vec(deed, 0..=most)
}

fn parts() -> impl Strategy<Value = Vec<(Vec<Deed>, usize, i32)>> {
    let part = (deeds(4), 1..5_usize, 0..2);
    prop::collection::vec(part, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn loops_do_what_the_straight_scenario_does(parts in parts(), fails: bool) {
        let scenario = scenario(&parts, fails);
        let mut rolled = Rolled::straight(&scenario);
        let expect = calls(&rolled);
        // Loops beside each other, and within.
        for _ in 0..4 {
            let story = Story::read(&rolled.scenario).unwrap();
            let all = repeats(&story, &rolled.loops);
            for repeat in &all {
                prop_assert_eq!(&calls(&rolled.roll(&story, repeat)), &expect, "{:?}", repeat);
            }
            let Some(best) = all.first() else { break };
            rolled = rolled.roll(&story, best);
        }
    }
}

/// The best loop of some statements: its rounds, the statements in it, and what it needs before.
#[track_caller]
fn check(steps: &str, expect: Option<(usize, usize, usize)>) {
    let scenario: Scenario = format!("{TABLES}{steps}").parse().unwrap();
    let rolled = Rolled::straight(&scenario);
    let story = Story::read(&scenario).unwrap();
    let found = repeats(&story, &rolled.loops);
    let found = found
        .first()
        .map(|it| (it.rounds, it.period, it.kept.len()));
    assert_eq!(found, expect);
}

#[test]
fn what_a_round_gives_the_next_one_is_kept() {
    let steps = "\
        => @1()\n<= @1 = #1:@1
        => @2() on #1:@1\n<= @2 = #2:@1
        => @2() on #2:@1\n<= @2 = #3:@1
        => @2() on #3:@1\n<= @2 = #4:@1";
    check(steps, Some((3, 1, 1)));
}

#[test]
fn a_result_of_an_early_round_that_is_used_later_ends_the_loop() {
    let steps = "\
        => @1()\n<= @1 = #1:@1
        => @2() on #1:@1\n<= @2 = #2:@1
        => @2() on #1:@1\n<= @2 = #3:@1
        => @2() on #1:@1\n<= @2 = #4:@1
        => @3(5) on #2:@1\n<= @3";
    check(steps, Some((2, 1, 0)));
}

#[test]
fn what_the_round_has_already_replaced_cannot_be_used() {
    let steps = "\
        => @1()\n<= @1 = #1:@1
        => @2() on #1:@1\n<= @2 = #2:@1
        => @4(#1:@1) on #1:@1\n<= @4 = #3:@1
        => @2() on #1:@1\n<= @2 = #4:@1
        => @4(#2:@1) on #1:@1\n<= @4 = #5:@1";
    check(steps, None);
}

#[test]
fn literals_may_differ_in_three_rounds() {
    let put = |number: i32| format!("=> @3({number}) on #1:@1\n<= @3\n");
    let two = format!("=> @1()\n<= @1 = #1:@1\n{}{}", put(4), put(7));
    check(&two, None);
    check(&format!("{two}{}", put(9)), Some((3, 1, 0)));
}

#[test]
fn rounds_that_throw_and_are_caught_are_not_those_that_fail() {
    let burst = "=> @8() on #1:@1\n<=! @8 = #2:@3\n=> @8() on #1:@1\n<=! @8 = #3:@3\n";
    check(&format!("=> @1()\n<= @1 = #1:@1\n{burst}"), None);
    let size = "=> @6() on #1:@1\n<= @6 = 1";
    check(
        &format!("=> @1()\n<= @1 = #1:@1\n{burst}{size}"),
        Some((2, 1, 0)),
    );
}
