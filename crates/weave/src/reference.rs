//! Method references. A compiler turns `out::println` into a handle of `println` itself, which the
//! lambda's class calls, and that class cannot be woven: no code that could be says that a call is
//! made. So a reference gets a body in the class it is written in, as if it had been written
//! `x -> out.println(x)`, and the body is woven like any method.
//!
//! The handle is replaced where the lambda is made, one body for each target and line. References
//! in lambdas that can be serialised stay as they are: their targets are part of the stored form.

use culprit_classfile::{Asm, Attribute, ClassFile, Code, LocalKind, Member, Pool, access, op};
use culprit_model::value::split_descriptor;

use crate::Error;
use crate::method::MemberTarget;
use crate::probe::BESIDE;
use crate::raise::JAVA_8;

/// How the names of bodies start; the same is in `Hiding.java`.
pub(crate) const BODY: &str = "lambda$culprit$";

const FACTORY: &str = "java/lang/invoke/LambdaMetafactory";
const TOO_MANY: Error = Error::References("too many bootstrap methods");
/// Classes and packages whose methods look who calls them: a body would be seen.
const CALLER_AWARE: [&str; 11] = [
    "java/lang/StackWalker",
    "java/lang/System$Logger",
    "java/util/logging/",
    "org/slf4j/",
    "org/apache/logging/",
    "org/apache/log4j/",
    "org/apache/commons/logging/",
    "ch/qos/logback/",
    "org/jboss/logging/",
    "org/tinylog/",
    "com/google/common/flogger/",
];
/// Flag of `altMetafactory`.
const SERIALIZABLE: i32 = 1;

/// The kind of a method handle; the numbers are those of the class file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum HandleKind {
    Virtual = 5,
    Static = 6,
    /// A private method of the class itself; other uses are not taken apart.
    Special = 7,
    New = 8,
    Interface = 9,
}

/// A method reference that has a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    kind: HandleKind,
    owner: String,
    name: String,
    descriptor: String,
    is_interface: bool,
    /// Internal name of the receiver's class where the reference is made, if it is bound there or is the class
    /// itself: a protected method of a superclass can be called on objects of the class alone.
    receiver: Option<String>,
    line: Option<u16>,
    /// Its number among all references of the class, with a body or without: whoever weaves the
    /// class for another observed set calls the body the same.
    number: usize,
}

/// Which references of a class get bodies.
#[derive(Clone, Copy, Debug)]
pub enum References<'a> {
    /// Those that the plan for the class asks for.
    Chosen,
    /// These, since the class exists already and keeps its methods.
    Kept(&'a [Reference]),
}

/// An entry of the `BootstrapMethods` attribute.
#[derive(Clone, PartialEq, Eq)]
struct Bootstrap {
    method: u16,
    arguments: Vec<u16>,
}

/// A place where a lambda is made of a reference.
struct Use {
    method: usize,
    attribute: usize,
    pc: u32,
    constant: u16,
    reference: usize,
}

/// References with bodies, and where the code must still name what they refer to.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) references: Vec<Reference>,
    /// Number of the method, place in its code, and constant of the handle. Making the lambda
    /// resolved the handle, and a program may count on the error if its target is not there.
    pub(crate) handles: Vec<(usize, u32, u16)>,
}

/// Whether a method is the body of a reference to a constructor.
pub(crate) fn is_constructing(method: &str) -> bool {
    method
        .strip_prefix(BODY)
        .is_some_and(|rest| rest.starts_with("new$"))
}

/// Whether a method is a body that weaving has given to a reference which `choose` picks as well.
pub(crate) fn is_body_of(
    method: &Member,
    name: &str,
    pool: &Pool,
    choose: &impl Fn(u8, &MemberTarget<'_>) -> bool,
) -> Result<bool, Error> {
    let Some(code) = method.attribute(pool, "Code") else {
        return Ok(false);
    };
    if !name.starts_with(BODY) {
        return Ok(false);
    }
    // Its last call, but for those of probes, is that of the target.
    let mut chosen = false;
    for instruction in Code::parse(code, pool)?.instructions() {
        let instruction = instruction?;
        let (true, Some(index)) = (instruction.is_invoke(), instruction.pool_index()) else {
            continue;
        };
        let member = pool.member(index)?;
        if !member.owner.starts_with(BESIDE) {
            let target = MemberTarget {
                owner: &member.owner,
                name: &member.name,
                descriptor: &member.descriptor,
                is_static: instruction.opcode == op::INVOKESTATIC,
            };
            chosen = choose(instruction.opcode, &target);
        }
    }
    Ok(chosen)
}

/// Gives bodies to method references: to those that `choose` picks, or to those that had one.
/// Either all is done, or the class stays as it was.
pub(crate) fn give_bodies(
    class: &mut ClassFile,
    references: References<'_>,
    choose: impl Fn(u8, &MemberTarget<'_>) -> bool,
) -> Result<Given, Error> {
    let (mut known, may_add) = match references {
        References::Chosen => (Vec::new(), true),
        References::Kept(kept) => (kept.to_vec(), false),
    };
    let without_uses = |references| Given {
        references,
        handles: Vec::new(),
    };
    if class.major < JAVA_8 {
        return Ok(without_uses(known));
    }
    let Some(place) = (class.attributes.iter()).position(|a| a.is(&class.pool, "BootstrapMethods"))
    else {
        add_bodies(class, &known)?;
        return Ok(without_uses(known));
    };
    let malformed = Error::References("the bootstrap methods are malformed");
    let mut bootstraps = parse(&class.attributes[place].bytes).ok_or(malformed)?;
    let mut uses = Vec::new();
    let mut all: Vec<Reference> = Vec::new();
    for (method, member) in class.methods.iter().enumerate() {
        let Some(attribute) = member.attribute_index(&class.pool, "Code") else {
            continue;
        };
        let code = Code::parse(&member.attributes[attribute], &class.pool)?;
        for instruction in code.instructions() {
            let instruction = instruction?;
            let (op::INVOKEDYNAMIC, Some(constant)) =
                (instruction.opcode, instruction.pool_index())
            else {
                continue;
            };
            let line = code.line_at(&class.pool, instruction.pc);
            let Some(mut reference) = read(class, &bootstraps, constant, line)? else {
                continue;
            };
            let met = all.iter().position(|it| it.is_like(&reference));
            reference.number = met.unwrap_or(all.len());
            if met.is_none() {
                all.push(reference.clone());
            }
            let found = known.iter().position(|k| k.is_like(&reference));
            if found.is_none() && !(may_add && choose(reference.opcode(), &reference.target())) {
                continue;
            }
            let reference = found.unwrap_or_else(|| {
                known.push(reference);
                known.len() - 1
            });
            uses.push(Use {
                method,
                attribute,
                pc: instruction.pc,
                constant,
                reference,
            });
        }
    }
    let mut handles = Vec::new();
    for used in &uses {
        let bootstrap = usize::from(class.pool.dynamic(used.constant)?.bootstrap);
        handles.push((used.method, used.pc, bootstraps[bootstrap].arguments[1]));
    }
    let patches = redirect(class, &known, &uses, &mut bootstraps)?;
    let table = write(&bootstraps).ok_or(TOO_MANY)?;
    add_bodies(class, &known)?;
    class.attributes[place].bytes = table;
    for (used, constant) in uses.iter().zip(patches) {
        // Six bytes of sizes and two of the code's length come before the code.
        let at = 8 + used.pc as usize + 1;
        let bytes = &mut class.methods[used.method].attributes[used.attribute].bytes;
        if let Some(operand) = bytes.get_mut(at..at + 2) {
            operand.copy_from_slice(&constant.to_be_bytes());
        }
    }
    Ok(Given {
        references: known,
        handles,
    })
}

/// New call site constants for the uses, by bootstrap methods that name the bodies.
fn redirect(
    class: &mut ClassFile,
    known: &[Reference],
    uses: &[Use],
    bootstraps: &mut Vec<Bootstrap>,
) -> Result<Vec<u16>, Error> {
    let owner = class.name()?.into_owned();
    let in_interface = class.access & access::INTERFACE != 0;
    let pool = &mut class.pool;
    let mut constants = Vec::new();
    for used in uses {
        let reference = &known[used.reference];
        let (name, descriptor) = (reference.body_name(), reference.body_type()?);
        let body = if in_interface {
            pool.add_interface_method_ref(&owner, &name, &descriptor)?
        } else {
            pool.add_method_ref(&owner, &name, &descriptor)?
        };
        let handle = pool.add_method_handle(HandleKind::Static as u8, body)?;
        let site = pool.dynamic(used.constant)?;
        let mut bootstrap = bootstraps[usize::from(site.bootstrap)].clone();
        let (name, descriptor) = (site.name.into_owned(), site.descriptor.into_owned());
        bootstrap.arguments[1] = handle;
        let place = bootstraps.iter().position(|b| *b == bootstrap);
        let place = place.unwrap_or_else(|| {
            bootstraps.push(bootstrap);
            bootstraps.len() - 1
        });
        let place = u16::try_from(place).map_err(|_| TOO_MANY)?;
        constants.push(pool.add_invoke_dynamic(place, &name, &descriptor)?);
    }
    Ok(constants)
}

/// Adds the bodies and nothing else.
pub(crate) fn add_bodies(class: &mut ClassFile, references: &[Reference]) -> Result<(), Error> {
    let mut bodies = Vec::new();
    for reference in references {
        bodies.push(reference.body(class)?);
    }
    class.methods.extend(bodies);
    Ok(())
}

/// The method reference that a call site makes a lambda of, if it is one that can have a body.
fn read(
    class: &ClassFile,
    bootstraps: &[Bootstrap],
    constant: u16,
    line: Option<u16>,
) -> Result<Option<Reference>, Error> {
    let pool = &class.pool;
    let site = pool.dynamic(constant)?;
    let Some(bootstrap) = bootstraps.get(usize::from(site.bootstrap)) else {
        return Ok(None);
    };
    let (_, factory) = pool.method_handle(bootstrap.method)?;
    let factory = pool.member(factory)?;
    let plain = match (&*factory.name, &bootstrap.arguments[..]) {
        ("metafactory", [_, _, _]) => true,
        ("altMetafactory", [_, _, _, flags, ..]) => pool.integer(*flags)? & SERIALIZABLE == 0,
        _ => false,
    };
    if factory.owner != FACTORY || !plain {
        return Ok(None);
    }
    let (kind, target) = pool.method_handle(bootstrap.arguments[1])?;
    let target = pool.member(target)?;
    let kind = match kind {
        5 => HandleKind::Virtual,
        6 => HandleKind::Static,
        7 if target.owner == class.name()? => HandleKind::Special,
        8 => HandleKind::New,
        9 => HandleKind::Interface,
        _ => return Ok(None),
    };
    // Compilers make lambdas of references to methods of arrays. Those of handles take any types.
    let owner = &*target.owner;
    let aware = CALLER_AWARE.iter().any(|start| owner.starts_with(start));
    if owner.starts_with('[') || owner.starts_with("java/lang/invoke/") || aware {
        return Ok(None);
    }
    let bound = match split_descriptor(&site.descriptor) {
        Some((captured, _)) if kind.has_receiver() => captured.first().copied(),
        _ => None,
    };
    let bound = match bound.map(|b| b.strip_prefix('L').and_then(|b| b.strip_suffix(';'))) {
        Some(None) => return Ok(None),
        Some(Some(class)) => Some(class.to_owned()),
        None => None,
    };
    let own = class.name()?;
    let is_of_own = || -> Result<bool, Error> {
        let called = pool.method_type(bootstrap.arguments[2])?;
        let first = split_descriptor(&called).and_then(|(given, _)| given.first().copied());
        let first = first.and_then(|first| first.strip_prefix('L')?.strip_suffix(';'));
        Ok(kind.has_receiver() && first == Some(&*own))
    };
    let receiver = match bound {
        None => is_of_own()?.then(|| own.into_owned()),
        bound => bound,
    };
    Ok(Some(Reference {
        kind,
        owner: target.owner.into_owned(),
        name: target.name.into_owned(),
        descriptor: target.descriptor.into_owned(),
        is_interface: target.is_interface,
        receiver,
        line,
        number: 0,
    }))
}

impl HandleKind {
    fn has_receiver(self) -> bool {
        matches!(
            self,
            HandleKind::Virtual | HandleKind::Special | HandleKind::Interface
        )
    }
}

impl Reference {
    fn target(&self) -> MemberTarget<'_> {
        MemberTarget {
            owner: &self.owner,
            name: &self.name,
            descriptor: &self.descriptor,
            is_static: self.kind == HandleKind::Static,
        }
    }

    /// The instruction that calls the target.
    fn opcode(&self) -> u8 {
        match self.kind {
            HandleKind::Virtual => op::INVOKEVIRTUAL,
            HandleKind::Static => op::INVOKESTATIC,
            HandleKind::Special | HandleKind::New => op::INVOKESPECIAL,
            HandleKind::Interface => op::INVOKEINTERFACE,
        }
    }

    /// Whether it is the same, wherever it is in the class.
    fn is_like(&self, other: &Reference) -> bool {
        let number = other.number;
        let moved = Reference {
            number,
            ..self.clone()
        };
        moved == *other
    }

    fn body_name(&self) -> String {
        let number = self.number;
        let name = match self.kind {
            HandleKind::New => "new",
            _ => &self.name,
        };
        format!("{BODY}{name}${number}")
    }

    /// The descriptor of the body: the lambda is made with the same types as before.
    fn body_type(&self) -> Result<String, Error> {
        let malformed = || Error::Descriptor(self.descriptor.clone());
        Ok(match self.kind {
            HandleKind::Static => self.descriptor.clone(),
            HandleKind::New => {
                let parameters = self.descriptor.strip_suffix('V').ok_or_else(malformed)?;
                format!("{parameters}L{};", self.owner)
            }
            _ => {
                let receiver = self.receiver.as_ref().unwrap_or(&self.owner);
                let rest = self.descriptor.strip_prefix('(').ok_or_else(malformed)?;
                format!("(L{receiver};{rest}")
            }
        })
    }

    fn body(&self, class: &mut ClassFile) -> Result<Member, Error> {
        let descriptor = self.body_type()?;
        let malformed = || Error::Descriptor(descriptor.clone());
        let (parameters, result) = split_descriptor(&descriptor).ok_or_else(malformed)?;
        let own = class.name()?.into_owned();
        let is_cast = |receiver: &String| *receiver != self.owner && *receiver != own;
        let is_cast = self.receiver.as_ref().is_some_and(is_cast);
        let pool = &mut class.pool;
        let mut asm = Asm::new();
        if self.kind.has_receiver() {
            refuse_null(&mut asm, pool)?;
        } else if self.kind == HandleKind::New {
            asm.op_index(op::NEW, pool.add_class(&self.owner)?).dup();
        }
        let mut slots = 0;
        for (i, parameter) in parameters.iter().enumerate() {
            let kind = LocalKind::of(parameter);
            asm.load(kind, slots);
            if i == 0 && is_cast {
                asm.checkcast(pool.add_class(&self.owner)?);
            }
            slots += kind.slots();
        }
        let target = if self.is_interface {
            pool.add_interface_method_ref(&self.owner, &self.name, &self.descriptor)?
        } else {
            pool.add_method_ref(&self.owner, &self.name, &self.descriptor)?
        };
        match self.opcode() {
            op::INVOKEINTERFACE => asm.invokeinterface(target, slots as u8),
            opcode => asm.op_index(opcode, target),
        };
        asm.op(return_of(result));
        let code = Code {
            max_stack: slots + 2,
            max_locals: slots,
            bytes: asm.bytes().to_vec(),
            handlers: Vec::new(),
            attributes: self.code_attributes(pool)?,
        };
        Ok(Member {
            access: access::PRIVATE | access::STATIC | access::SYNTHETIC,
            name: pool.add_utf8(&self.body_name())?,
            descriptor: pool.add_utf8(&descriptor)?,
            attributes: vec![code.write(pool)?],
        })
    }

    fn code_attributes(&self, pool: &mut Pool) -> Result<Vec<Attribute>, Error> {
        let mut attributes = Vec::new();
        if let Some(line) = self.line {
            let [high, low] = line.to_be_bytes();
            attributes.push(Attribute {
                name: pool.add_utf8("LineNumberTable")?,
                bytes: vec![0, 1, 0, 0, high, low],
            });
        }
        if self.kind.has_receiver() {
            // One frame, the same as at the start.
            attributes.push(Attribute {
                name: pool.add_utf8("StackMapTable")?,
                bytes: vec![0, 1, AFTER_REFUSAL],
            });
        }
        Ok(attributes)
    }
}

/// Where the code goes on after [`refuse_null`].
const AFTER_REFUSAL: u8 = 12;

/// Throws for a receiver that is null. The call itself would do so too, but with a message about
/// code that the program does not have.
fn refuse_null(asm: &mut Asm, pool: &mut Pool) -> Result<(), Error> {
    const EXCEPTION: &str = "java/lang/NullPointerException";
    let class = pool.add_class(EXCEPTION)?;
    let constructor = pool.add_method_ref(EXCEPTION, "<init>", "()V")?;
    asm.aload(0)
        .op_index(op::IFNONNULL, u16::from(AFTER_REFUSAL) - 1)
        .op_index(op::NEW, class)
        .dup()
        .invokespecial(constructor)
        .athrow();
    Ok(())
}

pub(crate) fn return_of(result: &str) -> u8 {
    match (result, LocalKind::of(result)) {
        ("V", _) => op::RETURN,
        (_, LocalKind::Int) => op::IRETURN,
        (_, LocalKind::Long) => op::LRETURN,
        (_, LocalKind::Float) => op::FRETURN,
        (_, LocalKind::Double) => op::DRETURN,
        (_, LocalKind::Reference) => op::ARETURN,
    }
}

/// Reads the `BootstrapMethods` attribute.
fn parse(bytes: &[u8]) -> Option<Vec<Bootstrap>> {
    let mut words = bytes.chunks(2).map(|word| match word {
        [high, low] => Some(u16::from_be_bytes([*high, *low])),
        _ => None,
    });
    let mut next = || words.next().flatten();
    let mut entries = Vec::new();
    for _ in 0..next()? {
        let method = next()?;
        let arguments = (0..next()?).map(|_| next()).collect::<Option<Vec<u16>>>()?;
        entries.push(Bootstrap { method, arguments });
    }
    Some(entries)
}

fn write(bootstraps: &[Bootstrap]) -> Option<Vec<u8>> {
    let mut words = vec![u16::try_from(bootstraps.len()).ok()?];
    for Bootstrap { method, arguments } in bootstraps {
        words.extend([*method, u16::try_from(arguments.len()).ok()?]);
        words.extend(arguments);
    }
    Some(words.into_iter().flat_map(u16::to_be_bytes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body of a reference to `far/Task.result` in a class of another package.
    fn body(receiver: Option<&str>) -> (String, bool) {
        let mut pool = Pool::new();
        let this_class = pool.add_class("near/Own").unwrap();
        let super_class = pool.add_class("far/Task").unwrap();
        let mut class = ClassFile {
            minor: 0,
            major: JAVA_8,
            access: access::PUBLIC,
            this_class,
            super_class,
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods: Vec::new(),
            attributes: Vec::new(),
            pool,
        };
        let reference = Reference {
            kind: HandleKind::Virtual,
            owner: "far/Task".to_owned(),
            name: "result".to_owned(),
            descriptor: "()V".to_owned(),
            is_interface: false,
            receiver: receiver.map(str::to_owned),
            line: None,
            number: 0,
        };
        let member = reference.body(&mut class).unwrap();
        let code = Code::parse(&member.attributes[0], &class.pool).unwrap();
        let mut instructions = code.instructions();
        let casts = instructions.any(|it| it.unwrap().opcode == op::CHECKCAST);
        (reference.body_type().unwrap(), casts)
    }

    /// A protected method can be called on objects of the class alone: a cast to its superclass would be refused.
    #[test]
    fn an_object_of_the_class_itself_is_not_cast() {
        assert_eq!(body(Some("near/Own")), ("(Lnear/Own;)V".to_owned(), false));
        assert_eq!(body(Some("a/Face")), ("(La/Face;)V".to_owned(), true));
        assert_eq!(body(None), ("(Lfar/Task;)V".to_owned(), false));
    }
}
