//! Loops make the calls of the straight script, in the same order.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{Column, Head, Looped};
use crate::script::{Action, LoopVariable, Script};
use crate::{ObjectId, Reference, Value};

const TABLES: &str = "\
script 1
type 1 shop/Box loader 2
type 2 int
type 3 shop/Full loader 2
type 4 java/lang/Object[]
site 1 entry shop/Box.<init>()V
site 2 entry shop/Box.next()Lshop/Box;
site 3 entry shop/Box.put(I)V
site 4 entry shop/Box.join(Lshop/Box;)Lshop/Box;
site 6 entry shop/Box.size()I
site 7 entry shop/Box.fill([Ljava/lang/Object;)V
site 8 entry shop/Box.burst()V
";

/// Runs a script with loops, and notes the calls with their values. A result is the number of its call.
struct Walk<'a> {
    looped: &'a Looped,
    variables: BTreeMap<ObjectId, String>,
    calls: Vec<String>,
}

impl Walk<'_> {
    fn walk(&mut self, places: std::ops::Range<usize>, depth: usize) {
        let mut place = places.start;
        while place < places.end {
            let around = self.looped.loops.around(place);
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
                    Head::Count { variable, first } => {
                        let number = Value::Int(first + round as i32);
                        self.variables.insert(*variable, self.value(&number));
                    }
                    Head::Each(column) => self.set(column, round),
                    Head::Rows(columns) => columns.iter().for_each(|it| self.set(it, round)),
                }
                self.walk(each.body.clone(), depth + 1);
                // What is declared in the body is gone.
                self.variables.retain(|id, _| outer.contains(id));
            }
            place = each.body.end;
        }
    }

    fn set(&mut self, column: &Column, round: usize) {
        let value = self.value(&column.values[round]);
        self.variables.insert(column.variable, value);
    }

    fn statement(&mut self, number: usize) {
        let script = &self.looped.script;
        let statement = &script.statements[number];
        let given = statement.given.iter();
        let given: Vec<String> = given.map(|value| self.value(value)).collect();
        let made = match &statement.action {
            Action::Loop(LoopVariable::Each(_)) => return,
            Action::Loop(LoopVariable::Start(_)) => given[0].clone(),
            action => {
                let name = match action {
                    Action::Operate(operation) => operation.operator.name(),
                    _ => &script.target(statement).unwrap().name,
                };
                self.calls.push(format!("{name}({})", given.join(", ")));
                format!("result {}", self.calls.len())
            }
        };
        let Some(id) = statement.end.value().and_then(Value::identity) else {
            return;
        };
        let is_next = self.looped.loops.assigned(number) == Some(id);
        assert!(!is_next || self.variables.contains_key(&id), "not declared");
        if is_next || !self.variables.contains_key(&id) {
            self.variables.insert(id, made);
        }
    }

    fn value(&self, value: &Value) -> String {
        match (value.identity(), value) {
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

fn calls(looped: &Looped) -> Vec<String> {
    let mut walk = Walk {
        looped,
        variables: BTreeMap::new(),
        calls: Vec::new(),
    };
    walk.walk(0..looped.script.statements.len(), 0);
    walk.calls
}

/// A statement. Earlier results are counted backwards, or from the start.
#[derive(Clone, Copy, Debug)]
struct PlannedStatement {
    kind: u8,
    receiver: usize,
    argument: usize,
    is_absolute: bool,
    literal: i32,
}

/// Rounds of these statements, with literals that may grow.
#[derive(Clone, Debug)]
struct PlannedLoop {
    plans: Vec<PlannedStatement>,
    rounds: usize,
    growth: i32,
}

/// The script of some rounds. The last statement may fail.
fn script(parts: &[PlannedLoop], fails: bool) -> Script {
    let mut text = format!("{TABLES}=> @1()\n<= @1 = #1:@1\n");
    let mut made: Vec<Option<(u64, &str)>> = vec![Some((1, "@1"))];
    let mut next = 2;
    for part in parts {
        for round in 0..part.rounds {
            for plan in &part.plans {
                let find = |back: usize, of: &str| {
                    let at = match plan.is_absolute {
                        true => Some(back),
                        false => made.len().checked_sub(back + 1),
                    };
                    let found = at.and_then(|at| *made.get(at)?).filter(|(_, is)| *is == of);
                    found.map(|(id, of)| format!("#{id}:{of}"))
                };
                let literal = plan.literal + part.growth * round as i32;
                let receiver = find(plan.receiver, "@1").unwrap_or("#1:@1".to_owned());
                let number = find(plan.argument, "@2").unwrap_or(literal.to_string());
                let other = find(plan.argument, "@1").unwrap_or("#1:@1".to_owned());
                if plan.kind == 4 {
                    next += 2;
                    text.push_str(&format!(
                        "do add int ({number}, {literal}) = #{}:@2\n",
                        next - 1
                    ));
                    made.push(Some((next - 1, "@2")));
                    continue;
                }
                let (call, end, of) = match plan.kind {
                    0 => ("=> @1()".to_owned(), "<= @1", "@1"),
                    1 => (format!("=> @2() on {receiver}"), "<= @2", "@1"),
                    2 => (format!("=> @3({number}) on {receiver}"), "<= @3", ""),
                    3 => (format!("=> @4({other}) on {receiver}"), "<= @4", "@1"),
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
    let ends = text
        .rfind("\n<= ")
        .filter(|end| fails && !text[*end..].contains("\ndo "));
    if let Some(end) = ends.map(|end| end + 1) {
        let site = text[end + 3..]
            .split_whitespace()
            .next()
            .unwrap_or_default();
        text = format!("{}<=! {site} = #{next}:@3\n", &text[..end]);
    }
    text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn plans(most: usize) -> impl Strategy<Value = Vec<PlannedStatement>> {
    let plan = (
        0..8_u8,
        0..9_usize,
        0..9_usize,
        prop::bool::weighted(0.2),
        0..2,
    );
    let plan = plan.prop_map(
        |(kind, receiver, argument, is_absolute, literal)| PlannedStatement {
            kind,
            receiver,
            argument,
            is_absolute,
            literal,
        },
    );
    prop::collection::vec(plan, 0..=most)
}

fn parts() -> impl Strategy<Value = Vec<PlannedLoop>> {
    let part = (plans(4), 1..5_usize, 0..2);
    let part = part.prop_map(|(plans, rounds, growth)| PlannedLoop {
        plans,
        rounds,
        growth,
    });
    prop::collection::vec(part, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn loops_do_what_the_straight_script_does(parts in parts(), fails: bool) {
        let script = script(&parts, fails);
        let mut looped = Looped::straight(&script);
        let expect = calls(&looped);
        // Loops beside each other, and within.
        for _ in 0..4 {
            let all = looped.repetitions(&BTreeSet::new());
            for repetition in &all {
                prop_assert_eq!(&calls(&looped.rerolled(repetition)), &expect, "{:?}", repetition);
            }
            let Some(best) = all.first() else { break };
            looped = looped.rerolled(best);
        }
    }
}

/// The rounds of a loop, the statements of a round, and the loop-carried results.
#[derive(PartialEq, Debug)]
struct Best {
    rounds: usize,
    period: usize,
    carried: usize,
}

const fn best(rounds: usize, period: usize, carried: usize) -> Option<Best> {
    Some(Best {
        rounds,
        period,
        carried,
    })
}

/// The best loop of some statements.
#[track_caller]
fn check(steps: &str, expect: Option<Best>) {
    let script: Script = format!("{TABLES}{steps}").parse().unwrap();
    let found = Looped::straight(&script).repetitions(&BTreeSet::new());
    let found = found.first().map(|it| Best {
        rounds: it.rounds,
        period: it.period,
        carried: it.carried.len(),
    });
    assert_eq!(found, expect);
}

#[test]
fn a_loop_whose_variable_is_the_result_of_an_earlier_loop_keeps_it() {
    let mut text = format!("{TABLES}=> @1()\n<= @1 = #20:@1\n=> @1()\n<= @1 = #1:@1\n");
    for made in 2..10 {
        let last = made - 1;
        text.push_str(&format!("=> @2() on #{last}:@1\n<= @2 = #{made}:@1\n"));
        if made > 5 && made % 2 == 1 {
            text.push_str("=> @6() on #20:@1\n<= @6 = 1\n");
        }
    }
    let straight = Looped::straight(&text.parse().unwrap());
    let expect = calls(&straight);
    let of = |looped: &Looped, period: usize, start: usize| {
        let all = looped.repetitions(&BTreeSet::new());
        let mut all = all
            .iter()
            .filter(|it| it.period == period && it.start == start);
        looped.rerolled(all.next().unwrap())
    };
    let later = of(&straight, 3, 6);
    assert_eq!(calls(&later), expect);
    let both = of(&later, 1, 2);
    assert_eq!(both.loops.all.len(), 2);
    assert_eq!(calls(&both), expect);
}

#[test]
fn what_a_round_gives_the_next_one_is_kept() {
    let steps = "\
        => @1()\n<= @1 = #1:@1
        => @2() on #1:@1\n<= @2 = #2:@1
        => @2() on #2:@1\n<= @2 = #3:@1
        => @2() on #3:@1\n<= @2 = #4:@1";
    check(steps, best(3, 1, 1));
}

#[test]
fn a_result_of_an_early_round_that_is_used_later_ends_the_loop() {
    let steps = "\
        => @1()\n<= @1 = #1:@1
        => @2() on #1:@1\n<= @2 = #2:@1
        => @2() on #1:@1\n<= @2 = #3:@1
        => @2() on #1:@1\n<= @2 = #4:@1
        => @3(5) on #2:@1\n<= @3";
    check(steps, best(2, 1, 0));
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
    check(&format!("{two}{}", put(9)), best(3, 1, 0));
}

#[test]
fn rounds_that_throw_and_are_caught_are_not_those_that_fail() {
    let burst = "=> @8() on #1:@1\n<=! @8 = #2:@3\n=> @8() on #1:@1\n<=! @8 = #3:@3\n";
    check(&format!("=> @1()\n<= @1 = #1:@1\n{burst}"), None);
    let size = "=> @6() on #1:@1\n<= @6 = 1";
    check(
        &format!("=> @1()\n<= @1 = #1:@1\n{burst}{size}"),
        best(2, 1, 0),
    );
}
