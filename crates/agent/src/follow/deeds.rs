//! What only the JVM can do, and what the journal says of it: calls, accesses to fields, arrays, casts.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use culprit_classfile::DynamicRef;
use culprit_jvmti::{Global, Jni, Local, Passed};
use culprit_model::script::{End, HandleKind, Lambda, Operation, Operator};
use culprit_model::value::{Shape, split_descriptor};
use culprit_model::{Member, Reference, Value};
use culprit_weave::follow::Deed;

use super::journal::{Place, is_full, may_be_expected_to_throw};
use super::machine::{Called, Frame};
use super::naming::{
    box_letter, element_shape, is_assertion, is_plain_value, is_program, primitive,
};
use super::value::{Held, Slot, Variable};
use super::{Followed, Following};
use crate::classes::internal_name;
use crate::lock::{LockSafe, ShareSafe};

/// A call that the driver makes, until something is entered.
pub(super) struct Token {
    pub(super) serial: u64,
    pub(super) name: String,
    pub(super) descriptor: String,
    /// The object it is called on, where that may be one of the driver's own.
    pub(super) on: Option<Arc<Global>>,
    /// Where its receiver and arguments come from.
    pub(super) from: Vec<Option<Variable>>,
    /// The depth it was made in.
    pub(super) depth: u32,
}

/// What a thread is doing.
#[derive(Default)]
pub(super) struct Activity {
    /// Calls out of the driver that are open: what the driver does within them is no step.
    pub(super) depth: u32,
    pub(super) token: Option<Token>,
    last_serial: u64,
    /// Calls that led to the driver itself.
    pub(super) own: HashSet<u64>,
    /// Where the result of the last such call comes from.
    pub(super) result: Option<Variable>,
    /// A test runs that is not followed, and all that it calls runs as it is.
    pub(super) passes_by: bool,
}

/// What a thread did before it entered a method, for when the interpreter fails in it.
pub(super) struct Before {
    depth: u32,
    passes_by: bool,
}

impl Before {
    pub(super) fn now() -> Before {
        ACTIVITY.with_borrow(|activity| Before {
            depth: activity.depth,
            passes_by: activity.passes_by,
        })
    }

    /// Whether nothing of the driver was running.
    pub(super) fn is_outside(&self) -> bool {
        self.depth == 0
    }

    pub(super) fn restore(self) {
        ACTIVITY.with_borrow_mut(|activity| {
            activity.depth = self.depth;
            activity.passes_by = self.passes_by;
            activity.token = None;
            activity.result = None;
        });
    }
}

thread_local! {
    pub(super) static ACTIVITY: RefCell<Activity> = RefCell::new(Activity::default());
}

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

type Done<'j> = Result<Held<'j>, Local<'j>>;

fn letter(descriptor: &str) -> u8 {
    descriptor.as_bytes().first().copied().unwrap_or(b'V')
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
    /// Whether what the driver does now becomes steps.
    pub(super) fn is_noting(&self) -> bool {
        ACTIVITY.with_borrow(|activity| activity.depth == 0) && !is_full()
    }

    /// Does what an instruction does.
    pub(super) fn perform<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        deed: &Deed,
        given: &[Held<'j>],
    ) -> Result<Passed<'j>, Local<'j>> {
        let fault = |jni: &Jni<'j>| {
            let class = jni.find_class("java/lang/InternalError");
            match class.and_then(|class| jni.allocate(&class)) {
                Ok(thrown) => Err(thrown),
                Err(_) => Ok(Passed::Reference(None)),
            }
        };
        let (Some(class), Some(ready)) = (followed.loaded.get(), followed.ready.get(&deed.name))
        else {
            return fault(jni);
        };
        let class = class.local(jni);
        let found = ready.method.get().copied().or_else(|| {
            let found = jni.static_method(&class, &deed.name, &deed.erased).ok()?;
            Some(*ready.method.get_or_init(|| found))
        });
        let (Some(method), Some((parameters, result))) =
            (found, split_descriptor(&deed.descriptor))
        else {
            return fault(jni);
        };
        let passed: Vec<Passed<'j>> = given
            .iter()
            .zip(&parameters)
            .map(|(held, parameter)| held.to_pass(letter(parameter)))
            .collect();
        jni.invoke_statically(&class, method, &passed, letter(result))
    }

    /// A call. `given` has the receiver first, if there is one and it is not a constructor.
    pub(super) fn call<'j>(
        &self,
        jni: &Jni<'j>,
        frame: &mut Frame<'_, 'j>,
        mut target: Member,
        deed: &Deed,
        given: Vec<Held<'j>>,
    ) -> Done<'j> {
        let followed = frame.followed;
        let is_constructor = target.name == "<init>";
        let Some((parameters, _)) = split_descriptor(&deed.descriptor) else {
            return Ok(Held::null());
        };
        let has_receiver = !is_constructor
            && split_descriptor(&target.descriptor)
                .is_some_and(|(own, _)| own.len() < parameters.len());
        let noting = self.is_noting();
        let receiver = given.first().filter(|_| has_receiver);
        let receiver_class = receiver
            .filter(|_| noting)
            .and_then(Held::reference)
            .map(|object| self.class_of(jni, &object));
        let is_inside = noting && self.stays(&target, has_receiver, receiver_class.as_deref());
        let values: Vec<Value> = match noting && !is_inside {
            true => {
                let pairs = given.iter().zip(&parameters);
                let value = |(held, parameter): (&Held<'j>, &&str)| {
                    self.given(jni, held, letter(parameter))
                };
                pairs.map(value).collect()
            }
            false => Vec::new(),
        };
        let into_program = is_program(&target.owner)
            || receiver_class
                .as_ref()
                .is_some_and(|class| is_program(class));
        let of_program =
            noting && (into_program || given.iter().any(|held| self.is_of_program(held)));
        let runs_now = is_assertion(&target.owner) && RUNNERS.contains(&target.name.as_str());
        let before = self.journal.lock_safe().length();

        let is_exit = noting && ends_jvm(&target);
        if is_exit {
            // It does not come back.
            let end = End::Returned(None);
            let (target, values) = (target.clone(), values.clone());
            self.note(frame, target, has_receiver, is_constructor, values, end);
        }
        let on = receiver.filter(|_| self.may_enter(&target));
        let on = on.and_then(Held::reference);
        let on = on.and_then(|object| jni.global(&object).ok()).map(Arc::new);
        let (serial, before_call) = self.begin(&target, &given, on.clone(), runs_now);
        let ended = self.perform(jni, followed, deed, &given);
        if is_exit {
            self.journal.lock_safe().forget_from(before);
        }
        let (is_own, from) = self.end(serial, before_call);
        if let Some(on) = on.and_then(Arc::into_inner) {
            jni.delete_global(on);
        }
        if is_own || is_inside {
            return ended.map(|result| Held {
                from,
                ..Held::passed(result)
            });
        }
        if let Ok(result) = &ended
            && let Some(boxed) = self.boxing(&target, &given, *result)
        {
            return Ok(boxed);
        }
        if of_program {
            given.iter().for_each(|held| self.taint(jni, held));
        }
        if noting && self.follows(&target.owner) {
            self.declare(jni, &mut target, !has_receiver && !is_constructor);
        }
        let result = deed.descriptor.rsplit(')').next().unwrap_or("V");
        match ended {
            Ok(done) => {
                let slot = Held::passed(done).slot;
                if result == "V" {
                    if noting && !(runs_now && self.journal.lock_safe().length() > before) {
                        let end = End::Returned(None);
                        self.note(frame, target, has_receiver, is_constructor, values, end);
                    }
                    return Ok(Held::null());
                }
                // What it ran is told instead.
                let ran = runs_now && self.journal.lock_safe().length() > before;
                if !noting || ran {
                    return Ok(Held::new(slot));
                }
                let known = self.known(jni, &slot);
                let known = known.filter(|_| of_program && !is_constructor);
                let (held, value) = self.result(jni, slot, result, of_program);
                let Some(known) = known else {
                    let end = End::Returned(Some(value));
                    self.note(frame, target, has_receiver, is_constructor, values, end);
                    return Ok(held);
                };
                // On another version it may not be the same object: it has a name of its own.
                let alias = self.journal.lock_safe().variable(&known);
                let end = End::Returned(Some(alias.into()));
                self.note(frame, target, has_receiver, is_constructor, values, end);
                self.journal.lock_safe().same(alias, value);
                Ok(Held::with(slot, Some(alias)))
            }
            Err(thrown) => {
                if noting {
                    let ran = runs_now && self.journal.lock_safe().length() > before;
                    let known = self.tag(&thrown).map(|tag| tag.id);
                    let is_known =
                        known.is_some_and(|id| self.journal.lock_safe().thrown.contains(&id));
                    match ran {
                        true if is_known => {}
                        true => self.missed(jni, frame, &target, &given, &thrown, before),
                        false => {
                            if target.name == "fail" && is_assertion(&target.owner) {
                                self.expect(frame);
                            }
                            let thrown = self.thrown(jni, &thrown);
                            let end = End::Threw(thrown);
                            self.note(frame, target, has_receiver, is_constructor, values, end);
                        }
                    }
                }
                Err(thrown)
            }
        }
    }

    /// Whether a method that is followed has the name and the types of one that is called.
    fn may_enter(&self, target: &Member) -> bool {
        let names = self.names.lock_read();
        names.contains_key(&format!("{}{}", target.name, target.descriptor))
    }

    /// Whether a call leads to a method that is followed, for sure: what it is given need not be told then.
    fn stays(&self, target: &Member, has_receiver: bool, receiver: Option<&str>) -> bool {
        let class = match has_receiver {
            true => receiver,
            false => Some(target.owner.as_str()),
        };
        let names = self.names.lock_read();
        let classes = names.get(&format!("{}{}", target.name, target.descriptor));
        class.is_some_and(|class| classes.is_some_and(|known| known.contains(class)))
    }

    /// Notes that a call is made; its number, and what was before.
    fn begin(
        &self,
        target: &Member,
        given: &[Held<'_>],
        on: Option<Arc<Global>>,
        runs_now: bool,
    ) -> (u64, (u32, Option<Token>)) {
        // A constructor of the driver's own runs others of the same object, which no other does.
        let is_foreign = target.name == "<init>" && !self.follows(&target.owner);
        ACTIVITY.with_borrow_mut(|activity| {
            activity.last_serial += 1;
            let serial = activity.last_serial;
            let before = activity.token.replace(Token {
                serial,
                name: match is_foreign {
                    true => String::new(),
                    false => target.name.clone(),
                },
                descriptor: target.descriptor.clone(),
                on,
                from: given.iter().map(|held| held.from).collect(),
                depth: activity.depth,
            });
            activity.result = None;
            let depth = activity.depth;
            activity.depth += u32::from(!runs_now);
            (serial, (depth, before))
        })
    }

    /// Whether the call led to the driver itself, and where its result comes from.
    fn end(&self, serial: u64, (depth, token): (u32, Option<Token>)) -> (bool, Option<Variable>) {
        ACTIVITY.with_borrow_mut(|activity| {
            activity.depth = depth;
            activity.token = token;
            let is_own = activity.own.remove(&serial);
            (is_own, activity.result.take().filter(|_| is_own))
        })
    }

    pub(super) fn note(
        &self,
        frame: &mut Frame<'_, '_>,
        target: Member,
        has_receiver: bool,
        is_constructor: bool,
        values: Vec<Value>,
        end: End,
    ) {
        let is_static = !has_receiver && !is_constructor;
        let may_throw = may_be_expected_to_throw(&target);
        let mut journal = self.journal.lock_safe();
        let on = values.first().filter(|_| has_receiver);
        let into_program = journal.is_into_program(&target, on);
        let step = journal.call(target, is_static, values, end);
        if may_throw {
            frame.calls.push(Called {
                pc: frame.pc,
                step,
                into_program,
            });
        }
    }

    /// An exception as a step has it.
    pub(super) fn thrown(&self, jni: &Jni<'_>, thrown: &Local<'_>) -> Value {
        let class = self.class_of(jni, thrown);
        let tag = self.tagged(thrown, true);
        let mut journal = self.journal.lock_safe();
        journal.thrown.insert(tag.id);
        let class = journal.class(&class);
        Variable { id: tag.id, class }.into()
    }

    /// Boxing and unboxing change nothing.
    fn boxing<'j>(
        &self,
        target: &Member,
        given: &[Held<'j>],
        done: Passed<'j>,
    ) -> Option<Held<'j>> {
        let of = box_letter(&target.owner)?;
        let [value] = given else {
            return None;
        };
        let of = char::from(of);
        let boxes =
            target.name == "valueOf" && target.descriptor == format!("({of})L{};", target.owner);
        let unboxes = target.name == format!("{}Value", primitive(of as u8))
            && target.descriptor == format!("(){of}");
        (boxes || unboxes).then(|| Held {
            from: value.from,
            ..Held::passed(done)
        })
    }

    /// The class that declares a method which the driver inherits.
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

    /// Reads a field, static if there is no object.
    pub(super) fn read<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        target: Member,
        deed: &Deed,
        object: Option<Held<'j>>,
    ) -> Done<'j> {
        let given: Vec<Held<'j>> = object.iter().cloned().collect();
        let slot = Held::passed(self.perform(jni, followed, deed, &given)?).slot;
        if self.follows(&target.owner) {
            let place = self.place(object.as_ref(), &target);
            let from = place.and_then(|place| self.journal.lock_safe().places.get(&place).copied());
            return Ok(Held::with(slot, from));
        }
        if !self.is_noting() {
            return Ok(Held::new(slot));
        }
        let of_program = is_program(&target.owner)
            || object
                .as_ref()
                .is_some_and(|object| self.is_of_program(object));
        let on = object.as_ref().map(|object| self.given(jni, object, b'L'));
        let (held, value) = self.result(jni, slot, &target.descriptor, of_program);
        self.journal.lock_safe().read(target, on, value);
        Ok(held)
    }

    /// Writes a field, static if there is no object.
    pub(super) fn write<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        target: Member,
        deed: &Deed,
        object: Option<Held<'j>>,
        value: Held<'j>,
    ) -> Result<(), Local<'j>> {
        let letter = letter(&target.descriptor);
        if self.follows(&target.owner) {
            let place = self.place(object.as_ref(), &target);
            if let Some(place) = place {
                let places = &mut self.journal.lock_safe().places;
                match value.from.filter(|_| !is_full()) {
                    Some(from) => places.insert(place, from),
                    None => places.remove(&place),
                };
            }
        }
        // Only here may a field be final, which no other method can set.
        let initialises = matches!(followed.method.name.as_str(), "<init>" | "<clinit>")
            && target.owner == followed.class;
        if let (true, Some(class)) = (initialises, followed.loaded.get()) {
            let class = class.local(jni);
            let passed = value.to_pass(letter);
            let (name, descriptor) = (&target.name, &target.descriptor);
            let done = match object.as_ref().map(Held::reference) {
                None => jni.set_static_field(&class, name, descriptor, &passed),
                Some(Some(object)) => jni.set_field(&object, &class, name, descriptor, &passed),
                Some(None) => Err(culprit_jvmti::Error::Jni {
                    call: "SetField",
                    what: "null".to_owned(),
                }),
            };
            if done.is_ok() {
                return Ok(());
            }
        }
        let given: Vec<Held<'j>> = object.iter().cloned().chain([value.clone()]).collect();
        self.perform(jni, followed, deed, &given)?;
        if self.is_noting() && !self.follows(&target.owner) {
            let on = object.as_ref().map(|object| self.given(jni, object, b'L'));
            let value = self.given(jni, &value, letter);
            self.journal.lock_safe().write(target, on, value);
        }
        Ok(())
    }

    fn place(&self, object: Option<&Held<'_>>, target: &Member) -> Option<Place> {
        match object {
            None => Some(Place::Static(target.owner.clone(), target.name.clone())),
            Some(object) => {
                let object = object.reference()?;
                let id = self.tagged(&object, false).id;
                Some(Place::Field(id, target.name.clone()))
            }
        }
    }

    /// `array[at]`
    pub(super) fn get<'j>(
        &self,
        jni: &Jni<'j>,
        array: &Held<'j>,
        at: &Held<'j>,
        plain: &str,
    ) -> Done<'j> {
        let Some(object) = array.reference() else {
            let given = [Passed::Reference(None), Passed::Int(at.as_int())];
            let element = Operator::Element.of(element_shape(plain));
            return self.operate(jni, element, &given).map(Held::passed);
        };
        let class = self.class_of(jni, &object);
        let found = self.element(jni, &object, &class, at.as_int())?;
        let tag = self.tag(&object);
        let place = tag.map(|tag| Place::Element(tag.id, at.as_int()));
        let of_program = tag.is_some_and(|tag| tag.of_program) || at.from.is_some();
        let is_object = found
            .reference()
            .map(|object| (self.class_of(jni, &object), self.tag(&object)));
        let needs_step = match &is_object {
            Some((class, tag)) if !is_plain_value(class) => tag.is_none(),
            _ => of_program,
        };
        if !self.is_noting() || !needs_step {
            let from = place.and_then(|place| self.journal.lock_safe().places.get(&place).copied());
            return Ok(Held::with(found.slot, from.filter(|_| !of_program)));
        }
        let given = vec![self.given(jni, array, b'L'), self.given(jni, at, b'I')];
        let (held, value) = self.result(
            jni,
            found.slot,
            class.get(1..).unwrap_or_default(),
            of_program,
        );
        let element = Operator::Element.of(element_shape(&class));
        let mut journal = self.journal.lock_safe();
        journal.operate_to(element, given, Some(value));
        Ok(held)
    }

    /// `array[at] = value`
    pub(super) fn put<'j>(
        &self,
        jni: &Jni<'j>,
        array: &Held<'j>,
        at: &Held<'j>,
        value: &Held<'j>,
        plain: &str,
    ) -> Result<(), Local<'j>> {
        let class = array.reference().map(|object| self.class_of(jni, &object));
        let class = class.unwrap_or_else(|| plain.to_owned());
        let shape = element_shape(&class);
        let store = Operator::Store.of(shape);
        let passed = [
            array.to_pass(b'L'),
            at.to_pass(b'I'),
            value.to_pass(shape.code() as u8),
        ];
        self.operate(jni, store, &passed)?;
        let Some(object) = array.reference() else {
            return Ok(());
        };
        let tag = self.tag(&object);
        let is_made = tag.is_some_and(|tag| self.journal.lock_safe().made.contains(&tag.id));
        if self.is_noting() && is_made {
            let given = vec![
                self.given(jni, array, b'L'),
                self.given(jni, at, b'I'),
                self.given(jni, value, shape.code() as u8),
            ];
            self.journal.lock_safe().operate_to(store, given, None);
            if value.from.is_some() {
                self.tagged(&object, true);
            }
        } else if value.from.is_some() || tag.is_some() {
            let id = self.tagged(&object, false).id;
            let place = Place::Element(id, at.as_int());
            let places = &mut self.journal.lock_safe().places;
            match value.from.filter(|_| !is_full()) {
                Some(from) => places.insert(place, from),
                None => places.remove(&place),
            };
        }
        Ok(())
    }

    /// `array.length`
    pub(super) fn length<'j>(&self, jni: &Jni<'j>, array: &Held<'j>) -> Done<'j> {
        let operation = Operator::Length.of(Shape::Reference);
        let length = Held::passed(self.operate(jni, operation, &[array.to_pass(b'L')])?);
        if !self.is_noting() || !self.is_of_program(array) {
            return Ok(length);
        }
        let given = vec![self.given(jni, array, b'L')];
        let from = self.journal.lock_safe().operate(operation, given);
        Ok(Held::with(length.slot, Some(from)))
    }

    /// `object instanceof class`
    pub(super) fn is_instance<'j>(
        &self,
        jni: &Jni<'j>,
        object: &Held<'j>,
        class: &str,
        is: bool,
    ) -> Held<'j> {
        let slot = Slot::Int(i32::from(is));
        if !self.is_noting() || !self.is_of_program(object) {
            return Held::new(slot);
        }
        let object = self.given(jni, object, b'L');
        let mut journal = self.journal.lock_safe();
        let class = Value::Reference(Reference::Class(journal.class(class)));
        let is_instance = Operator::IsInstance.of(Shape::Reference);
        let from = journal.operate(is_instance, vec![object, class]);
        Held::with(slot, Some(from))
    }

    /// A call site that concatenates: what it is given, between texts.
    pub(super) fn concatenate<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        number: u16,
        parameters: &[&str],
        given: &[Held<'j>],
        result: Slot<'j>,
    ) -> Option<Held<'j>> {
        let plan = followed.concatenations.get(&number)?;
        if !self.is_noting() || !given.iter().any(|held| self.is_of_program(held)) {
            return Some(Held::new(result));
        }
        let recipe = plan.recipe.clone();
        let recipe = recipe.unwrap_or_else(|| "\u{1}".repeat(given.len()));
        let mut pieces: Vec<Value> = Vec::new();
        let mut text = String::new();
        let (mut arguments, mut constants) = (given.iter().zip(parameters), plan.constants.iter());
        for c in recipe.chars() {
            match c {
                '\u{2}' => text.push_str(constants.next()?),
                '\u{1}' => {
                    if !text.is_empty() || pieces.is_empty() {
                        pieces.push(Value::text(&std::mem::take(&mut text)));
                    }
                    let (held, parameter) = arguments.next()?;
                    pieces.push(self.given(jni, held, letter(parameter)));
                }
                c => text.push(c),
            }
        }
        if !text.is_empty() {
            pieces.push(Value::text(&text));
        }
        if let [first, second, ..] = pieces.as_slice()
            && *first == Value::text("")
            && *second != Value::text("")
            && pieces.len() > 2
            && parameters.first() == Some(&"Ljava/lang/String;")
        {
            pieces.remove(0);
        }
        let concat = Operator::Concat.of(Shape::Reference);
        let mut journal = self.journal.lock_safe();
        let mut pieces = pieces.into_iter();
        let mut left = pieces.next()?;
        let mut last = None;
        for piece in pieces {
            let made = journal.operate(concat, vec![left, piece]);
            left = made.into();
            last = Some(made);
        }
        Some(Held::with(result, last))
    }

    /// A call site made a lambda.
    pub(super) fn note_lambda<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        site: &DynamicRef<'_>,
        parameters: &[&str],
        captured: &[Held<'j>],
        made: &Held<'j>,
    ) {
        let Some(lambda) = followed.lambdas.get(&site.bootstrap) else {
            return;
        };
        let Some(kind) = HandleKind::from_code(lambda.kind) else {
            return;
        };
        let of_program = captured.iter().any(|held| self.is_of_program(held));
        let captured: Vec<Value> = captured
            .iter()
            .zip(parameters)
            .map(|(held, parameter)| boxed(self.given(jni, held, letter(parameter))))
            .collect();
        let result = site.descriptor.rsplit(')').next().unwrap_or("V");
        let (_, value) = self.result(jni, made.slot, result, of_program);
        let mut journal = self.journal.lock_safe();
        let lambda = Lambda {
            body_class: journal.class(&lambda.owner),
            body_name: lambda.name.clone(),
            body_descriptor: lambda.descriptor.clone(),
            kind,
            written_in: journal.class(&followed.class),
            interface: journal.class(internal_name(result)),
            method: site.name.clone().into_owned(),
            erased: lambda.erased.clone(),
            exact: lambda.exact.clone(),
        };
        journal.lambda(lambda, captured, value);
    }

    /// A branch was taken or not for what the program gave: the script goes on only if it is so again.
    pub(super) fn guard(&self, condition: Operation, operands: Vec<Value>) {
        self.journal.lock_safe().guard(condition, operands);
    }

    /// What leaves the driver, and what it throws by itself if that is it.
    pub(super) fn raised(&self, jni: &Jni<'_>, thrown: &Local<'_>) {
        let known = self.tag(thrown).map(|tag| tag.id);
        let is_known = known.is_some_and(|id| self.journal.lock_safe().thrown.contains(&id));
        let value = self.thrown(jni, thrown);
        let mut journal = self.journal.lock_safe();
        if is_known {
            journal.left(value);
            return;
        }
        journal.raise(value);
    }

    /// The driver makes an object of its own.
    pub(super) fn constructed(&self, jni: &Jni<'_>, followed: &Followed, given: &[Held<'_>]) {
        let Some((this, arguments)) = given.split_first() else {
            return;
        };
        let Some((parameters, _)) = split_descriptor(&followed.method.descriptor) else {
            return;
        };
        let pairs = arguments.iter().zip(&parameters);
        let values = pairs.map(|(held, parameter)| self.given(jni, held, letter(parameter)));
        let values: Vec<Value> = values.collect();
        let Slot::Reference(Some(object)) = this.slot else {
            return;
        };
        // A constructor of a superclass made no object of its own.
        if self.class_of(jni, &object) != followed.class {
            return;
        }
        let (_, made) = self.result(jni, this.slot, "L", false);
        let target = Member {
            owner: followed.class.clone(),
            name: "<init>".to_owned(),
            descriptor: followed.method.descriptor.clone(),
        };
        let mut journal = self.journal.lock_safe();
        journal.call(target, false, values, End::Returned(Some(made)));
    }
}

/// A literal as an element of an array of objects.
fn boxed(value: Value) -> Value {
    match value {
        Value::Reference(_) => value,
        scalar => Value::Reference(Reference::Boxed(Box::new(scalar))),
    }
}
