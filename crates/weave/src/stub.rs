//! Stubs: external classes on replay. A stub has the name, the supertypes and the members of the
//! class that its outline tells of, and no code of its own: its methods say what the scenario
//! says.
//!
//! Objects of stubs come from the executor, which needs no constructor. Constructors are there for
//! observed subclasses, whose own constructors call them.

use culprit_classfile::{Asm, Attribute, ClassFile, Code, LocalKind, Member, access, op};
use culprit_model::value::split_descriptor;

use crate::probe;
use crate::reference::return_of;
use crate::stand_in::push_defaults;
use crate::{Error, probe::ANSWER};

/// The constructor that every stub has, for the constructors of its substubs.
const SHELL: &str = "(Lculprit/runtime/Answer;)V";
/// Attributes of an outline that would bind a stub to what is not there.
const BINDING: [&str; 1] = ["PermittedSubclasses"];

/// Packages of the JDK that are open to the JDK alone. Proxies that it makes have interfaces of these.
const CLOSED: [&str; 2] = ["sun/", "jdk/internal/"];

/// What a stub's constructor calls first.
pub enum Super {
    /// The shell constructor of a stub.
    Stub,
    /// A constructor of the JDK, by its descriptor.
    Jdk(String),
    /// Nothing that could be called: no object is made this way.
    None,
}

/// Makes the stub of an outline: a class file whose methods have no code.
pub fn stub(mut class: ClassFile, above: &Super) -> Result<Vec<u8>, Error> {
    let is_interface = class.access & access::INTERFACE != 0;
    drop_closed(&mut class);
    let pool = &class.pool;
    class
        .attributes
        .retain(|a| !BINDING.iter().any(|name| a.is(pool, name)));
    let mut methods = std::mem::take(&mut class.methods);
    methods.retain(|m| class.pool.utf8(m.name).is_ok_and(|name| name != "<clinit>"));
    for method in &mut methods {
        method.access &= !(access::NATIVE | access::SYNCHRONIZED | access::STRICT);
        method.attributes.retain(|a| !a.is(&class.pool, "Code"));
        if method.access & access::ABSTRACT == 0 {
            let code = body(&mut class, method, above)?;
            method.attributes.push(code);
        }
    }
    let shell = class.pool.add_utf8(SHELL)?;
    let has_shell = methods.iter().any(|m| m.descriptor == shell);
    if !is_interface && !has_shell {
        let mut member = Member {
            access: access::PUBLIC | access::SYNTHETIC,
            name: class.pool.add_utf8("<init>")?,
            descriptor: shell,
            attributes: Vec::new(),
        };
        let code = construct(&mut class, SHELL, above)?;
        member.attributes.push(code);
        methods.push(member);
    }
    class.methods = methods;
    Ok(class.write()?)
}

/// A proxy that the JDK made and that is observed, as a class of the program.
pub fn opened(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut class = ClassFile::parse(bytes)?;
    drop_closed(&mut class);
    Ok(class.write()?)
}

fn drop_closed(class: &mut ClassFile) {
    let pool = &class.pool;
    let is_closed = |interface: &u16| {
        let name = pool.class_name(*interface);
        name.is_ok_and(|name| CLOSED.iter().any(|package| name.starts_with(package)))
    };
    class.interfaces.retain(|interface| !is_closed(interface));
}

fn body(class: &mut ClassFile, method: &Member, above: &Super) -> Result<Attribute, Error> {
    let descriptor = class.pool.utf8(method.descriptor)?.into_owned();
    let name = class.pool.utf8(method.name)?.into_owned();
    if name == "<init>" {
        return construct(class, &descriptor, above);
    }
    if class.access & access::ENUM != 0 && name == "values" && descriptor.starts_with("()[") {
        return constants(class, &descriptor[2..]);
    }
    let (parameters, result) =
        split_descriptor(&descriptor).ok_or_else(|| Error::Descriptor(descriptor.clone()))?;
    let mut asm = Asm::new();
    probe::stub(&mut asm, &mut class.pool, result)?;
    asm.op(return_of(result));
    let own = u16::from(method.access & access::STATIC == 0);
    let slots: u16 = parameters.iter().map(|p| LocalKind::of(p).slots()).sum();
    code(class, &asm, own + slots)
}

/// The constants of an enum, which sets and maps of the JDK ask for behind everybody's back.
fn constants(class: &mut ClassFile, array: &str) -> Result<Attribute, Error> {
    let pool = &mut class.pool;
    let name = pool.class_name(class.this_class)?.into_owned();
    let own = pool.add_class(&name)?;
    let method = pool.add_method_ref(
        ANSWER,
        "constants",
        "(Ljava/lang/Class;)[Ljava/lang/Object;",
    )?;
    let mut asm = Asm::new();
    asm.ldc(own).invokestatic(method);
    asm.checkcast(pool.add_class(array)?).op(op::ARETURN);
    code(class, &asm, 0)
}

/// A constructor: first that of the superclass, then what the scenario says happens in it.
fn construct(class: &mut ClassFile, descriptor: &str, above: &Super) -> Result<Attribute, Error> {
    let (parameters, _) =
        split_descriptor(descriptor).ok_or_else(|| Error::Descriptor(descriptor.to_owned()))?;
    let slots: u16 = parameters.iter().map(|p| LocalKind::of(p).slots()).sum();
    let superclass = class.super_name()?.map(|name| name.into_owned());
    let superclass = superclass.unwrap_or_else(|| "java/lang/Object".to_owned());
    let mut asm = Asm::new();
    let called = match above {
        Super::Stub => SHELL,
        Super::Jdk(descriptor) => descriptor,
        Super::None => {
            asm.aconst_null().athrow();
            return code(class, &asm, 1 + slots);
        }
    };
    asm.aload(0);
    push_defaults(&mut asm, &mut class.pool, called)?;
    let constructor = class.pool.add_method_ref(&superclass, "<init>", called)?;
    asm.invokespecial(constructor);
    if descriptor != SHELL {
        let method = class
            .pool
            .add_method_ref(ANSWER, "constructing", "(Ljava/lang/Object;)V")?;
        asm.aload(0).invokestatic(method);
    }
    asm.op(op::RETURN);
    code(class, &asm, 1 + slots)
}

fn code(class: &mut ClassFile, asm: &Asm, locals: u16) -> Result<Attribute, Error> {
    let code = Code {
        // A constructor of the JDK has at most 255 slots of arguments.
        max_stack: 260,
        max_locals: locals,
        bytes: asm.bytes().to_vec(),
        handlers: Vec::new(),
        attributes: Vec::new(),
    };
    Ok(code.write(&mut class.pool)?)
}
