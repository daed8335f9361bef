//! Calls in observed code: which of them may leave it, and what is woven around those.

use culprit_classfile::{Asm, Instruction, LocalKind, op};
use culprit_model::SiteKind;
use culprit_model::value::{Shape, split_descriptor};

use crate::detour;
use crate::fresh;
use crate::library::{self, CallPolicy};
use crate::method::{
    MemberTarget, Weaver, parameter_shapes, result_shape, stores_local_zero, whole_record,
};
use crate::probe::{local_kind, variant};
use crate::reflection;
use crate::{Error, MemberKind, Purpose, World};

/// The types of arrays that are no array types.
const ARRAY_TYPES: [&str; 3] = [
    "Ljava/lang/Object;",
    "Ljava/lang/Cloneable;",
    "Ljava/io/Serializable;",
];

const VAR_HANDLE: &str = "java/lang/invoke/VarHandle";

/// The condition under which a call leaves observed code.
#[derive(Clone, Copy, PartialEq)]
enum CallExit {
    /// Without a receiver, for certain.
    Out,
    /// On a receiver, for certain.
    OutOn,
    /// On a receiver that decides at run time.
    OutIf,
    /// If the receiver turns out to be a thread.
    OutIfThread,
    /// Without a receiver, if an argument is of the outside.
    OutWith,
    /// On a receiver that decides at run time, or if an argument is of the outside.
    OutIfWith,
    /// To a superclass, if the stream that it passes calls on to is of the outside.
    OutOnTo(&'static str, &'static str),
}

impl CallExit {
    fn has_receiver(self) -> bool {
        !matches!(self, CallExit::Out | CallExit::OutWith)
    }

    /// Whether arguments, or what the receiver has of them, decide at run time.
    fn looks_at_arguments(self) -> bool {
        matches!(
            self,
            CallExit::OutWith | CallExit::OutIfWith | CallExit::OutOnTo(..)
        )
    }
}

/// Whether a call in a class of the observed set may leave it.
pub(crate) fn may_leave(
    opcode: u8,
    target: &MemberTarget<'_>,
    class: &str,
    natives: &[(String, String)],
    world: &dyn World,
) -> bool {
    call_exit(opcode, target, false, class, natives, world).is_some()
}

/// Whether a call in the method that is being woven may leave observed code.
pub(crate) fn leaves(
    opcode: u8,
    target: &MemberTarget<'_>,
    own: bool,
    weaver: &Weaver<'_>,
    world: &dyn World,
) -> bool {
    call_exit(opcode, target, own, weaver.class, weaver.natives, world).is_some()
}

fn call_exit(
    opcode: u8,
    target: &MemberTarget<'_>,
    own: bool,
    class: &str,
    natives: &[(String, String)],
    world: &dyn World,
) -> Option<CallExit> {
    let MemberTarget {
        owner,
        name,
        descriptor,
        is_static,
    } = *target;
    if owner.starts_with('[') {
        return None;
    }
    let without_receiver = is_static || name == "<init>";
    if owner == class || world.is_observed(owner) {
        // A native method of an observed class is code that nobody can replay.
        let native = owner == class && natives.iter().any(|(n, d)| n == name && d == descriptor);
        if native {
            return Some(if is_static {
                CallExit::Out
            } else {
                CallExit::OutOn
            });
        }
        // A method that a thread class inherits is the JDK's, and threads are the outside world.
        // Other inherited methods run live, or are watched in the class they are in.
        let may_inherit = !without_receiver && library::is_thread_method(name, descriptor);
        let declaring = || world.declaring(owner, MemberKind::Method, name, descriptor);
        return match may_inherit.then(declaring)? {
            Some(class) if world.is_library(&class) => Some(CallExit::OutOn),
            Some(_) => None,
            None => Some(CallExit::OutIfThread),
        };
    }
    if !world.is_library(owner) {
        return Some(match opcode {
            _ if without_receiver => CallExit::Out,
            op::INVOKESPECIAL => CallExit::OutOn,
            _ => CallExit::OutIf,
        });
    }
    // What a library superclass does for an observed object is done live, by that object.
    if own {
        return None;
    }
    if owner == VAR_HANDLE && reaches_outside(descriptor, world) {
        return Some(CallExit::OutOn);
    }
    if let (op::INVOKESPECIAL, false) = (opcode, without_receiver)
        && let Some((field, of)) = library::passes_on_to(owner)
    {
        return Some(CallExit::OutOnTo(field, of));
    }
    let policy = match opcode {
        _ if without_receiver => library::static_call(owner, name, descriptor),
        op::INVOKESPECIAL => library::super_call(owner, descriptor),
        _ => library::instance_call(owner, name, descriptor),
    };
    match policy {
        CallPolicy::Inside => None,
        CallPolicy::Outside if without_receiver => Some(CallExit::Out),
        CallPolicy::Outside => Some(CallExit::OutOn),
        CallPolicy::ByReceiver => Some(CallExit::OutIf),
        CallPolicy::ByArguments if without_receiver => Some(CallExit::OutWith),
        CallPolicy::ByArguments => Some(CallExit::OutIfWith),
    }
}

/// Whether an access by a variable handle is to a field of an external object: the descriptor starts
/// with the type of that.
fn reaches_outside(descriptor: &str, world: &dyn World) -> bool {
    let object = split_descriptor(descriptor).and_then(|(first, _)| first.first().copied());
    let class = object.and_then(|o| o.strip_prefix('L')?.strip_suffix(';'));
    class.is_some_and(|class| !world.is_observed(class) && !world.is_library(class))
}

/// Surrounds a call with probes. One small argument at most is recorded from the stack; more of
/// them are moved to temporaries, recorded, and put back.
pub(crate) fn weave(
    weaver: &mut Weaver<'_>,
    world: &dyn World,
    token: u16,
    instruction: &Instruction<'_>,
    own: bool,
) -> Result<(), Error> {
    let Some(named) = weaver.named(instruction)? else {
        return Ok(());
    };
    let target = named.target();
    let MemberTarget {
        owner,
        name,
        descriptor,
        ..
    } = target;
    let opcode = instruction.opcode;
    let Some(call_exit) = call_exit(opcode, &target, own, weaver.class, weaver.natives, world)
    else {
        return Ok(());
    };
    if fresh::is_fresh_builder(weaver, instruction, &target)? {
        return Ok(());
    }
    let constructs = name == "<init>";
    let shapes = parameter_shapes(descriptor)?;
    let site = weaver.site(SiteKind::Call, Some(instruction.pc), &target);
    let stem = match call_exit {
        CallExit::Out => "out",
        CallExit::OutOn => "outOn",
        CallExit::OutIf => "outIf",
        CallExit::OutIfThread => "outIfThread",
        CallExit::OutWith => "outWith",
        CallExit::OutIfWith | CallExit::OutOnTo(..) => "outIfWith",
    };
    let (parameters, _) =
        split_descriptor(descriptor).ok_or_else(|| Error::Descriptor(descriptor.to_owned()))?;
    // Where an array may be among the arguments that the callee can change: in parameters of an
    // array type, and, unless the JDK says otherwise, in those of a type that arrays have too.
    let jdk = world.is_library(owner);
    let fills_arrays = !jdk || library::fills_arrays(name);
    let fills_objects = !jdk || library::fills_objects(owner);
    let may_change = |parameter: &&str| {
        parameter.starts_with('[') && fills_arrays
            || fills_objects && ARRAY_TYPES.contains(parameter)
    };
    let takes_array = parameters.iter().any(&may_change);
    let part = (jdk && call_exit.has_receiver() && takes_array)
        .then(|| library::own_part(name, &parameters))
        .flatten();
    // On replay the scenario says which field it was.
    let reflects = weaver.purpose == Purpose::Record && reflection::is_field_access(&target);
    let call = weaver.temporary(0, LocalKind::Long);
    let receiver = weaver.temporary(1, LocalKind::Reference);
    let mut before = Asm::new();
    let mut locals: Vec<(LocalKind, u16)> = Vec::new();
    let at_arguments = call_exit.looks_at_arguments() || call_exit == CallExit::OutIfThread;
    let whole = if constructs || takes_array || at_arguments || reflects {
        None
    } else {
        whole_record(&shapes)
    };
    if let Some(suffix) = whole {
        match (call_exit == CallExit::Out, shapes.len()) {
            (true, 0) => &mut before,
            (true, _) | (false, 0) => before.dup(),
            (false, _) => before.dup2(),
        };
        before.lload(token);
        weaver.push_site(&mut before, site)?;
        weaver.probe(&mut before, &format!("{stem}{suffix}"))?;
        before.lstore(call);
    } else {
        for (i, (shape, parameter)) in shapes.iter().zip(&parameters).enumerate() {
            let kind = local_kind(*shape);
            locals.push((kind, weaver.temporary_for(i + 2, kind, parameter)));
        }
        for (parameter, (kind, local)) in parameters.iter().zip(&locals).rev() {
            if *parameter == "Ljava/lang/Object;" {
                weaver.blur(&mut before)?;
            }
            before.store(*kind, *local);
        }
        if call_exit.has_receiver() {
            before.dup();
            if reflects || part.is_some() {
                before.astore(receiver).aload(receiver);
            }
        }
        if let CallExit::OutOnTo(field, of) = call_exit {
            let field = weaver.pool.add_field_ref(owner, field, of)?;
            before.dup().getfield(field);
            before.op(op::ICONST_0).op(op::SWAP);
            weaver.probe(&mut before, "foreign")?;
        } else if call_exit.looks_at_arguments() {
            before.op(op::ICONST_0);
            for (parameter, (kind, local)) in parameters.iter().zip(&locals) {
                if library::may_lead_out(parameter) {
                    before.load(*kind, *local);
                    weaver.probe(&mut before, "foreign")?;
                }
            }
        }
        before.lload(token);
        weaver.push_site(&mut before, site)?;
        weaver.probe(&mut before, stem)?;
        before.lstore(call);
        // Should the call not leave, library code may look into what it is given.
        let stays = call_exit == CallExit::OutIf || call_exit.looks_at_arguments();
        let looked_at = stays && jdk && !library::looks_away(owner, name);
        let values = shapes.iter().zip(&parameters);
        for ((shape, parameter), (kind, local)) in values.zip(&locals) {
            before.load(*kind, *local).lload(call);
            if looked_at && library::may_have_state(parameter) {
                before.lload(token);
                weaver.push_site(&mut before, site)?;
                weaver.probe(&mut before, "putGiven")?;
            } else {
                weaver.probe(&mut before, &variant("put", Some(*shape)))?;
            }
        }
        before.lload(call);
        weaver.probe(&mut before, "left")?;
        if constructs {
            // One more reference to the object, to know it once it is initialised.
            before.dup();
        }
        let arrays = parameters
            .iter()
            .zip(&locals)
            .filter(|(p, _)| may_change(p));
        for (i, (_, (_, local))) in arrays.enumerate() {
            before.aload(*local);
            weaver.blur(&mut before)?;
            before.astore(weaver.held(i)?);
        }
        for (kind, local) in &locals {
            before.load(*kind, *local);
        }
    }
    weaver.editor.insert_before(instruction.pc, before);
    // What an external superclass does in its constructor is answered there: only then is there an
    // object to be named.
    if weaver.purpose == Purpose::Replay && !own {
        detour::take(weaver, world, instruction, &target, call)?;
    }

    let mut after = Asm::new();
    let arrays = parameters
        .iter()
        .zip(&locals)
        .filter(|(p, _)| may_change(p));
    for (i, (_, (_, local))) in arrays.enumerate() {
        match part {
            Some(array) => {
                after.aload(receiver).aload(*local);
                after.iload(locals[array + 1].1).iload(locals[array + 2].1);
                after.lload(call);
                weaver.probe(&mut after, "contentsPart")?;
            }
            None => {
                after.aload(*local).lload(call);
                weaver.probe(&mut after, "contents")?;
            }
        }
        after.aconst_null().astore(weaver.held(i)?);
    }
    if let (true, Some((_, object))) = (reflects, locals.first()) {
        reflection::record(weaver, &mut after, &target, receiver, *object)?;
    }
    let result = if constructs {
        Some(Shape::Reference)
    } else {
        result_shape(descriptor)?
    };
    if let (Some(shape), false) = (result, constructs) {
        after.dup_value(local_kind(shape));
    }
    after.lload(call);
    weaver.push_site(&mut after, site)?;
    match constructs {
        true => weaver.probe(&mut after, "backNew")?,
        false => weaver.probe(&mut after, &variant("back", result))?,
    }
    let on_this = !weaver.is_static() && !weaver.is_constructor();
    if library::writes_fields(owner, name) && on_this && !stores_local_zero(weaver.code)? {
        after.aload(0).lload(token);
        weaver.push_site(&mut after, site)?;
        weaver.probe(&mut after, "refilled")?;
    }
    forget(&mut after, &locals);
    if reflects || part.is_some() {
        forget(&mut after, &[(LocalKind::Reference, receiver)]);
    }
    weaver.editor.insert_after(instruction.pc, after);
    Ok(())
}

/// Clears temporaries that hold references: in an interpreted frame they would keep objects alive.
pub(crate) fn forget(asm: &mut Asm, locals: &[(LocalKind, u16)]) {
    for (kind, local) in locals {
        if *kind == LocalKind::Reference {
            asm.aconst_null().astore(*local);
        }
    }
}
