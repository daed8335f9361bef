//! Passing neighbours: scripts with one difference to the failing one, with which nothing fails, and the values that
//! their runs have where the failing run has others.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use culprit_model::script::{Action, Input, Wait};
use culprit_model::{ObjectId, Owner, Reference, Script, Statement, Value};
use culprit_slice::{NodeId, Origin, Place, Replayed};

use crate::change::Replacement;
use crate::experiment::{Laboratory, Spot};
use crate::tracing::Tracer;

/// The most scripts with one difference that are run, and the most passing ones that are traced.
const MOST_RUN: usize = 80;
const MOST_TRACED: usize = 3;

/// The most of them in which a call is given another value, if others are without a call.
const MOST_GIVEN: usize = 2;

/// The most calls that are looked at for those which can be left out, and the most statements of all scripts that are run.
const MOST_LEFT_OUT: usize = 4 * MOST_RUN;
const MOST_STATEMENTS: usize = 1 << 20;

/// The longest text that is replaced by another one, in UTF-16 code units.
const LONGEST: usize = 64;

/// The difference between a script that fails and one that passes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// This call is missing.
    Without(String),
    /// This call is given another value.
    Given {
        call: String,
        value: String,
        instead_of: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Without(call) => write!(f, "without {call}"),
            Difference::Given {
                call,
                value,
                instead_of,
            } => write!(f, "when {call} gets {value} instead of {instead_of}"),
        }
    }
}

/// A script with one difference.
struct Variant {
    edit: Edit,
    difference: Difference,
    /// The statement that differs.
    statement: usize,
}

/// The difference of a script. Long scripts are made of it when they are run, one at a time.
enum Edit {
    /// Another value is given.
    Give { input: Input, value: Value },
    /// These statements are left.
    Keep(Vec<usize>),
}

impl Variant {
    fn script(&self, of: &Script) -> Script {
        match &self.edit {
            Edit::Keep(kept) => of.keep(kept),
            Edit::Give { input, value } => {
                let mut script = of.clone();
                let place = script.statements.get_mut(self.statement);
                if let Some(place) = place.and_then(|it| it.input_mut(*input)) {
                    *place = value.clone();
                }
                script
            }
        }
    }
}

/// A script that passes, and the values of its run.
pub(crate) struct Neighbour {
    pub(crate) difference: Difference,
    values: HashMap<Location, Vec<Option<Replacement>>>,
}

/// An instruction: its class, method and descriptor, and its place in the code. Numbers differ from run to run.
type Location = (String, String, String, u32);

impl Neighbour {
    /// The value that an instruction instance of the failing run has in this one: that of the same execution, or else of the
    /// last.
    pub(crate) fn value(&self, failing: &Replayed, spot: Spot) -> Option<&Replacement> {
        let values = self
            .values
            .get(&location(failing.program.place(spot.instruction)?))?;
        let same = values.get(spot.occurrence as usize - 1);
        same.or(values.last())?.as_ref()
    }
}

/// A value that an instruction has in a run that passes.
#[derive(Clone, PartialEq, Debug)]
pub struct PassingValue {
    pub value: String,
    /// The difference of that run.
    pub difference: Difference,
}

/// The values in passing neighbours where the failing run has others.
pub(crate) struct PassingValues<'a> {
    failing: &'a Replayed,
    neighbours: &'a [Neighbour],
    spots: HashMap<NodeId, Spot>,
}

impl<'a> PassingValues<'a> {
    pub(crate) fn of(
        failing: &'a Replayed,
        neighbours: &'a [Neighbour],
        spots: &[Spot],
    ) -> PassingValues<'a> {
        PassingValues {
            failing,
            neighbours,
            spots: spots.iter().map(|spot| (spot.node, *spot)).collect(),
        }
    }

    /// The value of an instruction instance in a neighbour, the first of which is the one with this number.
    pub(crate) fn at(&self, node: NodeId, first: Option<usize>) -> Option<PassingValue> {
        let own = Replacement::of(self.failing, node);
        let spot = self.spots.get(&node)?;
        let numbers = first.into_iter().chain(0..self.neighbours.len());
        let mut neighbours = numbers.filter_map(|number| self.neighbours.get(number));
        neighbours.find_map(|neighbour| {
            let value = neighbour.value(self.failing, *spot)?;
            let is_other = own.as_ref().is_none_or(|own| !own.is_identical(value));
            is_other.then(|| PassingValue {
                value: value.to_string(),
                difference: neighbour.difference.clone(),
            })
        })
    }
}

/// The passing neighbours that were found.
#[derive(Default)]
pub(crate) struct Neighbours {
    pub(crate) found: Vec<Neighbour>,
    /// The scripts that were run to find them.
    pub(crate) runs: usize,
}

/// Finds scripts with one difference that pass, of at most so many, and traces the nearest of them.
pub(crate) fn neighbours(
    laboratory: &Laboratory<'_>,
    most: usize,
    tracer: &Tracer<'_>,
    failing: &Replayed,
    spots: &[Spot],
) -> Neighbours {
    let script = laboratory.script;
    let mut variants = variants(script);
    variants.truncate(most.min(MOST_STATEMENTS / script.statements.len().max(1)));
    let passing = laboratory.each(&variants, |it| laboratory.passes(&it.script(script)));
    let runs = passing.iter().filter(|it| it.is_some()).count();
    let passing = variants.into_iter().zip(passing);
    let passing = passing.filter(|(_, passes)| *passes == Some(true));
    let wanted = spots.iter();
    let wanted = wanted.filter_map(|spot| failing.program.place(spot.instruction));
    let wanted: BTreeSet<Location> = wanted.map(location).collect();
    let traced = chosen(passing.map(|(variant, _)| variant).collect()).into_iter();
    let found = traced
        .filter_map(|variant| {
            let run = tracer.trace(&variant.script(script)).ok()?;
            run.passed().then(|| Neighbour {
                values: values(&run.replayed, &wanted),
                difference: variant.difference,
            })
        })
        .collect();
    Neighbours { found, runs }
}

/// The passing scripts that are traced: at most one for each statement.
fn chosen(passing: Vec<Variant>) -> Vec<Variant> {
    let mut statements = BTreeSet::new();
    let (given, without): (Vec<_>, Vec<_>) = passing
        .into_iter()
        .partition(|it| matches!(it.difference, Difference::Given { .. }));
    let most_given = match without.is_empty() {
        true => MOST_TRACED,
        false => MOST_GIVEN,
    };
    let given = given
        .into_iter()
        .filter(|it| statements.insert(it.statement));
    let mut chosen: Vec<Variant> = given.take(most_given).collect();
    let left = MOST_TRACED - chosen.len();
    chosen.extend(without.into_iter().take(left));
    chosen
}

/// The values of chosen instructions, by execution.
fn values(
    run: &Replayed,
    wanted: &BTreeSet<Location>,
) -> HashMap<Location, Vec<Option<Replacement>>> {
    let mut locations: HashMap<u32, Option<Location>> = HashMap::new();
    let mut values: HashMap<Location, Vec<Option<Replacement>>> = HashMap::new();
    for node in run.graph.nodes() {
        let Origin::Instruction(number) = run.graph.origin(node) else {
            continue;
        };
        let found = locations.entry(number).or_insert_with(|| {
            let found = location(run.program.place(number)?);
            wanted.contains(&found).then_some(found)
        });
        if let Some(found) = found {
            let known = values.entry(found.clone()).or_default();
            known.push(Replacement::of(run, node));
        }
    }
    values
}

fn location(place: Place) -> Location {
    (place.class, place.method, place.descriptor, place.pc)
}

/// The scripts with one difference: those in which a call near the failure is given almost the same value come first.
fn variants(script: &Script) -> Vec<Variant> {
    let calls = script.statements.iter().enumerate().skip(script.prelude);
    let calls = calls.rev();
    let calls = calls.filter_map(|(at, it)| Some((at, it, called(script, it)?)));
    let given = calls
        .clone()
        .flat_map(|(at, statement, call)| given(at, statement, &call));
    let without = calls.take(MOST_LEFT_OUT).filter_map(|(at, _, call)| {
        Some(Variant {
            edit: Edit::Keep(without(script, at)?),
            difference: Difference::Without(call),
            statement: at,
        })
    });
    given.take(MOST_RUN).chain(without.take(MOST_RUN)).collect()
}

/// The differences by which a call is given another value.
fn given(at: usize, statement: &Statement, call: &str) -> Vec<Variant> {
    let inputs = statement
        .inputs()
        .filter(|(input, _)| matches!(input, Input::Given(_)));
    let variants = inputs.flat_map(|(input, value)| {
        others(value).into_iter().filter_map(move |other| {
            Some(Variant {
                difference: Difference::Given {
                    call: call.to_owned(),
                    value: literal(&other)?,
                    instead_of: literal(value)?,
                },
                edit: Edit::Give {
                    input,
                    value: other,
                },
                statement: at,
            })
        })
    });
    variants.collect()
}

/// The statements but for one and those that depend on it; nothing if the last one does.
fn without(script: &Script, removed: usize) -> Option<Vec<usize>> {
    let mut gone: BTreeSet<usize> = BTreeSet::from([removed]);
    let mut missing: BTreeSet<ObjectId> = BTreeSet::new();
    for (at, statement) in script.statements.iter().enumerate().skip(removed) {
        let wait = |on| Wait { statement: at, on };
        let mut waits = script.waits.range(wait(0)..=wait(usize::MAX));
        let depends = statement.uses().iter().any(|id| missing.contains(id))
            || waits.any(|wait| gone.contains(&wait.on));
        if at == removed || depends {
            gone.insert(at);
            missing.extend(statement.defines());
            missing.extend(statement.catches());
        }
    }
    let last = script.statements.len().checked_sub(1)?;
    let kept = (0..=last).filter(|at| !gone.contains(at));
    (!gone.contains(&last)).then(|| kept.collect())
}

/// A call of the program or of the JDK in words; nothing for other statements, such as those that check the result.
fn called(script: &Script, statement: &Statement) -> Option<String> {
    let Action::Call(_) = statement.action else {
        return None;
    };
    let target = script.target(statement)?;
    if !matches!(Owner::of(&target.owner), Owner::Other | Owner::Jdk) {
        return None;
    }
    let class = target.owner.rsplit(['/', '$']).next().unwrap_or_default();
    Some(match target.name.as_str() {
        "<init>" => format!("new {class}"),
        name => format!("{class}.{name}"),
    })
}

/// Other values, the most similar first; none for objects.
fn others(value: &Value) -> Vec<Value> {
    let others = match value {
        Value::Boolean(it) => vec![Value::Boolean(!it)],
        Value::Byte(it) => near(*it, i8::wrapping_add).map(Value::Byte).to_vec(),
        Value::Short(it) => near(*it, i16::wrapping_add).map(Value::Short).to_vec(),
        Value::Int(it) => near(*it, i32::wrapping_add).map(Value::Int).to_vec(),
        Value::Long(it) => near(*it, i64::wrapping_add).map(Value::Long).to_vec(),
        Value::Char(it) => [it.wrapping_add(1), u16::from(b'a'), u16::from(b'1')]
            .map(Value::Char)
            .to_vec(),
        Value::Float(it) => [it + 1.0, it - 1.0, 0.0, 1.0].map(Value::Float).to_vec(),
        Value::Double(it) => [it + 1.0, it - 1.0, 0.0, 1.0].map(Value::Double).to_vec(),
        Value::Reference(Reference::String(units)) => shorter(units)
            .into_iter()
            .map(|units| Value::Reference(Reference::String(units)))
            .collect(),
        Value::Reference(Reference::Boxed(inner)) => others(inner)
            .into_iter()
            .map(|inner| Value::Reference(Reference::Boxed(Box::new(inner))))
            .collect(),
        Value::Reference(_) => Vec::new(),
    };
    let mut distinct: Vec<Value> = Vec::new();
    for other in others {
        let is_known = |known: &Value| known.is_identical(&other);
        if !is_known(value) && !distinct.iter().any(is_known) {
            distinct.push(other);
        }
    }
    distinct
}

/// Numbers near another one, and the usual ones.
fn near<N: Copy + From<i8>>(number: N, add: fn(N, N) -> N) -> [N; 5] {
    let one = N::from(1);
    let less = N::from(-1);
    [add(number, one), add(number, less), N::from(0), one, less]
}

/// Texts with a part of another one; none of a long one.
fn shorter(units: &[u16]) -> Vec<Vec<u16>> {
    let length = units.len();
    if length > LONGEST {
        return Vec::new();
    }
    let ends = [(0, length.saturating_sub(1)), (length.min(1), length)];
    let halves = [(0, length / 2), (length / 2, length), (0, 0)];
    let parts = ends.into_iter().chain(halves);
    let mut found: Vec<Vec<u16>> = Vec::new();
    for (from, to) in parts {
        let part = units.get(from..to).unwrap_or_default();
        if !found.iter().any(|known| known == part) {
            found.push(part.to_vec());
        }
    }
    if units.is_empty() {
        found.push(vec![u16::from(b'a')]);
    }
    found
}

/// A literal as Java writes it, or nothing for an object.
fn literal(value: &Value) -> Option<String> {
    Some(match value {
        Value::Boolean(it) => it.to_string(),
        Value::Byte(it) => it.to_string(),
        Value::Short(it) => it.to_string(),
        Value::Int(it) => it.to_string(),
        Value::Long(it) => format!("{it}L"),
        Value::Float(it) => format!("{it}f"),
        Value::Double(it) => format!("{it:?}"),
        Value::Char(it) => format!("'{}'", String::from_utf16_lossy(&[*it])),
        Value::Reference(Reference::String(units)) => {
            format!("\"{}\"", String::from_utf16_lossy(units))
        }
        Value::Reference(Reference::Boxed(inner)) => literal(inner)?,
        Value::Reference(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use culprit_model::Tables;
    use culprit_model::script::{Builder, MemberName};

    use super::*;

    /// `var cart = new Cart(); var item = new Item(2); cart.add(item); cart.total()`.
    fn script() -> Script {
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let cart = builder.variable("shop/Cart");
        let item = builder.variable("shop/Item");
        let add = MemberName::of("shop/Cart", "add", "(Lshop/Item;)V");
        let total = MemberName::of("shop/Cart", "total", "()I");
        let statements = vec![
            builder.construct("shop/Cart", "()V", vec![], cart.clone()),
            builder.construct("shop/Item", "(I)V", vec![Value::Int(2)], item.clone()),
            builder.call(add, cart.clone(), vec![item], None),
            builder.call(total, cart, vec![], None),
        ];
        builder.script(statements)
    }

    #[test]
    fn a_variant_has_another_value_or_lacks_a_call() {
        let variants = variants(&script());
        let words: Vec<String> = variants
            .iter()
            .map(|it| it.difference.to_string())
            .collect();
        assert_eq!(
            words,
            [
                "when new Item gets 3 instead of 2",
                "when new Item gets 1 instead of 2",
                "when new Item gets 0 instead of 2",
                "when new Item gets -1 instead of 2",
                "without Cart.add",
                "without new Item",
            ]
        );
        let sizes: Vec<usize> = variants
            .iter()
            .map(|it| it.script(&script()).statements.len())
            .collect();
        assert_eq!(sizes, [4, 4, 4, 4, 3, 2]);
    }

    #[test]
    fn without_a_call_there_is_nothing_that_uses_its_result() {
        assert!(without(&script(), 0).is_none());
        assert!(without(&script(), 3).is_none());
        assert_eq!(without(&script(), 1).unwrap(), [0, 3]);
    }

    #[test]
    fn one_neighbour_is_chosen_for_each_statement() {
        let variants = chosen(variants(&script()));
        let words: Vec<String> = variants
            .iter()
            .map(|it| it.difference.to_string())
            .collect();
        assert_eq!(
            words,
            [
                "when new Item gets 3 instead of 2",
                "without Cart.add",
                "without new Item"
            ]
        );
    }

    #[test]
    fn texts_lose_characters() {
        let text = |text: &str| Value::Reference(Reference::String(text.encode_utf16().collect()));
        let words = |value: &Value| {
            let others = others(value);
            others.iter().filter_map(literal).collect::<Vec<_>>()
        };
        assert_eq!(words(&text("abc")), ["\"ab\"", "\"bc\"", "\"a\"", "\"\""]);
        assert_eq!(words(&text("")), ["\"a\""]);
        assert_eq!(words(&Value::Boolean(true)), ["false"]);
        assert_eq!(words(&Value::Reference(Reference::Null)), [""; 0]);
        assert_eq!(words(&Value::Double(0.0)), ["1.0", "-1.0"]);
    }
}
