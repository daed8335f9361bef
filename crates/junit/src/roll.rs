//! A scenario in which rounds are written once: that of the last round stays, and variables of before
//! the loop have what goes from one round to the next.

use std::collections::BTreeMap;

use culprit_model::scenario::nesting;
use culprit_model::site::TypeDef;
use culprit_model::value::Contents;
use culprit_model::{
    EventKind, Member, ObjectId, Reference, Scenario, Site, SiteId, SiteKind, Step, ThreadId,
    TypeId, Value,
};

use crate::loops::{Head, Loop, Loops};
use crate::operators::{self, OWNER};
use crate::repeats::{Column, Kept, Repeat};
use crate::rounds::is_held;
use crate::story::{Action, End, Kind, Maker, Story, identity};
use crate::types::{Type, default_value, result};

/// A scenario with loops.
pub(crate) struct Rolled {
    pub(crate) scenario: Scenario,
    pub(crate) loops: Loops,
    /// For each statement its place in the straight scenario. Those that are there for a loop have none.
    pub(crate) origins: Vec<Option<usize>>,
}

impl Rolled {
    /// A scenario without loops.
    pub(crate) fn straight(scenario: &Scenario) -> Rolled {
        let statements = nesting::statements(&scenario.steps).count();
        Rolled {
            scenario: scenario.clone(),
            loops: Loops::default(),
            origins: (0..statements).map(Some).collect(),
        }
    }

    /// With one more loop. The story is that of the scenario.
    pub(crate) fn roll(&self, story: &Story<'_>, repeat: &Repeat) -> Rolled {
        let mut work = Work {
            scenario: Scenario {
                tables: self.scenario.tables.clone(),
                steps: Vec::new(),
            },
            origins: Vec::new(),
            renamed: BTreeMap::new(),
            thread: self.scenario.steps[0].thread,
            next: story.objects.keys().map(|id| id.0).max().unwrap_or(0) + 1,
        };
        let end = repeat.start + repeat.rounds * repeat.period;
        let last = end - repeat.period;
        work.copy(self, 0..repeat.start);
        let mut assigned = Vec::new();
        for kept in &repeat.kept {
            let id = self.variable(story, repeat, kept, &mut work);
            assigned.push((kept.at, id));
        }
        let start = work.origins.len();
        let head = work.head(repeat);
        let first = work.origins.len();
        work.copy(self, last..end);
        work.fill(first, repeat, &head);
        let body = start..work.origins.len();
        work.copy(self, end..self.origins.len());

        // Other loops are before this one, after it or around it.
        let moved = |place: usize| match place <= repeat.start {
            true => place,
            false => place + body.end - end,
        };
        let mut loops = self.loops.clone();
        for each in &mut loops.all {
            each.body = moved(each.body.start)..moved(each.body.end);
        }
        for (place, _) in &mut loops.assigned {
            *place = moved(*place);
        }
        let here = assigned.into_iter().map(|(at, id)| (first + at, id));
        loops.assigned.extend(here);
        loops.all.push(Loop {
            body,
            rounds: repeat.rounds,
            head,
        });
        Rolled {
            scenario: work.scenario,
            loops,
            origins: work.origins,
        }
    }

    /// The variable for a result that outlives its round. What the first round uses gives its own, where
    /// nobody needs that any more.
    fn variable(
        &self,
        story: &Story<'_>,
        repeat: &Repeat,
        kept: &Kept,
        work: &mut Work,
    ) -> ObjectId {
        let result = |round: usize| {
            let action = &story.actions[repeat.start + round * repeat.period + kept.at];
            match action.end {
                End::Returned(Some(value)) => Some(value),
                _ => None,
            }
        };
        let last = result(repeat.rounds - 1);
        let before = result(repeat.rounds - 2);
        let action = &story.actions[repeat.start + kept.at];
        let of = declared(story, action);
        let own = kept.before.as_ref();
        let own = own.filter(|own| self.is_taken_over(story, repeat, kept, own, &of));
        let variable = own
            .or(last)
            .cloned()
            .unwrap_or(Value::Reference(Reference::Null));
        for value in [last, before].into_iter().flatten() {
            if let Some(id) = identity(value) {
                work.renamed.insert(id, variable.clone());
            }
        }
        if own.is_none() {
            let first = kept.before.clone().unwrap_or_else(|| default_value(&of));
            let of = of.descriptor();
            work.add(
                "start",
                &format!("({of}){of}"),
                vec![first],
                variable.clone(),
            );
        }
        identity(&variable).unwrap_or(ObjectId(0))
    }

    /// Whether the variable of what the first round uses can be that of the results.
    fn is_taken_over(
        &self,
        story: &Story<'_>,
        repeat: &Repeat,
        kept: &Kept,
        own: &Value,
        of: &Type,
    ) -> bool {
        let Some(id) = identity(own) else {
            return false;
        };
        let object = &story.objects[&id];
        let Maker::Result(place) = object.maker else {
            return false;
        };
        let action = &story.actions[place];
        let is_returned =
            matches!(action.end, End::Returned(Some(value)) if identity(value) == Some(id));
        let round = repeat.start..repeat.start + repeat.period;
        // All that the first round does with it, later ones do with what comes of it.
        let uses = |id: ObjectId, round: std::ops::Range<usize>| {
            let uses = story
                .objects
                .get(&id)
                .map_or(&[][..], |object| &object.uses);
            uses.iter()
                .filter(|each| round.contains(&each.action))
                .count()
        };
        let made = match story.actions[repeat.start + kept.at].end {
            End::Returned(Some(value)) => identity(value),
            _ => None,
        };
        let next = round.end..round.end + repeat.period;
        let carried = made.map_or(0, |made| uses(made, next));
        let others = repeat
            .kept
            .iter()
            .filter(|it| it.before.as_ref().and_then(identity) == Some(id));
        is_returned
            && others.count() == 1
            && uses(id, round.clone()) == carried
            && uses(id, round.end..usize::MAX) == 0
            && !is_held(story, object)
            && !matches!(action.kind, Kind::Write)
            && declared(story, action) == *of
            && self.loops.are_together(place, repeat.start)
            && self.loops.column(id).is_none()
            && self.loops.all.iter().all(|each| !matches!(each.head, Head::Count(head, _) | Head::Each(head, _) if head == id))
    }
}

/// The type that a statement says its result has.
fn declared(story: &Story<'_>, action: &Action<'_>) -> Type {
    let target = &action.site.target;
    if let Some(given) = operators::given(action, story) {
        return given;
    }
    match action.kind {
        Kind::Call if action.site.is_constructor() => Type::class(&target.owner),
        Kind::Call => result(&target.descriptor).unwrap_or_else(Type::object),
        _ => Type::of(&target.descriptor),
    }
}

/// A scenario on the way.
struct Work {
    scenario: Scenario,
    origins: Vec<Option<usize>>,
    renamed: BTreeMap<ObjectId, Value>,
    thread: ThreadId,
    /// The next object that nobody has.
    next: u64,
}

impl Work {
    /// Adds statements as they are, but for their names.
    fn copy(&mut self, from: &Rolled, places: std::ops::Range<usize>) {
        let steps = &from.scenario.steps;
        let starts: Vec<usize> = nesting::statements(steps).collect();
        let at = |place: usize| starts.get(place).copied().unwrap_or(steps.len());
        let begin = if places.start == 0 {
            0
        } else {
            at(places.start)
        };
        for step in &steps[begin..at(places.end)] {
            let mut step = step.clone();
            for value in &mut step.values {
                rename(value, &self.renamed);
            }
            self.scenario.steps.push(step);
        }
        self.origins.extend_from_slice(&from.origins[places]);
    }

    /// Adds a statement of the loop itself, which gives a value.
    fn add(&mut self, name: &str, descriptor: &str, values: Vec<Value>, gives: Value) {
        let site = self.site(name, descriptor);
        let thread = self.thread;
        let step = |kind, values, depth| Step {
            thread,
            kind,
            site,
            values,
            depth,
            origin: None,
        };
        self.scenario
            .steps
            .push(step(EventKind::IncomingCall, values, 0));
        self.scenario
            .steps
            .push(step(EventKind::IncomingReturn, vec![gives], 1));
        self.origins.push(None);
    }

    fn site(&mut self, name: &str, descriptor: &str) -> SiteId {
        let sites = &mut self.scenario.tables.sites;
        let id = SiteId(sites.iter().map(|site| site.id.0).max().unwrap_or(0) + 1);
        sites.insert(Site {
            id,
            kind: SiteKind::Entry,
            class: OWNER.to_owned(),
            method: name.to_owned(),
            descriptor: descriptor.to_owned(),
            line: None,
            source: None,
            target: Member {
                owner: OWNER.to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
            },
            is_static: true,
        });
        id
    }

    /// The statements that give what differs from round to round.
    fn head(&mut self, repeat: &Repeat) -> Head {
        let ids: Vec<ObjectId> = repeat
            .columns
            .iter()
            .map(|column| self.column(column))
            .collect();
        match (repeat.columns.as_slice(), ids.as_slice()) {
            ([], _) => Head::Nothing,
            ([column], [id]) => match first_of_count(&column.values) {
                Some(first) => Head::Count(*id, first),
                None => Head::Each(*id, column.values.clone()),
            },
            (columns, ids) => {
                let values = columns.iter().map(|column| column.values.clone());
                Head::Rows(ids.iter().copied().zip(values).collect())
            }
        }
    }

    fn column(&mut self, column: &Column) -> ObjectId {
        let id = ObjectId(self.next);
        self.next += 1;
        let class = self.class(&column.of);
        let value = Value::Reference(Reference::Object { id, class });
        self.add(
            "each",
            &format!("(){}", column.of.descriptor()),
            Vec::new(),
            value,
        );
        id
    }

    fn class(&mut self, of: &Type) -> TypeId {
        let types = &mut self.scenario.tables.types;
        if let Some(found) = types.iter().find(|def| Type::of_class(&def.name) == *of) {
            return found.id;
        }
        let id = TypeId(types.iter().map(|def| def.id.0).max().unwrap_or(0) + 1);
        types.insert(TypeDef {
            id,
            name: of.class_name(),
            loader: 0,
            constants: Vec::new(),
            fields: Vec::new(),
        });
        id
    }

    /// Puts what differs into the statements of the round, the first of which has this place.
    fn fill(&mut self, first: usize, repeat: &Repeat, head: &Head) {
        let ids: Vec<ObjectId> = match head {
            Head::Nothing => Vec::new(),
            Head::Count(id, _) | Head::Each(id, _) => vec![*id],
            Head::Rows(columns) => columns.iter().map(|(id, _)| *id).collect(),
        };
        let starts: Vec<usize> = nesting::statements(&self.scenario.steps).collect();
        for (column, id) in repeat.columns.iter().zip(ids) {
            let class = self.class(&column.of);
            for slot in &column.slots {
                let step = &mut self.scenario.steps[starts[first + slot.at]];
                step.values[slot.place] = Value::Reference(Reference::Object { id, class });
            }
        }
    }
}

/// The first of some numbers, if each is one more than that before.
fn first_of_count(values: &[Value]) -> Option<i32> {
    let numbers = values.iter().map(|value| match value {
        Value::Int(number) => Some(*number),
        Value::Reference(Reference::Boxed(inner)) => match **inner {
            Value::Int(number) => Some(number),
            _ => None,
        },
        _ => None,
    });
    let numbers = numbers.collect::<Option<Vec<i32>>>()?;
    let first = *numbers.first()?;
    let end = first.checked_add(i32::try_from(numbers.len()).ok()?)?;
    numbers.into_iter().eq(first..end).then_some(first)
}

fn elements(contents: &mut Contents) -> &mut [Value] {
    match contents {
        Contents::Elements(elements) => elements,
        Contents::Part { known, .. } => elements(known),
        Contents::Unknown | Contents::Blob(_) => &mut [],
    }
}

fn rename(value: &mut Value, names: &BTreeMap<ObjectId, Value>) {
    if let Some(name) = identity(value).and_then(|id| names.get(&id)) {
        *value = name.clone();
    } else if let Value::Reference(Reference::Array { contents, .. }) = value {
        for element in elements(contents) {
            rename(element, names);
        }
    }
}

#[cfg(test)]
mod tests;
