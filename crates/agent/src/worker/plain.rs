//! Plain runs: the calls of a scenario on the program as it is, nothing woven, nothing answered and
//! nothing compared. What a test does that is printed from the scenario, and how it ends.
//!
//! An object of the scenario is what the call returned that the scenario says returned it; of a
//! primitive class, it is that value.

use std::sync::Arc;

use culprit_jvmti::{Jni, Local, Passed};
use culprit_model::outcome::Outcome;
use culprit_model::value::{Contents, Shape, split_descriptor};
use culprit_model::{EventKind, ObjectId, Reference, Site, Step, Value};

use super::cache::{Method, Target};
use super::compare::element;
use super::perform::result_letter;
use super::{Halt, Worker};
use crate::lock::LockSafe;

/// What ends a test that has passed: a condition of the script did not hold.
const PASSED: &str = "culprit/runtime/Operators$Passed";

/// How a call ended.
type Ended<'j> = Result<Passed<'j>, Local<'j>>;

impl Worker {
    /// Does the steps of the scenario that drive, until one throws that did not, or is the last.
    pub(super) fn drive_plainly(&self, jni: &Jni<'_>) -> Result<(), Halt> {
        self.java()?.begin_plain(jni)?;
        while let Some(step) = self.take_step() {
            let done = jni.with_frame_of(64, |jni| self.perform_plainly(jni, &step));
            done.map_err(Halt::from)??;
        }
        self.run.lock_safe().finish();
        Ok(())
    }

    fn take_step(&self) -> Option<Arc<Step>> {
        let mut run = self.run.lock_safe();
        run.look(0, &self.incoming)?;
        run.take()
    }

    fn perform_plainly(&self, jni: &Jni<'_>, step: &Step) -> Result<(), Halt> {
        let undefined = || Halt::Unsupported(format!("{} is not defined", step.site));
        let site = || self.run.lock_safe().site(step.site).ok_or_else(undefined);
        match step.kind {
            EventKind::IncomingCall => {
                let at = self.run.lock_safe().used_up() - 1;
                self.learn_answers(step.depth);
                let ended = self.call_plainly(jni, &*site()?, step)?;
                self.end_plainly(jni, at, step.depth, ended)
            }
            EventKind::IncomingRead => {
                let found = self.read_plainly(jni, &*site()?, step)?;
                match step.values.last() {
                    Some(said) => self.name(jni, said, found),
                    None => Ok(()),
                }
            }
            EventKind::IncomingWrite => self.write_plainly(jni, &*site()?, step),
            // What was recorded of them is of no use: nothing here is answered.
            _ => Ok(()),
        }
    }

    fn call_plainly<'j>(&self, jni: &Jni<'j>, site: &Site, step: &Step) -> Result<Ended<'j>, Halt> {
        let mut passed = Vec::with_capacity(step.values.len());
        let descriptors = split_descriptor(&site.target.descriptor);
        let descriptors = descriptors.map_or_else(Vec::new, |(parameters, _)| parameters);
        let receivers = step.values.len().saturating_sub(descriptors.len());
        let receivers = std::iter::repeat_n("L", receivers);
        for (value, descriptor) in step.values.iter().zip(receivers.chain(descriptors)) {
            let made = match self.stand_in(jni, value, descriptor)? {
                Some(stand_in) => Passed::Reference(Some(stand_in)),
                None => self.made(jni, value)?,
            };
            passed.push(self.fit(jni, made, descriptor)?);
        }
        let target = match self.cache.target(site.id) {
            Some(target) => target,
            None => {
                let class = self.class_named(jni, &site.target.owner, 0)?;
                self.cache
                    .keep_target(site.id, self.target(jni, site, &class)?)
            }
        };
        let class = target.class.local(jni);
        self.check_plainly(jni, site, &target, &passed)?;
        let result = result_letter(&site.target.descriptor);
        Ok(match target.method {
            Method::Initialiser => {
                return Err(Halt::Unsupported("a test calls no initialiser".to_owned()));
            }
            Method::Static(method) => jni.invoke_statically(&class, method, &passed, result),
            Method::Constructor(method) => {
                let object = jni.allocate(&class)?;
                let called = jni.call_exactly(&object, &class, method, &passed, b'V');
                called.map(|()| Passed::Reference(Some(object)))
            }
            Method::Instance(method) => {
                let Some((Passed::Reference(Some(receiver)), arguments)) = passed.split_first()
                else {
                    return Err(Halt::Unsupported("a call without a receiver".to_owned()));
                };
                if !jni.is_instance(receiver, &class) {
                    let (is, wanted) = (self.class_name(jni, receiver), &site.target.owner);
                    let why = format!("{is} is no {wanted}").replace('/', ".");
                    return Err(Halt::Unsupported(why));
                }
                jni.invoke(receiver, method, arguments, result)
            }
        })
    }

    /// The JVM trusts who calls by JNI: what it is given must be what the method takes.
    fn check_plainly(
        &self,
        jni: &Jni<'_>,
        site: &Site,
        target: &Target,
        passed: &[Passed<'_>],
    ) -> Result<(), Halt> {
        let missing = || Halt::Unsupported("a call lacks arguments".to_owned());
        let descriptors = split_descriptor(&site.target.descriptor);
        let (descriptors, _) = descriptors.ok_or_else(missing)?;
        let receivers = passed.len().checked_sub(descriptors.len());
        let arguments = receivers.and_then(|count| passed.get(count..));
        let arguments = arguments.ok_or_else(missing)?;
        let wanted = descriptors.iter().zip(&target.parameters);
        for (argument, (descriptor, class)) in arguments.iter().zip(wanted) {
            let Passed::Reference(Some(object)) = argument else {
                continue;
            };
            let class = class.as_ref().map(|class| class.local(jni));
            let fits = match &class {
                Some(class) => jni.is_instance(object, class),
                None => *descriptor == "Ljava/lang/Object;",
            };
            if !fits {
                let is = self.class_name(jni, object);
                let why = format!("{} takes no {is}", site.target.name).replace('/', ".");
                return Err(Halt::Unsupported(why));
            }
        }
        Ok(())
    }

    /// Passes the steps of a call up to its end, and names what it returned.
    fn end_plainly(
        &self,
        jni: &Jni<'_>,
        at: u64,
        depth: u32,
        ended: Ended<'_>,
    ) -> Result<(), Halt> {
        let mut end = None;
        loop {
            let mut run = self.run.lock_safe();
            match run.look(0, &self.incoming) {
                Some(next) if next.depth > depth => end = run.take(),
                _ => break,
            }
        }
        let is_last = self.run.lock_safe().look(0, &self.incoming).is_none();
        let said = end.as_ref().and_then(|end| end.values.first());
        let threw = end.as_ref().map(|end| end.kind) == Some(EventKind::IncomingThrow);
        match ended {
            // What was to be caught is not there.
            Ok(_) if threw => match said {
                Some(said) => self.name(jni, said, Passed::Reference(None)),
                None => Ok(()),
            },
            Ok(result) => match said {
                Some(said) => self.name(jni, said, result),
                None => Ok(()),
            },
            Err(thrown) if threw && !is_last && self.is_as_said(jni, said, &thrown) => match said {
                Some(said) => self.name(jni, said, Passed::Reference(Some(thrown))),
                None => Ok(()),
            },
            Err(thrown) if self.class_name(jni, &thrown) == PASSED => {
                self.run.lock_safe().finish();
                Err(Halt::Ended)
            }
            Err(thrown) => {
                let trace = self.java()?.trace(jni, &thrown)?;
                self.run.lock_safe().end(Outcome::Threw { at, trace });
                Err(Halt::Ended)
            }
        }
    }

    /// Whether an exception is of the class that was recorded, which a test catches.
    fn is_as_said(&self, jni: &Jni<'_>, said: Option<&Value>, thrown: &Local<'_>) -> bool {
        let Some(Value::Reference(Reference::Object { class, .. })) = said else {
            return false;
        };
        let said = self.run.lock_safe().said.type_name(*class).to_owned();
        self.class_name(jni, thrown) == said
    }

    fn read_plainly<'j>(
        &self,
        jni: &Jni<'j>,
        site: &Site,
        step: &Step,
    ) -> Result<Passed<'j>, Halt> {
        let class = self.class_named(jni, &site.target.owner, 0)?;
        let (name, descriptor) = (&site.target.name, &site.target.descriptor);
        if site.is_static {
            return Ok(jni.get_static_field(&class, name, descriptor)?);
        }
        let receiver = self.receiver(jni, step, &class)?;
        Ok(jni.get_field(&receiver, &class, name, descriptor)?)
    }

    fn write_plainly(&self, jni: &Jni<'_>, site: &Site, step: &Step) -> Result<(), Halt> {
        let class = self.class_named(jni, &site.target.owner, 0)?;
        let (name, descriptor) = (&site.target.name, &site.target.descriptor);
        let Some(value) = step.values.last() else {
            return Err(Halt::Unsupported("a write without a value".to_owned()));
        };
        let value = self.made(jni, value)?;
        let value = self.fit(jni, value, descriptor)?;
        self.check_field(jni, descriptor, &value)?;
        if site.is_static {
            return Ok(jni.set_static_field(&class, name, descriptor, &value)?);
        }
        let receiver = self.receiver(jni, step, &class)?;
        Ok(jni.set_field(&receiver, &class, name, descriptor, &value)?)
    }

    /// A field must be of the type of what is put into it.
    fn check_field(&self, jni: &Jni<'_>, descriptor: &str, value: &Passed<'_>) -> Result<(), Halt> {
        let Passed::Reference(Some(object)) = value else {
            return Ok(());
        };
        let name = descriptor
            .strip_prefix('L')
            .and_then(|d| d.strip_suffix(';'));
        let class = self.class_named(jni, name.unwrap_or(descriptor), 0)?;
        match jni.is_instance(object, &class) {
            true => Ok(()),
            false => Err(Halt::Unsupported("a field of another type".to_owned())),
        }
    }

    /// The object whose field is used.
    fn receiver<'j>(
        &self,
        jni: &Jni<'j>,
        step: &Step,
        class: &Local<'_>,
    ) -> Result<Local<'j>, Halt> {
        let receiver = step.values.first().map(|value| self.made(jni, value));
        match receiver.transpose()? {
            Some(Passed::Reference(Some(object))) if jni.is_instance(&object, class) => Ok(object),
            _ => Err(Halt::Unsupported("a field of another class".to_owned())),
        }
    }

    /// A value that a call is given; objects must have been made by earlier calls.
    pub(super) fn made<'j>(&self, jni: &Jni<'j>, value: &Value) -> Result<Passed<'j>, Halt> {
        let mut missing = None;
        value.each_reference(&mut |reference| {
            if let Reference::Object { id, .. } = reference {
                let run = self.run.lock_safe();
                if run.bindings.here(*id).is_none() && run.scalar(*id).is_none() {
                    missing.get_or_insert(*id);
                }
            }
        });
        if let Some(id) = missing {
            return Err(Halt::Unsupported(format!("nothing has made {id}")));
        }
        self.value(jni, &self.resolved(value)?)
    }

    /// A value with those in place of names that stand for scalars, in arrays as well.
    fn resolved(&self, value: &Value) -> Result<Value, Halt> {
        let scalar = named(value).and_then(|id| self.run.lock_safe().scalar(id));
        if let Some(scalar) = scalar {
            return Ok(scalar);
        }
        let mut value = value.clone();
        if let Value::Reference(Reference::Array {
            class, contents, ..
        }) = &mut value
            && let Contents::Elements(elements) = contents
        {
            let shape = element(self.run.lock_safe().said.type_name(*class));
            for element in elements {
                let resolved = self.resolved(element)?;
                *element = match (shape, resolved.shape()) {
                    (Some(wanted), is) if wanted == is => resolved,
                    (Some(Shape::Reference), _) => {
                        Value::Reference(Reference::Boxed(Box::new(resolved)))
                    }
                    _ => return Err(Halt::Unsupported("an element does not fit".to_owned())),
                };
            }
        }
        Ok(value)
    }

    /// A value as a parameter takes it: boxed, or of a wider type.
    fn fit<'j>(
        &self,
        jni: &Jni<'j>,
        value: Passed<'j>,
        descriptor: &str,
    ) -> Result<Passed<'j>, Halt> {
        let wanted = descriptor.as_bytes().first().copied().unwrap_or(b'V');
        let integer = match value {
            Passed::Byte(v) => Some(i32::from(v)),
            Passed::Short(v) => Some(i32::from(v)),
            Passed::Char(v) => Some(i32::from(v)),
            Passed::Int(v) => Some(v),
            _ => None,
        };
        Ok(match (wanted, value, integer) {
            (b'L' | b'[', Passed::Reference(_), _) => value,
            (b'L', scalar, _) => {
                Passed::Reference(self.java()?.boxed(jni, scalar.letter(), scalar)?)
            }
            (_, Passed::Reference(boxed), _) => self.unboxed(jni, boxed.as_ref(), wanted)?,
            (_, scalar, _) if scalar.letter() == wanted => scalar,
            (b'F', Passed::Long(v), _) => Passed::Float(v as f32),
            (b'D', Passed::Long(v), _) => Passed::Double(v as f64),
            (b'D', Passed::Float(v), _) => Passed::Double(f64::from(v)),
            (b'I', _, Some(v)) => Passed::Int(v),
            (b'J', _, Some(v)) => Passed::Long(i64::from(v)),
            (b'F', _, Some(v)) => Passed::Float(v as f32),
            (b'D', _, Some(v)) => Passed::Double(f64::from(v)),
            _ => {
                return Err(Halt::Unsupported(format!(
                    "a value does not fit {descriptor}"
                )));
            }
        })
    }

    /// What a boxed value is to a parameter of a primitive type.
    fn unboxed<'j>(
        &self,
        jni: &Jni<'j>,
        boxed: Option<&Local<'_>>,
        letter: u8,
    ) -> Result<Passed<'j>, Halt> {
        let name = match letter {
            b'Z' => "booleanValue",
            b'B' => "byteValue",
            b'S' => "shortValue",
            b'C' => "charValue",
            b'I' => "intValue",
            b'J' => "longValue",
            b'F' => "floatValue",
            _ => "doubleValue",
        };
        let none = || Halt::Unsupported("a primitive value is wanted".to_owned());
        let boxed = boxed.ok_or_else(none)?;
        let descriptor = format!("(){}", char::from(letter));
        let method = jni.method(&jni.object_class(boxed), name, &descriptor);
        let method = method.map_err(|_| none())?;
        jni.invoke(boxed, method, &[], letter).map_err(|_| none())
    }

    /// The scenario names a value: from now on it is the object of that id.
    fn name(&self, jni: &Jni<'_>, said: &Value, done: Passed<'_>) -> Result<(), Halt> {
        let Some(id) = named(said) else {
            return Ok(());
        };
        match done {
            Passed::Reference(Some(object)) => {
                let here = self.java()?.adopt(jni, &object)?;
                let mut run = self.run.lock_safe();
                run.forget_scalar(id);
                run.bindings.bind(id, here);
            }
            Passed::Reference(None) => {
                let null = Value::Reference(Reference::Null);
                self.run.lock_safe().keep_scalar(id, null);
            }
            Passed::Boolean(v) => self.run.lock_safe().keep_scalar(id, Value::Boolean(v)),
            Passed::Byte(v) => self.run.lock_safe().keep_scalar(id, Value::Byte(v)),
            Passed::Short(v) => self.run.lock_safe().keep_scalar(id, Value::Short(v)),
            Passed::Char(v) => self.run.lock_safe().keep_scalar(id, Value::Char(v)),
            Passed::Int(v) => self.run.lock_safe().keep_scalar(id, Value::Int(v)),
            Passed::Long(v) => self.run.lock_safe().keep_scalar(id, Value::Long(v)),
            Passed::Float(v) => self.run.lock_safe().keep_scalar(id, Value::Float(v)),
            Passed::Double(v) => self.run.lock_safe().keep_scalar(id, Value::Double(v)),
        }
        Ok(())
    }
}

/// The object that a value is.
fn named(value: &Value) -> Option<ObjectId> {
    match value {
        Value::Reference(Reference::Object { id, .. } | Reference::Array { id, .. }) => Some(*id),
        _ => None,
    }
}
