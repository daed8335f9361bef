//! Stand-ins of plain runs: objects that statements use and no statement makes. One is made where an
//! interface is wanted, or a class that can be extended, and answers as `model` defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use culprit_classfile::access;
use culprit_jvmti::{Declared, Jni, Local, Passed};
use culprit_model::observe::is_jdk_name;
use culprit_model::script::{Answer, AnswerPlace, StandIn, StatementEnd};
use culprit_model::value::split_descriptor;
use culprit_model::{ObjectId, Reference, Script, TypeId, Value};
use culprit_weave::stand_in::{AnsweringMethod, StandInClass, stand_in};

use super::{Halt, Worker};
use crate::lock::LockSafe;

/// The stand-ins of a run, and the questions that they were asked.
#[derive(Default)]
pub(super) struct StandIns {
    /// The script, with the definitions of the sites of its answers.
    script: Arc<Script>,
    stand_ins: BTreeMap<ObjectId, StandIn>,
    /// The number of questions to a method, which is known by its first answer.
    asked: BTreeMap<AnswerPlace, usize>,
}

impl StandIns {
    pub(super) fn of(script: Arc<Script>) -> StandIns {
        let has_answers = |script: &Script| {
            let mut statements = script.statements.iter();
            statements.any(|statement| !statement.answers().is_empty())
        };
        let stand_ins = match has_answers(&script) {
            true => script.stand_ins(),
            false => BTreeMap::new(),
        };
        StandIns {
            script,
            stand_ins,
            asked: BTreeMap::new(),
        }
    }

    pub(super) fn script(&self) -> Arc<Script> {
        Arc::clone(&self.script)
    }

    /// The classes of the stand-ins.
    fn classes(&self) -> BTreeSet<TypeId> {
        let mut found = BTreeSet::new();
        let mut add = |value: &Value| {
            value.each_reference(&mut |reference| {
                if let Reference::Object { id, class } = reference
                    && self.stand_ins.contains_key(id)
                {
                    found.insert(*class);
                }
            });
        };
        for statement in &self.script.statements {
            statement.given.iter().for_each(&mut add);
            let answers = statement.answers().iter();
            answers
                .filter_map(|answer| answer.end.value())
                .for_each(&mut add);
        }
        found
    }

    /// The methods that a stand-in is asked, by name and descriptor.
    fn questions(&self, object: ObjectId) -> Vec<(String, String)> {
        let methods = self.stand_ins.get(&object).into_iter();
        let methods = methods.flat_map(|stand_in| &stand_in.methods);
        let sites = methods.filter_map(|method| {
            let answer = self.script.answer(method.answer(0)?)?;
            self.script.tables.site(answer.site)
        });
        sites
            .map(|site| (site.target.name.clone(), site.target.descriptor.clone()))
            .collect()
    }

    /// The answer to the next question to a method.
    fn next(&mut self, object: ObjectId, name: &str, descriptor: &str) -> Option<Answer> {
        let method = self.stand_ins.get(&object)?.method(name, descriptor)?;
        let asked = self.asked.entry(method.answer(0)?).or_default();
        let place = method.answer(*asked)?;
        *asked += 1;
        self.script.answer(place).cloned()
    }
}

/// A question of the program to a stand-in.
pub(super) struct AskedQuestion<'j> {
    pub(super) object: ObjectId,
    pub(super) name: String,
    pub(super) descriptor: String,
    /// An array with the arguments, as far as they are objects; none if there are no arguments.
    pub(super) arguments: Option<Local<'j>>,
}

impl Worker {
    /// A stand-in for a value that nothing has made, where an interface is wanted or a class that can be extended.
    pub(super) fn stand_in<'j>(
        &self,
        jni: &Jni<'j>,
        value: &Value,
        descriptor: &str,
    ) -> Result<Option<Local<'j>>, Halt> {
        let Value::Reference(Reference::Object { id, .. }) = value else {
            return Ok(None);
        };
        {
            let run = self.run.lock_safe();
            if run.bindings.here(*id).is_some() || run.scalar(*id).is_some() {
                return Ok(None);
            }
        }
        let class = descriptor
            .strip_prefix('L')
            .and_then(|d| d.strip_suffix(';'));
        let Some(class) = class else {
            return Ok(None);
        };
        let wanted = self.class_named(jni, class, 0)?;
        let is_interface = self.has_modifier(&wanted, access::INTERFACE)?;
        let stand_in = match is_interface {
            true => Some(wanted),
            false => self.stand_in_class(jni, &wanted, class, *id)?,
        };
        let Some(stand_in) = stand_in else {
            return Ok(None);
        };
        let made = match self.java()?.stand_in(jni, &stand_in, *id)? {
            Some(made) => made,
            None if self.subject.opened.is_opened(class) => jni.allocate(&stand_in)?,
            None => {
                let class = class.replace('/', ".");
                return Err(Halt::Unsupported(format!(
                    "an object of {class} was not made by code that is observed, and nothing can stand in for it, since \
                     its constructor fails without arguments of its own"
                )));
            }
        };
        let here = self.java()?.adopt(jni, &made)?;
        self.run.lock_safe().bindings.bind(*id, here);
        Ok(Some(made))
    }

    /// Has the final classes of the stand-ins of the script loaded without `final`.
    pub(super) fn open_classes(&self, jni: &Jni<'_>) {
        let classes = {
            let run = self.run.lock_safe();
            let classes = run.stand_ins.classes().into_iter();
            let names = classes.map(|class| run.said.type_name(class).to_owned());
            names.filter(|name| !is_jdk_name(name)).collect()
        };
        if self.subject.opened.want(classes) {
            self.subject.forget_loaders(jni);
            self.cache.forget_classes();
        }
    }

    /// The bytes of a class without `final`, if a stand-in of the script extends it.
    pub(crate) fn opened(&self, class: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        self.subject.opened.open(class, bytes)
    }

    fn has_modifier(&self, class: &Local<'_>, modifier: u16) -> Result<bool, Halt> {
        Ok(self.jvmti.class_modifiers(class)? & i32::from(modifier) != 0)
    }

    /// A class that extends another one and has the answers of a stand-in, if there can be such.
    fn stand_in_class<'j>(
        &self,
        jni: &Jni<'j>,
        base: &Local<'j>,
        name: &str,
        id: ObjectId,
    ) -> Result<Option<Local<'j>>, Halt> {
        if is_jdk_name(name) || self.has_modifier(base, access::ENUM)? {
            return Ok(None);
        }
        let is_opened = self.subject.opened.is_opened(name);
        if self.has_modifier(base, access::FINAL)? {
            let class = name.replace('/', ".");
            return Err(Halt::Unsupported(format!(
                "an object of {class} was not made by code that is observed, and nothing can stand in for it, since \
                 the class is final"
            )));
        }
        let lineage = self.lineage(jni, base)?;
        let constructor = lineage.first().and_then(|own| simplest_constructor(own));
        // A mock is made without a constructor.
        let constructor = constructor.filter(|_| !is_opened);
        if constructor.is_none() && !is_opened {
            return Ok(None);
        }
        let answered = self.run.lock_safe().stand_ins.questions(id);
        let methods: Vec<AnsweringMethod> = answered
            .into_iter()
            .filter_map(|question| answering(&lineage, question))
            .collect();
        let mut hasher = DefaultHasher::new();
        (&methods, constructor).hash(&mut hasher);
        let own_name = format!("{name}$StandIn${}${:x}", id.0, hasher.finish());
        let java = self.java()?;
        let loader = self.jvmti.class_loader(base)?;
        if let Ok(Some(known)) = java.class(jni, &own_name, loader.as_ref()) {
            return Ok(Some(known));
        }
        let bytes = stand_in(&StandInClass {
            name: &own_name,
            base: name,
            constructor,
            methods: &methods,
        });
        let bytes = bytes.map_err(|error| Halt::Unsupported(error.to_string()))?;
        Ok(Some(jni.define_class(
            &own_name,
            loader.as_ref(),
            &bytes,
        )?))
    }

    /// The methods that a class declares, and those of the classes that it extends.
    fn lineage(&self, jni: &Jni<'_>, class: &Local<'_>) -> Result<Vec<Vec<Declared>>, Halt> {
        // Looking for a method links the class, and runs its initialiser, as making an object does.
        jni.method(class, "hashCode", "()I")?;
        let mut found = vec![self.jvmti.methods(class)?];
        let mut above = jni.superclass(class);
        while let Some(class) = above {
            found.push(self.jvmti.methods(&class)?);
            above = jni.superclass(&class);
        }
        Ok(found)
    }

    /// The answer of a stand-in, boxed, or the exception that it throws.
    pub(super) fn answer_plainly<'j>(
        &self,
        jni: &Jni<'j>,
        question: &AskedQuestion<'_>,
    ) -> Result<Result<Option<Local<'j>>, Local<'j>>, Halt> {
        let AskedQuestion {
            object,
            name,
            descriptor,
            ..
        } = question;
        let answer = {
            let mut run = self.run.lock_safe();
            run.stand_ins.next(*object, name, descriptor)
        };
        if let (Some(answer), Some(arguments)) = (&answer, &question.arguments) {
            self.capture(jni, answer, arguments)?;
        }
        let answer = answer.map(|answer| answer.end);
        // A mock may return another one.
        let result = split_descriptor(descriptor).map_or("", |(_, result)| result);
        let boxed = |value: &Value| -> Result<Option<Local<'j>>, Halt> {
            if let Some(stand_in) = self.stand_in(jni, value, result)? {
                return Ok(Some(stand_in));
            }
            match self.made(jni, value)? {
                Passed::Reference(object) => Ok(object),
                scalar => self.java()?.boxed(jni, scalar.letter(), scalar),
            }
        };
        match answer {
            Some(StatementEnd::Returned(None) | StatementEnd::Open) => Ok(Ok(None)),
            Some(StatementEnd::Returned(Some(value))) => Ok(Ok(boxed(&value)?)),
            Some(StatementEnd::Threw(value)) => match boxed(&value)? {
                Some(thrown) => Ok(Err(thrown)),
                None => Ok(Ok(None)),
            },
            None => Err(Halt::Unsupported(format!(
                "{object} has no answer to {name}"
            ))),
        }
    }

    /// Names the objects that the program gives to a stand-in and that the script has from nowhere else.
    fn capture(&self, jni: &Jni<'_>, answer: &Answer, arguments: &Local<'_>) -> Result<(), Halt> {
        let asked = answer.asked.iter().skip(1);
        for (place, value) in asked.enumerate().take(jni.array_length(arguments)) {
            let Value::Reference(Reference::Object { id, .. }) = value else {
                continue;
            };
            let is_known = {
                let run = self.run.lock_safe();
                run.bindings.here(*id).is_some() || run.scalar(*id).is_some()
            };
            if !is_known && let Some(given) = jni.array_element(arguments, place)? {
                self.name(jni, value, Passed::Reference(Some(given)))?;
            }
        }
        Ok(())
    }
}

/// The descriptor of the constructor with the fewest parameters that a subclass of the same package may call.
fn simplest_constructor(declared: &[Declared]) -> Option<&str> {
    let constructors = declared.iter().filter(|it| it.name == "<init>");
    let open = constructors.filter(|it| it.modifiers & i32::from(access::PRIVATE) == 0);
    let simplest = open.min_by_key(|it| {
        let parameters = split_descriptor(&it.descriptor).map_or_else(Vec::new, |it| it.0);
        let is_text = parameters.first() == Some(&"Ljava/lang/String;");
        (parameters.len(), !is_text)
    });
    simplest.map(|it| it.descriptor.as_str())
}

/// The method with which a stand-in answers a question, unless it may not be overridden.
fn answering(
    lineage: &[Vec<Declared>],
    (name, descriptor): (String, String),
) -> Option<AnsweringMethod> {
    let mut declared = lineage.iter().flatten();
    let found = declared.find(|it| it.name == name && it.descriptor == descriptor);
    let modifiers = found.map_or(access::PUBLIC, |it| it.modifiers as u16);
    let is_fixed = modifiers & (access::FINAL | access::STATIC | access::PRIVATE) != 0;
    (!is_fixed).then_some(AnsweringMethod {
        access: modifiers & (access::PUBLIC | access::PROTECTED),
        name,
        descriptor,
    })
}
