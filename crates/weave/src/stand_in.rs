//! Stand-ins for objects of classes, in runs of a program as it is: a class that extends another, whose methods ask
//! for the recorded answers.

use culprit_classfile::{Asm, ClassFile, Code, LocalKind, Member, Pool, access, op};
use culprit_model::value::{Shape, split_descriptor};

use crate::Error;
use crate::reference::return_of;

/// The static field of a stand-in that answers: it is given the name and the descriptor of a method, and returns
/// the answer, boxed.
pub const ANSWERS: &str = "answers";

const FUNCTION: &str = "java/util/function/BiFunction";
const FUNCTION_TYPE: &str = "Ljava/util/function/BiFunction;";

/// A class to make.
pub struct StandInClass<'a> {
    pub name: &'a str,
    /// The class that it extends.
    pub base: &'a str,
    /// The descriptor of the constructor of that class which is called, with zeros and nulls.
    pub constructor: &'a str,
    pub methods: &'a [AnsweringMethod],
}

/// A method that asks for its answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AnsweringMethod {
    pub access: u16,
    pub name: String,
    pub descriptor: String,
}

/// Makes the class file of a stand-in.
pub fn stand_in(of: &StandInClass<'_>) -> Result<Vec<u8>, Error> {
    let mut pool = Pool::new();
    let answers = Member {
        access: access::PUBLIC | access::STATIC,
        name: pool.add_utf8(ANSWERS)?,
        descriptor: pool.add_utf8(FUNCTION_TYPE)?,
        attributes: Vec::new(),
    };
    let mut methods = vec![constructor(&mut pool, of)?];
    for method in of.methods {
        methods.push(answering(&mut pool, of.name, method)?);
    }
    let class = ClassFile {
        minor: 0,
        major: JAVA_5,
        access: access::PUBLIC | access::SUPER | access::SYNTHETIC,
        this_class: pool.add_class(of.name)?,
        super_class: pool.add_class(of.base)?,
        interfaces: Vec::new(),
        fields: vec![answers],
        methods,
        attributes: Vec::new(),
        pool,
    };
    Ok(class.write()?)
}

/// The version of class files before those that need frames.
const JAVA_5: u16 = 49;

fn constructor(pool: &mut Pool, of: &StandInClass<'_>) -> Result<Member, Error> {
    let mut asm = Asm::new();
    asm.aload(0);
    push_defaults(&mut asm, pool, of.constructor)?;
    asm.invokespecial(pool.add_method_ref(of.base, "<init>", of.constructor)?);
    asm.op(op::RETURN);
    member(pool, (access::PUBLIC, "<init>", "()V"), &asm, 1)
}

fn answering(pool: &mut Pool, class: &str, method: &AnsweringMethod) -> Result<Member, Error> {
    let descriptor = method.descriptor.as_str();
    let (parameters, result) =
        split_descriptor(descriptor).ok_or_else(|| Error::Descriptor(descriptor.to_owned()))?;
    let mut asm = Asm::new();
    asm.getstatic(pool.add_field_ref(class, ANSWERS, FUNCTION_TYPE)?);
    asm.push_string(pool, &method.name)?;
    asm.push_string(pool, descriptor)?;
    let apply = "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;";
    asm.invokeinterface(pool.add_interface_method_ref(FUNCTION, "apply", apply)?, 3);
    match Shape::of(result) {
        _ if result == "V" => {
            asm.pop();
        }
        Some(Shape::Reference) | None => {
            let name = result.strip_prefix('L').and_then(|it| it.strip_suffix(';'));
            asm.checkcast(pool.add_class(name.unwrap_or(result))?);
        }
        Some(scalar) => {
            let boxed = scalar.box_name();
            asm.checkcast(pool.add_class(boxed)?);
            let unboxes = format!("{}Value", scalar.class_name());
            asm.invokevirtual(pool.add_method_ref(boxed, &unboxes, &format!("(){result}"))?);
        }
    }
    asm.op(return_of(result));
    let slots: u16 = parameters.iter().map(|it| LocalKind::of(it).slots()).sum();
    let declared = (method.access, method.name.as_str(), descriptor);
    member(pool, declared, &asm, 1 + slots)
}

/// Pushes zeros and nulls for the parameters of a descriptor.
pub(crate) fn push_defaults(asm: &mut Asm, pool: &mut Pool, descriptor: &str) -> Result<(), Error> {
    let (parameters, _) =
        split_descriptor(descriptor).ok_or_else(|| Error::Descriptor(descriptor.to_owned()))?;
    for parameter in parameters {
        match LocalKind::of(parameter) {
            LocalKind::Int => asm.op(op::ICONST_0),
            LocalKind::Long => asm.op(op::LCONST_0),
            LocalKind::Float => asm.op(op::FCONST_0),
            LocalKind::Double => asm.op(op::DCONST_0),
            LocalKind::Reference => {
                let name = parameter
                    .strip_prefix('L')
                    .and_then(|c| c.strip_suffix(';'));
                let constant = pool.add_class(name.unwrap_or(parameter))?;
                asm.aconst_null().checkcast(constant)
            }
        };
    }
    Ok(())
}

fn member(
    pool: &mut Pool,
    (access, name, descriptor): (u16, &str, &str),
    asm: &Asm,
    locals: u16,
) -> Result<Member, Error> {
    let code = Code {
        // A constructor has at most 255 slots of arguments.
        max_stack: 260,
        max_locals: locals,
        bytes: asm.bytes().to_vec(),
        handlers: Vec::new(),
        attributes: Vec::new(),
    };
    Ok(Member {
        access,
        name: pool.add_utf8(name)?,
        descriptor: pool.add_utf8(descriptor)?,
        attributes: vec![code.write(pool)?],
    })
}
