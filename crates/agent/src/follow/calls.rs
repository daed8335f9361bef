//! Calls that the driver makes. A call is classified before it runs, since a statement has the values as they
//! were then; executed by the JVM; and noted, with its end, if it left the driver.

use std::sync::Arc;

use culprit_jvmti::{Jni, Local, Passed};
use culprit_model::script::StatementEnd;
use culprit_model::value::{Shape, split_descriptor};
use culprit_model::{Member, Reference, Value};
use culprit_weave::follow::HelperMethod;

use super::Following;
use super::activity::{ClosedCall, OpenCall};
use super::machine::{Called, MachineFrame};
use super::naming::{is_assertion, is_program};
use super::operations::{OperationResult, letter};
use super::script_writer::may_be_expected_to_throw;
use super::value::{Held, JvmValue, Variable};
use crate::classes::internal_name;
use crate::lock::{LockSafe, ShareSafe};

/// Methods of JUnit and TestNG that run what they are given, at once. Those of AssertJ (`catchThrowable`,
/// `isThrownBy`) are calls like others: a script repeats them with their lambda.
const RUNNERS: [&str; 6] = [
    "assertThrows",
    "assertThrowsExactly",
    "expectThrows",
    "assertDoesNotThrow",
    "assertAll",
    "assertTimeout",
];

/// The kind of a called method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    Static,
    Constructor,
    /// The first given value is the receiver.
    Virtual,
}

/// A call that the driver makes, as it was classified.
struct Outgoing<'j> {
    target: Member,
    kind: CallKind,
    /// The receiver, if there is one and the call is not of a constructor, then the arguments.
    given: Vec<Held<'j>>,
    noting: Noting,
    /// The program has a hand in it, and so in its result.
    of_program: bool,
    /// The test framework runs something of the driver within.
    is_runner: bool,
    /// The number of statements before it.
    first: usize,
}

/// The way that a call becomes a statement.
enum Noting {
    /// It does not: it is within another call out of the driver, or the script is full.
    Off,
    /// It does not: it leads to a followed method, whose own calls are noted.
    Followed,
    /// With these values.
    Call(Vec<Value>),
}

/// The end of a call in the JVM.
struct Executed<'j> {
    ended: Result<Passed<'j>, Local<'j>>,
    way: ClosedCall,
}

/// Whether a method ends the JVM.
fn ends_jvm(target: &Member) -> bool {
    let (owner, name) = (target.owner.as_str(), target.name.as_str());
    matches!(
        (owner, name),
        ("java/lang/System", "exit") | ("java/lang/Runtime", "exit" | "halt")
    )
}

impl Following {
    /// A call. `given` has the receiver first, if there is one and it is not a constructor.
    pub(super) fn call<'j>(
        &self,
        jni: &Jni<'j>,
        frame: &mut MachineFrame<'_, 'j>,
        target: Member,
        helper: &HelperMethod,
        given: Vec<Held<'j>>,
    ) -> OperationResult<'j> {
        let Some((parameters, result)) = split_descriptor(&helper.descriptor) else {
            return Ok(Held::null());
        };
        let mut call = self.classify(jni, target, &parameters, given);
        let Executed { ended, way } = self.execute(jni, frame, helper, &call);
        if way.is_own || matches!(call.noting, Noting::Followed) {
            return ended.map(|result| Held {
                origin: way.origin,
                ..Held::passed(result)
            });
        }
        if let Ok(result) = &ended
            && let Some(boxed) = self.boxing(&call, *result)
        {
            return Ok(boxed);
        }
        if call.of_program {
            call.given.iter().for_each(|held| self.taint(jni, held));
        }
        if matches!(call.noting, Noting::Call(_)) && self.follows(&call.target.owner) {
            self.declare(jni, &mut call.target, call.kind == CallKind::Static);
        }
        match ended {
            Ok(done) => Ok(self.note_return(jni, frame, call, done, result)),
            Err(thrown) => {
                self.note_throw(jni, frame, call, &thrown);
                Err(thrown)
            }
        }
    }

    /// Decides what a call is to the script, before it runs.
    fn classify<'j>(
        &self,
        jni: &Jni<'j>,
        target: Member,
        parameters: &[&str],
        given: Vec<Held<'j>>,
    ) -> Outgoing<'j> {
        let own = split_descriptor(&target.descriptor);
        let kind = match own {
            _ if target.name == "<init>" => CallKind::Constructor,
            Some((own, _)) if own.len() < parameters.len() => CallKind::Virtual,
            _ => CallKind::Static,
        };
        let receiver = given.first().filter(|_| kind == CallKind::Virtual);
        let receiver_class = receiver
            .filter(|_| self.is_noting())
            .and_then(Held::reference)
            .map(|object| self.class_of(jni, &object));
        let noting = match self.is_noting() {
            false => Noting::Off,
            true if self.stays(&target, kind, receiver_class.as_deref()) => Noting::Followed,
            true => {
                let pairs = given.iter().zip(parameters);
                let values =
                    pairs.map(|(held, parameter)| self.given(jni, held, letter(parameter)));
                Noting::Call(values.collect())
            }
        };
        let into_program =
            is_program(&target.owner) || receiver_class.is_some_and(|class| is_program(&class));
        Outgoing {
            of_program: !matches!(noting, Noting::Off)
                && (into_program || given.iter().any(|held| self.is_of_program(held))),
            is_runner: is_assertion(&target.owner) && RUNNERS.contains(&target.name.as_str()),
            first: self.writer.lock_safe().length(),
            target,
            kind,
            given,
            noting,
        }
    }

    /// Has the JVM make the call.
    fn execute<'j>(
        &self,
        jni: &Jni<'j>,
        frame: &mut MachineFrame<'_, 'j>,
        helper: &HelperMethod,
        call: &Outgoing<'j>,
    ) -> Executed<'j> {
        let exit = match &call.noting {
            Noting::Call(values) if ends_jvm(&call.target) => Some(values.clone()),
            _ => None,
        };
        let is_exit = exit.is_some();
        if let Some(values) = exit {
            // It does not return: it is noted now, and taken back if it returns after all.
            let end = StatementEnd::Returned(None);
            self.note(frame, call.target.clone(), call.kind, values, end);
        }
        let on = call
            .given
            .first()
            .filter(|_| call.kind == CallKind::Virtual);
        let on = on.filter(|_| self.may_enter(&call.target));
        let on = on.and_then(Held::reference);
        let on = on.and_then(|object| jni.global(&object).ok()).map(Arc::new);
        // A constructor outside the driver constructs another object than one of the driver does.
        let can_enter = call.kind != CallKind::Constructor || self.follows(&call.target.owner);
        let noted = match self.is_noting() {
            true => frame.noted_exception(),
            false => None,
        };
        let open = OpenCall::open(
            &call.target,
            can_enter,
            &call.given,
            on.clone(),
            call.is_runner,
            noted,
        );
        let ended = self.perform(jni, frame.followed, helper, &call.given);
        if is_exit {
            self.writer.lock_safe().forget_from(call.first);
        }
        let way = open.close();
        if let Some(on) = on.and_then(Arc::into_inner) {
            jni.delete_global(on);
        }
        Executed { ended, way }
    }

    /// Whether the framework ran something of the driver within a call, which was noted instead of it.
    fn has_run(&self, call: &Outgoing<'_>) -> bool {
        call.is_runner && self.writer.lock_safe().length() > call.first
    }

    /// Notes a call that returned; the result as the driver has it.
    fn note_return<'j>(
        &self,
        jni: &Jni<'j>,
        frame: &mut MachineFrame<'_, 'j>,
        call: Outgoing<'j>,
        done: Passed<'j>,
        result: &str,
    ) -> Held<'j> {
        let slot = match result {
            "V" => JvmValue::Reference(None),
            _ => Held::passed(done).slot,
        };
        let has_run = self.has_run(&call);
        let Noting::Call(values) = call.noting else {
            return Held::new(slot);
        };
        if has_run {
            return Held::new(slot);
        }
        let (target, kind) = (call.target, call.kind);
        if result == "V" {
            self.note(frame, target, kind, values, StatementEnd::Returned(None));
            return Held::new(slot);
        }
        let known = self.known(jni, &slot);
        let known = known.filter(|_| call.of_program && kind != CallKind::Constructor);
        let (held, value) = self.result(jni, slot, result, call.of_program);
        let Some(known) = known else {
            self.note(
                frame,
                target,
                kind,
                values,
                StatementEnd::Returned(Some(value)),
            );
            return held;
        };
        // In another version of the program it may be another object: it has a name of its own.
        let alias: Variable = self.writer.lock_safe().variable(&known);
        let end = StatementEnd::Returned(Some(alias.into()));
        self.note(frame, target, kind, values, end);
        self.writer.lock_safe().same(alias, value);
        Held::with(slot, Some(alias))
    }

    /// Notes a call that threw.
    fn note_throw<'j>(
        &self,
        jni: &Jni<'j>,
        frame: &mut MachineFrame<'_, 'j>,
        call: Outgoing<'j>,
        thrown: &Local<'j>,
    ) {
        let has_run = self.has_run(&call);
        let Noting::Call(values) = call.noting else {
            return;
        };
        if has_run {
            let known = self.tag(thrown).map(|tag| tag.id);
            let is_known = known.is_some_and(|id| self.writer.lock_safe().thrown.contains(&id));
            if !is_known {
                self.missed(jni, frame, &call.target, &call.given, thrown, call.first);
            }
            return;
        }
        if call.target.name == "fail" && is_assertion(&call.target.owner) {
            self.expect(frame);
        }
        let end = StatementEnd::Threw(self.thrown(jni, thrown));
        self.note(frame, call.target, call.kind, values, end);
    }

    /// Notes that a class could not be initialised, for an instruction that is no call: a script has `Class.forName`
    /// instead of it.
    pub(super) fn note_initialiser<'j>(
        &self,
        jni: &Jni<'j>,
        frame: &mut MachineFrame<'_, 'j>,
        class: &str,
        thrown: &Local<'j>,
    ) {
        if !self.is_noting() || self.follows(class) {
            return;
        }
        let name = class.replace('/', ".").encode_utf16().collect();
        let for_name = Member {
            owner: "java/lang/Class".to_owned(),
            name: "forName".to_owned(),
            descriptor: "(Ljava/lang/String;)Ljava/lang/Class;".to_owned(),
        };
        let values = vec![Value::Reference(Reference::String(name))];
        let end = StatementEnd::Threw(self.thrown(jni, thrown));
        self.note(frame, for_name, CallKind::Static, values, end);
    }

    /// Notes a call and its end.
    pub(super) fn note(
        &self,
        frame: &mut MachineFrame<'_, '_>,
        target: Member,
        kind: CallKind,
        values: Vec<Value>,
        end: StatementEnd,
    ) {
        let may_throw = may_be_expected_to_throw(&target);
        let mut writer = self.writer.lock_safe();
        let on = values.first().filter(|_| kind == CallKind::Virtual);
        let into_program = writer.is_into_program(&target, on);
        if into_program && matches!(end, StatementEnd::Returned(_)) {
            let noted = frame.noted_exception();
            noted.into_iter().for_each(|class| writer.ready_for(&class));
        }
        let statement = writer.call(target, kind == CallKind::Static, values, end);
        if may_throw {
            frame.calls.push(Called {
                pc: frame.pc,
                statement,
                into_program,
            });
        }
    }

    /// Whether a followed method has the name and the descriptor of a called one.
    fn may_enter(&self, target: &Member) -> bool {
        let names = self.names.lock_read();
        names.contains_key(&format!("{}{}", target.name, target.descriptor))
    }

    /// Whether a call certainly leads to a followed method: the values that it is given are not noted then.
    fn stays(&self, target: &Member, kind: CallKind, receiver: Option<&str>) -> bool {
        let class = match kind {
            CallKind::Virtual => receiver,
            CallKind::Static | CallKind::Constructor => Some(target.owner.as_str()),
        };
        let names = self.names.lock_read();
        let classes = names.get(&format!("{}{}", target.name, target.descriptor));
        class.is_some_and(|class| classes.is_some_and(|known| known.contains(class)))
    }

    /// The result of a call that boxes or unboxes, which changes no origin.
    fn boxing<'j>(&self, call: &Outgoing<'j>, done: Passed<'j>) -> Option<Held<'j>> {
        let target = &call.target;
        let shape = Shape::boxed_by(&target.owner)?;
        let [value] = call.given.as_slice() else {
            return None;
        };
        let of = shape.code();
        let boxes =
            target.name == "valueOf" && target.descriptor == format!("({of})L{};", target.owner);
        let unboxes = target.name == format!("{}Value", shape.class_name())
            && target.descriptor == format!("(){of}");
        (boxes || unboxes).then(|| Held {
            origin: value.origin,
            ..Held::passed(done)
        })
    }

    /// Names the class that declares a method which the driver inherits.
    fn declare(&self, jni: &Jni<'_>, target: &mut Member, is_static: bool) {
        let Some(class) = self.classes.lock_read().get(&target.owner).cloned() else {
            return;
        };
        let class = class.local(jni);
        let signature = jni.with_frame(|jni| {
            let declaring = match is_static {
                true => {
                    let found = jni.static_method(&class, &target.name, &target.descriptor);
                    found.and_then(|method| self.jvmti.declaring_class(jni, method.as_method()))
                }
                false => {
                    let found = jni.method(&class, &target.name, &target.descriptor);
                    found.and_then(|method| self.jvmti.declaring_class(jni, method))
                }
            };
            self.jvmti.class_signature(&declaring.ok()??).ok()
        });
        if let Ok(Some(signature)) = signature {
            target.owner = internal_name(&signature).to_owned();
        }
    }
}
