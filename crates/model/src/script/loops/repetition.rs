//! Finds statements that repeat. The rounds of a repetition are equal, except for the names of results, and for
//! literals where that is allowed.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::{Discriminant, discriminant};

use super::rounds::{ROWS, Rounds, Variation};
use super::{DEEPEST, Looped};
use crate::script::{Action, Object, Statement};
use crate::{Member, ObjectId, Site, Value};

/// Statements of a round, at most.
const LONGEST: usize = 60;

/// Candidates that are looked at, and repetitions that are returned.
const TRIED: usize = 400;
const FOUND: usize = 24;

/// Of longer scripts, fewer: each takes the longer, the more statements there are.
const LONG: usize = 2_000;
const FEWEST: usize = 2;

/// Rounds that follow each other.
#[derive(Clone, Debug)]
pub struct Repetition {
    /// The first statement of the first round.
    pub start: usize,
    /// Statements of a round.
    pub period: usize,
    pub rounds: usize,
    pub carried: Vec<Carried>,
    pub varying: Vec<Varying>,
}

/// A loop-carried result: the next round uses it, or a statement after the last round.
#[derive(Clone, Debug)]
pub struct Carried {
    /// The place of its statement in a round.
    pub at: usize,
    /// The value that the first round uses instead, if rounds use it.
    pub first: Option<Value>,
}

/// Literals that differ between the rounds, in one way.
#[derive(Clone, Debug)]
pub struct Varying {
    pub slots: Vec<ValueSlot>,
    /// The class of a variable for them.
    pub class: String,
    /// One for each round.
    pub values: Vec<Value>,
}

/// The place of a value in a round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueSlot {
    /// The place of the statement in the round.
    pub at: usize,
    /// The place among the given values.
    pub place: usize,
}

/// Rounds whose statements do the same, before their values are compared.
struct Candidate {
    start: usize,
    period: usize,
    rounds: usize,
}

fn saves(rounds: usize, period: usize) -> usize {
    (rounds - 1) * period
}

impl Repetition {
    /// Statements that need not be written.
    pub fn saves(&self) -> usize {
        saves(self.rounds, self.period)
    }
}

impl Looped {
    /// Statements that can become a loop, those first that save most. The fixed statements become part of none.
    pub fn repetitions(&self, fixed: &BTreeSet<usize>) -> Vec<Repetition> {
        let objects = self.script.objects();
        let keys = self.keys(&objects, fixed);
        let most = |number: usize| (number * LONG / keys.len().max(LONG)).max(FEWEST);
        let mut found: Vec<Repetition> = Vec::new();
        for candidate in candidates(&keys).into_iter().take(most(TRIED)) {
            if found.len() >= most(FOUND) {
                break;
            }
            let rounds = Rounds {
                looped: self,
                objects: &objects,
                start: candidate.start,
                period: candidate.period,
            };
            let equal = rounds.longest(candidate.rounds, Variation::Nothing);
            let least = equal.as_ref().map_or(ROWS, |equal| equal.rounds + 1);
            for variation in [Variation::Literals, Variation::Arrays] {
                let longer = rounds.longest(candidate.rounds, variation);
                found.extend(longer.filter(|it| it.rounds >= least));
            }
            found.extend(equal);
        }
        found.sort_by_key(|it| {
            let saves = std::cmp::Reverse(it.saves());
            (saves, it.carried.len() + it.varying.len(), it.start)
        });
        found
    }

    fn keys<'s>(
        &'s self,
        objects: &BTreeMap<ObjectId, Object<'_>>,
        fixed: &BTreeSet<usize>,
    ) -> Vec<Option<Key<'s>>> {
        // A stand-in's answer depends on the number of questions before.
        let asked = objects.values().flat_map(|object| &object.asked);
        let asked: BTreeSet<usize> = asked.map(|question| question.statement).collect();
        let statements = self.script.statements.iter().enumerate();
        let key = |(number, statement): (usize, &'s Statement)| {
            let around = self.loops.around(number);
            let is_of_loop = matches!(statement.action, Action::Loop(_));
            let is_fixed = fixed.contains(&number) || asked.contains(&number);
            let is_assignment = self.loops.assigned(number).is_some();
            if is_of_loop || is_fixed || is_assignment || around.len() >= DEEPEST {
                return None;
            }
            let site = self.script.site(statement);
            Some(Key {
                kind: discriminant(&statement.action),
                target: site.map(|site| &site.target),
                has_receiver: site.is_some_and(Site::has_receiver),
                action: site.is_none().then_some(&statement.action),
                innermost: around.last().map(|each| each.body.start),
            })
        };
        statements.map(key).collect()
    }
}

fn candidates(keys: &[Option<Key<'_>>]) -> Vec<Candidate> {
    let mut all = Vec::new();
    for period in 1..=LONGEST.min(keys.len() / 2) {
        // The number of statements from here on that are like those a period later.
        let mut alike = 0;
        for start in (0..keys.len() - period).rev() {
            let same = keys[start].is_some() && keys[start] == keys[start + period];
            alike = if same { alike + 1 } else { 0 };
            if alike >= period {
                let rounds = alike / period + 1;
                all.push(Candidate {
                    start,
                    period,
                    rounds,
                });
            }
        }
    }
    all.sort_by_key(|it| {
        let saves = std::cmp::Reverse(saves(it.rounds, it.period));
        (saves, it.period, it.start)
    });
    all
}

/// The part of a statement that is equal in all rounds.
#[derive(PartialEq)]
struct Key<'s> {
    kind: Discriminant<Action>,
    /// The site of a call or access, apart from the place in the code.
    target: Option<&'s Member>,
    has_receiver: bool,
    /// Any other action as a whole.
    action: Option<&'s Action>,
    /// The first statement of the innermost loop around it.
    innermost: Option<usize>,
}
