//! Scripts: straight lines of statements.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::observe::is_jdk_name;
use culprit_model::site::TypeDef;
use culprit_model::value::split_descriptor;
use culprit_model::{
    EventKind, Member, ObjectId, Reference, Scenario, Site, SiteId, SiteKind, Step, Tables,
    ThreadId, TypeId, Value,
};

use crate::link::{finds_fault, is_for_assertions};
use crate::predicate::CLASS as CONDITION;

/// The runtime's class whose methods are Java's operators.
pub(crate) const OPERATORS: &str = "culprit/runtime/Operators";

/// A straight line of statements.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// What the statements refer to.
    pub tables: Tables,
    pub statements: Vec<Statement>,
    /// The first statements, so many, set up the surroundings: they have to do with all others.
    pub prelude: usize,
    /// Classes of the program whose objects are used and not made: they were not observed.
    pub missing: BTreeSet<String>,
    /// Statements, each with an earlier one that it needs and is given nothing of, such as the condition
    /// that decides whether it is reached.
    pub guards: BTreeSet<(usize, usize)>,
}

/// A call and its end, or an access to a field.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Statement {
    pub steps: Vec<Step>,
    /// Another name of the object that comes of it, which was there before.
    pub alias: Option<ObjectId>,
    /// What it is given by such names, by place.
    pub by_alias: Vec<(usize, ObjectId)>,
}

impl Statement {
    pub fn new(steps: Vec<Step>) -> Statement {
        Statement {
            steps,
            ..Statement::default()
        }
    }

    /// What it is given: receiver and arguments.
    pub fn given(&self) -> &[Value] {
        let first = self.steps.first();
        first.map_or(&[], |step| &step.values[step.given()])
    }

    /// Gives it other values.
    pub fn give(&mut self, given: Vec<Value>) {
        if let Some(first) = self.steps.first_mut() {
            let places = first.given();
            first.values.splice(places, given);
        }
    }

    /// The objects it is given.
    pub fn uses(&self) -> Vec<ObjectId> {
        let mut found = Vec::new();
        for value in self.given() {
            value.each_reference(&mut |reference| {
                if let Reference::Object { id, .. } = reference {
                    found.push(*id);
                }
            });
        }
        found
    }

    /// The class and the method that it calls, or the field that it uses.
    pub(crate) fn target<'t>(&self, tables: &'t Tables) -> Option<(&'t str, &'t str)> {
        let id = self.steps.first()?.site;
        let target = &tables.site(id)?.target;
        Some((&target.owner, &target.name))
    }

    /// Whether it is a condition for going on.
    pub fn is_require(&self, tables: &Tables) -> bool {
        let site = self.steps.first().map(|step| step.site);
        let site = site.and_then(|id| tables.site(id));
        site.is_some_and(|site| site.target.owner == OPERATORS && site.target.name == "require")
    }

    /// Whether it says that an exception has left the driver.
    pub(crate) fn is_left(&self, tables: &Tables) -> bool {
        self.target(tables) == Some((OPERATORS, "left"))
    }

    /// Whether it says what the script is to throw.
    pub(crate) fn expects(&self, tables: &Tables) -> bool {
        self.target(tables) == Some((OPERATORS, "expect"))
    }

    /// Whether it says what the next one may throw and be right.
    pub(crate) fn tolerates(&self, tables: &Tables) -> bool {
        self.target(tables) == Some((OPERATORS, "tolerate"))
    }

    /// The value that comes of it.
    pub fn result(&self) -> Option<&Value> {
        let last = self.steps.last()?;
        match last.kind {
            EventKind::IncomingReturn | EventKind::IncomingRead => last.values.last(),
            _ => None,
        }
    }

    /// The object that comes of it.
    pub fn defines(&self) -> Option<ObjectId> {
        match self.result()? {
            Value::Reference(Reference::Object { id, .. } | Reference::Array { id, .. }) => {
                Some(*id)
            }
            _ => None,
        }
    }

    /// The exception that it ends with, which later ones may use.
    pub fn catches(&self) -> Option<ObjectId> {
        let last = self.steps.last()?;
        match (last.kind, last.values.first()) {
            (EventKind::IncomingThrow, Some(Value::Reference(Reference::Object { id, .. }))) => {
                Some(*id)
            }
            _ => None,
        }
    }

    /// Every object that it has to do with.
    pub fn objects(&self) -> Vec<ObjectId> {
        let mut found = self.uses();
        found.extend(self.defines());
        found.extend(self.catches());
        for value in self.given() {
            value.each_reference(&mut |reference| {
                if let Reference::Array { id, .. } = reference {
                    found.push(*id);
                }
            });
        }
        found
    }

    /// The largest number of an object in some statements.
    pub(crate) fn largest(statements: &[Statement]) -> u64 {
        let all = statements.iter().flat_map(Statement::objects);
        all.max().map_or(0, |id| id.0)
    }

    /// The object it is called on.
    pub fn receiver(&self, site: &Site) -> Option<ObjectId> {
        match self.given().first()? {
            Value::Reference(Reference::Object { id, .. }) if site.has_receiver() => Some(*id),
            _ => None,
        }
    }

    /// Whether it is called for what it does: it gives back nothing, or its receiver.
    pub fn is_command(&self, site: &Site) -> bool {
        let result = self.result();
        self.receiver(site).is_some() && (result.is_none() || self.defines() == self.receiver(site))
    }
}

impl Script {
    /// The script as a scenario, without what no statement refers to.
    pub fn scenario(&self) -> Scenario {
        let mut scenario = Scenario {
            tables: self.tables.clone(),
            steps: self.steps().cloned().collect(),
        };
        scenario.prune();
        scenario
    }

    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.statements
            .iter()
            .flat_map(|statement| &statement.steps)
    }

    /// By statement, the earlier ones that make what it is given.
    pub fn needs(&self) -> Vec<Vec<usize>> {
        let mut made: BTreeMap<ObjectId, usize> = BTreeMap::new();
        let mut needs = Vec::with_capacity(self.statements.len());
        // What is found wrong of a result is wrong of no other name of the object.
        let finds_fault = finds_fault(self);
        let mut aliases: BTreeMap<ObjectId, usize> = BTreeMap::new();
        for (number, statement) in self.statements.iter().enumerate() {
            let uses = statement.uses();
            let mut of_this: Vec<usize> =
                uses.iter().filter_map(|id| made.get(id).copied()).collect();
            let by_alias = statement.by_alias.iter().filter(|_| finds_fault);
            of_this.extend(by_alias.filter_map(|(_, alias)| aliases.get(alias)));
            // Assertions that are made step by step return what they are called on.
            let site = self.site(statement.steps[0].site);
            let alias = statement.alias.filter(|_| {
                let is_step = site.is_some_and(|site| is_for_assertions(&site.target.owner));
                !is_step
            });
            aliases.extend(alias.map(|alias| (alias, number)));
            of_this.sort_unstable();
            of_this.dedup();
            needs.push(of_this);
            if let Some(id) = statement.defines() {
                // A method that returns its receiver makes nothing.
                if !uses.contains(&id) {
                    made.insert(id, number);
                }
            }
            if let Some(id) = statement.catches() {
                made.insert(id, number);
            }
        }
        for (number, guard) in &self.guards {
            if let Some(needs) = needs.get_mut(*number) {
                needs.push(*guard);
            }
        }
        needs
    }

    /// The script of some of its statements, in order.
    pub fn keep(&self, kept: &[usize]) -> Script {
        let place = |number: &usize| kept.binary_search(number).ok();
        let guards = self.guards.iter();
        Script {
            tables: self.tables.clone(),
            statements: kept.iter().map(|n| self.statements[*n].clone()).collect(),
            prelude: kept.iter().filter(|n| **n < self.prelude).count(),
            missing: self.missing.clone(),
            guards: guards
                .filter_map(|(number, guard)| Some((place(number)?, place(guard)?)))
                .collect(),
        }
    }

    /// How many of some statements call into the program, or use a field of it. Calls of the library
    /// and assertions are not counted, nor what sets up the surroundings.
    pub fn interactions(&self, statements: &[usize]) -> usize {
        let of_program = |number: &&usize| {
            let site = self.statements[**number].steps.first();
            let site = site.and_then(|step| self.site(step.site));
            site.is_some_and(|site| {
                let owner = &site.target.owner;
                // What a lambda does is for the program.
                let is_operator = owner == OPERATORS && site.target.name != "lambda";
                !is_jdk_name(owner)
                    && !is_operator
                    && !owner.ends_with(CONDITION)
                    && !is_for_assertions(owner)
            })
        };
        statements.iter().filter(of_program).count()
    }

    /// The name of a class.
    pub fn class_name(&self, class: TypeId) -> &str {
        self.tables.class_name(class)
    }

    pub fn site(&self, id: SiteId) -> Option<&Site> {
        self.tables.site(id)
    }
}

/// Adds statements of its own to a script: calls of methods that the recording does not know.
#[derive(Debug)]
pub(crate) struct Author {
    pub(crate) tables: Tables,
    sites: BTreeMap<Member, SiteId>,
    types: BTreeMap<String, TypeId>,
    next_object: u64,
}

impl Author {
    /// Objects are numbered from one on that the recording does not have.
    pub(crate) fn new(tables: Tables, next_object: u64) -> Author {
        let types = tables.types.iter();
        Author {
            types: types.map(|t| (t.name.clone(), t.id)).collect(),
            sites: BTreeMap::new(),
            tables,
            next_object,
        }
    }

    /// The type of a name.
    pub(crate) fn class(&mut self, name: &str) -> TypeId {
        if let Some(known) = self.types.get(name) {
            return *known;
        }
        let last = self.tables.types.last().map_or(0, |t| t.id.0);
        let id = TypeId(last + 1);
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

    /// The name of a type.
    pub(crate) fn class_name(&self, class: TypeId) -> String {
        let found = self.tables.class(class);
        found.map_or_else(String::new, |t| t.name.clone())
    }

    /// The number of an object that the recording does not have.
    pub(crate) fn id(&mut self) -> ObjectId {
        self.next_object += 1;
        ObjectId(self.next_object)
    }

    /// An object that the recording does not have.
    pub(crate) fn object(&mut self, class: &str) -> Value {
        Value::Reference(Reference::Object {
            id: self.id(),
            class: self.class(class),
        })
    }

    fn site(
        &mut self,
        kind: SiteKind,
        (owner, name, descriptor): (&str, &str, &str),
        is_static: bool,
    ) -> SiteId {
        let target = Member {
            owner: owner.to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
        };
        if let Some(known) = self.sites.get(&target) {
            return *known;
        }
        let last = self.tables.sites.last().map_or(0, |site| site.id.0);
        let id = SiteId(last + 1);
        self.tables.sites.insert(Site {
            id,
            kind,
            class: owner.to_owned(),
            method: name.to_owned(),
            descriptor: descriptor.to_owned(),
            line: None,
            source: None,
            target: target.clone(),
            is_static,
        });
        self.sites.insert(target, id);
        id
    }

    /// `new owner(given)`, which is the object `made`.
    pub(crate) fn construct(
        &mut self,
        owner: &str,
        descriptor: &str,
        given: Vec<Value>,
        made: Value,
    ) -> Statement {
        let site = self.site(SiteKind::Entry, (owner, "<init>", descriptor), false);
        call(site, given, Some(made))
    }

    /// `owner.name(given)`, whose result is `made`.
    pub(crate) fn call_static(
        &mut self,
        target: (&str, &str, &str),
        given: Vec<Value>,
        made: Option<Value>,
    ) -> Statement {
        let site = self.site(SiteKind::Entry, target, true);
        call(site, given, made)
    }

    /// `receiver.name(given)`; of a result nothing is kept unless it is `made`.
    pub(crate) fn call(
        &mut self,
        target: (&str, &str, &str),
        receiver: Value,
        given: Vec<Value>,
        made: Option<Value>,
    ) -> Statement {
        let site = self.site(SiteKind::Entry, target, false);
        let result = split_descriptor(target.2).map_or("V", |(_, result)| result);
        let made = made.or_else(|| some(result));
        let given = std::iter::once(receiver).chain(given).collect();
        call(site, given, made)
    }

    /// Throws an object.
    pub(crate) fn raise(&mut self, thrown: Value) -> Statement {
        let target = (OPERATORS, "raise", "(Ljava/lang/Throwable;)V");
        let site = self.site(SiteKind::Entry, target, true);
        Statement::new(vec![
            step(site, EventKind::IncomingCall, vec![thrown.clone()], 0),
            step(site, EventKind::IncomingThrow, vec![thrown], 1),
        ])
    }

    /// What a static field holds is the object `made`.
    pub(crate) fn read(&mut self, target: (&str, &str, &str), made: Value) -> Statement {
        let site = self.site(SiteKind::Field, target, true);
        Statement::new(vec![step(site, EventKind::IncomingRead, vec![made], 0)])
    }
}

/// Some value of a type, for a result that nobody looks at.
fn some(descriptor: &str) -> Option<Value> {
    Some(match descriptor.as_bytes().first()? {
        b'V' => return None,
        b'Z' => Value::Boolean(false),
        b'B' => Value::Byte(0),
        b'S' => Value::Short(0),
        b'C' => Value::Char(0),
        b'I' => Value::Int(0),
        b'J' => Value::Long(0),
        b'F' => Value::Float(0.0),
        b'D' => Value::Double(0.0),
        _ => Value::Reference(Reference::Null),
    })
}

fn call(site: SiteId, given: Vec<Value>, made: Option<Value>) -> Statement {
    let made = made.into_iter().collect();
    Statement::new(vec![
        step(site, EventKind::IncomingCall, given, 0),
        step(site, EventKind::IncomingReturn, made, 1),
    ])
}

fn step(site: SiteId, kind: EventKind, values: Vec<Value>, depth: u32) -> Step {
    Step {
        thread: ThreadId(1),
        kind,
        site,
        values,
        depth,
        origin: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes calls to one class, whose objects are told by number.
    struct Pen {
        author: Author,
        statements: Vec<Statement>,
    }

    impl Pen {
        fn new() -> Pen {
            Pen {
                author: Author::new(Tables::default(), 100),
                statements: Vec::new(),
            }
        }

        fn object(&mut self, id: u64) -> Value {
            let class = self.author.class("T");
            let id = ObjectId(id);
            Value::Reference(Reference::Object { id, class })
        }

        fn make(&mut self, made: u64, given: &[u64]) {
            let given = given.iter().map(|id| self.object(*id)).collect();
            let made = self.object(made);
            let made = self.author.construct("T", "()V", given, made);
            self.statements.push(made);
        }

        fn call(&mut self, descriptor: &str, on: u64, made: Option<u64>) {
            let receiver = self.object(on);
            let made = made.map(|id| self.object(id));
            let target = ("T", "m", descriptor);
            let call = self.author.call(target, receiver, Vec::new(), made);
            self.statements.push(call);
        }

        fn script(self) -> Script {
            Script {
                tables: self.author.tables,
                statements: self.statements,
                ..Script::default()
            }
        }
    }

    #[test]
    fn a_statement_needs_those_that_make_what_it_is_given() {
        let mut pen = Pen::new();
        pen.make(1, &[]);
        pen.make(2, &[]);
        pen.make(3, &[2, 1, 2]);
        pen.call("()V", 3, None);
        assert_eq!(
            pen.script().needs(),
            [vec![], vec![], vec![0, 1], vec![2]] as [Vec<usize>; 4]
        );
    }

    #[test]
    fn a_call_that_returns_its_receiver_makes_nothing() {
        let mut pen = Pen::new();
        pen.make(1, &[]);
        pen.call("()LT;", 1, Some(1));
        pen.call("()V", 1, None);
        assert_eq!(
            pen.script().needs(),
            [vec![], vec![0], vec![0]] as [Vec<usize>; 3]
        );
    }

    #[test]
    fn of_two_that_return_an_object_the_later_one_is_needed() {
        let mut pen = Pen::new();
        pen.make(1, &[]);
        pen.call("()LT;", 1, Some(2));
        pen.call("()LT;", 1, Some(2));
        pen.call("()V", 2, None);
        assert_eq!(pen.script().needs()[3], [2]);
    }

    #[test]
    fn a_command_returns_nothing_or_its_receiver() {
        let mut pen = Pen::new();
        pen.make(1, &[]);
        pen.call("()V", 1, None);
        pen.call("()LT;", 1, Some(1));
        pen.call("()LT;", 1, Some(2));
        pen.call("()I", 1, None);
        let script = pen.script();
        let is_command = |statement: &Statement| {
            let site = script.site(statement.steps[0].site).unwrap();
            statement.is_command(site)
        };
        let commands: Vec<bool> = script.statements.iter().map(is_command).collect();
        assert_eq!(commands, [false, true, true, false, false]);
    }

    #[test]
    fn a_call_that_threw_is_a_command_without_a_result() {
        let mut pen = Pen::new();
        pen.call("()I", 1, None);
        let mut script = pen.script();
        script.statements[0].steps[1].kind = EventKind::IncomingThrow;
        let statement = &script.statements[0];
        assert_eq!(statement.result(), None);
        assert!(statement.is_command(script.site(statement.steps[0].site).unwrap()));
    }
}
