//! The statements that no reduction removes: what the failing one needs, and for a wrong result the commands to the
//! objects behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use culprit_model::observe::is_jdk_name;
use culprit_model::script::Effect;
use culprit_model::{Member, ObjectId, Reference, Site, SiteId, SiteKind, TypeId, Value};
use culprit_scripts::{
    changes_library, changes_receiver_by_code, closure, finds_fault, is_command_with_status,
    is_for_assertions, is_named_for_change, needs, standard_stream, start_of_test,
};

use super::CallReduction;
use crate::merge::is_question;
use crate::{Script, Statement};

/// A call of a library method that changes its receiver or first argument, or an operator that does.
fn is_library_change(script: &Script, statement: &Statement) -> bool {
    match script.target(statement) {
        Some(target) => is_jdk_name(&target.owner) && changes_library(&target.name),
        None => statement
            .operator()
            .is_some_and(|operator| operator.effect() == Effect::Writes),
    }
}

/// Parts of names of classes whose results depend on the time zone or the locale.
const DATED: [&str; 9] = [
    "Calendar",
    "Date",
    "Formatter",
    "Locale",
    "TimeZone",
    "Timestamp",
    "java/text/",
    "java/time/",
    "joda/time/",
];

/// Whether a number is one that calls have in common by chance.
fn is_usual(value: &Value) -> bool {
    match value {
        Value::Byte(number) => (-1..=1).contains(number),
        Value::Short(number) => (-1..=1).contains(number),
        Value::Int(number) => (-1..=1).contains(number),
        Value::Long(number) => (-1..=1).contains(number),
        Value::Float(number) => number.abs() <= 1.0,
        Value::Double(number) => number.abs() <= 1.0,
        Value::Char(_) => false,
        _ => true,
    }
}

/// Whether a call, by its name, only moves what it is called on: a cursor is no part of what it walks over.
fn moves_on(site: &Site) -> bool {
    let name = &site.target.name;
    name.starts_with("next") || name.starts_with("read")
}

/// Methods that set the system properties.
const PROPERTIES: [(&str, &str); 2] = [
    ("java/lang/System", "setProperty"),
    ("java/lang/System", "clearProperty"),
];

/// Methods that set the locale and the time zone of the JVM.
const DEFAULTS: [(&str, &str); 2] = [
    ("java/util/Locale", "setDefault"),
    ("java/util/TimeZone", "setDefault"),
];

/// What a static method returns, as far as that tells what it is called for.
enum Returns {
    Nothing,
    /// The one object of its class, which nobody uses: it is called for the next call.
    Itself,
    Something,
}

impl CallReduction<'_> {
    /// The statements that stay: what the last one needs. Where that asserts something, also the
    /// commands to all objects behind it: without them something else might be right. A call is a command
    /// if nothing is done with its result, or if its name says so, or if it changes its object and returns a status; or
    /// if nothing but assertions looks at its result, and it is about the same as the call whose result is wrong. A call
    /// that is a question by its name is a command if it changes its object.
    pub(super) fn least(&self, last: usize) -> Vec<usize> {
        let needs = needs(self.script);
        let mut kept: BTreeSet<usize> = closure(&needs, last).into_iter().collect();
        if !finds_fault(self.script) {
            return kept.into_iter().collect();
        }
        for asserted in self.collected_assertions(last) {
            kept.extend(closure(&needs, asserted));
        }
        let statements = self.script.statements.iter();
        let uses = statements.clone().enumerate();
        let uses = uses.flat_map(|(number, s)| s.uses().into_iter().map(move |id| (id, number)));
        // Of each object the last one.
        let uses: BTreeMap<ObjectId, usize> = uses.collect();
        let is_ignored = |number: usize| {
            let made = self.script.statements[number].defines();
            made.is_some_and(|id| uses.get(&id).is_none_or(|last| *last <= number))
        };
        let looked_at = self.only_asserted();
        let with_status = self.commands_with_status();
        let questions = self.changing_questions(&|number| is_ignored(number), &looked_at);
        let asked: Vec<usize> = kept.iter().copied().collect();
        let streams = statements.filter_map(|s| standard_stream(self.script, s));
        let streams: BTreeSet<ObjectId> = streams.collect();
        loop {
            let before = kept.len();
            let objects = kept
                .iter()
                .flat_map(|n| self.script.statements[*n].objects());
            let objects = objects.filter(|id| !streams.contains(id));
            let objects: BTreeSet<ObjectId> = objects.collect();
            let parts = self.parts(&objects);
            let sets_up = self.set_up_classes(&kept, &is_ignored);
            for (number, statement) in self.script.statements.iter().enumerate() {
                let site = self.script.site(statement);
                let own = site.filter(|site| !is_for_assertions(&site.target.owner));
                let held = |id: &ObjectId| objects.contains(id);
                let changes = is_library_change(self.script, statement)
                    && statement.uses().first().is_some_and(held);
                let commands = own.is_some_and(|site| {
                    let to = self.script.receiver(statement).filter(|_| {
                        self.script.is_command(statement)
                            || is_named_for_change(&site.target.name)
                            || is_ignored(number) && !is_question(&site.target.name)
                            || looked_at.contains(&number)
                                && !is_question(&site.target.name)
                                && asked.iter().any(|of| self.are_about_the_same(number, *of))
                            || with_status.contains(&number)
                            || questions.contains(&number)
                    });
                    let is_part = |id: ObjectId| parts.contains(&id) && !moves_on(site);
                    to.is_some_and(|to| held(&to) || is_part(to))
                        || sets_up.contains(&number)
                        || !is_jdk_name(&site.target.owner)
                            && self.library_objects(statement, site).iter().any(held)
                });
                if number < last && (commands || changes) && !self.is_superseded(number, last) {
                    kept.extend(closure(&needs, number));
                }
            }
            if kept.len() == before {
                kept.extend(self.settings_of_dates(&kept));
                kept.extend(self.settings_of_driver(last));
                return kept.into_iter().collect();
            }
        }
    }

    /// The assertions that an object has collected before the last call of it tells which of them failed:
    /// `softly.assertThat(5).isEqualTo(4)` before `softly.assertAll()`.
    fn collected_assertions(&self, last: usize) -> BTreeSet<usize> {
        let statements = &self.script.statements;
        let asserts = |number: usize| {
            let target = self.script.target(&statements[number]);
            target.is_some_and(|target| is_for_assertions(&target.owner))
        };
        // An object that asserts step by step is made of what it looks at.
        let is_collector = |id: &ObjectId| {
            let mut earlier = statements[..last].iter();
            let made = earlier.find(|statement| statement.defines() == Some(*id));
            made.is_some_and(|made| made.given.is_empty())
        };
        let collector = self.script.receiver(&statements[last]);
        let Some(collector) = collector.filter(|id| asserts(last) && is_collector(id)) else {
            return BTreeSet::new();
        };
        // With the steps of assertions that are made step by step.
        let mut steps = BTreeSet::from([collector]);
        let mut found = BTreeSet::new();
        for number in (0..last).filter(|number| asserts(*number)) {
            let on = self.script.receiver(&statements[number]);
            if on.is_some_and(|on| steps.contains(&on)) {
                steps.extend(statements[number].defines());
                found.insert(number);
            }
        }
        found
    }

    /// The statements that set time zone and locale, if others have to do with dates or formats: what is right depends
    /// on them, even if what is wrong does not.
    fn settings_of_dates(&self, kept: &BTreeSet<usize>) -> Vec<usize> {
        let statements = &self.script.statements;
        let is_dated = |number: &usize| {
            let target = self.script.target(&statements[*number]);
            target.is_some_and(|target| {
                let has =
                    |word: &&str| target.owner.contains(*word) || target.descriptor.contains(*word);
                DATED.iter().any(has)
            })
        };
        match kept.iter().any(is_dated) {
            true => self.calls_of(0..self.script.prelude, &DEFAULTS),
            false => Vec::new(),
        }
    }

    /// The statements of the test that change settings of the whole JVM: what is right may depend on them, even if what
    /// is wrong does not.
    fn settings_of_driver(&self, last: usize) -> Vec<usize> {
        let first = start_of_test(self.script).max(self.script.prelude);
        let mut set = self.calls_of(first..last, &PROPERTIES);
        set.extend(self.calls_of(first..last, &DEFAULTS));
        set
    }

    /// The calls of some methods among statements, with what they need.
    fn calls_of(&self, statements: Range<usize>, methods: &[(&str, &str)]) -> Vec<usize> {
        let needs = needs(self.script);
        let is_call = |number: &usize| {
            let target = self.script.target(&self.script.statements[*number]);
            target.is_some_and(|it| methods.contains(&(it.owner.as_str(), it.name.as_str())))
        };
        let calls = statements.filter(is_call);
        calls.flat_map(|number| closure(&needs, number)).collect()
    }

    /// Statements whose results nothing but assertions and conditions looks at.
    fn only_asserted(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut passed_on: BTreeSet<ObjectId> = BTreeSet::new();
        for (number, statement) in self.script.statements.iter().enumerate().rev() {
            let is_passed_on = statement
                .defines()
                .is_some_and(|id| passed_on.contains(&id));
            let looks = match self.script.target(statement) {
                Some(target) => is_for_assertions(&target.owner),
                None => statement.is_guard() || statement.is_pure() && !is_passed_on,
            };
            if !looks {
                passed_on.extend(statement.uses());
            }
            if !is_passed_on {
                found.insert(number);
            }
        }
        found
    }

    /// Calls that change their object, by the code of the method, and return a status.
    fn commands_with_status(&self) -> BTreeSet<usize> {
        self.calls_by_code(
            &|_, site| !is_question(&site.target.name),
            &|target, class| is_command_with_status(target, class, self.program),
        )
    }

    /// Calls that are questions by their names and change their object by their code: a cache that is asked for an entry
    /// evicts another one. Those whose result is ignored are made for that; without arguments, the others keep a result that they
    /// have computed.
    fn changing_questions(
        &self,
        is_ignored: &dyn Fn(usize) -> bool,
        only_asserted: &BTreeSet<usize>,
    ) -> BTreeSet<usize> {
        let may_change = |number: usize, site: &Site| {
            let is_given = self.script.statements[number].given.len() > 1;
            let is_asserted = is_given && only_asserted.contains(&number);
            is_question(&site.target.name) && (is_ignored(number) || is_asserted)
        };
        self.calls_by_code(&may_change, &|target, class| {
            changes_receiver_by_code(target, class, self.program)
        })
    }

    /// Calls on objects that the code of their methods selects, among those that something else does.
    fn calls_by_code(
        &self,
        may_be: &dyn Fn(usize, &Site) -> bool,
        is_selected: &dyn Fn(&Member, &str) -> bool,
    ) -> BTreeSet<usize> {
        let mut known: BTreeMap<(SiteId, TypeId), bool> = BTreeMap::new();
        let mut is_one = |number: usize, statement: &Statement| {
            let site = self.script.site(statement)?;
            self.script.receiver(statement)?;
            let Some(Value::Reference(Reference::Object { class, .. })) = statement.given.first()
            else {
                return None;
            };
            if !may_be(number, site) || is_for_assertions(&site.target.owner) {
                return None;
            }
            let known = known.entry((site.id, *class));
            Some(*known.or_insert_with(|| {
                let class = self.script.class_name(*class);
                is_selected(&site.target, class)
            }))
        };
        let statements = self.script.statements.iter().enumerate();
        let calls = statements.filter(|(number, it)| is_one(*number, it) == Some(true));
        calls.map(|(number, _)| number).collect()
    }

    /// Whether two calls are made on one object, and are given the same thing: `cart.put("a")` and `cart.has("a")`.
    fn are_about_the_same(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|number| &self.script.statements[number]);
        let on = self.script.receiver(one);
        let is_telling = |value: &Value| match value {
            Value::Reference(Reference::Null | Reference::Unknown) | Value::Boolean(_) => false,
            Value::Reference(Reference::Boxed(value)) => !is_usual(value),
            Value::Reference(_) => true,
            value => !is_usual(value),
        };
        let mut given = one.given.iter().skip(1).filter(|value| is_telling(value));
        on.is_some()
            && on == self.script.receiver(other)
            && given.any(|value| other.given.iter().skip(1).any(|also| also == value))
    }

    /// Calls of static methods that are called for what they do to their class, of which others are kept:
    /// `Builder.named("a")` before `Builder.create()`. They return nothing, or the one object of the class. One that threw
    /// has refused what it was given.
    fn set_up_classes(
        &self,
        kept: &BTreeSet<usize>,
        is_ignored: &dyn Fn(usize) -> bool,
    ) -> BTreeSet<usize> {
        let called = |number: usize| {
            let statement = &self.script.statements[number];
            let site = self.script.site(statement)?;
            let owner = site.target.owner.as_str();
            let is_ours = is_jdk_name(owner) || is_for_assertions(owner);
            let is_call =
                site.kind == SiteKind::Entry && site.is_static && statement.thrown().is_none();
            (is_call && !is_ours).then_some(owner)
        };
        let returns = |number: usize| match self.script.statements[number].result() {
            None => Returns::Nothing,
            Some(Value::Reference(Reference::Object { class, .. }))
                if is_ignored(number) && called(number) == Some(self.script.class_name(*class)) =>
            {
                Returns::Itself
            }
            Some(_) => Returns::Something,
        };
        let mut found = BTreeSet::new();
        // From the end: by class, whether the next call for something is kept; and whether any is.
        let mut next: BTreeMap<&str, bool> = BTreeMap::new();
        let mut needed: BTreeSet<&str> = BTreeSet::new();
        let mut set: BTreeSet<Option<SiteId>> = BTreeSet::new();
        for number in (0..self.script.statements.len()).rev() {
            let Some(owner) = called(number) else {
                continue;
            };
            match returns(number) {
                Returns::Something => {
                    next.insert(owner, kept.contains(&number));
                    needed.extend(kept.contains(&number).then_some(owner));
                }
                Returns::Itself if next.get(owner) == Some(&true) => {
                    found.insert(number);
                }
                // What is set lasts until it is set anew.
                Returns::Nothing if needed.contains(owner) => {
                    let site = self.script.statements[number].site();
                    found.extend(set.insert(site).then_some(number));
                }
                _ => {}
            }
        }
        found
    }

    /// Objects of the program that some others gave out, which may be parts of them: who changes the settings
    /// of a document changes the document.
    fn parts(&self, objects: &BTreeSet<ObjectId>) -> BTreeSet<ObjectId> {
        let mut parts = BTreeSet::new();
        for statement in &self.script.statements {
            let of = self.script.receiver(statement);
            let is_held = of.is_some_and(|of| objects.contains(&of) || parts.contains(&of));
            if let Some(Value::Reference(Reference::Object { id, class })) = statement.result()
                && is_held
                && !objects.contains(id)
            {
                let name = self.script.class_name(*class);
                let is_object = !is_jdk_name(name) && name.contains('/');
                parts.extend(is_object.then_some(*id));
            }
        }
        parts
    }

    /// Some statements, and all earlier ones that set something for the whole program: static calls without
    /// a result.
    pub(super) fn with_settings(&self, kept: &[usize], last: usize) -> Vec<usize> {
        let needs = needs(self.script);
        let mut kept: BTreeSet<usize> = kept.iter().copied().collect();
        for (number, statement) in self.script.statements[..last].iter().enumerate() {
            let sets = self.script.site(statement).is_some_and(|site| {
                let is_ours = is_for_assertions(&site.target.owner);
                site.is_static && site.kind == SiteKind::Entry && !is_ours
            });
            if sets && statement.result().is_none() && statement.catches().is_none() {
                kept.extend(closure(&needs, number));
            }
        }
        kept.into_iter().collect()
    }

    /// The objects of the library that a call of the program is given, which it may change.
    fn library_objects(&self, statement: &Statement, site: &Site) -> Vec<ObjectId> {
        if is_for_assertions(&site.target.owner) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for value in &statement.given {
            value.each_reference(&mut |reference| {
                if let Reference::Object { id, class } = reference {
                    let name = self.script.class_name(*class);
                    let is_value = name == "java/lang/String" || !name.contains(['/', '[']);
                    if !is_value && (is_jdk_name(name) || name.starts_with('[')) {
                        found.push(*id);
                    }
                }
            });
        }
        found
    }

    /// Whether a later call sets the same thing of the same object anew.
    fn is_superseded(&self, number: usize, last: usize) -> bool {
        let sets = |statement: &Statement| {
            let site = self.script.site(statement)?;
            let is_setter = site.target.name.starts_with("set") && statement.given.len() == 2;
            is_setter.then_some((site.id, self.script.receiver(statement)?))
        };
        let set = sets(&self.script.statements[number]);
        let mut later = self.script.statements[number + 1..last].iter();
        set.is_some() && later.any(|statement| sets(statement) == set)
    }

    /// Whether more than an assertion of literals is left.
    pub(super) fn is_telling(&self, kept: &[usize], last: usize) -> bool {
        let of_program = |number: &usize| {
            let statement = &self.script.statements[*number];
            let target = self.script.target(statement);
            // What a lambda calls is not seen.
            statement.lambda().is_some()
                || target.is_some_and(|target| {
                    !is_jdk_name(&target.owner) && !is_for_assertions(&target.owner)
                })
        };
        let asserts = finds_fault(self.script);
        !asserts
            || kept
                .iter()
                .any(|number| *number != last && of_program(number))
    }
}
