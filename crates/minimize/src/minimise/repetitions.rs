//! Statements that a loop of the driver repeats. Between those that the failure does not need are others that it does, such as
//! the calls of `next` that lead to the failing round, and no interval can be removed. So all statements of a kind are removed at
//! once, before the search looks at single ones.
//!
//! ```text
//! record = parser.next();  name = record.get(0);  amount = record.get(1);  report.add(name, amount);
//! record = parser.next();  name = record.get(0);  ...
//! ```

use std::collections::BTreeSet;

use crate::merge::is_same_action;
use crate::{Error, Script};

use super::CallReduction;

/// Statements that are so many that loops of the driver are among them.
const MANY: usize = 100;

/// The fewest statements of a kind that are worth a run.
const FEW: usize = 8;

/// Statements of a kind that are too many to try each of them.
const LONG: usize = 500;

/// The most kinds that are tried.
const MOST_KINDS: usize = 40;

impl CallReduction<'_> {
    /// Some failing statements without the kinds of statements that the failure does not need, where there are many. Those that
    /// are fixed stay.
    pub(super) fn without_repetitions(
        &self,
        whole: &[usize],
        fixed: &[usize],
        needs: &[Vec<usize>],
    ) -> Result<Vec<usize>, Error> {
        let mut left = whole.to_vec();
        if left.len() < MANY {
            return Ok(left);
        }
        let others = whole.iter().copied();
        let others = others.filter(|number| fixed.binary_search(number).is_err());
        for kind in kinds(self.script, others) {
            if self.driver.is_over() {
                break;
            }
            let rest = without(&left, &kind, needs);
            let is_less = rest.len() < left.len();
            if is_less && self.fails_in_time(&rest)? {
                left = rest;
            }
        }
        Ok(left)
    }

    /// The statements of long loops that the failure seems to need: of each kind both halves and some single ones were removed,
    /// and it did not fail like that. To try each of them would take too long.
    pub(super) fn needed_repetitions(
        &self,
        whole: &[usize],
        fixed: &[usize],
        needs: &[Vec<usize>],
    ) -> Result<Vec<usize>, Error> {
        let mut needed = Vec::new();
        let others = whole.iter().copied();
        let others = others.filter(|number| fixed.binary_search(number).is_err());
        for kind in kinds(self.script, others) {
            if kind.len() < LONG {
                break;
            }
            let (half, last) = (kind.len() / 2, kind.len() - 1);
            let parts = [
                0..half,
                half..last + 1,
                0..1,
                half..half + 1,
                last..last + 1,
            ];
            let mut is_needed = true;
            for part in parts {
                let rest = without(whole, &kind[part], needs);
                is_needed = is_needed && !self.driver.is_over() && !self.fails_in_time(&rest)?;
            }
            if is_needed {
                needed.extend(kind);
            }
        }
        Ok(with_needs(needed, needs))
    }
}

/// Statements by what they do, the most frequent kind first.
fn kinds(script: &Script, statements: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut kinds: Vec<Vec<usize>> = Vec::new();
    let action = |number: usize| &script.statements[number].action;
    for number in statements {
        let kind = kinds
            .iter_mut()
            .find(|kind| is_same_action(action(kind[0]), action(number)));
        match kind {
            Some(kind) => kind.push(number),
            None => kinds.push(vec![number]),
        }
    }
    kinds.retain(|kind| kind.len() >= FEW);
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.len()));
    kinds.truncate(MOST_KINDS);
    kinds
}

/// Statements with all that they need.
fn with_needs(statements: Vec<usize>, needs: &[Vec<usize>]) -> Vec<usize> {
    let mut all = BTreeSet::new();
    let mut next = statements;
    while let Some(number) = next.pop() {
        if all.insert(number) {
            next.extend(&needs[number]);
        }
    }
    all.into_iter().collect()
}

/// Statements without some of them, and without those that need these.
fn without(statements: &[usize], removed: &[usize], needs: &[Vec<usize>]) -> Vec<usize> {
    let mut gone: BTreeSet<usize> = removed.iter().copied().collect();
    let mut left = Vec::new();
    for number in statements {
        let needs_removed = needs[*number].iter().any(|need| gone.contains(need));
        match needs_removed || gone.contains(number) {
            true => {
                gone.insert(*number);
            }
            false => left.push(*number),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_go_with_those_that_they_need() {
        // 1 and 3 are made from 0 and 2.
        let needs = [vec![], vec![0], vec![], vec![2], vec![]];
        let all = [0, 1, 2, 3, 4];
        assert_eq!(without(&all, &[0], &needs), [2, 3, 4]);
        assert_eq!(without(&all, &[1, 3], &needs), [0, 2, 4]);
        assert_eq!(with_needs(vec![3, 4], &needs), [2, 3, 4]);
    }
}
