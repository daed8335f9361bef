//! The script of a recording: every outermost call into the observed code up to the one that failed,
//! and before it whatever makes the objects of the library that it was given.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use culprit_model::observe::is_jdk_name;
use culprit_model::owner::is_of_language;
use culprit_model::script::{Action, Builder, Grouper, StatementEnd};
use culprit_model::{
    Catcher, Caught, EventIndex, EventKind, Failure, ObjectId, Reference, Step, Tables, ThreadId,
    TypeId, Value,
};
use culprit_replay::{Blobs as _, Lifted, lift};
use culprit_trace::Recording;

use crate::clojure;
use crate::recipe::{self, RecipeSources, RecordedState};
use crate::surroundings::{self, Surroundings};
use crate::{Error, Script, Statement};

/// Bytes of the calls of a script. A small file can tell of any number of calls.
const MOST_BYTES: usize = 1 << 30;

/// The script of a recording.
#[derive(Clone, Debug)]
pub struct Extracted {
    pub script: Script,
    /// Classes of the program whose objects are used and not made: they were not observed.
    pub missing: BTreeSet<String>,
    /// Those of them whose objects came from outside. If they are observed, no constructor made them, as with mocks.
    pub unmade: BTreeSet<String>,
    /// Exceptions that calls of other threads than the last one ended with. Whatever runs those threads caught them.
    pub of_other_threads: BTreeSet<ObjectId>,
}

impl Extracted {
    /// The first call of some statements of the script that ended with an exception in another thread, and the class of
    /// that, both in words.
    ///
    /// A test that finds a wrong result after such a call is about the exception. If the program is fixed, the call returns, and
    /// whatever made it goes on with calls that were never recorded.
    pub fn thrown_unseen(&self, reduced: &Script) -> Option<UnseenException> {
        let mut statements = reduced.statements.iter();
        statements.find_map(|statement| {
            let Value::Reference(Reference::Object { id, class }) = statement.thrown()? else {
                return None;
            };
            let target = reduced.target(statement)?;
            let owner = target.owner.replace('/', ".");
            self.of_other_threads.contains(id).then(|| UnseenException {
                call: format!("{owner}.{}", target.name),
                class: reduced.class_name(*class).replace('/', "."),
            })
        })
    }
}

/// An exception that left the program in a thread that nobody asked for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnseenException {
    /// The method that ended with it.
    pub call: String,
    pub class: String,
}

/// Makes the script that ends with the call that failed.
pub fn extract(recording: &Recording, failure: &Failure) -> Result<Extracted, Error> {
    let mut caught = recording.caught().iter();
    let end = match caught.find(|caught| caught.failure == *failure) {
        Some(caught) => escape(recording, caught)?,
        None => None,
    };
    extract_until(recording, failure, end)
}

/// The event with which an exception that was caught left the observed code. None where it is not known when it was
/// thrown: then the exception itself tells.
pub fn escape(recording: &Recording, caught: &Caught) -> Result<Option<EventIndex>, Error> {
    if caught.catcher == Catcher::Unknown || !caught.failure.exceptions.is_empty() {
        return Ok(None);
    }
    let (thread, ordinal) = (caught.failure.thread, caught.ordinal);
    let mut is_first = true;
    for head in recording.heads() {
        let head = head?;
        if head.thread != thread || head.ordinal < ordinal {
            continue;
        }
        // Observed code had no part in it.
        if is_first && head.depth == 0 {
            return Err(Error::NoFailure);
        }
        is_first = false;
        match (head.kind, head.depth) {
            (EventKind::IncomingThrow, 1) => return Ok(Some(head.index)),
            (EventKind::IncomingReturn, 1) => break,
            _ => {}
        }
    }
    match is_first {
        true => Err(Error::NoFailure),
        false => Err(Error::CaughtInside(caught.failure.place.clone())),
    }
}

/// Makes the script that ends with an event, or else with the call that failed.
pub fn extract_until(
    recording: &Recording,
    failure: &Failure,
    end: Option<EventIndex>,
) -> Result<Extracted, Error> {
    let mut calls = OutermostCalls::of(recording)?;
    let mut builder = calls.builder();
    match end {
        Some(end) => {
            let is_end = |step: &Step| step.origin == Some(end) && is_end(step.kind);
            let last = calls.steps.iter().position(is_end);
            calls.steps.truncate(last.ok_or(Error::NoFailure)? + 1);
        }
        None => end_at_failure(&mut calls.steps, recording, failure, &mut builder)?,
    }
    calls.script(builder)
}

/// The outermost calls into the observed code of a recording, with the answers that they got.
pub(crate) struct OutermostCalls<'r> {
    recording: &'r Recording,
    pub(crate) lifted: Lifted<'r>,
    pub(crate) steps: Vec<Step>,
    /// The largest number of an object.
    largest: ObjectId,
    /// Objects that came from outside, and were not made by observed code before.
    foreign: BTreeSet<ObjectId>,
}

impl<'r> OutermostCalls<'r> {
    pub(crate) fn of(recording: &'r Recording) -> Result<OutermostCalls<'r>, Error> {
        let lifted = lift(recording);
        let mut steps = Vec::new();
        let mut largest = 0;
        let mut memory = 0;
        let mut nested = Nested::new(&lifted.tables);
        let mut foreign = BTreeSet::new();
        let mut known: BTreeSet<ObjectId> = BTreeSet::new();
        for step in lifted.steps() {
            let step = step?;
            let comes_in = comes_in(&step, &lifted.tables);
            for value in &step.values {
                value.each_reference(&mut |reference| {
                    if let Reference::Object { id, .. } | Reference::Array { id, .. } = reference {
                        largest = largest.max(id.0);
                        if known.insert(*id) && comes_in {
                            foreign.insert(*id);
                        }
                    }
                });
            }
            let is_outermost = step.depth == 0 || step.depth == 1 && is_end(step.kind);
            if is_outermost || nested.belongs(&step) {
                let values: usize = step.values.iter().map(Value::memory).sum();
                memory += size_of::<Step>() + values;
                if memory > MOST_BYTES {
                    return Err(Error::TooLarge);
                }
                steps.push(step);
            }
        }
        Ok(OutermostCalls {
            recording,
            lifted,
            steps,
            largest: ObjectId(largest),
            foreign,
        })
    }

    /// The script of the calls up to and with the one that ends with a step.
    pub(crate) fn script_until(&self, last: usize) -> Result<Extracted, Error> {
        let part = OutermostCalls {
            recording: self.recording,
            lifted: lift(self.recording),
            steps: self.steps[..=last].to_vec(),
            largest: self.largest,
            foreign: self.foreign.clone(),
        };
        let builder = part.builder();
        part.script(builder)
    }

    fn builder(&self) -> Builder {
        Builder::with(self.lifted.tables.clone(), self.largest)
    }

    /// The script of the calls.
    fn script(self, builder: Builder) -> Result<Extracted, Error> {
        let lifted = &self.lifted;
        let mut writer = Writer {
            lifted,
            builder,
            statements: Vec::new(),
            states: BTreeMap::new(),
            made: BTreeSet::new(),
            foreign: &self.foreign,
            grouper: Grouper::default(),
            missing: BTreeSet::new(),
            unmade: BTreeSet::new(),
        };
        let surroundings = Surroundings {
            start: self.recording.start(),
            input: None,
        };
        writer.statements = surroundings::statements(&mut writer.builder, surroundings);
        let prelude = writer.statements.len();
        let last = self.steps.len().saturating_sub(1);
        let of_other_threads = thrown_in_other_threads(&self.steps);
        for (number, step) in self.steps.into_iter().enumerate() {
            writer.add(step, number == last)?;
        }
        let mut script = Script {
            prelude,
            ..writer.builder.script(writer.statements)
        };
        let mut blobs = BTreeMap::new();
        for id in script.uses().blobs {
            if let Some(bytes) = lifted.blob(id)? {
                blobs.insert(id, bytes);
            }
        }
        Arc::make_mut(&mut script.tables).blobs.extend(blobs);
        Ok(Extracted {
            script: clojure::by_vars(script, self.recording),
            missing: writer.missing,
            unmade: writer.unmade,
            of_other_threads,
        })
    }
}

/// The exceptions that calls ended with in other threads than that of the last step.
fn thrown_in_other_threads(steps: &[Step]) -> BTreeSet<ObjectId> {
    let last = steps.last().map(|step| step.thread);
    let others = steps.iter().filter(|step| {
        Some(step.thread) != last && step.kind == EventKind::IncomingThrow && step.depth == 1
    });
    let thrown = others.filter_map(|step| match step.values.first() {
        Some(Value::Reference(Reference::Object { id, .. })) => Some(*id),
        _ => None,
    });
    thrown.collect()
}

/// Cuts off what came after the call that failed.
fn end_at_failure(
    steps: &mut Vec<Step>,
    recording: &Recording,
    failure: &Failure,
    builder: &mut Builder,
) -> Result<(), Error> {
    let thrown = |step: &Step| match (step.kind, step.values.first()) {
        (EventKind::IncomingThrow, Some(Value::Reference(Reference::Object { id, class }))) => {
            Some((*id, *class))
        }
        _ => None,
    };
    let same = |step: &Step| thrown(step).is_some_and(|(id, _)| failure.exceptions.contains(&id));
    // Where memory or the stack was at its end the exception may have got no name.
    let class = failure.class.replace('.', "/");
    let is_alike = |step: &Step| {
        let of = thrown(step).and_then(|(_, of)| recording.types().get(of.0));
        of.is_some_and(|of| of.name == class)
    };
    let failing = steps.iter().rposition(same);
    if let Some(failing) = failing.or_else(|| steps.iter().rposition(is_alike)) {
        steps.truncate(failing + 1);
        return Ok(());
    }
    // Or nobody saw it leave.
    let own = |step: &Step| step.thread == failure.thread;
    let ended = steps
        .iter()
        .rposition(|step| own(step) && is_end(step.kind));
    let call = steps
        .iter()
        .rposition(|step| own(step) && step.kind == EventKind::IncomingCall);
    let call = call.filter(|call| ended.is_none_or(|ended| ended < *call));
    let call = steps[call.ok_or(Error::NoFailure)?].clone();
    steps.push(Step {
        kind: EventKind::IncomingThrow,
        values: vec![builder.variable(&class)],
        depth: 1,
        ..call
    });
    Ok(())
}

/// Whether the objects of a step come from outside. What `super(...)` of an external class returns is under construction in
/// observed code.
fn comes_in(step: &Step, tables: &Tables) -> bool {
    match step.kind {
        EventKind::IncomingCall
        | EventKind::IncomingWrite
        | EventKind::OutgoingRead
        | EventKind::ObjectState => true,
        EventKind::OutgoingReturn => {
            let site = tables.site(step.site);
            site.is_none_or(|site| site.target.name != "<init>")
        }
        _ => false,
    }
}

fn is_end(kind: EventKind) -> bool {
    matches!(kind, EventKind::IncomingReturn | EventKind::IncomingThrow)
}

/// The source of a value in a test.
enum Source {
    /// Statements make it, or it needs none.
    Made,
    /// Something stands in for an object in it.
    StandIn,
    None,
}

struct Writer<'r> {
    lifted: &'r Lifted<'r>,
    builder: Builder,
    statements: Vec<Statement>,
    /// What objects of the library held when last told.
    states: BTreeMap<ObjectId, RecordedState>,
    /// Objects that some statement makes.
    made: BTreeSet<ObjectId>,
    foreign: &'r BTreeSet<ObjectId>,
    grouper: Grouper,
    missing: BTreeSet<String>,
    unmade: BTreeSet<String>,
}

impl Writer<'_> {
    fn add(&mut self, step: Step, is_last: bool) -> Result<(), Error> {
        if step.kind == EventKind::ObjectState {
            match RecordedState::told(&step) {
                // The statement that is open was given what objects held before it.
                Some((id, state)) if step.depth > 0 => {
                    self.states.entry(id).or_insert(state);
                }
                Some((id, state)) => {
                    self.states.insert(id, state);
                }
                None => {}
            }
            return Ok(());
        }
        let mut done = Vec::new();
        // A call into the program from a call of it is not outermost.
        let _ = self.grouper.step(step, &mut done);
        let mut ended = done.into_iter().filter(|it| it.end != StatementEnd::Open);
        ended.try_for_each(|it| self.state(it, is_last))
    }

    /// Appends a statement, behind those that make what it is given.
    fn state(&mut self, mut statement: Statement, is_last: bool) -> Result<(), Error> {
        if self.is_initialiser(&statement) {
            return Ok(());
        }
        for value in &mut statement.given {
            match self.make(value) {
                Source::Made | Source::StandIn => {}
                Source::None if is_last => return Err(Error::Missing(self.describe(value))),
                // A test cannot have it.
                Source::None => return Ok(()),
            }
        }
        if let Action::Call(call) = &mut statement.action {
            let answers = call.answers.iter_mut();
            // A stand-in without one of its answers may do all the same.
            answers
                .filter_map(|answer| answer.end.value_mut())
                .for_each(|value| {
                    self.make(value);
                });
        }
        self.made.extend(statement.defines());
        self.statements.push(statement);
        Ok(())
    }

    /// Appends statements that make a value.
    fn make(&mut self, value: &mut Value) -> Source {
        let sources = RecipeSources {
            tables: &self.lifted.tables,
            states: &self.states,
            made: &self.made,
            blobs: self.lifted,
        };
        if let Some(made) = recipe::make(&mut self.builder, sources, value) {
            let defined = made.statements.iter().filter_map(Statement::defines);
            self.made.extend(defined);
            self.statements.extend(made.statements);
            *value = made.value;
            return Source::Made;
        }
        match self.outsider(value) {
            Some((id, class)) => {
                if !is_made_up(&class) && !is_jdk_name(&class) && !is_of_language(&class) {
                    if self.foreign.contains(&id) {
                        self.unmade.insert(class.clone());
                    }
                    self.missing.insert(class);
                }
                Source::StandIn
            }
            None => Source::None,
        }
    }

    /// Whether it initialises a class, which the JVM does by itself.
    fn is_initialiser(&self, statement: &Statement) -> bool {
        let site = statement
            .site()
            .and_then(|id| self.builder.tables().site(id));
        site.is_some_and(|site| site.target.name == "<clinit>")
    }

    /// An object that nothing makes, with its class, if something can stand in for it.
    fn outsider(&self, value: &Value) -> Option<(ObjectId, String)> {
        let mut found = None;
        value.each_reference(&mut |reference| {
            if let Reference::Object { id, class } = reference
                && !self.made.contains(id)
            {
                found.get_or_insert((*id, *class));
            }
        });
        let (id, class) = found?;
        let class = self.builder.tables().class_name(class).to_owned();
        can_stand_in(&class).then_some((id, class))
    }

    /// What of a value no statement makes, or can be given.
    fn describe(&self, value: &Value) -> String {
        let (mut missing, mut array) = (None, None);
        value.each_reference(&mut |reference| match reference {
            Reference::Object { id, .. } if self.made.contains(id) => {}
            Reference::Object { class, .. } | Reference::Constant { class, .. } => {
                missing.get_or_insert(*class);
            }
            Reference::Array { class, .. } => {
                array.get_or_insert(*class);
            }
            _ => {}
        });
        let missing = missing.or(array);
        let name = missing.map_or("?", |class| self.builder.tables().class_name(class));
        format!("an object of {}", name.replace('/', "."))
    }
}

/// Packages of the JDK whose classes a program knows by public interfaces only.
const INTERNAL: [&str; 3] = ["com/sun/", "jdk/", "sun/"];

/// True if something can stand in for an object of a class: the class is of the program, is made at run time, or is one
/// of the JDK that a program cannot name.
fn can_stand_in(class: &str) -> bool {
    let is_internal = || INTERNAL.iter().any(|package| class.starts_with(package));
    !is_jdk_name(class) || is_made_up(class) || is_internal()
}

/// Whether a class has no name that a program could use: lambdas, proxies, anonymous classes.
fn is_made_up(class: &str) -> bool {
    let simple = class.rsplit(['/', '$']).next().unwrap_or(class);
    let is_proxy = class
        .rsplit('/')
        .next()
        .is_some_and(|it| it.starts_with("$Proxy"));
    is_proxy || class.contains("$$") || simple.starts_with(|first: char| first.is_ascii_digit())
}

/// Tells which calls out of observed code may be answered by a stand-in.
struct Nested {
    /// Types that something can stand in for.
    outsiders: BTreeSet<TypeId>,
    /// Whether the call that is open in a thread is to such.
    open: BTreeMap<ThreadId, bool>,
}

impl Nested {
    fn new(tables: &Tables) -> Nested {
        let types = tables.types.iter();
        let outsiders = types.filter(|t| can_stand_in(&t.name));
        Nested {
            outsiders: outsiders.map(|t| t.id).collect(),
            open: BTreeMap::new(),
        }
    }

    fn belongs(&mut self, step: &Step) -> bool {
        match (step.kind, step.depth) {
            // What an answer holds.
            (EventKind::ObjectState, 1..) => self.open.get(&step.thread) == Some(&true),
            (EventKind::OutgoingCall, 1) => {
                let is_one = match step.values.first() {
                    Some(Value::Reference(Reference::Object { class, .. })) => {
                        self.outsiders.contains(class)
                    }
                    _ => false,
                };
                self.open.insert(step.thread, is_one);
                is_one
            }
            (EventKind::OutgoingReturn | EventKind::OutgoingThrow, 2) => {
                self.open.remove(&step.thread).unwrap_or_default()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use culprit_model::SiteId;

    use super::*;

    #[test]
    fn an_exception_that_leaves_a_call_of_another_thread_is_unseen() {
        let step = |thread, kind, id| Step {
            thread: ThreadId(thread),
            kind,
            site: SiteId(1),
            values: vec![Value::Reference(Reference::Object {
                id: ObjectId(id),
                class: TypeId(1),
            })],
            depth: 1,
            origin: None,
        };
        let inner = Step {
            depth: 3,
            ..step(2, EventKind::IncomingThrow, 4)
        };
        let steps = [
            step(1, EventKind::IncomingThrow, 1),
            step(2, EventKind::IncomingThrow, 2),
            step(2, EventKind::IncomingReturn, 3),
            inner,
            step(1, EventKind::IncomingThrow, 5),
        ];
        let expected = BTreeSet::from([ObjectId(2)]);
        assert_eq!(thrown_in_other_threads(&steps), expected);
    }

    #[test]
    fn the_call_that_ended_with_it_is_named() {
        let script: Script = "\
script 1
type 1 shop/Poller
type 2 java/lang/NumberFormatException
site 1 entry shop/Poller.<init>()V
site 2 entry shop/Poller.poll()V
=> @1()
<= @1 = #1:@1
=> @2() on #1:@1
<=! @2 = #2:@2
"
        .parse()
        .unwrap();
        let unseen = |id: u64| {
            let extracted = Extracted {
                script: script.clone(),
                missing: BTreeSet::new(),
                unmade: BTreeSet::new(),
                of_other_threads: BTreeSet::from([ObjectId(id)]),
            };
            extracted.thrown_unseen(&script)
        };
        let expected = UnseenException {
            call: "shop.Poller.poll".to_owned(),
            class: "java.lang.NumberFormatException".to_owned(),
        };
        assert_eq!(unseen(2), Some(expected));
        assert_eq!(unseen(1), None);
    }
}
