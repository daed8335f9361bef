//! Decides whether statements are rounds of a loop: compares the values of a statement with those of the same
//! statement in other rounds, and looks at the statements that use the results.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use super::Looped;
use super::literals::{has_equal_frame, is_array, is_equal};
use super::repetition::{Carried, Repetition, ValueSlot, Varying};
use crate::script::{
    Action, Object, ObjectOrigin, Operator, Role, Script, Statement, StatementEnd,
};
use crate::value::{Contents, Shape};
use crate::{ObjectId, Reference, Value};

/// Rounds of a loop, at least, where literals differ, or where a variable has no value before it.
pub(super) const ROWS: usize = 3;

/// Variables that a loop can change, and literals that can differ: more is hard to read.
const CARRIED: usize = 3;
const VARYING: usize = 3;

/// Rounds whose statements do the same. The values are to be compared.
pub(super) struct Rounds<'a> {
    pub(super) looped: &'a Looped,
    pub(super) objects: &'a BTreeMap<ObjectId, Object<'a>>,
    pub(super) start: usize,
    pub(super) period: usize,
}

/// A value that a statement is given, as seen from its round.
#[derive(Clone, Copy, Debug)]
enum Operand<'v> {
    /// A result of the same round, by the place of its statement.
    Own(usize),
    /// A result of the round before.
    Last(usize),
    /// An object from before the first round.
    Outer(ObjectId, &'v Value),
    Literal(&'v Value),
}

/// An operand, and its place among the given values unless it is an element of an array.
struct Given<'v> {
    place: Option<usize>,
    operand: Operand<'v>,
}

/// The differences between rounds that are allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Variation {
    Nothing,
    Literals,
    /// Literals, and array literals as a whole.
    Arrays,
}

/// The number of rounds that may fit, where more do not.
struct Fewer(usize);

/// The relation between the values at one place of the rounds.
enum Relation<'v> {
    Equal,
    /// Each is a result of the round before, from this place; the first is this value.
    Carried(usize, &'v Value),
    Varying(Varying),
}

impl<'a> Rounds<'a> {
    /// The longest repetition, of this many rounds at most.
    pub(super) fn longest(&self, mut rounds: usize, allowed: Variation) -> Option<Repetition> {
        while rounds >= 2 {
            match self.repetition(rounds, allowed) {
                Ok(found) => return Some(found),
                Err(Fewer(most)) => rounds = most.min(rounds - 1),
            }
        }
        None
    }

    fn script(&self) -> &'a Script {
        &self.looped.script
    }

    fn number(&self, round: usize, at: usize) -> usize {
        self.start + round * self.period + at
    }

    fn statement(&self, round: usize, at: usize) -> &'a Statement {
        &self.script().statements[self.number(round, at)]
    }

    fn repetition(&self, rounds: usize, allowed: Variation) -> Result<Repetition, Fewer> {
        let mut first: BTreeMap<usize, Value> = BTreeMap::new();
        let mut varying = Vec::new();
        for at in 0..self.period {
            self.check_ends(rounds, at)?;
            let mut all = Vec::new();
            for round in 0..rounds {
                all.push(self.operands(round, at, allowed)?);
            }
            for round in 1..rounds {
                let fits = all[0].len() == all[round].len();
                if !fits || !self.frames_fit(round, at, allowed) {
                    return Err(Fewer(round));
                }
            }
            for (number, given) in all[0].iter().enumerate() {
                let values: Vec<Operand<'_>> = all.iter().map(|all| all[number].operand).collect();
                match self.relation(at, given.place, &values, allowed)? {
                    Relation::Equal => {}
                    Relation::Carried(from, value) => match first.get(&from) {
                        Some(known) if !known.is_identical(value) => return Err(Fewer(1)),
                        _ => {
                            first.insert(from, value.clone());
                        }
                    },
                    Relation::Varying(values) => add(&mut varying, values),
                }
            }
        }
        let class = varying.first().map(|values: &Varying| values.class.clone());
        if varying.iter().any(|it| Some(&it.class) != class.as_ref()) {
            return Err(Fewer(1));
        }
        let varies = allowed != Variation::Nothing;
        if varies && (varying.is_empty() || rounds < ROWS) {
            return Err(Fewer(1));
        }
        let carried = self.carried(rounds, &first)?;
        if carried.len() > CARRIED || varying.len() > VARYING {
            return Err(Fewer(1));
        }
        Ok(Repetition {
            start: self.start,
            period: self.period,
            rounds,
            carried,
            varying,
        })
    }

    /// All rounds end alike, except that the last statement of the script may fail.
    fn check_ends(&self, rounds: usize, at: usize) -> Result<(), Fewer> {
        let first = &self.statement(0, at).end;
        for round in 0..rounds {
            let fails = self.number(round, at) + 1 == self.script().statements.len();
            let is_alike = match (first, &self.statement(round, at).end) {
                (StatementEnd::Returned(_), StatementEnd::Returned(_)) => true,
                (StatementEnd::Returned(_), _) => fails,
                (StatementEnd::Threw(one), StatementEnd::Threw(other)) => {
                    let class = |value| self.object(value).map(|object| object.class);
                    !fails && class(one) == class(other)
                }
                _ => false,
            };
            if !is_alike {
                return Err(Fewer(round));
            }
        }
        Ok(())
    }

    fn object(&self, value: &Value) -> Option<&'a Object<'a>> {
        self.objects.get(&value.identity()?)
    }

    /// The operands of a statement. Array literals are taken apart.
    fn operands(
        &self,
        round: usize,
        at: usize,
        allowed: Variation,
    ) -> Result<Vec<Given<'a>>, Fewer> {
        let mut all = Vec::new();
        for (place, value) in self.statement(round, at).given.iter().enumerate() {
            let place = Some(place);
            if allowed == Variation::Arrays && self.is_literal_array(value) {
                let operand = Operand::Literal(value);
                all.push(Given { place, operand });
                continue;
            }
            self.flatten(value, place, round, &mut all)?;
        }
        Ok(all)
    }

    fn flatten(
        &self,
        value: &'a Value,
        place: Option<usize>,
        round: usize,
        all: &mut Vec<Given<'a>>,
    ) -> Result<(), Fewer> {
        let fewer = || Fewer(round.max(1));
        if let Value::Reference(Reference::Array { contents, .. }) = value {
            if self.object(value).is_some_and(has_name) {
                return Err(fewer());
            }
            for element in contents.elements() {
                self.flatten(element, None, round, all)?;
            }
            return Ok(());
        }
        let Some(id) = value.identity() else {
            let operand = Operand::Literal(value);
            all.push(Given { place, operand });
            return Ok(());
        };
        let origin = self.objects.get(&id).map(|object| object.origin);
        let operand = match origin {
            Some(ObjectOrigin::Result(made) | ObjectOrigin::Thrown(made)) if made >= self.start => {
                let from = (made - self.start) / self.period;
                let at = (made - self.start) % self.period;
                match round - from.min(round) {
                    0 => Operand::Own(at),
                    1 if matches!(origin, Some(ObjectOrigin::Result(_))) => Operand::Last(at),
                    _ => return Err(fewer()),
                }
            }
            Some(_) => Operand::Outer(id, value),
            None => return Err(fewer()),
        };
        all.push(Given { place, operand });
        Ok(())
    }

    /// An array of literals without a name.
    fn is_literal_array(&self, value: &Value) -> bool {
        let Value::Reference(Reference::Array { contents, .. }) = value else {
            return false;
        };
        let mut elements = contents.elements().iter();
        let has_name = self.object(value).is_some_and(has_name);
        !has_name
            && matches!(contents, Contents::Elements(_))
            && elements.all(|element| element.identity().is_none() && !is_array(element))
    }

    /// Array literals differ from those of the first round only in their elements.
    fn frames_fit(&self, round: usize, at: usize, allowed: Variation) -> bool {
        let [one, other] = [0, round].map(|round| &self.statement(round, at).given);
        one.iter().zip(other).all(|(one, other)| {
            let is_whole = |value| allowed == Variation::Arrays && self.is_literal_array(value);
            is_whole(one) && is_whole(other) || has_equal_frame(one, other)
        })
    }

    fn relation<'v>(
        &self,
        at: usize,
        place: Option<usize>,
        values: &[Operand<'v>],
        allowed: Variation,
    ) -> Result<Relation<'v>, Fewer> {
        let all = |fits: &dyn Fn(&Operand<'v>) -> bool| {
            let wrong = values[1..].iter().position(|value| !fits(value));
            wrong.map_or(Ok(()), |wrong| Err(Fewer(1 + wrong)))
        };
        match (values[0], values[1]) {
            (first, Operand::Last(from)) => {
                all(&|it| matches!(it, Operand::Last(last) if *last == from))?;
                let (Operand::Outer(_, first) | Operand::Literal(first)) = first else {
                    return Err(Fewer(1));
                };
                // Later statements of a round have the result of the same round in the variable.
                if at > from {
                    return Err(Fewer(1));
                }
                Ok(Relation::Carried(from, first))
            }
            (Operand::Own(from), _) => {
                all(&|it| matches!(it, Operand::Own(own) if *own == from))?;
                Ok(Relation::Equal)
            }
            (Operand::Outer(id, _), _) => {
                all(&|it| matches!(it, Operand::Outer(other, _) if *other == id))?;
                Ok(Relation::Equal)
            }
            (Operand::Literal(first), _) => {
                let equal =
                    |it: &Operand<'v>| matches!(it, Operand::Literal(it) if is_equal(it, first));
                match all(&equal) {
                    Ok(()) => Ok(Relation::Equal),
                    Err(fewer) if allowed != Variation::Nothing => {
                        let varying = self.varying(at, place, values);
                        varying.map(Relation::Varying).ok_or(fewer)
                    }
                    Err(fewer) => Err(fewer),
                }
            }
            (Operand::Last(_), _) => Err(Fewer(1)),
        }
    }

    /// Literals that a variable can have in turn.
    fn varying(&self, at: usize, place: Option<usize>, values: &[Operand<'_>]) -> Option<Varying> {
        let place = place?;
        let statement = self.statement(0, at);
        let site = self.script().site(statement);
        let is_receiver = site.is_some_and(|site| site.has_receiver()) && place == 0;
        // A lambda captures no variable that changes; `instanceof` and casts take no variable.
        let names_class = matches!(
            statement.operator(),
            Some(Operator::IsInstance | Operator::Cast)
        );
        let takes_none = statement.lambda().is_some() || names_class;
        if is_receiver || takes_none {
            return None;
        }
        let values: Option<Vec<Value>> = values
            .iter()
            .map(|value| match value {
                Operand::Literal(value) => Some((*value).clone()),
                _ => None,
            })
            .collect();
        let values = values?;
        let class = self.literal_class(&values[0])?;
        let is_alike = values.iter().all(|value| {
            discriminant(value) == discriminant(&values[0])
                && self.literal_class(value) == Some(class)
        });
        is_alike.then(|| Varying {
            slots: vec![ValueSlot { at, place }],
            class: class.to_owned(),
            values,
        })
    }

    /// The loop-carried results, which get a variable before the loop.
    fn carried(
        &self,
        rounds: usize,
        first: &BTreeMap<usize, Value>,
    ) -> Result<Vec<Carried>, Fewer> {
        let end = self.number(rounds, 0);
        let mut carried = Vec::new();
        for at in 0..self.period {
            let made: Vec<Option<&Object<'_>>> =
                (0..rounds).map(|round| self.made(round, at)).collect();
            let is_used = made.iter().flatten().any(|object| !object.uses.is_empty());
            if !is_used {
                continue;
            }
            let class = made[0].map(|object| object.class);
            let mut escapes = false;
            for (round, object) in made.iter().enumerate() {
                // A variable has one type.
                let Some(object) = object.filter(|object| Some(object.class) == class) else {
                    return Err(Fewer(round));
                };
                for each in &object.uses {
                    if matches!(each.role, Role::Answer { .. }) {
                        return Err(Fewer(1));
                    }
                    if each.statement >= end {
                        if round + 1 < rounds {
                            return Err(Fewer(round + 1));
                        }
                        escapes = true;
                    }
                }
            }
            if !escapes && !first.contains_key(&at) {
                continue;
            }
            let is_fixed = |object: &&Object<'_>| {
                is_held(self.script(), object) || matches!(object.origin, ObjectOrigin::Thrown(_))
            };
            if made.iter().flatten().any(is_fixed) {
                return Err(Fewer(1));
            }
            // Two rounds are no reason to declare a variable that has no value yet.
            let is_next = match first.get(&at) {
                Some(_) => self.depends_on_last(at, at),
                None => rounds >= ROWS,
            };
            let first = first.get(&at).cloned();
            let class = class.unwrap_or_default();
            let fits = first.as_ref().is_none_or(|first| self.is_of(first, class));
            if !is_next || !fits {
                return Err(Fewer(1));
            }
            carried.push(Carried { at, first });
        }
        Ok(carried)
    }

    /// A statement depends on the result of another one in the round before. Otherwise the rounds of the
    /// driver began elsewhere.
    fn depends_on_last(&self, at: usize, last: usize) -> bool {
        let mut open = vec![at];
        let mut seen = BTreeSet::new();
        while let Some(at) = open.pop() {
            let operands = self.operands(1, at, Variation::Nothing);
            for given in operands.iter().flatten() {
                match given.operand {
                    Operand::Last(from) if from == last => return true,
                    Operand::Own(from) if seen.insert(from) => open.push(from),
                    _ => {}
                }
            }
        }
        false
    }

    /// The object that a statement makes, if it is new.
    fn made(&self, round: usize, at: usize) -> Option<&'a Object<'a>> {
        let number = self.number(round, at);
        let object = self.object(self.statement(round, at).end.value()?)?;
        let origin = object.origin;
        (origin == ObjectOrigin::Result(number) || origin == ObjectOrigin::Thrown(number))
            .then_some(object)
    }

    /// The class of a variable that can have a literal, wherever the literal is.
    fn literal_class(&self, value: &Value) -> Option<&'a str> {
        match value {
            Value::Reference(Reference::String(_)) => Some("java/lang/String"),
            Value::Reference(Reference::Boxed(inner)) => Some(inner.shape().class_name()),
            Value::Reference(Reference::Array { class, .. }) => {
                Some(self.script().class_name(*class))
            }
            Value::Reference(_) => None,
            scalar => Some(scalar.shape().class_name()),
        }
    }

    /// A value of this very class.
    fn is_of(&self, value: &Value, class: &str) -> bool {
        if let Some(object) = self.object(value) {
            return object.class == class;
        }
        match value {
            Value::Reference(Reference::Null) => Shape::of_class(class) == Shape::Reference,
            Value::Reference(Reference::Boxed(inner)) => class == inner.shape().box_name(),
            value => self.literal_class(value) == Some(class),
        }
    }
}

/// A lambda or a stand-in refers to the object, so its variable must not change.
pub(super) fn is_held(script: &Script, object: &Object<'_>) -> bool {
    object.uses.iter().any(|each| {
        let by = &script.statements[each.statement];
        matches!(by.action, Action::Lambda(_)) || matches!(each.role, Role::Answer { .. })
    })
}

/// Adds literals that differ between rounds, to those that differ in the same way.
fn add(all: &mut Vec<Varying>, varying: Varying) {
    let same = all.iter_mut().find(|known| {
        let mut pairs = known.values.iter().zip(&varying.values);
        known.class == varying.class && pairs.all(|(one, other)| is_equal(one, other))
    });
    match same {
        Some(known) => known.slots.extend(varying.slots),
        None => all.push(varying),
    }
}

/// An array literal that is used once is written where it is used; all other objects have a name.
fn has_name(object: &Object<'_>) -> bool {
    !matches!(object.origin, ObjectOrigin::Array(_)) || object.uses.len() > 1
}
