//! Doing what the scenario says: calls into the observed code, and answers to its calls out.

use std::borrow::Cow;
use std::sync::Arc;

use culprit_jvmti::{Global, Jni, Local, Passed};
use culprit_model::observe::is_jdk_name;
use culprit_model::outcome::Outcome;
use culprit_model::value::split_descriptor;
use culprit_model::{Actor, EventKind, Member, Reference, Site, Step, TypeId, Value};
use culprit_weave::statics::TOUCH;

use super::cache::{CallTarget, Method};
use super::compare::is_lambda;
use super::java::thrown_text;
use super::{Halt, Worker, natives};
use crate::agent::Agent;
use crate::classes::internal_name;
use crate::lock::LockSafe;

/// What observed code gets for its call.
pub(super) enum Answered<'j> {
    Nothing,
    Scalar(u64),
    Reference(Option<Local<'j>>),
    Thrown(Local<'j>),
}

/// The part of the subject that a call reached.
enum Reached<'j> {
    Method,
    /// The same, and it threw this; or the class could not be linked.
    Threw(Local<'j>),
    /// The class was initialised, and has no static initialiser.
    NoInitialiser,
}

impl Worker {
    /// Does the steps of the scenario until it ends.
    pub(super) fn drive(&self, agent: &Agent, jni: &Jni<'_>) -> Result<(), Halt> {
        self.java()?
            .begin_thread(jni, self.run.lock_safe().births(natives::own_thread()))?;
        loop {
            let Some(step) = self.turn()? else {
                self.run.lock_safe().finish();
                return Ok(());
            };
            if self.comes_to_know(jni, &step)? {
                self.run.lock_safe().take();
                continue;
            }
            let step = self.driving(step);
            if step.part() != Actor::Drive {
                let why = "the recording goes on, and nothing runs that could".to_owned();
                self.run.lock_safe().diverge(None, why);
                return Ok(());
            }
            let done = jni.with_frame_of(64, |jni| self.perform(agent, jni, &step));
            done.map_err(Halt::from)??;
        }
    }

    /// The reading of a field that the next step belongs to, if that tells what goes out by it.
    fn driving(&self, next: Arc<Step>) -> Arc<Step> {
        if next.kind != EventKind::Held {
            return next;
        }
        let mut ahead = 1;
        while let Some(step) = self.next(ahead) {
            match step.kind {
                EventKind::Held => ahead += 1,
                EventKind::IncomingRead => return step,
                _ => break,
            }
        }
        next
    }

    fn next(&self, ahead: usize) -> Option<Arc<Step>> {
        let mut run = self.run.lock_safe();
        run.peek(ahead, &self.incoming).cloned()
    }

    pub(super) fn catch_up(&self, agent: &Agent, jni: &Jni<'_>) -> Result<(), Halt> {
        loop {
            self.published(agent);
            let mut run = self.run.lock_safe();
            if run.is_over() {
                return Err(Halt::Ended);
            }
            let own = natives::own_thread();
            let initialiser = run.initialises(&self.incoming);
            let Some(step) = initialiser.filter(|step| own.is_none_or(|own| own == step.thread))
            else {
                return Ok(());
            };
            drop(run);
            self.initialise(agent, jni, &step)?;
        }
    }

    /// The initialiser of an external class calls observed code. Its stub has none; so it runs when
    /// observed code is about to do what comes after it.
    fn initialise(&self, agent: &Agent, jni: &Jni<'_>, step: &Step) -> Result<(), Halt> {
        let (states, state) = (&agent.recorder.states, natives::current_state());
        let before = states.depth(state);
        let later = {
            let mut run = self.run.lock_safe();
            run.take();
            std::mem::take(&mut run.pending)
        };
        states.set_depth(state, step.depth as i32 + 1);
        loop {
            let Some(step) = self.turn()? else {
                self.run.lock_safe().finish();
                return Err(Halt::Ended);
            };
            match (step.part(), step.kind) {
                (Actor::Drive, _) => {
                    let done = jni.with_frame_of(64, |jni| self.perform(agent, jni, &step));
                    done.map_err(Halt::from)??;
                }
                (_, EventKind::ObjectState | EventKind::Born) => {
                    self.comes_to_know(jni, &step)?;
                    self.run.lock_safe().take();
                }
                (_, EventKind::OutgoingReturn | EventKind::OutgoingThrow) => break,
                _ => {
                    let why = "an external class is initialised, and the recording goes on as if it were not";
                    self.run.lock_safe().diverge(None, why.to_owned());
                    return Err(Halt::Ended);
                }
            }
        }
        states.set_depth(state, before);
        let mut run = self.run.lock_safe();
        if let Some(end) = run.take() {
            run.initialised(&end);
        }
        run.pending = later;
        Ok(())
    }

    /// Acts on the observed code.
    fn perform(&self, agent: &Agent, jni: &Jni<'_>, step: &Step) -> Result<(), Halt> {
        let site = self.run.lock_safe().site(step.site);
        let site =
            site.ok_or_else(|| Halt::Unsupported(format!("{} is not defined", step.site)))?;
        let before = self.run.lock_safe().used_up();
        let mut reached = Reached::Method;
        match step.kind {
            EventKind::IncomingCall => reached = self.call(agent, jni, &site, step)?,
            EventKind::IncomingWrite => return self.write(jni, &site, &step.values),
            EventKind::IncomingRead => return self.read(agent, jni, &site, &step.values),
            _ => {}
        }
        self.catch_up(agent, jni)?;
        let mut run = self.run.lock_safe();
        if run.used_up() != before {
            return Ok(());
        }
        let why = match reached {
            Reached::NoInitialiser if run.skip_lost_initialiser(&self.incoming) => return Ok(()),
            Reached::NoInitialiser => {
                let class = site.target.owner.replace('/', ".");
                format!("{class} has no static initialiser in this version")
            }
            Reached::Threw(thrown) if self.is_linkage_error(jni, &thrown) => {
                let class = site.target.owner.replace('/', ".");
                format!("{class} cannot be used: {}", thrown_text(jni, &thrown))
            }
            Reached::Method | Reached::Threw(_) => {
                "nothing was seen of the call: the method runs without probes".to_owned()
            }
        };
        run.diverge(None, why);
        Err(Halt::Ended)
    }

    /// Whether an exception is the JVM's own, about a class that it cannot link.
    fn is_linkage_error(&self, jni: &Jni<'_>, thrown: &Local<'_>) -> bool {
        let is_jdk = is_jdk_name(&self.class_name(jni, thrown));
        let class = jni.find_class("java/lang/LinkageError");
        is_jdk && class.is_ok_and(|class| jni.is_instance(thrown, &class))
    }

    fn call<'j>(
        &self,
        agent: &Agent,
        jni: &Jni<'j>,
        site: &Site,
        step: &Step,
    ) -> Result<Reached<'j>, Halt> {
        let mut passed = Vec::with_capacity(step.values.len());
        for value in &step.values {
            passed.push(self.value(jni, value)?);
        }
        let target = match self.cache.target(site.id) {
            Some(target) => target,
            None => {
                let class = self.class_named(jni, &site.target.owner, 0)?;
                self.cache
                    .keep_target(site.id, self.target(jni, site, &class)?)
            }
        };
        let mut class = target.class.local(jni);
        let mut reached = Reached::Method;
        if let Some(touch) = target.touch {
            // Whatever its initialiser throws, the woven code has recorded.
            let touched = jni.invoke_statically(&class, touch, &[], b'V');
            reached = touched.map_or_else(Reached::Threw, |_| Reached::Method);
        }
        self.check_arguments(jni, site, &target, &passed)?;
        let result = result_letter(&site.target.descriptor);
        // Whatever it throws, the woven code has recorded.
        match target.method {
            // Asking for a method initialises its class, the first time.
            Method::Initialiser => {
                let is_missing = jni.static_method(&class, "<clinit>", "()V").is_err();
                if is_missing && matches!(reached, Reached::Method) {
                    return Ok(Reached::NoInitialiser);
                }
            }
            Method::Static(method) => {
                let _ = jni.invoke_statically(&class, method, &passed, result);
            }
            Method::Constructor(mut method) => {
                let object = match self.constructed_class(step) {
                    Some(heir) => jni.allocate(&self.class(jni, heir)?)?,
                    None => jni.allocate(&class)?,
                };
                if let Some(other) = self.of_other_loader(jni, site, &object, &class)?
                    && let Method::Constructor(its) = self.target(jni, site, &other)?.method
                {
                    (class, method) = (other, its);
                }
                let outside = self.java()?.outside(jni)?;
                let called = jni.call_exactly(&object, &class, method, &passed, b'V');
                // Where the external superclass threw, no handler in the constructor can see that. Who
                // called it when it was recorded may not have seen it either.
                if let Err(thrown) = called {
                    self.catch_up(agent, jni)?;
                    if self.next(0).is_some_and(|next| next.depth > step.depth) {
                        self.java()?.reached(jni, &thrown, outside)?;
                    }
                }
            }
            Method::Instance(mut method) => {
                let Some((Passed::Reference(Some(receiver)), arguments)) = passed.split_first()
                else {
                    return Err(Halt::Unsupported("a call without a receiver".to_owned()));
                };
                if let Some(other) = self.of_other_loader(jni, site, receiver, &class)?
                    && let Method::Instance(its) = self.target(jni, site, &other)?.method
                {
                    (class, method) = (other, its);
                }
                let _ = jni.call_exactly(receiver, &class, method, arguments, result);
            }
        }
        Ok(reached)
    }

    /// The classes of the parameters of a method that a reference is to be of.
    fn parameters(&self, jni: &Jni<'_>, descriptor: &str) -> Result<Vec<Option<Global>>, Halt> {
        let Some((parameters, _)) = split_descriptor(descriptor) else {
            return Ok(Vec::new());
        };
        let mut classes = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            let name = match parameter
                .strip_prefix('L')
                .and_then(|p| p.strip_suffix(';'))
            {
                Some("java/lang/Object") => None,
                Some(class) => Some(class),
                None if parameter.starts_with('[') => Some(parameter),
                None => None,
            };
            // A class that the recording lacks has no objects either.
            let class = name.and_then(|name| self.class_named(jni, name, 0).ok());
            classes.push(class.map(|class| jni.global(&class)).transpose()?);
        }
        Ok(classes)
    }

    /// The JVM trusts who calls by JNI: what it is given must be what the method takes.
    fn check_arguments(
        &self,
        jni: &Jni<'_>,
        site: &Site,
        target: &CallTarget,
        passed: &[Passed<'_>],
    ) -> Result<(), Halt> {
        let arguments = passed.len().checked_sub(target.parameters.len());
        let arguments = arguments.and_then(|from| passed.get(from..));
        let arguments =
            arguments.ok_or_else(|| Halt::Unsupported("a call lacks arguments".to_owned()))?;
        for (argument, class) in arguments.iter().zip(&target.parameters) {
            let (Passed::Reference(Some(object)), Some(class)) = (argument, class) else {
                continue;
            };
            let class = class.local(jni);
            if jni.is_instance(object, &class) {
                continue;
            }
            let (is, wanted) = (self.class_name(jni, object), self.name_of(&class));
            // Another loader may have one of the same name, and a stand-in for what is made at run time
            // is of a class of its own.
            if self.subject.has_several(&wanted) || is_lambda(&is) {
                continue;
            }
            let method = &site.target.name;
            let why = format!("{method} takes {wanted}, which {is} is not").replace('/', ".");
            self.run.lock_safe().diverge(None, why);
            return Err(Halt::Ended);
        }
        Ok(())
    }

    /// The internal name of a class.
    fn name_of(&self, class: &Local<'_>) -> String {
        let signature = self.jvmti.class_signature(class).unwrap_or_default();
        internal_name(&signature).to_owned()
    }

    /// The class of the site's name that an object is of, if that is not the given one: several loaders
    /// may have defined such.
    fn of_other_loader<'j>(
        &self,
        jni: &Jni<'j>,
        site: &Site,
        object: &Local<'_>,
        class: &Local<'_>,
    ) -> Result<Option<Local<'j>>, Halt> {
        if jni.is_instance(object, class) {
            return Ok(None);
        }
        let mut above = Some(jni.object_class(object));
        while let Some(other) = above {
            let signature = self.jvmti.class_signature(&other)?;
            if internal_name(&signature) == site.target.owner {
                return Ok(Some(other));
            }
            above = jni.superclass(&other);
        }
        let (name, owner) = (self.class_name(jni, object), &site.target.owner);
        let why = format!("{owner} is called on an object of {name}").replace('/', ".");
        Err(Halt::Unsupported(why))
    }

    /// The class of the object that a constructor is called for: it may be a subclass, of which the step
    /// knows nothing.
    fn constructed_class(&self, call: &Step) -> Option<TypeId> {
        let mut ahead = 1;
        loop {
            let step = self.next(ahead)?;
            let own = step.thread == call.thread;
            match (step.kind, step.values.first()) {
                (
                    EventKind::Constructed | EventKind::IncomingReturn,
                    Some(Value::Reference(Reference::Object { class, .. })),
                ) if own && step.depth == call.depth + 1 => return Some(*class),
                _ if own && step.depth <= call.depth => return None,
                (EventKind::IncomingThrow, _) if own && step.depth == call.depth + 1 => {
                    return None;
                }
                _ => ahead += 1,
            }
        }
    }

    /// What the calls of a site go to, in a class.
    pub(super) fn target(
        &self,
        jni: &Jni<'_>,
        site: &Site,
        class: &Local<'_>,
    ) -> Result<CallTarget, Halt> {
        let Member {
            owner,
            name,
            descriptor,
        } = &site.target;
        let missing = |_| {
            let why = format!("{} has no {name}{descriptor}", owner.replace('/', "."));
            self.run.lock_safe().diverge(None, why);
            Halt::Ended
        };
        let method = if name == "<clinit>" {
            Method::Initialiser
        } else if name == "<init>" {
            let method = jni.method(class, name, descriptor);
            Method::Constructor(method.map_err(missing)?)
        } else if site.is_static {
            let method = jni.static_method(class, name, descriptor);
            Method::Static(method.map_err(missing)?)
        } else {
            let method = jni.method(class, name, descriptor);
            Method::Instance(method.map_err(missing)?)
        };
        let touches = self.is_reset(owner) && !matches!(method, Method::Instance(_));
        let touch = touches.then(|| jni.static_method(class, TOUCH, "()V").ok());
        Ok(CallTarget {
            class: jni.global(class)?,
            method,
            parameters: self.parameters(jni, descriptor)?,
            touch: touch.flatten(),
        })
    }

    /// External code writes an observed field.
    fn write(&self, jni: &Jni<'_>, site: &Site, values: &[Value]) -> Result<(), Halt> {
        let target = &site.target;
        let class = self.class_named(jni, &target.owner, 0)?;
        let Some((value, receiver)) = values.split_last() else {
            return Err(Halt::Unsupported("a write without a value".to_owned()));
        };
        let value = self.value(jni, value)?;
        let (name, descriptor) = (&target.name, &target.descriptor);
        let receiver = match receiver.first() {
            None => {
                jni.set_static_field(&class, name, descriptor, &value)?;
                None
            }
            Some(receiver) => {
                let Passed::Reference(Some(receiver)) = self.value(jni, receiver)? else {
                    return Err(Halt::Unsupported("a write to a field of null".to_owned()));
                };
                jni.set_field(&receiver, &class, name, descriptor, &value)?;
                Some(receiver)
            }
        };
        self.java()?
            .accessed(jni, &class, name, receiver.as_ref(), true)?;
        self.run.lock_safe().take();
        Ok(())
    }

    /// External code reads an observed field: it must find there what it did.
    fn read(
        &self,
        agent: &Agent,
        jni: &Jni<'_>,
        site: &Site,
        values: &[Value],
    ) -> Result<(), Halt> {
        let target = &site.target;
        let class = self.class_named(jni, &target.owner, 0)?;
        let Some((said, receiver)) = values.split_last() else {
            return Err(Halt::Unsupported("a read without a value".to_owned()));
        };
        let (name, descriptor) = (&target.name, &target.descriptor);
        let receiver = match receiver.first() {
            None => None,
            Some(receiver) => match self.value(jni, receiver)? {
                Passed::Reference(Some(receiver)) => Some(receiver),
                _ => return Err(Halt::Unsupported("a read of a field of null".to_owned())),
            },
        };
        let found = match &receiver {
            None => jni.get_static_field(&class, name, descriptor)?,
            Some(receiver) => jni.get_field(receiver, &class, name, descriptor)?,
        };
        self.java()?
            .accessed(jni, &class, name, receiver.as_ref(), false)?;
        // One that the observed class inherits from a stub, nobody has set.
        if !site.is_static && self.is_inherited(jni, &class, site) {
            self.run.lock_safe().take();
            return Ok(());
        }
        if let Passed::Reference(found) = &found {
            self.java()?.found(jni, found.as_ref())?;
            return self.catch_up(agent, jni);
        }
        let same = match (said, found) {
            (Value::Boolean(a), Passed::Boolean(b)) => *a == b,
            (Value::Byte(a), Passed::Byte(b)) => *a == b,
            (Value::Short(a), Passed::Short(b)) => *a == b,
            (Value::Char(a), Passed::Char(b)) => *a == b,
            (Value::Int(a), Passed::Int(b)) => *a == b,
            (Value::Long(a), Passed::Long(b)) => *a == b,
            (Value::Float(a), Passed::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Double(a), Passed::Double(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        };
        let mut run = self.run.lock_safe();
        if !same {
            run.diverge(None, format!("the field {name} has another value"));
            return Err(Halt::Ended);
        }
        run.take();
        Ok(())
    }

    /// Whether a field is one of an external class.
    fn is_inherited(&self, jni: &Jni<'_>, class: &Local<'_>, site: &Site) -> bool {
        let (name, descriptor) = (&site.target.name, &site.target.descriptor);
        let declaring = self
            .jvmti
            .field_declaring_class(jni, class, name, descriptor);
        let Ok(Some(declaring)) = declaring else {
            return false;
        };
        let signature = self.jvmti.class_signature(&declaring).unwrap_or_default();
        self.subject.is_outline(internal_name(&signature))
    }

    /// What observed code gets for the call that it has just made.
    pub(super) fn answer<'j>(
        &self,
        agent: &Agent,
        jni: &Jni<'j>,
        constructed: Option<&Local<'_>>,
    ) -> Result<Answered<'j>, Halt> {
        self.catch_up(agent, jni)?;
        let state = natives::current_state();
        if agent.recorder.states.depth(state) % 2 != 0 {
            let why = "a stub was called, and no call of it is recorded".to_owned();
            self.run.lock_safe().diverge(None, why);
            return Err(Halt::Ended);
        }
        if let Some(object) = constructed {
            let here = self.java()?.adopt(jni, object)?;
            let name = self.class_name(jni, object);
            let mut run = self.run.lock_safe();
            if !run.bindings.is_bound(here) {
                run.unfinished.push((name, here));
            }
        }
        let lambda_result = match self.next(0) {
            Some(step) => self.run.lock_safe().lambda_result(step.thread),
            None => None,
        };
        let mut ahead = 0;
        loop {
            let next = match ahead {
                0 => self.turn_of_call(jni)?,
                _ => self.next(ahead),
            };
            let Some(step) = next else {
                // The call never ended while it was recorded.
                self.run.lock_safe().finish();
                return Err(Halt::Ended);
            };
            let step = self.driving(step);
            match (step.part(), step.kind) {
                (Actor::Drive, _) => {
                    let done = jni.with_frame_of(64, |jni| self.perform(agent, jni, &step));
                    done.map_err(Halt::from)??;
                    ahead = 0;
                }
                (_, EventKind::ObjectState | EventKind::Born) => {
                    self.comes_to_know(jni, &step)?;
                    ahead += 1;
                }
                (_, EventKind::ArrayContents) => {
                    for value in &step.values {
                        let filled = jni.with_frame_of(64, |jni| self.value(jni, value).map(drop));
                        filled.map_err(Halt::from)??;
                    }
                    ahead += 1;
                }
                (_, EventKind::OutgoingReturn) => {
                    let result = step.values.first();
                    let result = result.map(|value| adapted(value, lambda_result));
                    return self.result(jni, result.as_deref());
                }
                (_, EventKind::OutgoingThrow) => {
                    let thrown = step.values.first();
                    return match self.result(jni, thrown)? {
                        Answered::Reference(Some(thrown)) => Ok(Answered::Thrown(thrown)),
                        _ => Err(Halt::Unsupported("an exception that is null".to_owned())),
                    };
                }
                _ => {
                    let why = "the observed code has called out, and the recording goes on as if it had not";
                    self.run.lock_safe().diverge(None, why.to_owned());
                    return Err(Halt::Ended);
                }
            }
        }
    }

    /// What observed code finds in an external field.
    pub(super) fn field<'j>(&self, agent: &Agent, jni: &Jni<'j>) -> Result<Answered<'j>, Halt> {
        self.catch_up(agent, jni)?;
        match self.turn()? {
            Some(step) if step.kind == EventKind::OutgoingRead => {
                self.result(jni, step.values.last())
            }
            _ => {
                let thrown = self.run.lock_safe().initialiser_threw();
                if let Some(thrown) = thrown {
                    return self.initialiser_error(jni, &thrown);
                }
                let why = "the observed code reads an external field".to_owned();
                self.run.lock_safe().diverge(None, why);
                Err(Halt::Ended)
            }
        }
    }

    /// What the JVM makes of an exception that leaves an initialiser.
    fn initialiser_error<'j>(&self, jni: &Jni<'j>, thrown: &Value) -> Result<Answered<'j>, Halt> {
        let cause = self.value(jni, thrown)?;
        let error = jni.find_class("java/lang/Error")?;
        if let Passed::Reference(Some(thrown)) = &cause
            && jni.is_instance(thrown, &error)
        {
            return Ok(Answered::Thrown(*thrown));
        }
        let class = jni.find_class("java/lang/ExceptionInInitializerError")?;
        let made = jni.allocate(&class)?;
        let constructor = jni.method(&class, "<init>", "(Ljava/lang/Throwable;)V")?;
        match jni.call_exactly(&made, &class, constructor, &[cause], b'V') {
            Ok(_) => Ok(Answered::Thrown(made)),
            Err(_) => Err(Halt::Unsupported("an initialiser that fails".to_owned())),
        }
    }

    /// The hash that an object had.
    pub(super) fn hash(&self, agent: &Agent, jni: &Jni<'_>) -> Result<i32, Halt> {
        self.catch_up(agent, jni)?;
        Ok(match self.turn()? {
            Some(step) if step.kind == EventKind::IdentityHash => match step.values.last() {
                Some(Value::Int(hash)) => *hash,
                _ => 0,
            },
            _ => 0,
        })
    }

    /// Whether two equal strings are two, which observed code is about to ask, after so many since its
    /// last event that were one. No turn is waited for: where they are one there is no step.
    pub(super) fn apart(&self, agent: &Agent, jni: &Jni<'_>, before: i32) -> Result<bool, Halt> {
        self.catch_up(agent, jni)?;
        let own = natives::own_thread();
        let step = self.run.lock_safe().next_of(own, &self.incoming);
        Ok(step.is_some_and(|step| {
            step.kind == EventKind::Apart && step.values.last() == Some(&Value::Int(before))
        }))
    }

    fn result<'j>(&self, jni: &Jni<'j>, value: Option<&Value>) -> Result<Answered<'j>, Halt> {
        let Some(value) = value else {
            return Ok(Answered::Nothing);
        };
        Ok(match self.value(jni, value)? {
            Passed::Reference(object) => Answered::Reference(object),
            Passed::Boolean(v) => Answered::Scalar(u64::from(v)),
            Passed::Byte(v) => Answered::Scalar(i64::from(v) as u64),
            Passed::Short(v) => Answered::Scalar(i64::from(v) as u64),
            Passed::Char(v) => Answered::Scalar(u64::from(v)),
            Passed::Int(v) => Answered::Scalar(i64::from(v) as u64),
            Passed::Long(v) => Answered::Scalar(v as u64),
            Passed::Float(v) => Answered::Scalar(u64::from(v.to_bits())),
            Passed::Double(v) => Answered::Scalar(v.to_bits()),
        })
    }

    /// Ends the run for a reason of the executor's own.
    pub(super) fn halt(&self, halt: Halt) {
        let mut run = self.run.lock_safe();
        if let Halt::Unsupported(why) = halt {
            run.end(Outcome::Unsupported(why));
        }
        // Others may wait for what never comes.
        self.wake_all(&mut run);
    }
}

/// A value as the method of a lambda returns it whose body has returned it.
fn adapted(value: &Value, result: Option<u8>) -> Cow<'_, Value> {
    match (result, value) {
        (None | Some(b'L' | b'['), Value::Reference(_)) | (None, _) => Cow::Borrowed(value),
        (Some(b'L' | b'['), scalar) => {
            let boxed = Reference::Boxed(Box::new(scalar.clone()));
            Cow::Owned(Value::Reference(boxed))
        }
        (_, Value::Reference(Reference::Boxed(value))) => Cow::Borrowed(value),
        _ => Cow::Borrowed(value),
    }
}

/// The first letter of the result of a method.
pub(super) fn result_letter(descriptor: &str) -> u8 {
    let result = descriptor.rsplit(')').next();
    let letter = result.and_then(|result| result.as_bytes().first());
    letter.copied().unwrap_or(b'V')
}
