//! Stand-ins for objects of classes, in runs of a program as it is: a class that extends another, whose methods ask
//! for the recorded answers.

use culprit_classfile::{Asm, Attribute, ClassFile, Code, LocalKind, Member, Pool, access, op};
use culprit_model::value::{Shape, split_descriptor};

use crate::Error;
use crate::reference::return_of;

/// The static field of a stand-in that answers: it is given the name and the descriptor of a method as one text, and an array
/// with the objects among the arguments. It returns the answer, boxed.
pub const ANSWERS: &str = "answers";

const FUNCTION: &str = "java/util/function/BiFunction";
const FUNCTION_TYPE: &str = "Ljava/util/function/BiFunction;";

/// A class to make.
pub struct StandInClass<'a> {
    pub name: &'a str,
    /// The class that it extends.
    pub base: &'a str,
    /// The descriptor of the constructor of that class which is called, with zeros and nulls; none if objects are
    /// allocated without a constructor.
    pub constructor: Option<&'a str>,
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
    let mut methods = Vec::new();
    if let Some(descriptor) = of.constructor {
        methods.push(constructor(&mut pool, of.base, descriptor)?);
    }
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

/// The class file of a final class as one that can be extended, with methods that can be overridden; none if it is not final.
pub fn opened(bytes: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let mut class = ClassFile::parse(bytes)?;
    if class.access & access::FINAL == 0 || class.access & access::ENUM != 0 {
        return Ok(None);
    }
    class.access &= !access::FINAL;
    for method in &mut class.methods {
        method.access &= !access::FINAL;
    }
    // A record that is not final is none.
    let pool = &class.pool;
    let is_record = |attribute: &Attribute| {
        let name = pool.utf8(attribute.name);
        name.is_ok_and(|name| name == "Record")
    };
    class.attributes.retain(|it| !is_record(it));
    Ok(Some(class.write()?))
}

/// The version of class files before those that need frames.
const JAVA_5: u16 = 49;

fn constructor(pool: &mut Pool, base: &str, descriptor: &str) -> Result<Member, Error> {
    let mut asm = Asm::new();
    asm.aload(0);
    push_defaults(&mut asm, pool, descriptor)?;
    asm.invokespecial(pool.add_method_ref(base, "<init>", descriptor)?);
    asm.op(op::RETURN);
    member(pool, (access::PUBLIC, "<init>", "()V"), &asm, 1)
}

fn answering(pool: &mut Pool, class: &str, method: &AnsweringMethod) -> Result<Member, Error> {
    let descriptor = method.descriptor.as_str();
    let (parameters, result) =
        split_descriptor(descriptor).ok_or_else(|| Error::Descriptor(descriptor.to_owned()))?;
    let mut asm = Asm::new();
    asm.getstatic(pool.add_field_ref(class, ANSWERS, FUNCTION_TYPE)?);
    asm.push_string(pool, &format!("{}{descriptor}", method.name))?;
    push_objects(&mut asm, pool, &parameters)?;
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

/// Pushes an array of the arguments, without the numbers among them.
fn push_objects(asm: &mut Asm, pool: &mut Pool, parameters: &[&str]) -> Result<(), Error> {
    asm.push_int(pool, parameters.len() as i32)?;
    asm.op_index(op::ANEWARRAY, pool.add_class("java/lang/Object")?);
    let mut local = 1;
    for (place, parameter) in parameters.iter().enumerate() {
        let kind = LocalKind::of(parameter);
        if kind == LocalKind::Reference {
            asm.dup();
            asm.push_int(pool, place as i32)?;
            asm.aload(local);
            asm.op(op::AASTORE);
        }
        local += kind.slots();
    }
    Ok(())
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
