//! What a followed driver did, as steps of a scenario.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use culprit_model::site::TypeDef;
use culprit_model::{
    EventKind, Member, ObjectId, Reference, Scenario, Site, SiteId, SiteKind, Step, Tables,
    ThreadId, TypeId, Value,
};

use super::naming::{is_assertion, is_program};
use super::scenes::Scenes;
use super::value::Variable;

/// Steps beyond which nothing is noted any more: nobody reduces that many.
const MOST_STEPS: usize = 1_000_000;

/// Steps beyond which scenes that are over are forgotten, and how many are left then: scripts of that length
/// still run at once.
const MANY_STEPS: usize = 100_000;
const FEWER_STEPS: usize = 50_000;

/// There are so many. What is not noted need not be remembered either: a run may go on for long.
static IS_FULL: AtomicBool = AtomicBool::new(false);

pub(super) fn is_full() -> bool {
    IS_FULL.load(Ordering::Relaxed)
}

/// The operator that says what the next call may throw.
const TOLERATE: &str = "tolerate";

/// The runtime's class of operators.
pub(super) const OPERATORS: &str = "culprit/runtime/Operators";

/// A place in the heap whose content the driver put there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Place {
    Field(ObjectId, String),
    Static(String, String),
    Element(ObjectId, i32),
}

#[derive(Default)]
pub(super) struct Journal {
    tables: Tables,
    types: HashMap<String, TypeId>,
    sites: HashMap<(Member, SiteKind), SiteId>,
    steps: Vec<Step>,
    scenes: Scenes,
    last: u64,
    /// Arrays that some step makes.
    pub(super) made: HashSet<ObjectId>,
    /// Which variables the driver's own fields and elements hold.
    pub(super) places: HashMap<Place, Variable>,
    /// Exceptions that calls ended with.
    pub(super) thrown: HashSet<ObjectId>,
    /// By exception, what else the driver was ready for where it came.
    tolerated: HashMap<ObjectId, TypeId>,
}

/// How a call ended.
pub(super) enum End {
    Returned(Option<Value>),
    Threw(Value),
}

/// What a scene is worth when it has ended.
pub(super) enum SceneEnd {
    /// A method of an object did what it did, and nothing was wrong.
    Over,
    /// It failed, or it set something up.
    Telling,
}

impl Journal {
    pub(super) fn id(&mut self) -> ObjectId {
        self.last += 1;
        ObjectId(self.last)
    }

    pub(super) fn class(&mut self, name: &str) -> TypeId {
        if let Some(known) = self.types.get(name) {
            return *known;
        }
        let id = TypeId(self.tables.types.len() as u32 + 1);
        self.tables.types.insert(TypeDef {
            id,
            name: name.to_owned(),
            loader: 0,
            constants: Vec::new(),
            fields: Vec::new(),
        });
        self.types.insert(name.to_owned(), id);
        id
    }

    /// A new variable for a value of a class.
    pub(super) fn variable(&mut self, class: &str) -> Variable {
        Variable {
            id: self.id(),
            class: self.class(class),
        }
    }

    fn site(&mut self, kind: SiteKind, target: Member, is_static: bool) -> SiteId {
        if let Some(known) = self.sites.get(&(target.clone(), kind)) {
            return *known;
        }
        let id = SiteId(self.tables.sites.len() as u32 + 1);
        self.tables.sites.insert(Site {
            id,
            kind,
            class: target.owner.clone(),
            method: target.name.clone(),
            descriptor: target.descriptor.clone(),
            line: None,
            source: None,
            target: target.clone(),
            is_static,
        });
        self.sites.insert((target, kind), id);
        id
    }

    fn step(&mut self, site: SiteId, kind: EventKind, values: Vec<Value>, depth: u32) {
        if self.steps.len() >= MOST_STEPS {
            IS_FULL.store(true, Ordering::Relaxed);
            return;
        }
        self.steps.push(Step {
            thread: ThreadId(1),
            kind,
            site,
            values,
            depth,
            origin: None,
        });
    }

    /// A call and its end; the number of its first step.
    pub(super) fn call(
        &mut self,
        target: Member,
        is_static: bool,
        given: Vec<Value>,
        end: End,
    ) -> usize {
        let at = self.steps.len();
        let site = self.site(SiteKind::Entry, target, is_static);
        self.step(site, EventKind::IncomingCall, given, 0);
        match end {
            End::Returned(result) => {
                let values = result.into_iter().collect();
                self.step(site, EventKind::IncomingReturn, values, 1);
            }
            End::Threw(thrown) => self.step(site, EventKind::IncomingThrow, vec![thrown], 1),
        }
        at
    }

    /// An operator; what comes of it is a new variable of a class.
    pub(super) fn operator(
        &mut self,
        name: &str,
        descriptor: &str,
        given: Vec<Value>,
        class: &str,
    ) -> Variable {
        let made = self.variable(class);
        self.call(
            operator(name, descriptor),
            true,
            given,
            End::Returned(Some(made.into())),
        );
        made
    }

    /// An operator without a result.
    pub(super) fn act(&mut self, name: &str, descriptor: &str, given: Vec<Value>) {
        self.call(operator(name, descriptor), true, given, End::Returned(None));
    }

    pub(super) fn read(&mut self, target: Member, on: Option<Value>, found: Value) {
        let site = self.site(SiteKind::Field, target, on.is_none());
        let values = on.into_iter().chain([found]).collect();
        self.step(site, EventKind::IncomingRead, values, 0);
    }

    pub(super) fn write(&mut self, target: Member, on: Option<Value>, value: Value) {
        let site = self.site(SiteKind::Field, target, on.is_none());
        let values = on.into_iter().chain([value]).collect();
        self.step(site, EventKind::IncomingWrite, values, 0);
    }

    /// A call that ended well should not have: from now on its end is that exception, which is null where
    /// it is not thrown.
    pub(super) fn expected(&mut self, call: usize, class: &str) -> Option<Variable> {
        let expected = self.variable(class);
        let end = self.steps.get_mut(call + 1)?;
        end.kind = EventKind::IncomingThrow;
        end.values = vec![expected.into()];
        Some(expected)
    }

    /// A variable holds an object that has another name.
    pub(super) fn same(&mut self, alias: Variable, object: Value) {
        let descriptor = "(Ljava/lang/Object;Ljava/lang/Object;)V";
        self.act("same", descriptor, vec![alias.into(), object]);
    }

    /// Something outside begins to run a method of the driver; the number of the next step.
    pub(super) fn begin_scene(&mut self) -> usize {
        if self.scenes.is_quiet() && self.steps.len() > MANY_STEPS {
            let kept = self.scenes.forget(self.steps.len(), FEWER_STEPS);
            let mut kept = kept.into_iter();
            self.steps.retain(|_| kept.next() != Some(false));
            IS_FULL.store(self.steps.len() >= MOST_STEPS, Ordering::Relaxed);
        }
        self.scenes.begin();
        self.steps.len()
    }

    /// It ended: in a way that makes it worth nothing later, or not.
    pub(super) fn end_scene(&mut self, from: usize, end: SceneEnd) {
        let steps = from..self.steps.len();
        self.scenes.end(match end {
            SceneEnd::Over => Some(steps),
            SceneEnd::Telling => None,
        });
    }

    /// A class was initialised by the steps from one on.
    pub(super) fn initialised(&mut self, from: usize) {
        self.scenes.last(from..self.steps.len());
    }

    /// How many steps there are.
    pub(super) fn length(&self) -> usize {
        self.steps.len()
    }

    /// Takes back the steps from one on.
    pub(super) fn forget_from(&mut self, step: usize) {
        self.steps.truncate(step);
    }

    fn site_of(&self, step: &Step) -> Option<&Site> {
        self.tables.site(step.site)
    }

    /// Whether a method belongs to the program, or the object does that it is called on.
    pub(super) fn is_into_program(&self, target: &Member, on: Option<&Value>) -> bool {
        let class = match on {
            Some(Value::Reference(Reference::Object { class, .. })) => self.tables.class(*class),
            _ => None,
        };
        may_be_expected_to_throw(target)
            && (is_program(&target.owner) || class.is_some_and(|class| is_program(&class.name)))
    }

    /// The last call among the steps from one on that may throw what a test expects: one into the program, or
    /// else any.
    pub(super) fn last_call_since(&self, from: usize) -> Option<usize> {
        let called = |step: &Step| {
            let site = self.site_of(step)?;
            (step.kind == EventKind::IncomingCall).then_some(site)
        };
        let into = |step: &Step| {
            called(step).is_some_and(|site| {
                let on = step.values.first().filter(|_| site.has_receiver());
                self.is_into_program(&site.target, on)
            })
        };
        let any =
            |step: &Step| called(step).is_some_and(|site| may_be_expected_to_throw(&site.target));
        let steps = self.steps.get(from..)?;
        let last = steps.iter().rposition(into);
        last.or_else(|| steps.iter().rposition(any))
            .map(|at| from + at)
    }

    /// Whether the driver went on behind a step for some answer.
    pub(super) fn has_condition_behind(&self, step: usize) -> bool {
        let rest = self.steps.get(step..).unwrap_or_default();
        rest.iter().any(|step| {
            let site = self.site_of(step);
            site.is_some_and(|site| site.target.owner == OPERATORS && site.target.name == "require")
        })
    }

    /// The exception that a call ended with.
    pub(super) fn thrown_by(&self, call: usize) -> Option<ObjectId> {
        thrown_in(self.steps.get(call + 1)?)
    }

    /// The call that threw an exception may throw these as well: the driver is ready for them.
    pub(super) fn tolerate(&mut self, thrown: ObjectId, class: &str) {
        if self.thrown.contains(&thrown) {
            let class = self.class(class);
            self.tolerated.entry(thrown).or_insert(class);
        }
    }

    /// The steps, with what calls may throw said in front of them.
    fn with_tolerated(&mut self) -> Vec<Step> {
        let mut all = Vec::with_capacity(self.steps.len());
        let mut steps = std::mem::take(&mut self.steps).into_iter().peekable();
        while let Some(step) = steps.next() {
            let thrown = steps.peek().and_then(thrown_in);
            let class = thrown.and_then(|thrown| self.tolerated.get(&thrown).copied());
            let is_call = step.kind == EventKind::IncomingCall
                && self
                    .site_of(&step)
                    .is_some_and(|site| may_be_expected_to_throw(&site.target));
            if let Some(class) = class.filter(|_| is_call) {
                let class = Value::Reference(Reference::Class(class));
                self.act(TOLERATE, "(Ljava/lang/Class;)V", vec![class]);
                all.append(&mut self.steps);
            }
            all.push(step);
        }
        all
    }

    pub(super) fn take(&mut self) -> Scenario {
        let steps = self.with_tolerated();
        let mut tables = std::mem::take(&mut self.tables);
        tables.threads = vec![(ThreadId(1), "main".to_owned())];
        Scenario { tables, steps }
    }
}

/// The exception that a step throws.
fn thrown_in(step: &Step) -> Option<ObjectId> {
    match (step.kind, step.values.first()) {
        (EventKind::IncomingThrow, Some(Value::Reference(Reference::Object { id, .. }))) => {
            Some(*id)
        }
        _ => None,
    }
}

/// Whether a test may say of a call that it throws: not of its own assertions, operators and output.
pub(super) fn may_be_expected_to_throw(target: &Member) -> bool {
    let owner = target.owner.as_str();
    !is_assertion(owner) && owner != OPERATORS && owner != "java/io/PrintStream"
}

pub(super) fn operator(name: &str, descriptor: &str) -> Member {
    Member {
        owner: OPERATORS.to_owned(),
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
    }
}

impl From<Variable> for Value {
    fn from(variable: Variable) -> Value {
        Value::Reference(Reference::Object {
            id: variable.id,
            class: variable.class,
        })
    }
}
