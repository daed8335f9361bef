//! The plan for classes of the observed set: incoming calls at method entry, outgoing calls and
//! field accesses where they happen, exceptions where they arrive and where they leave.

use culprit_classfile::{Asm, Instruction, LocalKind, access as flags, op};
use culprit_model::options::Arrays;
use culprit_model::value::Shape;
use culprit_model::{EventKind, SiteId, SiteKind};

use crate::calls;
use crate::given;
use crate::handback;
use crate::identity;
use crate::library;
use crate::lines;
use crate::locks;
use crate::method::{Entrance, MemberTarget, Weaver, stores_local_zero};
use crate::outside;
use crate::probe::{self, ANSWER, local_kind, variant};
use crate::reference;
use crate::statics;
use crate::strings;
use crate::{Error, ID_FIELD, MemberKind, Purpose, Settings, World};

pub(crate) fn weave(
    weaver: &mut Weaver<'_>,
    world: &dyn World,
    settings: Settings<'_>,
) -> Result<bool, Error> {
    if reference::is_constructing(weaver.name) && constructs_observed(weaver, world)? {
        // The constructor is where the call arrives, whether or not by this detour.
        return outside::constructing(weaver);
    }
    if let Some(lines) = settings.lines {
        lines::count(weaver, lines)?;
    }
    let token = weaver.token();
    let site = weaver.own_site(SiteKind::Entry);
    let constructs = weaver.is_constructor();
    let entrance = Entrance {
        here: if constructs {
            "hereConstructing"
        } else {
            "here"
        },
        crosses: "isOutside",
        enter: if constructs {
            "enterConstructor"
        } else {
            "enter"
        },
        commit: "entered",
    };
    if weaver.purpose == Purpose::Replay {
        statics::enter(weaver, world)?;
    }
    weaver.enter(token, site, &entrance)?;
    weaver.before_returns(token, site, "returned")?;
    handback::weave(weaver, token, site)?;

    let code = weaver.code;
    let this_calls = if weaver.is_constructor() {
        weaver.this_calls()?
    } else {
        Vec::new()
    };
    let mut compares = false;
    let mut settled = false;
    for instruction in code.instructions() {
        let instruction = instruction?;
        if weaver.purpose == Purpose::Replay {
            if weaver.is_probe_beside(&instruction)? {
                settled |= strings::is_probe(weaver, &instruction)?;
                continue;
            }
            locks::gate(weaver, &instruction)?;
            statics::touch(weaver, world, &instruction)?;
        }
        match instruction.opcode {
            op::INVOKEVIRTUAL | op::INVOKESPECIAL | op::INVOKESTATIC | op::INVOKEINTERFACE => {
                weaver.after_clone(&instruction)?;
                let own = this_calls.contains(&instruction.pc);
                calls::weave(weaver, world, token, &instruction, own)?;
                identity::weave(weaver, world, token, &instruction)?;
                given::weave(weaver, world, token, &instruction, own)?;
            }
            op::INVOKEDYNAMIC => identity::weave(weaver, world, token, &instruction)?,
            op::GETFIELD | op::GETSTATIC | op::PUTFIELD | op::PUTSTATIC => {
                field(weaver, world, token, &instruction)?;
            }
            // The recording beside this replay has asked it already.
            op::IF_ACMPEQ | op::IF_ACMPNE if settled => settled = false,
            op::IF_ACMPEQ | op::IF_ACMPNE => compares |= strings::weave(weaver, &instruction)?,
            _ if settings.arrays == Arrays::Accesses => element(weaver, token, &instruction)?,
            _ => {}
        }
    }
    let keeps_this = !stores_local_zero(code)?;
    for pc in this_calls {
        let mut asm = Asm::new();
        asm.lload(token);
        weaver.probe(&mut asm, "chain")?;
        if calls_observed(weaver, world, pc)? {
            weaver.editor.insert_before(pc, asm);
        }
        if keeps_this {
            let mut asm = Asm::new();
            if !calls_observed(weaver, world, pc)? {
                born(weaver, settings, token, &mut asm)?;
            }
            asm.aload(0).lload(token);
            weaver.push_site(&mut asm, site)?;
            weaver.probe(&mut asm, "constructed")?;
            if let Some(world_in) = site_of_world(weaver, world, pc)? {
                asm.aload(0).lload(token);
                weaver.push_site(&mut asm, world_in)?;
                weaver.probe(&mut asm, "refilled")?;
            }
            weaver.editor.insert_after(pc, asm);
        }
    }
    if weaver.sites_made() == 1 && !compares && is_closed(weaver) {
        return Ok(false);
    }

    // Last, when it is known which arrays are held where.
    let mut leaving = Asm::new();
    weaver.record_held(&mut leaving, token)?;
    leaving.dup().lload(token);
    weaver.push_site(&mut leaving, site)?;
    weaver.probe(&mut leaving, "threw")?;
    weaver.around(&leaving)?;
    weaver.at_handlers(token, "caught")?;
    Ok(true)
}

/// The site of a constructor's call to one of the JDK that looks at the outside world: what that leaves
/// in the object is told.
fn site_of_world(
    weaver: &mut Weaver<'_>,
    world: &dyn World,
    pc: u32,
) -> Result<Option<SiteId>, Error> {
    let instruction = Instruction::decode(&weaver.code.bytes, pc)?;
    let Some(named) = weaver.named(&instruction)? else {
        return Ok(None);
    };
    let target = named.target();
    let looks = world.is_library(target.owner)
        && library::is_external_member(target.owner, target.name, target.descriptor);
    Ok(looks.then(|| weaver.site(SiteKind::Call, Some(pc), &target)))
}

/// Notes in the object that a constructor of its own made it. Once for each object: where the
/// constructor has called one that is not observed.
fn born(
    weaver: &mut Weaver<'_>,
    settings: Settings<'_>,
    token: u16,
    asm: &mut Asm,
) -> Result<(), Error> {
    asm.aload(0);
    if !settings.id_field {
        asm.lload(token);
        return weaver.probe(asm, "bornBelow");
    }
    let field = (weaver.pool).add_field_ref(weaver.class, ID_FIELD, "J")?;
    // The object may have an id by now.
    asm.dup().dup().getfield(field).lload(token);
    weaver.probe(asm, "born")?;
    asm.putfield(field);
    Ok(())
}

/// Whether the method makes an object of the observed set.
fn constructs_observed(weaver: &Weaver<'_>, world: &dyn World) -> Result<bool, Error> {
    for instruction in weaver.code.instructions() {
        let instruction = instruction?;
        if instruction.opcode == op::INVOKESPECIAL {
            return calls_observed(weaver, world, instruction.pc);
        }
    }
    Ok(false)
}

/// Whether only observed code calls the method: then a method without probes inside needs none at
/// its entry either. Private methods of a class without nest mates and method handles are called
/// from elsewhere by reflection alone, which those that frameworks look for show by an annotation
/// or a well-known name.
fn is_closed(weaver: &Weaver<'_>) -> bool {
    const SERIALIZATION: [&str; 5] = [
        "readObject",
        "readObjectNoData",
        "readResolve",
        "writeObject",
        "writeReplace",
    ];
    let private = weaver.access & flags::PRIVATE != 0;
    private
        && !weaver.shares_privates
        && !weaver.is_constructor()
        && !weaver.annotated
        && !weaver.name.starts_with("lambda$")
        && !SERIALIZATION.contains(&weaver.name)
}

/// Whether the call at `pc` goes to a class of the observed set.
fn calls_observed(weaver: &Weaver<'_>, world: &dyn World, pc: u32) -> Result<bool, Error> {
    let Some(index) = Instruction::decode(&weaver.code.bytes, pc)?.pool_index() else {
        return Ok(false);
    };
    let owner = weaver.pool.member(index)?.owner;
    Ok(owner == weaver.class || world.is_observed(&owner))
}

/// Records an access to an external field.
fn field(
    weaver: &mut Weaver<'_>,
    world: &dyn World,
    token: u16,
    instruction: &Instruction<'_>,
) -> Result<(), Error> {
    let Some(named) = weaver.named(instruction)? else {
        return Ok(());
    };
    let target = named.target();
    let MemberTarget {
        owner,
        name,
        descriptor,
        is_static,
    } = target;
    let declaring = world.declaring(owner, MemberKind::Field, name, descriptor);
    let declaring = declaring.as_deref().unwrap_or(owner);
    let observed = declaring == weaver.class || world.is_observed(declaring);
    let library =
        world.is_library(declaring) && !(is_static && library::is_external_static(declaring, name));
    if observed || library {
        return Ok(());
    }
    let reads = matches!(instruction.opcode, op::GETFIELD | op::GETSTATIC);
    let kind = if reads {
        EventKind::OutgoingRead
    } else {
        EventKind::OutgoingWrite
    };
    access(
        weaver,
        instruction.pc,
        &target,
        kind,
        |weaver, asm, site| {
            asm.lload(token).push_int(weaver.pool, kind as i32)?;
            weaver.push_site(asm, site)?;
            weaver.probe(asm, "access")
        },
    )
}

/// Records a field access; `begin` leaves the token of the access on the stack.
pub(crate) fn access(
    weaver: &mut Weaver<'_>,
    pc: u32,
    target: &MemberTarget<'_>,
    kind: EventKind,
    begin: impl Fn(&mut Weaver<'_>, &mut Asm, culprit_model::SiteId) -> Result<(), Error>,
) -> Result<(), Error> {
    let shape = Shape::of(target.descriptor)
        .ok_or_else(|| Error::Descriptor(target.descriptor.to_owned()))?;
    let value_kind = local_kind(shape);
    let site = weaver.site(SiteKind::Field, Some(pc), target);
    let call = weaver.temporary(0, LocalKind::Long);
    let receiver = weaver.temporary_for(1, LocalKind::Reference, target.owner);
    let value = weaver.temporary_for(2, value_kind, target.descriptor);
    let reads = matches!(kind, EventKind::OutgoingRead | EventKind::IncomingRead);

    let mut record = Asm::new();
    begin(weaver, &mut record, site)?;
    record.lstore(call);
    if !target.is_static {
        record.aload(receiver).lload(call);
        weaver.probe(&mut record, "putReceiver")?;
    }
    record.load(value_kind, value).lload(call);
    weaver.probe(&mut record, &variant("put", Some(shape)))?;
    record.lload(call);
    weaver.probe(&mut record, "accessed")?;

    // Both are recorded once the access is done: one that fails is none.
    let mut before = Asm::new();
    let mut after = Asm::new();
    if !reads {
        if target.descriptor == "Ljava/lang/Object;" {
            weaver.blur(&mut before)?;
        }
        before.store(value_kind, value);
    }
    if !target.is_static {
        before.dup().astore(receiver);
    }
    if kind == EventKind::OutgoingRead && weaver.purpose == Purpose::Replay {
        weaver.push_site(&mut after, site)?;
        probe::read(&mut after, weaver.pool, target.descriptor)?;
    }
    if reads {
        after.dup_value(value_kind).store(value_kind, value);
    } else {
        before.load(value_kind, value);
    }
    after.append(&record);
    calls::forget(&mut after, &[(value_kind, value)]);
    if !target.is_static {
        calls::forget(&mut after, &[(LocalKind::Reference, receiver)]);
    }
    if !before.is_empty() {
        weaver.editor.insert_before(pc, before);
    }
    weaver.editor.insert_after(pc, after);
    Ok(())
}

/// Records an access to an element of an array that has crossed the border.
fn element(
    weaver: &mut Weaver<'_>,
    token: u16,
    instruction: &Instruction<'_>,
) -> Result<(), Error> {
    // `baload` serves boolean arrays as well; the reader tells them by the array.
    let (shape, descriptor) = match instruction.opcode {
        op::IALOAD | op::IASTORE => (Shape::Int, "I"),
        op::LALOAD | op::LASTORE => (Shape::Long, "J"),
        op::FALOAD | op::FASTORE => (Shape::Float, "F"),
        op::DALOAD | op::DASTORE => (Shape::Double, "D"),
        op::AALOAD | op::AASTORE => (Shape::Reference, "Ljava/lang/Object;"),
        op::BALOAD | op::BASTORE => (Shape::Byte, "B"),
        op::CALOAD | op::CASTORE => (Shape::Char, "C"),
        op::SALOAD | op::SASTORE => (Shape::Short, "S"),
        _ => return Ok(()),
    };
    let reads = instruction.opcode <= op::SALOAD;
    let kind = if reads {
        EventKind::ArrayRead
    } else {
        EventKind::ArrayWrite
    };
    let target = MemberTarget {
        owner: "",
        name: "",
        descriptor,
        is_static: true,
    };
    let site = weaver.site(SiteKind::Array, Some(instruction.pc), &target);
    let value_kind = local_kind(shape);
    let call = weaver.temporary(0, LocalKind::Long);
    let array = weaver.temporary(1, LocalKind::Reference);
    let value = weaver.temporary(2, value_kind);
    let index = weaver.temporary(3, LocalKind::Int);

    let mut record = Asm::new();
    record
        .aload(array)
        .iload(index)
        .lload(token)
        .push_int(weaver.pool, kind as i32)?;
    weaver.push_site(&mut record, site)?;
    weaver.probe(&mut record, "element")?;
    record.lstore(call).load(value_kind, value).lload(call);
    weaver.probe(&mut record, &variant("put", Some(shape)))?;
    record.lload(call);
    weaver.probe(&mut record, "accessed")?;

    let mut before = Asm::new();
    let mut after = Asm::new();
    // What is stored in an array of references is checked when it is stored and not before.
    let blurs = value_kind == LocalKind::Reference;
    if !reads {
        if blurs {
            weaver.blur(&mut before)?;
        }
        before.store(value_kind, value);
    }
    before.dup2().istore(index);
    weaver.blur(&mut before)?;
    before.astore(array);
    if reads && weaver.purpose == Purpose::Replay {
        let method = weaver
            .pool
            .add_method_ref(ANSWER, "element", "(Ljava/lang/Object;I)V")?;
        before.aload(array).iload(index).invokestatic(method);
    }
    if reads {
        after.dup_value(value_kind);
        if blurs {
            weaver.blur(&mut after)?;
        }
        after.store(value_kind, value);
    } else {
        before.load(value_kind, value);
    }
    after.append(&record);
    calls::forget(
        &mut after,
        &[(value_kind, value), (LocalKind::Reference, array)],
    );
    weaver.editor.insert_before(instruction.pc, before);
    weaver.editor.insert_after(instruction.pc, after);
    Ok(())
}

#[cfg(test)]
mod tests {
    use culprit_classfile::{Asm, ClassFile, Code, Member, Pool};

    use super::*;
    use crate::{References, SiteNumbers};

    struct Alone;

    impl World for Alone {
        fn is_observed(&self, class: &str) -> bool {
            class == "a/In"
        }

        fn declaring(&self, _: &str, _: MemberKind, _: &str, _: &str) -> Option<String> {
            None
        }
    }

    /// Whether a method that returns zero is woven in an observed class.
    fn is_woven(name: &str, access: u16) -> bool {
        let mut pool = Pool::new();
        let mut asm = Asm::new();
        asm.op(op::ICONST_0).op(op::IRETURN);
        let code = Code {
            max_stack: 1,
            max_locals: 1,
            bytes: asm.bytes().to_vec(),
            handlers: Vec::new(),
            attributes: Vec::new(),
        };
        let method = Member {
            access,
            name: pool.add_utf8(name).unwrap(),
            descriptor: pool.add_utf8("()I").unwrap(),
            attributes: vec![code.write(&mut pool).unwrap()],
        };
        let class = ClassFile {
            minor: 0,
            major: 52,
            access: 0,
            this_class: pool.add_class("a/In").unwrap(),
            super_class: pool.add_class("java/lang/Object").unwrap(),
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods: vec![method],
            attributes: Vec::new(),
            pool,
        };
        let settings = Settings {
            lines: None,
            strangers: &[],
            purpose: Purpose::Record,
            arrays: Arrays::default(),
            id_field: false,
            kin: false,
            references: References::Chosen,
        };
        let woven = crate::observed(class, &Alone, settings, &SiteNumbers::default()).unwrap();
        let woven = ClassFile::parse(&woven.bytes).unwrap();
        let code = &woven.methods[0].attributes[0];
        code.bytes.len() > 32
    }

    #[test]
    fn accessors_of_nested_classes_are_called_from_outside() {
        let synthetic = flags::STATIC | flags::SYNTHETIC;
        assert!(is_woven("access$000", synthetic));
        assert!(is_woven("open", flags::PUBLIC));
        assert!(!is_woven("closed", flags::PRIVATE | flags::STATIC));
    }
}
