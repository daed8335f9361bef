//! Groups of statements that come again and again: what is left of the loops of a driver. Rounds are
//! equal but for the names of results, and for literals where that is allowed.

use culprit_model::{Member, ObjectId, Value};

use crate::flow::flow;
use crate::loops::{COUNTERS, Loops};
use crate::operators::Operator;
use crate::rounds::{Differing, ROWS, Run};
use crate::story::{Kind, Maker, Story};
use crate::types::Type;

/// Statements that a round can have.
const LONGEST: usize = 60;

/// Runs that are looked at, and those of them that are found.
const TRIED: usize = 400;
const FOUND: usize = 24;

/// A run of rounds.
#[derive(Clone, Debug)]
pub(crate) struct Repeat {
    /// The first statement of the first round.
    pub(crate) start: usize,
    /// Statements of a round.
    pub(crate) period: usize,
    pub(crate) rounds: usize,
    pub(crate) kept: Vec<Kept>,
    pub(crate) columns: Vec<Column>,
}

/// A result that the next round uses, or what follows the last.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// The place of its statement in a round.
    pub(crate) at: usize,
    /// What the first round uses in its stead, if rounds use it.
    pub(crate) before: Option<Value>,
}

/// Literals that differ from round to round, in one way.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) slots: Vec<Slot>,
    pub(crate) of: Type,
    /// One for each round.
    pub(crate) values: Vec<Value>,
}

/// Where a value stands in a round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    /// The place of the statement in the round.
    pub(crate) at: usize,
    /// The place of the value in the step.
    pub(crate) place: usize,
}

impl Repeat {
    /// Statements that need not be written.
    pub(crate) fn saves(&self) -> usize {
        (self.rounds - 1) * self.period
    }
}

/// Runs of rounds, those that save most first.
pub(crate) fn repeats(story: &Story<'_>, loops: &Loops) -> Vec<Repeat> {
    let keys = keys(story, loops);
    let mut runs = Vec::new();
    for period in 1..=LONGEST.min(keys.len() / 2) {
        // How many statements from here on are like those a period later.
        let mut alike = 0;
        for start in (0..keys.len() - period).rev() {
            let same = keys[start].is_some() && keys[start] == keys[start + period];
            alike = if same { alike + 1 } else { 0 };
            if alike >= period {
                runs.push((start, period, alike / period + 1));
            }
        }
    }
    runs.sort_by_key(|(start, period, rounds)| {
        (std::cmp::Reverse((rounds - 1) * period), *period, *start)
    });
    let mut made: Vec<Vec<ObjectId>> = vec![Vec::new(); keys.len()];
    for (id, object) in &story.objects {
        if let Maker::Result(at) | Maker::Thrown(at) = object.maker {
            made[at].push(*id);
        }
    }
    let mut found: Vec<Repeat> = Vec::new();
    for (start, period, rounds) in runs.into_iter().take(TRIED) {
        if found.len() >= FOUND {
            break;
        }
        let run = Run {
            story,
            made: &made,
            start,
            period,
        };
        let equal = run.longest(rounds, Differing::Nothing);
        let least = equal.as_ref().map_or(ROWS, |equal| equal.rounds + 1);
        for differing in [Differing::Literals, Differing::Arrays] {
            let longer = run.longest(rounds, differing);
            found.extend(longer.filter(|it| it.rounds >= least));
        }
        found.extend(equal);
    }
    found.sort_by_key(|it| {
        let saves = std::cmp::Reverse(it.saves());
        (saves, it.kept.len() + it.columns.len(), it.start)
    });
    found
}

/// What statements of several rounds must have in common, apart from what they are given.
type Key<'k> = (Kind, &'k Member, bool, Option<usize>);

fn keys<'k>(story: &'k Story<'_>, loops: &Loops) -> Vec<Option<Key<'k>>> {
    let flow = flow(story);
    let mut keys: Vec<Option<Key<'k>>> = Vec::new();
    for action in &story.actions {
        let around = loops.around(action.place);
        let is_ours = matches!(Operator::of(action), Some(Operator::Start | Operator::Each));
        // What is asserted is written where it is, or has a variable there.
        let mut linked = flow.sources.iter();
        let is_linked =
            linked.any(|((place, _), source)| *place == action.place || *source == action.place);
        let fits = !is_ours
            && !is_linked
            && !loops.is_assigned(action.place)
            && around.len() < COUNTERS.len();
        keys.push(fits.then(|| {
            let innermost = around.last().map(|each| each.body.start);
            let site = action.site;
            (action.kind, &site.target, site.has_receiver(), innermost)
        }));
    }
    // What a stand-in answers depends on how often it was asked before.
    for asked in story.objects.values().flat_map(|object| &object.asked) {
        let after = story.actions.partition_point(|it| it.step <= asked.step);
        if let Some(key) = after.checked_sub(1).and_then(|at| keys.get_mut(at)) {
            *key = None;
        }
    }
    keys
}
