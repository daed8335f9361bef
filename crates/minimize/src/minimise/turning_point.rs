//! The turning point of a failure: the statement before which the failing call passes, and after which it fails.
//!
//! A call may fail in the same way for two reasons: a key that was removed is missing like a key that never was there. A
//! reduction that has left the reason out is noticed by adding the other statements again, from the first on: with some
//! of them the call passes, and with all of them it fails again. The statement that makes it fail again is the turning
//! point. A candidate has the same one if it has a statement that does the same, and passes without it.

use culprit_model::observe::is_jdk_name;
use culprit_model::script::Action;
use culprit_scripts::{ScriptRun, closure, is_for_assertions, needs};

use crate::merge::is_same_action;
use crate::{Error, Script, Statement};

/// The most sets of statements that are run to find a turning point, besides a binary search.
const MOST_PROBES: usize = 24;

/// The most statements in all of these runs, unless there are very few.
const MOST_STATEMENTS: usize = 20_000;
const FEW_PROBES: usize = 6;

/// The most statements of a candidate that are tried as its turning point.
const MOST_TURNS: usize = 4;

/// Runs some statements of a script.
pub(crate) type RunPart<'a> = dyn Fn(&[usize]) -> Result<ScriptRun, Error> + 'a;

/// The statement after which a call fails that has passed before.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TurningPoint {
    action: Action,
    /// The method that it calls, if it calls one: `Ledger.cancel`.
    pub(crate) name: Option<String>,
}

/// A turning point that a reduction has left out.
pub(super) struct LostTurn {
    pub(super) point: TurningPoint,
    /// Statements that have it, and fail.
    pub(super) whole: Vec<usize>,
}

impl TurningPoint {
    /// The turning point that some failing statements lack, or `None` if the call fails for the same reason as far as
    /// can be seen. All of `whole`, which they are a part of, fail.
    pub(super) fn find(
        script: &Script,
        kept: &[usize],
        whole: &[usize],
        run: &RunPart<'_>,
    ) -> Result<Option<LostTurn>, Error> {
        let is_other = |number: &&usize| {
            let is_idle = script.statements[**number].is_guard();
            kept.binary_search(number).is_err() && !is_idle
        };
        let others: Vec<usize> = whole.iter().filter(is_other).copied().collect();
        let with = |count: usize| {
            let mut part: Vec<usize> = kept.iter().chain(&others[..count]).copied().collect();
            part.sort_unstable();
            part
        };
        let passes = |count: usize| Ok::<_, Error>(run(&with(count))? == ScriptRun::Done);
        let mut fails = others.len();
        for count in probes(others.len()) {
            if !passes(count)? {
                fails = count;
                continue;
            }
            let mut last_passing = count;
            while fails - last_passing > 1 {
                let middle = last_passing + (fails - last_passing) / 2;
                match passes(middle)? {
                    true => last_passing = middle,
                    false => fails = middle,
                }
            }
            let turn = &script.statements[others[last_passing]];
            // A collection of the driver decides what is passed on to the program, and not what happens there.
            let of_program = script.target(turn).is_some_and(|target| {
                !is_jdk_name(&target.owner) && !is_for_assertions(&target.owner)
            });
            return Ok(of_program.then(|| LostTurn {
                point: TurningPoint::of(script, turn),
                whole: with(fails),
            }));
        }
        Ok(None)
    }

    fn of(script: &Script, statement: &Statement) -> TurningPoint {
        let name = script.target(statement).map(|target| {
            let class = target.owner.rsplit(['/', '$']).next().unwrap_or_default();
            match target.name.as_str() {
                "<init>" => format!("new {class}"),
                name => format!("{class}.{name}"),
            }
        });
        TurningPoint {
            action: statement.action.clone(),
            name,
        }
    }

    /// Whether a script that fails has a statement that does the same, and passes without it and what follows.
    pub(crate) fn is_in(&self, script: &Script, run: &RunPart<'_>) -> Result<bool, Error> {
        let Some(last) = script.statements.len().checked_sub(1) else {
            return Ok(false);
        };
        let behind = closure(&needs(script), last);
        let may_be = |number: &usize| {
            let action = &script.statements[*number].action;
            is_same_action(action, &self.action) && behind.binary_search(number).is_err()
        };
        for turn in (0..last).rev().filter(may_be).take(MOST_TURNS) {
            let is_before = |number: &usize| {
                let is_idle = script.statements[*number].is_guard();
                *number < turn && !is_idle || behind.binary_search(number).is_ok()
            };
            let before: Vec<usize> = (0..=last).filter(is_before).collect();
            if run(&before)? == ScriptRun::Done {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The numbers of added statements to try, the largest first: all where there are few, else more towards the end.
fn probes(others: usize) -> Vec<usize> {
    let most = (MOST_STATEMENTS / others.max(1)).clamp(FEW_PROBES, MOST_PROBES);
    let inner = 1..others;
    if inner.len() <= most {
        return inner.rev().collect();
    }
    let doubling = (0..usize::BITS).map_while(|power| others.checked_sub(1 << power));
    let spread = (1..most).map(|part| part * others / most);
    let mut probes: Vec<usize> = doubling.take(most / 2).chain(spread).collect();
    probes.retain(|count| inner.contains(count));
    probes.sort_unstable_by(|a, b| b.cmp(a));
    probes.dedup();
    probes
}

#[cfg(test)]
mod tests {
    use culprit_model::script::{Builder, MemberName};
    use culprit_model::{ObjectId, Tables};
    use proptest::prelude::*;

    use super::*;

    /// Calls of static methods of these names, of the program or of the JDK.
    fn script(names: &[&str]) -> Script {
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let call = |name: &&str| {
            let of_jdk = name.strip_prefix("JDK ");
            let owner = of_jdk.map_or("shop/Ledger", |_| "java/util/List");
            let target = MemberName::of(owner, of_jdk.unwrap_or(name), "()V");
            builder.call_static(target, Vec::new(), None)
        };
        let statements = names.iter().map(call).collect();
        builder.script(statements)
    }

    /// A ledger that has lost its account, or has none, fails when it is asked.
    fn run(script: &Script, kept: &[usize]) -> Result<ScriptRun, Error> {
        let mut has = false;
        for number in kept {
            match script
                .target(&script.statements[*number])
                .map(|it| it.name.as_str())
            {
                Some("post") => has = true,
                Some("cancel") => has = false,
                _ => {}
            }
        }
        Ok(match has {
            true => ScriptRun::Done,
            false => ScriptRun::Threw {
                at: kept.len() - 1,
                trace: String::new(),
            },
        })
    }

    fn found(names: &[&str], kept: &[usize]) -> Option<String> {
        let script = script(names);
        let whole: Vec<usize> = (0..names.len()).collect();
        let found = TurningPoint::find(&script, kept, &whole, &|part| run(&script, part));
        found.unwrap().and_then(|turn| turn.point.name)
    }

    #[test]
    fn what_was_removed_is_told_from_what_never_was() {
        let names = ["new", "post", "other", "cancel", "other", "balance"];
        let turn = Some("Ledger.cancel".to_owned());
        assert_eq!(found(&names, &[0, 5]), turn);
        assert_eq!(found(&["new", "other", "balance"], &[0, 2]), None);
        assert_eq!(found(&names, &[0, 1, 3, 5]), None);
    }

    #[test]
    fn a_collection_of_the_driver_is_no_turning_point() {
        let names = ["new", "post", "other", "JDK cancel", "balance"];
        assert_eq!(found(&names, &[0, 4]), None);
    }

    #[test]
    fn the_last_of_several_turns_is_the_turning_point() {
        let mut names = vec!["new"];
        names.extend(["post", "cancel"].repeat(40));
        names.extend(["other"; 300]);
        names.push("balance");
        let kept = [0, names.len() - 1];
        assert_eq!(found(&names, &kept).as_deref(), Some("Ledger.cancel"));
    }

    #[test]
    fn a_candidate_has_the_turning_point_if_it_passes_without_it() {
        let whole = script(&["new", "post", "cancel", "balance"]);
        let turn = TurningPoint::of(&whole, &whole.statements[2]);
        let is_in = |kept: &[usize]| {
            let part = whole.keep(kept);
            turn.is_in(&part, &|kept| run(&part, kept)).unwrap()
        };
        assert!(is_in(&[0, 1, 2, 3]));
        assert!(is_in(&[1, 2, 3]));
        assert!(!is_in(&[0, 2, 3]));
        assert!(!is_in(&[0, 3]));
    }

    proptest! {
        #[test]
        fn probes_are_few_and_within(others in 0usize..30_000) {
            let probes = probes(others);
            prop_assert!(probes.len() <= MOST_PROBES * 3 / 2);
            prop_assert!(probes.iter().all(|count| (1..others).contains(count)));
            prop_assert!(probes.is_sorted_by(|a, b| a > b));
        }
    }
}
