//! The interpreter. Each call of a followed method runs here, on the thread that made it, in a `MachineFrame` of its
//! own. The interpreter does arithmetic, jumps and the operand stack; everything else the JVM does
//! (`operations`, `calls`, `fields`, `arrays`, `call_sites`).

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use culprit_classfile::{Handler, Instruction, op, tag};
use culprit_jvmti::{Jni, Local, Passed};
use culprit_model::Member;
use culprit_model::script::Operator;
use culprit_model::value::{Shape, split_descriptor};
use culprit_weave::follow::HelperMethod;

use super::activity::{ACTIVITY, SavedActivity};
use super::naming::unboxed;
use super::script_writer::SceneEnd;
use super::value::{Held, JvmValue, Variable};
use super::{Followed, Following};
use crate::classes::internal_name;
use crate::lock::LockSafe;

/// References of a method that are never looked through.
const FEWEST: usize = 64;

/// Who catches these is ready for a failed assertion as well.
const CATCH_ALL: [&str; 3] = [
    "java/lang/Throwable",
    "java/lang/Error",
    "java/lang/AssertionError",
];

/// A method that is being run.
pub(super) struct MachineFrame<'f, 'j> {
    pub(super) followed: &'f Followed,
    pub(super) pc: u32,
    stack: Vec<Held<'j>>,
    locals: Vec<Option<Held<'j>>>,
    /// References that instructions made. They would live as long as the method runs.
    made: Vec<Local<'j>>,
    /// How many of them there may be before those are ended that nothing holds.
    most: usize,
    /// Calls that may be expected to throw.
    pub(super) calls: Vec<Called>,
    /// The class of the exceptions that the driver notes where it called the method.
    pub(super) noted_outside: Option<String>,
}

/// A call that was noted.
pub(super) struct Called {
    pub(super) pc: u32,
    /// The number of its statement.
    pub(super) statement: usize,
    pub(super) into_program: bool,
}

/// Where an exception is caught.
struct Catch {
    handler: u32,
    /// Not so for `finally`.
    is_for_it: bool,
}

/// What comes after an instruction.
enum Next<'j> {
    On,
    Jump(i64),
    Return(Option<Held<'j>>),
}

/// The code is not what the JVM has checked.
pub(super) fn odd<'j>(jni: &Jni<'j>) -> Local<'j> {
    let made = jni
        .find_class("java/lang/InternalError")
        .and_then(|class| jni.allocate(&class));
    match made {
        Ok(made) => made,
        Err(_) => unreachable!("the JVM has no InternalError"),
    }
}

impl Following {
    /// A method as it was, where that is to be run: it is a test that nobody asks for and no other calls, or
    /// called by such a one.
    pub(super) fn passes_by<'m>(&self, followed: &'m Followed) -> Option<&'m HelperMethod> {
        let method = &followed.method;
        let plain = method.plain.as_ref();
        plain.filter(|_| {
            ACTIVITY.with_borrow(|activity| {
                activity.passes_by || method.is_other_test && activity.pending.is_none()
            })
        })
    }

    /// Runs a method as it was. Nothing is noted until it ends.
    pub(super) fn pass_by<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        plain: &HelperMethod,
        given: &Local<'j>,
    ) -> Result<Option<Local<'j>>, Local<'j>> {
        jni.make_room();
        let before = SavedActivity::now();
        let is_scene = before.is_outside();
        let first = is_scene.then(|| self.writer.lock_safe().begin_scene());
        ACTIVITY.with_borrow_mut(|activity| {
            activity.depth += 1;
            activity.passes_by = true;
        });
        let given = self.arguments(jni, followed, given, Vec::new());
        let done = self.perform(jni, followed, plain, &given);
        before.restore();
        if let Some(first) = first {
            self.writer.lock_safe().end_scene(first, SceneEnd::Over);
        }
        let result = plain.descriptor.rsplit(')').next().unwrap_or("V");
        boxed(jni, &Held::passed(done?), result)
    }

    /// Runs a method; its result, boxed, or what it throws.
    pub(super) fn enter<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        given: &Local<'j>,
    ) -> Result<Option<Local<'j>>, Local<'j>> {
        let method = &followed.method;
        jni.make_room();
        let on = match method.is_static {
            true => None,
            false => jni.array_element(given, 0).ok().flatten(),
        };
        let is_constructor = method.name == "<init>";
        let is_initialiser = method.name == "<clinit>";
        let pending = ACTIVITY.with_borrow_mut(|activity| activity.pending.take());
        let (kept, pending) = match is_initialiser {
            // The call that made the JVM initialise the class comes after it.
            true => (pending, None),
            false => (None, pending),
        };
        let pending = pending.filter(|pending| {
            let is_on = || match (&pending.on, &on) {
                (Some(object), Some(this)) => jni.is_same(&object.local(jni), this),
                (None, None) => true,
                _ => false,
            };
            // A constructor that is called runs others first, of the same object.
            pending.name == method.name
                && (is_constructor || pending.descriptor == method.descriptor && is_on())
        });
        let noted = pending.as_ref().and_then(|pending| pending.noted.clone());
        let (before, origins, kept) = ACTIVITY.with_borrow_mut(|activity| {
            let before = activity.depth;
            match pending {
                Some(pending) => {
                    activity.own.insert(pending.serial);
                    activity.depth = pending.depth;
                    let origins = match pending.descriptor == method.descriptor {
                        true => pending.origins.clone(),
                        false => Vec::new(),
                    };
                    let kept = is_constructor.then_some(pending);
                    (before, Some(origins), kept)
                }
                None => {
                    if is_initialiser {
                        activity.depth = 0;
                    }
                    (before, None, kept)
                }
            }
        });
        let is_own = origins.is_some();
        let is_scene = !is_own && !is_initialiser && before == 0;
        let first = match is_scene {
            true => self.writer.lock_safe().begin_scene(),
            false => self.writer.lock_safe().length(),
        };
        let given = self.arguments(jni, followed, given, origins.unwrap_or_default());
        if method.name == "<init>" && self.is_noting() {
            self.constructed(jni, followed, &given);
        }
        let done = self.run(jni, followed, given, noted);
        if !is_own && self.is_noting() {
            if let Some(expected) = &method.expected {
                self.ended(jni, expected, done.as_ref().map(|_| ()));
            }
            if let Err(thrown) = &done {
                self.raised(jni, thrown);
            }
        }
        if is_scene {
            let is_over = done.is_ok() && method.expected.is_none();
            let end = match is_over && !method.is_static && !is_constructor {
                true => SceneEnd::Over,
                false => SceneEnd::Telling,
            };
            self.writer.lock_safe().end_scene(first, end);
        } else if is_initialiser {
            self.writer.lock_safe().initialised(first);
        }
        ACTIVITY.with_borrow_mut(|activity| {
            activity.depth = before;
            activity.pending = kept;
            activity.result = match &done {
                Ok(Some(result)) if is_own => result.origin,
                _ => None,
            };
        });
        let result = method.descriptor.rsplit(')').next().unwrap_or("V");
        match done? {
            Some(held) => boxed(jni, &held, result),
            None => Ok(None),
        }
    }

    /// The receiver and the arguments, by local variable.
    fn arguments<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        given: &Local<'j>,
        origins: Vec<Option<Variable>>,
    ) -> Vec<Held<'j>> {
        let parameters = split_descriptor(&followed.method.descriptor);
        let parameters = parameters.map_or_else(Vec::new, |(parameters, _)| parameters);
        let receiver = (!followed.method.is_static).then_some("L");
        let is_constructor = followed.method.name == "<init>";
        let mut held = Vec::new();
        for (at, parameter) in receiver.into_iter().chain(parameters).enumerate() {
            let value = jni.array_element(given, at).ok().flatten();
            let letter = parameter.as_bytes().first().copied().unwrap_or(b'L');
            let value = match (letter, value) {
                (b'L' | b'[', value) => Held::new(JvmValue::Reference(value)),
                (letter, Some(value)) => {
                    unboxed(jni, &value, letter).map_or_else(Held::null, Held::passed)
                }
                (_, None) => Held::null(),
            };
            // A constructor is not given its receiver by the call.
            let place = match is_constructor {
                true => at.checked_sub(1),
                false => Some(at),
            };
            let origin = place.and_then(|place| origins.get(place).copied().flatten());
            held.push(Held { origin, ..value });
        }
        held
    }

    fn run<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        given: Vec<Held<'j>>,
        noted_outside: Option<String>,
    ) -> Result<Option<Held<'j>>, Local<'j>> {
        let code = &followed.method.code;
        let mut locals = Vec::new();
        for held in given {
            let is_wide = held.is_wide();
            locals.push(Some(held));
            if is_wide {
                locals.push(None);
            }
        }
        locals.resize(usize::from(code.max_locals).max(locals.len()), None);
        let mut frame = MachineFrame {
            followed,
            pc: followed.method.start,
            stack: Vec::new(),
            locals,
            made: Vec::new(),
            most: FEWEST,
            calls: Vec::new(),
            noted_outside,
        };
        loop {
            if frame.made.len() > frame.most {
                frame.sweep(jni);
            }
            let Ok(instruction) = Instruction::decode(&code.bytes, frame.pc) else {
                return Err(odd(jni));
            };
            match self.step(jni, &mut frame, &instruction) {
                Ok(Next::On) => frame.pc = instruction.next_pc(),
                Ok(Next::Jump(to)) => frame.pc = to as u32,
                Ok(Next::Return(result)) => return Ok(result),
                Err(thrown) => match self.handler(jni, &frame, &thrown) {
                    Some(Catch { handler, is_for_it }) => {
                        match is_for_it {
                            true => self.caught(jni, &thrown),
                            false => self.arrived(jni, &frame, &thrown),
                        }
                        frame.stack.clear();
                        frame.receive(Held::new(JvmValue::Reference(Some(thrown))));
                        frame.pc = handler;
                    }
                    None => {
                        self.arrived(jni, &frame, &thrown);
                        return Err(thrown);
                    }
                },
            }
        }
    }

    /// What the JVM throws where there must not be null.
    fn null<'j>(&self, jni: &Jni<'j>) -> Local<'j> {
        let nothing = [Passed::Reference(None)];
        let raise = Operator::Raise.of(Shape::Reference);
        let thrown = self.operate(jni, raise, &nothing);
        thrown.err().unwrap_or_else(|| odd(jni))
    }

    /// Before an object is made, its class is initialised.
    fn initialise<'j>(
        &self,
        jni: &Jni<'j>,
        frame: &mut MachineFrame<'_, 'j>,
        instruction: &Instruction<'_>,
    ) -> Result<(), Local<'j>> {
        let followed = frame.followed;
        let helper = followed.method.helpers.get(&instruction.pc);
        let helper = helper.ok_or_else(|| odd(jni))?;
        let ready = followed.ready.get(&helper.name).ok_or_else(|| odd(jni))?;
        if !ready.is_done.load(Ordering::Acquire) {
            if let Err(thrown) = self.perform(jni, followed, helper, &[]) {
                let index = instruction.pool_index().unwrap_or_default();
                let class = followed.pool.class_name(index).map_err(|_| odd(jni))?;
                self.note_initialiser(jni, frame, &class, &thrown);
                return Err(thrown);
            }
            ready.is_done.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Where an exception is caught.
    fn handler(
        &self,
        jni: &Jni<'_>,
        frame: &MachineFrame<'_, '_>,
        thrown: &Local<'_>,
    ) -> Option<Catch> {
        let handlers = &frame.followed.method.code.handlers;
        let mut kinds: Option<Vec<String>> = None;
        for handler in handlers {
            let covered = u32::from(handler.start)..u32::from(handler.end);
            if !covered.contains(&frame.pc) {
                continue;
            }
            if handler.catch_type == 0 {
                return Some(Catch {
                    handler: u32::from(handler.handler),
                    is_for_it: false,
                });
            }
            let Ok(wanted) = frame.followed.pool.class_name(handler.catch_type) else {
                continue;
            };
            let kinds = kinds.get_or_insert_with(|| self.kinds(jni, thrown));
            if kinds.iter().any(|kind| *kind == wanted) {
                return Some(Catch {
                    handler: u32::from(handler.handler),
                    is_for_it: true,
                });
            }
        }
        None
    }

    /// The class of an object and all it extends.
    pub(super) fn kinds(&self, jni: &Jni<'_>, object: &Local<'_>) -> Vec<String> {
        let found = jni.with_frame_of(64, |jni| {
            let mut found = Vec::new();
            let mut class = Some(jni.object_class(object));
            while let Some(of) = class {
                let signature = self.jvmti.class_signature(&of).unwrap_or_default();
                found.push(internal_name(&signature).to_owned());
                class = jni.superclass(&of);
            }
            found
        });
        found.unwrap_or_default()
    }

    fn step<'j>(
        &self,
        jni: &Jni<'j>,
        frame: &mut MachineFrame<'_, 'j>,
        instruction: &Instruction<'_>,
    ) -> Result<Next<'j>, Local<'j>> {
        let opcode = instruction.generic_opcode();
        match opcode {
            op::NOP => {}
            op::ACONST_NULL => frame.push(Held::null()),
            op::ICONST_M1..=op::ICONST_5 => {
                frame.push(Held::int(i32::from(opcode) - i32::from(op::ICONST_0)));
            }
            op::LCONST_0 | op::LCONST_1 => {
                frame.push(Held::new(JvmValue::Long(i64::from(opcode - op::LCONST_0))));
            }
            op::FCONST_0..=op::FCONST_2 => {
                frame.push(Held::new(JvmValue::Float(f32::from(opcode - op::FCONST_0))));
            }
            op::DCONST_0 | op::DCONST_1 => {
                frame.push(Held::new(JvmValue::Double(f64::from(
                    opcode - op::DCONST_0,
                ))));
            }
            op::BIPUSH => frame.push(Held::int(i32::from(byte(instruction, 1) as i8))),
            op::SIPUSH => {
                let value = i16::from_be_bytes([byte(instruction, 1), byte(instruction, 2)]);
                frame.push(Held::int(i32::from(value)));
            }
            op::LDC | op::LDC_W | op::LDC2_W => self.constant(jni, frame, instruction)?,
            op::ILOAD..=op::ALOAD => {
                let local = instruction.local().unwrap_or_default();
                let held = frame.locals.get(usize::from(local)).cloned().flatten();
                frame.push(held.ok_or_else(|| odd(jni))?);
            }
            op::ISTORE..=op::ASTORE => {
                let held = frame.pop(jni)?;
                frame.set(instruction.local().unwrap_or_default(), held);
            }
            op::IALOAD..=op::SALOAD => {
                let (at, array) = (frame.pop(jni)?, frame.pop(jni)?);
                let held = self.get(jni, &array, &at, array_of(opcode - op::IALOAD))?;
                frame.receive(held);
            }
            op::IASTORE..=op::SASTORE => {
                let value = frame.pop(jni)?;
                let (at, array) = (frame.pop(jni)?, frame.pop(jni)?);
                self.put(jni, &array, &at, &value, array_of(opcode - op::IASTORE))?;
            }
            op::POP..=op::SWAP => frame.shuffle(jni, opcode)?,
            op::IADD..=op::DREM | op::ISHL..=op::LXOR => {
                let (right, left) = (frame.pop(jni)?, frame.pop(jni)?);
                frame.push(self.compute(jni, opcode, &[left, right])?);
            }
            op::INEG..=op::DNEG | op::I2L..=op::I2S => {
                let held = frame.pop(jni)?;
                frame.push(self.compute(jni, opcode, &[held])?);
            }
            op::IINC => {
                let local = instruction.local().unwrap_or_default();
                let by = match instruction.is_wide() {
                    true => i16::from_be_bytes([byte(instruction, 4), byte(instruction, 5)]),
                    false => i16::from(byte(instruction, 2) as i8),
                };
                let held = frame.locals.get(usize::from(local)).cloned().flatten();
                let held = held.ok_or_else(|| odd(jni))?;
                let by = Held::int(i32::from(by));
                let held = self.compute(jni, op::IADD, &[held, by])?;
                frame.set(local, held);
            }
            op::LCMP..=op::DCMPG => {
                let (right, left) = (frame.pop(jni)?, frame.pop(jni)?);
                frame.push(super::arithmetic::compare(opcode, left, right));
            }
            op::IFEQ..=op::IF_ACMPNE | op::IFNULL | op::IFNONNULL => {
                let right = match opcode {
                    op::IF_ICMPEQ..=op::IF_ACMPNE => Some(frame.pop(jni)?),
                    _ => None,
                };
                let left = frame.pop(jni)?;
                if self.branch(jni, opcode, &left, right.as_ref()) {
                    return Ok(Next::Jump(instruction.target().unwrap_or_default()));
                }
            }
            op::GOTO | op::GOTO_W => {
                return Ok(Next::Jump(instruction.target().unwrap_or_default()));
            }
            op::TABLESWITCH | op::LOOKUPSWITCH => {
                let key = frame.pop(jni)?;
                let switch = instruction.switch().ok_or_else(|| odd(jni))?;
                let mut cases = switch.cases();
                let case = cases.find(|(of, _)| *of == key.as_int());
                if self.is_noting() {
                    self.note_switch(
                        &key,
                        case.map(|(of, _)| of),
                        switch.cases().map(|(of, _)| of),
                    );
                }
                let to = case.map_or_else(|| switch.default_target(), |(_, to)| to);
                return Ok(Next::Jump(to));
            }
            op::IRETURN..=op::ARETURN => return Ok(Next::Return(Some(frame.pop(jni)?))),
            op::RETURN => return Ok(Next::Return(None)),
            op::GETSTATIC..=op::INVOKEDYNAMIC
            | op::NEWARRAY
            | op::ANEWARRAY
            | op::CHECKCAST
            | op::INSTANCEOF
            | op::MULTIANEWARRAY => {
                self.run_helper(jni, frame, instruction)?;
            }
            op::NEW => {
                self.initialise(jni, frame, instruction)?;
                frame.push(Held::new(JvmValue::New(instruction.pc)));
            }
            op::ARRAYLENGTH => {
                let array = frame.pop(jni)?;
                let held = self.length(jni, &array)?;
                frame.push(held);
            }
            op::ATHROW => {
                let held = frame.pop(jni)?;
                return Err(match held.reference() {
                    Some(thrown) => thrown,
                    None => self.null(jni),
                });
            }
            op::MONITORENTER | op::MONITOREXIT => {
                let held = frame.pop(jni)?;
                let object = held.reference().ok_or_else(|| self.null(jni))?;
                jni.monitor(&object, opcode == op::MONITORENTER)?;
            }
            _ => return Err(odd(jni)),
        }
        Ok(Next::On)
    }

    fn constant<'j>(
        &self,
        jni: &Jni<'j>,
        frame: &mut MachineFrame<'_, 'j>,
        instruction: &Instruction<'_>,
    ) -> Result<(), Local<'j>> {
        let followed = frame.followed;
        if let Some(helper) = followed.method.helpers.get(&instruction.pc) {
            let held = Held::passed(self.perform(jni, followed, helper, &[])?);
            frame.receive(held);
            return Ok(());
        }
        let index = instruction.pool_index().unwrap_or_default();
        let pool = &followed.pool;
        let bits = |index| pool.bits(index).ok();
        let slot = match pool.tag(index) {
            Some(tag::INTEGER) => pool.integer(index).ok().map(JvmValue::Int),
            Some(tag::LONG) => pool.long(index).ok().map(JvmValue::Long),
            Some(tag::FLOAT) => bits(index)
                .and_then(|bits| bits.try_into().ok())
                .map(|bits| JvmValue::Float(f32::from_be_bytes(bits))),
            Some(tag::DOUBLE) => bits(index)
                .and_then(|bits| bits.try_into().ok())
                .map(|bits| JvmValue::Double(f64::from_be_bytes(bits))),
            _ => None,
        };
        frame.push(Held::new(slot.ok_or_else(|| odd(jni))?));
        Ok(())
    }

    /// An instruction that the JVM does.
    fn run_helper<'j>(
        &self,
        jni: &Jni<'j>,
        frame: &mut MachineFrame<'_, 'j>,
        instruction: &Instruction<'_>,
    ) -> Result<(), Local<'j>> {
        let followed = frame.followed;
        let helper = followed.method.helpers.get(&instruction.pc);
        let helper = helper.ok_or_else(|| odd(jni))?;
        let (parameters, _) = split_descriptor(&helper.descriptor).ok_or_else(|| odd(jni))?;
        let mut given = Vec::with_capacity(parameters.len());
        for _ in &parameters {
            given.push(frame.pop(jni)?);
        }
        given.reverse();
        let index = instruction.pool_index().unwrap_or_default();
        let member = || {
            let member = followed.pool.member(index).map_err(|_| odd(jni))?;
            Ok::<Member, Local<'j>>(Member {
                owner: member.owner.into_owned(),
                name: member.name.into_owned(),
                descriptor: member.descriptor.into_owned(),
            })
        };
        match instruction.opcode {
            op::GETSTATIC | op::GETFIELD => {
                let read = self.read(jni, followed, member()?, helper, given.pop());
                if let (op::GETSTATIC, Err(thrown)) = (instruction.opcode, &read) {
                    self.note_initialiser(jni, frame, &member()?.owner, thrown);
                }
                frame.receive(read?);
            }
            op::PUTSTATIC | op::PUTFIELD => {
                let value = given.pop().ok_or_else(|| odd(jni))?;
                let written = self.write(jni, followed, member()?, helper, given.pop(), value);
                if let (op::PUTSTATIC, Err(thrown)) = (instruction.opcode, &written) {
                    self.note_initialiser(jni, frame, &member()?.owner, thrown);
                }
                written?;
            }
            op::INVOKESPECIAL if member()?.name == "<init>" => {
                let held = self.call(jni, frame, member()?, helper, given)?;
                frame.keep(&held);
                let made = frame.pop(jni)?;
                if let JvmValue::New(at) = made.slot {
                    frame.replace(at, &held);
                }
            }
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
                let target = member()?;
                let is_void = target.descriptor.ends_with(")V");
                let held = self.call(jni, frame, target, helper, given)?;
                if !is_void {
                    frame.receive(held);
                }
            }
            op::INVOKEDYNAMIC => {
                let site = followed.pool.dynamic(index).map_err(|_| odd(jni))?;
                let done = Held::passed(self.perform(jni, followed, helper, &given)?);
                let (number, slot) = (site.bootstrap, done.slot);
                let text = self.concatenate(jni, followed, number, &parameters, &given, slot);
                if text.is_none() && self.is_noting() {
                    self.note_lambda(jni, followed, &site, &parameters, &given, &done);
                }
                frame.receive(text.unwrap_or(done));
            }
            op::CHECKCAST => {
                let done = self.perform(jni, followed, helper, &given);
                if let (Err(thrown), Some(object)) = (&done, given.first()) {
                    let class = followed.pool.class_name(index).map_err(|_| odd(jni))?;
                    self.note_failed_cast(jni, object, &class, thrown);
                }
                let done = Held::passed(done?);
                let origin = given.first().and_then(|held| held.origin);
                frame.receive(Held { origin, ..done });
            }
            op::INSTANCEOF => {
                let done = Held::passed(self.perform(jni, followed, helper, &given)?);
                let class = followed.pool.class_name(index).map_err(|_| odd(jni))?;
                let object = given.pop().ok_or_else(|| odd(jni))?;
                frame.receive(self.is_instance(jni, &object, &class, done.as_int() != 0));
            }
            _ => {
                let done = Held::passed(self.perform(jni, followed, helper, &given)?);
                frame.receive(done);
            }
        }
        Ok(())
    }
}

impl<'j> MachineFrame<'_, 'j> {
    /// The exceptions that are caught here and are not failures of every kind, innermost first.
    pub(super) fn ready_for(&self) -> impl Iterator<Item = (&Handler, String)> {
        let handlers = self.followed.method.code.handlers.iter();
        let covering = handlers.filter(|handler| {
            let covered = u32::from(handler.start)..u32::from(handler.end);
            covered.contains(&self.pc) && handler.catch_type != 0
        });
        let named = covering.filter_map(|handler| {
            let class = self.followed.pool.class_name(handler.catch_type).ok()?;
            Some((handler, class.into_owned()))
        });
        named.filter(|(_, class)| !CATCH_ALL.contains(&class.as_str()))
    }

    fn push(&mut self, held: Held<'j>) {
        self.stack.push(held);
    }

    /// Pushes what an instruction made.
    fn receive(&mut self, held: Held<'j>) {
        self.keep(&held);
        self.push(held);
    }

    /// Remembers a reference that an instruction made.
    fn keep(&mut self, held: &Held<'j>) {
        self.made.extend(held.reference());
    }

    /// Ends the references that nothing holds any more. Between instructions that is all but the stack and
    /// the local variables.
    fn sweep(&mut self, jni: &Jni<'j>) {
        let mut held = HashSet::new();
        let locals = self.locals.iter().flatten();
        for value in self.stack.iter().chain(locals) {
            value.each_reference(&mut |of| {
                held.insert(of.raw());
            });
        }
        self.made.sort_unstable_by_key(Local::raw);
        self.made.dedup_by_key(|made| made.raw());
        self.made.retain(|made| {
            let is_held = held.contains(&made.raw());
            if !is_held {
                // SAFETY: an instruction of this method made it, so it is of the frame of this native method;
                // neither stack nor variables hold it, and between instructions nothing else does.
                unsafe { jni.delete(*made) };
            }
            is_held
        });
        self.most = FEWEST.max(2 * self.made.len());
    }

    fn pop(&mut self, jni: &Jni<'j>) -> Result<Held<'j>, Local<'j>> {
        self.stack.pop().ok_or_else(|| odd(jni))
    }

    fn set(&mut self, local: u16, held: Held<'j>) {
        if let Some(place) = self.locals.get_mut(usize::from(local)) {
            *place = Some(held);
        }
    }

    /// An object has been constructed: all that hold it as one that was not.
    fn replace(&mut self, at: u32, made: &Held<'j>) {
        let locals = self.locals.iter_mut().flatten();
        for held in self.stack.iter_mut().chain(locals) {
            if matches!(held.slot, JvmValue::New(of) if of == at) {
                *held = made.clone();
            }
        }
    }

    /// `pop`, `dup`, `swap` and their kin.
    fn shuffle(&mut self, jni: &Jni<'j>, opcode: u8) -> Result<(), Local<'j>> {
        match opcode {
            op::POP => drop(self.pop(jni)?),
            op::POP2 => {
                if !self.pop(jni)?.is_wide() {
                    self.pop(jni)?;
                }
            }
            op::DUP => self.copy(jni, 1, 0)?,
            op::DUP_X1 => self.copy(jni, 1, 1)?,
            op::DUP_X2 => self.copy(jni, 1, 2)?,
            op::DUP2 => self.copy(jni, 2, 0)?,
            op::DUP2_X1 => self.copy(jni, 2, 1)?,
            op::DUP2_X2 => self.copy(jni, 2, 2)?,
            _ => {
                let (one, other) = (self.pop(jni)?, self.pop(jni)?);
                self.push(one);
                self.push(other);
            }
        }
        Ok(())
    }

    /// Puts a copy of the topmost values, so many places, below others.
    fn copy(&mut self, jni: &Jni<'j>, copied: u16, below: u16) -> Result<(), Local<'j>> {
        let top = self.places(jni, copied)?;
        let rest = self.places(jni, below)?;
        self.stack.extend(top.iter().cloned());
        self.stack.extend(rest);
        self.stack.extend(top);
        Ok(())
    }

    /// Takes the topmost values that fill so many places, the lowest first.
    fn places(&mut self, jni: &Jni<'j>, mut places: u16) -> Result<Vec<Held<'j>>, Local<'j>> {
        let mut taken = Vec::new();
        while places > 0 {
            let held = self.pop(jni)?;
            places = places.saturating_sub(if held.is_wide() { 2 } else { 1 });
            taken.push(held);
        }
        taken.reverse();
        Ok(taken)
    }
}

fn byte(instruction: &Instruction<'_>, at: usize) -> u8 {
    instruction.bytes.get(at).copied().unwrap_or_default()
}

/// The type of arrays that an instruction is for, counted from that for `int`.
fn array_of(kind: u8) -> &'static str {
    match kind {
        0 => "[I",
        1 => "[J",
        2 => "[F",
        3 => "[D",
        4 => "[Ljava/lang/Object;",
        5 => "[B",
        6 => "[C",
        _ => "[S",
    }
}

/// A result as the trampoline takes it.
fn boxed<'j>(jni: &Jni<'j>, held: &Held<'j>, result: &str) -> Result<Option<Local<'j>>, Local<'j>> {
    let letter = result.as_bytes().first().copied().unwrap_or(b'V');
    let name = match Shape::of_letter(letter) {
        None | Some(Shape::Reference) => return Ok(held.reference()),
        Some(scalar) => scalar.box_name(),
    };
    let descriptor = format!("({})L{name};", char::from(letter));
    let found = jni.find_class(name).and_then(|class| {
        let method = jni.static_method(&class, "valueOf", &descriptor)?;
        Ok((class, method))
    });
    let (class, method) = found.map_err(|_| odd(jni))?;
    let value: Passed<'_> = held.to_pass(letter);
    jni.static_object(&class, method, &[value])
}
