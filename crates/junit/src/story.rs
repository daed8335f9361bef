//! A scenario read as a row of statements: what is called with what, how it ended, and for each
//! object where it comes from and what it is used for.

use std::collections::BTreeMap;

use culprit_model::scenario::nesting;
use culprit_model::{EventKind, ObjectId, Reference, Scenario, Site, Step, TypeId, Value};

use crate::error::Error;
use crate::types::{self, Type};

/// The statements of a scenario and the objects in it.
pub(crate) struct Story<'s> {
    pub(crate) scenario: &'s Scenario,
    pub(crate) actions: Vec<Action<'s>>,
    pub(crate) objects: BTreeMap<ObjectId, Object<'s>>,
    /// Of objects that stand-ins get, the types of the parameters.
    pub(crate) given: BTreeMap<ObjectId, Type>,
    /// Questions of the code that the test leaves to the real objects.
    pub(crate) left_alone: usize,
}

/// A call, or an access of a field.
pub(crate) struct Action<'s> {
    /// Its place among the statements.
    pub(crate) place: usize,
    pub(crate) step: usize,
    pub(crate) kind: Kind,
    pub(crate) site: &'s Site,
    pub(crate) receiver: Option<&'s Value>,
    pub(crate) arguments: &'s [Value],
    pub(crate) end: End<'s>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Call,
    Read,
    Write,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum End<'s> {
    Returned(Option<&'s Value>),
    Threw(&'s Value),
    /// Nobody saw it end.
    Open,
}

/// Where an object comes from, and what it is used for.
pub(crate) struct Object<'s> {
    /// The name of its run-time class.
    pub(crate) class: &'s str,
    pub(crate) maker: Maker<'s>,
    pub(crate) uses: Vec<Use>,
    /// What it was asked, if it is a stand-in, in order.
    pub(crate) asked: Vec<Asked<'s>>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Maker<'s> {
    /// The statement with this place returned or constructed it.
    Result(usize),
    /// The statement with this place threw it.
    Thrown(usize),
    /// An array that the test makes.
    Array(&'s Value),
    /// Nobody: something has to stand in for it.
    StandIn,
    /// The code gave it to a stand-in.
    Captured,
}

/// One use of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Use {
    /// The statement that it is used in; for answers the one in which the question is asked.
    pub(crate) action: usize,
    pub(crate) role: Role,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Receiver,
    /// The place of the argument, and the type that is wanted there.
    Argument(usize, Type),
    /// An element of an array, or what a field is set to.
    Stored(Type),
    /// What a stand-in answers.
    Answer(ObjectId, Type),
}

/// A question to a stand-in, and its answer.
pub(crate) struct Asked<'s> {
    pub(crate) step: usize,
    pub(crate) site: &'s Site,
    pub(crate) answer: Answer<'s>,
    /// Arguments, by place, that nobody in the test had before.
    pub(crate) captured: Vec<(usize, ObjectId)>,
    /// Arrays among the arguments, by place, as the answer leaves them.
    pub(crate) filled: Vec<(usize, &'s Value)>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Answer<'s> {
    Return(Option<&'s Value>),
    Throw(&'s Value),
}

/// Whether a value has a name, which primitive values have where a later call is given them.
fn is_variable(value: &Value) -> bool {
    matches!(value, Value::Reference(Reference::Object { .. }))
}

impl<'s> Story<'s> {
    pub(crate) fn read(scenario: &'s Scenario) -> Result<Story<'s>, Error> {
        let mut story = Story {
            scenario,
            actions: Vec::new(),
            objects: BTreeMap::new(),
            given: BTreeMap::new(),
            left_alone: 0,
        };
        let steps = &scenario.steps;
        for (place, step) in steps.iter().enumerate() {
            if step.thread != steps[0].thread {
                return Err(Error::Threads { step: place });
            }
            if step.depth > 0 && step.kind == EventKind::IncomingCall {
                return Err(Error::Callback { step: place });
            }
        }
        for place in nesting::statements(steps) {
            story.action(place)?;
        }
        if story.actions.is_empty() {
            return Err(Error::Empty);
        }
        Ok(story)
    }

    /// The name of a type in the tables.
    pub(crate) fn class(&self, id: TypeId, step: usize) -> Result<&'s str, Error> {
        let found = self.scenario.tables.class(id);
        found
            .map(|def| def.name.as_str())
            .ok_or(Error::Tables { step })
    }

    fn site(&self, place: usize) -> Result<&'s Site, Error> {
        let step = &self.scenario.steps[place];
        let site = self.scenario.tables.site(step.site);
        let site = site.ok_or(Error::Tables { step: place })?;
        if site.shapes(step.kind).is_some_and(|shapes| {
            shapes.len() <= step.values.len()
                && step
                    .values
                    .iter()
                    .zip(shapes)
                    .all(|(v, s)| v.shape() == s || is_variable(v))
        }) {
            Ok(site)
        } else {
            Err(Error::Values { step: place })
        }
    }

    fn action(&mut self, place: usize) -> Result<(), Error> {
        let step: &'s Step = &self.scenario.steps[place];
        let site = self.site(place)?;
        let number = self.actions.len();
        let kind = match step.kind {
            EventKind::IncomingRead => Kind::Read,
            EventKind::IncomingWrite => Kind::Write,
            _ => Kind::Call,
        };
        let (receiver, rest) = match step.values.split_first() {
            Some((first, rest)) if site.has_receiver() => (Some(first), rest),
            _ => (None, step.values.as_slice()),
        };
        if let Some(receiver) = receiver {
            self.used(receiver, number, Role::Receiver, place)?;
        }
        let (arguments, mut end) = match kind {
            Kind::Call => {
                let wanted = types::parameters(&site.target.descriptor);
                for (at, (value, wanted)) in rest.iter().zip(wanted).enumerate() {
                    self.used(value, number, Role::Argument(at, wanted), place)?;
                }
                (rest, End::Open)
            }
            Kind::Write => {
                let wanted = Type::of(&site.target.descriptor);
                self.used(&rest[0], number, Role::Stored(wanted), place)?;
                (rest, End::Returned(None))
            }
            Kind::Read => (&[] as &[Value], End::Returned(rest.first())),
        };
        if kind == Kind::Call {
            let until = nesting::end_of(&self.scenario.steps, place);
            self.within(place, until, number)?;
            if let Some(until) = until {
                let step = &self.scenario.steps[until];
                self.site(until)?;
                end = match step.kind {
                    EventKind::IncomingThrow => End::Threw(&step.values[0]),
                    _ => End::Returned(step.values.first()),
                };
            }
        }
        match end {
            End::Returned(Some(value)) => self.made(value, Maker::Result(number), place)?,
            End::Threw(value) => self.made(value, Maker::Thrown(number), place)?,
            _ => {}
        }
        self.actions.push(Action {
            place: number,
            step: place,
            kind,
            site,
            receiver,
            arguments,
            end,
        });
        Ok(())
    }

    /// What happens in a call: objects under construction, questions to stand-ins.
    fn within(&mut self, call: usize, end: Option<usize>, action: usize) -> Result<(), Error> {
        let steps: &'s [Step] = &self.scenario.steps;
        let until = end.unwrap_or(steps.len());
        for (place, step) in steps.iter().enumerate().take(until).skip(call + 1) {
            match step.kind {
                EventKind::Constructed if step.depth == 1 => {
                    if let Some(value) = step.values.first() {
                        self.made(value, Maker::Result(action), place)?;
                    }
                }
                EventKind::OutgoingCall => self.question(place, action)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn question(&mut self, place: usize, action: usize) -> Result<(), Error> {
        let steps = &self.scenario.steps;
        let site = self.site(place)?;
        let step: &'s Step = &steps[place];
        let asked = step.values.first().filter(|_| site.has_receiver());
        let stand_in = asked
            .and_then(identity)
            .filter(|id| matches!(self.objects.get(id), Some(o) if o.maker == Maker::StandIn));
        let end = nesting::end_of(steps, place);
        let (Some(id), Some(end)) = (stand_in, end) else {
            self.left_alone += 1;
            return Ok(());
        };
        let mut captured = Vec::new();
        for (at, value) in step.values[1..].iter().enumerate() {
            if let Some(id) = identity(value).filter(|id| !self.objects.contains_key(id)) {
                captured.push((at, id));
                let wanted = types::parameters(&site.target.descriptor);
                let given = wanted.get(at).cloned().unwrap_or_else(Type::object);
                self.made(value, Maker::Captured, place)?;
                self.given.insert(id, given);
            }
        }
        self.site(end)?;
        let last = &steps[end];
        let answer = match last.kind {
            EventKind::OutgoingThrow => Answer::Throw(&last.values[0]),
            _ => Answer::Return(last.values.first()),
        };
        let wanted = match answer {
            Answer::Throw(_) => Some(Type::class("java/lang/Throwable")),
            Answer::Return(_) => types::result(&site.target.descriptor),
        };
        if let (Answer::Throw(value) | Answer::Return(Some(value)), Some(wanted)) = (answer, wanted)
        {
            self.used(value, action, Role::Answer(id, wanted), end)?;
        }
        let filled = (place + 1..end)
            .filter(|within| steps[*within].kind == EventKind::ArrayContents)
            .filter_map(|within| {
                let array = steps[within].values.first()?;
                let same = |value: &Value| identity(value) == identity(array);
                Some((step.values[1..].iter().position(same)?, array))
            })
            .collect();
        if let Some(object) = self.objects.get_mut(&id) {
            object.asked.push(Asked {
                step: place,
                site,
                answer,
                captured,
                filled,
            });
        }
        Ok(())
    }

    /// A value that the code gives away: from now on the test has it.
    fn made(&mut self, value: &'s Value, maker: Maker<'s>, step: usize) -> Result<(), Error> {
        if let Some((id, class)) = identity(value).zip(class_of(value)) {
            let class = self.class(class, step)?;
            self.objects.entry(id).or_insert_with(|| Object {
                class,
                maker,
                uses: Vec::new(),
                asked: Vec::new(),
            });
        }
        Ok(())
    }

    /// A value that the test must have.
    fn used(
        &mut self,
        value: &'s Value,
        action: usize,
        role: Role,
        step: usize,
    ) -> Result<(), Error> {
        if let Value::Reference(Reference::Array {
            class, contents, ..
        }) = value
        {
            let component = match Type::of_class(self.class(*class, step)?) {
                Type::Array(component) => *component,
                other => other,
            };
            for element in contents.elements() {
                self.used(element, action, Role::Stored(component.clone()), step)?;
            }
            self.made(value, Maker::Array(value), step)?;
        } else {
            self.made(value, Maker::StandIn, step)?;
        }
        if let Some(object) = identity(value).and_then(|id| self.objects.get_mut(&id)) {
            object.uses.push(Use { action, role });
        }
        Ok(())
    }
}

/// The object that a value is, if it is one with an identity.
pub(crate) fn identity(value: &Value) -> Option<ObjectId> {
    match value {
        Value::Reference(Reference::Object { id, .. }) => Some(*id),
        Value::Reference(Reference::Array { id, .. }) if id.0 != 0 => Some(*id),
        _ => None,
    }
}

fn class_of(value: &Value) -> Option<TypeId> {
    match value {
        Value::Reference(Reference::Object { class, .. } | Reference::Array { class, .. }) => {
            Some(*class)
        }
        _ => None,
    }
}
