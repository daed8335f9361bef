//! Whether statements are rounds of a loop: what each is given, compared with what the same statement
//! is given in other rounds, and who uses what they make.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::value::Contents;
use culprit_model::{ObjectId, Reference, Value};

use crate::alike::{is_array, is_equal, is_framed_alike};
use crate::operators::Operator;
use crate::repeats::{Column, Kept, Repeat, Slot};
use crate::story::{Action, End, Maker, Object, Role, Story, identity};
use crate::types::Type;
use crate::values::is_same;

/// Rounds that a loop must have where literals differ, or where a variable has no value before it.
pub(crate) const ROWS: usize = 3;

/// Variables that a loop can change, and literals that can differ: more is hard to read.
const KEPT: usize = 3;
const COLUMNS: usize = 3;

/// Rounds of which only the keys are known to be the same.
pub(crate) struct Run<'a> {
    pub(crate) story: &'a Story<'a>,
    /// What each statement makes.
    pub(crate) made: &'a [Vec<ObjectId>],
    pub(crate) start: usize,
    pub(crate) period: usize,
}

/// What a statement is given, as seen from its round.
#[derive(Clone, Copy, Debug)]
enum Operand<'v> {
    /// A result of the same round, by its place in there.
    Own(usize),
    /// A result of the round before.
    Last(usize),
    /// What there is before the first round.
    Outer(ObjectId, &'v Value),
    Literal(&'v Value),
}

/// What may differ from round to round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Differing {
    Nothing,
    Literals,
    /// Literals, and arrays as a whole.
    Arrays,
}

/// How many rounds there are at most, where not all can be taken.
struct Fewer(usize);

impl Run<'_> {
    /// The longest run of rounds, of so many at most.
    pub(crate) fn longest(&self, mut rounds: usize, differing: Differing) -> Option<Repeat> {
        while rounds >= 2 {
            match self.repeat(rounds, differing) {
                Ok(found) => return Some(found),
                Err(Fewer(most)) => rounds = most.min(rounds - 1),
            }
        }
        None
    }

    fn action(&self, round: usize, at: usize) -> &Action<'_> {
        &self.story.actions[self.start + round * self.period + at]
    }

    fn end(&self, rounds: usize) -> usize {
        self.start + rounds * self.period
    }

    fn repeat(&self, rounds: usize, differing: Differing) -> Result<Repeat, Fewer> {
        let mut before: BTreeMap<usize, Value> = BTreeMap::new();
        let mut columns = Vec::new();
        for at in 0..self.period {
            self.ends(rounds, at)?;
            let mut all = Vec::new();
            for round in 0..rounds {
                all.push(self.operands(round, at, differing)?);
            }
            for round in 1..rounds {
                let fits = all[0].len() == all[round].len();
                if !fits || !self.frames_fit(round, at, differing) {
                    return Err(Fewer(round));
                }
            }
            for (number, (place, _)) in all[0].iter().enumerate() {
                let values: Vec<Operand<'_>> = all.iter().map(|all| all[number].1).collect();
                match self.slot(at, *place, &values, differing)? {
                    Same::Always => {}
                    Same::Next(from, first) => match before.get(&from) {
                        Some(known) if !is_same(known, first) => return Err(Fewer(1)),
                        _ => {
                            before.insert(from, first.clone());
                        }
                    },
                    Same::But(column) => add(&mut columns, column),
                }
            }
        }
        let of = columns.first().map(|column: &Column| column.of.clone());
        if columns.iter().any(|column| Some(&column.of) != of.as_ref()) {
            return Err(Fewer(1));
        }
        let differs = differing != Differing::Nothing;
        if differs && (columns.is_empty() || rounds < ROWS) {
            return Err(Fewer(1));
        }
        let kept = self.kept(rounds, &before)?;
        if kept.len() > KEPT || columns.len() > COLUMNS {
            return Err(Fewer(1));
        }
        Ok(Repeat {
            start: self.start,
            period: self.period,
            rounds,
            kept,
            columns,
        })
    }

    /// All rounds end alike. The last one may be that which fails.
    fn ends(&self, rounds: usize, at: usize) -> Result<(), Fewer> {
        let first = self.action(0, at).end;
        for round in 0..rounds {
            let action = self.action(round, at);
            let fails = action.place + 1 == self.story.actions.len();
            let alike = match (first, action.end) {
                (End::Returned(_), End::Returned(_)) => true,
                (End::Returned(_), _) => fails,
                (End::Threw(one), End::Threw(other)) => {
                    let class = |value| self.object(value).map(|object| object.class);
                    !fails && class(one) == class(other)
                }
                _ => false,
            };
            if !alike {
                return Err(Fewer(round));
            }
        }
        Ok(())
    }

    fn object(&self, value: &Value) -> Option<&Object<'_>> {
        self.story.objects.get(&identity(value)?)
    }

    /// What a statement is given, with arrays taken apart. What is no element has its place.
    fn operands(
        &self,
        round: usize,
        at: usize,
        differing: Differing,
    ) -> Result<Vec<(Option<usize>, Operand<'_>)>, Fewer> {
        let action = self.action(round, at);
        let mut all = Vec::new();
        for (place, value) in given(action).enumerate() {
            if differing == Differing::Arrays && self.is_literal_array(value) {
                all.push((Some(place), Operand::Literal(value)));
                continue;
            }
            self.flatten(value, Some(place), round, &mut all)?;
        }
        Ok(all)
    }

    fn flatten<'v>(
        &self,
        value: &'v Value,
        place: Option<usize>,
        round: usize,
        all: &mut Vec<(Option<usize>, Operand<'v>)>,
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
        let Some(id) = identity(value) else {
            all.push((place, Operand::Literal(value)));
            return Ok(());
        };
        let maker = self.story.objects.get(&id).map(|object| object.maker);
        let operand = match maker {
            Some(Maker::Result(made) | Maker::Thrown(made)) if made >= self.start => {
                let (of, at) = (
                    (made - self.start) / self.period,
                    (made - self.start) % self.period,
                );
                match round - of.min(round) {
                    0 => Operand::Own(at),
                    1 if matches!(maker, Some(Maker::Result(_))) => Operand::Last(at),
                    _ => return Err(fewer()),
                }
            }
            Some(_) => Operand::Outer(id, value),
            None => return Err(fewer()),
        };
        all.push((place, operand));
        Ok(())
    }

    /// An array that is written where it is used, of literals alone.
    fn is_literal_array(&self, value: &Value) -> bool {
        let Value::Reference(Reference::Array { contents, .. }) = value else {
            return false;
        };
        let mut elements = contents.elements().iter();
        let has_name = self.object(value).is_some_and(has_name);
        !has_name
            && matches!(contents, Contents::Elements(_))
            && elements.all(|element| identity(element).is_none() && !is_array(element))
    }

    /// Whether arrays that are written where they are used are the same but for their elements.
    fn frames_fit(&self, round: usize, at: usize, differing: Differing) -> bool {
        let mut pairs = given(self.action(0, at)).zip(given(self.action(round, at)));
        pairs.all(|(one, other)| {
            let is_whole = |value| differing == Differing::Arrays && self.is_literal_array(value);
            is_whole(one) && is_whole(other) || is_framed_alike(one, other)
        })
    }

    /// How the values at one place of the rounds are to each other.
    fn slot<'v>(
        &self,
        at: usize,
        place: Option<usize>,
        values: &[Operand<'v>],
        differing: Differing,
    ) -> Result<Same<'v>, Fewer> {
        let all = |fits: &dyn Fn(&Operand<'v>) -> bool, from: usize| {
            let wrong = values[from..].iter().position(|value| !fits(value));
            wrong.map_or(Ok(()), |wrong| Err(Fewer(from + wrong)))
        };
        match (values[0], values[1]) {
            (_, Operand::Last(from)) => {
                all(&|it| matches!(it, Operand::Last(last) if *last == from), 1)?;
                let first = match values[0] {
                    Operand::Outer(_, value) | Operand::Literal(value) => value,
                    _ => return Err(Fewer(1)),
                };
                // By then the result of the same round has taken its place.
                if at > from {
                    return Err(Fewer(1));
                }
                Ok(Same::Next(from, first))
            }
            (Operand::Own(from), _) => {
                all(&|it| matches!(it, Operand::Own(own) if *own == from), 1)?;
                Ok(Same::Always)
            }
            (Operand::Outer(id, _), _) => {
                all(
                    &|it| matches!(it, Operand::Outer(other, _) if *other == id),
                    1,
                )?;
                Ok(Same::Always)
            }
            (Operand::Literal(first), _) => {
                let equal =
                    |it: &Operand<'v>| matches!(it, Operand::Literal(it) if is_equal(it, first));
                match all(&equal, 1) {
                    Ok(()) => Ok(Same::Always),
                    Err(fewer) if differing != Differing::Nothing => {
                        self.column(at, place, values).map(Same::But).ok_or(fewer)
                    }
                    Err(fewer) => Err(fewer),
                }
            }
            (Operand::Last(_), _) => Err(Fewer(1)),
        }
    }

    /// Literals that a variable can hold.
    fn column(&self, at: usize, place: Option<usize>, values: &[Operand<'_>]) -> Option<Column> {
        let place = place?;
        let action = self.action(0, at);
        let is_receiver = action.site.has_receiver() && place == 0;
        // An operator is given types and names as well.
        let takes_more = matches!(
            Operator::of(action),
            Some(Operator::Lambda | Operator::Instance)
        );
        if is_receiver || takes_more {
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
        let of = self.literal_type(&values[0])?;
        let alike = values.iter().all(|value| {
            std::mem::discriminant(value) == std::mem::discriminant(&values[0])
                && self.literal_type(value).as_ref() == Some(&of)
        });
        let slots = vec![Slot { at, place }];
        alike.then_some(Column { slots, of, values })
    }

    /// Results that get a variable before the loop.
    fn kept(&self, rounds: usize, before: &BTreeMap<usize, Value>) -> Result<Vec<Kept>, Fewer> {
        let mut kept = Vec::new();
        for at in 0..self.period {
            let made: Vec<Option<(ObjectId, &Object<'_>)>> = (0..rounds)
                .map(|round| self.made(round, at))
                .collect::<Result<_, _>>()?;
            let is_used = made
                .iter()
                .flatten()
                .any(|(_, object)| !object.uses.is_empty());
            if !is_used {
                continue;
            }
            let first = made[0].map(|(_, object)| object);
            let mut escapes = false;
            for (round, made) in made.iter().enumerate() {
                // A variable has one type.
                let Some((_, object)) =
                    made.filter(|(_, it)| first.is_some_and(|first| first.class == it.class))
                else {
                    return Err(Fewer(round));
                };
                for each in &object.uses {
                    if matches!(each.role, Role::Answer(..)) {
                        return Err(Fewer(1));
                    }
                    if each.action >= self.end(rounds) {
                        if round + 1 < rounds {
                            return Err(Fewer(round + 1));
                        }
                        escapes = true;
                    }
                }
            }
            if !escapes && !before.contains_key(&at) {
                continue;
            }
            let objects = || made.iter().flatten().map(|(_, object)| *object);
            if objects().any(|object| {
                is_held(self.story, object) || matches!(object.maker, Maker::Thrown(_))
            }) {
                return Err(Fewer(1));
            }
            // Two rounds are no reason to declare something that has no value yet.
            let is_next = match before.get(&at) {
                Some(_) => self.is_made_of_last(at, at),
                None => rounds >= ROWS,
            };
            if !is_next {
                return Err(Fewer(1));
            }
            let before = before.get(&at).cloned();
            let class = first.map_or("", |first| first.class);
            if !before
                .as_ref()
                .is_none_or(|before| self.is_of(before, class))
            {
                return Err(Fewer(1));
            }
            kept.push(Kept { at, before });
        }
        Ok(kept)
    }

    /// Whether a statement has to do with what another one made in the round before: otherwise the
    /// rounds of the driver began elsewhere.
    fn is_made_of_last(&self, at: usize, last: usize) -> bool {
        let mut open = vec![at];
        let mut seen = BTreeSet::new();
        while let Some(at) = open.pop() {
            let operands = self.operands(1, at, Differing::Nothing);
            for (_, operand) in operands.iter().flatten() {
                match operand {
                    Operand::Last(from) if *from == last => return true,
                    Operand::Own(from) if seen.insert(*from) => open.push(*from),
                    _ => {}
                }
            }
        }
        false
    }

    /// What a statement makes, if that is new.
    fn made(&self, round: usize, at: usize) -> Result<Option<(ObjectId, &Object<'_>)>, Fewer> {
        let action = self.action(round, at);
        let ended = match action.end {
            End::Returned(Some(value)) | End::Threw(value) => identity(value),
            _ => None,
        };
        let mut found = None;
        for id in &self.made[action.place] {
            let object = &self.story.objects[id];
            if Some(*id) == ended {
                found = Some((*id, object));
            } else if !object.uses.is_empty() {
                return Err(Fewer(round.max(1)));
            }
        }
        Ok(found)
    }

    /// The type of a variable that can hold a literal wherever that stands.
    fn literal_type(&self, value: &Value) -> Option<Type> {
        match value {
            Value::Reference(Reference::String(_)) => Some(Type::class("java/lang/String")),
            Value::Reference(Reference::Boxed(inner)) => Some(Type::Primitive(inner.shape())),
            Value::Reference(Reference::Array { class, .. }) => {
                Some(Type::of_class(self.story.class(*class, 0).ok()?))
            }
            Value::Reference(_) => None,
            scalar => Some(Type::Primitive(scalar.shape())),
        }
    }

    /// Whether a value is of the very class.
    fn is_of(&self, value: &Value, class: &str) -> bool {
        if let Some(object) = self.object(value) {
            return object.class == class;
        }
        let of = Type::of_class(class);
        match value {
            Value::Reference(Reference::Null) => !matches!(of, Type::Primitive(_)),
            Value::Reference(Reference::Boxed(inner)) => of == Type::boxed(inner.shape()),
            value => self.literal_type(value) == Some(of),
        }
    }
}

/// How the values at one place of the rounds are to each other.
enum Same<'v> {
    Always,
    /// Each is a result of the round before, the first is this.
    Next(usize, &'v Value),
    But(Column),
}

/// Receiver and arguments, as the step has them.
fn given<'s>(action: &Action<'s>) -> impl Iterator<Item = &'s Value> + use<'s> {
    action.receiver.into_iter().chain(action.arguments)
}

/// Whether something keeps a variable that must not change.
pub(crate) fn is_held(story: &Story<'_>, object: &Object<'_>) -> bool {
    object.uses.iter().any(|each| {
        let by = &story.actions[each.action];
        Operator::of(by) == Some(Operator::Lambda) || matches!(each.role, Role::Answer(..))
    })
}

/// A column that is like one before is the same.
fn add(columns: &mut Vec<Column>, column: Column) {
    let same = columns.iter_mut().find(|known| {
        let mut pairs = known.values.iter().zip(&column.values);
        known.of == column.of && pairs.all(|(one, other)| is_equal(one, other))
    });
    match same {
        Some(known) => known.slots.extend(column.slots),
        None => columns.push(column),
    }
}

/// One with a name has its contents brought up to date before it is used.
fn has_name(object: &Object<'_>) -> bool {
    !matches!(object.maker, Maker::Array(_)) || object.uses.len() > 1
}
