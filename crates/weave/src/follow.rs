//! The plan for following a driver: its methods are not run by the JVM but by an interpreter in the agent,
//! which sees every value and where it comes from.
//!
//! Each method becomes a trampoline into a native method that the class gets. What only the JVM can do (a
//! call, an access to a field, an allocation, a cast) becomes a method of its own in the same class, whose
//! body is the very instruction: so access rights, callers, bootstrap methods and exceptions are those of
//! the program. Nothing outside of the class is named: its loader need not find our runtime.

use std::collections::HashMap;

use culprit_classfile::descriptor::{MethodDescriptor, ValueType};
use culprit_classfile::{
    Asm, ClassFile, Code, Instruction, LocalKind, Member, MemberRef, MethodContext, Pool,
    Simulation, SlotType, access, annotated_class, is_annotated, op, simulate, tag,
};
use culprit_model::value::Shape;

use crate::Error;

/// The native method that followed methods enter: it is given the number of the method, its receiver and
/// arguments, and gives what it returns, boxed.
pub const ENTER: &str = "culprit$enter";
pub const ENTER_DESCRIPTOR: &str = "(I[Ljava/lang/Object;)Ljava/lang/Object;";

/// The annotation of JUnit 4 that may say what a test throws.
const TEST: &str = "Lorg/junit/Test;";

/// Annotations of methods that are tests.
const TESTS: [&str; 7] = [
    TEST,
    "Lorg/junit/jupiter/api/RepeatedTest;",
    "Lorg/junit/jupiter/api/Test;",
    "Lorg/junit/jupiter/api/TestFactory;",
    "Lorg/junit/jupiter/api/TestTemplate;",
    "Lorg/junit/jupiter/params/ParameterizedTest;",
    "Lorg/testng/annotations/Test;",
];

/// A class whose methods are followed.
#[derive(Debug)]
pub struct Followed {
    pub bytes: Vec<u8>,
    pub name: String,
    /// Constants that the code of the methods names.
    pub pool: Pool,
    /// In the order of their numbers, from the first one on.
    pub methods: Vec<Method>,
    /// By number, the texts with gaps of the bootstrap methods that concatenate.
    pub concatenations: HashMap<u16, Concatenation>,
    /// The bootstrap methods that make lambdas and method references.
    pub lambdas: HashMap<u16, Lambda>,
}

/// What a call site makes a lambda of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lambda {
    pub owner: String,
    pub name: String,
    pub descriptor: String,
    /// The kind of method handle.
    pub kind: u8,
    /// Descriptor of the method of the interface, and the same with the types of this use.
    pub erased: String,
    pub exact: String,
}

/// How a call site concatenates: a text in which each `\u{1}` stands for an argument, and each
/// `\u{2}` for one of the constants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Concatenation {
    pub recipe: Option<String>,
    pub constants: Vec<String>,
}

/// A method that is interpreted.
#[derive(Debug)]
pub struct Method {
    pub name: String,
    pub descriptor: String,
    pub is_static: bool,
    pub code: Code,
    /// The class of exceptions that a test says it ends with.
    pub expected: Option<String>,
    /// Where the interpreter begins: in a constructor behind the call of another.
    pub start: u32,
    /// By pc, the method that does what an instruction does.
    pub helpers: HashMap<u32, HelperMethod>,
    /// The method as it was, where some are not followed.
    pub plain: Option<HelperMethod>,
    /// It is a test, and none of those that are followed.
    pub is_other_test: bool,
}

/// A method that does what one instruction does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HelperMethod {
    pub name: String,
    /// What the instruction takes and gives.
    pub descriptor: String,
    /// The same without classes, which may not be there: who lists the methods of a class loads those
    /// that their descriptors name.
    pub erased: String,
}

/// The methods of instructions that a class has got.
#[derive(Default)]
struct HelperMethods {
    added: Vec<Member>,
    /// The same instruction on the same types is one method. Call sites of `invokedynamic` are not shared.
    known: HashMap<(Vec<u8>, String), HelperMethod>,
}

/// The methods of a class to follow.
#[derive(Clone, Copy, Debug, Default)]
pub struct MethodChoice<'a> {
    /// Names of tests: others need not be followed. All tests if there are none.
    pub tests: &'a [String],
    /// Names of methods, which stand for the lambdas in them too: no others are followed. All if there are none.
    pub methods: &'a [String],
}

impl MethodChoice<'_> {
    fn has(&self, name: &str) -> bool {
        let within = |method: &String| {
            let lambda = name.strip_prefix("lambda$");
            let rest = lambda.and_then(|rest| rest.strip_prefix(method.as_str()));
            rest.is_some_and(|rest| rest.starts_with('$'))
        };
        let mut methods = self.methods.iter();
        self.methods.is_empty() || methods.any(|method| method == name || within(method))
    }
}

/// Rewrites a class; its methods are numbered from `first` on. An interface cannot have what this takes.
pub fn followed(
    mut class: ClassFile,
    first: u32,
    choice: MethodChoice<'_>,
) -> Result<Option<Followed>, Error> {
    if class.access & access::INTERFACE != 0 {
        return Ok(None);
    }
    let name = class.name()?.into_owned();
    let mut methods = Vec::new();
    let mut helpers = HelperMethods::default();
    for at in 0..class.methods.len() {
        let number = first + methods.len() as u32;
        let before = class.methods[at].clone();
        if !choice.has(&class.pool.utf8(before.name)?) {
            continue;
        }
        let Some((mut method, code)) = follow(&mut class, at, number, &mut helpers)? else {
            continue;
        };
        if !choice.tests.is_empty() {
            method.is_other_test =
                is_test(&before, &class.pool, &method) && !choice.tests.contains(&method.name);
            method.plain = plain(&mut class, before, &method, number, &mut helpers)?;
        }
        let written = code.write(&mut class.pool)?;
        let member = &mut class.methods[at];
        if let Some(place) = member.attribute_index(&class.pool, "Code") {
            member.attributes[place] = written;
        }
        methods.push(method);
    }
    if methods.is_empty() {
        return Ok(None);
    }
    class.methods.extend(helpers.added);
    class.methods.push(Member {
        access: access::PRIVATE | access::STATIC | access::NATIVE | access::SYNTHETIC,
        name: class.pool.add_utf8(ENTER)?,
        descriptor: class.pool.add_utf8(ENTER_DESCRIPTOR)?,
        attributes: Vec::new(),
    });
    Ok(Some(Followed {
        concatenations: concatenations(&class)?,
        lambdas: lambdas(&class)?,
        bytes: class.write()?,
        name,
        pool: class.pool,
        methods,
    }))
}

/// The bootstrap methods of a class that concatenate.
fn concatenations(class: &ClassFile) -> Result<HashMap<u16, Concatenation>, Error> {
    let mut found = HashMap::new();
    for (number, (handle, arguments)) in (0..).zip(bootstraps(class)) {
        let (_, method) = class.pool.method_handle(handle)?;
        let method = class.pool.member(method)?;
        if method.owner != "java/lang/invoke/StringConcatFactory" {
            continue;
        }
        let mut texts = arguments
            .iter()
            .map(|index| constant_text(&class.pool, *index));
        let recipe = match method.name == "makeConcatWithConstants" {
            true => texts.next().flatten(),
            false => None,
        };
        let constants: Option<Vec<String>> = texts.collect();
        if let Some(constants) = constants {
            found.insert(number, Concatenation { recipe, constants });
        }
    }
    Ok(found)
}

/// The bootstrap methods of a class that make lambdas.
fn lambdas(class: &ClassFile) -> Result<HashMap<u16, Lambda>, Error> {
    let mut found = HashMap::new();
    for (number, (handle, arguments)) in (0..).zip(bootstraps(class)) {
        let (_, method) = class.pool.method_handle(handle)?;
        let is_factory = class.pool.member(method)?.owner == "java/lang/invoke/LambdaMetafactory";
        let (true, [erased, body, exact, ..]) = (is_factory, arguments.as_slice()) else {
            continue;
        };
        let (kind, body) = class.pool.method_handle(*body)?;
        let body = class.pool.member(body)?;
        let lambda = Lambda {
            owner: body.owner.into_owned(),
            name: body.name.into_owned(),
            descriptor: body.descriptor.into_owned(),
            kind,
            erased: class.pool.method_type(*erased)?.into_owned(),
            exact: class.pool.method_type(*exact)?.into_owned(),
        };
        found.insert(number, lambda);
    }
    Ok(found)
}

/// The bootstrap methods of a class: the handle, and the constants it is given.
fn bootstraps(class: &ClassFile) -> Vec<(u16, Vec<u16>)> {
    let Some(attribute) = class.attribute("BootstrapMethods") else {
        return Vec::new();
    };
    let words = attribute.bytes.chunks_exact(2);
    let mut words = words.map(|word| u16::from_be_bytes([word[0], word[1]]));
    let mut found = Vec::new();
    for _ in 0..words.next().unwrap_or_default() {
        let handle = words.next().unwrap_or_default();
        let length = usize::from(words.next().unwrap_or_default());
        found.push((handle, words.by_ref().take(length).collect()));
    }
    found
}

/// A constant as it is concatenated, if that is known here.
fn constant_text(pool: &Pool, index: u16) -> Option<String> {
    match pool.tag(index)? {
        tag::STRING => pool.string(index).ok().map(|text| text.into_owned()),
        tag::INTEGER => pool.integer(index).ok().map(|number| number.to_string()),
        tag::LONG => pool.long(index).ok().map(|number| number.to_string()),
        _ => None,
    }
}

/// A method as the interpreter wants it, and its trampoline.
type FollowedMethod = (Method, Code);

fn follow(
    class: &mut ClassFile,
    at: usize,
    number: u32,
    helpers: &mut HelperMethods,
) -> Result<Option<FollowedMethod>, Error> {
    let member = class.methods[at].clone();
    let Some(attribute) = member.attribute(&class.pool, "Code") else {
        return Ok(None);
    };
    let code = Code::parse(attribute, &class.pool)?;
    let context = MethodContext::new(class, &member);
    let subroutines = [op::JSR, op::JSR_W, op::RET];
    for instruction in code.instructions() {
        if subroutines.contains(&instruction?.opcode) {
            return Ok(None);
        }
    }
    let descriptor = class.pool.utf8(member.descriptor)?.into_owned();
    let simulation = simulate(&code, &class.pool, context)?;
    let start = match context.starts_uninitialized(&class.pool) {
        false => 0,
        true => match behind_constructor(&code, &simulation, &descriptor)? {
            Some(start) => start,
            None => return Ok(None),
        },
    };
    let mut of_method = HashMap::new();
    for instruction in code.instructions() {
        let instruction = instruction?;
        if instruction.pc < start {
            continue;
        }
        let Some((descriptor, body)) = helper_body(class, &instruction, &simulation)? else {
            continue;
        };
        let key = (instruction.bytes.to_vec(), descriptor.clone());
        let is_site = instruction.opcode == op::INVOKEDYNAMIC;
        if let (Some(known), false) = (helpers.known.get(&key), is_site) {
            of_method.insert(instruction.pc, known.clone());
            continue;
        }
        let name = format!("culprit${}", helpers.added.len());
        helpers
            .added
            .push(method_of(class, &name, &descriptor, body)?);
        let erased = erased(&descriptor)?;
        let helper = HelperMethod {
            name,
            descriptor,
            erased,
        };
        helpers.known.insert(key, helper.clone());
        of_method.insert(instruction.pc, helper);
    }
    let method = Method {
        name: class.pool.utf8(member.name)?.into_owned(),
        descriptor,
        is_static: context.is_static(),
        expected: annotated_class(&member, &class.pool, TEST, "expected")
            .and_then(|class| Some(class.strip_prefix('L')?.strip_suffix(';')?.to_owned())),
        start,
        helpers: of_method,
        code,
        plain: None,
        is_other_test: false,
    };
    let trampoline = trampoline(class, &method, number)?;
    Ok(Some((method, trampoline)))
}

/// Whether a method is a test, by its annotations or, as JUnit 3 has it, by its name.
fn is_test(member: &Member, pool: &Pool, method: &Method) -> bool {
    let is_public = member.access & access::PUBLIC != 0;
    let is_named = method.name.starts_with("test") && method.descriptor == "()V";
    is_public && is_named || TESTS.iter().any(|test| is_annotated(member, pool, test))
}

/// Keeps a method as it was beside the one that is followed: a static one, which has the receiver where it was.
/// Constructors are followed always.
fn plain(
    class: &mut ClassFile,
    mut before: Member,
    method: &Method,
    number: u32,
    helpers: &mut HelperMethods,
) -> Result<Option<HelperMethod>, Error> {
    if method.name.starts_with('<') {
        return Ok(None);
    }
    let receiver = match method.is_static {
        true => String::new(),
        false => described(&class.name()?),
    };
    let descriptor = method.descriptor.replacen('(', &format!("({receiver}"), 1);
    let name = format!("culprit$plain${number}");
    before.access = access::PRIVATE | access::STATIC | access::SYNTHETIC;
    before.name = class.pool.add_utf8(&name)?;
    before.descriptor = class.pool.add_utf8(&descriptor)?;
    before.attributes.retain(|it| it.is(&class.pool, "Code"));
    helpers.added.push(before);
    Ok(Some(HelperMethod {
        name,
        erased: descriptor.clone(),
        descriptor,
    }))
}

/// Where a constructor goes on behind the call of another, if no jump leads there or over it, nothing is
/// left on the stack, and the parameters are all that it has in variables.
fn behind_constructor(
    code: &Code,
    simulation: &Simulation,
    descriptor: &str,
) -> Result<Option<u32>, Error> {
    let mut calls = simulation.this_inits();
    let (Some(call), None) = (calls.next(), calls.next()) else {
        return Ok(None);
    };
    let mut start = None;
    for instruction in code.instructions() {
        let instruction = instruction?;
        if instruction.pc <= call && instruction.targets().next().is_some() {
            return Ok(None);
        }
        if instruction.pc == call {
            start = Some(instruction.next_pc());
        }
    }
    let parsed = MethodDescriptor::parse(descriptor.as_bytes())?;
    let mut parameters = vec![LocalKind::Reference];
    parameters.extend(parsed.arguments().map(kind));
    let is_plain = |pc: u32| {
        simulation
            .at(pc)
            .is_some_and(|state| state.stack.is_empty() && has_only(&state.locals, &parameters))
    };
    let is_guarded = |pc: u32| code.handlers.iter().any(|h| u32::from(h.start) < pc);
    Ok(start.filter(|start| is_plain(*start) && !is_guarded(*start)))
}

/// Whether local variables hold values of some kinds, one after the other, and nothing else.
fn has_only(locals: &[SlotType], kinds: &[LocalKind]) -> bool {
    let mut at = 0;
    for kind in kinds {
        let found = locals.get(at).copied().unwrap_or(SlotType::Top);
        let fits = match kind {
            LocalKind::Int => found == SlotType::Integer,
            LocalKind::Long => found == SlotType::Long,
            LocalKind::Float => found == SlotType::Float,
            LocalKind::Double => found == SlotType::Double,
            LocalKind::Reference => matches!(found, SlotType::Object(_) | SlotType::Null),
        };
        if !fits {
            return false;
        }
        at += usize::from(kind.slots());
    }
    locals.iter().skip(at).all(|local| *local == SlotType::Top)
}

/// What an instruction takes and gives, and the code that does it with its arguments on the stack.
fn helper_body(
    class: &ClassFile,
    instruction: &Instruction<'_>,
    simulation: &Simulation,
) -> Result<Option<(String, Asm)>, Error> {
    let pool = &class.pool;
    let object = "Ljava/lang/Object;";
    let mut body = Asm::new();
    body.raw(instruction.bytes);
    let Some(index) = instruction.pool_index() else {
        return Ok(match instruction.opcode {
            op::NEWARRAY => {
                let letter = instruction.bytes.get(1).and_then(|code| element(*code));
                letter.map(|letter| (format!("(I)[{letter}"), body))
            }
            _ => None,
        });
    };
    Ok(Some(match instruction.opcode {
        // An object that no constructor has seen cannot leave its method. But its class is initialised now,
        // before the arguments of the constructor are computed.
        op::NEW => {
            body.pop();
            ("()V".to_owned(), body)
        }
        op::LDC | op::LDC_W => {
            let result = match pool.tag(index) {
                Some(tag::CLASS) => "Ljava/lang/Class;".to_owned(),
                Some(tag::METHOD_HANDLE) => "Ljava/lang/invoke/MethodHandle;".to_owned(),
                Some(tag::METHOD_TYPE) => "Ljava/lang/invoke/MethodType;".to_owned(),
                Some(tag::STRING) => "Ljava/lang/String;".to_owned(),
                Some(tag::DYNAMIC) => pool.dynamic(index)?.descriptor.into_owned(),
                _ => return Ok(None),
            };
            (format!("(){result}"), body)
        }
        op::LDC2_W if pool.tag(index) == Some(tag::DYNAMIC) => {
            (format!("(){}", pool.dynamic(index)?.descriptor), body)
        }
        op::GETSTATIC => (format!("(){}", pool.member(index)?.descriptor), body),
        op::PUTSTATIC => (format!("({})V", pool.member(index)?.descriptor), body),
        op::GETFIELD => {
            let field = pool.member(index)?;
            let owner = receiver(class, &field, instruction.pc, 0, simulation)?;
            (format!("({owner}){}", field.descriptor), body)
        }
        op::PUTFIELD => {
            let field = pool.member(index)?;
            let above = slots(&format!("({})V", field.descriptor))?;
            let owner = receiver(class, &field, instruction.pc, above, simulation)?;
            (format!("({owner}{})V", field.descriptor), body)
        }
        op::INVOKESTATIC => (pool.member(index)?.descriptor.into_owned(), body),
        op::INVOKEDYNAMIC => (pool.dynamic(index)?.descriptor.into_owned(), body),
        op::INVOKEVIRTUAL | op::INVOKEINTERFACE => {
            let method = pool.member(index)?;
            let above = slots(&method.descriptor)?;
            let owner = receiver(class, &method, instruction.pc, above, simulation)?;
            (
                method.descriptor.replacen('(', &format!("({owner}"), 1),
                body,
            )
        }
        op::INVOKESPECIAL => {
            let method = pool.member(index)?;
            let descriptor = method.descriptor.into_owned();
            if method.name == "<init>" {
                let arguments = descriptor.trim_end_matches('V').to_owned();
                let made = described(&method.owner);
                return Ok(Some((format!("{arguments}{made}"), body)));
            }
            let owner = described(&class.name()?);
            (descriptor.replacen('(', &format!("({owner}"), 1), body)
        }
        op::CHECKCAST => {
            let to = described(&pool.class_name(index)?);
            (format!("({object}){to}"), body)
        }
        op::INSTANCEOF => (format!("({object})Z"), body),
        op::ANEWARRAY => {
            let element = described(&pool.class_name(index)?);
            (format!("(I)[{element}"), body)
        }
        op::MULTIANEWARRAY => {
            let dimensions = instruction.bytes.get(3).copied().unwrap_or(1);
            let lengths = "I".repeat(usize::from(dimensions));
            (format!("({lengths}){}", pool.class_name(index)?), body)
        }
        _ => return Ok(None),
    }))
}

fn described(name: &str) -> String {
    match name.starts_with('[') {
        true => name.to_owned(),
        false => format!("L{name};"),
    }
}

/// The type of an object that an instruction is done to, so many slots below the top of the stack. What
/// another package protects is open for objects of the class itself alone: there the class that the
/// instruction names, which may be one above, is not enough.
fn receiver(
    class: &ClassFile,
    member: &MemberRef<'_>,
    pc: u32,
    above: usize,
    simulation: &Simulation,
) -> Result<String, Error> {
    let own = class.name()?;
    let found = simulation.at(pc).and_then(|state| {
        let at = state.stack.len().checked_sub(above + 1)?;
        match state.stack.get(at)? {
            SlotType::Object(id) => Some(simulation.class_name(*id)),
            _ => None,
        }
    });
    let is_own = found.as_ref().is_some_and(|found| *found == own);
    Ok(match found {
        _ if is_own => described(&own),
        // Compilers name `Object` here whatever class below it is.
        Some(found) if is_protected(member) && !found.starts_with('[') => described(&found),
        _ => described(&member.owner),
    })
}

/// The methods that `Object` protects.
fn is_protected(member: &MemberRef<'_>) -> bool {
    member.owner == "java/lang/Object" && (member.name == "clone" || member.name == "finalize")
}

/// The slots that the arguments of a method take.
fn slots(descriptor: &str) -> Result<usize, Error> {
    let parsed = MethodDescriptor::parse(descriptor.as_bytes())?;
    let slots = parsed.arguments().map(|argument| kind(argument).slots());
    Ok(slots.map(usize::from).sum())
}

/// The letter of what `newarray` makes.
fn element(code: u8) -> Option<char> {
    "ZCFDBSIJ".chars().nth(usize::from(code.checked_sub(4)?))
}

/// A private method that loads its parameters, does something and returns what comes of it.
fn method_of(
    class: &mut ClassFile,
    name: &str,
    descriptor: &str,
    body: Asm,
) -> Result<Member, Error> {
    let parsed = MethodDescriptor::parse(descriptor.as_bytes())?;
    let is_construction = body.bytes().first() == Some(&op::INVOKESPECIAL)
        && matches!(parsed.returns(), Some(ValueType::Reference(_)))
        && constructs(class, &body)?;
    let mut asm = Asm::new();
    if let (true, Some(ValueType::Reference(made))) = (is_construction, parsed.returns()) {
        let made = class.pool.add_class_bytes(made)?;
        asm.op_index(op::NEW, made).dup();
    }
    let mut local = 0;
    for argument in parsed.arguments() {
        let kind = kind(argument);
        asm.load(kind, local);
        if let ValueType::Reference(name) = argument
            && name != b"java/lang/Object"
        {
            asm.checkcast(class.pool.add_class_bytes(name)?);
        }
        local += kind.slots();
    }
    asm.append(&body);
    let result = parsed.returns().map(kind);
    asm.op(return_opcode(result));
    let code = Code {
        max_stack: local + 4,
        max_locals: local,
        bytes: asm.bytes().to_vec(),
        handlers: Vec::new(),
        attributes: Vec::new(),
    };
    let attributes = vec![code.write(&mut class.pool)?];
    Ok(Member {
        access: access::PRIVATE | access::STATIC | access::SYNTHETIC,
        name: class.pool.add_utf8(name)?,
        descriptor: class.pool.add_utf8(&erased(descriptor)?)?,
        attributes,
    })
}

/// A descriptor with `Object` for every class and array.
fn erased(descriptor: &str) -> Result<String, Error> {
    let parsed = MethodDescriptor::parse(descriptor.as_bytes())?;
    let letter = |value: ValueType<'_>| match value {
        ValueType::Int(letter) => char::from(letter).to_string(),
        ValueType::Long => "J".to_owned(),
        ValueType::Float => "F".to_owned(),
        ValueType::Double => "D".to_owned(),
        ValueType::Reference(_) => "Ljava/lang/Object;".to_owned(),
    };
    let arguments: String = parsed.arguments().map(letter).collect();
    let result = parsed.returns().map_or_else(|| "V".to_owned(), letter);
    Ok(format!("({arguments}){result}"))
}

fn constructs(class: &ClassFile, body: &Asm) -> Result<bool, Error> {
    let index = Instruction::decode(body.bytes(), 0)?.pool_index();
    let method = class.pool.member(index.unwrap_or_default())?;
    Ok(method.name == "<init>")
}

fn kind(value: ValueType<'_>) -> LocalKind {
    match value {
        ValueType::Int(_) => LocalKind::Int,
        ValueType::Long => LocalKind::Long,
        ValueType::Float => LocalKind::Float,
        ValueType::Double => LocalKind::Double,
        ValueType::Reference(_) => LocalKind::Reference,
    }
}

fn return_opcode(result: Option<LocalKind>) -> u8 {
    match result {
        None => op::RETURN,
        Some(LocalKind::Int) => op::IRETURN,
        Some(LocalKind::Long) => op::LRETURN,
        Some(LocalKind::Float) => op::FRETURN,
        Some(LocalKind::Double) => op::DRETURN,
        Some(LocalKind::Reference) => op::ARETURN,
    }
}

/// The primitive type of a value.
fn primitive(value: ValueType<'_>) -> Option<Shape> {
    match value {
        ValueType::Int(letter) => Shape::of_letter(letter),
        ValueType::Long => Some(Shape::Long),
        ValueType::Float => Some(Shape::Float),
        ValueType::Double => Some(Shape::Double),
        ValueType::Reference(_) => None,
    }
}

/// Code that has the interpreter run the method, and returns what it gives.
fn trampoline(class: &mut ClassFile, method: &Method, number: u32) -> Result<Code, Error> {
    let descriptor = method.descriptor.clone();
    let parsed = MethodDescriptor::parse(descriptor.as_bytes())?;
    let owner = class.name()?.into_owned();
    let pool = &mut class.pool;
    let mut asm = Asm::new();
    asm.raw(&method.code.bytes[..method.start as usize]);
    let count = parsed.arguments().count() + usize::from(!method.is_static);
    asm.push_int(pool, number as i32)?;
    asm.push_int(pool, count as i32)?;
    asm.op_index(op::ANEWARRAY, pool.add_class("java/lang/Object")?);
    let mut local = 0;
    let mut at = 0;
    if !method.is_static {
        asm.dup().push_int(pool, at)?.aload(0).op(op::AASTORE);
        local = 1;
        at = 1;
    }
    for argument in parsed.arguments() {
        let kind = kind(argument);
        asm.dup().push_int(pool, at)?.load(kind, local);
        if let Some(shape) = primitive(argument) {
            let (letter, wrapper) = (shape.code(), shape.box_name());
            let descriptor = format!("({letter})L{wrapper};");
            asm.invokestatic(pool.add_method_ref(wrapper, "valueOf", &descriptor)?);
        }
        asm.op(op::AASTORE);
        local += kind.slots();
        at += 1;
    }
    asm.invokestatic(pool.add_method_ref(&owner, ENTER, ENTER_DESCRIPTOR)?);
    match parsed.returns() {
        None => {
            asm.pop();
        }
        Some(result) => match primitive(result) {
            Some(shape) => {
                let wrapper = shape.box_name();
                asm.checkcast(pool.add_class(wrapper)?);
                let unboxes = format!("{}Value", shape.class_name());
                let descriptor = format!("(){}", shape.code());
                asm.invokevirtual(pool.add_method_ref(wrapper, &unboxes, &descriptor)?);
            }
            None => {
                if let ValueType::Reference(name) = result {
                    asm.checkcast(pool.add_class_bytes(name)?);
                }
            }
        },
    }
    asm.op(return_opcode(parsed.returns().map(kind)));
    let slots = method.code.max_stack.max(8);
    Ok(Code {
        max_stack: slots,
        max_locals: method.code.max_locals.max(local),
        bytes: asm.bytes().to_vec(),
        handlers: Vec::new(),
        attributes: Vec::new(),
    })
}
