//! Detours: what stands in the place of a call out of observed code when a class is woven to be
//! replayed. A detour is a method of the class. It takes what the call takes and the token of the
//! call: if that says that the call leaves, the answer comes from the scenario; if not, the call is
//! made.
//!
//! Who asks a class for its methods has the JVM load what their descriptors name. A class that no
//! loader has, since it was never loaded when it was recorded, is `Object` to a detour.

use std::borrow::Cow;

use culprit_classfile::{
    Asm, Attribute, Code, Instruction, LocalKind, Member, SlotType, access, op,
};
use culprit_model::value::split_descriptor;

use crate::method::{MemberTarget, Weaver};
use crate::raise::JAVA_8;
use crate::reference::return_of;
use crate::{Error, World, probe};

/// How the names of detours start.
const DETOUR: &str = "$culprit$out$";
/// What the parameters of a method may take.
const MOST_SLOTS: usize = 255;
/// Number of the temporary for a new object; calls use those of their arguments.
const NEW: usize = usize::MAX - 1;

/// The form of the original call.
#[derive(Clone, Copy, PartialEq)]
enum CallForm {
    Static,
    /// On a receiver that the detour is given.
    On,
    /// `super.method()`: the detour is a method of the receiver.
    Super,
    /// The detour makes the object.
    New,
}

/// Replaces a call that may leave by a detour; `call` is the local that holds its token.
pub(crate) fn take(
    weaver: &mut Weaver<'_>,
    world: &dyn World,
    instruction: &Instruction<'_>,
    target: &MemberTarget<'_>,
    call: u16,
) -> Result<(), Error> {
    let form = match instruction.opcode {
        op::INVOKESTATIC => CallForm::Static,
        op::INVOKESPECIAL if target.name == "<init>" => CallForm::New,
        op::INVOKESPECIAL => CallForm::Super,
        _ => CallForm::On,
    };
    if weaver.in_interface && weaver.context.major < JAVA_8 {
        return Err(Error::Detour(
            "an old interface, with an initialiser that newer ones cannot have",
        ));
    }
    // The receiver and the token come on top.
    if slots(target.descriptor)? + 3 > MOST_SLOTS {
        return match form {
            CallForm::New => Err(Error::Detour("a constructor with too many parameters")),
            // The method of the stub answers as well; the JDK has none with so many parameters.
            _ => Ok(()),
        };
    }
    let copies = match form {
        CallForm::New => Some(uninitialized(weaver, instruction, target)?),
        _ => None,
    };
    let receiver = match form {
        CallForm::On => Some(receiver_type(weaver, instruction, target)?),
        _ => None,
    };
    let detour = Detour {
        form,
        world,
        instruction,
        target,
        receiver,
        // The same whenever the class is woven: one that exists already keeps its methods.
        name: format!("{DETOUR}{}${}", weaver.number, weaver.detours.len()),
    };
    let method = detour.add(weaver)?;
    let mut asm = Asm::new();
    asm.lload(call);
    match form {
        CallForm::Super => asm.invokespecial(method),
        _ => asm.invokestatic(method),
    };
    detour.cast_result(weaver, &mut asm)?;
    if let Some((new, copies)) = copies {
        // Below the arguments were so many references to the object, and one that the probe after the
        // call wants; all of them are null now.
        let object = weaver.temporary_for(NEW, LocalKind::Reference, target.owner);
        asm.astore(object);
        for _ in 0..=copies {
            asm.pop();
        }
        for _ in 0..copies {
            asm.aload(object);
        }
        if weaver.nulled.insert(new) {
            weaver.editor.replace_new_by_null(new);
        }
    }
    weaver.editor.replace(instruction.pc, asm);
    Ok(())
}

/// The `new` of a constructor call, and how many references to its object are on the stack.
fn uninitialized(
    weaver: &mut Weaver<'_>,
    instruction: &Instruction<'_>,
    target: &MemberTarget<'_>,
) -> Result<(u32, usize), Error> {
    let odd = Error::Detour("a new object is used in an unusual way before its constructor");
    let simulation = weaver.simulation()?;
    let Some(state) = simulation.at(instruction.pc) else {
        return Err(Error::Detour("a call that no path leads to"));
    };
    let below = state.stack.len().saturating_sub(slots(target.descriptor)?);
    let Some(SlotType::Uninitialized(new)) = below.checked_sub(1).and_then(|i| state.stack.get(i))
    else {
        return Err(odd);
    };
    let is_new = |slot: &&SlotType| **slot == SlotType::Uninitialized(*new);
    let copies = state.stack[..below].iter().rev().take_while(is_new).count();
    let all = state.stack.iter().chain(&state.locals).filter(is_new);
    if all.count() != copies {
        return Err(odd);
    }
    Ok((*new, copies))
}

/// The receiver as the code knows it: a protected method asks for no less.
fn receiver_type(
    weaver: &mut Weaver<'_>,
    instruction: &Instruction<'_>,
    target: &MemberTarget<'_>,
) -> Result<String, Error> {
    let simulation = weaver.simulation()?;
    let state = simulation.at(instruction.pc);
    let arguments = slots(target.descriptor)?;
    let known = state.and_then(|state| {
        let place = state.stack.len().checked_sub(arguments + 1)?;
        match state.stack.get(place)? {
            SlotType::Object(class) => Some(simulation.class_name(*class).into_owned()),
            _ => None,
        }
    });
    let unknown = |class: &String| class == "java/lang/Object" && target.owner != *class;
    let class = known.filter(|class| !unknown(class));
    let class = class.as_deref().unwrap_or(target.owner);
    Ok(if class.starts_with('[') {
        class.to_owned()
    } else {
        format!("L{class};")
    })
}

/// Slots that the arguments of a call take.
fn slots(descriptor: &str) -> Result<usize, Error> {
    let (parameters, _) = parts(descriptor)?;
    let slots = parameters.iter().map(|p| LocalKind::of(p).slots());
    Ok(slots.map(usize::from).sum())
}

fn parts(descriptor: &str) -> Result<(Vec<&str>, &str), Error> {
    split_descriptor(descriptor).ok_or_else(|| Error::Descriptor(descriptor.to_owned()))
}

/// The class that a type is, or is an array of.
fn class_of(descriptor: &str) -> Option<&str> {
    let class = descriptor.trim_start_matches('[').strip_prefix('L')?;
    class.strip_suffix(';')
}

struct Detour<'d> {
    form: CallForm,
    world: &'d dyn World,
    instruction: &'d Instruction<'d>,
    target: &'d MemberTarget<'d>,
    /// Descriptor of the receiver, where the detour is given one.
    receiver: Option<String>,
    name: String,
}

impl Detour<'_> {
    /// Adds the method to the class; the constant that names it.
    fn add(&self, weaver: &mut Weaver<'_>) -> Result<u16, Error> {
        let given: String = self
            .given()?
            .into_iter()
            .map(|it| self.erased(it))
            .collect();
        let result = self.result()?;
        let descriptor = format!("({given}J){}", self.erased(&result));
        let code = self.code(weaver, self.erased(&result))?;
        let pool = &mut *weaver.pool;
        let method = if weaver.in_interface {
            pool.add_interface_method_ref(weaver.class, &self.name, &descriptor)?
        } else {
            pool.add_method_ref(weaver.class, &self.name, &descriptor)?
        };
        let of_class = if self.form == CallForm::Super {
            0
        } else {
            access::STATIC
        };
        weaver.detours.push(Member {
            access: access::PRIVATE | access::SYNTHETIC | of_class,
            name: pool.add_utf8(&self.name)?,
            descriptor: pool.add_utf8(&descriptor)?,
            attributes: vec![code.write(pool)?],
        });
        Ok(method)
    }

    /// What the original call takes, as it knows it.
    fn given(&self) -> Result<Vec<&str>, Error> {
        let (parameters, _) = parts(self.target.descriptor)?;
        let receiver = self.receiver.iter().map(String::as_str);
        Ok(receiver.chain(parameters).collect())
    }

    /// What the original call returns or makes.
    fn result(&self) -> Result<Cow<'_, str>, Error> {
        Ok(match self.form {
            CallForm::New => Cow::Owned(format!("L{};", self.target.owner)),
            _ => Cow::Borrowed(parts(self.target.descriptor)?.1),
        })
    }

    /// A type as the detour has it.
    fn erased<'t>(&self, descriptor: &'t str) -> &'t str {
        match class_of(descriptor) {
            Some(class) if !self.world.can_load(class) => "Ljava/lang/Object;",
            _ => descriptor,
        }
    }

    /// Makes the reference on the stack what the code around it knows it as.
    fn cast(&self, weaver: &mut Weaver<'_>, asm: &mut Asm, descriptor: &str) -> Result<(), Error> {
        if self.erased(descriptor) != descriptor {
            let class = descriptor
                .strip_prefix('L')
                .and_then(|class| class.strip_suffix(';'));
            asm.checkcast(weaver.pool.add_class(class.unwrap_or(descriptor))?);
        }
        Ok(())
    }

    fn cast_result(&self, weaver: &mut Weaver<'_>, asm: &mut Asm) -> Result<(), Error> {
        self.cast(weaver, asm, &self.result()?)
    }

    fn code(&self, weaver: &mut Weaver<'_>, result: &str) -> Result<Code, Error> {
        let given = self.given()?;
        let first = u16::from(self.form == CallForm::Super);
        let token = first + given.iter().map(|p| LocalKind::of(p).slots()).sum::<u16>();
        let slots = token - first + LocalKind::Long.slots();
        let pool = &mut *weaver.pool;
        let mut answered = Asm::new();
        answered.lload(token);
        probe::give(&mut answered, pool, result)?;
        answered.op(return_of(result));
        let mut asm = Asm::new();
        asm.lload(token).op(op::LCONST_0).op(op::LCMP);
        let jump = 3 + answered.len() as u16;
        asm.op_index(op::IFGE, jump).append(&answered);
        let original = asm.len() as u16;
        self.original(weaver, &mut asm, &given, first)?;
        asm.op(return_of(result));
        Ok(Code {
            max_stack: first + slots + 4,
            max_locals: first + slots,
            bytes: asm.bytes().to_vec(),
            handlers: Vec::new(),
            attributes: self.attributes(weaver, original)?,
        })
    }

    /// The call as it was.
    fn original(
        &self,
        weaver: &mut Weaver<'_>,
        asm: &mut Asm,
        given: &[&str],
        first: u16,
    ) -> Result<(), Error> {
        if self.form == CallForm::New {
            let class = weaver.pool.add_class(self.target.owner)?;
            asm.op_index(op::NEW, class).dup();
        } else if self.form == CallForm::Super {
            asm.aload(0);
        }
        let mut local = first;
        for parameter in given {
            let kind = LocalKind::of(parameter);
            asm.load(kind, local);
            self.cast(weaver, asm, parameter)?;
            local += kind.slots();
        }
        let constant = self.instruction.pool_index();
        let constant = constant.ok_or(Error::Detour("a call that names nothing"))?;
        match self.instruction.opcode {
            op::INVOKEINTERFACE => asm.invokeinterface(constant, local as u8),
            opcode => asm.op_index(opcode, constant),
        };
        Ok(())
    }

    /// One frame, where the original call begins: there the locals are as at the start.
    fn attributes(&self, weaver: &mut Weaver<'_>, original: u16) -> Result<Vec<Attribute>, Error> {
        const SAME_FRAME_EXTENDED: u8 = 251;
        let mut attributes = Vec::new();
        if weaver.context.major >= 50 {
            let [high, low] = original.to_be_bytes();
            attributes.push(Attribute {
                name: weaver.pool.add_utf8("StackMapTable")?,
                bytes: vec![0, 1, SAME_FRAME_EXTENDED, high, low],
            });
        }
        if let Some(line) = weaver.line_at(self.instruction.pc) {
            let [high, low] = line.to_be_bytes();
            attributes.push(Attribute {
                name: weaver.pool.add_utf8("LineNumberTable")?,
                bytes: vec![0, 1, 0, 0, high, low],
            });
        }
        Ok(attributes)
    }
}
