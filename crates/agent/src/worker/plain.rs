//! Plain runs: the statements of a script on the program as it is, nothing woven and
//! nothing compared; only stand-ins answer. A plain run does what the test does that is printed from the script.
//!
//! A name of the script is the object that its statement returned; of a primitive class, it is that value.

use std::sync::Arc;

use culprit_jvmti::{Jni, Local, Passed};
use culprit_model::outcome::Outcome;
use culprit_model::script::{Action, Lambda, Operation, StatementEnd};
use culprit_model::value::{Contents, Shape, split_descriptor};
use culprit_model::{Member, ObjectId, Reference, Site, SiteId, Statement, Value};

use super::cache::{CallTarget, Method};
use super::compare::element;
use super::perform::result_letter;
use super::stand_in::StandIns;
use super::{Halt, Worker};
use crate::lock::LockSafe;
use crate::operators;
use crate::tracing::tracing;

/// The end of a statement: its result, or the exception that it threw.
type StatementResult<'j> = Result<Passed<'j>, Local<'j>>;

/// A statement, and its place in the script.
#[derive(Clone, Copy)]
struct Placed<'s> {
    statement: &'s Statement,
    number: usize,
    /// No later statement does anything.
    is_last: bool,
}

impl Worker {
    /// Runs the script, called from a class of the program's loader: the JDK looks for classes and resources with the
    /// loader of whoever calls it.
    pub(super) fn drive_plainly(&self, jni: &Jni<'_>) -> Result<(), Halt> {
        let script = Arc::new(self.run.lock_safe().read_script(&self.incoming));
        self.run.lock_safe().stand_ins = StandIns::of(script);
        self.open_classes(jni);
        let java = self.java()?;
        java.begin_plain(jni)?;
        let caller = self.subject.caller(jni, java)?;
        let run = jni.static_method(&caller, "run", "()V")?;
        if let Some(tracing) = tracing() {
            tracing.begin(jni)?;
        }
        let called = jni.call_static_void(&caller, run, &[]);
        if let Some(tracing) = tracing() {
            let number = self.run.lock_safe().number();
            if let Err(error) = tracing.end(jni, number) {
                self.fault(&format!("the trace cannot be written: {error}"));
            }
        }
        called.map_err(|_| Halt::Unsupported("the script cannot be run".to_owned()))
    }

    /// Runs the script on the stack of its caller.
    pub(super) fn run_script(&self, jni: &Jni<'_>) {
        if let Err(halt) = self.run_statements(jni) {
            self.halt(halt);
        }
    }

    /// Runs the statements of the script until one fails or a guard ends it.
    fn run_statements(&self, jni: &Jni<'_>) -> Result<(), Halt> {
        let script = self.run.lock_safe().stand_ins.script();
        let last = script.statements.iter().rposition(acts);
        for (number, statement) in script.statements.iter().enumerate() {
            if self.run.lock_safe().is_over() {
                return Ok(());
            }
            let placed = Placed {
                statement,
                number,
                is_last: last.is_none_or(|last| last <= number),
            };
            if let Some(tracing) = tracing() {
                tracing.statement(jni, number)?;
            }
            let done = jni.with_frame_of(64, |jni| self.perform_plainly(jni, placed));
            done.map_err(Halt::from)??;
            self.run.lock_safe().advance();
        }
        self.run.lock_safe().finish();
        Ok(())
    }

    fn perform_plainly(&self, jni: &Jni<'_>, placed: Placed<'_>) -> Result<(), Halt> {
        let given = placed.statement.given.as_slice();
        let ended = match &placed.statement.action {
            Action::Call(call) => self.call_plainly(jni, &*self.site_plainly(call.site)?, given)?,
            Action::Read(site) => {
                Ok(self.read_plainly(jni, &*self.site_plainly(*site)?, given.first())?)
            }
            Action::Write(site) => {
                return self.write_plainly(jni, &*self.site_plainly(*site)?, given);
            }
            Action::Operate(operation) => self.operate(jni, *operation, given)?,
            Action::Lambda(lambda) => self.make_lambda(jni, lambda, given)?,
            Action::Guard => return self.guard(jni, given),
            Action::Expect(_) | Action::Mark(_) | Action::Loop(_) => return Ok(()),
        };
        self.end_plainly(jni, placed, ended)
    }

    fn site_plainly(&self, site: SiteId) -> Result<Arc<Site>, Halt> {
        let undefined = || Halt::Unsupported(format!("{site} is not defined"));
        self.run.lock_safe().site(site).ok_or_else(undefined)
    }

    /// An operator of Java.
    fn operate<'j>(
        &self,
        jni: &Jni<'j>,
        operation: Operation,
        given: &[Value],
    ) -> Result<StatementResult<'j>, Halt> {
        let operators = &self.java()?.operators;
        let operands = operators.operands(operation);
        if operands.len() != given.len() {
            return Err(Halt::Unsupported("an operator lacks operands".to_owned()));
        }
        let mut passed = Vec::with_capacity(given.len());
        for (value, operand) in given.iter().zip(operands) {
            let value = self.made(jni, value)?;
            let value = self.fit(jni, value, &operand.descriptor)?;
            if !operand.takes(jni, &value) {
                let name = operation.operator.name();
                return Err(Halt::Unsupported(format!("{name} takes no such operand")));
            }
            passed.push(value);
        }
        Ok(operators.perform(jni, operation, &passed))
    }

    /// A lambda or method reference, made by the method that its call site calls.
    fn make_lambda<'j>(
        &self,
        jni: &Jni<'j>,
        lambda: &Lambda,
        captured: &[Value],
    ) -> Result<StatementResult<'j>, Halt> {
        let class = |id| Ok::<_, Halt>(Passed::Reference(Some(self.class(jni, id)?)));
        let text = |text: &str| self.value(jni, &Value::text(text));
        let object = jni.find_class("java/lang/Object")?;
        let array = jni.new_object_array(captured.len(), &object)?;
        for (at, value) in captured.iter().enumerate() {
            let value = self.made(jni, value)?;
            let value = self.fit(jni, value, "Ljava/lang/Object;")?;
            if let Passed::Reference(value) = value
                && let Err(thrown) = jni.set_element(&array, at, value.as_ref())
            {
                return Ok(Err(thrown));
            }
        }
        let parameters = [
            class(lambda.body_class)?,
            text(&lambda.body_name)?,
            text(&lambda.body_descriptor)?,
            Passed::Int(lambda.kind as i32),
            class(lambda.written_in)?,
            class(lambda.interface)?,
            text(&lambda.method)?,
            text(&lambda.erased)?,
            text(&lambda.exact)?,
            Passed::Reference(Some(array)),
        ];
        Ok(self.java()?.operators.make_lambda(jni, &parameters))
    }

    /// Ends the run, as passed, unless a condition holds.
    fn guard(&self, jni: &Jni<'_>, given: &[Value]) -> Result<(), Halt> {
        let missing = || Halt::Unsupported("a guard without a condition".to_owned());
        let holds = self.made(jni, given.first().ok_or_else(missing)?)?;
        match self.fit(jni, holds, "Z")? {
            Passed::Boolean(true) => Ok(()),
            Passed::Boolean(false) => {
                self.run.lock_safe().finish();
                Err(Halt::Ended)
            }
            _ => Err(missing()),
        }
    }

    fn call_plainly<'j>(
        &self,
        jni: &Jni<'j>,
        site: &Site,
        given: &[Value],
    ) -> Result<StatementResult<'j>, Halt> {
        let mut passed = Vec::with_capacity(given.len());
        let descriptors = split_descriptor(&site.target.descriptor);
        let descriptors = descriptors.map_or_else(Vec::new, |(parameters, _)| parameters);
        let receivers = given.len().saturating_sub(descriptors.len());
        let receivers = std::iter::repeat_n("L", receivers);
        for (value, descriptor) in given.iter().zip(receivers.chain(descriptors)) {
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
                called.map(|_| Passed::Reference(Some(object)))
            }
            Method::Instance(method) => {
                let (receiver, arguments) = match passed.split_first() {
                    Some((Passed::Reference(Some(receiver)), arguments)) => (receiver, arguments),
                    Some((Passed::Reference(None), _)) => {
                        let method = as_the_jvm_writes(&site.target);
                        return Ok(Err(self.java()?.null_receiver(jni, &method)?));
                    }
                    _ => {
                        return Err(Halt::Unsupported("a call without a receiver".to_owned()));
                    }
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
        target: &CallTarget,
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

    /// Names the result of a statement, or ends the run with what it threw.
    fn end_plainly(
        &self,
        jni: &Jni<'_>,
        placed: Placed<'_>,
        ended: StatementResult<'_>,
    ) -> Result<(), Halt> {
        let expected = &placed.statement.end;
        let named = match (ended, expected) {
            // The exception that is expected is missing.
            (Ok(_), StatementEnd::Threw(_)) => Passed::Reference(None),
            (Ok(result), _) => result,
            (Err(thrown), StatementEnd::Threw(said))
                if !placed.is_last && self.is_as_said(jni, said, &thrown)? =>
            {
                Passed::Reference(Some(thrown))
            }
            (Err(thrown), _) => {
                if let Some(tracing) = tracing() {
                    tracing.stop_events(jni)?;
                }
                let trace = self.java()?.trace(jni, &thrown)?;
                let at = placed.number as u64;
                self.run.lock_safe().end(Outcome::Threw { at, trace });
                return Err(Halt::Ended);
            }
        };
        match expected.value() {
            Some(said) => self.name(jni, said, named),
            None => Ok(()),
        }
    }

    /// True if a test catches an exception: it is of the class that was recorded, or of one below.
    fn is_as_said(&self, jni: &Jni<'_>, said: &Value, thrown: &Local<'_>) -> Result<bool, Halt> {
        let Value::Reference(Reference::Object { class, .. }) = said else {
            return Ok(false);
        };
        Ok(jni.is_instance(thrown, &self.class(jni, *class)?))
    }

    fn read_plainly<'j>(
        &self,
        jni: &Jni<'j>,
        site: &Site,
        on: Option<&Value>,
    ) -> Result<Passed<'j>, Halt> {
        let class = self.class_named(jni, &site.target.owner, 0)?;
        let (name, descriptor) = (&site.target.name, &site.target.descriptor);
        if site.is_static {
            return Ok(jni.get_static_field(&class, name, descriptor)?);
        }
        let receiver = self.receiver(jni, on, &class)?;
        Ok(jni.get_field(&receiver, &class, name, descriptor)?)
    }

    fn write_plainly(&self, jni: &Jni<'_>, site: &Site, given: &[Value]) -> Result<(), Halt> {
        let class = self.class_named(jni, &site.target.owner, 0)?;
        let (name, descriptor) = (&site.target.name, &site.target.descriptor);
        let Some((value, on)) = given.split_last() else {
            return Err(Halt::Unsupported("a write without a value".to_owned()));
        };
        let value = match self.stand_in(jni, value, descriptor)? {
            Some(stand_in) => Passed::Reference(Some(stand_in)),
            None => self.made(jni, value)?,
        };
        let value = self.fit(jni, value, descriptor)?;
        self.check_field(jni, descriptor, &value)?;
        if site.is_static {
            return Ok(jni.set_static_field(&class, name, descriptor, &value)?);
        }
        let receiver = self.receiver(jni, on.first(), &class)?;
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
        on: Option<&Value>,
        class: &Local<'_>,
    ) -> Result<Local<'j>, Halt> {
        let receiver = on.map(|value| self.made(jni, value));
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
        let none = || Halt::Unsupported("a primitive value is wanted".to_owned());
        let boxed = boxed.ok_or_else(none)?;
        let shape = Shape::of_letter(letter).ok_or_else(none)?;
        let name = format!("{}Value", shape.class_name());
        let descriptor = format!("(){}", char::from(letter));
        let method = jni.method(&jni.object_class(boxed), &name, &descriptor);
        let method = method.map_err(|_| none())?;
        jni.invoke(boxed, method, &[], letter).map_err(|_| none())
    }

    /// The script names a value: from now on it is the object of that id.
    pub(super) fn name(&self, jni: &Jni<'_>, said: &Value, done: Passed<'_>) -> Result<(), Halt> {
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
            null_or_scalar => {
                let value = operators::scalar(&null_or_scalar);
                self.run.lock_safe().keep_scalar(id, value);
            }
        }
        Ok(())
    }
}

/// Whether a statement does something in a run.
fn acts(statement: &Statement) -> bool {
    !matches!(statement.action, Action::Mark(_) | Action::Loop(_))
}

/// The object that a value is.
fn named(value: &Value) -> Option<ObjectId> {
    match value {
        Value::Reference(Reference::Object { id, .. } | Reference::Array { id, .. }) => Some(*id),
        _ => None,
    }
}

/// A method as the JVM writes it in messages: `shop.Cart.add(String, int)`.
fn as_the_jvm_writes(method: &Member) -> String {
    let (owner, name) = (method.owner.replace('/', "."), &method.name);
    let parameters = split_descriptor(&method.descriptor).map_or_else(Vec::new, |it| it.0);
    let parameters: Vec<String> = parameters.into_iter().map(type_name).collect();
    format!("{owner}.{name}({})", parameters.join(", "))
}

fn type_name(descriptor: &str) -> String {
    if let Some(element) = descriptor.strip_prefix('[') {
        return format!("{}[]", type_name(element));
    }
    let class = descriptor
        .strip_prefix('L')
        .and_then(|name| name.strip_suffix(';'));
    match (class, Shape::of(descriptor)) {
        (Some("java/lang/Object"), _) => "Object".to_owned(),
        (Some("java/lang/String"), _) => "String".to_owned(),
        (Some(class), _) => class.replace('/', "."),
        (None, Some(shape)) => shape.class_name().to_owned(),
        (None, None) => descriptor.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_written_as_in_messages_of_the_jvm() {
        let method = |owner: &str, name: &str, descriptor: &str| {
            as_the_jvm_writes(&Member {
                owner: owner.to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
            })
        };
        assert_eq!(
            method(
                "java/util/Map",
                "get",
                "(Ljava/lang/Object;)Ljava/lang/Object;"
            ),
            "java.util.Map.get(Object)"
        );
        assert_eq!(
            method(
                "shop/Cart$Item",
                "set",
                "([ILjava/lang/String;Ljava/util/List;J)V"
            ),
            "shop.Cart$Item.set(int[], String, java.util.List, long)"
        );
    }
}
